//! Reads one page: source bytes in, everything the layers need of it out.
//!
//! A function of the bytes, the template version, the settings and what the
//! ledger knows; nothing else of the site enters.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rutter_arc::snapshot::Snapshot;
use rutter_extract::{Extraction, Options, Templates, Use, VersionId, Wishes};
use rutter_finding::{Finding, Mode, Report};
use rutter_page::{Digest, LineDigest, Own, Page, PageUrl, Private, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::arc::{self, Words};
use crate::dates;
use crate::gate::{self, Bar};
use crate::inject;
use crate::ledger::{Dated, UNKNOWN};
use crate::marked::Marked;
use crate::pack::{Key, Meta, NEVER, Record, Withheld};
use crate::plan::{Plan, Source};
use crate::{rules, schema};

/// Largest page we read.
const LARGEST: u64 = 100_000_000;

/// A page to be read.
#[derive(Debug)]
pub(crate) struct Job {
    /// Its place in the order.
    pub(crate) at: usize,
    pub(crate) url: String,
    pub(crate) from: From,
    /// What the ledger knows.
    pub(crate) known: Option<Known>,
    /// The key of its record and what is known of its file, where there is one.
    pub(crate) key: Option<(Key, u64)>,
    /// What its address alone says.
    pub(crate) bar: Option<Bar>,
    pub(crate) hints: dates::Hints,
}

/// Where a page comes from.
#[derive(Debug)]
pub(crate) enum From {
    /// By its path below the site's folder.
    File(Box<str>),
    Line(Vec<u8>),
}

/// What the ledger knows of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) digest: LineDigest,
    pub(crate) modified: Timestamp,
    pub(crate) template: Option<VersionId>,
}

/// What came of a job.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) at: usize,
    /// Bytes of the source.
    pub(crate) bytes: u64,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    /// The record of the old pack is right.
    Same,
    Fresh(Box<Fresh>),
    /// It could not be read, and why.
    Failed(String),
}

/// A page that was read.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) record: Record,
    pub(crate) digest: LineDigest,
    pub(crate) modified: Timestamp,
    pub(crate) dated: Dated,
    pub(crate) template: Option<VersionId>,
    pub(crate) bar: Option<Bar>,
    /// Whether the source is the one of the old record.
    pub(crate) is_same_source: bool,
}

/// What all pages of a build are read with.
#[derive(Debug)]
pub(crate) struct Worker<'p> {
    plan: &'p Plan,
    templates: Arc<Templates>,
    settings: [u8; 32],
    marked: Option<Marked>,
}

impl<'p> Worker<'p> {
    pub(crate) fn new(plan: &'p Plan, templates: Arc<Templates>) -> Self {
        // Everything that decides how a page is read. Not the version of the
        // extractor: a page whose source did not change keeps its line.
        let mut hash = Sha256::new();
        hash.update(plan.base.as_str());
        hash.update([0, u8::from(plan.privacy.no_authors), plan.source as u8]);
        hash.update(plan.language.as_ref().map_or("", |language| language.as_str()));
        hash.update([u8::from(plan.arc.private)]);
        for prefix in &plan.arc.approved {
            hash.update([0]);
            hash.update(prefix);
        }
        // What is looked for: pages read with older rules are read again.
        hash.update(Private::TABLE);
        hash.update([gate::VERSION, u8::from(plan.privacy.strict)]);
        Self { plan, templates, settings: hash.finalize().into(), marked: Marked::new(plan) }
    }

    /// The key of a source that is read with this template version and not
    /// barred.
    pub(crate) fn key(
        &self,
        url: &str,
        bytes: &[u8],
        template: Option<VersionId>,
        line: LineDigest,
    ) -> Key {
        self.key_of((url, None), Sha256::digest(bytes).into(), template, line)
    }

    /// The same for a source whose digest is known.
    fn key_of(
        &self,
        (url, bar): (&str, Option<Bar>),
        source: [u8; 32],
        template: Option<VersionId>,
        line: LineDigest,
    ) -> Key {
        let mut hash = Sha256::new();
        hash.update(source);
        // The record must hold the line that the ledger speaks of.
        hash.update(line.0);
        hash.update(self.settings);
        hash.update(template.map_or(0, |id| id.0).to_le_bytes());
        hash.update(bar.map_or("", Bar::reason));
        if let Some(marked) = &self.marked {
            marked.hash(url, &mut hash);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut key = NEVER;
        for (to, from) in key.iter_mut().zip(digest) {
            *to = from;
        }
        key
    }

    /// The bytes of a file of the site, without what a build put into it.
    pub(crate) fn source(site: &Path, name: &str) -> Result<Vec<u8>, String> {
        let say = |error: std::io::Error| error.to_string();
        let file = rutter_root::open(site, name).map_err(say)?;
        let n_bytes = file.metadata().map_err(say)?.len();
        if LARGEST < n_bytes {
            return Err(format!("{n_bytes} bytes, at most {LARGEST}"));
        }
        let bytes = rutter_root::read_file(file).map_err(say)?;
        match inject::without(&bytes) {
            Cow::Borrowed(_) => Ok(bytes),
            Cow::Owned(bytes) => Ok(bytes),
        }
    }

    /// Reads a page; a fault of ours costs that page, not the build.
    pub(crate) fn read(&self, job: &Job) -> Answer {
        let read = std::panic::AssertUnwindSafe(|| self.read_page(job));
        std::panic::catch_unwind(read).unwrap_or_else(|_| Answer {
            at: job.at,
            bytes: 0,
            what: What::Failed(
                "reading it failed inside Rutter; please report the page".to_owned(),
            ),
        })
    }

    fn read_page(&self, job: &Job) -> Answer {
        let at = job.at;
        let (n_bytes, stat) = self.stat(job);
        // The owner trusts sizes and times.
        if self.plan.trust_mtime
            && !self.plan.reread
            && stat != 0
            && job.known.is_some()
            && job.key.is_some_and(|(_, known)| known == stat)
        {
            return Answer { at, bytes: n_bytes, what: What::Same };
        }
        let loaded;
        let bytes = match &job.from {
            From::File(name) => match Self::source(&self.plan.site, name) {
                Ok(bytes) => {
                    loaded = bytes;
                    &loaded
                }
                Err(why) => return Answer { at, bytes: 0, what: What::Failed(why) },
            },
            From::Line(line) => line,
        };
        let n_bytes = bytes.len() as u64;
        let source: [u8; 32] = Sha256::digest(bytes).into();
        let is_same_source = match (&job.known, job.key) {
            (Some(known), Some((key, _))) => {
                key == self.key_of((&job.url, job.bar), source, known.template, known.digest)
            }
            _ => false,
        };
        let what = if is_same_source && !self.plan.reread {
            What::Same
        } else {
            self.fresh(job, bytes, source, is_same_source)
        };
        let what = match what {
            What::Fresh(mut fresh) => {
                // What depends on the day is looked at every day.
                fresh.record.stat = if fresh.record.key == NEVER { 0 } else { stat };
                What::Fresh(fresh)
            }
            other => other,
        };
        Answer { at, bytes: n_bytes, what }
    }

    /// The size of a file, and a number made of its size, its time and what
    /// else decides how it is read; 0 for what has none.
    fn stat(&self, job: &Job) -> (u64, u64) {
        let From::File(name) = &job.from else { return (0, 0) };
        let Ok(metadata) = fs::metadata(self.plan.site.join(&**name)) else { return (0, 0) };
        let mut hash = Sha256::new();
        hash.update(metadata.len().to_le_bytes());
        hash.update(crate::manifest::time_of(&metadata).to_le_bytes());
        hash.update(self.settings);
        hash.update(job.bar.map_or("", Bar::reason));
        if let Some(marked) = &self.marked {
            marked.hash(&job.url, &mut hash);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let number = digest.first_chunk::<8>().map_or(0, |eight| u64::from_le_bytes(*eight));
        (metadata.len(), number)
    }

    fn fresh(&self, job: &Job, bytes: &[u8], source: [u8; 32], is_same_source: bool) -> What {
        if let From::Line(line) = &job.from {
            return self.of_line(job, line, source);
        }
        if !rutter_extract::is_text(bytes) {
            return What::Failed("not text".to_owned());
        }
        let Ok(url) = PageUrl::parse(job.url.clone()) else {
            return What::Failed("not an address".to_owned());
        };
        // A lost pack must not change how a page is read.
        if let (Some(known), None) = (&job.known, job.key) {
            let template = match known.template {
                Some(id) => Use::Pinned(Arc::clone(&self.templates), id),
                None => Use::Nothing,
            };
            let fresh = self.finish(job, bytes, source, self.extract(bytes, url.clone(), template));
            if known.digest == fresh.digest {
                return What::Fresh(Box::new(fresh));
            }
        }
        let template = Use::Fitting(Arc::clone(&self.templates));
        let mut fresh = self.finish(job, bytes, source, self.extract(bytes, url, template));
        fresh.is_same_source = is_same_source;
        What::Fresh(Box::new(fresh))
    }

    fn extract(&self, bytes: &[u8], url: PageUrl<'static>, template: Use) -> Extraction {
        let options = Options {
            language: self.plan.language.clone(),
            template,
            ..Options::new(url, self.plan.now)
        };
        match self.plan.source {
            Source::Markdown => rutter_extract::markdown(bytes, &options),
            Source::Html | Source::Lines => rutter_extract::html(bytes, &options),
        }
    }

    /// Dates the page, renders its line, and looks at who may see it.
    fn finish(&self, job: &Job, bytes: &[u8], source: [u8; 32], extraction: Extraction) -> Fresh {
        let own = extraction.facts.modified.or(extraction.facts.published);
        let wishes = Wishes::of(&extraction, gate::TOKEN);
        let mut report = Report::new(Mode::Lenient);
        let snapshot = arc::snapshot_of(&extraction, &mut report);
        // Also where it is out of sight.
        let is_marked = extraction.annotated.iter().any(|element| {
            let mut marks = element.attributes.iter().filter(|(name, _)| name == "data-ai-context");
            marks.any(|(_, value)| value.to_ascii_lowercase().contains("sensitive"))
        });
        let is_approved = arc::is_below(self.plan, self.plan.arc.approved.iter(), &job.url);
        let is_sensitive =
            (is_marked || snapshot.as_ref().is_some_and(Snapshot::needs_auth)) && !is_approved;
        let judged = (is_sensitive, is_approved);
        let own_bar = gate::of_page(&extraction, &wishes, judged, self.plan.now);
        let bar = strictest(job.bar, own_bar);
        let mut meta = Meta {
            title: extraction.page.title.to_string(),
            description: extraction.page.description.to_string(),
            languages: languages(&extraction),
            barred: bar.map(|bar| bar.reason().to_owned()),
            barred_by: bar.map(|bar| match job.bar {
                Some(of_address) if of_address == bar => gate::of_address_by(bar).to_owned(),
                _ => gate::evidence(bar, &extraction, &wishes),
            }),
            findings: Vec::new(),
            withheld: None,
            bytes: bytes.len() as u64,
            source: Digest(source).to_string(),
            arc: match bar {
                None | Some(Bar::Oversize) => {
                    Words::of(&extraction, snapshot.as_ref(), &wishes, bytes)
                }
                Some(_) => Words::bare(&wishes, [job.bar, own_bar]),
            },
        };
        let found = |finding: &Finding| (finding.rule.code.to_owned(), finding.detail.clone());
        meta.findings.extend(extraction.findings.iter().map(found));
        meta.findings.extend(report.findings().map(|(_, finding)| found(finding)));
        meta.findings.extend(rutter_extract::honesty(bytes, &extraction).iter().map(found));
        if let Some(marked) = self.marked.as_ref().filter(|_| bar.is_none()) {
            marked.look(&job.url, &extraction, &mut meta.findings);
        }
        let mut extraction = extraction;
        let page = std::mem::replace(&mut extraction.page, placeholder());
        let dating = self.date(job, page, own);
        extraction.page = dating.page;
        let mut record = Record::default();
        let is_strict = self.plan.privacy.strict && self.plan.source == Source::Html;
        let n_links = if is_strict { Private::links_of_html(bytes) } else { 0 };
        if matches!(bar, None | Some(Bar::Oversize)) {
            look_for_private(&extraction.page, &dating.line, n_links, &mut meta);
        }
        // Beyond this folder only partners get it, but they must not get secrets.
        if self.plan.arc.private && meta.arc.needs_login {
            let words = Words::of(&extraction, snapshot.as_ref(), &wishes, bytes);
            let bare = std::mem::replace(&mut meta.arc, words);
            look_for_private(&extraction.page, &dating.line, n_links, &mut meta);
            let words = std::mem::replace(&mut meta.arc, bare);
            let line = String::from_utf8_lossy(&dating.line).into_owned();
            meta.withheld = Some(Box::new(Withheld { words, line }));
        }
        if bar.is_none() {
            record.markdown = extraction.to_markdown().into_bytes();
            record.line = dating.line;
        }
        let template = extraction.template;
        // What depends on the day is looked at every day.
        let ends_later = wishes.unavailable_after.is_some_and(|end| self.plan.now < end);
        record.key = match bar {
            Some(Bar::Scheduled) => NEVER,
            _ if ends_later => NEVER,
            _ => self.key_of((&job.url, job.bar), source, template, dating.digest),
        };
        record.meta = meta;
        Fresh {
            record,
            digest: dating.digest,
            modified: dating.modified,
            dated: dating.dated,
            template,
            bar,
            is_same_source: false,
        }
    }

    /// The same for a page that comes as a line.
    fn of_line(&self, job: &Job, line: &[u8], source: [u8; 32]) -> What {
        // It was judged when it was taken in.
        let page = std::str::from_utf8(line).ok();
        let page = page.and_then(|text| serde_json::from_str::<Page<'_>>(text).ok());
        let Some(page) = page.map(Own::own) else { return What::Failed("not a page".to_owned()) };
        let own = Some(page.modified);
        let is_later = page.published.is_some_and(|published| self.plan.now < published);
        let own_bar = if is_later {
            Some(Bar::Scheduled)
        } else {
            page.content.is_empty().then_some(Bar::Empty)
        };
        let bar = strictest(job.bar, own_bar);
        let mut meta = Meta {
            title: page.title.to_string(),
            description: page.description.to_string(),
            barred: bar.map(|bar| bar.reason().to_owned()),
            barred_by: bar.map(|bar| match bar {
                Bar::Scheduled => "published of the line".to_owned(),
                Bar::Empty => "line without content".to_owned(),
                bar => gate::of_address_by(bar).to_owned(),
            }),
            bytes: line.len() as u64,
            arc: if bar.is_some() {
                Words::bare(&Wishes::default(), [job.bar, own_bar])
            } else {
                Words::default()
            },
            ..Meta::default()
        };
        let dating = self.date(job, page, own);
        let key = match bar {
            Some(Bar::Scheduled) => NEVER,
            _ => self.key_of((&job.url, job.bar), source, None, dating.digest),
        };
        let mut record = Record { key, ..Record::default() };
        if bar.is_none() {
            look_for_private(&dating.page, &dating.line, 0, &mut meta);
            if let Some(marked) = &self.marked {
                marked.look_at_line(&job.url, &dating.page, &mut meta.findings);
            }
            record.markdown = dating.page.to_markdown().into_bytes();
            record.line = dating.line;
        }
        record.meta = meta;
        What::Fresh(Box::new(Fresh {
            record,
            digest: dating.digest,
            modified: dating.modified,
            dated: dating.dated,
            template: None,
            bar,
            is_same_source: false,
        }))
    }

    /// A line is a function of content and date: the one the ledger has stays
    /// where it gives the same line as before.
    fn date(&self, job: &Job, page: Page<'static>, own: Option<Timestamp>) -> Dating {
        let page = rutter_scp::canonical(page);
        let (now, no_authors) = (self.plan.now, self.plan.privacy.no_authors);
        let render = |modified: Timestamp, dated: Dated| {
            let schema = page
                .schema
                .as_ref()
                .and_then(|schema| schema::settle(schema, schema::How { modified, no_authors }));
            let author = page.author.clone().filter(|_| !no_authors);
            let page = Page { modified, schema, author, ..page.clone() };
            let line = page.to_line().into_bytes();
            let digest = LineDigest::of(&line);
            Dating { page, line, digest, modified, dated }
        };
        let Some(known) = &job.known else {
            let (modified, dated) = dates::first(dates::Hints { own, ..job.hints }, now);
            return render(modified, dated);
        };
        let same = render(known.modified, Dated::Seen);
        if same.digest == known.digest || known.digest == UNKNOWN {
            return same;
        }
        render(dates::next(known.modified, own, now), Dated::Seen)
    }
}

/// A page with its date.
struct Dating {
    page: Page<'static>,
    line: Vec<u8>,
    digest: LineDigest,
    modified: Timestamp,
    /// Counts for pages that were not known.
    dated: Dated,
}

/// Stands in while a page is being dated.
fn placeholder() -> Page<'static> {
    Page {
        url: PageUrl::parse("https://localhost/").expect("a fixed address"),
        title: String::new().into(),
        description: String::new().into(),
        author: None,
        published: None,
        modified: Timestamp::from_unix_seconds(0).expect("a fixed time"),
        language: rutter_page::LanguageTag::UNDETERMINED,
        canonical: None,
        schema: None,
        content: Vec::new(),
        extra: Vec::new(),
    }
}

/// The reason that lets a page go least far. Among equal ones the later of the
/// list counts: robots.txt before what pages say, and what the owner declared
/// before a password form that was seen.
fn strictest(one: Option<Bar>, other: Option<Bar>) -> Option<Bar> {
    [one, other].into_iter().flatten().max_by_key(|bar| (bar.sight() as u8, *bar))
}

fn languages(extraction: &Extraction) -> Vec<(String, String)> {
    let alternates = extraction.facts.alternates.iter();
    let pages = alternates
        .filter(|alternate| alternate.media_type.as_deref().is_none_or(|kind| kind == "text/html"));
    let mut languages: Vec<(String, String)> = pages
        .filter_map(|alternate| Some((alternate.hreflang.clone()?, alternate.href.clone())))
        .collect();
    languages.sort();
    languages.dedup();
    languages.truncate(200);
    languages
}

/// Looks for secrets in everything that leaves, and for personal data in what
/// people read; `links` is the number of links that name an address or a number.
fn look_for_private(page: &Page<'_>, line: &[u8], links: usize, meta: &mut Meta) {
    let words = meta.arc.text();
    let mut private = Private::of(&page.to_text());
    let more = Private::of_json(&words);
    private.addresses += more.addresses;
    private.numbers += more.numbers;
    private.cards += more.cards;
    private.accounts += more.accounts;
    private.links = links;
    private.secrets.extend(more.secrets);
    private.secrets.extend(Private::of_json(&String::from_utf8_lossy(line)).secrets);
    private.secrets.sort();
    private.secrets.dedup();
    for (kind, mark) in &private.secrets {
        meta.findings.push((rules::SECRET.code.to_owned(), format!("{kind}, mark {mark}")));
    }
    if let Some(personal) = private.personal() {
        meta.findings.push((rules::PERSONAL.code.to_owned(), personal));
    }
}
