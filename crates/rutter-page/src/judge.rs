//! Reads one line as a page: takes the perfect as it is, mends or drops what
//! the specification lets a reader mend or drop, refuses the rest.
//!
//! Lines come from the collection reader, already cut and known to be UTF-8.
//! The typed reader runs first and is the common case. Only when it fails does
//! the line go to the tolerant road, which keeps every value unread until it is
//! wanted and can therefore name what is wrong and where.
//!
//! Refuses: lines that are not JSON objects, pages without their required
//! members, nesting beyond [`Judge::DEEPEST`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::block::{Block, Text, Unknown};
use crate::page::Page;
use crate::rules;
use crate::text::{Raw, Str};
use crate::wire::{Fault, Field, Lost, Members, Read};

/// How much of a page we are willing to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// Content blocks per page.
    pub blocks: usize,
    /// List items, cells and members per page, counted only on pages larger
    /// than [`Self::COUNTED_FROM`]; smaller ones cannot hold enough to matter.
    pub parts: usize,
}

impl PageLimits {
    /// Pages below this many bytes are never counted.
    pub const COUNTED_FROM: usize = 1 << 20;

    /// 1000 blocks (the specification), 400,000 parts (ours): a part costs up
    /// to 140 bytes, a table cell in a row of its own, so that what is built
    /// of a page stays below 64 MB above the page's own text.
    pub const SPEC: Self = Self { blocks: 1000, parts: 400_000 };
}

/// Reads the page lines of one collection.
///
/// One judge per collection: it reports an unknown block type once.
#[derive(Debug)]
pub struct Judge {
    limits: PageLimits,
    unknown_kinds: BTreeSet<String>,
    has_met_international: bool,
}

/// Members a page must have, and the first byte of their JSON type.
const REQUIRED: [(&str, u8); 6] = [
    ("url", b'"'),
    ("title", b'"'),
    ("description", b'"'),
    ("modified", b'"'),
    ("language", b'"'),
    ("content", b'['),
];

impl Judge {
    /// Deepest nesting of a line, the page object itself included.
    pub const DEEPEST: usize = 128;

    /// Distinct unknown block types that are reported; more are only kept.
    const MOST_UNKNOWN: usize = 256;

    /// A judge for one collection.
    pub fn new(limits: PageLimits) -> Self {
        Self { limits, unknown_kinds: BTreeSet::new(), has_met_international: false }
    }

    /// Reads a page; `None` where it is skipped, with a finding that says why.
    pub fn read<'a>(
        &mut self,
        line: &'a str,
        number: u64,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<Page<'a>>, Refusal> {
        let mut desk = Desk { number, sink };
        if self.has_too_many_parts(line) {
            outline(line, &desk)?;
            desk.find(&rules::TOO_MANY_PARTS, "", format!("more than {}", self.limits.parts));
            return Ok(None);
        }
        let page = match serde_json::from_str::<Page<'a>>(line) {
            Ok(page) => page,
            Err(_) => match self.mend(line, &mut desk)? {
                Some(page) => page,
                None => return Ok(None),
            },
        };
        if self.limits.blocks < page.content.len() {
            desk.too_many_blocks(page.content.len(), self.limits.blocks, page.url.as_str());
            return Ok(None);
        }
        self.look_over(&page, &mut desk);
        Ok(Some(page))
    }

    fn has_too_many_parts(&self, line: &str) -> bool {
        PageLimits::COUNTED_FROM < line.len() && self.limits.parts < scan(line).commas
    }

    /// What is worth saying of a page that could be read.
    fn look_over(&mut self, page: &Page<'_>, desk: &mut Desk<'_>) {
        if page.title.is_empty() {
            desk.find(&rules::EMPTY_TEXT, "/title", "");
        }
        if page.description.is_empty() {
            desk.find(&rules::EMPTY_TEXT, "/description", "");
        }
        if page.content.is_empty() {
            desk.find(&rules::EMPTY_CONTENT, "/content", quoted(page.url.as_str()));
        }
        if !page.language.is_regular() {
            desk.find(&rules::LANGUAGE_FORM, "/language", quoted(page.language.as_str()));
        }
        if !self.has_met_international && page.url.host().contains("xn--") {
            self.has_met_international = true;
            desk.find(&rules::INTERNATIONAL_HOST, "/url", quoted(page.url.host()));
        }
    }

    /// The tolerant road.
    fn mend<'a>(
        &mut self,
        line: &'a str,
        desk: &mut Desk<'_>,
    ) -> Result<Option<Page<'a>>, Refusal> {
        let mut members = members(line).map_err(|_| desk.not_object(line))?;
        if Self::DEEPEST < nesting(line) {
            let detail = format!("nested deeper than {}", Self::DEEPEST);
            return Err(desk.refuse(&rules::INVALID_JSON, "", detail));
        }
        let content = take_content(&mut members, desk)?;
        let Some(blocks) = self.blocks(content, desk)? else { return Ok(None) };

        let mut faults = Vec::new();
        let page = Page::from_members(members, &mut |fault| faults.push(fault));
        // The line is split once per member, however often a fault repeats.
        let mut values: BTreeMap<&'static str, String> = BTreeMap::new();
        for Fault { rule, key } in faults {
            let rule = if *rule == rules::BLOCK_FIELD { &rules::PAGE_FIELD } else { rule };
            let value = values.entry(key).or_insert_with(|| written(line, key));
            desk.find(rule, &format!("/{key}"), value.clone());
        }
        match page {
            Ok(page) => Ok(Some(Page { content: blocks, ..page })),
            Err(Lost::Member(Fault { rule, key })) => {
                desk.find(rule, &format!("/{key}"), written(line, key));
                Ok(None)
            }
            Err(Lost::Broken) => Err(desk.refuse(&rules::INVALID_JSON, "", "bad escape")),
        }
    }

    /// Reads the blocks one by one; `None` where there are too many.
    fn blocks<'a>(
        &mut self,
        content: &'a RawValue,
        desk: &mut Desk<'_>,
    ) -> Result<Option<Vec<Block<'a>>>, Refusal> {
        let raws: Vec<&'a RawValue> =
            serde_json::from_str(content.get()).map_err(|error| desk.not_json(&error))?;
        if self.limits.blocks < raws.len() {
            desk.too_many_blocks(raws.len(), self.limits.blocks, "");
            return Ok(None);
        }
        let mut blocks = Vec::with_capacity(raws.len());
        for (block_idx, raw) in raws.into_iter().enumerate() {
            blocks.extend(self.block(raw, block_idx, desk)?);
        }
        Ok(Some(blocks))
    }

    /// Reads one block; `None` where it is dropped.
    fn block<'a>(
        &mut self,
        raw: &'a RawValue,
        block_idx: usize,
        desk: &mut Desk<'_>,
    ) -> Result<Option<Block<'a>>, Refusal> {
        let at = |key: &str| {
            if key.is_empty() {
                format!("/content/{block_idx}")
            } else {
                format!("/content/{block_idx}/{key}")
            }
        };
        let Ok(mut members) = members(raw.get()) else {
            desk.find(&rules::BLOCK_WITHOUT_TYPE, &at(""), "");
            return Ok(None);
        };
        let mut kind = None;
        members.retain(|(key, value)| {
            let is_kind = &**key == "type";
            if is_kind && kind.replace(*value).is_some() {
                desk.find(&rules::DUPLICATE_MEMBER, &at("type"), "");
            }
            !is_kind
        });
        let kind = match kind.map(|raw| Str::read(raw.get())) {
            Some(Read::Good(kind)) => kind,
            Some(Read::Broken) => return Err(desk.refuse(&rules::INVALID_JSON, &at("type"), "")),
            _ => {
                desk.find(&rules::BLOCK_WITHOUT_TYPE, &at(""), "");
                return Ok(None);
            }
        };
        let link_text = (&*kind == "link").then(|| find(&members, "text")).flatten();
        let mut faults = Vec::new();
        let block = Block::from_members(&kind, members, &mut |fault| faults.push(fault));
        for Fault { rule, key } in faults {
            desk.find(rule, &at(key), "");
        }
        match block {
            None => {
                self.report_unknown(&kind, &at("type"), desk);
                Ok(Some(Block::Unknown(Unknown { kind, raw: Raw::from(raw) })))
            }
            Some(Ok(block)) => Ok(Some(block)),
            Some(Err(Lost::Broken)) => {
                Err(desk.refuse(&rules::INVALID_JSON, &at(""), "bad escape"))
            }
            Some(Err(Lost::Member(Fault { rule, key }))) => {
                desk.find(rule, &at(key), format!("{} block dropped", quoted(&kind)));
                // The text of a link with a bad address is still text.
                let text = link_text.filter(|_| *rule == rules::BLOCK_URL);
                Ok(text.map(|text| Block::Text(Text { text, extra: Vec::new() })))
            }
        }
    }

    fn report_unknown(&mut self, kind: &str, at: &str, desk: &mut Desk<'_>) {
        let rule = if kind == "structured" { &rules::FOREIGN_BLOCK } else { &rules::UNKNOWN_BLOCK };
        let shown = quoted(kind);
        if self.unknown_kinds.len() < Self::MOST_UNKNOWN && self.unknown_kinds.insert(shown.clone())
        {
            let detail = if kind == "structured" { String::new() } else { shown };
            desk.find(rule, at, detail);
        }
    }
}

/// Takes `content` out, after every required member was seen to be there and
/// of the right JSON type: a missing one is fatal, whatever else is wrong.
fn take_content<'a>(
    members: &mut Members<'a>,
    desk: &mut Desk<'_>,
) -> Result<&'a RawValue, Refusal> {
    for (name, first_byte) in REQUIRED {
        let last = members.iter().rfind(|(key, _)| &**key == name);
        desk.require(name, first_byte, last.map(|(_, raw)| *raw))?;
    }
    let nothing: &'static RawValue = serde_json::from_str("[]").expect("two brackets are JSON");
    let mut content = nothing;
    for (key, raw) in members.iter_mut() {
        if &**key == "content" {
            content = std::mem::replace(raw, nothing);
        }
    }
    Ok(content)
}

/// Where findings about one line are written down.
struct Desk<'s> {
    number: u64,
    sink: &'s mut dyn FindingSink,
}

impl Desk<'_> {
    fn find(&mut self, rule: &'static Rule, pointer: &str, detail: impl Into<String>) {
        self.sink.report(Finding::new(rule, Place::pointer(self.number, pointer), detail));
    }

    fn refuse(&self, rule: &'static Rule, pointer: &str, detail: impl Into<String>) -> Refusal {
        Refusal::new(rule, Place::pointer(self.number, pointer), detail)
    }

    fn not_json(&self, error: &serde_json::Error) -> Refusal {
        self.refuse(&rules::INVALID_JSON, "", syntax_detail(error))
    }

    /// Why a line is no object: it is not even JSON, or it is another value.
    fn not_object(&self, line: &str) -> Refusal {
        match serde_json::from_str::<IgnoredAny>(line) {
            Ok(_) => self.refuse(&rules::NOT_AN_OBJECT, "", ""),
            Err(error) => self.not_json(&error),
        }
    }

    /// Refuses a page whose required member is missing or of another type.
    fn require(&self, name: &str, first_byte: u8, raw: Option<&RawValue>) -> Result<(), Refusal> {
        let Some(raw) = raw else {
            return Err(self.refuse(&rules::PAGE_FIELD_MISSING, "", format!("`{name}`")));
        };
        if raw.get().as_bytes().first() != Some(&first_byte) {
            return Err(self.refuse(&rules::PAGE_FIELD_TYPE, &format!("/{name}"), ""));
        }
        Ok(())
    }

    fn too_many_blocks(&mut self, n_blocks: usize, limit: usize, url: &str) {
        let named = if url.is_empty() { String::new() } else { format!(" on {}", quoted(url)) };
        let detail = format!("{n_blocks} blocks{named}, at most {limit}");
        self.find(&rules::TOO_MANY_BLOCKS, "/content", detail);
    }
}

/// What `serde_json` says of a line, with the column but without the line
/// number, which is always 1 for it.
fn syntax_detail(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let (what, _) = said.split_once(" at line ").unwrap_or((&said, ""));
    format!("{what} at column {}", error.column())
}

/// A member's value as it stands in the line, to be shown.
fn written(line: &str, name: &str) -> String {
    let members = members(line).unwrap_or_default();
    let found = members.iter().rfind(|(key, _)| &**key == name);
    found.map_or_else(String::new, |(_, raw)| quoted(raw.get()))
}

fn find<'a>(members: &Members<'a>, name: &str) -> Option<Str<'a>> {
    let (_, raw) = members.iter().rfind(|(key, _)| &**key == name)?;
    serde_json::from_str(raw.get()).ok()
}

/// Splits a JSON object into its members, values unread.
pub fn members(text: &str) -> Result<Members<'_>, serde_json::Error> {
    struct MembersVisitor;
    impl<'de> Visitor<'de> for MembersVisitor {
        type Value = Members<'de>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Members::new();
            while let Some(entry) = map.next_entry()? {
                members.push(entry);
            }
            Ok(members)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let members = deserializer.deserialize_map(MembersVisitor)?;
    deserializer.end()?;
    Ok(members)
}

/// Refuses what is fatal about a page without building any of it.
fn outline(line: &str, desk: &Desk<'_>) -> Result<(), Refusal> {
    /// The required members, unread; nothing else is kept.
    struct Outline;
    impl<'de> Visitor<'de> for Outline {
        type Value = [Option<&'de RawValue>; REQUIRED.len()];
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = [None; REQUIRED.len()];
            while let Some(key) = map.next_key::<Str<'de>>()? {
                let at = REQUIRED.iter().position(|(name, _)| *name == &*key);
                match at.and_then(|at| found.get_mut(at)) {
                    Some(slot) => *slot = Some(map.next_value()?),
                    None => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            Ok(found)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let found = deserializer.deserialize_map(Outline).map_err(|_| desk.not_object(line))?;
    deserializer.end().map_err(|error| desk.not_json(&error))?;
    for ((name, first_byte), raw) in REQUIRED.into_iter().zip(found) {
        desk.require(name, first_byte, raw)?;
    }
    Ok(())
}

/// Deepest nesting of arrays and objects in a JSON text.
pub fn nesting(text: &str) -> usize {
    scan(text).deepest
}

/// What a look at the punctuation of a JSON text tells.
struct Scan {
    deepest: usize,
    /// Commas outside strings: how many values stand side by side.
    commas: usize,
}

fn scan(text: &str) -> Scan {
    let (mut depth, mut deepest, mut commas) = (0_usize, 0, 0);
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        if is_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => commas += 1,
            _ => {}
        }
    }
    Scan { deepest, commas }
}
