//! `rutter discover`: finds out what a site offers to machines.
//!
//! Output: the places that were searched, the offer, and the access method that a sync would use.

mod request_log;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use rutter_fetch::{AddressPolicy, Client, ClientSettings, Environment, Proxies, Url, redact};
use rutter_finding::{FindingSink, Report, Strictness, quoted, visible};
use rutter_sync::discover::{
    AccessMethod, Discovery, DiscoveryCache, DiscoveryLimits, LookupOutcome,
};
use serde_json::json;

use crate::commands::{counted, format_bytes, method_text, now, print_findings};
use crate::config::SettingsError;
use crate::exit::ExitStatus;
use crate::output::Output;
use request_log::NetworkLog;

/// Arguments of `rutter discover`.
#[derive(Debug, clap::Args)]
pub(crate) struct DiscoverArgs {
    /// URL of the site
    ///
    /// Without a scheme, https:// is used.
    #[arg(value_name = "URL")]
    site: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Read all sitemaps, not only the first ones
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    net: NetworkArgs,
}

/// Arguments for requests over the network.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// Minimum time between two requests to a host, in seconds
    ///
    /// A longer delay that the host asks for takes precedence.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pace: f64,
    /// URL of a page about you, sent with each request
    ///
    /// The page tells site owners who sends the requests. Example: <https://example.org/bot>.
    #[arg(long, value_name = "URL")]
    contact: Option<String>,
    /// Allow plain HTTP
    ///
    /// By default, only HTTPS is allowed.
    #[arg(long)]
    allow_http: bool,
    /// Allow loopback addresses, with plain HTTP
    ///
    /// Use this option for sites on this machine. By default, only public IP addresses are allowed.
    #[arg(long)]
    allow_loopback: bool,
    /// Let a proxy resolve host names that cannot be resolved here
    ///
    /// Rutter cannot check the IP addresses of such hosts.
    #[arg(long)]
    trust_proxy: bool,
    /// Maximum number of concurrent connections to one host
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    connections: u8,
    /// File to append a log of all requests to
    ///
    /// The log has one JSON object per line for each request, response, pause, redirect and
    /// refusal; see docs/schemas/request-log-line.schema.json. By default, no log is written.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

impl NetworkArgs {
    /// Returns the settings of the HTTP client, from the arguments and the proxy variables.
    pub(crate) fn settings(&self) -> anyhow::Result<ClientSettings> {
        let pace = Duration::try_from_secs_f64(self.pace)
            .context("--pace is not a valid number of seconds")?;
        if let Some(contact) = &self.contact {
            let is_plain = contact.bytes().all(|byte| byte.is_ascii_graphic() && byte != b')');
            let is_url = is_plain && Url::parse(contact).is_ok();
            anyhow::ensure!(is_url, "--contact: {} is not a URL", quoted(contact));
        }
        Ok(ClientSettings {
            pace,
            contact: self.contact.clone(),
            connections: usize::from(self.connections),
            // `allow_loopback` allows plain HTTP to loopback addresses, too.
            allow_http: self.allow_http,
            address_policy: AddressPolicy {
                allow_loopback: self.allow_loopback,
                ..AddressPolicy::default()
            },
            proxies: Proxies::from_lookup(|name| std::env::var(name).ok())?,
            trust_proxy: self.trust_proxy,
            ..ClientSettings::default()
        })
    }

    /// Returns the environment of the HTTP client (clock, name resolution, connections), and the
    /// log of its requests.
    pub(crate) fn means(&self) -> anyhow::Result<(Environment, Arc<NetworkLog>)> {
        let journal = Arc::new(NetworkLog::open(self.log.as_deref())?);
        Ok((Environment::system(Arc::clone(&journal) as _), journal))
    }
}

pub(crate) fn run(args: &DiscoverArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let text = if args.site.contains("://") {
        args.site.clone()
    } else {
        format!("https://{}", args.site)
    };
    let site = parse_address(&text)?;
    let (means, journal) = args.net.means()?;
    let client = Client::new(args.net.settings()?, means);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let bounds = if args.all { DiscoveryLimits::FULL } else { DiscoveryLimits::BRIEF };
    let memory = DiscoveryCache::default();
    let found = runtime
        .block_on(rutter_sync::discover::discover(&client, &site, &memory, bounds, &mut ()))
        .context("cannot fetch the site")?;
    let n_requests = journal.requests();
    if args.json {
        write_json(&found, n_requests, out)?;
    } else {
        write_text(&found, n_requests, out)?;
    }
    let (method, _) = found.offer.choose_method(now()?);
    Ok(if method == AccessMethod::Nothing { ExitStatus::Findings } else { ExitStatus::Clean })
}

/// Parses a URL that a user typed.
pub(crate) fn parse_address(text: &str) -> anyhow::Result<Url> {
    Url::parse(text).map_err(|error| {
        let what = format!("{} is not a URL: {error}", quoted(&redact(text)));
        SettingsError::missing(what, "example: https://example.org/page").into()
    })
}

fn write_json(found: &Discovery, n_requests: u64, out: &mut Output) -> anyhow::Result<()> {
    let (method, why) = found.offer.choose_method(now()?);
    let findings: Vec<_> = found
        .findings
        .iter()
        .map(|(url, finding)| {
            json!({
                "url": url,
                "code": finding.rule.code,
                "name": finding.rule.name,
                "line": finding.place.line,
                "detail": finding.detail,
            })
        })
        .collect();
    let answer = json!({
        "version": 1,
        "site": found.site.origin().ascii_serialization(),
        "rung": method,
        "why": why,
        "requests": n_requests,
        "wire_bytes": found.wire_bytes,
        "places": found.lookups,
        "offer": found.offer,
        "findings": findings,
    });
    serde_json::to_writer_pretty(out.data(), &answer)?;
    writeln!(out.data())?;
    Ok(())
}

fn write_text(found: &Discovery, n_requests: u64, out: &mut Output) -> anyhow::Result<()> {
    let now = now()?;
    for look in &found.lookups {
        let (mark, what) = match &look.outcome {
            LookupOutcome::Found(kind)
            | LookupOutcome::Unchanged(kind)
            | LookupOutcome::Cached(kind) => ("+", (*kind).to_owned()),
            LookupOutcome::Absent(status) => ("-", format!("not found, status {status}")),
            LookupOutcome::Other(text) => ("?", text.clone()),
            LookupOutcome::Refused(text) | LookupOutcome::Failed(text) => ("!", text.clone()),
            _ => ("?", String::new()),
        };
        let (url, what) = (visible(&look.url), visible(&what));
        writeln!(out.data(), "{mark} {url}  {what}  ({})", look.source.name())?;
    }
    let offer = &found.offer;
    for collection in &offer.scp.collections {
        let kind = if collection.since.is_some() { "delta" } else { "snapshot" };
        let sizes: Vec<String> =
            collection.files.iter().map(|file| format_bytes(file.size)).collect();
        let (section, made) = (&collection.section, collection.generated);
        let pages = counted(collection.pages, "page");
        writeln!(
            out.data(),
            "  {kind} of section `{section}`: {made}, {pages}, {}",
            sizes.join(" or ")
        )?;
    }
    if let Some(arc) = &offer.arc {
        let rate = arc.parsed.crawl_rate.as_deref().unwrap_or("not given");
        let (pages, open) = (counted(arc.parsed.pages, "page"), arc.parsed.open);
        writeln!(
            out.data(),
            "  ARC sitemap: {pages}, {open} of them public, crawl rate {}",
            visible(rate)
        )?;
    }
    if let Some(spxi) = &offer.spxi {
        let ways: Vec<&str> = spxi.source.iter().map(|by| by.name()).collect();
        writeln!(out.data(), "  SPXI index: found by {}", ways.join(", "))?;
    }
    let (method, why) = offer.choose_method(now);
    let refusal = found.refusal().filter(|_| method == AccessMethod::Nothing);
    let why = refusal.map_or(why, |refusal| format!("nothing may be fetched: {refusal}"));
    let method = method_text(method.name());
    writeln!(out.data(), "access method: {method} ({})", visible(&why))?;
    let asked = counted(n_requests, "request");
    out.say(format_args!("{asked}, {}", format_bytes(found.wire_bytes)));
    let mut reports: Vec<(String, Report)> = Vec::new();
    for (url, finding) in &found.findings {
        let at = match reports.iter().position(|(known, _)| known == url) {
            Some(at) => at,
            None => {
                reports.push((url.clone(), Report::new(Strictness::Lenient)));
                reports.len() - 1
            }
        };
        if let Some((_, report)) = reports.get_mut(at) {
            report.report(finding.clone());
        }
    }
    for (url, report) in &reports {
        print_findings(url, report, out);
    }
    Ok(())
}
