//! A table: the 32 `data-ai-*` attributes of ARC 2.1, and what they do.

/// What an attribute is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Identity of the page.
    Page,
    /// A part, with its level: section 1, group 2, subgroup 3, block 4.
    Part(u8),
    /// Its text becomes a member.
    Text,
    /// An input.
    Field,
    /// The label of an input.
    Label,
    /// A picture, film or sound.
    Media,
    /// Becomes a member of what it stands on, under this name.
    Meta(&'static str),
}

/// All names without prefix.
pub(super) const NAMES: [(&str, Role); 32] = [
    ("page", Role::Page),
    ("section", Role::Part(1)),
    ("group", Role::Part(2)),
    ("subgroup", Role::Part(3)),
    ("block", Role::Part(4)),
    ("heading", Role::Text),
    ("summary", Role::Text),
    ("field", Role::Field),
    ("label", Role::Label),
    ("media", Role::Media),
    ("content", Role::Text),
    ("type", Role::Meta("type")),
    ("status", Role::Meta("status")),
    ("context", Role::Meta("context")),
    ("category", Role::Meta("category")),
    ("visibility", Role::Meta("visibility")),
    ("link", Role::Meta("link")),
    ("ref", Role::Meta("ref")),
    ("depends", Role::Meta("depends_on")),
    ("rel", Role::Meta("rel")),
    ("source", Role::Meta("source")),
    ("intent", Role::Meta("intent")),
    ("purpose", Role::Meta("purpose")),
    ("scope", Role::Meta("scope")),
    ("mode", Role::Meta("mode")),
    ("behavior", Role::Meta("behavior")),
    ("event", Role::Meta("event")),
    ("trigger", Role::Meta("trigger")),
    ("state", Role::Meta("state")),
    ("action", Role::Meta("action")),
    ("transition", Role::Meta("transition")),
    ("role", Role::Meta("role")),
];

/// What a page may say of its own entry; no part of a snapshot.
pub(super) const FLAGS: [&str; 4] =
    ["indexable", "auth-required", "robots-directive", "crawl-priority"];

/// Members that a text cannot be called.
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

/// Tells whether a member of this name means something else already.
fn is_reserved(name: &str) -> bool {
    let is_meta = |(_, role): &(&str, Role)| matches!(role, Role::Meta(known) if *known == name);
    RESERVED.contains(&name)
        || matches!(name, "marks" | "withheld" | "truncated" | "of")
        || NAMES.iter().any(is_meta)
}

/// Contexts that mark what must be treated with care.
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

/// The words of a context that mark something to be treated with care, in
/// lower case.
pub(crate) fn sensitive_words(context: &str) -> impl Iterator<Item = &'static str> {
    let words = context.split(|c: char| !c.is_alphanumeric());
    words.filter_map(|word| SENSITIVE.into_iter().find(|known| known.eq_ignore_ascii_case(word)))
}

/// The name of the member that holds a text.
pub(super) fn text_key(kind: &str, value: &str) -> String {
    let value = value.trim();
    match (value, kind) {
        ("", "heading") => "title".to_owned(),
        ("", kind) => kind.to_owned(),
        (value, _) if is_reserved(value) => format!("{value}_text"),
        (value, _) => value.to_owned(),
    }
}

/// The attribute that opens a part of this level.
pub(super) fn level_name(level: u8) -> &'static str {
    match level {
        1 => "data-ai-section",
        2 => "data-ai-group",
        3 => "data-ai-subgroup",
        _ => "data-ai-block",
    }
}

/// One space for every white space.
pub(super) fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The last part of an address's path without ending; `home` for none.
pub(super) fn last_segment(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let path = path.split_once('/').map_or("", |(_, path)| path).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let stem = if stem == "index" { path.rsplit('/').nth(1).unwrap_or_default() } else { stem };
    if stem.is_empty() { "home".to_owned() } else { stem.to_owned() }
}
