//! Lists of tables: what a table may say, and how it is read from TOML and
//! from the text of a variable or flag.

use std::ffi::OsString;

use rutter_arc::CrawlRate;
use rutter_arc::policy::{Consumer, Endpoint};
use rutter_build::SectionRule;
use rutter_page::HttpUrl;
use rutter_scp::is_name;
use serde_json::{Map, json};
use toml::de::{DeTable, DeValue};

use crate::config::suggest::nearest;
use crate::config::value::{Shape, Stated, Value, Wrong, wanted};

/// What a table in a list may say.
#[derive(Debug)]
pub(crate) struct Form {
    /// What one of them is called, with its article.
    what: &'static str,
    members: &'static [Member],
    /// How one is written as a text, for people.
    pub(crate) placeholder: &'static str,
    /// The same table in TOML and as a text.
    pub(crate) example: (&'static str, &'static str),
}

#[derive(Debug)]
struct Member {
    name: &'static str,
    kind: Kind,
    is_needed: bool,
    about: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A text of a form that JSON Schema can tell.
    Text(&'static str),
    /// From 0 to 1.
    Share,
    Texts,
}

impl Form {
    /// What a file calls a list of them.
    pub(crate) fn name(&self) -> String {
        format!("tables with {}", listed(self.members.iter(), ""))
    }

    /// The JSON Schema of a list of them.
    pub(crate) fn schema(&self) -> serde_json::Value {
        let mut properties = Map::new();
        for member in self.members {
            let mut schema = match member.kind {
                Kind::Text("") => json!({ "type": "string" }),
                Kind::Text(pattern) => json!({ "type": "string", "pattern": pattern }),
                Kind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
                Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            };
            schema["description"] = member.about.into();
            properties.insert(member.name.to_owned(), schema);
        }
        let needed: Vec<&str> = self.needed().map(|member| member.name).collect();
        json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": properties,
                "required": needed,
                "additionalProperties": false,
            },
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
        if self.needed().all(|member| parts.0.iter().any(|(name, _)| *name == member.name)) {
            return Ok(());
        }
        Err(format!("{} has {}", self.what, listed(self.needed(), "a ")))
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
pub(crate) struct Parts(Vec<(&'static str, Part)>);

#[derive(Debug)]
enum Part {
    Text(String),
    Share(f64),
    Texts(Vec<String>),
}

impl Parts {
    fn take(&mut self, name: &str) -> Option<Part> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Part::Text(text) => Some(text),
            Part::Share(_) | Part::Texts(_) => None,
        }
    }

    fn texts(&mut self, name: &str) -> Vec<String> {
        match self.take(name) {
            Some(Part::Texts(texts)) => texts,
            _ => Vec::new(),
        }
    }

    fn share(&mut self, name: &str) -> Option<f64> {
        match self.take(name)? {
            Part::Share(share) => Some(share),
            Part::Text(_) | Part::Texts(_) => None,
        }
    }
}

/// A kind of table.
pub(crate) trait Row: Sized + 'static {
    const FORM: &'static Form;

    /// Reads a table that has what it needs.
    fn of_parts(parts: Parts) -> Result<Self, String>;

    /// Takes a text apart.
    fn parts(text: &str) -> Result<Parts, String>;

    fn of_text(text: &str) -> Result<Self, String> {
        let parts = Self::parts(text)?;
        Self::FORM.check(&parts)?;
        Self::of_parts(parts)
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

fn row_of_toml<T: Row>(table: &DeTable<'_>) -> Result<T, Wrong> {
    let mut parts = Parts::default();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let Some(member) = T::FORM.member(name) else {
            let (what, hint) = (T::FORM.unknown(name), T::FORM.hint(name));
            return Err(Wrong { what, span: Some(key.span()), hint });
        };
        let here = |wrong: Wrong| Wrong { span: wrong.span.or(Some(value.span())), ..wrong };
        parts.0.push((member.name, part_of_toml(member.kind, value).map_err(here)?));
    }
    T::FORM.check(&parts)?;
    Ok(T::of_parts(parts)?)
}

fn part_of_toml(kind: Kind, value: &Stated<'_>) -> Result<Part, Wrong> {
    match (kind, value.get_ref()) {
        (Kind::Text(_), _) => Ok(Part::Text(String::of_toml(value)?)),
        (Kind::Texts, _) => Ok(Part::Texts(Vec::<String>::of_toml(value)?)),
        (Kind::Share, DeValue::Float(number)) => Ok(share(number.as_str())?),
        (Kind::Share, DeValue::Integer(number)) => Ok(share(number.as_str())?),
        (Kind::Share, _) => Err(SHARE.to_owned().into()),
    }
}

const SHARE: &str = "wanted number from 0 to 1";

fn share(text: &str) -> Result<Part, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(Part::Share).ok_or_else(|| SHARE.to_owned())
}

/// Takes `FIRST;name=value;name=value` apart; the first member needs no name.
fn named_parts(form: &Form, text: &str) -> Result<Parts, String> {
    let mut parts = Parts::default();
    for (idx, part) in text.split(';').enumerate() {
        let (name, value) = match (idx, form.members.first()) {
            (0, Some(first)) => (first.name, part),
            _ => part.split_once('=').ok_or_else(|| format!("wanted {}", form.placeholder))?,
        };
        let member = form.member(name.trim()).ok_or_else(|| form.unknown(name))?;
        let value = value.trim();
        let part = match member.kind {
            Kind::Text(_) => Part::Text(value.to_owned()),
            Kind::Share => share(value)?,
            Kind::Texts => Part::Texts(value.split('+').map(|it| it.trim().to_owned()).collect()),
        };
        parts.0.retain(|(known, _)| *known != member.name);
        parts.0.push((member.name, part));
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

    fn of_parts(mut parts: Parts) -> Result<Self, String> {
        let name = parts.text("name").unwrap_or_default();
        let prefix = parts.text("prefix").unwrap_or_default();
        if !is_name(&name) {
            let name = rutter_finding::quoted(&name);
            return Err(format!("section {name}: wanted letters, digits, hyphen and underscore"));
        }
        if name == "all" {
            return Err("section `all`: is the name of the collection of all pages".to_owned());
        }
        check_prefix(&format!("section `{name}`"), &prefix)?;
        Ok(Self { name, prefix })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        let (name, prefix) = text.split_once('=').ok_or("wanted NAME=PREFIX, as in docs=/docs/")?;
        let text = |text: &str| Part::Text(text.to_owned());
        Ok(Parts(vec![("name", text(name)), ("prefix", text(prefix))]))
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

    fn of_parts(mut parts: Parts) -> Result<Self, String> {
        let prefix = parts.text("prefix").unwrap_or_default();
        check_prefix(&rutter_finding::quoted(&prefix), &prefix)?;
        Ok(Self { prefix, priority: parts.share("priority").unwrap_or_default() })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        // A path may have an equals sign of its own.
        let (prefix, priority) =
            text.rsplit_once('=').ok_or("wanted PREFIX=NUMBER, as in /docs/=0.8")?;
        let prefix = Part::Text(prefix.trim().to_owned());
        Ok(Parts(vec![("prefix", prefix), ("priority", share(priority.trim())?)]))
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

    fn of_parts(mut parts: Parts) -> Result<Self, String> {
        let (url, auth) = (parts.text("url").unwrap_or_default(), parts.text("auth"));
        if HttpUrl::parse(url.as_str()).is_err() {
            let url = rutter_finding::quoted(&url);
            return Err(format!("{url} is not an absolute http or https URL"));
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

    fn of_parts(mut parts: Parts) -> Result<Self, String> {
        let name = parts.text("name").unwrap_or_default();
        if name.trim().is_empty() {
            return Err("a consumer has a name that is not empty".to_owned());
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
