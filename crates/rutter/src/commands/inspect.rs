//! `rutter scp inspect`: prints the header, the statistics or the pages of collections.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use rutter_finding::{Report, Strictness};
use rutter_page::{Page, PageUrl, ReaderView, Timestamp};
use rutter_scp::{Coding, CollectionReader, PageRecord, ReadOptions, ReadReceipt, ReaderThreads};
use serde_json::{Value, json};

use crate::commands::{
    SizeLimitArgs, format_bytes, parse_time, print_findings, reject_second_stdin,
};
use crate::exit::ExitStatus;
use crate::input::InputFile;
use crate::output::Output;
use crate::records::{RecordArgs, RecordWriter};

/// Arguments of `rutter scp inspect`.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// Collections to read, `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// List the pages with modification time, URL and title
    #[arg(long)]
    pages: bool,
    /// Print the content of the pages
    ///
    /// The format is Markdown, or page objects with --format json or jsonl.
    #[arg(long, conflicts_with = "pages")]
    content: bool,
    /// Select the page with this URL
    ///
    /// Implies --content, unless --pages is given.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<String>,
    /// Select pages modified at or after this time
    ///
    /// Example: 2026-05-01T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Maximum number of pages to print
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print lines byte for byte, including unsafe URLs
    ///
    /// The option applies to --content with --format json or jsonl. By default, unsafe URLs are
    /// removed.
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    rows: RecordArgs,
    #[command(flatten)]
    limits: SizeLimitArgs,
}

fn parse_url(text: &str) -> Result<String, String> {
    let parsed = PageUrl::parse(text).map(|url| url.key().to_owned());
    parsed.map_err(|error| error.to_string())
}

pub(crate) fn run(args: &InspectArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    reject_second_stdin(&args.files)?;
    // If no pages are listed, the limit does not apply: all pages are counted.
    let limit = args.limit.filter(|_| args.shows_pages());
    let mut left = limit.unwrap_or(u64::MAX);
    anyhow::ensure!(!args.raw || !args.rows.is_text(), "--raw requires --format json or jsonl");
    let mut rows = args.rows.rows(if args.shows_pages() { "pages" } else { "files" });
    for path in &args.files {
        let source = InputFile::new(path)?;
        inspect(&source, args, &mut left, &mut rows, out)
            .with_context(|| source.name().to_owned())?;
    }
    rows.finish(out)?;
    if args.url.is_some() && left == limit.unwrap_or(u64::MAX) && left != 0 {
        out.warn("no page has this URL");
        return Ok(ExitStatus::Findings);
    }
    Ok(ExitStatus::Clean)
}

impl InspectArgs {
    /// Returns whether to print the content of pages; `--url` alone implies it.
    fn shows_content(&self) -> bool {
        self.content || (self.url.is_some() && !self.pages)
    }

    fn shows_pages(&self) -> bool {
        self.pages || self.shows_content()
    }

    fn wants(&self, page: &Page<'_>) -> bool {
        self.url.as_deref().is_none_or(|url| url == page.url.key())
            && self.since.is_none_or(|since| since <= page.modified)
    }
}

fn inspect(
    source: &InputFile,
    args: &InspectArgs,
    left: &mut u64,
    rows: &mut RecordWriter,
    out: &mut Output,
) -> anyhow::Result<()> {
    let mut report = Report::new(Strictness::Lenient);
    let mut counts = PageStatistics::default();
    let mut show = |record: &PageRecord<'_>| show(record, args, rows, out);
    let receipt = read(source, args, left, &mut counts, &mut report, &mut show);
    print_findings(source.name(), &report, out);
    if receipt.is_err() && args.shows_pages() {
        out.warn(format_args!(
            "{}: verification failed; do not use the output above",
            source.name()
        ));
    }
    let receipt = receipt?;
    match (args.shows_pages(), rows.is_text()) {
        (true, _) => Ok(()),
        (false, true) => counts.write(source.name(), &receipt, out),
        (false, false) => rows.push(counts.to_json(source.name(), &receipt).to_string(), out),
    }
}

/// Reads and verifies a collection, and shows and counts the selected pages.
fn read(
    source: &InputFile,
    args: &InspectArgs,
    left: &mut u64,
    counts: &mut PageStatistics,
    report: &mut Report,
    show: &mut dyn FnMut(&PageRecord<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<ReadReceipt> {
    let (input, size) = source.open()?;
    let limits = args.limits.limits();
    let options = ReadOptions { limits, size, threads: ReaderThreads::Two };
    let mut reader = CollectionReader::open(input, options, report)?;
    while let Some(shown) = reader.next(report, |record| -> anyhow::Result<()> {
        if !args.wants(&record.page) || *left == 0 {
            return Ok(());
        }
        *left -= 1;
        counts.see(&record.page);
        if args.shows_pages() { show(&record) } else { Ok(()) }
    })? {
        shown?;
    }
    Ok(reader.finish_again(|| source.open().map(|(input, _)| input), report)?)
}

fn show(
    record: &PageRecord<'_>,
    args: &InspectArgs,
    rows: &mut RecordWriter,
    out: &mut Output,
) -> anyhow::Result<()> {
    let page = &record.page;
    match (!rows.is_text(), args.shows_content()) {
        (true, true) if args.raw => rows.push(record.text.to_owned(), out)?,
        (true, true) => match ReaderView::of(record.text)? {
            Some(view) => rows.push(view.line().into_owned(), out)?,
            None => rows.push(page.to_line(), out)?,
        },
        (true, false) => {
            let object = json!({
                "url": page.url.as_str(), "modified": page.modified, "title": &*page.title,
                "language": page.language.as_str(), "blocks": page.content.len(),
                "digest": record.digest().to_string(),
            });
            rows.push(object.to_string(), out)?;
        }
        (false, true) => out.text(&format!("{}\n", page.to_markdown()))?,
        (false, false) => {
            let title = rutter_finding::visible(&page.title);
            writeln!(out.data(), "{}  {}  {title}", page.modified, page.url.key())?;
        }
    }
    Ok(())
}

/// Statistics of the selected pages.
#[derive(Default)]
struct PageStatistics {
    pages: u64,
    blocks: BTreeMap<String, u64>,
    languages: BTreeMap<String, u64>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl PageStatistics {
    /// Maximum number of languages and of block types to count separately.
    const MAX_NAMES: usize = 1000;

    fn see(&mut self, page: &Page<'_>) {
        self.pages += 1;
        for block in &page.content {
            count(&mut self.blocks, block.kind());
        }
        count(&mut self.languages, page.language.as_str());
        self.first = Some(self.first.map_or(page.modified, |time| time.min(page.modified)));
        self.last = self.last.max(Some(page.modified));
    }

    fn to_json(&self, name: &str, receipt: &ReadReceipt) -> Value {
        let header = &receipt.header;
        json!({
            "file": name,
            "id": header.id,
            "section": header.section,
            "type": header.kind.name(),
            "generated": header.generated,
            "since": header.kind.since(),
            "version": format!("{}.{}", header.version.major, header.version.minor),
            "checksum": header.checksum.map(|digest| digest.to_string()),
            "verified": receipt.form.map(rutter_scp::ChecksumForm::name),
            "state": header.chain.as_ref().map(|chain| chain.state.to_string()),
            "from": header.chain.as_ref().and_then(|chain| chain.from).map(|s| s.to_string()),
            "removed": header.chain.as_ref().map(|chain| &chain.removed),
            "coding": coding(receipt),
            "coded": receipt.coded,
            "decoded": receipt.decoded,
            "pages": self.pages,
            "skipped": receipt.tally.skipped,
            "blocks": self.blocks,
            "languages": self.languages,
            "first_modified": self.first,
            "last_modified": self.last,
        })
    }

    fn write(&self, name: &str, receipt: &ReadReceipt, out: &mut Output) -> anyhow::Result<()> {
        let header = &receipt.header;
        let out = out.data();
        writeln!(out, "{name}")?;
        writeln!(out, "  id         {}", header.id)?;
        writeln!(out, "  section    {}", header.section)?;
        let since = header.kind.since().map_or(String::new(), |since| format!(" since {since}"));
        writeln!(out, "  type       {}{since}", header.kind.name())?;
        writeln!(out, "  generated  {}", header.generated)?;
        let verified = match (header.checksum, receipt.form) {
            (Some(digest), Some(form)) => format!("{digest} verified ({})", form.name()),
            _ => "absent".to_owned(),
        };
        writeln!(out, "  checksum   {verified}")?;
        if let Some(chain) = &header.chain {
            let from = chain.from.map_or(String::new(), |from| format!(" from {from}"));
            writeln!(out, "  state      {}{from}", chain.state)?;
            if !chain.removed.is_empty() {
                writeln!(out, "  removed    {}", chain.removed.len())?;
            }
        }
        let (coded, decoded) = (receipt.coded, receipt.decoded);
        #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
        let ratio = decoded as f64 / coded.max(1) as f64;
        let coding = coding(receipt);
        writeln!(
            out,
            "  size       {} {coding}, {} text, {ratio:.1} to 1",
            format_bytes(coded),
            format_bytes(decoded)
        )?;
        writeln!(out, "  pages      {}", self.pages)?;
        if let (Some(first), Some(last)) = (self.first, self.last) {
            writeln!(out, "  modified   {first} to {last}")?;
        }
        writeln!(out, "  blocks     {}", listed(&self.blocks))?;
        writeln!(out, "  languages  {}", listed(&self.languages))?;
        Ok(())
    }
}

fn count(counts: &mut BTreeMap<String, u64>, kind: &str) {
    if let Some(n) = counts.get_mut(kind) {
        *n += 1;
    } else if counts.len() < PageStatistics::MAX_NAMES {
        let kind: String = rutter_finding::visible(kind).chars().take(60).collect();
        *counts.entry(kind).or_default() += 1;
    }
}

fn listed(counts: &BTreeMap<String, u64>) -> String {
    let mut pairs: Vec<_> = counts.iter().collect();
    pairs.sort_by_key(|(name, n)| (u64::MAX - **n, (*name).clone()));
    let pairs: Vec<_> = pairs.iter().map(|(name, n)| format!("{name} {n}")).collect();
    pairs.join(", ")
}

fn coding(receipt: &ReadReceipt) -> String {
    let names: Vec<_> = receipt.codings.iter().copied().filter_map(Coding::name).collect();
    if names.is_empty() { "plain".to_owned() } else { names.join(" in ") }
}
