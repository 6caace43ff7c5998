//! `rutter serve`: a built website over HTTP.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use rutter_build::BuildError;
use rutter_finding::Finding;
use rutter_logs::Record;
use rutter_serve::{
    AccessSink, Forwarding, Heard, Lifetimes, Limits, Listening, LogForm, LogWriter, Network,
    Proxies, Rate, Server, Settings, Site, TlsFiles, rate_of,
};

use crate::commands::odd::Watching;
use crate::exit::Exit;
use crate::output::{self, Output};

/// How often lines of the access log are put into the file.
const FLUSH: Duration = Duration::from_millis(500);

/// Where a build leaves its state, unless told otherwise.
const STATE: &str = ".rutter";

/// What the arguments say.
#[derive(Debug, clap::Args)]
#[command(after_help = "Signals: TERM and INT end the server after answers under way, at most 10 \
    seconds later; HUP reads served.json, tokens and certificates again and opens the access log \
    anew.")]
pub(crate) struct Args {
    /// The built folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Address and port; port 0 lets the system choose
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// State of the build, with served.json [default: .rutter here, in DIR or beside it]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
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
    #[arg(long, value_name = "ADDR:PORT")]
    metrics: Option<SocketAddr>,
    /// Requests of one client, such as 50/s or 100/m; `off` for no limit
    #[arg(long, value_name = "RATE", default_value = "50/s")]
    rate: String,
    /// Requests a client may make at once before the rate counts
    #[arg(long, value_name = "N", default_value_t = Rate::USUAL.burst)]
    burst: u32,
    /// Most bytes a second of one download
    #[arg(long, value_name = "BYTES")]
    bandwidth: Option<u64>,
    /// How often snapshots come; they may be kept for that long
    #[arg(long, value_enum, default_value_t = Update::Weekly)]
    update: Update,
    /// Network of a proxy in front, such as 10.0.0.0/8; may be given several times
    #[arg(long, value_name = "NET")]
    trusted_proxy: Vec<Network>,
    /// Header in which that proxy names the client
    #[arg(long, value_enum, default_value_t = Header::XForwardedFor)]
    proxy_header: Header,
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = Limits::USUAL.connections)]
    connections: usize,
    /// Connections of one address at once
    #[arg(long, value_name = "N", default_value_t = Limits::USUAL.per_address)]
    connections_per_address: usize,
    /// Threads that answer [default: one for each core]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// File for the access log; `-` is standard output, `off` is nowhere
    #[arg(long, value_name = "FILE", default_value = "-")]
    access_log: PathBuf,
    /// How its lines look: the combined format, or JSON
    #[arg(long, value_enum, default_value_t = Form::Text)]
    log_form: Form,
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
    Text,
    Json,
}

/// Says on standard error who behaves oddly.
struct Aside;

impl AccessSink for Aside {
    fn access(&self, _record: &Record<'_>) {}

    fn odd(&self, finding: &Finding) {
        let Finding { rule, detail, .. } = finding;
        output::say_aside(&format!("{}: {}: {detail}", rule.code, rule.title));
    }
}

type Log = LogWriter<BufWriter<Box<dyn Write + Send>>>;

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    anyhow::ensure!(folder.is_dir(), "{}: no such folder", folder.display());
    let state = state(args);
    if let Some(state) = &state {
        recover(state, out)?;
    }
    let log = log(args)?;
    let aside = (!args.no_watch).then(|| Arc::new(Aside) as Arc<dyn AccessSink>);
    let sinks = aside.into_iter().chain(log.iter().map(|log| Arc::clone(log) as _)).collect();
    let settings = settings(args, state.clone())?;
    let is_described = state.as_ref().is_some_and(|state| state.join("served.json").is_file());
    let site = Site::open(settings, sinks)?;
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let tls = tls.map(|(certificate, key)| TlsFiles { certificate, key });
    let scheme = if tls.is_some() { "https" } else { "http" };
    let usual = Listening::new(args.listen);
    let workers = args.workers.unwrap_or(usual.workers);
    let server =
        Server::bind(site.clone(), Listening { metrics: args.metrics, tls, workers, ..usual })?;
    out.say(format_args!("serving {} at {scheme}://{}/", folder.display(), server.address()?));
    if let Some(address) = server.metrics_address() {
        out.say(format_args!("metrics at http://{address}/metrics"));
    }
    match state.filter(|_| is_described) {
        Some(state) => out.say(format_args!("described by {}/served.json", state.display())),
        None => {
            out.say("no served.json: types by the names of files, tags by their bytes");
            // Whoever asks meanwhile waits for one file only.
            thread::spawn(move || site.warm());
        }
    }
    if let Some(log) = log.clone() {
        thread::spawn(move || {
            loop {
                thread::sleep(FLUSH);
                // A full disk must not stop the serving.
                drop(log.flush());
            }
        });
    }
    let (path, reopened) = (args.access_log.clone(), log.clone());
    server.handle().obey_signals(move |heard| match heard {
        Heard::Stop => output::say_aside("ending"),
        Heard::Reload(result) => {
            if let Some(log) = &reopened
                && let Ok(target) = target(&path)
            {
                drop(log.replace(target).flush());
            }
            match result {
                Ok(()) => output::say_aside("read again"),
                Err(error) => {
                    let error = anyhow::Error::from(error);
                    output::say_aside(&format!("not read again, the old stays: {error:#}"));
                }
            }
        }
    })?;
    server.run()?;
    if let Some(log) = log {
        log.flush()?;
    }
    Ok(Exit::Clean)
}

fn settings(args: &Args, state: Option<PathBuf>) -> anyhow::Result<Settings> {
    let rate = match args.rate.as_str() {
        "off" => None,
        text => {
            let rate = rate_of(text).with_context(|| format!("--rate {text}: wanted 50/s"))?;
            Some(Rate { burst: args.burst.max(1), ..rate })
        }
    };
    let snapshot = match args.update {
        Update::Hourly => 3600,
        Update::Daily => 86_400,
        Update::Weekly => 604_800,
        Update::Monthly => 2_592_000,
    };
    let header = match args.proxy_header {
        Header::XForwardedFor => Forwarding::XForwardedFor,
        Header::Forwarded => Forwarding::Forwarded,
    };
    Ok(Settings {
        state,
        tokens: args.tokens.clone(),
        lifetimes: Lifetimes { snapshot, ..Lifetimes::USUAL },
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

/// The folder of the state: the one that is named, else the first that has a
/// `served.json`.
fn state(args: &Args) -> Option<PathBuf> {
    if args.state.is_some() {
        return args.state.clone();
    }
    let beside = args.folder.parent().map(|folder| folder.join(STATE));
    let places = [Some(PathBuf::from(STATE)), Some(args.folder.join(STATE)), beside];
    places.into_iter().flatten().find(|place| place.join("served.json").is_file())
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

fn log(args: &Args) -> anyhow::Result<Option<Arc<Log>>> {
    if args.access_log.as_os_str() == "off" {
        return Ok(None);
    }
    let form = match args.log_form {
        Form::Text => LogForm::Text,
        Form::Json => LogForm::Json,
    };
    Ok(Some(Arc::new(LogWriter::new(form, target(&args.access_log)?))))
}

fn target(path: &Path) -> anyhow::Result<BufWriter<Box<dyn Write + Send>>> {
    let target: Box<dyn Write + Send> = if path.as_os_str() == "-" {
        output::stdout()
    } else {
        let file = File::options().create(true).append(true).open(path);
        Box::new(file.with_context(|| path.display().to_string())?)
    };
    Ok(BufWriter::with_capacity(64 << 10, target))
}
