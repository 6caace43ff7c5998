//! Converts a snapshot into prose. A property test checks that every part, field and action is
//! named.

use rutter_page::JsonTree;

/// Members that have a sentence of their own in the prose.
const HANDLED: [&str; 21] = [
    "page",
    "page_inferred",
    "name",
    "title",
    "summary",
    "url",
    "language",
    "tags",
    "ai_context",
    "truncated",
    "media",
    "fields",
    "actions",
    "links",
    "marks",
    "withheld",
    "linked",
    "blocks",
    "sections",
    "groups",
    "subgroups",
];

/// Members that describe a part or field, in the order of the specification.
const FACTS: [&str; 21] = [
    "type",
    "status",
    "context",
    "category",
    "visibility",
    "link",
    "ref",
    "depends_on",
    "rel",
    "source",
    "intent",
    "purpose",
    "scope",
    "mode",
    "behavior",
    "event",
    "trigger",
    "state",
    "action",
    "transition",
    "role",
];

pub(super) fn narrate(snapshot: &JsonTree) -> String {
    let mut prose = NarrativeText { out: String::new() };
    let name = said(snapshot, "page");
    match said(snapshot, "title") {
        "" => prose.say(&format!("This is the page {name}")),
        title => prose.say(&format!("This is the page {name}, titled \"{title}\"")),
    }
    match said(snapshot, "url") {
        "" => {}
        url => prose.say(&format!("Its address is {url}")),
    }
    prose.say(said(snapshot, "summary"));
    let words = |name: &str| -> Vec<&str> {
        snapshot
            .get(name)
            .map_or(&[][..], JsonTree::items)
            .iter()
            .filter_map(JsonTree::as_str)
            .collect()
    };
    let tags = words("tags");
    if !tags.is_empty() {
        prose.say(&format!("Its topics are {}", joined(&tags)));
    }
    let contexts = words("ai_context");
    if !contexts.is_empty() {
        prose.say(&format!("It deals with {} data", joined(&contexts)));
    }
    prose.part(snapshot);
    prose.out.push('\n');
    prose.out
}

struct NarrativeText {
    out: String,
}

impl NarrativeText {
    /// Adds a sentence to the prose.
    fn say(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push(' ');
        }
        self.out.push_str(text);
        if !text.ends_with(['.', '!', '?']) {
            self.out.push('.');
        }
    }

    /// Adds the sentences of a part, then those of the parts inside it.
    fn part(&mut self, part: &JsonTree) {
        let facts = facts(part, &[]);
        if !facts.is_empty() {
            self.say(&format!("It has {}", facts.join(", ")));
        }
        for (name, value) in part.members() {
            let is_told = HANDLED.contains(&name.as_str()) || FACTS.contains(&name.as_str());
            // The title and summary of the page were written already; those of another part were
            // not.
            let is_own = part.get("page").is_none() && matches!(name.as_str(), "title" | "summary");
            if is_told && !is_own {
                continue;
            }
            let texts = std::iter::once(value).chain(value.items()).filter_map(JsonTree::as_str);
            for text in texts {
                self.say(&format!("{}: {text}", spoken(name)));
            }
        }
        for (target, found) in part.get("linked").map_or(&[][..], JsonTree::members) {
            let found = found.as_str().unwrap_or_default();
            self.say(&format!("Its link {target} leads to {found}"));
        }
        self.media(part.get("media"));
        for field in list(part, "fields") {
            self.field(field);
        }
        for action in list(part, "actions") {
            self.action(action);
        }
        for link in list(part, "links") {
            let (name, title, url) = (named(link, "name"), said(link, "title"), said(link, "url"));
            let title = if title.is_empty() { String::new() } else { format!(", \"{title}\"") };
            let url = if url.is_empty() { String::new() } else { format!(", at {url}") };
            self.say(&format!("It links to {name}{title}{url}{}", more(link, &["link"])));
        }
        for mark in list(part, "marks") {
            let of = named(mark, "of");
            let of = if of.is_empty() { "Something on it" } else { of };
            match facts_of(mark).as_str() {
                "" => self.say(&format!("{of} is marked")),
                facts => self.say(&format!("{of} has {facts}")),
            }
        }
        let withheld = list(part, "withheld");
        if !withheld.is_empty() {
            let names: Vec<&str> = withheld.iter().filter_map(JsonTree::as_str).collect();
            self.say(&format!("Withheld for privacy: {}", joined(&names)));
        }
        let mine = if part.get("page").is_some() { "page" } else { said(part, "name") };
        for (plural, kind) in [
            ("blocks", "block"),
            ("sections", "section"),
            ("groups", "group"),
            ("subgroups", "subgroup"),
        ] {
            for inner in list(part, plural) {
                self.out.push_str("\n\n");
                let name = named(inner, "name");
                let owner =
                    if mine == "page" { String::new() } else { format!(", part of {mine}") };
                self.say(&format!("The {kind} {name}{owner}"));
                self.part(inner);
            }
        }
    }

    fn media(&mut self, media: Option<&JsonTree>) {
        match media {
            None => {}
            Some(JsonTree::Text(url)) => self.say(&format!("It shows {url}")),
            Some(many) => {
                for one in listed(many) {
                    let (name, alt, url) = (named(one, "name"), said(one, "alt"), said(one, "url"));
                    let alt = if alt.is_empty() { String::new() } else { format!(", \"{alt}\"") };
                    let url = if url.is_empty() { String::new() } else { format!(", at {url}") };
                    self.say(&format!("It shows {name}{alt}{url}"));
                }
            }
        }
    }

    fn field(&mut self, field: &JsonTree) {
        // Some writers put only the name here, as in E.3.1; others use another key for it.
        let name = named(field, "field");
        let name = if name.is_empty() { said(field, "name") } else { name };
        let label = said(field, "label");
        let label = if label.is_empty() { String::new() } else { format!(", \"{label}\"") };
        let is_required = field.get("required") == Some(&JsonTree::Bool(true));
        let must = if is_required { ", which must be filled in" } else { "" };
        self.say(&format!("It asks for {name}{label}{must}{}", more(field, &[])));
    }

    fn action(&mut self, action: &JsonTree) {
        let label = named(action, "label");
        let label = if label.is_empty() { said(action, "name") } else { label };
        let label = if label.is_empty() { String::new() } else { format!(" \"{label}\"") };
        let href = said(action, "href");
        let href = if href.is_empty() { String::new() } else { format!(", leading to {href}") };
        self.say(&format!("It offers the action{label}{href}{}", more(action, &[])));
    }
}

fn more(tree: &JsonTree, but: &[&str]) -> String {
    let facts = facts(tree, but);
    if facts.is_empty() { String::new() } else { format!(", with {}", facts.join(", ")) }
}

fn facts_of(tree: &JsonTree) -> String {
    facts(tree, &[]).join(", ")
}

/// Returns a phrase such as `the intent register_user` for each member in [`FACTS`].
fn facts(tree: &JsonTree, but: &[&str]) -> Vec<String> {
    let mut facts = Vec::new();
    for (name, value) in tree.members() {
        let is_fact = FACTS.contains(&name.as_str()) || name == "ai_type";
        if !is_fact || but.contains(&name.as_str()) {
            continue;
        }
        let values = std::iter::once(value).chain(value.items()).filter_map(JsonTree::as_str);
        facts.extend(values.map(|value| format!("the {} {value}", name.replace('_', " "))));
    }
    facts
}

fn list<'t>(tree: &'t JsonTree, name: &str) -> &'t [JsonTree] {
    tree.get(name).map_or(&[], listed)
}

/// Returns the items of a list; a single value is a list of one.
fn listed(value: &JsonTree) -> &[JsonTree] {
    match value {
        JsonTree::List(items) => items,
        JsonTree::Null => &[],
        one => std::slice::from_ref(one),
    }
}

/// Returns the member `name`, or the value itself if it is a plain text.
fn named<'t>(tree: &'t JsonTree, name: &str) -> &'t str {
    tree.as_str().unwrap_or_else(|| said(tree, name))
}

fn said<'t>(tree: &'t JsonTree, name: &str) -> &'t str {
    tree.get(name).and_then(JsonTree::as_str).unwrap_or_default()
}

/// Joins names: `a`, `a and b`, `a, b and c`.
fn joined(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns a member name as the start of a sentence.
fn spoken(name: &str) -> String {
    let name = name.replace('_', " ");
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
