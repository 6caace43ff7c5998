//! Reads lines as pages and repairs or drops what the specification allows a reader to repair or
//! drop.
//!
//! Input: a UTF-8 line from the collection reader. Output: a [`Page`], and findings about its
//! faults. The strict reader runs first and succeeds for most lines. If it fails, the tolerant
//! reader parses the members one by one, so that it can name the fault and its place.
//!
//! Rejects lines that are not JSON objects, pages without a required member, and nesting deeper
//! than [`PageReader::DEEPEST`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::block::{Block, TextBlock, UnknownBlock};
use crate::page::Page;
use crate::rules;
use crate::text::{CowStr, RawJson};
use crate::wire::{FieldFault, FieldValue, ObjectError, ObjectMembers, TolerantField};

/// Limits on the size of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// Maximum number of content blocks.
    pub blocks: usize,
    /// Maximum number of list items, table cells and members together. Counted only for pages of at
    /// least [`Self::COUNTED_FROM`] bytes, because smaller pages cannot exceed the memory limit.
    pub parts: usize,
}

impl PageLimits {
    /// Size in bytes from which on the parts of a page are counted.
    pub const COUNTED_FROM: usize = 1 << 20;

    /// 1000 blocks, the limit of the specification, and 400,000 parts, the limit of Rutter.
    ///
    /// A part needs up to 140 bytes (a table row with one cell), so that a parsed page needs at
    /// most 64 MB in addition to its text.
    pub const SPEC: Self = Self { blocks: 1000, parts: 400_000 };
}

/// Reads the page lines of one collection.
///
/// Use one reader per collection: it reports each unknown block type once.
#[derive(Debug)]
pub struct PageReader {
    limits: PageLimits,
    unknown_kinds: BTreeSet<String>,
    has_reported_international: bool,
}

/// The required members of a page, with the first byte of their JSON type.
const REQUIRED: [(&str, u8); 6] = [
    ("url", b'"'),
    ("title", b'"'),
    ("description", b'"'),
    ("modified", b'"'),
    ("language", b'"'),
    ("content", b'['),
];

impl PageReader {
    /// Maximum nesting of a line, including the page object itself.
    pub const DEEPEST: usize = 128;

    /// Maximum number of distinct unknown block types that are reported.
    const MOST_UNKNOWN: usize = 256;

    /// Creates a reader for one collection.
    pub fn new(limits: PageLimits) -> Self {
        Self { limits, unknown_kinds: BTreeSet::new(), has_reported_international: false }
    }

    /// Reads one line as a page.
    ///
    /// Returns `None` if the page is skipped; a finding gives the reason. Returns an error if the
    /// whole collection must be rejected.
    pub fn read<'a>(
        &mut self,
        line: &'a str,
        number: u64,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<Page<'a>>, Refusal> {
        let mut findings = LineFindings { number, sink };
        if self.has_too_many_parts(line) {
            check_required_members(line, &findings)?;
            findings.find(&rules::TOO_MANY_PARTS, "", format!("more than {}", self.limits.parts));
            return Ok(None);
        }
        let page = match serde_json::from_str::<Page<'a>>(line) {
            Ok(page) => page,
            Err(_) => match self.read_tolerantly(line, &mut findings)? {
                Some(page) => page,
                None => return Ok(None),
            },
        };
        if self.limits.blocks < page.content.len() {
            findings.too_many_blocks(page.content.len(), self.limits.blocks, page.url.as_str());
            return Ok(None);
        }
        self.report_oddities(&page, &mut findings);
        Ok(Some(page))
    }

    fn has_too_many_parts(&self, line: &str) -> bool {
        PageLimits::COUNTED_FROM < line.len() && self.limits.parts < scan(line).commas
    }

    /// Reports faults that do not prevent reading the page.
    fn report_oddities(&mut self, page: &Page<'_>, findings: &mut LineFindings<'_>) {
        if page.title.is_empty() {
            findings.find(&rules::EMPTY_TEXT, "/title", "");
        }
        if page.description.is_empty() {
            findings.find(&rules::EMPTY_TEXT, "/description", "");
        }
        if page.content.is_empty() {
            findings.find(&rules::EMPTY_CONTENT, "/content", quoted(page.url.as_str()));
        }
        if !page.language.is_regular() {
            findings.find(&rules::LANGUAGE_FORM, "/language", quoted(page.language.as_str()));
        }
        if !self.has_reported_international && page.url.host().contains("xn--") {
            self.has_reported_international = true;
            findings.find(&rules::INTERNATIONAL_HOST, "/url", quoted(page.url.host()));
        }
    }

    /// Reads a page whose line has a fault.
    fn read_tolerantly<'a>(
        &mut self,
        line: &'a str,
        findings: &mut LineFindings<'_>,
    ) -> Result<Option<Page<'a>>, Refusal> {
        let mut members = split_members(line).map_err(|_| findings.not_object(line))?;
        if Self::DEEPEST < nesting_depth(line) {
            let detail = format!("nested deeper than {}", Self::DEEPEST);
            return Err(findings.refuse(&rules::INVALID_JSON, "", detail));
        }
        let content = take_content(&mut members, findings)?;
        let Some(blocks) = self.blocks(content, findings)? else { return Ok(None) };

        let mut faults = Vec::new();
        let page = Page::from_members(members, &mut |fault| faults.push(fault));
        // Split the line at most once per member, even if a fault repeats.
        let mut values: BTreeMap<&'static str, String> = BTreeMap::new();
        for FieldFault { rule, key } in faults {
            let rule = if *rule == rules::BLOCK_FIELD { &rules::PAGE_FIELD } else { rule };
            let value = values.entry(key).or_insert_with(|| written(line, key));
            findings.find(rule, &format!("/{key}"), value.clone());
        }
        match page {
            Ok(page) => Ok(Some(Page { content: blocks, ..page })),
            Err(ObjectError::Member(FieldFault { rule, key })) => {
                findings.find(rule, &format!("/{key}"), written(line, key));
                Ok(None)
            }
            Err(ObjectError::NotJson) => {
                Err(findings.refuse(&rules::INVALID_JSON, "", "bad escape"))
            }
        }
    }

    /// Reads the blocks one by one; returns `None` if there are too many.
    fn blocks<'a>(
        &mut self,
        content: &'a RawValue,
        findings: &mut LineFindings<'_>,
    ) -> Result<Option<Vec<Block<'a>>>, Refusal> {
        let raws: Vec<&'a RawValue> =
            serde_json::from_str(content.get()).map_err(|error| findings.not_json(&error))?;
        if self.limits.blocks < raws.len() {
            findings.too_many_blocks(raws.len(), self.limits.blocks, "");
            return Ok(None);
        }
        let mut blocks = Vec::with_capacity(raws.len());
        for (block_idx, raw) in raws.into_iter().enumerate() {
            blocks.extend(self.block(raw, block_idx, findings)?);
        }
        Ok(Some(blocks))
    }

    /// Reads one block; returns `None` if it is dropped.
    fn block<'a>(
        &mut self,
        raw: &'a RawValue,
        block_idx: usize,
        findings: &mut LineFindings<'_>,
    ) -> Result<Option<Block<'a>>, Refusal> {
        let at = |key: &str| {
            if key.is_empty() {
                format!("/content/{block_idx}")
            } else {
                format!("/content/{block_idx}/{key}")
            }
        };
        let Ok(mut members) = split_members(raw.get()) else {
            findings.find(&rules::BLOCK_WITHOUT_TYPE, &at(""), "");
            return Ok(None);
        };
        let mut kind = None;
        members.retain(|(key, value)| {
            let is_kind = &**key == "type";
            if is_kind && kind.replace(*value).is_some() {
                findings.find(&rules::DUPLICATE_MEMBER, &at("type"), "");
            }
            !is_kind
        });
        let kind = match kind.map(|raw| CowStr::read(raw.get())) {
            Some(FieldValue::Valid(kind)) => kind,
            Some(FieldValue::NotJson) => {
                return Err(findings.refuse(&rules::INVALID_JSON, &at("type"), ""));
            }
            _ => {
                findings.find(&rules::BLOCK_WITHOUT_TYPE, &at(""), "");
                return Ok(None);
            }
        };
        let link_text = (&*kind == "link").then(|| find(&members, "text")).flatten();
        let mut faults = Vec::new();
        let block = Block::from_members(&kind, members, &mut |fault| faults.push(fault));
        for FieldFault { rule, key } in faults {
            findings.find(rule, &at(key), "");
        }
        match block {
            None => {
                self.report_unknown(&kind, &at("type"), findings);
                Ok(Some(Block::Unknown(UnknownBlock { kind, raw: RawJson::from(raw) })))
            }
            Some(Ok(block)) => Ok(Some(block)),
            Some(Err(ObjectError::NotJson)) => {
                Err(findings.refuse(&rules::INVALID_JSON, &at(""), "bad escape"))
            }
            Some(Err(ObjectError::Member(FieldFault { rule, key }))) => {
                findings.find(rule, &at(key), format!("{} block dropped", quoted(&kind)));
                // Keep the text of a link with an invalid URL.
                let text = link_text.filter(|_| *rule == rules::BLOCK_URL);
                Ok(text.map(|text| Block::Text(TextBlock { text, extra: Vec::new() })))
            }
        }
    }

    fn report_unknown(&mut self, kind: &str, at: &str, findings: &mut LineFindings<'_>) {
        let rule = if kind == "structured" { &rules::FOREIGN_BLOCK } else { &rules::UNKNOWN_BLOCK };
        let shown = quoted(kind);
        if self.unknown_kinds.len() < Self::MOST_UNKNOWN && self.unknown_kinds.insert(shown.clone())
        {
            let detail = if kind == "structured" { String::new() } else { shown };
            findings.find(rule, at, detail);
        }
    }
}

/// Checks that every required member is present and has the right JSON type, and takes `content`
/// out of the members.
fn take_content<'a>(
    members: &mut ObjectMembers<'a>,
    findings: &mut LineFindings<'_>,
) -> Result<&'a RawValue, Refusal> {
    for (name, first_byte) in REQUIRED {
        let last = members.iter().rfind(|(key, _)| &**key == name);
        findings.require(name, first_byte, last.map(|(_, raw)| *raw))?;
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

/// Reports findings about one line.
struct LineFindings<'s> {
    number: u64,
    sink: &'s mut dyn FindingSink,
}

impl LineFindings<'_> {
    fn find(&mut self, rule: &'static Rule, pointer: &str, detail: impl Into<String>) {
        self.sink.report(Finding::new(rule, Place::pointer(self.number, pointer), detail));
    }

    fn refuse(&self, rule: &'static Rule, pointer: &str, detail: impl Into<String>) -> Refusal {
        Refusal::new(rule, Place::pointer(self.number, pointer), detail)
    }

    fn not_json(&self, error: &serde_json::Error) -> Refusal {
        self.refuse(&rules::INVALID_JSON, "", syntax_detail(error))
    }

    /// Returns the refusal of a line that is not an object: invalid JSON, or another value.
    fn not_object(&self, line: &str) -> Refusal {
        match serde_json::from_str::<IgnoredAny>(line) {
            Ok(_) => self.refuse(&rules::NOT_AN_OBJECT, "", ""),
            Err(error) => self.not_json(&error),
        }
    }

    /// Returns an error if a required member is missing or has the wrong type.
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

/// Formats a JSON error with its column, and without its line number, which is always 1.
fn syntax_detail(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let (what, _) = message.split_once(" at line ").unwrap_or((&message, ""));
    format!("{what} at column {}", error.column())
}

/// Returns the quoted value of a member, for a message.
fn written(line: &str, name: &str) -> String {
    let members = split_members(line).unwrap_or_default();
    let found = members.iter().rfind(|(key, _)| &**key == name);
    found.map_or_else(String::new, |(_, raw)| quoted(raw.get()))
}

fn find<'a>(members: &ObjectMembers<'a>, name: &str) -> Option<CowStr<'a>> {
    let (_, raw) = members.iter().rfind(|(key, _)| &**key == name)?;
    serde_json::from_str(raw.get()).ok()
}

/// Splits a JSON object into its members, without parsing their values.
pub fn split_members(text: &str) -> Result<ObjectMembers<'_>, serde_json::Error> {
    struct MembersVisitor;
    impl<'de> Visitor<'de> for MembersVisitor {
        type Value = ObjectMembers<'de>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = ObjectMembers::new();
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

/// Checks for fatal faults of a page without parsing its values.
fn check_required_members(line: &str, findings: &LineFindings<'_>) -> Result<(), Refusal> {
    /// Collects the unparsed required members and skips the others.
    struct RequiredVisitor;
    impl<'de> Visitor<'de> for RequiredVisitor {
        type Value = [Option<&'de RawValue>; REQUIRED.len()];
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = [None; REQUIRED.len()];
            while let Some(key) = map.next_key::<CowStr<'de>>()? {
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
    let found =
        deserializer.deserialize_map(RequiredVisitor).map_err(|_| findings.not_object(line))?;
    deserializer.end().map_err(|error| findings.not_json(&error))?;
    for ((name, first_byte), raw) in REQUIRED.into_iter().zip(found) {
        findings.require(name, first_byte, raw)?;
    }
    Ok(())
}

/// Returns the maximum nesting of arrays and objects in a JSON text.
pub fn nesting_depth(text: &str) -> usize {
    scan(text).deepest
}

/// The nesting and number of commas of a JSON text.
struct NestingScan {
    deepest: usize,
    /// Commas outside of strings.
    commas: usize,
}

fn scan(text: &str) -> NestingScan {
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
    NestingScan { deepest, commas }
}
