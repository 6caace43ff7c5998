//! `rutter extract`: extracts the content of HTML and Markdown pages as typed blocks.
//!
//! Input: files, folders or standard input. Output: JSON, JSON Lines, Markdown, text or an
//! explanation. Uses the settings and the state of the project that a page belongs to. Rejects
//! files that are not text.

mod inputs;
mod project;
mod rendering;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::ValueEnum;
use rutter_extract::{
    ExtractOptions, Extraction, Limits, LinkBlocks, OwnerSelectors, PageSketch, PartDecision,
    SAMPLE, TemplateChoice, TemplateSet, TemplateVersionId, sample_key,
};
use rutter_finding::{FindingSink, Place, Refusal, Report, Strictness};
use rutter_page::{LanguageTag, Timestamp};

use crate::commands::{counted, parse_time, print_findings, reject_second_stdin};
use crate::exit::{self, ExitStatus};
use crate::output::Output;
use inputs::{InputPage, jobs, read};
use project::Project;
use rendering::{browser, render};

/// Maximum size of a page in bytes.
const MAX_PAGE_BYTES: u64 = 100_000_000;

/// Arguments of `rutter extract`.
#[derive(Debug, clap::Args)]
// More than 12 fields: one field per option.
pub(crate) struct ExtractArgs {
    /// Pages, or folders of pages; - is standard input
    ///
    /// In a folder, files with the extensions .html, .htm, .xhtml, .md and .markdown are read.
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// URL of the page, or of the common folder of several pages
    ///
    /// Default: the URL of the page in the project, else <http://localhost>/.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Settings file to read
    ///
    /// Default: rutter.toml in a parent folder of the page, else in the current folder or one of
    /// its parents.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Output format [default: json for one page, jsonl for several]
    #[arg(long, value_enum)]
    format: Option<ExtractFormat>,
    /// Input format [default: by the file extension, else html]
    #[arg(long, value_enum)]
    from: Option<InputFormat>,
    /// Print why each part of the page was kept or dropped
    ///
    /// The reasons are printed instead of the page.
    #[arg(long)]
    explain: bool,
    /// Extract each page on its own
    ///
    /// By default, parts that the pages of a folder or project share, such as menus, are recognized
    /// and dropped.
    #[arg(long)]
    alone: bool,
    /// Whether links inside text become link blocks, too
    ///
    /// Default: the setting `links` in [extract] of the project, else on.
    #[arg(long, value_enum, value_name = "WHEN")]
    links: Option<LinkMode>,
    /// Language of pages that declare none
    ///
    /// A language tag, such as en or pt-BR.
    #[arg(long, value_name = "TAG", value_parser = parse_language)]
    language: Option<LanguageTag<'static>>,
    /// Character encoding of the input, such as utf-8
    ///
    /// This encoding has the precedence of an HTTP header: it overrides the encoding that a page
    /// declares.
    #[arg(long, value_name = "NAME")]
    charset: Option<String>,
    /// Modification time of pages that state none
    ///
    /// Default: the mtime of the file. Example: 2026-05-01T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    modified: Option<Timestamp>,
    /// Shell command that renders pages that need scripts
    ///
    /// The command reads the page on standard input and prints the rendered page. The variables
    /// `RUTTER_URL` and `RUTTER_FILE` name the page. The command runs only for pages that have no
    /// text without scripts.
    #[arg(long, value_name = "CMD", conflicts_with = "render", help_heading = RENDERING)]
    render_command: Option<String>,
    /// Browser that renders pages that need scripts
    ///
    /// `chromium` runs Debian's Chromium, headless and sandboxed, for at most 30 seconds per page.
    /// Chromium has access to the page and the files of its folder, and no network. By default,
    /// pages are not rendered.
    #[arg(long, value_enum, value_name = "BROWSER", help_heading = RENDERING)]
    render: Option<Browser>,
    /// Run Chromium without its sandbox, inside a container
    ///
    /// Chromium does not run its sandbox as root: without this option, rendering as root fails.
    #[arg(long, requires = "render", help_heading = RENDERING)]
    render_no_sandbox: bool,
}

/// Heading of options for rendering.
const RENDERING: &str = "Rendering";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Browser {
    Chromium,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExtractFormat {
    /// The page object as one JSON document; for one page
    Json,
    /// One page object per line, as in collections
    Jsonl,
    /// Markdown with front matter, links and emphasis; for one page
    Markdown,
    /// Plain text without images and captions; for one page
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    Html,
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LinkMode {
    On,
    Off,
}

impl ExtractArgs {
    /// Returns the URL of the only page, or of the common folder of several pages.
    fn base(&self) -> &str {
        self.url.as_deref().unwrap_or("http://localhost/")
    }

    /// Returns the output format.
    fn format(&self, is_single: bool) -> ExtractFormat {
        self.format.unwrap_or(if is_single { ExtractFormat::Json } else { ExtractFormat::Jsonl })
    }
}

pub(crate) fn run(args: &ExtractArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    reject_second_stdin(&args.files)?;
    if let Some(charset) = &args.charset {
        anyhow::ensure!(
            rutter_extract::is_charset(charset),
            "--charset: unknown encoding `{charset}`"
        );
    }
    let project = Project::find(args.config.as_deref(), args.files.first().map(PathBuf::as_path))?;
    let mut jobs = jobs(args)?;
    if let Some(project) = project.as_ref().filter(|_| args.url.is_none()) {
        for job in &mut jobs {
            job.url = project.address(&job.path).unwrap_or_else(|| job.url.clone());
        }
    }
    let jobs = jobs;
    let is_single = jobs.len() == 1 && args.files.iter().all(|path| !path.is_dir());
    let format = args.format(is_single);
    anyhow::ensure!(
        is_single || format == ExtractFormat::Jsonl || args.explain,
        "--format {} requires one page; several pages can be printed as jsonl only",
        format.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned()),
    );
    if let Some(project) = project.as_ref().filter(|project| project.counts()) {
        out.say(format_args!("reading settings from {}", project.file.display()));
    }
    let site =
        ExtractionContext { template: template(args, &jobs, project.as_ref(), out), project };
    let mut worst = ExitStatus::Clean;
    for job in &jobs {
        match one(args, job, &site, is_single, out) {
            Ok(ExitStatus::Clean) => {}
            Ok(exit) => worst = worst.max(exit),
            Err(error) if is_single || exit::is_closed_pipe(&error) => return Err(error),
            // A page that fails does not stop the extraction of the other pages.
            Err(error) => {
                out.error(&error);
                worst = worst.max(ExitStatus::of(&error));
            }
        }
    }
    Ok(worst)
}

/// Data that the extraction of a page needs besides the page itself.
struct ExtractionContext {
    project: Option<Project>,
    /// Templates that this run learned from the pages of the folder. The templates that the last
    /// build learned take precedence.
    template: TemplateChoice,
}

impl ExtractionContext {
    fn options(&self, args: &ExtractArgs, job: &InputPage, seen: Timestamp) -> ExtractOptions {
        let project = self.project.as_ref();
        let learned = project.filter(|_| !args.alone).and_then(|it| it.template(&job.url));
        let mut options = ExtractOptions {
            charset: args.charset.clone(),
            language: args.language.clone().or_else(|| project?.language(&job.url)),
            template: learned.unwrap_or_else(|| self.template.clone()),
            explain: args.explain,
            ..ExtractOptions::new(job.url.clone(), args.modified.unwrap_or(seen))
        };
        if let Some(project) = project {
            project.apply(&job.url, &mut options);
        }
        options.links = match args.links {
            Some(LinkMode::On) => LinkBlocks::All,
            Some(LinkMode::Off) => LinkBlocks::Lone,
            None => options.links,
        };
        options
    }
}

/// Extracts and prints one page.
fn one(
    args: &ExtractArgs,
    job: &InputPage,
    site: &ExtractionContext,
    is_single: bool,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let (bytes, seen) = read(&job.path)?;
    if !rutter_extract::is_text(&bytes) {
        let refusal = Refusal::new(&rutter_extract::rules::NOT_TEXT, Place::WHOLE, "");
        return Err(anyhow::Error::new(refusal).context(job.name()));
    }
    let options = site.options(args, job, seen);
    let mut extraction = extract(&bytes, job.from, &options);
    if let Some(command) = args.render_command.as_deref().filter(|_| is_shell(&extraction)) {
        let rendered = render(command, job, bytes)?;
        let again = extract(&rendered, job.from, &options);
        if has_text(&again) {
            extraction = again;
        } else {
            let name = job.name();
            out.warn(format_args!("{name}: the output of the render command has no text"));
        }
    } else if args.render.is_some() && is_shell(&extraction) {
        let rendered = browser(args, job, site).render(&job.url, &bytes);
        let rendered = rendered.with_context(|| job.name())?;
        let again = extract(&rendered, job.from, &options);
        if has_text(&again) {
            extraction = again;
        } else {
            out.warn(format_args!("{}: the rendered page has no text", job.name()));
        }
    }
    let mut report = Report::new(Strictness::Lenient);
    for finding in std::mem::take(&mut extraction.findings) {
        report.report(finding);
    }
    print_findings(&job.name(), &report, out);
    if args.explain {
        explain(job, &options, &extraction, is_single, out)?;
    } else {
        print(args, &extraction, is_single, out)?;
    }
    Ok(if extraction.page.content.is_empty() { ExitStatus::Findings } else { ExitStatus::Clean })
}

fn extract(bytes: &[u8], from: InputFormat, options: &ExtractOptions) -> Extraction {
    match from {
        InputFormat::Html => rutter_extract::html(bytes, options),
        InputFormat::Markdown => rutter_extract::markdown(bytes, options),
    }
}

fn is_shell(extraction: &Extraction) -> bool {
    extraction.needs_scripts
}

/// Returns whether a rendered page has content.
fn has_text(rendered: &Extraction) -> bool {
    !is_shell(rendered) && !rendered.page.content.is_empty()
}

/// Prints why each part of a page was kept or dropped, for `--explain`.
fn explain(
    job: &InputPage,
    options: &ExtractOptions,
    extraction: &Extraction,
    is_single: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    if !is_single {
        writeln!(out.data(), "{}", job.path.display())?;
    }
    for PartDecision { path, reason, is_kept, chars, start } in &extraction.why {
        let verdict = if *is_kept { "keep" } else { "drop" };
        let start = rutter_finding::visible(start);
        writeln!(out.data(), "{verdict} {chars:>6}  {path}  ({reason})  {start}")?;
    }
    let OwnerSelectors { keep, drop, .. } = &options.control;
    for selector in keep.iter().chain(drop) {
        if !extraction.matched.iter().any(|matched| matched == selector.as_str()) {
            writeln!(out.data(), "selector `{selector}` matches no element of this page")?;
        }
    }
    if let Some(TemplateVersionId(version)) = extraction.template {
        writeln!(out.data(), "template {version:016x}")?;
    }
    writeln!(out.data(), "confidence {:.2}", extraction.confidence)?;
    Ok(())
}

fn print(
    args: &ExtractArgs,
    extraction: &Extraction,
    is_single: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    match args.format(is_single) {
        // A page without content cannot be a line of a collection.
        ExtractFormat::Jsonl if extraction.page.content.is_empty() && !is_single => {}
        ExtractFormat::Json | ExtractFormat::Jsonl => {
            writeln!(out.data(), "{}", extraction.page.to_line())?;
        }
        ExtractFormat::Markdown => write!(out.data(), "{}", extraction.to_markdown())?,
        ExtractFormat::Text => write!(out.data(), "{}", extraction.to_text())?,
    }
    Ok(())
}

/// Learns the templates of the pages of a folder, unless the last build of the project learned
/// them.
fn template(
    args: &ExtractArgs,
    jobs: &[InputPage],
    project: Option<&Project>,
    out: &mut Output,
) -> TemplateChoice {
    let is_learned = |job: &InputPage| project.is_some_and(|it| it.template(&job.url).is_some());
    if args.alone || args.files.iter().all(|path| !path.is_dir()) || jobs.iter().all(is_learned) {
        return TemplateChoice::Nothing;
    }
    let mut sample: Vec<&InputPage> =
        jobs.iter().filter(|job| job.from == InputFormat::Html).collect();
    sample.sort_by_key(|job| sample_key(job.url.as_str()));
    let mut sketches = Vec::new();
    for job in sample.into_iter().take(SAMPLE) {
        // A page that cannot be read is reported when it is extracted.
        let Ok((bytes, _)) = read(&job.path) else { continue };
        sketches.push(PageSketch::of_html(&bytes, args.charset.as_deref(), &Limits::USUAL));
    }
    let mut templates = TemplateSet::default();
    let n_layouts = templates.adapt(&sketches, &[]);
    if n_layouts == 0 {
        return TemplateChoice::Nothing;
    }
    let layouts = counted(n_layouts as u64, "layout");
    let pages = counted(sketches.len() as u64, "page");
    out.say(format_args!("learned {layouts} from {pages}"));
    TemplateChoice::Fitting(Arc::new(templates))
}

fn parse_language(text: &str) -> Result<LanguageTag<'static>, String> {
    let tag = LanguageTag::parse(text.to_owned());
    let tag = tag.ok_or("not a language tag, such as en or pt-BR")?;
    Ok(tag.canonical())
}
