//! Table of the 32 `data-ai-*` attributes of ARC 2.1 and their effect.

/// Effect of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributeRole {
    /// Identifies the page.
    Page,
    /// Opens a part; holds its level: section 1, group 2, subgroup 3, block 4.
    Part(u8),
    /// Exports the text of the element as a member of the snapshot.
    Text,
    /// Marks an input element.
    Field,
    /// Marks the label of an input element.
    Label,
    /// Marks an image, video or audio element.
    Media,
    /// Becomes a member with this name.
    Meta(&'static str),
}

/// All 32 attribute names without the prefix `data-ai-`, with their roles.
pub(super) const NAMES: [(&str, AttributeRole); 32] = [
    ("page", AttributeRole::Page),
    ("section", AttributeRole::Part(1)),
    ("group", AttributeRole::Part(2)),
    ("subgroup", AttributeRole::Part(3)),
    ("block", AttributeRole::Part(4)),
    ("heading", AttributeRole::Text),
    ("summary", AttributeRole::Text),
    ("field", AttributeRole::Field),
    ("label", AttributeRole::Label),
    ("media", AttributeRole::Media),
    ("content", AttributeRole::Text),
    ("type", AttributeRole::Meta("type")),
    ("status", AttributeRole::Meta("status")),
    ("context", AttributeRole::Meta("context")),
    ("category", AttributeRole::Meta("category")),
    ("visibility", AttributeRole::Meta("visibility")),
    ("link", AttributeRole::Meta("link")),
    ("ref", AttributeRole::Meta("ref")),
    ("depends", AttributeRole::Meta("depends_on")),
    ("rel", AttributeRole::Meta("rel")),
    ("source", AttributeRole::Meta("source")),
    ("intent", AttributeRole::Meta("intent")),
    ("purpose", AttributeRole::Meta("purpose")),
    ("scope", AttributeRole::Meta("scope")),
    ("mode", AttributeRole::Meta("mode")),
    ("behavior", AttributeRole::Meta("behavior")),
    ("event", AttributeRole::Meta("event")),
    ("trigger", AttributeRole::Meta("trigger")),
    ("state", AttributeRole::Meta("state")),
    ("action", AttributeRole::Meta("action")),
    ("transition", AttributeRole::Meta("transition")),
    ("role", AttributeRole::Meta("role")),
];

/// Attributes that belong to the entry of a page and are not part of a snapshot.
pub(super) const FLAGS: [&str; 4] =
    ["indexable", "auth-required", "robots-directive", "crawl-priority"];

/// Member names that an exported text must not use.
const RESERVED: [&str; 16] = [
    "name",
    "page",
    "page_inferred",
    "url",
    "language",
    "tags",
    "ai_context",
    "sections",
    "groups",
    "subgroups",
    "blocks",
    "fields",
    "actions",
    "media",
    "links",
    "linked",
];

/// Returns whether a member name is reserved.
fn is_reserved(name: &str) -> bool {
    let is_meta = |(_, role): &(&str, AttributeRole)| matches!(role, AttributeRole::Meta(known) if *known == name);
    RESERVED.contains(&name)
        || matches!(name, "marks" | "withheld" | "truncated" | "of")
        || NAMES.iter().any(is_meta)
}

/// Values of `data-ai-context` that mark sensitive data.
const SENSITIVE: [&str; 8] = [
    "billing",
    "confidential",
    "financial",
    "health",
    "medical",
    "personal",
    "private",
    "sensitive",
];

/// Returns the sensitive contexts in the value of `data-ai-context`, in lower case.
pub(crate) fn sensitive_words(context: &str) -> impl Iterator<Item = &'static str> {
    let words = context.split(|c: char| !c.is_alphanumeric());
    words.filter_map(|word| SENSITIVE.into_iter().find(|known| known.eq_ignore_ascii_case(word)))
}

/// Returns the name of the member that contains an exported text.
pub(super) fn text_key(kind: &str, value: &str) -> String {
    let value = value.trim();
    match (value, kind) {
        ("", "heading") => "title".to_owned(),
        ("", kind) => kind.to_owned(),
        (value, _) if is_reserved(value) => format!("{value}_text"),
        (value, _) => value.to_owned(),
    }
}

/// Returns the attribute that opens a part of this level.
pub(super) fn level_name(level: u8) -> &'static str {
    match level {
        1 => "data-ai-section",
        2 => "data-ai-group",
        3 => "data-ai-subgroup",
        _ => "data-ai-block",
    }
}

/// Replaces each sequence of white space with one space.
pub(super) fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the last path segment of a URL without its extension; `home` if there is none.
pub(super) fn last_segment(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let path = path.split_once('/').map_or("", |(_, path)| path).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let stem = if stem == "index" { path.rsplit('/').nth(1).unwrap_or_default() } else { stem };
    if stem.is_empty() { "home".to_owned() } else { stem.to_owned() }
}
