//! Header of a sitemap: version, site, time, rate, contact, deltas.
//!
//! A [`HeaderCollector`] receives the members one by one in any order, before or after the pages.
//! It rejects unsupported versions and headers over the limits.

use std::collections::HashSet;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::{CowStr, HttpUrl, IntoOwned, RawJson, Timestamp, UnknownMember, nesting_depth};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::rate::CrawlRate;
use crate::rules;
use crate::tolerant::{MAX_EXTRA, is_uri, pointer, text};

/// The version of the format that this crate writes.
pub const VERSION: &str = "2.1";

/// All members of a document except the pages.
///
/// A reader sets the members that are present in the document; a writer writes the members that are
/// set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SitemapHeader {
    /// Version of the format, such as `2.1`.
    pub version: Option<String>,
    /// URL of the site, without a trailing slash (D92).
    pub site: Option<String>,
    /// Time at which the document was generated.
    pub generated_at: Option<Timestamp>,
    /// Request rate for crawlers, as written.
    pub crawl_rate: Option<String>,
    /// Contact address for questions about crawling; written as `ai-crawl-contact`.
    pub contact: Option<String>,
    /// Announcement of the dated deltas (D60).
    pub deltas: Option<DeltaAnnouncement>,
    /// In a delta: start of the covered time span.
    pub since: Option<Timestamp>,
    /// In a delta: end of the covered time span.
    pub until: Option<Timestamp>,
    /// Unknown members, in input order.
    pub extra: Vec<UnknownMember<'static>>,
}

/// Announcement of dated deltas (D60).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeltaAnnouncement {
    /// URL template of the deltas, with `YYYY-MM-DD` in place of the day.
    pub template: String,
    /// First day with a delta, as `YYYY-MM-DD`.
    pub from: String,
    /// Last day with a delta, as `YYYY-MM-DD`.
    pub to: String,
}

impl SitemapHeader {
    /// Creates the header of a full sitemap. A trailing slash of `site` is removed.
    pub fn new(site: &str, generated_at: Timestamp) -> Self {
        Self {
            version: Some(VERSION.to_owned()),
            site: Some(site.trim_end_matches('/').to_owned()),
            generated_at: Some(generated_at),
            ..Self::default()
        }
    }

    /// Returns the header of a delta of the same site for a time span.
    #[must_use]
    pub fn for_day(&self, since: Timestamp, until: Timestamp) -> Self {
        Self { since: Some(since), until: Some(until), ..self.clone() }
    }

    /// Returns the header of the full sitemap that results from applying a delta.
    #[must_use]
    pub fn for_sitemap(&self) -> Self {
        Self { since: None, until: None, ..self.clone() }
    }

    /// Returns whether this is the header of a delta.
    pub fn is_delta(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Replaces the value of an unknown member that occurs again.
    fn replace_extra(&mut self, name: &str, raw: &RawValue) {
        if let Some(member) = self.extra.iter_mut().find(|member| &*member.key == name) {
            member.value = RawJson::from(raw).into_owned();
        }
    }

    /// Returns the request rate, if it is valid.
    pub fn rate(&self) -> Option<CrawlRate> {
        CrawlRate::parse(self.crawl_rate.as_deref()?)
    }
}

/// Collects the header of a document while it is read.
#[derive(Debug, Default)]
pub(crate) struct HeaderCollector {
    pub(crate) head: SitemapHeader,
    /// Names of the members seen so far, to detect duplicates.
    names: HashSet<String>,
    n_bytes: usize,
    /// Scheme and host of the site, once they are known.
    pub(crate) origin: Option<String>,
}

impl HeaderCollector {
    /// Records a member name. Returns whether the name occurred before.
    pub(crate) fn is_again(&mut self, name: &str) -> bool {
        let is_again = self.names.contains(name);
        if !is_again {
            self.names.insert(name.to_owned());
        }
        is_again
    }

    /// Reads one member of the document.
    pub(crate) fn take(
        &mut self,
        name: &str,
        raw: &RawValue,
        limits: &Limits,
        sink: &mut dyn FindingSink,
    ) -> Result<(), Refusal> {
        let place = Place { line: None, pointer: pointer("", name) };
        self.check_limits(name, raw, limits, &place)?;
        let mut report = |rule: &'static Rule, detail: String| {
            sink.report(Finding::new(rule, place.clone(), detail));
        };
        let is_again = self.is_again(name);
        if is_again {
            report(&rules::HEAD_TWICE, String::new());
        }
        let shown = || quoted(raw.get());
        let head = &mut self.head;
        match name {
            "arc_sitemap_version" => head.version = version(raw, &place, &mut report)?,
            "site" => {
                let url = text(raw).and_then(|text| HttpUrl::parse(text.into_string()).ok());
                match url {
                    Some(url) if is_uri(url.as_str()) => self.take_site(url.as_str()),
                    Some(url) => {
                        report(&rules::URL_CHARACTERS, shown());
                        self.take_site(url.as_str());
                    }
                    None => report(&rules::SITE_FORM, shown()),
                }
            }
            "generated_at" | "since" | "until" => {
                let (slot, rule) = match name {
                    "generated_at" => (&mut head.generated_at, &rules::GENERATED_FORM),
                    "since" => (&mut head.since, &rules::HEAD_FORM),
                    _ => (&mut head.until, &rules::HEAD_FORM),
                };
                let (time, is_good) = time(raw);
                if !is_good {
                    report(rule, shown());
                }
                *slot = time;
            }
            "crawl_rate" | "crawl-rate" => {
                if name != "crawl_rate" {
                    report(&rules::HEAD_ALIAS, quoted(name));
                }
                let rate = text(raw).filter(|text| CrawlRate::parse(text).is_some());
                if rate.is_none() {
                    report(&rules::CRAWL_RATE_FORM, shown());
                }
                head.crawl_rate = rate.map(CowStr::into_string);
            }
            "ai-crawl-contact" | "ai_crawl_contact" => {
                if name != "ai-crawl-contact" {
                    report(&rules::HEAD_ALIAS, quoted(name));
                }
                head.contact = text(raw).map(CowStr::into_string);
                if head.contact.is_none() {
                    report(&rules::HEAD_FORM, shown());
                }
            }
            "deltas" => {
                head.deltas = serde_json::from_str(raw.get()).ok().filter(is_announcement);
                if head.deltas.is_none() {
                    report(&rules::HEAD_FORM, shown());
                }
            }
            _ if is_again => head.replace_extra(name, raw),
            _ if head.extra.len() == MAX_EXTRA => {
                report(&rules::TOO_MANY_MEMBERS, String::new());
            }
            _ => {
                let key = CowStr::from(name.to_owned());
                head.extra.push(UnknownMember { key, value: RawJson::from(raw).into_owned() });
            }
        }
        Ok(())
    }

    /// Counts the bytes of a member, and rejects a document over the limits.
    fn check_limits(
        &mut self,
        name: &str,
        raw: &RawValue,
        limits: &Limits,
        place: &Place,
    ) -> Result<(), Refusal> {
        self.n_bytes += name.len() + raw.get().len();
        if limits.head < self.n_bytes {
            let detail = format!("the limit is {} bytes", limits.head);
            return Err(Refusal::new(&rules::TOO_LONG, place.clone(), detail));
        }
        if limits.depth < nesting_depth(raw.get()) {
            let detail = format!("the limit is {} levels", limits.depth);
            return Err(Refusal::new(&rules::TOO_DEEP, place.clone(), detail));
        }
        Ok(())
    }

    fn take_site(&mut self, site: &str) {
        // The value of `site` is not replaced: pages may have been compared with the first value
        // already.
        if self.origin.is_some() {
            return;
        }
        self.origin = origin(site);
        self.head.site = Some(site.trim_end_matches('/').to_owned());
    }

    /// Reports members that are missing at the end of the document.
    pub(crate) fn finish(&self, has_pages: bool, sink: &mut dyn FindingSink) {
        let has = |name: &str| self.names.contains(name);
        for (is_there, rule) in [
            (has("arc_sitemap_version"), &rules::VERSION_MISSING),
            (has("site"), &rules::SITE_MISSING),
            (has("generated_at"), &rules::GENERATED_MISSING),
            (has_pages, &rules::PAGES_MISSING),
        ] {
            if !is_there {
                sink.report(Finding::new(rule, Place::WHOLE, ""));
            }
        }
    }
}

/// Reads the version, a number or a string. Rejects a value without a number and any major version
/// other than 2 (D61).
fn version(
    raw: &RawValue,
    place: &Place,
    report: &mut dyn FnMut(&'static Rule, String),
) -> Result<Option<String>, Refusal> {
    let shown = quoted(raw.get());
    let version = text(raw).filter(|text| is_version(text));
    if version.is_none() {
        report(&rules::VERSION_FORM, shown.clone());
    }
    let major = raw.get().trim_matches('"').split('.').next().unwrap_or_default();
    // `null` counts as a missing member.
    if raw.get() != "null" && major.trim().parse::<u64>() != Ok(2) {
        return Err(Refusal::new(&rules::VERSION_UNKNOWN, place.clone(), shown));
    }
    Ok(version.map(CowStr::into_string))
}

fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    1 < text.split('.').count() && text.split('.').all(is_number)
}

fn is_announcement(deltas: &DeltaAnnouncement) -> bool {
    deltas.template.contains("YYYY-MM-DD")
        && [&deltas.from, &deltas.to].into_iter().all(|day| crate::delta::parse_day(day).is_some())
}

fn time(raw: &RawValue) -> (Option<Timestamp>, bool) {
    match text(raw).and_then(|text| Timestamp::parse_lenient(&text).ok()) {
        Some((time, is_good)) => (Some(time), is_good),
        None => (None, false),
    }
}

/// Returns scheme, host and port of a URL in normalized form.
pub(crate) fn origin(address: &str) -> Option<String> {
    // The URL of a page always has a path, so there is a third slash.
    let url = rutter_page::PageUrl::parse(address).ok()?;
    let (scheme, rest) = url.key().split_once("://")?;
    let host = rest.split(['/', '?']).next()?;
    Some(format!("{scheme}://{host}"))
}
