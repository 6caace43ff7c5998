//! What a sitemap says beside its pages: version, site, time, rate, contact,
//! deltas.
//!
//! [`Collecting`] gets the members one by one, in whatever order they come,
//! before the pages or behind them.

use std::collections::HashSet;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::{HttpUrl, Member, Own, Raw, Str, Timestamp, nesting};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::rate::CrawlRate;
use crate::rules;
use crate::tolerant::{MOST_EXTRA, is_uri, pointer, text};

/// The version we write.
pub const VERSION: &str = "2.1";

/// Everything of a document but its pages.
///
/// A reader fills in what is there; a writer writes what is there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Head {
    /// Version of the format, such as `2.1`.
    pub version: Option<String>,
    /// Address of the site, without slash at the end (D92).
    pub site: Option<String>,
    /// When the document was made.
    pub generated_at: Option<Timestamp>,
    /// How often crawlers may come, as written.
    pub crawl_rate: Option<String>,
    /// Whom to ask about crawling; written as `ai-crawl-contact`.
    pub contact: Option<String>,
    /// Where the changes of each day can be had (D60).
    pub deltas: Option<Deltas>,
    /// Of a delta: the changes after this moment.
    pub since: Option<Timestamp>,
    /// Of a delta: the changes up to this moment.
    pub until: Option<Timestamp>,
    /// Members this version does not know, in the order they came.
    pub extra: Vec<Member<'static>>,
}

/// Announcement of dated deltas (D60).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deltas {
    /// Address with `YYYY-MM-DD` where the day goes.
    pub template: String,
    /// First day there is, as `YYYY-MM-DD`.
    pub from: String,
    /// Last day there is.
    pub to: String,
}

impl Head {
    /// The head of a full sitemap; `site` loses a slash at its end.
    pub fn new(site: &str, generated_at: Timestamp) -> Self {
        Self {
            version: Some(VERSION.to_owned()),
            site: Some(site.trim_end_matches('/').to_owned()),
            generated_at: Some(generated_at),
            ..Self::default()
        }
    }

    /// The head of a delta for the same site: all the same, and the window.
    #[must_use]
    pub fn of_day(&self, since: Timestamp, until: Timestamp) -> Self {
        Self { since: Some(since), until: Some(until), ..self.clone() }
    }

    /// The head of the full sitemap a delta leads to.
    #[must_use]
    pub fn of_whole(&self) -> Self {
        Self { since: None, until: None, ..self.clone() }
    }

    /// Tells whether this is a delta.
    pub fn is_delta(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// The rate crawlers are asked to keep, where it can be read.
    pub fn rate(&self) -> Option<CrawlRate> {
        CrawlRate::parse(self.crawl_rate.as_deref()?)
    }
}

/// A head that is being read.
#[derive(Debug, Default)]
pub(crate) struct Collecting {
    pub(crate) head: Head,
    /// Names that were there, kept to find one that comes twice.
    names: HashSet<String>,
    n_bytes: usize,
    /// Scheme and host of the site, where they are known.
    pub(crate) origin: Option<String>,
}

impl Collecting {
    /// Notes a name; tells whether it was there before.
    pub(crate) fn is_again(&mut self, name: &str) -> bool {
        let is_again = self.names.contains(name);
        if !is_again {
            self.names.insert(name.to_owned());
        }
        is_again
    }

    /// Takes a member, whatever it is.
    pub(crate) fn take(
        &mut self,
        name: &str,
        raw: &RawValue,
        limits: &Limits,
        sink: &mut dyn FindingSink,
    ) -> Result<(), Refusal> {
        let place = Place { line: None, pointer: pointer("", name) };
        let mut report = |rule: &'static Rule, detail: String| {
            sink.report(Finding::new(rule, place.clone(), detail));
        };
        self.n_bytes += name.len() + raw.get().len();
        if limits.head < self.n_bytes {
            return Err(Refusal::new(&rules::TOO_LONG, place, format!("at most {}", limits.head)));
        }
        if limits.depth < nesting(raw.get()) {
            return Err(Refusal::new(&rules::TOO_DEEP, place, format!("at most {}", limits.depth)));
        }
        let is_again = self.is_again(name);
        if is_again {
            report(&rules::HEAD_TWICE, String::new());
        }
        let shown = || quoted(raw.get());
        let head = &mut self.head;
        match name {
            "arc_sitemap_version" => {
                head.version = version(raw, &place, &mut report)?;
            }
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
            "generated_at" => {
                let (time, is_good) = time(raw);
                if !is_good {
                    report(&rules::GENERATED_FORM, shown());
                }
                head.generated_at = time;
            }
            "since" | "until" => {
                let (time, is_good) = time(raw);
                if !is_good {
                    report(&rules::HEAD_FORM, shown());
                }
                *(if name == "since" { &mut head.since } else { &mut head.until }) = time;
            }
            "crawl_rate" | "crawl-rate" => {
                if name != "crawl_rate" {
                    report(&rules::HEAD_ALIAS, quoted(name));
                }
                let rate = text(raw).filter(|text| CrawlRate::parse(text).is_some());
                if rate.is_none() {
                    report(&rules::CRAWL_RATE_FORM, shown());
                }
                head.crawl_rate = rate.map(Str::into_string);
            }
            "ai-crawl-contact" | "ai_crawl_contact" => {
                if name != "ai-crawl-contact" {
                    report(&rules::HEAD_ALIAS, quoted(name));
                }
                head.contact = text(raw).map(Str::into_string);
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
            _ if is_again => {
                let value = Raw::from(raw).own();
                if let Some(member) = head.extra.iter_mut().find(|member| &*member.key == name) {
                    member.value = value;
                }
            }
            _ if head.extra.len() == MOST_EXTRA => {
                report(&rules::TOO_MANY_MEMBERS, String::new());
            }
            _ => {
                let key = Str::from(name.to_owned());
                head.extra.push(Member { key, value: Raw::from(raw).own() });
            }
        }
        Ok(())
    }

    fn take_site(&mut self, site: &str) {
        // Pages may have been judged by the first; a second comes too late.
        if self.origin.is_some() {
            return;
        }
        self.origin = origin(site);
        self.head.site = Some(site.trim_end_matches('/').to_owned());
    }

    /// Says what is missing in the end.
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

/// Reads the version; refuses one whose major number is not 2, whatever its
/// type, and one that has no number (D61).
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
    // `null` says no version, as a missing member does.
    if raw.get() != "null" && major.trim().parse::<u64>() != Ok(2) {
        return Err(Refusal::new(&rules::VERSION_UNKNOWN, place.clone(), shown));
    }
    Ok(version.map(Str::into_string))
}

fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    1 < text.split('.').count() && text.split('.').all(is_number)
}

fn is_announcement(deltas: &Deltas) -> bool {
    deltas.template.contains("YYYY-MM-DD")
        && [&deltas.from, &deltas.to].into_iter().all(|day| crate::delta::day(day).is_some())
}

fn time(raw: &RawValue) -> (Option<Timestamp>, bool) {
    match text(raw).and_then(|text| Timestamp::parse_lenient(&text).ok()) {
        Some((time, is_good)) => (Some(time), is_good),
        None => (None, false),
    }
}

/// Scheme, host and port of an address, the way a URL parser writes them.
pub(crate) fn origin(address: &str) -> Option<String> {
    // A page's address always has a path, so the third slash is there.
    let url = rutter_page::PageUrl::parse(address).ok()?;
    let (scheme, rest) = url.key().split_once("://")?;
    let host = rest.split(['/', '?']).next()?;
    Some(format!("{scheme}://{host}"))
}
