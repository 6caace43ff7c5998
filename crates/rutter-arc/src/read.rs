//! Reads a sitemap in JSON, entry by entry, in constant memory.
//!
//! Text comes from [`Window`]; members of the document go to the head, in
//! whatever order they come; entries take the [fast road](crate::strict) and,
//! where they are not perfect, the [tolerant one](crate::tolerant).
//!
//! Refuses: to hold more than one entry, to vouch for a document it has not
//! seen the end of (see [`Reader::finish`]).

use std::fmt;
use std::io::Read;

use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_page::{Own, PageUrl, nesting};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::entry::Entry;
use crate::head::{Collecting, Head, origin};
use crate::limits::{ArcError, Limits};
use crate::seen::Seen;
use crate::strict::Strict;
use crate::window::Window;
use crate::{rules, tolerant};

/// Where in the document the window stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Root,
    Pages,
    After,
    Over,
}

/// What may come next inside brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// A value or the end.
    First,
    /// A comma or the end.
    Comma,
    /// A value.
    Next,
}

/// Reads the entries of a sitemap one by one.
///
/// Nothing may be relied on before [`Reader::finish`]: what stands at the end
/// of a document can refuse all of it.
pub struct Reader<R: Read> {
    window: Window<R>,
    limits: Limits,
    phase: Phase,
    wanted: Wanted,
    has_pages: bool,
    head: Collecting,
    belonging: Belonging,
    seen: Seen,
    /// Entries so far, those that were skipped included.
    n_entries: u64,
    n_taken: u64,
}

/// What is known of a document that was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// Everything beside the pages.
    pub head: Head,
    /// Entries that were handed out.
    pub pages: u64,
    /// Entries that could not be used; each has a finding.
    pub skipped: u64,
    /// Entries for a page that had one before; the stronger restriction of
    /// the two counts.
    pub repeated: u64,
    /// Whether the entries came in strict order of their addresses.
    pub is_sorted: bool,
    /// Whether the site was named behind the pages, and pages of another site
    /// had been handed out by then. They are not the site's to speak of.
    pub is_foreign: bool,
}

/// To which site the pages belong, while the site is not known.
#[derive(Debug, Default)]
struct Belonging {
    common: Option<String>,
    /// The first page of another site than the first.
    other: Option<u64>,
}

impl<R: Read> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl<R: Read> Reader<R> {
    /// Begins to read; nothing is looked at before the first entry is wanted.
    pub fn new(input: R, limits: Limits) -> Self {
        let limits = Limits { depth: limits.depth.min(Limits::DEEPEST), ..limits };
        Self {
            window: Window::new(input, limits.bytes),
            limits,
            phase: Phase::New,
            wanted: Wanted::First,
            has_pages: false,
            head: Collecting::default(),
            belonging: Belonging::default(),
            seen: Seen::default(),
            n_entries: 0,
            n_taken: 0,
        }
    }

    /// Lends the next entry to `take`; `None` at the end.
    ///
    /// Entries that cannot be used are skipped, with a finding.
    pub fn next<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(Entry<'_>) -> T,
    ) -> Result<Option<T>, ArcError> {
        self.visit(sink, |entry, _, _| take(entry))
    }

    /// The same for who has something to say of the entry: `take` also gets
    /// its index in `pages` and the sink.
    pub fn visit<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(Entry<'_>, u64, &mut dyn FindingSink) -> T,
    ) -> Result<Option<T>, ArcError> {
        while self.find(sink)? {
            let idx = self.n_entries;
            let rest = self.window.rest();
            let mut entries = Deserializer::from_str(rest).into_iter::<Strict<'_>>();
            let first = entries.next();
            let used = entries.byte_offset();
            let limits = &self.limits;
            let perfect = match first {
                Some(Ok(Strict(entry))) if used <= limits.entry && is_shallow(&entry, limits) => {
                    Some((entry, used))
                }
                Some(Err(error)) if error.is_eof() && !self.window.is_over() => {
                    self.window.more(limits.entry)?;
                    continue;
                }
                // Either it is not perfect or it is not there; both is found out here.
                _ => None,
            };
            self.n_entries += 1;
            if self.limits.pages < self.n_entries {
                let detail = format!("at most {}", self.limits.pages);
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
                            self.wanted = Wanted::Comma;
                            continue;
                        }
                    }
                }
            };
            if !belongs(&entry.url, idx, self.head.origin.as_deref(), &mut self.belonging) {
                report_other(&entry.url, idx, sink);
                self.window.advance(used);
                self.wanted = Wanted::Comma;
                continue;
            }
            self.seen.see(entry.url.key(), idx);
            self.n_taken += 1;
            let taken = take(entry, idx, sink);
            self.window.advance(used);
            self.wanted = Wanted::Comma;
            return Ok(Some(taken));
        }
        Ok(None)
    }

    /// The next entry as a copy of its own.
    pub fn next_owned(
        &mut self,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<Entry<'static>>, ArcError> {
        self.next(sink, |entry| entry.own())
    }

    /// What is known of the head so far: all that stands before the entry that
    /// was lent last.
    pub fn head(&self) -> &Head {
        &self.head.head
    }

    /// Reads what is left and vouches for the whole.
    pub fn finish(mut self, sink: &mut dyn FindingSink) -> Result<Receipt, ArcError> {
        while self.next(sink, |_| ())?.is_some() {}
        self.head.finish(self.has_pages, sink);
        let repeated = self.seen.finish(sink);
        let (origin, common) = (&self.head.origin, &self.belonging.common);
        let is_other = origin.is_some() && common.is_some() && origin != common;
        let is_foreign = is_other || (origin.is_some() && self.belonging.other.is_some());
        if let Some(common) = common.as_ref().filter(|_| is_other) {
            let place = Place { line: None, pointer: "/site".to_owned() };
            let detail = format!("pages are of {}", quoted(common));
            sink.report(Finding::new(&rules::OTHER_HOST, place, detail));
        }
        if let Some(idx) = self.belonging.other {
            let place = Place { line: None, pointer: format!("/pages/{idx}/url") };
            sink.report(Finding::new(&rules::OTHER_HOST, place, "and perhaps others"));
        }
        Ok(Receipt {
            head: self.head.head,
            pages: self.n_taken,
            skipped: self.n_entries - self.n_taken,
            repeated,
            is_sorted: self.seen.is_sorted(),
            is_foreign,
        })
    }

    fn stop(&mut self, rule: &'static rutter_finding::Rule, detail: &str) -> ArcError {
        self.phase = Phase::Over;
        self.window.refuse(rule, detail).into()
    }

    /// Moves to where the next entry begins; false at the end of the document.
    fn find(&mut self, sink: &mut dyn FindingSink) -> Result<bool, ArcError> {
        loop {
            match self.phase {
                Phase::Over => return Ok(false),
                Phase::New => {
                    if self.window.skip_mark()? {
                        sink.report(Finding::new(&rules::BOM, Place::WHOLE, ""));
                    }
                    match self.window.peek()? {
                        Some(b'{') => {}
                        None => return Err(self.stop(&rules::TRUNCATED, "it is empty")),
                        Some(_) => {
                            // What is no JSON at all is not called the wrong kind of it.
                            self.window.measure(self.limits.entry)?;
                            return Err(self.stop(&rules::NOT_AN_OBJECT, ""));
                        }
                    }
                    self.window.advance(1);
                    (self.phase, self.wanted) = (Phase::Root, Wanted::First);
                }
                Phase::Root => {
                    if self.is_value(b'}')? {
                        self.member(sink)?;
                    } else {
                        self.phase = Phase::After;
                    }
                }
                Phase::Pages => {
                    if self.is_value(b']')? {
                        return Ok(true);
                    }
                    (self.phase, self.wanted) = (Phase::Root, Wanted::Comma);
                }
                Phase::After => {
                    if self.window.peek()?.is_some() {
                        return Err(self.stop(&rules::NOT_JSON, "something follows it"));
                    }
                    self.phase = Phase::Over;
                }
            }
        }
    }

    /// Moves over commas; true where a value comes, false behind the end.
    fn is_value(&mut self, end: u8) -> Result<bool, ArcError> {
        loop {
            let Some(byte) = self.window.peek()? else {
                return Err(self.stop(&rules::TRUNCATED, ""));
            };
            match (byte, self.wanted) {
                (b',', Wanted::Comma) => {
                    self.window.advance(1);
                    self.wanted = Wanted::Next;
                }
                (byte, Wanted::First | Wanted::Comma) if byte == end => {
                    self.window.advance(1);
                    return Ok(false);
                }
                (_, Wanted::First | Wanted::Next) => return Ok(true),
                (byte, Wanted::Comma) => {
                    let found = quoted(&char::from(byte).to_string());
                    return Err(self.stop(&rules::NOT_JSON, &format!("{found} instead of a comma")));
                }
            }
        }
    }

    /// Reads one member of the document.
    fn member(&mut self, sink: &mut dyn FindingSink) -> Result<(), ArcError> {
        let used = self.window.measure(self.limits.head)?;
        let text = self.window.rest().get(..used).unwrap_or_default();
        let Ok(name) = serde_json::from_str::<String>(text) else {
            let detail = format!("{} instead of a name", quoted(text));
            return Err(self.stop(&rules::NOT_JSON, &detail));
        };
        self.window.advance(used);
        match self.window.peek()? {
            Some(b':') => self.window.advance(1),
            None => return Err(self.stop(&rules::TRUNCATED, "")),
            Some(_) => return Err(self.stop(&rules::NOT_JSON, "a colon is missing")),
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
            (self.phase, self.wanted) = (Phase::Pages, Wanted::First);
            return Ok(());
        }
        let used = self.window.measure(self.limits.head)?;
        let text = self.window.rest().get(..used).unwrap_or_default();
        if let Ok(raw) = serde_json::from_str::<&RawValue>(text) {
            self.head.take(&name, raw, &self.limits, sink)?;
        }
        self.window.advance(used);
        self.wanted = Wanted::Comma;
        Ok(())
    }
}

/// The fast road lets values pass that are as deep as can be allowed.
fn is_shallow(entry: &Entry<'_>, limits: &Limits) -> bool {
    limits.depth == Limits::DEEPEST
        || (entry.ai_snapshot.iter().all(|it| nesting(it.get()) <= limits.depth)
            && entry.extra.iter().all(|it| nesting(it.value.get()) <= limits.depth))
}

/// Tells whether a page is of the site; while that is not known, remembers
/// whether all pages are of one.
fn belongs(url: &PageUrl<'_>, idx: u64, site: Option<&str>, so_far: &mut Belonging) -> bool {
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
