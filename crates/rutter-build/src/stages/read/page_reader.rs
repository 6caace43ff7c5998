//! Reads one page: extracts its content, decides its visibility and dates it.
//!
//! Input: the source bytes, the template version, the settings and the ledger row of the page, and
//! nothing else of the site. Output: the content and metadata that the layers need, or the reason
//! why the page cannot be read. A file that is not text or is too large is rejected.

mod dated_page;
mod lines;

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rutter_arc::snapshot::ArcSnapshot;
use rutter_extract::{
    ExtractOptions, Extraction, LinkBlocks, TemplateChoice, TemplateSet, TemplateVersionId,
    UsageSignals,
};
use rutter_finding::{Finding, Report, Strictness};
use rutter_page::{Digest, LineDigest, Page, PageUrl, SensitiveData, Timestamp};
use rutter_site::{
    ArcFields, CacheEntry, DateSource, ExclusionReason, PageMetadata, PageRecord, VisibilityKey,
    WithheldPage, head_links,
};
use sha2::{Digest as _, Sha256};

use crate::plan::{BuildPlan, SourceKind};
use crate::stages::inventory::sources::PageInput;
use crate::stages::read::cache_match::{CacheMatch, CacheMatcher, ReadInputs};
use crate::stages::read::markers::EntityMarkers;
use crate::stages::read::read_job::{LedgerPage, ReadJob, ReadOutcome, ReadPage, ReadResult};
use crate::stages::read::unmatched_selectors::path_of;
use crate::stages::read::visibility;
use crate::stages::read::visibility::{VisibilityDecision, find_private_data};
use crate::{arc_entry, exclusion};

/// Maximum size of a page's file in bytes.
const MAX_PAGE_BYTES: u64 = 100_000_000;

/// Reads the pages of a build.
#[derive(Debug)]
pub(crate) struct PageReader<'p> {
    plan: &'p BuildPlan,
    templates: Arc<TemplateSet>,
    matcher: CacheMatcher<'p>,
    marked: Option<EntityMarkers>,
}

impl<'p> PageReader<'p> {
    pub(crate) fn new(plan: &'p BuildPlan, templates: Arc<TemplateSet>) -> Self {
        Self { plan, templates, matcher: CacheMatcher::new(plan), marked: EntityMarkers::new(plan) }
    }

    /// Returns the visibility key of a page; `exclusion` is the exclusion that follows from the
    /// page's URL.
    pub(crate) fn visibility_key(
        &self,
        url: &str,
        exclusion: Option<ExclusionReason>,
    ) -> VisibilityKey {
        self.matcher.visibility_key(url, exclusion, self.marked.as_ref())
    }

    /// Returns whether a cached record was read from these bytes with the settings of this build.
    pub(crate) fn is_read_from(
        &self,
        url: &str,
        cached: CacheEntry,
        bytes: &[u8],
        known: LedgerPage,
    ) -> bool {
        let source = Sha256::digest(bytes).into();
        let visibility_key = VisibilityKey::EVERY_BUILD;
        self.match_record(url, cached, source, &known, visibility_key) != CacheMatch::Changed
    }

    fn match_record(
        &self,
        url: &str,
        cached: CacheEntry,
        source: [u8; 32],
        known: &LedgerPage,
        visibility_key: VisibilityKey,
    ) -> CacheMatch {
        let inputs = ReadInputs { source, template: known.template, line: known.digest };
        self.matcher.match_record((url, self.marked.as_ref()), cached, &inputs, visibility_key)
    }

    /// Returns the bytes of a page file without the links that Rutter inserted.
    pub(crate) fn source(site: &Path, name: &str) -> Result<Vec<u8>, String> {
        let to_text = |error: std::io::Error| error.to_string();
        let file = rutter_root::open(site, name).map_err(to_text)?;
        let n_bytes = file.metadata().map_err(to_text)?.len();
        if MAX_PAGE_BYTES < n_bytes {
            return Err(format!("the file has {n_bytes} bytes; the limit is {MAX_PAGE_BYTES}"));
        }
        let bytes = rutter_root::read_file(file).map_err(to_text)?;
        match head_links::remove_links(&bytes) {
            Cow::Borrowed(_) => Ok(bytes),
            Cow::Owned(bytes) => Ok(bytes),
        }
    }

    /// Reads a page. A panic counts as a failure to read this page and does not stop the build.
    pub(crate) fn read(&self, job: &ReadJob) -> ReadResult {
        let read = std::panic::AssertUnwindSafe(|| self.read_page(job));
        std::panic::catch_unwind(read).unwrap_or_else(|_| ReadResult {
            at: job.at,
            bytes: 0,
            outcome: ReadOutcome::Failed(
                "internal error while reading the page; please report it".to_owned(),
            ),
        })
    }

    fn read_page(&self, job: &ReadJob) -> ReadResult {
        let at = job.at;
        let (n_bytes, stat) = self.stat(job);
        // With the setting `trust_mtime`, a file with unchanged size and modification time is not
        // read.
        if self.plan.trust_mtime
            && !self.plan.reread
            && stat != 0
            && job.known.is_some()
            && job
                .cached
                .is_some_and(|it| it.stat == stat && it.visibility_key == job.visibility_key)
        {
            return ReadResult { at, bytes: n_bytes, outcome: ReadOutcome::Same };
        }
        let loaded;
        let bytes = match &job.from {
            PageInput::File(name) => match Self::source(&self.plan.site, name) {
                Ok(bytes) => {
                    loaded = bytes;
                    &loaded
                }
                Err(why) => return ReadResult { at, bytes: 0, outcome: ReadOutcome::Failed(why) },
            },
            PageInput::Line(line) => line,
        };
        let n_bytes = bytes.len() as u64;
        let source: [u8; 32] = Sha256::digest(bytes).into();
        let matched = match (&job.known, job.cached) {
            (Some(known), Some(cached)) => {
                self.match_record(&job.url, cached, source, known, job.visibility_key)
            }
            _ => CacheMatch::Changed,
        };
        let mut outcome = match matched {
            CacheMatch::Same if !self.plan.reread => ReadOutcome::Same,
            other => self.extract_or_renew(job, bytes, source, other),
        };
        if let ReadOutcome::Read(fresh) | ReadOutcome::Reevaluated(fresh) = &mut outcome {
            // A page whose visibility depends on the time gets no fingerprint, so that every build
            // reads it.
            let cached = &mut fresh.record.cached;
            cached.stat =
                if cached.visibility_key == VisibilityKey::EVERY_BUILD { 0 } else { stat };
        }
        // If the new visibility decision changes nothing, the cached record can be used as it is.
        if let ReadOutcome::Reevaluated(fresh) = &outcome
            && job.stored.as_ref() == Some(&fresh.record)
        {
            outcome = ReadOutcome::Same;
        }
        ReadResult { at, bytes: n_bytes, outcome }
    }

    /// Returns the size of the page's source file and the fingerprint of the file; both are 0 if
    /// there is no file.
    fn stat(&self, job: &ReadJob) -> (u64, u64) {
        let PageInput::File(name) = &job.from else { return (0, 0) };
        let Ok(metadata) = fs::metadata(self.plan.site.join(&**name)) else { return (0, 0) };
        (metadata.len(), self.matcher.stat(&job.url, &metadata))
    }

    /// Reads a page. If only its visibility can have changed, the cached content is kept and only
    /// the visibility is decided again.
    fn extract_or_renew(
        &self,
        job: &ReadJob,
        bytes: &[u8],
        source: [u8; 32],
        matched: CacheMatch,
    ) -> ReadOutcome {
        if let PageInput::Line(line) = &job.from {
            return self.read_line(job, line, source, matched);
        }
        if !rutter_extract::is_text(bytes) {
            return ReadOutcome::Failed("the file is not text".to_owned());
        }
        let Ok(url) = PageUrl::parse(job.url.clone()) else {
            return ReadOutcome::Failed("the URL is invalid".to_owned());
        };
        // If the page is in the ledger but not in the page cache, it is first read with the
        // template of the published version, so that an unchanged page gets the same line.
        if let (Some(known), None) = (&job.known, job.cached) {
            let template = match known.template {
                Some(id) => TemplateChoice::Pinned(Arc::clone(&self.templates), id),
                None => TemplateChoice::Nothing,
            };
            // Lines that older versions of Rutter wrote have no blocks for links inside text.
            for links in [self.plan.extract.links, LinkBlocks::Lone] {
                let extraction = self.extract(bytes, url.clone(), template.clone(), links);
                let extracted = ExtractedPage::of(extraction);
                let decision = self.decide_visibility(job, bytes, &extracted);
                let fresh = self.finish(job, bytes, source, extracted, decision);
                if known.digest == fresh.digest {
                    return ReadOutcome::Read(Box::new(fresh));
                }
            }
        }
        let template = TemplateChoice::Fitting(Arc::clone(&self.templates));
        let extracted =
            ExtractedPage::of(self.extract(bytes, url, template, self.plan.extract.links));
        let decide = || self.decide_visibility(job, bytes, &extracted);
        if let Some(renewed) = self.renew_visibility(job, source, matched, decide) {
            return ReadOutcome::Reevaluated(Box::new(renewed));
        }
        let decision = decide();
        let mut fresh = self.finish(job, bytes, source, extracted, decision);
        fresh.is_same_source = matched != CacheMatch::Changed;
        ReadOutcome::Read(Box::new(fresh))
    }

    /// Returns the cached page with a new visibility decision; `None` if the page has to be read
    /// again.
    fn renew_visibility(
        &self,
        job: &ReadJob,
        source: [u8; 32],
        matched: CacheMatch,
        decide: impl Fn() -> VisibilityDecision,
    ) -> Option<ReadPage> {
        let (Some(stored), Some(known)) = (&job.stored, &job.known) else { return None };
        if matched != CacheMatch::OtherVisibility || self.plan.reread {
            return None;
        }
        let LedgerPage { digest, modified, template } = *known;
        let key = self.matcher.key(&job.url, &ReadInputs { source, template, line: digest });
        let (record, exclusion) =
            visibility::renew(self.plan, stored, decide(), (key, job.visibility_key))?;
        let date_source = DateSource::Seen;
        Some(ReadPage {
            record,
            digest,
            modified,
            date_source,
            template,
            exclusion,
            is_same_source: true,
        })
    }

    fn extract(
        &self,
        bytes: &[u8],
        url: PageUrl<'static>,
        template: TemplateChoice,
        links: LinkBlocks,
    ) -> Extraction {
        let path = path_of(self.plan, url.as_str()).to_owned();
        let mut options = ExtractOptions {
            language: self.plan.language.clone(),
            template,
            ..ExtractOptions::new(url, self.plan.now)
        };
        self.plan.extract.apply(&path, &mut options);
        options.links = links;
        match self.plan.source {
            SourceKind::Markdown => rutter_extract::markdown(bytes, &options),
            SourceKind::Html | SourceKind::Lines => rutter_extract::html(bytes, &options),
        }
    }

    /// Decides the visibility of an HTML or Markdown page.
    fn decide_visibility(
        &self,
        job: &ReadJob,
        bytes: &[u8],
        extracted: &ExtractedPage,
    ) -> VisibilityDecision {
        let ExtractedPage { extraction, wishes, snapshot, .. } = extracted;
        // An attribute that marks content as sensitive counts even in a hidden element.
        let is_marked = extraction.annotated.iter().any(|element| {
            let mut marks = element.attributes.iter().filter(|(name, _)| name == "data-ai-context");
            marks.any(|(_, value)| value.to_ascii_lowercase().contains("sensitive"))
        });
        let is_approved = arc_entry::is_below(self.plan, self.plan.arc.approved.iter(), &job.url);
        let is_sensitive =
            (is_marked || snapshot.as_ref().is_some_and(ArcSnapshot::needs_auth)) && !is_approved;
        let judged = (is_sensitive, is_approved);
        let own = exclusion::by_page(extraction, wishes, judged, self.plan.now);
        let is_strict = self.plan.privacy.strict && self.plan.source == SourceKind::Html;
        let mut decision = VisibilityDecision {
            by_url: job.exclusion,
            own: own
                .map(|exclusion| (exclusion, exclusion::evidence(exclusion, extraction, wishes))),
            excluded_fields: arc_entry::excluded_fields(wishes, [job.exclusion, own]),
            findings: rutter_extract::honesty(bytes, extraction)
                .iter()
                .map(code_and_detail)
                .collect(),
            n_links: if is_strict { SensitiveData::count_contact_links(bytes) } else { 0 },
            is_time_dependent: wishes.unavailable_after.is_some_and(|end| self.plan.now < end),
        };
        if let Some(marked) = self.marked.as_ref().filter(|_| decision.exclusion().is_none()) {
            marked.check(&job.url, extraction, &mut decision.findings);
        }
        decision
    }

    /// Dates an extracted page and builds its record.
    fn finish(
        &self,
        job: &ReadJob,
        bytes: &[u8],
        source: [u8; 32],
        extracted: ExtractedPage,
        mut decision: VisibilityDecision,
    ) -> ReadPage {
        let ExtractedPage { mut extraction, wishes, snapshot, report } = extracted;
        let own = extraction.facts.modified.or(extraction.facts.published);
        let exclusion = decision.exclusion();
        let fields = || arc_entry::public_fields(&extraction, snapshot.as_ref(), &wishes, bytes);
        let is_shown = matches!(exclusion, None | Some(ExclusionReason::Oversize));
        let withheld = (self.plan.arc.private && decision.excluded_fields.needs_login && !is_shown)
            .then(fields);
        let mut meta = PageMetadata {
            title: extraction.page.title.to_string(),
            description: extraction.page.description.to_string(),
            languages: languages(&extraction),
            exclusion: exclusion.map(|exclusion| exclusion.as_str().to_owned()),
            exclusion_source: decision.source(),
            findings: extraction.findings.iter().map(code_and_detail).collect(),
            matched: extraction.matched.clone(),
            withheld: None,
            bytes: bytes.len() as u64,
            source: Digest(source).to_string(),
            coverage: extraction.coverage.clone(),
            arc: if is_shown { fields() } else { std::mem::take(&mut decision.excluded_fields) },
        };
        meta.findings.extend(report.findings().map(|(_, finding)| code_and_detail(finding)));
        meta.findings.append(&mut decision.findings);
        let page = std::mem::replace(&mut extraction.page, placeholder());
        let dated_page = self.date(job, page, own);
        extraction.page = dated_page.page;
        let mut check = |fields: &ArcFields| {
            let private = SensitiveData::find_in(&extraction.page.to_text());
            let leaving = (dated_page.line.as_slice(), fields);
            find_private_data(private, leaving, decision.n_links, &mut meta.findings);
        };
        if is_shown {
            check(&meta.arc);
        }
        // Partners get the withheld content, which must not contain secrets either.
        if let Some(fields) = withheld {
            check(&fields);
            let line = String::from_utf8_lossy(&dated_page.line).into_owned();
            meta.withheld = Some(Box::new(WithheldPage { fields, line }));
        }
        let template = extraction.template;
        let mut record = self.record(job, &decision, meta, (source, template, dated_page.digest));
        if exclusion.is_none() {
            record.markdown = extraction.to_markdown().into_bytes();
            record.line = dated_page.line;
        }
        ReadPage {
            record,
            digest: dated_page.digest,
            modified: dated_page.modified,
            date_source: dated_page.date_source,
            template,
            exclusion,
            is_same_source: false,
        }
    }

    /// Returns the record of a page without line and Markdown.
    fn record(
        &self,
        job: &ReadJob,
        decision: &VisibilityDecision,
        meta: PageMetadata,
        (source, template, line): ([u8; 32], Option<TemplateVersionId>, LineDigest),
    ) -> PageRecord {
        let key = self.matcher.key(&job.url, &ReadInputs { source, template, line });
        let cached = CacheEntry {
            key,
            visibility_key: decision.visibility_key(job.visibility_key),
            stat: 0,
        };
        PageRecord { cached, meta, ..PageRecord::default() }
    }
}

/// An extracted page, with its statements about its use and its ARC annotations.
struct ExtractedPage {
    extraction: Extraction,
    wishes: UsageSignals,
    snapshot: Option<ArcSnapshot>,
    /// Findings about the ARC annotations of the page.
    report: Report,
}

impl ExtractedPage {
    fn of(extraction: Extraction) -> Self {
        let wishes = UsageSignals::of(&extraction, exclusion::TOKEN);
        let mut report = Report::new(Strictness::Lenient);
        let snapshot = rutter_extract::arc_snapshot(&extraction, &mut report);
        Self { extraction, wishes, snapshot, report }
    }
}

fn code_and_detail(finding: &Finding) -> (String, String) {
    (finding.rule.code.to_owned(), finding.detail.clone())
}

/// Returns an empty page that replaces the page in its extraction while the page is dated.
fn placeholder() -> Page<'static> {
    Page {
        url: PageUrl::parse("https://localhost/").expect("the URL is valid"),
        title: String::new().into(),
        description: String::new().into(),
        author: None,
        published: None,
        modified: Timestamp::from_unix_seconds(0).expect("the time is valid"),
        language: rutter_page::LanguageTag::UNDETERMINED,
        canonical: None,
        schema: None,
        content: Vec::new(),
        extra: Vec::new(),
    }
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
