//! Reads a JSON sitemap entry by entry, in constant memory.
//!
//! Input: text from an [`InputWindow`]. Members of the document go to the header in any order. An
//! entry is read by the [strict parser](crate::strict) and, if that fails, by the [tolerant
//! parser](crate::tolerant).
//!
//! Holds at most one entry in memory. Only [`ArcReader::finish`] confirms that the document was
//! read to its end.

use std::fmt;
use std::io::Read;

use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_page::{IntoOwned, PageUrl, nesting_depth};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::entry::ArcEntry;
use crate::head::{HeaderCollector, SitemapHeader, origin};
use crate::limits::{ArcError, Limits};
use crate::strict::StrictEntry;
use crate::url_register::UrlRegister;
use crate::window::InputWindow;
use crate::{rules, tolerant};

/// Position in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadPhase {
    New,
    Root,
    Pages,
    After,
    Over,
}

/// What the reader expects next inside brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextInBrackets {
    /// The first value or the closing bracket.
    First,
    /// A comma or the closing bracket.
    Comma,
    /// A value, because a comma was read.
    Next,
}

/// Reads the entries of a sitemap one by one.
///
/// Do not rely on the entries before [`ArcReader::finish`]: an error at the end of a document makes
/// all its entries unusable.
pub struct ArcReader<R: Read> {
    window: InputWindow<R>,
    limits: Limits,
    phase: ReadPhase,
    wanted: NextInBrackets,
    has_pages: bool,
    head: HeaderCollector,
    inference: SiteGuess,
    urls: UrlRegister,
    /// Number of entries read so far, including skipped ones.
    n_entries: u64,
    n_taken: u64,
}

/// Facts about a document that was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct ArcReceipt {
    /// All members of the document except the pages.
    pub head: SitemapHeader,
    /// Number of entries that were passed to the caller.
    pub pages: u64,
    /// Number of unusable entries; each has a finding.
    pub skipped: u64,
    /// Number of entries for a page that already had an entry. The stronger restriction of both
    /// entries applies.
    pub repeated: u64,
    /// Whether the entries are in strictly ascending order of their URLs.
    pub is_sorted: bool,
    /// Whether the document states its site after the pages, and pages of another site were passed
    /// to the caller before. The site has no authority over those pages.
    pub is_foreign: bool,
}

/// The site of the pages read so far, used while the document has not stated its site.
#[derive(Debug, Default)]
struct SiteGuess {
    common: Option<String>,
    /// Index of the first page that belongs to a different site than the pages before it.
    other: Option<u64>,
}

impl<R: Read> fmt::Debug for ArcReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl<R: Read> ArcReader<R> {
    /// Creates a reader. The input is not read before the first entry is requested.
    pub fn new(input: R, limits: Limits) -> Self {
        let limits = Limits { depth: limits.depth.min(Limits::MAX_DEPTH), ..limits };
        Self {
            window: InputWindow::new(input, limits.bytes),
            limits,
            phase: ReadPhase::New,
            wanted: NextInBrackets::First,
            has_pages: false,
            head: HeaderCollector::default(),
            inference: SiteGuess::default(),
            urls: UrlRegister::default(),
            n_entries: 0,
            n_taken: 0,
        }
    }

    /// Passes the next entry to `take`. Returns `None` after the last entry.
    ///
    /// Unusable entries are skipped and reported.
    pub fn next<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(ArcEntry<'_>) -> T,
    ) -> Result<Option<T>, ArcError> {
        self.visit(sink, |entry, _, _| take(entry))
    }

    /// Like [`next`](Self::next), but also passes to `take` the index of the entry in `pages` and
    /// the sink for findings.
    pub fn visit<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(ArcEntry<'_>, u64, &mut dyn FindingSink) -> T,
    ) -> Result<Option<T>, ArcError> {
        while self.find(sink)? {
            let idx = self.n_entries;
            let rest = self.window.rest();
            let mut entries = Deserializer::from_str(rest).into_iter::<StrictEntry<'_>>();
            let first = entries.next();
            let used = entries.byte_offset();
            let limits = &self.limits;
            let perfect = match first {
                Some(Ok(StrictEntry(entry)))
                    if used <= limits.entry && is_shallow(&entry, limits) =>
                {
                    Some((entry, used))
                }
                Some(Err(error)) if error.is_eof() && !self.window.is_over() => {
                    self.window.more(limits.entry)?;
                    continue;
                }
                // The entry does not have the strict form, or there is no entry; the code below
                // decides which.
                _ => None,
            };
            self.n_entries += 1;
            if self.limits.pages < self.n_entries {
                let detail = format!("the limit is {}", self.limits.pages);
                return Err(self.stop(&rules::TOO_MANY_PAGES, &detail));
            }
            let (entry, used) = match perfect {
                Some(found) => found,
                None => {
                    let used = self.window.measure(self.limits.entry)?;
                    let text = self.window.rest().get(..used).unwrap_or_default();
                    match tolerant::read(text, idx, self.limits.depth, sink)? {
                        Some(entry) => (entry, used),
                        None => {
                            self.window.advance(used);
                            self.wanted = NextInBrackets::Comma;
                            continue;
                        }
                    }
                }
            };
            if !belongs(&entry.url, idx, self.head.origin.as_deref(), &mut self.inference) {
                report_other(&entry.url, idx, sink);
                self.window.advance(used);
                self.wanted = NextInBrackets::Comma;
                continue;
            }
            self.urls.register(entry.url.key(), idx);
            self.n_taken += 1;
            let taken = take(entry, idx, sink);
            self.window.advance(used);
            self.wanted = NextInBrackets::Comma;
            return Ok(Some(taken));
        }
        Ok(None)
    }

    /// Returns the next entry as an owned copy.
    pub fn next_owned(
        &mut self,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<ArcEntry<'static>>, ArcError> {
        self.next(sink, |entry| entry.into_owned())
    }

    /// Returns the header members read so far, which precede the current entry in the document.
    pub fn head(&self) -> &SitemapHeader {
        &self.head.head
    }

    /// Reads the rest of the document and returns facts about the whole document.
    pub fn finish(mut self, sink: &mut dyn FindingSink) -> Result<ArcReceipt, ArcError> {
        while self.next(sink, |_| ())?.is_some() {}
        self.head.finish(self.has_pages, sink);
        let repeated = self.urls.finish(sink);
        let (origin, common) = (&self.head.origin, &self.inference.common);
        let is_other = origin.is_some() && common.is_some() && origin != common;
        let is_foreign = is_other || (origin.is_some() && self.inference.other.is_some());
        if let Some(common) = common.as_ref().filter(|_| is_other) {
            let place = Place { line: None, pointer: "/site".to_owned() };
            let detail = format!("the pages belong to {}", quoted(common));
            sink.report(Finding::new(&rules::OTHER_HOST, place, detail));
        }
        if let Some(idx) = self.inference.other {
            let place = Place { line: None, pointer: format!("/pages/{idx}/url") };
            sink.report(Finding::new(
                &rules::OTHER_HOST,
                place,
                "the page, and possibly other pages, belong to another site",
            ));
        }
        Ok(ArcReceipt {
            head: self.head.head,
            pages: self.n_taken,
            skipped: self.n_entries - self.n_taken,
            repeated,
            is_sorted: self.urls.is_sorted(),
            is_foreign,
        })
    }

    fn stop(&mut self, rule: &'static rutter_finding::Rule, detail: &str) -> ArcError {
        self.phase = ReadPhase::Over;
        self.window.refuse(rule, detail).into()
    }

    /// Moves to the next entry. Returns false if the document has no more entries.
    fn find(&mut self, sink: &mut dyn FindingSink) -> Result<bool, ArcError> {
        loop {
            match self.phase {
                ReadPhase::Over => return Ok(false),
                ReadPhase::New => {
                    if self.window.skip_mark()? {
                        sink.report(Finding::new(&rules::BOM, Place::WHOLE, ""));
                    }
                    match self.window.peek()? {
                        Some(b'{') => {}
                        None => return Err(self.stop(&rules::TRUNCATED, "the document is empty")),
                        Some(_) => {
                            // Report text that is not JSON at all as such, not as the wrong JSON
                            // type.
                            self.window.measure(self.limits.entry)?;
                            return Err(self.stop(&rules::NOT_AN_OBJECT, ""));
                        }
                    }
                    self.window.advance(1);
                    (self.phase, self.wanted) = (ReadPhase::Root, NextInBrackets::First);
                }
                ReadPhase::Root => {
                    if self.is_value(b'}')? {
                        self.member(sink)?;
                    } else {
                        self.phase = ReadPhase::After;
                    }
                }
                ReadPhase::Pages => {
                    if self.is_value(b']')? {
                        return Ok(true);
                    }
                    (self.phase, self.wanted) = (ReadPhase::Root, NextInBrackets::Comma);
                }
                ReadPhase::After => {
                    if self.window.peek()?.is_some() {
                        return Err(self.stop(&rules::NOT_JSON, "text follows the document"));
                    }
                    self.phase = ReadPhase::Over;
                }
            }
        }
    }

    /// Skips a comma inside brackets. Returns true if a value follows, false after the closing
    /// bracket.
    fn is_value(&mut self, end: u8) -> Result<bool, ArcError> {
        loop {
            let Some(byte) = self.window.peek()? else {
                return Err(self.stop(&rules::TRUNCATED, ""));
            };
            match (byte, self.wanted) {
                (b',', NextInBrackets::Comma) => {
                    self.window.advance(1);
                    self.wanted = NextInBrackets::Next;
                }
                (byte, NextInBrackets::First | NextInBrackets::Comma) if byte == end => {
                    self.window.advance(1);
                    return Ok(false);
                }
                (_, NextInBrackets::First | NextInBrackets::Next) => return Ok(true),
                (byte, NextInBrackets::Comma) => {
                    let found = quoted(&char::from(byte).to_string());
                    return Err(
                        self.stop(&rules::NOT_JSON, &format!("expected a comma, found {found}"))
                    );
                }
            }
        }
    }

    /// Reads one member of the document.
    fn member(&mut self, sink: &mut dyn FindingSink) -> Result<(), ArcError> {
        let used = self.window.measure(self.limits.head)?;
        let text = self.window.rest().get(..used).unwrap_or_default();
        let Ok(name) = serde_json::from_str::<String>(text) else {
            let detail = format!("expected a member name, found {}", quoted(text));
            return Err(self.stop(&rules::NOT_JSON, &detail));
        };
        self.window.advance(used);
        match self.window.peek()? {
            Some(b':') => self.window.advance(1),
            None => return Err(self.stop(&rules::TRUNCATED, "")),
            Some(_) => {
                return Err(self.stop(&rules::NOT_JSON, "expected a colon after a member name"));
            }
        }
        let next = self.window.peek()?;
        if name == "pages" {
            if self.has_pages {
                return Err(self.stop(&rules::PAGES_TWICE, ""));
            }
            self.has_pages = true;
            if next != Some(b'[') {
                self.window.measure(self.limits.head)?;
                return Err(self.stop(&rules::PAGES_FORM, ""));
            }
            self.window.advance(1);
            (self.phase, self.wanted) = (ReadPhase::Pages, NextInBrackets::First);
            return Ok(());
        }
        let used = self.window.measure(self.limits.head)?;
        let text = self.window.rest().get(..used).unwrap_or_default();
        if let Ok(raw) = serde_json::from_str::<&RawValue>(text) {
            self.head.take(&name, raw, &self.limits, sink)?;
        }
        self.window.advance(used);
        self.wanted = NextInBrackets::Comma;
        Ok(())
    }
}

/// Returns whether all values of an entry respect the depth limit, which the strict parser does not
/// check.
fn is_shallow(entry: &ArcEntry<'_>, limits: &Limits) -> bool {
    limits.depth == Limits::MAX_DEPTH
        || (entry.ai_snapshot.iter().all(|it| nesting_depth(it.get()) <= limits.depth)
            && entry.extra.iter().all(|it| nesting_depth(it.value.get()) <= limits.depth))
}

/// Returns whether a page belongs to the site. While the site is unknown, the result is true, and
/// `so_far` records whether all pages belong to the same site.
fn belongs(url: &PageUrl<'_>, idx: u64, site: Option<&str>, so_far: &mut SiteGuess) -> bool {
    let is_of = |site: &str| url.key().strip_prefix(site).is_some_and(|it| it.starts_with('/'));
    if let Some(site) = site {
        return is_of(site);
    }
    match &so_far.common {
        None => so_far.common = origin(url.key()),
        Some(common) if is_of(common) => {}
        Some(_) => so_far.other = so_far.other.or(Some(idx)),
    }
    true
}

fn report_other(url: &PageUrl<'_>, idx: u64, sink: &mut dyn FindingSink) {
    let place = Place { line: None, pointer: format!("/pages/{idx}/url") };
    sink.report(Finding::new(&rules::OTHER_HOST, place, quoted(url.as_str())));
}
