//! The policy at `/.well-known/arc-policy.json` (D55): retention, access, approved consumers.
//!
//! A policy is written from the configuration of the site owner. When a policy is read, common
//! alternative member names are accepted. Unclear values never count as permission.

use std::io::Read;

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::{HttpUrl, Timestamp};
use serde_json::{Map, Value};

use crate::limits::ArcError;
use crate::open::small;
use crate::rate::CrawlRate;
use crate::rules;
use crate::tolerant::pointer;
use rutter_page::JsonTree;

/// URL path of the policy on its site.
pub const PATH: &str = "/.well-known/arc-policy.json";
/// Maximum size in bytes of a policy that is read.
const MAX_BYTES: usize = 256 << 10;
/// Maximum numbers of consumers and of endpoints that are read from a policy.
const MAX_ITEMS: usize = 1000;

/// What a site allows AI consumers to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArcPolicy {
    /// Version of the policy format.
    pub version: Option<String>,
    /// URL of the site.
    pub site: Option<String>,
    /// Time of the last change of the policy.
    pub updated_at: Option<Timestamp>,
    /// Contact address for questions.
    pub contact: Option<String>,
    /// What `ai_checksum` covers: `content` or `html` (D51).
    pub checksum_scope: Option<String>,
    /// Retention rules; `None` if not stated.
    pub retention: Option<RetentionRules>,
    /// Access rules; `None` if not stated, which permits nothing.
    pub access: Option<AccessRules>,
    /// Consumers that the owner approves; `None` if not stated.
    pub approved_consumers: Option<Vec<ApprovedConsumer>>,
}

/// How long copies may be kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RetentionRules {
    /// Maximum number of days.
    pub max_days: Option<u64>,
    /// Whether copies must be deleted when a page is removed.
    pub delete_on_removal: Option<bool>,
    /// The retention rules as text.
    pub notes: Option<String>,
}

/// Which consumers have access, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessRules {
    /// Access of consumers that are not listed.
    pub default: Option<AccessDefault>,
    /// Endpoints with additional content for partners.
    pub endpoints: Vec<PartnerEndpoint>,
    /// Request rate for all consumers.
    pub rate: Option<String>,
}

/// Default access of consumers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessDefault {
    /// Access is allowed.
    Allow,
    /// Access is denied.
    Deny,
}

impl AccessDefault {
    fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// An endpoint for partners.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartnerEndpoint {
    /// URL of the endpoint.
    pub url: String,
    /// Authentication method, such as `bearer`.
    pub auth: Option<String>,
    /// Request rate of the endpoint.
    pub rate: Option<String>,
}

/// A consumer that the owner approves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovedConsumer {
    /// Name of the consumer.
    pub name: String,
    /// User agent in the requests of the consumer.
    pub user_agent: Option<String>,
    /// Permitted purposes.
    pub purposes: Vec<String>,
    /// Pages or endpoints that the consumer may access.
    pub access: Option<String>,
}

impl ArcPolicy {
    /// Returns the policy as the text of a file.
    pub fn to_file(&self) -> String {
        let mut root = JsonMembers::default();
        root.text("arc_policy_version", self.version.as_deref().or(Some(crate::VERSION)));
        root.text("site", self.site.as_deref());
        root.text("updated_at", self.updated_at.map(|time| time.to_string()).as_deref());
        root.text("contact", self.contact.as_deref());
        root.text("checksum_scope", self.checksum_scope.as_deref());
        if let Some(retention) = &self.retention {
            let mut members = JsonMembers::default();
            let days = retention.max_days.map(|days| JsonTree::Number(days.to_string()));
            members.push("max_days", days);
            members.push("delete_on_removal", retention.delete_on_removal.map(JsonTree::Bool));
            members.text("notes", retention.notes.as_deref());
            root.push("retention", Some(members.done()));
        }
        if let Some(access) = &self.access {
            let mut members = JsonMembers::default();
            members.text("default", access.default.map(AccessDefault::name));
            let endpoints = access.endpoints.iter().map(|endpoint| {
                let mut members = JsonMembers::default();
                members.text("url", Some(&endpoint.url));
                members.text("auth", endpoint.auth.as_deref());
                members.text("rate", endpoint.rate.as_deref());
                members.done()
            });
            let endpoints: Vec<JsonTree> = endpoints.collect();
            members.push("endpoints", (!endpoints.is_empty()).then_some(JsonTree::List(endpoints)));
            members.text("rate", access.rate.as_deref());
            root.push("access", Some(members.done()));
        }
        if let Some(consumers) = &self.approved_consumers {
            let consumers = consumers.iter().map(|consumer| {
                let mut members = JsonMembers::default();
                members.text("name", Some(&consumer.name));
                members.text("user_agent", consumer.user_agent.as_deref());
                let purposes: Vec<JsonTree> =
                    consumer.purposes.iter().map(JsonTree::text).collect();
                members
                    .push("purposes", (!purposes.is_empty()).then_some(JsonTree::List(purposes)));
                members.text("access", consumer.access.as_deref());
                members.done()
            });
            root.push("approved_consumers", Some(JsonTree::List(consumers.collect())));
        }
        let mut out = String::new();
        root.done().to_pretty(0, &mut out);
        out.push('\n');
        out
    }

    /// Reads a policy, compressed or not. Returns `None` if the file is unreadable; the site then
    /// counts as having no policy.
    pub fn read(input: impl Read, sink: &mut dyn FindingSink) -> Result<Option<Self>, ArcError> {
        let mut unreadable = |detail: String| {
            sink.report(Finding::new(&rules::POLICY_FORM, Place::WHOLE, detail));
            Ok(None)
        };
        let bytes = match small(input, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(ArcError::Refused(refusal)) => return unreadable(refusal.rule.title.to_owned()),
            Err(error) => return Err(error),
        };
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(root)) => Ok(Some(PolicyFindings { sink }.policy(&root))),
            Ok(_) => unreadable("the file is not a JSON object".to_owned()),
            Err(error) => unreadable(error.to_string()),
        }
    }
}

/// Members of a JSON object under construction.
#[derive(Default)]
struct JsonMembers(Vec<(String, JsonTree)>);

impl JsonMembers {
    fn push(&mut self, name: &str, value: Option<JsonTree>) {
        self.0.extend(value.map(|value| (name.to_owned(), value)));
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        self.push(name, value.map(JsonTree::text));
    }

    fn done(self) -> JsonTree {
        JsonTree::Map(self.0)
    }
}

/// Accepted names of members. The first name of each line is the standard name.
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

struct PolicyFindings<'d> {
    sink: &'d mut dyn FindingSink,
}

impl PolicyFindings<'_> {
    fn report(&mut self, rule: &'static Rule, pointer: String, detail: String) {
        self.sink.report(Finding::new(rule, Place { line: None, pointer }, detail));
    }

    /// Returns the member with this name, or with one of its accepted alternative names.
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
            self.report(
                &rules::POLICY_ALIAS,
                at.clone(),
                format!("the standard name is {}", quoted(name)),
            );
        }
        Some((at, value))
    }

    /// Reads a member with `read`. If `read` returns `None`, the value is reported and ignored.
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

    fn policy(&mut self, root: &Map<String, Value>) -> ArcPolicy {
        let time = |value: &Value| Timestamp::parse_lenient(value.as_str()?).ok();
        let version = self.text(root, "", "arc_policy_version");
        let is_known = version.as_deref().is_none_or(|it| it.split('.').next() == Some("2"));
        if !is_known {
            let at = "/arc_policy_version".to_owned();
            self.report(&rules::POLICY_MEMBER, at, "the major version is not 2".to_owned());
        }
        let policy = ArcPolicy {
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
        // In another major version, the same members may have another meaning.
        if is_known {
            policy
        } else {
            ArcPolicy { access: None, approved_consumers: None, ..policy }
        }
    }

    fn retention(&mut self, root: &Map<String, Value>) -> Option<RetentionRules> {
        let (at, value) = self.find(root, "", "retention")?;
        match value {
            Value::Object(map) => Some(RetentionRules {
                max_days: self.member(map, &at, "max_days", Value::as_u64),
                delete_on_removal: self.member(map, &at, "delete_on_removal", Value::as_bool),
                notes: self.text(map, &at, "notes"),
            }),
            // A plain text, or a number of days, is accepted as well.
            Value::String(notes) => {
                Some(RetentionRules { notes: Some(notes.clone()), ..RetentionRules::default() })
            }
            Value::Number(days) if days.is_u64() => {
                Some(RetentionRules { max_days: days.as_u64(), ..RetentionRules::default() })
            }
            other => {
                self.report(&rules::POLICY_MEMBER, at, quoted(&other.to_string()));
                None
            }
        }
    }

    fn access(&mut self, root: &Map<String, Value>) -> Option<AccessRules> {
        let (at, value) = self.find(root, "", "access")?;
        let grant = |value: &Value| match value.as_str()?.to_ascii_lowercase().as_str() {
            "allow" => Some(AccessDefault::Allow),
            "deny" => Some(AccessDefault::Deny),
            _ => None,
        };
        let map = match value {
            Value::Object(map) => map,
            other => {
                let default = grant(other);
                if default.is_none() {
                    self.report(&rules::POLICY_MEMBER, at, quoted(&other.to_string()));
                }
                return default
                    .map(|it| AccessRules { default: Some(it), ..AccessRules::default() });
            }
        };
        let default = self.member(map, &at, "default", grant);
        let list = self.member(map, &at, "endpoints", Value::as_array);
        let mut endpoints = Vec::new();
        for (n, item) in list.into_iter().flatten().take(MAX_ITEMS).enumerate() {
            let at = format!("{at}/endpoints/{n}");
            let Some(map) = item.as_object() else {
                self.report(&rules::POLICY_MEMBER, at, quoted(&item.to_string()));
                continue;
            };
            let is_url = |url: &&str| HttpUrl::parse(*url).is_ok();
            let url = self.member(map, &at, "url", |it| it.as_str().filter(is_url));
            let (auth, rate) = (self.text(map, &at, "auth"), self.rate(map, &at));
            endpoints.extend(url.map(|url| PartnerEndpoint { url: url.to_owned(), auth, rate }));
        }
        let rate = self.rate(map, &at);
        Some(AccessRules { default, endpoints, rate })
    }

    fn consumers(&mut self, root: &Map<String, Value>) -> Option<Vec<ApprovedConsumer>> {
        let (at, value) = self.find(root, "", "approved_consumers")?;
        let Some(list) = value.as_array() else {
            self.report(&rules::POLICY_MEMBER, at, quoted(&value.to_string()));
            return None;
        };
        let mut consumers = Vec::new();
        for (n, item) in list.iter().take(MAX_ITEMS).enumerate() {
            let at = format!("{at}/{n}");
            let consumer = match item {
                Value::String(name) => {
                    Some(ApprovedConsumer { name: name.clone(), ..ApprovedConsumer::default() })
                }
                Value::Object(map) => {
                    let user_agent = self.text(map, &at, "user_agent");
                    let name = self.text(map, &at, "name").or_else(|| user_agent.clone());
                    let purposes = self.member(map, &at, "purposes", strings).unwrap_or_default();
                    let access = self.text(map, &at, "access");
                    name.map(|name| ApprovedConsumer { name, user_agent, purposes, access })
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

/// Returns a string or a list of strings.
fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(list) => {
            list.iter().take(MAX_ITEMS).map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}
