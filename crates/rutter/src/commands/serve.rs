//! `rutter serve`: serves a built site over HTTP.
//!
//! Input: the folder of the site and the state of its build. Rejects a folder if it is unknown
//! which of its pages are closed, unless `--open` is given. Rejects secret files inside the folder.

mod state_folder;
mod stderr_writer;

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::Context;
use clap::ValueEnum;
use rutter_serve::{
    AccessLogFormat, AccessSink, AccessSummary, ConnectionLimits, ForwardingHeader, Limits,
    ListenConfig, LogWriter, Network, RateLimit, RestrictionSource, Server, SignalEvent, Site,
    SiteSettings, TlsFiles, Tokens, TrustedProxies, UnknownAccess, parse_rate,
};

use crate::commands::counted;
use crate::commands::odd_clients::OddClientArgs;
use crate::exit::ExitStatus;
use crate::output::{self, Output};

pub(crate) use state_folder::finds;
use state_folder::{must_not_be_shown, recover, state};
use stderr_writer::StderrWriter;

/// Default name of the state folder.
const STATE: &str = ".rutter";

/// Environment variable that names the state folder, also for builds.
const VARIABLE: &str = "RUTTER_STATE";

/// Arguments of `rutter serve`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Signals: TERM and INT stop the server after the current responses, within \
    10 seconds. HUP reloads served.json, tokens and certificates, and reopens the access log."
)]
// More than 12 fields: one field per option.
pub(crate) struct ServeArgs {
    /// Folder of the built site
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Address and port to listen on
    ///
    /// A port alone listens on this machine only; with port 0, the system chooses a port. Examples:
    /// 8080, 127.0.0.1:8080, 0.0.0.0:80.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    listen: SocketAddr,
    /// Folder with the state of the build
    ///
    /// The folder contains served.json. Default: the variable `RUTTER_STATE`, else a folder .rutter
    /// in DIR, beside DIR or in the current folder.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Serve all files even if it is unknown which pages need a login
    ///
    /// By default, the server does not start if neither served.json nor a readable ARC sitemap
    /// says which pages need a login.
    #[arg(long)]
    open: bool,
    /// File of access tokens; enables the partner API
    ///
    /// `rutter token new` creates it. By default, no client can read closed pages.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// TLS certificate chain, as a PEM file
    ///
    /// By default, the server uses plain HTTP.
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = TLS)]
    tls_cert: Option<PathBuf>,
    /// Private key of the TLS certificate, as a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = TLS)]
    tls_key: Option<PathBuf>,
    /// Address and port of /metrics, for Prometheus
    ///
    /// By default, metrics are not served.
    #[arg(long, value_name = "ADDR:PORT", value_parser = address, help_heading = LOGGING)]
    metrics: Option<SocketAddr>,
    /// Maximum request rate of one client, or `off`
    ///
    /// Requests beyond this rate get status 429. Examples: 50/s, 100/m.
    #[arg(long, value_name = "RATE", default_value = "50/s", help_heading = LIMITS)]
    rate: String,
    /// Requests that a client may send at once before --rate applies
    #[arg(
        long,
        value_name = "N",
        default_value_t = RateLimit::DEFAULT.burst,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = LIMITS
    )]
    burst: u32,
    /// Maximum speed of one download, in bytes per second
    ///
    /// By default, the speed is not limited. Examples: 500k, 2M, 1GiB.
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = LIMITS)]
    bandwidth: Option<u64>,
    /// How often new snapshots are published
    ///
    /// Caches may keep a snapshot for this long. Default: the setting `update` of the build.
    #[arg(long, value_enum)]
    update: Option<UpdateInterval>,
    /// Network of a trusted proxy; may be repeated
    ///
    /// The address of a client is taken from the header of such a proxy. Example: 10.0.0.0/8.
    #[arg(long, value_name = "NET", help_heading = PROXY)]
    trusted_proxy: Vec<Network>,
    /// Header in which a trusted proxy sends the client address
    #[arg(long, value_enum, default_value_t = ProxyHeader::XForwardedFor, help_heading = PROXY)]
    proxy_header: ProxyHeader,
    /// Maximum number of connections
    #[arg(
        long,
        value_name = "N",
        default_value_t = ConnectionLimits::DEFAULT.total,
        value_parser = several,
        help_heading = LIMITS
    )]
    connections: usize,
    /// Maximum number of connections from one address
    #[arg(
        long,
        value_name = "N",
        default_value_t = ConnectionLimits::DEFAULT.per_address,
        value_parser = several,
        help_heading = LIMITS
    )]
    connections_per_address: usize,
    /// Number of threads that answer requests [default: one per core]
    #[arg(long, value_name = "N", value_parser = several, help_heading = LIMITS)]
    workers: Option<usize>,
    /// File for the access log, `-` for standard output, or `off`
    #[arg(long, value_name = "FILE", default_value = "-", help_heading = LOGGING)]
    access_log: PathBuf,
    /// Format of the access log
    #[arg(
        long,
        alias = "log-form",
        value_enum,
        default_value_t = LogFormat::Text,
        help_heading = LOGGING
    )]
    log_format: LogFormat,
    /// Do not report odd clients (LG001 to LG005), do not count AI agents
    #[arg(long, help_heading = LOGGING)]
    no_watch: bool,
    #[command(flatten)]
    odd: OddClientArgs,
}

/// Headings of options.
const LIMITS: &str = "Limits";
const LOGGING: &str = "Logs and metrics";
const PROXY: &str = "Proxies";
const TLS: &str = "TLS";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum UpdateInterval {
    Hourly,
    Daily,
    Weekly,
    Monthly,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ProxyHeader {
    XForwardedFor,
    Forwarded,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// The combined format of Apache and nginx
    Text,
    /// One JSON object per line
    #[value(alias = "json")]
    Jsonl,
}

pub(crate) fn run(args: &ServeArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let folder = &args.folder;
    let metadata = folder.metadata().with_context(|| folder.display().to_string())?;
    anyhow::ensure!(metadata.is_dir(), "{} is a file, expected a folder", folder.display());
    let state = state(args)?;
    must_not_be_shown(args, state.as_deref())?;
    if let Some(state) = &state {
        recover(state, out)?;
    }
    let stderr = StderrWriter::new()?;
    let log = log(args, &stderr)?;
    let watching = (!args.no_watch).then(|| Arc::new(stderr.clone()) as Arc<dyn AccessSink>);
    let sinks = watching.into_iter().chain(log.iter().map(|log| Arc::clone(log) as _)).collect();
    let settings = settings(args, state.clone())?;
    // Each connection is an open file, and the system's default limit of open files is too low.
    rutter_serve::raise_file_limit();
    if let Some(path) = &args.tokens {
        Tokens::load(path).with_context(|| path.display().to_string())?;
    }
    let site = Site::open(settings, sinks)?;
    let said = stderr.clone();
    site.on_failed_reload(move |error| {
        let error = rutter_finding::error_chain(error);
        said.say(format!("reload failed; keeping the previous version: {error}"));
    });
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let tls = tls.map(|(certificate, key)| TlsFiles { certificate, key });
    let scheme = if tls.is_some() { "https" } else { "http" };
    let usual = ListenConfig::new(args.listen);
    let workers = args.workers.unwrap_or(usual.workers);
    let server =
        Server::bind(site.clone(), ListenConfig { metrics: args.metrics, tls, workers, ..usual })?;
    // Handle signals before the first message is printed, because a program that reads the message
    // may send a signal immediately.
    let (path, reopened) = (args.access_log.clone(), log.clone());
    server.handle().handle_signals(move |heard| match heard {
        SignalEvent::Stop => {
            stderr.say("stopping");
            stderr.finish();
        }
        SignalEvent::Reload(result) => {
            // The access log is reopened even if the reload fails.
            if let Some(log) = &reopened {
                match target(&path) {
                    Ok(target) => log.replace(target),
                    Err(error) => stderr.say(format!(
                        "cannot reopen the access log; keeping the previous file: {error:#}"
                    )),
                }
            }
            match result {
                Ok(()) => stderr.say("reloaded"),
                Err(error) => {
                    let error = rutter_finding::error_chain(&error);
                    stderr.say(format!("reload failed; keeping the previous version: {error}"));
                }
            }
        }
    })?;
    out.say(format_args!("serving {} at {scheme}://{}/", folder.display(), server.address()?));
    if let Some(address) = server.metrics_address() {
        out.say(format_args!("metrics at http://{address}/metrics"));
    }
    match &state {
        Some(state) => out.say(format_args!("using {}/served.json", state.display())),
        None => out.say(
            "no served.json: media types are taken from file names, and ETags from file contents",
        ),
    }
    say_closed(&site, out);
    // Another thread fills the response cache; a request that arrives meanwhile waits for one file
    // only.
    thread::spawn(move || site.warm());
    server.run()?;
    if let Some(log) = log {
        log.flush().context("cannot write the end of the access log")?;
    }
    Ok(ExitStatus::Clean)
}

/// Prints the number of closed paths and tokens.
fn say_closed(site: &Site, out: &mut Output) {
    let AccessSummary { by, paths, tokens } = site.closed();
    let paths = counted(paths as u64, "closed path");
    let tokens = counted(tokens as u64, "token");
    match by {
        RestrictionSource::Served => out.say(format_args!("{paths}, {tokens}")),
        RestrictionSource::Announced => out.say(format_args!(
            "{paths}, {tokens}: only the pages that the ARC sitemap marks are closed"
        )),
        RestrictionSource::None => {
            out.warn("warning: no page is closed: no served.json and no readable ARC sitemap");
        }
    }
}

/// Parses an address to listen on: `127.0.0.1:8080`, `localhost:8080` or `8080`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let wanted = "expected an address with a port, such as 127.0.0.1:8080, [::1]:8080, \
        0.0.0.0:80 for all addresses, or a port alone";
    text.parse().map_err(|_| wanted.to_owned())
}

/// Parses a number of bytes: `500k` and `2MB` use powers of 1000, `2MiB` powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = unit.trim().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "b" => Some(1),
        "k" | "kb" => Some(1000),
        "m" | "mb" => Some(1_000_000),
        "g" | "gb" => Some(1_000_000_000),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        _ => None,
    };
    let bytes =
        number.parse::<u64>().ok().zip(factor).and_then(|(n, factor)| n.checked_mul(factor));
    let wanted = || "expected a number of bytes, such as 500000, 500k, 2M or 1GiB".to_owned();
    bytes.filter(|bytes| 0 < *bytes).ok_or_else(wanted)
}

/// Parses a number of at least 1.
fn several(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "expected a number".to_owned())?;
    if number == 0 { Err("expected at least 1".to_owned()) } else { Ok(number) }
}

fn settings(args: &ServeArgs, state: Option<PathBuf>) -> anyhow::Result<SiteSettings> {
    let rate = match args.rate.as_str() {
        "off" => None,
        text => {
            let wanted = "expected a rate, such as 50/s, or `off` for no limit";
            let rate = parse_rate(text).with_context(|| format!("--rate {text}: {wanted}"))?;
            Some(RateLimit { burst: args.burst, ..rate })
        }
    };
    let update = args.update.map(|update| match update {
        UpdateInterval::Hourly => 3600,
        UpdateInterval::Daily => 86_400,
        UpdateInterval::Weekly => 604_800,
        UpdateInterval::Monthly => 2_592_000,
    });
    let header = match args.proxy_header {
        ProxyHeader::XForwardedFor => ForwardingHeader::XForwardedFor,
        ProxyHeader::Forwarded => ForwardingHeader::Forwarded,
    };
    Ok(SiteSettings {
        state,
        unknown: if args.open { UnknownAccess::Open } else { UnknownAccess::Refused },
        tokens: args.tokens.clone(),
        update,
        rate,
        bandwidth: args.bandwidth,
        watch: (!args.no_watch).then(|| args.odd.thresholds()),
        proxies: TrustedProxies { trusted: args.trusted_proxy.clone(), header },
        limits: Limits {
            connection: ConnectionLimits {
                total: args.connections,
                per_address: args.connections_per_address,
                ..ConnectionLimits::DEFAULT
            },
            ..Limits::DEFAULT
        },
        ..SiteSettings::new(&args.folder)
    })
}

fn log(args: &ServeArgs, stderr: &StderrWriter) -> anyhow::Result<Option<Arc<LogWriter>>> {
    if args.access_log.as_os_str() == "off" {
        return Ok(None);
    }
    let form = match args.log_format {
        LogFormat::Text => AccessLogFormat::Text,
        LogFormat::Jsonl => AccessLogFormat::Json,
    };
    let log = LogWriter::new(form, target(&args.access_log)?)?;
    let stderr = stderr.clone();
    log.on_loss(move || {
        stderr.say(
            "cannot write to the access log: lines are lost and counted in \
             rutter_log_lines_lost_total",
        );
    });
    Ok(Some(Arc::new(log)))
}

fn target(path: &Path) -> anyhow::Result<Box<dyn Write + Send>> {
    if path.as_os_str() == "-" {
        return Ok(output::stdout());
    }
    let file = File::options().create(true).append(true).open(path);
    Ok(Box::new(file.with_context(|| path.display().to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_addresses_sizes_and_numbers() {
        for (text, wanted) in [
            ("8080", Some("127.0.0.1:8080")),
            ("localhost:0", Some("127.0.0.1:0")),
            ("[::1]:80", Some("[::1]:80")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("localhost", None),
            (":8080", None),
            ("99999", None),
            ("example.com:80", None),
        ] {
            assert_eq!(address(text).ok(), wanted.map(|text| text.parse().unwrap()), "{text}");
        }
        for (text, wanted) in [
            ("1", Some(1)),
            ("500k", Some(500_000)),
            ("1MB", Some(1_000_000)),
            ("2 MiB", Some(2 << 20)),
            ("1GiB", Some(1 << 30)),
            ("0", None),
            ("0M", None),
            ("-1", None),
            ("1.5M", None),
            ("fast", None),
            ("99999999999999999999G", None),
            ("99999999999G", None),
        ] {
            assert_eq!(size(text).ok(), wanted, "{text}");
        }
        assert_eq!((several("1").ok(), several("0").ok(), several("").ok()), (Some(1), None, None));
    }
}
