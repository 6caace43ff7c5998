//! `rutter discover`: what a site offers to machines, where it says so, and
//! which way of reading it would be taken.

mod journal;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use rutter_discover::{Bounds, Discovery, Memory, Outcome, Rung};
use rutter_fetch::{Client, Guard, Means, Proxies, Settings, Url, redacted};
use rutter_finding::{FindingSink, Mode, Report, quoted, visible};
use serde_json::json;

use crate::commands::{bytes, counted, now, say_findings};
use crate::config::Fault;
use crate::exit::Exit;
use crate::output::Output;
use journal::Journal;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the site; https:// where no scheme is given
    #[arg(value_name = "URL")]
    site: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Read every sitemap, not only the first ones
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    net: NetArgs,
}

/// How to behave on the network.
#[derive(Debug, clap::Args)]
pub(crate) struct NetArgs {
    /// Seconds between two requests to a host; the host may ask for more
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pace: f64,
    /// An address that tells site owners who you are; sent with every request
    #[arg(long, value_name = "URL")]
    contact: Option<String>,
    /// Allow plain http
    #[arg(long)]
    allow_http: bool,
    /// Allow loopback addresses of IPv4 and IPv6, and plain http there
    #[arg(long)]
    allow_loopback: bool,
    /// Let a proxy resolve names that cannot be resolved here
    #[arg(long)]
    trust_proxy: bool,
    /// Connections to one host at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    connections: u8,
    /// Write down every request, pause, redirect and refusal and every new
    /// host, one JSON object a line, at the end of this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

impl NetArgs {
    /// What the arguments and the environment mean.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let pace = Duration::try_from_secs_f64(self.pace).context("--pace")?;
        if let Some(contact) = &self.contact {
            let is_plain = contact.bytes().all(|byte| byte.is_ascii_graphic() && byte != b')');
            anyhow::ensure!(is_plain && Url::parse(contact).is_ok(), "--contact: not an address");
        }
        Ok(Settings {
            pace,
            contact: self.contact.clone(),
            connections: usize::from(self.connections),
            // Where loopback is allowed, plain http is allowed there.
            allow_http: self.allow_http,
            guard: Guard { allow_loopback: self.allow_loopback, ..Guard::default() },
            proxies: Proxies::from_lookup(|name| std::env::var(name).ok())?,
            trust_proxy: self.trust_proxy,
            ..Settings::default()
        })
    }

    /// The network of this machine, and what is written down of its use.
    pub(crate) fn means(&self) -> anyhow::Result<(Means, Arc<Journal>)> {
        let journal = Arc::new(Journal::open(self.log.as_deref())?);
        Ok((Means::system(Arc::clone(&journal) as _), journal))
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let text = if args.site.contains("://") {
        args.site.clone()
    } else {
        format!("https://{}", args.site)
    };
    let site = parse_address(&text)?;
    let (means, journal) = args.net.means()?;
    let client = Client::new(args.net.settings()?, means);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let bounds = if args.all { Bounds::ALL } else { Bounds::LOOK };
    let memory = Memory::default();
    let found = runtime
        .block_on(rutter_discover::discover(&client, &site, &memory, bounds, &mut ()))
        .context("the site cannot be visited")?;
    let n_requests = journal.requests();
    if args.json {
        write_json(&found, n_requests, out)?;
    } else {
        write_text(&found, n_requests, out)?;
    }
    let (rung, _) = found.offer.rung(now()?);
    Ok(if rung == Rung::Nothing { Exit::Findings } else { Exit::Clean })
}

/// Reads an address that a user wrote.
pub(crate) fn parse_address(text: &str) -> anyhow::Result<Url> {
    Url::parse(text).map_err(|error| {
        let what = format!("{} is not an address: {error}", quoted(&redacted(text)));
        Fault::missing(what, "write an address as in https://example.org/page").into()
    })
}

fn write_json(found: &Discovery, n_requests: u64, out: &mut Output) -> anyhow::Result<()> {
    let (rung, why) = found.offer.rung(now()?);
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
        "rung": rung,
        "why": why,
        "requests": n_requests,
        "wire_bytes": found.wire_bytes,
        "places": found.looks,
        "offer": found.offer,
        "findings": findings,
    });
    serde_json::to_writer_pretty(out.data(), &answer)?;
    writeln!(out.data())?;
    Ok(())
}

fn write_text(found: &Discovery, n_requests: u64, out: &mut Output) -> anyhow::Result<()> {
    let now = now()?;
    for look in &found.looks {
        let (mark, what) = match &look.outcome {
            Outcome::Found(kind) | Outcome::Unchanged(kind) | Outcome::Remembered(kind) => {
                ("+", (*kind).to_owned())
            }
            Outcome::Absent(status) => ("-", format!("not there, status {status}")),
            Outcome::Other(text) => ("?", text.clone()),
            Outcome::Refused(text) | Outcome::Failed(text) => ("!", text.clone()),
            _ => ("?", String::new()),
        };
        let (url, what) = (visible(&look.url), visible(&what));
        writeln!(out.data(), "{mark} {url}  {what}  ({})", look.by.name())?;
    }
    let offer = &found.offer;
    for collection in &offer.scp.collections {
        let kind = if collection.since.is_some() { "delta" } else { "snapshot" };
        let sizes: Vec<String> = collection.files.iter().map(|file| bytes(file.size)).collect();
        let (section, made) = (&collection.section, collection.generated);
        let pages = counted(collection.pages, "page");
        writeln!(out.data(), "  {kind} of `{section}`, {made}, {pages}, {}", sizes.join(" or "))?;
    }
    if let Some(arc) = &offer.arc {
        let rate = arc.said.crawl_rate.as_deref().unwrap_or("not given");
        let (pages, open) = (counted(arc.said.pages, "page"), arc.said.open);
        writeln!(out.data(), "  ARC: {pages}, {open} open, crawl rate {}", visible(rate))?;
    }
    if let Some(spxi) = &offer.spxi {
        let ways: Vec<&str> = spxi.by.iter().map(|by| by.name()).collect();
        writeln!(out.data(), "  SPXI: found by {}", ways.join(", "))?;
    }
    let (rung, why) = offer.rung(now);
    let refusal = found.refusal().filter(|_| rung == Rung::Nothing);
    let why = refusal.map_or(why, |refusal| format!("nothing may be fetched: {refusal}"));
    writeln!(out.data(), "would be read by: {} ({})", rung.name(), visible(&why))?;
    let asked = counted(n_requests, "request");
    out.say(format_args!("{asked}, {}", bytes(found.wire_bytes)));
    let mut reports: Vec<(String, Report)> = Vec::new();
    for (url, finding) in &found.findings {
        let at = match reports.iter().position(|(known, _)| known == url) {
            Some(at) => at,
            None => {
                reports.push((url.clone(), Report::new(Mode::Lenient)));
                reports.len() - 1
            }
        };
        if let Some((_, report)) = reports.get_mut(at) {
            report.report(finding.clone());
        }
    }
    for (url, report) in &reports {
        say_findings(url, report, out);
    }
    Ok(())
}
