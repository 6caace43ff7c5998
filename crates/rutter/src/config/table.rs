//! Lists of tables: what a table may say, and how it is read from TOML and
//! from the text of a variable or flag.

use std::ffi::OsString;
use std::ops::Range;

use rutter_arc::CrawlRate;
use rutter_arc::policy::{Consumer, Endpoint};
use rutter_build::SectionRule;
use rutter_page::HttpUrl;
use rutter_scp::is_name;
use serde_json::{Map, json};
use toml::de::{DeTable, DeValue};

use crate::config::suggest::nearest;
use crate::config::value::{Shape, Stated, Value, Wrong, choices, wanted};

/// What a table in a list may say.
#[derive(Debug)]
pub(crate) struct Form {
    /// What one of them is called, with its article.
    pub(crate) what: &'static str,
    pub(crate) members: &'static [Member],
    /// How one is written as a text, for people; empty where that cannot be.
    pub(crate) placeholder: &'static str,
    /// The same table in TOML and as a text.
    pub(crate) example: (&'static str, &'static str),
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_needed: bool,
    pub(crate) about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A text of a form that JSON Schema can tell.
    Text(&'static str),
    /// From 0 to 1.
    Share,
    Texts,
    Switch,
    Choice(fn() -> Vec<&'static str>),
    Rows(&'static Form),
}

impl Form {
    /// What a file calls a list of them.
    pub(crate) fn name(&self) -> String {
        format!("tables with {}", listed(self.members.iter(), ""))
    }

    /// The JSON Schema of a list of them.
    pub(crate) fn schema(&self) -> serde_json::Value {
        json!({ "type": "array", "items": self.item_schema() })
    }

    /// The JSON Schema of one of them.
    pub(crate) fn item_schema(&self) -> serde_json::Value {
        let mut properties = Map::new();
        for member in self.members {
            let mut schema = match member.kind {
                Kind::Text("") => json!({ "type": "string" }),
                Kind::Text(pattern) => json!({ "type": "string", "pattern": pattern }),
                Kind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
                Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
                Kind::Switch => json!({ "type": "boolean" }),
                Kind::Choice(names) => json!({ "enum": names() }),
                Kind::Rows(form) => form.schema(),
            };
            schema["description"] = member.about.into();
            properties.insert(member.name.to_owned(), schema);
        }
        let needed: Vec<&str> = self.needed().map(|member| member.name).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": needed,
            "additionalProperties": false,
        })
    }

    fn needed(&self) -> impl Iterator<Item = &'static Member> {
        self.members.iter().filter(|member| member.is_needed)
    }

    fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// What was probably meant by another name.
    fn hint(&self, name: &str) -> Option<String> {
        let near = nearest(name, self.members.iter().map(|member| member.name))?;
        Some(format!("did you mean `{near}`?"))
    }

    fn unknown(&self, name: &str) -> String {
        format!("unknown key `{}` of {}", rutter_finding::visible(name), self.what)
    }

    fn check(&self, parts: &Parts) -> Result<(), String> {
        let is_there = |member: &&Member| parts.0.iter().any(|part| part.name == member.name);
        let Some(missing) = self.needed().find(|member| !is_there(member)) else { return Ok(()) };
        let has = listed(self.needed(), "a ");
        if self.needed().count() < 3 {
            return Err(format!("{} has {has}", self.what));
        }
        Err(format!("{} has no `{}`; {}", self.what, missing.name, missing.about))
    }
}

/// `a`, `b` and `c`, each with an article.
fn listed(members: impl Iterator<Item = &'static Member>, article: &str) -> String {
    let names: Vec<String> = members.map(|member| format!("{article}`{}`", member.name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What one table says.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<Part>);

#[derive(Debug)]
struct Part {
    name: &'static str,
    datum: Datum,
    /// Where it stands in a file.
    span: Range<usize>,
}

#[derive(Debug)]
enum Datum {
    Text(String),
    Share(f64),
    Texts(Vec<(String, Range<usize>)>),
    Switch(bool),
    Rows(Vec<Parts>),
}

impl Parts {
    fn push(&mut self, name: &'static str, datum: Datum) {
        self.0.push(Part { name, datum, span: 0..0 });
    }

    fn take(&mut self, name: &str) -> Option<Datum> {
        let at = self.0.iter().position(|part| part.name == name)?;
        Some(self.0.swap_remove(at).datum)
    }

    /// Where a member stands.
    pub(crate) fn span(&self, name: &str) -> Option<Range<usize>> {
        self.0.iter().find(|part| part.name == name).map(|part| part.span.clone())
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        if let Datum::Text(text) = self.take(name)? { Some(text) } else { None }
    }

    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        self.placed_texts(name).into_iter().map(|(text, _)| text).collect()
    }

    /// Texts, each with the place where it stands.
    pub(crate) fn placed_texts(&mut self, name: &str) -> Vec<(String, Range<usize>)> {
        if let Some(Datum::Texts(texts)) = self.take(name) { texts } else { Vec::new() }
    }

    pub(crate) fn share(&mut self, name: &str) -> Option<f64> {
        if let Datum::Share(share) = self.take(name)? { Some(share) } else { None }
    }

    pub(crate) fn switch(&mut self, name: &str) -> Option<bool> {
        if let Datum::Switch(switch) = self.take(name)? { Some(switch) } else { None }
    }

    pub(crate) fn rows(&mut self, name: &str) -> Vec<Self> {
        if let Some(Datum::Rows(rows)) = self.take(name) { rows } else { Vec::new() }
    }
}

/// A kind of table.
pub(crate) trait Row: Sized + 'static {
    const FORM: &'static Form;

    /// Reads a table that has what it needs.
    fn of_parts(parts: Parts) -> Result<Self, Wrong>;

    /// Takes a text apart.
    fn parts(text: &str) -> Result<Parts, String>;

    fn of_text(text: &str) -> Result<Self, String> {
        let parts = Self::parts(text)?;
        Self::FORM.check(&parts)?;
        Self::of_parts(parts).map_err(|wrong| wrong.what)
    }
}

impl<T: Row> Value for Vec<T> {
    const SHAPE: Shape = Shape::Tables(T::FORM);

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        let tables = value.get_ref().as_array().ok_or_else(wanted::<Self>)?;
        tables
            .iter()
            .map(|table| {
                let here =
                    |wrong: Wrong| Wrong { span: wrong.span.or(Some(table.span())), ..wrong };
                let row = table.get_ref().as_table().ok_or_else(|| wanted::<Self>().into());
                row.and_then(row_of_toml).map_err(here)
            })
            .collect()
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(T::of_text).collect()
    }

    fn of_flag(texts: &[OsString]) -> Result<Self, String> {
        let row = |text: &OsString| T::of_text(text.to_str().ok_or("is not UTF-8")?);
        texts.iter().map(row).collect()
    }
}

/// Reads a table of a file.
pub(crate) fn row_of_toml<T: Row>(table: &DeTable<'_>) -> Result<T, Wrong> {
    T::of_parts(parts_of_toml(T::FORM, table)?)
}

fn parts_of_toml(form: &'static Form, table: &DeTable<'_>) -> Result<Parts, Wrong> {
    let mut parts = Parts::default();
    // In the order of the file, so that the first fault is the first one there.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        let Some(member) = form.member(name) else {
            let (what, hint) = (form.unknown(name), form.hint(name));
            return Err(Wrong { what, span: Some(key.span()), hint });
        };
        let span = value.span();
        let here = |wrong: Wrong| {
            let what =
                if wrong.span.is_none() { format!("{name}: {}", wrong.what) } else { wrong.what };
            Wrong { what, span: wrong.span.or(Some(span.clone())), ..wrong }
        };
        let datum = datum_of_toml(member.kind, value).map_err(here)?;
        parts.0.push(Part { name: member.name, datum, span });
    }
    form.check(&parts)?;
    Ok(parts)
}

fn datum_of_toml(kind: Kind, value: &Stated<'_>) -> Result<Datum, Wrong> {
    match (kind, value.get_ref()) {
        (Kind::Text(_), _) => Ok(Datum::Text(String::of_toml(value)?)),
        (Kind::Texts, DeValue::Array(items)) => {
            let texts = Vec::<String>::of_toml(value)?;
            let spans = items.iter().map(toml::Spanned::span);
            Ok(Datum::Texts(texts.into_iter().zip(spans).collect()))
        }
        (Kind::Texts, _) => Err(wanted::<Vec<String>>().into()),
        (Kind::Share, DeValue::Float(number)) => Ok(share(number.as_str())?),
        (Kind::Share, DeValue::Integer(number)) => Ok(share(number.as_str())?),
        (Kind::Share, _) => Err(SHARE.to_owned().into()),
        (Kind::Switch, _) => Ok(Datum::Switch(bool::of_toml(value)?)),
        (Kind::Choice(names), DeValue::String(text)) => {
            let (names, text) = (names(), text.as_ref());
            if names.contains(&text) {
                return Ok(Datum::Text(text.to_owned()));
            }
            let near = nearest(text, names.iter().copied());
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            Err(Wrong { what: format!("wanted {}", choices(&names)), span: None, hint })
        }
        (Kind::Choice(names), _) => Err(format!("wanted {}", choices(&names())).into()),
        (Kind::Rows(form), DeValue::Array(tables)) => {
            let row = |table: &Stated<'_>| {
                let inner = table.get_ref().as_table().ok_or_else(|| form.name().into());
                inner.and_then(|inner| parts_of_toml(form, inner)).map_err(|wrong: Wrong| Wrong {
                    span: wrong.span.or(Some(table.span())),
                    ..wrong
                })
            };
            Ok(Datum::Rows(tables.iter().map(row).collect::<Result<_, _>>()?))
        }
        (Kind::Rows(form), _) => Err(format!("wanted {}", form.name()).into()),
    }
}

const SHARE: &str = "wanted number from 0 to 1";

fn share(text: &str) -> Result<Datum, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(Datum::Share).ok_or_else(|| SHARE.to_owned())
}

/// Takes `FIRST;name=value;name=value` apart; the first member needs no name.
pub(crate) fn named_parts(form: &Form, text: &str) -> Result<Parts, String> {
    let mut parts = Parts::default();
    for (idx, part) in text.split(';').enumerate() {
        let (name, value) = match (idx, form.members.first()) {
            (0, Some(first)) => (first.name, part),
            _ => part.split_once('=').ok_or_else(|| format!("wanted {}", form.placeholder))?,
        };
        let member = form.member(name.trim()).ok_or_else(|| form.unknown(name))?;
        let value = value.trim();
        let datum = match member.kind {
            Kind::Text(_) => Datum::Text(value.to_owned()),
            Kind::Share => share(value)?,
            Kind::Texts => {
                let texts = value.split('+').map(|it| (it.trim().to_owned(), 0..0));
                Datum::Texts(texts.collect())
            }
            Kind::Switch | Kind::Choice(_) | Kind::Rows(_) => {
                return Err(format!("`{}` stands in a file only", member.name));
            }
        };
        parts.0.retain(|known| known.name != member.name);
        parts.push(member.name, datum);
    }
    Ok(parts)
}

fn check_prefix(whose: &str, prefix: &str) -> Result<(), String> {
    if prefix.starts_with('/') {
        return Ok(());
    }
    Err(format!("{whose}: a prefix begins with a slash, as in /docs/"))
}

impl Row for SectionRule {
    const FORM: &'static Form = &Form {
        what: "a section",
        members: &[
            Member {
                name: "name",
                kind: Kind::Text("^[A-Za-z0-9_-]{1,255}$"),
                is_needed: true,
                about: "Name of the section",
            },
            Member {
                name: "prefix",
                kind: Kind::Text("^/"),
                is_needed: true,
                about: "How the paths of its pages begin",
            },
        ],
        placeholder: "NAME=PREFIX",
        example: (r#"{ name = "docs", prefix = "/docs/" }"#, "docs=/docs/"),
    };

    fn of_parts(mut parts: Parts) -> Result<Self, Wrong> {
        let name = parts.text("name").unwrap_or_default();
        let prefix = parts.text("prefix").unwrap_or_default();
        if !is_name(&name) {
            let name = rutter_finding::quoted(&name);
            let wanted = "wanted letters, digits, hyphen and underscore";
            return Err(format!("section {name}: {wanted}").into());
        }
        if name == "all" {
            return Err("section `all`: is the name of the collection of all pages"
                .to_owned()
                .into());
        }
        check_prefix(&format!("section `{name}`"), &prefix)?;
        Ok(Self { name, prefix })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        let (name, prefix) = text.split_once('=').ok_or("wanted NAME=PREFIX, as in docs=/docs/")?;
        let mut parts = Parts::default();
        parts.push("name", Datum::Text(name.to_owned()));
        parts.push("prefix", Datum::Text(prefix.to_owned()));
        Ok(parts)
    }
}

/// A priority of pages in the ARC sitemap, by how their paths begin.
#[derive(Debug, Clone)]
pub(crate) struct Priority {
    pub(crate) prefix: String,
    pub(crate) priority: f64,
}

impl Row for Priority {
    const FORM: &'static Form = &Form {
        what: "a priority",
        members: &[
            Member {
                name: "prefix",
                kind: Kind::Text("^/"),
                is_needed: true,
                about: "How the paths of the pages begin",
            },
            Member {
                name: "priority",
                kind: Kind::Share,
                is_needed: true,
                about: "From 0 to 1, the most important",
            },
        ],
        placeholder: "PREFIX=NUMBER",
        example: (r#"{ prefix = "/docs/", priority = 0.8 }"#, "/docs/=0.8"),
    };

    fn of_parts(mut parts: Parts) -> Result<Self, Wrong> {
        let prefix = parts.text("prefix").unwrap_or_default();
        check_prefix(&rutter_finding::quoted(&prefix), &prefix)?;
        Ok(Self { prefix, priority: parts.share("priority").unwrap_or_default() })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        // A path may have an equals sign of its own.
        let (prefix, priority) =
            text.rsplit_once('=').ok_or("wanted PREFIX=NUMBER, as in /docs/=0.8")?;
        let mut parts = Parts::default();
        parts.push("prefix", Datum::Text(prefix.trim().to_owned()));
        parts.push("priority", share(priority.trim())?);
        Ok(parts)
    }
}

impl Row for Endpoint {
    const FORM: &'static Form = &Form {
        what: "an endpoint",
        members: &[
            Member {
                name: "url",
                kind: Kind::Text("^https?://"),
                is_needed: true,
                about: "Its address",
            },
            Member {
                name: "auth",
                kind: Kind::Text(""),
                is_needed: false,
                about: "How to identify oneself, such as bearer",
            },
            Member {
                name: "rate",
                kind: Kind::Text(RATE_PATTERN),
                is_needed: false,
                about: "How often one may come, such as 10/m",
            },
        ],
        placeholder: "URL;auth=TEXT;rate=RATE",
        example: (
            r#"{ url = "https://www.example.org/api/pages", auth = "bearer", rate = "10/m" }"#,
            "https://www.example.org/api/pages;auth=bearer;rate=10/m",
        ),
    };

    fn of_parts(mut parts: Parts) -> Result<Self, Wrong> {
        let (url, auth) = (parts.text("url").unwrap_or_default(), parts.text("auth"));
        if HttpUrl::parse(url.as_str()).is_err() {
            let url = rutter_finding::quoted(&url);
            return Err(format!("{url} is not an absolute http or https URL").into());
        }
        let rate = parts.text("rate");
        let rate = rate.map(|rate| Rate::of_text(&rate)).transpose()?.map(|rate| rate.0);
        Ok(Self { url, auth, rate })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        named_parts(Self::FORM, text)
    }
}

impl Row for Consumer {
    const FORM: &'static Form = &Form {
        what: "a consumer",
        members: &[
            Member { name: "name", kind: Kind::Text(""), is_needed: true, about: "Its name" },
            Member {
                name: "user-agent",
                kind: Kind::Text(""),
                is_needed: false,
                about: "How its requests name themselves",
            },
            Member {
                name: "purposes",
                kind: Kind::Texts,
                is_needed: false,
                about: "What it may use pages for",
            },
            Member {
                name: "access",
                kind: Kind::Text(""),
                is_needed: false,
                about: "What it may reach",
            },
        ],
        placeholder: "NAME;user-agent=TEXT;purposes=A+B;access=TEXT",
        example: (
            r#"{ name = "Example Search", user-agent = "ExampleBot", purposes = ["search", "answers"], access = "full" }"#,
            "Example Search;user-agent=ExampleBot;purposes=search+answers;access=full",
        ),
    };

    fn of_parts(mut parts: Parts) -> Result<Self, Wrong> {
        let name = parts.text("name").unwrap_or_default();
        if name.trim().is_empty() {
            return Err("a consumer has a name that is not empty".to_owned().into());
        }
        Ok(Self {
            name,
            user_agent: parts.text("user-agent"),
            purposes: parts.texts("purposes"),
            access: parts.text("access"),
        })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        named_parts(Self::FORM, text)
    }
}

/// How often somebody may come: `1/s`.
#[derive(Debug, Clone)]
pub(crate) struct Rate(pub(crate) String);

/// Rates, as far as JSON Schema needs to know.
pub(crate) const RATE_PATTERN: &str = "^[0-9.]+/(s|m|min|h|d)$";

impl Value for Rate {
    const SHAPE: Shape = Shape::Rate;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        let text = value.get_ref().as_str().ok_or_else(wanted::<Self>)?;
        Ok(Self::of_text(text)?)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        CrawlRate::parse(text).ok_or_else(wanted::<Self>)?;
        Ok(Self(text.trim().to_owned()))
    }
}
