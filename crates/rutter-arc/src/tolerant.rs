//! Tolerant parser: reads any entry member by member and reports every problem.
//!
//! Input: the text of one JSON value from [`ArcReader`](crate::ArcReader). Output: an [`ArcEntry`]
//! with the usable members, and findings with JSON pointers.
//!
//! Never weakens a restriction when it repairs a value.

use std::collections::HashSet;
use std::fmt;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::{
    CowStr, PageUrl, RawJson, RawObject, Timestamp, UnknownMember, UrlError, nesting_depth,
    split_members,
};
use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::checksum::is_checksum;
use crate::entry::{ArcEntry, MAX_TAGS};
use crate::rules;

/// Maximum number of unknown members that are kept for one entry, and for the document.
pub(crate) const MAX_EXTRA: usize = 256;

/// Reads the entry at index `idx`. Returns `None` if the entry must be skipped.
pub(crate) fn read<'a>(
    text: &'a str,
    idx: u64,
    depth: usize,
    sink: &mut dyn FindingSink,
) -> Result<Option<ArcEntry<'a>>, Refusal> {
    let mut findings = EntryFindings { base: format!("/pages/{idx}"), sink };
    if !text.starts_with('{') {
        findings.report(&rules::ENTRY_NOT_OBJECT, "", quoted(text));
        return Ok(None);
    }
    // The value is valid JSON. Only a name with half of a surrogate pair can still fail.
    let Ok(members) = split_members(text) else {
        findings.report(&rules::ENTRY_NOT_OBJECT, "", "a member name is not valid text".to_owned());
        return Ok(None);
    };
    if let Some((name, _)) = members.iter().find(|(_, raw)| depth < nesting_depth(raw.get())) {
        return Err(Refusal::new(
            &rules::TOO_DEEP,
            findings.place(name),
            format!("the limit is {depth} levels"),
        ));
    }
    let mut parts = EntryParts::default();
    let mut names: HashSet<&str> = HashSet::with_capacity(members.len().min(1024));
    for (name, raw) in &members {
        let is_again = !names.insert(name);
        if is_again {
            findings.report(&rules::MEMBER_TWICE, name, String::new());
        }
        parts.take(name, raw, is_again, &mut findings);
    }
    Ok(parts.finish(&mut findings))
}

/// Receiver of the findings of one entry.
struct EntryFindings<'d> {
    base: String,
    sink: &'d mut dyn FindingSink,
}

impl EntryFindings<'_> {
    fn place(&self, name: &str) -> Place {
        Place { line: None, pointer: pointer(&self.base, name) }
    }

    fn report(&mut self, rule: &'static Rule, name: &str, detail: String) {
        let place = self.place(name);
        self.sink.report(Finding::new(rule, place, detail));
    }
}

/// Appends a name to a JSON pointer; an empty name leaves the pointer unchanged.
pub(crate) fn pointer(base: &str, name: &str) -> String {
    if name.is_empty() {
        return base.to_owned();
    }
    let name: String = name.chars().take(80).collect();
    format!("{base}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// URL of an entry while the entry is read.
#[derive(Default)]
enum EntryAddress<'a> {
    #[default]
    Missing,
    Bad,
    Good(PageUrl<'a>),
}

/// Members of an entry read so far.
// More than 12 fields: one for each member of the format.
#[derive(Default)]
struct EntryParts<'a> {
    url: EntryAddress<'a>,
    is_indexable_said: bool,
    ai_indexable: Option<bool>,
    auth_required: Option<bool>,
    robots_directive: Option<CowStr<'a>>,
    removed: bool,
    is_doubtful: bool,
    lastmod: Option<Timestamp>,
    crawl_priority: Option<f64>,
    ai_summary: Option<CowStr<'a>>,
    ai_tags: Vec<CowStr<'a>>,
    ai_checksum: Option<CowStr<'a>>,
    ai_snapshot: Option<RawObject<'a>>,
    extra: Vec<UnknownMember<'a>>,
}

impl<'a> EntryParts<'a> {
    /// Reads one member. If a name occurs twice, the last value is used, as in most readers; of two
    /// restrictions, the stronger one is used.
    fn take(
        &mut self,
        name: &CowStr<'a>,
        raw: &'a RawValue,
        is_again: bool,
        findings: &mut EntryFindings<'_>,
    ) {
        if raw.get() == "null" && is_known(name) && &**name != "ai_indexable" {
            findings.report(&rules::NULL_MEMBER, name, String::new());
            return;
        }
        match &**name {
            "url" => self.take_url(raw, is_again, findings),
            "ai_indexable" => {
                let value = boolean(raw);
                if value.is_none() {
                    findings.report(&rules::INDEXABLE_FORM, name, quoted(raw.get()));
                }
                self.ai_indexable = match (self.is_indexable_said, self.ai_indexable) {
                    (false, _) => value,
                    (true, before) => Some(value == Some(true) && before == Some(true)),
                };
                self.is_indexable_said = true;
            }
            "auth_required" => match boolean(raw) {
                Some(value) => {
                    self.auth_required = Some(value || self.auth_required == Some(true));
                }
                None => self.doubt(name, raw, findings),
            },
            "removed" => match boolean(raw) {
                Some(value) => self.removed |= value,
                None => self.doubt(name, raw, findings),
            },
            "robots_directive" => match text(raw) {
                Some(value) => {
                    let joined = self.robots_directive.take().map(|before| {
                        CowStr::from(format!("{}, {}", before.into_string(), &*value))
                    });
                    self.robots_directive = Some(joined.unwrap_or(value));
                }
                None => self.doubt(name, raw, findings),
            },
            "lastmod" => self.lastmod = time(raw, &rules::LASTMOD_FORM, name, findings),
            "crawl_priority" => self.crawl_priority = priority(raw, name, findings),
            "ai_summary" => self.ai_summary = said(raw, name, findings),
            "ai_tags" => self.ai_tags = tags(raw, name, findings),
            "ai_checksum" => {
                self.ai_checksum = said(raw, name, findings);
                if let Some(checksum) = self.ai_checksum.as_deref().filter(|it| !is_checksum(it)) {
                    findings.report(&rules::CHECKSUM_FORM, name, quoted(checksum));
                }
            }
            "ai_snapshot" => {
                self.ai_snapshot = RawObject::new(RawJson::from(raw));
                if self.ai_snapshot.is_none() {
                    findings.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
                }
            }
            _ => self.take_other(name, raw, is_again, findings),
        }
    }

    /// Records a restriction that could not be read. It still counts as a restriction.
    fn doubt(&mut self, name: &str, raw: &RawValue, findings: &mut EntryFindings<'_>) {
        self.is_doubtful = true;
        findings.report(&rules::RESTRICTION_FORM, name, quoted(raw.get()));
    }

    fn take_url(&mut self, raw: &'a RawValue, is_again: bool, findings: &mut EntryFindings<'_>) {
        let Some(text) = text(raw) else {
            self.url = EntryAddress::Bad;
            return findings.report(&rules::URL_FORM, "url", quoted(raw.get()));
        };
        let shown = quoted(&text);
        match PageUrl::parse(text) {
            Ok(url) => {
                if !is_uri(url.as_str()) {
                    findings.report(&rules::URL_CHARACTERS, "url", shown);
                }
                // If an entry has two different URLs, it is unclear which of them is meant.
                let is_other = match &self.url {
                    EntryAddress::Missing => is_again,
                    EntryAddress::Bad => true,
                    EntryAddress::Good(first) => first.key() != url.key(),
                };
                self.url = if is_other { EntryAddress::Bad } else { EntryAddress::Good(url) };
            }
            Err(error) => {
                self.url = EntryAddress::Bad;
                let rule = match error {
                    UrlError::Syntax => &rules::URL_FORM,
                    _ => &rules::URL_NOT_A_PAGE,
                };
                findings.report(rule, "url", shown);
            }
        }
    }

    fn take_other(
        &mut self,
        name: &CowStr<'a>,
        raw: &'a RawValue,
        again: bool,
        findings: &mut EntryFindings<'_>,
    ) {
        let value = RawJson::from(raw);
        if again {
            let found = self.extra.iter_mut().find(|member| member.key == *name);
            if let Some(member) = found {
                member.value = value;
            }
            return;
        }
        if self.extra.len() == MAX_EXTRA {
            findings.report(&rules::TOO_MANY_MEMBERS, "", String::new());
        }
        // Keep one member more than the maximum, so that the excess is reported once.
        if self.extra.len() <= MAX_EXTRA {
            self.extra.push(UnknownMember { key: name.clone(), value });
        }
    }

    fn finish(mut self, findings: &mut EntryFindings<'_>) -> Option<ArcEntry<'a>> {
        if !self.is_indexable_said {
            findings.report(&rules::INDEXABLE_MISSING, "", String::new());
        }
        let url = match self.url {
            EntryAddress::Good(url) => url,
            EntryAddress::Bad => return None,
            EntryAddress::Missing => {
                findings.report(&rules::URL_MISSING, "", String::new());
                return None;
            }
        };
        self.extra.truncate(MAX_EXTRA);
        Some(ArcEntry {
            url,
            lastmod: self.lastmod,
            ai_indexable: self.ai_indexable,
            auth_required: self.auth_required,
            robots_directive: self.robots_directive,
            removed: self.removed,
            crawl_priority: self.crawl_priority,
            ai_summary: self.ai_summary,
            ai_tags: self.ai_tags,
            ai_checksum: self.ai_checksum,
            ai_snapshot: self.ai_snapshot,
            extra: self.extra,
            is_doubtful: self.is_doubtful,
        })
    }
}

fn is_known(name: &str) -> bool {
    matches!(
        name,
        "url"
            | "lastmod"
            | "ai_indexable"
            | "ai_summary"
            | "ai_tags"
            | "ai_checksum"
            | "ai_snapshot"
            | "crawl_priority"
            | "auth_required"
            | "robots_directive"
            | "removed"
    )
}

fn boolean(raw: &RawValue) -> Option<bool> {
    match raw.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Returns the value if it is a string.
pub(crate) fn text(raw: &RawValue) -> Option<CowStr<'_>> {
    serde_json::from_str(raw.get()).ok()
}

fn said<'a>(raw: &'a RawValue, name: &str, findings: &mut EntryFindings<'_>) -> Option<CowStr<'a>> {
    let found = text(raw);
    if found.is_none() {
        findings.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
    }
    found
}

/// Parses a time. Reports a form that other readers may not accept.
fn time(
    raw: &RawValue,
    rule: &'static Rule,
    name: &str,
    findings: &mut EntryFindings<'_>,
) -> Option<Timestamp> {
    let parsed = text(raw).and_then(|text| Timestamp::parse_lenient(&text).ok());
    if !matches!(parsed, Some((_, true))) {
        findings.report(rule, name, quoted(raw.get()));
    }
    parsed.map(|(time, _)| time)
}

fn priority(raw: &RawValue, name: &str, findings: &mut EntryFindings<'_>) -> Option<f64> {
    if !raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        findings.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
        return None;
    }
    // A number that is too large for a float is out of range as well.
    let number = serde_json::from_str(raw.get()).ok().filter(|it| (0.0..=1.0).contains(it));
    if number.is_none() {
        findings.report(&rules::PRIORITY_RANGE, name, quoted(raw.get()));
    }
    number
}

/// Returns the tags that are strings, at most [`MAX_TAGS`].
fn tags<'a>(raw: &'a RawValue, name: &str, findings: &mut EntryFindings<'_>) -> Vec<CowStr<'a>> {
    struct TolerantTagsVisitor;
    /// The tags, the indices of the values that are not strings, and the total number of values.
    type ParsedTags<'a> = (Vec<CowStr<'a>>, Vec<usize>, usize);
    impl<'de> Visitor<'de> for TolerantTagsVisitor {
        type Value = ParsedTags<'de>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ParsedTags<'de>, A::Error> {
            let (mut tags, mut bad, mut n) = (Vec::new(), Vec::new(), 0);
            while let Some(raw) = seq.next_element::<&'de RawValue>()? {
                match text(raw) {
                    Some(tag) if tags.len() < MAX_TAGS => tags.push(tag),
                    None if bad.len() < MAX_TAGS => bad.push(n),
                    _ => {}
                }
                n += 1;
            }
            Ok((tags, bad, n))
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    let Ok((tags, bad, n)) = deserializer.deserialize_seq(TolerantTagsVisitor) else {
        findings.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
        return Vec::new();
    };
    for idx in bad {
        let place = Place { line: None, pointer: format!("{}/{name}/{idx}", findings.base) };
        findings.sink.report(Finding::new(&rules::TAG_FORM, place, ""));
    }
    if MAX_TAGS < n {
        findings.report(&rules::TOO_MANY_TAGS, name, format!("the entry has {n} tags"));
    }
    tags
}

/// Returns whether a text has only characters that RFC 3986 allows in a URI, including escapes.
pub(crate) fn is_uri(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_fine = match byte {
            b'%' => {
                let mut is_digit = || bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
                is_digit() && is_digit()
            }
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => false,
            byte => b' ' < byte && byte < 0x7f,
        };
        if !is_fine {
            return false;
        }
    }
    true
}
