//! The policy at `/.well-known/arc-policy.json` (D55): retention, access,
//! approved consumers.
//!
//! Written from what the owner configured, read under the usual names and
//! some obvious others.
//!
//! Refuses: to read anything unclear as permission.

use std::io::Read;

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::{HttpUrl, Timestamp};
use serde_json::{Map, Value};

use crate::limits::ArcError;
use crate::open::small;
use crate::rate::CrawlRate;
use crate::rules;
use crate::tolerant::pointer;
use rutter_page::Tree;

/// Where a policy is published.
pub const PATH: &str = "/.well-known/arc-policy.json";
/// Largest policy that is read, in bytes.
const LARGEST: usize = 256 << 10;
/// Most consumers and endpoints that are read.
const MOST: usize = 1000;

/// What a site lets AI consumers do, in three areas.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Version of the format.
    pub version: Option<String>,
    /// Address of the site.
    pub site: Option<String>,
    /// When the policy changed.
    pub updated_at: Option<Timestamp>,
    /// Whom to ask.
    pub contact: Option<String>,
    /// What `ai_checksum` is of: `content` or `html` (D51).
    pub checksum_scope: Option<String>,
    /// How long copies may be kept; `None` where nothing is said.
    pub retention: Option<Retention>,
    /// Who may come; `None` where nothing is said, which permits nothing.
    pub access: Option<Access>,
    /// Consumers the owner approves; `None` where nothing is said.
    pub approved_consumers: Option<Vec<Consumer>>,
}

/// How long copies may be kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Retention {
    /// At most so many days.
    pub max_days: Option<u64>,
    /// Whether copies of a page are to be deleted with the page.
    pub delete_on_removal: Option<bool>,
    /// In words.
    pub notes: Option<String>,
}

/// Who may come, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// What holds for consumers that are not named.
    pub default: Option<Grant>,
    /// Where partners get more.
    pub endpoints: Vec<Endpoint>,
    /// How often anybody may come.
    pub rate: Option<String>,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// Yes.
    Allow,
    /// No.
    Deny,
}

impl Grant {
    fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// A door for partners.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Endpoint {
    /// Its address.
    pub url: String,
    /// How to identify oneself, such as `bearer`.
    pub auth: Option<String>,
    /// How often one may come.
    pub rate: Option<String>,
}

/// A consumer the owner approves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Consumer {
    /// Its name.
    pub name: String,
    /// How its requests name themselves.
    pub user_agent: Option<String>,
    /// What it may use pages for.
    pub purposes: Vec<String>,
    /// What it may reach.
    pub access: Option<String>,
}

impl Policy {
    /// The policy as a file.
    pub fn to_file(&self) -> String {
        let mut root = Members::default();
        root.text("arc_policy_version", self.version.as_deref().or(Some(crate::VERSION)));
        root.text("site", self.site.as_deref());
        root.text("updated_at", self.updated_at.map(|time| time.to_string()).as_deref());
        root.text("contact", self.contact.as_deref());
        root.text("checksum_scope", self.checksum_scope.as_deref());
        if let Some(retention) = &self.retention {
            let mut members = Members::default();
            let days = retention.max_days.map(|days| Tree::Number(days.to_string()));
            members.push("max_days", days);
            members.push("delete_on_removal", retention.delete_on_removal.map(Tree::Bool));
            members.text("notes", retention.notes.as_deref());
            root.push("retention", Some(members.done()));
        }
        if let Some(access) = &self.access {
            let mut members = Members::default();
            members.text("default", access.default.map(Grant::name));
            let endpoints = access.endpoints.iter().map(|endpoint| {
                let mut members = Members::default();
                members.text("url", Some(&endpoint.url));
                members.text("auth", endpoint.auth.as_deref());
                members.text("rate", endpoint.rate.as_deref());
                members.done()
            });
            let endpoints: Vec<Tree> = endpoints.collect();
            members.push("endpoints", (!endpoints.is_empty()).then_some(Tree::List(endpoints)));
            members.text("rate", access.rate.as_deref());
            root.push("access", Some(members.done()));
        }
        if let Some(consumers) = &self.approved_consumers {
            let consumers = consumers.iter().map(|consumer| {
                let mut members = Members::default();
                members.text("name", Some(&consumer.name));
                members.text("user_agent", consumer.user_agent.as_deref());
                let purposes: Vec<Tree> = consumer.purposes.iter().map(Tree::text).collect();
                members.push("purposes", (!purposes.is_empty()).then_some(Tree::List(purposes)));
                members.text("access", consumer.access.as_deref());
                members.done()
            });
            root.push("approved_consumers", Some(Tree::List(consumers.collect())));
        }
        let mut out = String::new();
        root.done().to_pretty(0, &mut out);
        out.push('\n');
        out
    }

    /// Reads a policy, compressed or not; `None` where there is none to be
    /// read, which is as if there were none at all.
    pub fn read(input: impl Read, sink: &mut dyn FindingSink) -> Result<Option<Self>, ArcError> {
        let mut unreadable = |detail: String| {
            sink.report(Finding::new(&rules::POLICY_FORM, Place::WHOLE, detail));
            Ok(None)
        };
        let bytes = match small(input, LARGEST) {
            Ok(bytes) => bytes,
            Err(ArcError::Refused(refusal)) => return unreadable(refusal.rule.title.to_owned()),
            Err(error) => return Err(error),
        };
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(root)) => Ok(Some(Desk { sink }.policy(&root))),
            Ok(_) => unreadable("it is no object".to_owned()),
            Err(error) => unreadable(error.to_string()),
        }
    }
}

/// Members that are put together.
#[derive(Default)]
struct Members(Vec<(String, Tree)>);

impl Members {
    fn push(&mut self, name: &str, value: Option<Tree>) {
        self.0.extend(value.map(|value| (name.to_owned(), value)));
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        self.push(name, value.map(Tree::text));
    }

    fn done(self) -> Tree {
        Tree::Map(self.0)
    }
}

/// Other names of members; the first of each row is ours.
const NAMES: [&[&str]; 15] = [
    &["arc_policy_version", "policy_version", "version"],
    &["site", "host"],
    &["updated_at", "updated", "last_updated", "generated_at"],
    &["contact", "ai-crawl-contact", "ai_crawl_contact"],
    &["checksum_scope"],
    &["retention", "retention_policy", "data_retention"],
    &["max_days", "days", "retention_days"],
    &["delete_on_removal"],
    &["notes", "note", "description"],
    &["access", "access_control", "access_policy"],
    &["default", "default_access"],
    &["rate", "rate_limit", "crawl_rate"],
    &["approved_consumers", "approved_ai_consumers", "consumers", "allowed_consumers"],
    &["user_agent", "user-agent", "agent"],
    &["purposes", "purpose", "uses"],
];

struct Desk<'d> {
    sink: &'d mut dyn FindingSink,
}

impl Desk<'_> {
    fn report(&mut self, rule: &'static Rule, pointer: String, detail: String) {
        self.sink.report(Finding::new(rule, Place { line: None, pointer }, detail));
    }

    /// The member of this name, or of one that means the same.
    fn find<'v>(
        &mut self,
        map: &'v Map<String, Value>,
        at: &str,
        name: &str,
    ) -> Option<(String, &'v Value)> {
        let names = NAMES.iter().find(|names| names.first() == Some(&name));
        let names = names.map_or(std::slice::from_ref(&name), |names| names);
        let found = names.iter().find_map(|name| Some((*name, map.get(*name)?)));
        let (known, value) = found.filter(|(_, value)| !value.is_null())?;
        let at = pointer(at, known);
        if known != name {
            self.report(&rules::POLICY_ALIAS, at.clone(), format!("usually {}", quoted(name)));
        }
        Some((at, value))
    }

    /// A member of some form; any other form is reported and left out.
    fn member<'v, T>(
        &mut self,
        map: &'v Map<String, Value>,
        at: &str,
        name: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Option<T> {
        let (at, value) = self.find(map, at, name)?;
        let found = read(value);
        if found.is_none() {
            self.report(&rules::POLICY_MEMBER, at, quoted(&value.to_string()));
        }
        found
    }

    fn text(&mut self, map: &Map<String, Value>, at: &str, name: &str) -> Option<String> {
        self.member(map, at, name, |value| value.as_str().map(str::to_owned))
    }

    fn rate(&mut self, map: &Map<String, Value>, at: &str) -> Option<String> {
        let is_rate = |text: &&str| CrawlRate::parse(text).is_some();
        self.member(map, at, "rate", |it| it.as_str().filter(is_rate).map(str::to_owned))
    }

    fn policy(&mut self, root: &Map<String, Value>) -> Policy {
        let time = |value: &Value| Timestamp::parse_lenient(value.as_str()?).ok();
        let version = self.text(root, "", "arc_policy_version");
        let is_known = version.as_deref().is_none_or(|it| it.split('.').next() == Some("2"));
        if !is_known {
            let at = "/arc_policy_version".to_owned();
            self.report(&rules::POLICY_MEMBER, at, "major version is not 2".to_owned());
        }
        let policy = Policy {
            version,
            site: self.text(root, "", "site"),
            updated_at: self.member(root, "", "updated_at", time).map(|(time, _)| time),
            contact: self.text(root, "", "contact"),
            checksum_scope: self.text(root, "", "checksum_scope"),
            retention: self.retention(root),
            access: self.access(root),
            approved_consumers: self.consumers(root),
        };
        for (is_there, name) in [
            (policy.retention.is_some(), "retention"),
            (policy.access.is_some(), "access"),
            (policy.approved_consumers.is_some(), "approved_consumers"),
        ] {
            if !is_there {
                self.report(&rules::POLICY_AREA, String::new(), quoted(name));
            }
        }
        // Another major version may mean something else by the same words.
        if is_known { policy } else { Policy { access: None, approved_consumers: None, ..policy } }
    }

    fn retention(&mut self, root: &Map<String, Value>) -> Option<Retention> {
        let (at, value) = self.find(root, "", "retention")?;
        match value {
            Value::Object(map) => Some(Retention {
                max_days: self.member(map, &at, "max_days", Value::as_u64),
                delete_on_removal: self.member(map, &at, "delete_on_removal", Value::as_bool),
                notes: self.text(map, &at, "notes"),
            }),
            // A sentence, or a number of days, is clear enough.
            Value::String(notes) => {
                Some(Retention { notes: Some(notes.clone()), ..Retention::default() })
            }
            Value::Number(days) if days.is_u64() => {
                Some(Retention { max_days: days.as_u64(), ..Retention::default() })
            }
            other => {
                self.report(&rules::POLICY_MEMBER, at, quoted(&other.to_string()));
                None
            }
        }
    }

    fn access(&mut self, root: &Map<String, Value>) -> Option<Access> {
        let (at, value) = self.find(root, "", "access")?;
        let grant = |value: &Value| match value.as_str()?.to_ascii_lowercase().as_str() {
            "allow" => Some(Grant::Allow),
            "deny" => Some(Grant::Deny),
            _ => None,
        };
        let map = match value {
            Value::Object(map) => map,
            other => {
                let default = grant(other);
                if default.is_none() {
                    self.report(&rules::POLICY_MEMBER, at, quoted(&other.to_string()));
                }
                return default.map(|it| Access { default: Some(it), ..Access::default() });
            }
        };
        let default = self.member(map, &at, "default", grant);
        let list = self.member(map, &at, "endpoints", Value::as_array);
        let mut endpoints = Vec::new();
        for (n, item) in list.into_iter().flatten().take(MOST).enumerate() {
            let at = format!("{at}/endpoints/{n}");
            let Some(map) = item.as_object() else {
                self.report(&rules::POLICY_MEMBER, at, quoted(&item.to_string()));
                continue;
            };
            let is_url = |url: &&str| HttpUrl::parse(*url).is_ok();
            let url = self.member(map, &at, "url", |it| it.as_str().filter(is_url));
            let (auth, rate) = (self.text(map, &at, "auth"), self.rate(map, &at));
            endpoints.extend(url.map(|url| Endpoint { url: url.to_owned(), auth, rate }));
        }
        let rate = self.rate(map, &at);
        Some(Access { default, endpoints, rate })
    }

    fn consumers(&mut self, root: &Map<String, Value>) -> Option<Vec<Consumer>> {
        let (at, value) = self.find(root, "", "approved_consumers")?;
        let Some(list) = value.as_array() else {
            self.report(&rules::POLICY_MEMBER, at, quoted(&value.to_string()));
            return None;
        };
        let mut consumers = Vec::new();
        for (n, item) in list.iter().take(MOST).enumerate() {
            let at = format!("{at}/{n}");
            let consumer = match item {
                Value::String(name) => Some(Consumer { name: name.clone(), ..Consumer::default() }),
                Value::Object(map) => {
                    let user_agent = self.text(map, &at, "user_agent");
                    let name = self.text(map, &at, "name").or_else(|| user_agent.clone());
                    let purposes = self.member(map, &at, "purposes", strings).unwrap_or_default();
                    let access = self.text(map, &at, "access");
                    name.map(|name| Consumer { name, user_agent, purposes, access })
                }
                _ => None,
            };
            if consumer.is_none() {
                self.report(&rules::POLICY_MEMBER, at, quoted(&item.to_string()));
            }
            consumers.extend(consumer);
        }
        Some(consumers)
    }
}

/// A text, or a list of texts.
fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(list) => {
            list.iter().take(MOST).map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}
