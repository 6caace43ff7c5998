//! The tolerant road: any entry, member by member, saying what is wrong.
//!
//! Comes from [`Reader`](crate::Reader) as the text of one JSON value; what
//! can be used goes back as an [`Entry`], what cannot is reported with its
//! JSON pointer.
//!
//! Refuses: to mend a restriction in favour of the reader.

use std::collections::HashSet;
use std::fmt;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::{Member, Object, PageUrl, Raw, Str, Timestamp, UrlError, members, nesting};
use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::checksum::is_checksum;
use crate::entry::{Entry, MOST_TAGS};
use crate::rules;

/// Most unknown members that are kept, of an entry or of the document.
pub(crate) const MOST_EXTRA: usize = 256;

/// Reads the entry at this index; `None` where it has to be skipped.
pub(crate) fn read<'a>(
    text: &'a str,
    idx: u64,
    depth: usize,
    sink: &mut dyn FindingSink,
) -> Result<Option<Entry<'a>>, Refusal> {
    let mut desk = Desk { base: format!("/pages/{idx}"), sink };
    if !text.starts_with('{') {
        desk.report(&rules::ENTRY_NOT_OBJECT, "", quoted(text));
        return Ok(None);
    }
    // The value was found to be JSON; only a name can still be broken, by half
    // of a surrogate pair.
    let Ok(members) = members(text) else {
        desk.report(&rules::ENTRY_NOT_OBJECT, "", "a name is not text".to_owned());
        return Ok(None);
    };
    if let Some((name, _)) = members.iter().find(|(_, raw)| depth < nesting(raw.get())) {
        return Err(Refusal::new(&rules::TOO_DEEP, desk.place(name), format!("at most {depth}")));
    }
    let mut parts = Parts::default();
    let mut names: HashSet<&str> = HashSet::with_capacity(members.len().min(1024));
    for (name, raw) in &members {
        let is_again = !names.insert(name);
        if is_again {
            desk.report(&rules::MEMBER_TWICE, name, String::new());
        }
        parts.take(name, raw, is_again, &mut desk);
    }
    Ok(parts.finish(&mut desk))
}

/// Where findings go, and of what entry.
struct Desk<'d> {
    base: String,
    sink: &'d mut dyn FindingSink,
}

impl Desk<'_> {
    fn place(&self, name: &str) -> Place {
        Place { line: None, pointer: pointer(&self.base, name) }
    }

    fn report(&mut self, rule: &'static Rule, name: &str, detail: String) {
        let place = self.place(name);
        self.sink.report(Finding::new(rule, place, detail));
    }
}

/// A JSON pointer one step further down; an empty name stays where it is.
pub(crate) fn pointer(base: &str, name: &str) -> String {
    if name.is_empty() {
        return base.to_owned();
    }
    let name: String = name.chars().take(80).collect();
    format!("{base}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The address of an entry, as far as it is known.
#[derive(Default)]
enum Address<'a> {
    #[default]
    Missing,
    Bad,
    Good(PageUrl<'a>),
}

/// What was found of an entry so far.
#[derive(Default)]
struct Parts<'a> {
    url: Address<'a>,
    is_indexable_said: bool,
    ai_indexable: Option<bool>,
    auth_required: Option<bool>,
    robots_directive: Option<Str<'a>>,
    removed: bool,
    is_doubtful: bool,
    lastmod: Option<Timestamp>,
    crawl_priority: Option<f64>,
    ai_summary: Option<Str<'a>>,
    ai_tags: Vec<Str<'a>>,
    ai_checksum: Option<Str<'a>>,
    ai_snapshot: Option<Object<'a>>,
    extra: Vec<Member<'a>>,
}

impl<'a> Parts<'a> {
    /// Takes one member. Of a name that stands there twice the last counts, as
    /// with most readers; of restrictions the stronger.
    fn take(&mut self, name: &Str<'a>, raw: &'a RawValue, is_again: bool, desk: &mut Desk<'_>) {
        if raw.get() == "null" && is_known(name) && &**name != "ai_indexable" {
            desk.report(&rules::NULL_MEMBER, name, String::new());
            return;
        }
        match &**name {
            "url" => self.take_url(raw, is_again, desk),
            "ai_indexable" => {
                let value = boolean(raw);
                if value.is_none() {
                    desk.report(&rules::INDEXABLE_FORM, name, quoted(raw.get()));
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
                None => self.doubt(name, raw, desk),
            },
            "removed" => match boolean(raw) {
                Some(value) => self.removed |= value,
                None => self.doubt(name, raw, desk),
            },
            "robots_directive" => match text(raw) {
                Some(value) => {
                    let joined = self
                        .robots_directive
                        .take()
                        .map(|before| Str::from(format!("{}, {}", before.into_string(), &*value)));
                    self.robots_directive = Some(joined.unwrap_or(value));
                }
                None => self.doubt(name, raw, desk),
            },
            "lastmod" => self.lastmod = time(raw, &rules::LASTMOD_FORM, name, desk),
            "crawl_priority" => self.crawl_priority = priority(raw, name, desk),
            "ai_summary" => self.ai_summary = said(raw, name, desk),
            "ai_tags" => self.ai_tags = tags(raw, name, desk),
            "ai_checksum" => {
                self.ai_checksum = said(raw, name, desk);
                if let Some(checksum) = self.ai_checksum.as_deref().filter(|it| !is_checksum(it)) {
                    desk.report(&rules::CHECKSUM_FORM, name, quoted(checksum));
                }
            }
            "ai_snapshot" => {
                self.ai_snapshot = Object::new(Raw::from(raw));
                if self.ai_snapshot.is_none() {
                    desk.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
                }
            }
            _ => self.take_other(name, raw, is_again, desk),
        }
    }

    /// A restriction that cannot be read is one all the same.
    fn doubt(&mut self, name: &str, raw: &RawValue, desk: &mut Desk<'_>) {
        self.is_doubtful = true;
        desk.report(&rules::RESTRICTION_FORM, name, quoted(raw.get()));
    }

    fn take_url(&mut self, raw: &'a RawValue, is_again: bool, desk: &mut Desk<'_>) {
        let Some(text) = text(raw) else {
            self.url = Address::Bad;
            return desk.report(&rules::URL_FORM, "url", quoted(raw.get()));
        };
        let shown = quoted(&text);
        match PageUrl::parse(text) {
            Ok(url) => {
                if !is_uri(url.as_str()) {
                    desk.report(&rules::URL_CHARACTERS, "url", shown);
                }
                // Of two addresses nobody can tell which is meant.
                let is_other = match &self.url {
                    Address::Missing => is_again,
                    Address::Bad => true,
                    Address::Good(first) => first.key() != url.key(),
                };
                self.url = if is_other { Address::Bad } else { Address::Good(url) };
            }
            Err(error) => {
                self.url = Address::Bad;
                let rule = match error {
                    UrlError::Syntax => &rules::URL_FORM,
                    _ => &rules::URL_NOT_A_PAGE,
                };
                desk.report(rule, "url", shown);
            }
        }
    }

    fn take_other(&mut self, name: &Str<'a>, raw: &'a RawValue, again: bool, desk: &mut Desk<'_>) {
        let value = Raw::from(raw);
        if again {
            let found = self.extra.iter_mut().find(|member| member.key == *name);
            if let Some(member) = found {
                member.value = value;
            }
            return;
        }
        if self.extra.len() == MOST_EXTRA {
            desk.report(&rules::TOO_MANY_MEMBERS, "", String::new());
        }
        // One more than is kept, so that it is said once.
        if self.extra.len() <= MOST_EXTRA {
            self.extra.push(Member { key: name.clone(), value });
        }
    }

    fn finish(mut self, desk: &mut Desk<'_>) -> Option<Entry<'a>> {
        if !self.is_indexable_said {
            desk.report(&rules::INDEXABLE_MISSING, "", String::new());
        }
        let url = match self.url {
            Address::Good(url) => url,
            Address::Bad => return None,
            Address::Missing => {
                desk.report(&rules::URL_MISSING, "", String::new());
                return None;
            }
        };
        self.extra.truncate(MOST_EXTRA);
        Some(Entry {
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

/// A value that is text.
pub(crate) fn text(raw: &RawValue) -> Option<Str<'_>> {
    serde_json::from_str(raw.get()).ok()
}

fn said<'a>(raw: &'a RawValue, name: &str, desk: &mut Desk<'_>) -> Option<Str<'a>> {
    let found = text(raw);
    if found.is_none() {
        desk.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
    }
    found
}

/// A time; a form that only we understand is taken, and reported.
fn time(raw: &RawValue, rule: &'static Rule, name: &str, desk: &mut Desk<'_>) -> Option<Timestamp> {
    let parsed = text(raw).and_then(|text| Timestamp::parse_lenient(&text).ok());
    if !matches!(parsed, Some((_, true))) {
        desk.report(rule, name, quoted(raw.get()));
    }
    parsed.map(|(time, _)| time)
}

fn priority(raw: &RawValue, name: &str, desk: &mut Desk<'_>) -> Option<f64> {
    if !raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        desk.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
        return None;
    }
    // A number too large for the machine is outside, too.
    let number = serde_json::from_str(raw.get()).ok().filter(|it| (0.0..=1.0).contains(it));
    if number.is_none() {
        desk.report(&rules::PRIORITY_RANGE, name, quoted(raw.get()));
    }
    number
}

/// The tags that are text, the first [`MOST_TAGS`] of them.
fn tags<'a>(raw: &'a RawValue, name: &str, desk: &mut Desk<'_>) -> Vec<Str<'a>> {
    struct TagsVisitor;
    /// The tags, the indices of what is none, and how many there are.
    type Found<'a> = (Vec<Str<'a>>, Vec<usize>, usize);
    impl<'de> Visitor<'de> for TagsVisitor {
        type Value = Found<'de>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Found<'de>, A::Error> {
            let (mut tags, mut bad, mut n) = (Vec::new(), Vec::new(), 0);
            while let Some(raw) = seq.next_element::<&'de RawValue>()? {
                match text(raw) {
                    Some(tag) if tags.len() < MOST_TAGS => tags.push(tag),
                    None if bad.len() < MOST_TAGS => bad.push(n),
                    _ => {}
                }
                n += 1;
            }
            Ok((tags, bad, n))
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    let Ok((tags, bad, n)) = deserializer.deserialize_seq(TagsVisitor) else {
        desk.report(&rules::MEMBER_FORM, name, quoted(raw.get()));
        return Vec::new();
    };
    for idx in bad {
        let place = Place { line: None, pointer: format!("{}/{name}/{idx}", desk.base) };
        desk.sink.report(Finding::new(&rules::TAG_FORM, place, ""));
    }
    if MOST_TAGS < n {
        desk.report(&rules::TOO_MANY_TAGS, name, format!("{n} of them"));
    }
    tags
}

/// Tells whether a text has only the characters of a URI (RFC 3986), escapes
/// included.
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
