//! `rutter extract`: pages of HTML or Markdown in, typed blocks out.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context;
use clap::ValueEnum;
use rutter_extract::{
    Extraction, Limits, LinkBlocks, Options, SAMPLE, Sketch, Templates, Use, Why, sample_key,
};
use rutter_finding::{FindingSink, Mode, Place, Refusal, Report};
use rutter_page::{LanguageTag, PageUrl, Timestamp};

use crate::commands::{counted, now, one_stdin, parse_time, say_findings};
use crate::exit::{self, Exit};
use crate::input::Source;
use crate::output::Output;

/// Largest page we read.
const LARGEST: u64 = 100_000_000;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Pages, or folders of .html, .htm, .xhtml, .md and .markdown files; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Address of the page; of several, the address of the folder they share
    #[arg(long, value_name = "URL", default_value = "http://localhost/")]
    url: String,
    /// What to print [default: json for one page, jsonl for several]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// What the input is [default: by its name, else HTML]
    #[arg(long, value_enum)]
    from: Option<From>,
    /// Print why each part of the page was kept or dropped, instead of the page
    #[arg(long)]
    explain: bool,
    /// Read each page of a folder by itself, without what the pages have in common
    #[arg(long)]
    alone: bool,
    /// Let the links of each paragraph follow it as blocks
    #[arg(long)]
    link_blocks: bool,
    /// Language of pages that declare none
    #[arg(long, value_name = "TAG", value_parser = parse_language)]
    language: Option<LanguageTag<'static>>,
    /// Character encoding, as an HTTP header would give it
    #[arg(long, value_name = "NAME")]
    charset: Option<String>,
    /// When pages changed that do not say it themselves [default: the file's time]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    modified: Option<Timestamp>,
    /// Command that prints the rendered page where a page has no text without scripts; run by
    /// the shell, with `RUTTER_URL` and `RUTTER_FILE` set and the page on its standard input
    #[arg(long, value_name = "CMD")]
    render_command: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The page object as one JSON document; takes one page
    Json,
    /// One page object per line, as collections hold it
    Jsonl,
    /// Markdown with front matter, links and emphasis kept; takes one page
    Markdown,
    /// Plain text without pictures and captions; takes one page
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    Html,
    Markdown,
}

/// A page to be read.
struct Job {
    path: PathBuf,
    url: PageUrl<'static>,
    from: From,
}

impl Job {
    /// What to call it in messages.
    fn name(&self) -> String {
        if self.path.as_os_str() == "-" {
            "<stdin>".to_owned()
        } else {
            self.path.display().to_string()
        }
    }
}

impl Args {
    /// The form that is asked for; without one, a page is a document and several are lines.
    fn format(&self, is_single: bool) -> Format {
        self.format.unwrap_or(if is_single { Format::Json } else { Format::Jsonl })
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    one_stdin(&args.files)?;
    if let Some(charset) = &args.charset {
        anyhow::ensure!(
            rutter_extract::is_charset(charset),
            "--charset {charset}: no such encoding"
        );
    }
    let jobs = jobs(args)?;
    let is_single = jobs.len() == 1 && args.files.iter().all(|path| !path.is_dir());
    let format = args.format(is_single);
    anyhow::ensure!(
        is_single || format == Format::Jsonl || args.explain,
        "several pages are printed as JSON Lines; --format {} takes one page",
        format.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned()),
    );
    let template = template(args, &jobs, out);
    let mut worst = Exit::Clean;
    for job in &jobs {
        match one(args, job, &template, is_single, out) {
            Ok(Exit::Clean) => {}
            Ok(exit) => worst = worst.max(exit),
            Err(error) if is_single || exit::is_closed_pipe(&error) => return Err(error),
            // One bad page does not cost the others.
            Err(error) => {
                out.error(&error);
                worst = worst.max(Exit::of(&error));
            }
        }
    }
    Ok(worst)
}

/// Reads and prints one page.
fn one(
    args: &Args,
    job: &Job,
    template: &Use,
    is_single: bool,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let (bytes, seen) = read(&job.path)?;
    if !rutter_extract::is_text(&bytes) {
        let refusal = Refusal::new(&rutter_extract::rules::NOT_TEXT, Place::WHOLE, "");
        return Err(anyhow::Error::new(refusal).context(job.name()));
    }
    let options = Options {
        charset: args.charset.clone(),
        language: args.language.clone(),
        links: if args.link_blocks { LinkBlocks::All } else { LinkBlocks::Lone },
        template: template.clone(),
        explain: args.explain,
        ..Options::new(job.url.clone(), args.modified.unwrap_or(seen))
    };
    let mut extraction = extract(&bytes, job.from, &options);
    if let Some(command) = args.render_command.as_deref().filter(|_| is_shell(&extraction)) {
        let rendered = render(command, job, bytes)?;
        let again = extract(&rendered, job.from, &options);
        if again.page.content.is_empty() {
            out.warn(format_args!("{}: the render command printed no text", job.name()));
        } else {
            extraction = again;
        }
    }
    let mut report = Report::new(Mode::Lenient);
    for finding in std::mem::take(&mut extraction.findings) {
        report.report(finding);
    }
    say_findings(&job.name(), &report, out);
    print(args, job, &extraction, is_single, out)?;
    Ok(if extraction.page.content.is_empty() { Exit::Findings } else { Exit::Clean })
}

fn extract(bytes: &[u8], from: From, options: &Options) -> Extraction {
    match from {
        From::Html => rutter_extract::html(bytes, options),
        From::Markdown => rutter_extract::markdown(bytes, options),
    }
}

fn is_shell(extraction: &Extraction) -> bool {
    let shell = &rutter_extract::rules::SCRIPT_SHELL;
    extraction.findings.iter().any(|finding| std::ptr::eq(finding.rule, shell))
}

fn print(
    args: &Args,
    job: &Job,
    extraction: &Extraction,
    is_single: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    if args.explain {
        if !is_single {
            writeln!(out.data(), "{}", job.path.display())?;
        }
        for Why { path, reason, is_kept, chars, start } in &extraction.why {
            let verdict = if *is_kept { "keep" } else { "drop" };
            let start = rutter_finding::visible(start);
            writeln!(out.data(), "{verdict} {chars:>6}  {path}  ({reason})  {start}")?;
        }
        writeln!(out.data(), "confidence {:.2}", extraction.confidence)?;
        return Ok(());
    }
    match args.format(is_single) {
        // What has no content cannot be a line of a collection.
        Format::Jsonl if extraction.page.content.is_empty() && !is_single => {}
        Format::Json | Format::Jsonl => writeln!(out.data(), "{}", extraction.page.to_line())?,
        Format::Markdown => write!(out.data(), "{}", extraction.to_markdown())?,
        Format::Text => write!(out.data(), "{}", extraction.to_text())?,
    }
    Ok(())
}

/// All pages the arguments name, folders by name in order.
fn jobs(args: &Args) -> anyhow::Result<Vec<Job>> {
    let is_one_file = args.files.len() == 1 && args.files.iter().all(|path| !path.is_dir());
    let base = PageUrl::parse(args.url.clone()).with_context(|| format!("--url {}", args.url))?;
    if let ([path], true) = (args.files.as_slice(), is_one_file) {
        return Ok(vec![Job { path: path.clone(), url: base, from: from(args, path) }]);
    }
    anyhow::ensure!(
        !args.url.contains(['?', '#']),
        "--url {}: of several pages, name the address of their folder, without ? and #",
        args.url
    );
    // Addresses follow the paths below the one folder given, or below the
    // folder that all arguments share.
    let shared = match args.files.as_slice() {
        [folder] => folder.clone(),
        several => shared_folder(several),
    };
    let mut jobs = Vec::new();
    for path in &args.files {
        let mut files = vec![path.clone()];
        if path.is_dir() {
            files.clear();
            walk(path, &mut files)?;
            files.sort();
            anyhow::ensure!(!files.is_empty(), "{}: no .html or .md files in it", path.display());
        }
        for file in files {
            let inside = file.strip_prefix(&shared).unwrap_or(&file);
            jobs.push(Job {
                url: address(&args.url, inside)?,
                from: from(args, &file),
                path: file,
            });
        }
    }
    Ok(jobs)
}

/// The deepest folder that holds all paths.
fn shared_folder(paths: &[PathBuf]) -> PathBuf {
    let mut parents = paths.iter().filter_map(|path| path.parent());
    let mut shared = parents.next().map(Path::to_owned).unwrap_or_default();
    for parent in parents {
        while !parent.starts_with(&shared) {
            if !shared.pop() {
                break;
            }
        }
    }
    shared
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let entry = entry.with_context(|| folder.display().to_string())?;
        let path = entry.path();
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let kind = entry.file_type().with_context(|| path.display().to_string())?;
        if kind.is_dir() && !is_hidden {
            walk(&path, files)?;
        } else if (kind.is_file() || (kind.is_symlink() && path.is_file())) && is_page(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_page(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    matches!(ending.as_deref(), Some("html" | "htm" | "xhtml" | "md" | "markdown"))
}

fn from(args: &Args, path: &Path) -> From {
    args.from.unwrap_or_else(|| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("md" | "markdown") => From::Markdown,
            _ => From::Html,
        }
    })
}

/// The address of a file below the folder's address; an index is its folder.
fn address(base: &str, inside: &Path) -> anyhow::Result<PageUrl<'static>> {
    let mut url = base.to_owned();
    if !url.ends_with('/') {
        url.push('/');
    }
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    for (idx, part) in parts.iter().enumerate() {
        let is_last = idx + 1 == parts.len();
        if is_last && matches!(part.as_ref(), "index.html" | "index.htm") {
            break;
        }
        for byte in part.bytes() {
            let is_plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
            if is_plain {
                url.push(char::from(byte));
            } else {
                write!(url, "%{byte:02X}").expect("a string takes everything");
            }
        }
        if !is_last {
            url.push('/');
        }
    }
    PageUrl::parse(url.clone()).with_context(|| format!("--url {base}"))
}

fn read(path: &Path) -> anyhow::Result<(Vec<u8>, Timestamp)> {
    let source = Source::new(path)?;
    let mut bytes = Vec::new();
    let (input, _) = source.open().with_context(|| source.name().to_owned())?;
    input.take(LARGEST + 1).read_to_end(&mut bytes).with_context(|| source.name().to_owned())?;
    anyhow::ensure!(
        bytes.len() as u64 <= LARGEST,
        "{}: page has more than {LARGEST} bytes",
        source.name()
    );
    let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let seconds = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let seconds = seconds.and_then(|since| i64::try_from(since.as_secs()).ok());
    let seen = match seconds.and_then(Timestamp::from_unix_seconds) {
        Some(seen) if path.as_os_str() != "-" => seen,
        _ => now()?,
    };
    Ok((bytes, seen))
}

/// Learns what the pages of a folder have in common.
fn template(args: &Args, jobs: &[Job], out: &mut Output) -> Use {
    if args.alone || args.files.iter().all(|path| !path.is_dir()) {
        return Use::Nothing;
    }
    let mut sample: Vec<&Job> = jobs.iter().filter(|job| job.from == From::Html).collect();
    sample.sort_by_key(|job| sample_key(job.url.as_str()));
    let mut sketches = Vec::new();
    for job in sample.into_iter().take(SAMPLE) {
        // What cannot be read is reported when its turn comes.
        let Ok((bytes, _)) = read(&job.path) else { continue };
        sketches.push(Sketch::of_html(&bytes, args.charset.as_deref(), &Limits::USUAL));
    }
    let mut templates = Templates::default();
    let n_layouts = templates.adapt(&sketches, &[]);
    if n_layouts == 0 {
        return Use::Nothing;
    }
    let layouts = counted(n_layouts as u64, "layout");
    let pages = counted(sketches.len() as u64, "page");
    out.say(format_args!("learned {layouts} from {pages}"));
    Use::Fitting(Arc::new(templates))
}

/// Runs the command that renders a page.
fn render(command: &str, job: &Job, page: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    use std::io::Write;

    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("RUTTER_URL", job.url.as_str())
        .env("RUTTER_FILE", &job.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run the shell for --render-command")?;
    let mut input = child.stdin.take().context("the render command has no input")?;
    // A command that does not read its input is fine.
    let feeding = std::thread::spawn(move || drop(input.write_all(&page)));
    let output = child.stdout.take().context("the render command has no output")?;
    let mut rendered = Vec::new();
    output.take(LARGEST + 1).read_to_end(&mut rendered).context("the render command's output")?;
    anyhow::ensure!(
        rendered.len() as u64 <= LARGEST,
        "{}: the render command printed more than {LARGEST} bytes",
        job.name()
    );
    drop(feeding.join());
    let status = child.wait().context("the render command")?;
    anyhow::ensure!(
        status.success(),
        "{}: the render command failed ({status})",
        job.path.display()
    );
    Ok(rendered)
}

fn parse_language(text: &str) -> Result<LanguageTag<'static>, String> {
    let tag = LanguageTag::parse(text.to_owned());
    let tag = tag.ok_or("not a language tag, for instance en or pt-BR")?;
    Ok(tag.canonical())
}
