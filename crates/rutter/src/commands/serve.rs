//! `rutter serve`: a built website over HTTP.

mod aside;

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::Context;
use clap::ValueEnum;
use rutter_build::BuildError;
use rutter_serve::{
    AccessSink, Closed, ClosedBy, Forwarding, Heard, Limits, Listening, LogForm, LogWriter,
    Network, Proxies, Rate, Server, Settings, Site, TlsFiles, Tokens, Unknown, rate_of,
};

use crate::commands::counted;
use crate::commands::odd::Watching;
use crate::config;
use crate::exit::Exit;
use crate::output::{self, Output};

use aside::Aside;

/// Where a build leaves its state, unless told otherwise.
const STATE: &str = ".rutter";

/// What names it to a build, too.
const VARIABLE: &str = "RUTTER_STATE";

/// What the arguments say.
#[derive(Debug, clap::Args)]
#[command(after_help = "Signals: TERM and INT end the server after answers under way, at most 10 \
    seconds later; HUP reads served.json, tokens and certificates again and opens the access log \
    anew.")]
pub(crate) struct Args {
    /// The built folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Address and port, or a port of this machine alone; port 0 lets the system choose
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    listen: SocketAddr,
    /// State of the build, with served.json [default: `RUTTER_STATE`, or .rutter in DIR,
    /// beside it or here]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Show everything to everybody where neither served.json nor an ARC sitemap that can be read
    /// says what is closed
    #[arg(long)]
    open: bool,
    /// File of tokens, made by `rutter token new`; switches the partner API on
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Certificate and those above it, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Address and port of /metrics, for Prometheus
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    metrics: Option<SocketAddr>,
    /// Requests of one client, such as 50/s or 100/m; `off` for no limit
    #[arg(long, value_name = "RATE", default_value = "50/s")]
    rate: String,
    /// Requests a client may make at once before the rate counts
    #[arg(long, value_name = "N", default_value_t = Rate::USUAL.burst, value_parser = clap::value_parser!(u32).range(1..))]
    burst: u32,
    /// Most bytes a second of one download, such as 500k, 2M or 1GiB
    #[arg(long, value_name = "BYTES", value_parser = size)]
    bandwidth: Option<u64>,
    /// How often snapshots come; they may be kept for that long [default: as the build says]
    #[arg(long, value_enum)]
    update: Option<Update>,
    /// Network of a proxy in front, such as 10.0.0.0/8; may be given several times
    #[arg(long, value_name = "NET")]
    trusted_proxy: Vec<Network>,
    /// Header in which that proxy names the client
    #[arg(long, value_enum, default_value_t = Header::XForwardedFor)]
    proxy_header: Header,
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = Limits::USUAL.connections, value_parser = several)]
    connections: usize,
    /// Connections of one address at once
    #[arg(long, value_name = "N", default_value_t = Limits::USUAL.per_address, value_parser = several)]
    connections_per_address: usize,
    /// Threads that answer [default: one for each core]
    #[arg(long, value_name = "N", value_parser = several)]
    workers: Option<usize>,
    /// File for the access log; `-` is standard output, `off` is nowhere
    #[arg(long, value_name = "FILE", default_value = "-")]
    access_log: PathBuf,
    /// Form of its lines
    #[arg(long, alias = "log-form", value_enum, default_value_t = Form::Text)]
    log_format: Form,
    /// Watch nobody: odd clients are not told, agents are not counted
    #[arg(long)]
    no_watch: bool,
    #[command(flatten)]
    odd: Watching,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Update {
    Hourly,
    Daily,
    Weekly,
    Monthly,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Header {
    XForwardedFor,
    Forwarded,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// The combined format of Apache and nginx
    Text,
    /// One JSON object per line
    #[value(alias = "json")]
    Jsonl,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    let metadata = folder.metadata().with_context(|| folder.display().to_string())?;
    anyhow::ensure!(metadata.is_dir(), "{}: is a file, wanted a folder", folder.display());
    let state = state(args)?;
    must_not_be_shown(args, state.as_deref())?;
    if let Some(state) = &state {
        recover(state, out)?;
    }
    let aside = Aside::new()?;
    let log = log(args, &aside)?;
    let watching = (!args.no_watch).then(|| Arc::new(aside.clone()) as Arc<dyn AccessSink>);
    let sinks = watching.into_iter().chain(log.iter().map(|log| Arc::clone(log) as _)).collect();
    let settings = settings(args, state.clone())?;
    // Connections are files too; the usual limit of the system is meant for less.
    rutter_serve::raise_file_limit();
    if let Some(path) = &args.tokens {
        Tokens::load(path).with_context(|| path.display().to_string())?;
    }
    let site = Site::open(settings, sinks)?;
    let said = aside.clone();
    site.on_failed_reload(move |error| {
        let error = chain(error);
        said.say(format!("changed, but not read again, the old stays: {error}"));
    });
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let tls = tls.map(|(certificate, key)| TlsFiles { certificate, key });
    let scheme = if tls.is_some() { "https" } else { "http" };
    let usual = Listening::new(args.listen);
    let workers = args.workers.unwrap_or(usual.workers);
    let server =
        Server::bind(site.clone(), Listening { metrics: args.metrics, tls, workers, ..usual })?;
    // Before it says that it serves: whoever reads that may send a signal at once.
    let (path, reopened) = (args.access_log.clone(), log.clone());
    server.handle().obey_signals(move |heard| match heard {
        Heard::Stop => {
            aside.say("ending");
            aside.finish();
        }
        Heard::Reload(result) => {
            // The log of requests is another matter than what they are answered with.
            if let Some(log) = &reopened {
                match target(&path) {
                    Ok(target) => log.replace(target),
                    Err(error) => aside.say(format!(
                        "the access log cannot be opened anew, the old one goes on: {error:#}"
                    )),
                }
            }
            match result {
                Ok(()) => aside.say("read again"),
                Err(error) => {
                    let error = chain(&error);
                    aside.say(format!("not read again, the old stays: {error}"));
                }
            }
        }
    })?;
    out.say(format_args!("serving {} at {scheme}://{}/", folder.display(), server.address()?));
    if let Some(address) = server.metrics_address() {
        out.say(format_args!("metrics at http://{address}/metrics"));
    }
    match &state {
        Some(state) => out.say(format_args!("described by {}/served.json", state.display())),
        None => out.say("no served.json: types by the names of files, tags by their bytes"),
    }
    say_closed(&site, out);
    // Whoever asks meanwhile waits for one file only.
    thread::spawn(move || site.warm());
    server.run()?;
    if let Some(log) = log {
        log.flush().context("the access log was not written to its end")?;
    }
    Ok(Exit::Clean)
}

/// Says what is closed, so that nobody has to find out from outside.
fn say_closed(site: &Site, out: &mut Output) {
    let Closed { by, paths, tokens } = site.closed();
    let paths = counted(paths as u64, "closed path");
    let tokens = counted(tokens as u64, "token");
    match by {
        ClosedBy::Served => out.say(format_args!("{paths}, {tokens}")),
        ClosedBy::Announced => out.say(format_args!(
            "{paths}, {tokens}: pages as the ARC sitemap marks them, nothing beside them"
        )),
        ClosedBy::Nobody => {
            out.warn("no page is closed: no served.json and no ARC sitemap that can be read");
        }
    }
}

/// Reads where to listen: `127.0.0.1:8080`, `localhost:8080` or `8080`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let wanted = "wanted an address with a port, such as 127.0.0.1:8080, [::1]:8080, \
        0.0.0.0:80 for all addresses, or a port alone";
    text.parse().map_err(|_| wanted.to_owned())
}

/// Reads a number of bytes: `500k`, `2M`, `2MB` are thousands, `2MiB` is not.
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
    let wanted = || "wanted a number of bytes, such as 500000, 500k, 2M or 1GiB".to_owned();
    bytes.filter(|bytes| 0 < *bytes).ok_or_else(wanted)
}

/// Reads a number of things of which there must be some.
fn several(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "wanted a number".to_owned())?;
    if number == 0 { Err("wanted at least 1".to_owned()) } else { Ok(number) }
}

fn settings(args: &Args, state: Option<PathBuf>) -> anyhow::Result<Settings> {
    let rate = match args.rate.as_str() {
        "off" => None,
        text => {
            let wanted = "wanted a rate of more than nothing, such as 50/s, or `off` for no limit";
            let rate = rate_of(text).with_context(|| format!("--rate {text}: {wanted}"))?;
            Some(Rate { burst: args.burst, ..rate })
        }
    };
    let update = args.update.map(|update| match update {
        Update::Hourly => 3600,
        Update::Daily => 86_400,
        Update::Weekly => 604_800,
        Update::Monthly => 2_592_000,
    });
    let header = match args.proxy_header {
        Header::XForwardedFor => Forwarding::XForwardedFor,
        Header::Forwarded => Forwarding::Forwarded,
    };
    Ok(Settings {
        state,
        unknown: if args.open { Unknown::Open } else { Unknown::Refused },
        tokens: args.tokens.clone(),
        update,
        rate,
        bandwidth: args.bandwidth,
        watch: (!args.no_watch).then(|| args.odd.thresholds()),
        proxies: Proxies { trusted: args.trusted_proxy.clone(), header },
        limits: Limits {
            connections: args.connections,
            per_address: args.connections_per_address,
            ..Limits::USUAL
        },
        ..Settings::new(&args.folder)
    })
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The folder of the state: the one that is named, else the nearest to the
/// folder that has a `served.json`. What lies there must be about the folder;
/// without knowing what is restricted nothing is served in its place.
fn state(args: &Args) -> anyhow::Result<Option<PathBuf>> {
    let is_state = |place: &PathBuf| {
        // One whose publication was interrupted gets it back from there.
        ["served.json", "journal.json"].iter().any(|name| place.join(name).is_file())
    };
    // CI systems set variables to nothing where they mean not at all.
    let variable = config::environment(VARIABLE).filter(|text| !text.is_empty());
    let (named, by) = match (&args.state, variable) {
        (Some(state), _) => (Some(state.clone()), "--state"),
        (None, variable) => (variable.map(PathBuf::from), VARIABLE),
    };
    if let Some(state) = named {
        let why = format!("no served.json there; build the site, or leave {by} out");
        anyhow::ensure!(is_state(&state), "{}: {why}", state.display());
        return Ok(Some(state));
    }
    Ok(places(&args.folder).find(is_state))
}

/// Where a state is looked for that nobody named.
fn places(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let beside = [folder.parent(), whole.parent()].map(|it| it.map(|it| it.join(STATE)));
    let [given, real] = beside;
    let places = [Some(folder.join(STATE)), given, real, Some(PathBuf::from(STATE))];
    places.into_iter().flatten()
}

/// Whether this state of a folder is found without being named.
pub(crate) fn finds(folder: &Path, state: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(state)
        .is_some_and(|state| places(folder).any(|place| real(&place).as_ref() == Some(&state)))
}

/// Finishes a publication that was interrupted.
fn recover(state: &Path, out: &mut Output) -> anyhow::Result<()> {
    if !state.join("journal.json").is_file() {
        return Ok(());
    }
    match rutter_build::recover(state) {
        Ok(true) => out.say("finished a publication that was interrupted"),
        Ok(false) => {}
        // Then it is being done, and we serve it as it comes.
        Err(BuildError::Busy(_)) => out.say("a build is under way"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Refuses to serve what is for the server alone: keys, tokens, logs and what
/// the state keeps must not lie below the folder under a name that is shown.
fn must_not_be_shown(args: &Args, state: Option<&Path>) -> anyhow::Result<()> {
    let is_file = !matches!(args.access_log.to_str(), Some("-" | "off"));
    let files = [
        ("the key", args.tls_key.as_deref()),
        ("the file of tokens", args.tokens.as_deref()),
        ("the access log", is_file.then_some(&*args.access_log)),
        ("the state", state),
    ];
    for (what, path) in files {
        if let Some(path) = path
            && rutter_serve::is_shown(&args.folder, path)
        {
            let (path, folder) = (path.display(), args.folder.display());
            anyhow::bail!(
                "{path}: {what} would be shown to everybody, because it lies in {folder}; move it"
            );
        }
    }
    Ok(())
}

fn log(args: &Args, aside: &Aside) -> anyhow::Result<Option<Arc<LogWriter>>> {
    if args.access_log.as_os_str() == "off" {
        return Ok(None);
    }
    let form = match args.log_format {
        Form::Text => LogForm::Text,
        Form::Jsonl => LogForm::Json,
    };
    let log = LogWriter::new(form, target(&args.access_log)?)?;
    let aside = aside.clone();
    log.on_loss(move || {
        aside.say(
            "the access log takes nothing: lines are lost, rutter_log_lines_lost_total counts them",
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
    fn ours_addresses_and_sizes_are_read_as_people_write_them() {
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
