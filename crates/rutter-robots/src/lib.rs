//! Parses robots.txt (RFC 9309) and decides which agent may fetch which URL.
//!
//! [`RobotsTxt::parse`] turns bytes into groups of rules. It never fails: invalid
//! lines are ignored, and bytes after [`RobotsTxt::MAX_BYTES`] are not read.
//! [`merge()`] adds lines to an existing file, [`check()`] reports problems.
//!
//! The parser also accepts a missing colon and some misspellings, and reads an agent name up to the
//! first space or slash. Both extensions of the RFC make the result stricter. One vendor treats
//! `Allow: /a/index.html` as permission for `/a/`; the RFC does not, and neither does this parser.

#![warn(missing_docs, clippy::disallowed_methods, clippy::indexing_slicing)]

mod ai_agents;
mod check;
mod lines;
mod merge;
mod pattern;
pub mod rules;

pub use check::check;
pub use merge::{AgentGroup, RobotsAdditions, merge};

use lines::{Directive, lines, parse_directive, without_bom};
use pattern::{TargetPath, pattern_forms};

/// A parsed robots.txt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RobotsTxt {
    groups: Vec<RuleGroup>,
    sitemaps: Vec<(u64, String)>,
    /// `Content-Signal` lines before the first group; they apply to all agents.
    signals: Vec<ContentSignal>,
}

/// A `Content-Signal` line: the paths that it applies to, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ContentSignal {
    path_rule: RobotsRule,
    text: String,
}

/// The decision whether an agent may fetch a URL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FetchVerdict<'r> {
    /// Whether the agent may fetch the URL.
    pub is_allowed: bool,
    /// The rule that decides; `None` if no rule matches the URL.
    pub rule: Option<&'r RobotsRule>,
}

/// One Allow or Disallow line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsRule {
    /// The line number of the rule, counted from 1.
    pub line: u64,
    /// Whether this is an Allow line; otherwise it is a Disallow line.
    pub is_allow: bool,
    /// The pattern as written. An empty pattern matches no URL.
    pub pattern: String,
    /// The pattern with non-ASCII bytes percent-encoded.
    written: Vec<u8>,
    /// The pattern like in `written`, but with percent-encoded letters, digits and `-._~` decoded.
    normalised: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct RuleGroup {
    agents: Vec<AgentName>,
    rules: Vec<RobotsRule>,
    delay: Option<f64>,
    signals: Vec<ContentSignal>,
}

/// A name on a `User-agent` line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AgentName {
    line: u64,
    /// The name up to the first space or slash; `*` for all agents.
    name: String,
    /// The beginning of the name that is a product token by RFC 9309.
    token: String,
}

impl RobotsTxt {
    /// The maximum number of bytes that are read: 500 KiB.
    pub const MAX_BYTES: usize = 512_000;
    /// The maximum number of bytes that are read of one line.
    pub const MAX_LINE_BYTES: usize = 16_664;

    /// Parses a file; invalid lines are ignored.
    ///
    /// ```
    /// # use rutter_robots::RobotsTxt;
    /// let robots = RobotsTxt::parse(b"user-agent: *\ndisallow: /private");
    /// assert!(!robots.is_allowed("rutter", "https://harbour.example/private/notes"));
    /// assert!(robots.is_allowed("rutter", "/public"));
    /// ```
    pub fn parse(bytes: &[u8]) -> Self {
        let mut robots = Self::default();
        let mut is_open = false;
        for line in lines(readable_part(bytes)) {
            let (parse_directive, _) = parse_directive(line.text);
            match parse_directive {
                Directive::AgentName(value) => {
                    if !is_open {
                        robots.groups.push(RuleGroup::default());
                        is_open = true;
                    }
                    if let Some(group) = robots.groups.last_mut() {
                        group.agents.push(AgentName::new(line.number, value));
                    }
                }
                Directive::Allow(value) | Directive::Disallow(value) => {
                    is_open = false;
                    if let Some(group) = robots.groups.last_mut() {
                        let is_allow = matches!(parse_directive, Directive::Allow(_));
                        group.rules.push(RobotsRule::new(line.number, is_allow, value));
                    }
                }
                Directive::Delay(value) => {
                    if let Some(group) = robots.groups.last_mut() {
                        group.delay = group.delay.or_else(|| parse_seconds(value));
                    }
                }
                Directive::Sitemap(value) => {
                    let value = String::from_utf8_lossy(value).into_owned();
                    robots.sitemaps.push((line.number, value));
                }
                Directive::ContentSignal(value) => {
                    // `Content-Signal` is not a rule about fetching, so it does not end the list of
                    // agents.
                    let signal = ContentSignal::new(line.number, value);
                    match robots.groups.last_mut() {
                        Some(group) => group.signals.push(signal),
                        None => robots.signals.push(signal),
                    }
                }
                Directive::Other(_) | Directive::Nothing => {}
            }
        }
        robots
    }

    /// Decides whether `agent` may fetch `target`, and by which rule.
    ///
    /// `agent` is a product token such as `GPTBot` in upper or lower case; the part after a slash
    /// is ignored. `target` is an absolute URL or a path with query. All groups that name the agent
    /// count together. If no group names the agent, the groups for `*` count. The longest matching
    /// rule wins, and Allow wins a tie (RFC 9309, 2.2.2).
    ///
    /// Percent-encoding is normalised before patterns are compared. An Allow pattern must also
    /// match as written. Therefore, where RFC 9309 and older parsers differ, the result is the
    /// stricter one.
    pub fn verdict(&self, agent: &str, target: &str) -> FetchVerdict<'_> {
        let target = TargetPath::new(target);
        if target.is_robots_txt() {
            return FetchVerdict { is_allowed: true, rule: None };
        }
        let mut best: Option<&RobotsRule> = None;
        for rule in self.groups_for(agent).flat_map(|group| &group.rules) {
            let is_better = best.is_none_or(|best| {
                (best.normalised.len(), best.is_allow) < (rule.normalised.len(), rule.is_allow)
            });
            if is_better && rule.matches(&target) {
                best = Some(rule);
            }
        }
        FetchVerdict { is_allowed: best.is_none_or(|rule| rule.is_allow), rule: best }
    }

    /// Returns whether `agent` may fetch `target`; see [`RobotsTxt::verdict`].
    pub fn is_allowed(&self, agent: &str, target: &str) -> bool {
        self.verdict(agent, target).is_allowed
    }

    /// Returns the line numbers and values of the `Sitemap` lines.
    pub fn sitemaps(&self) -> impl Iterator<Item = (u64, &str)> {
        self.sitemaps.iter().map(|(line, url)| (*line, url.as_str()))
    }

    /// Returns the number of seconds that the agent should wait between requests.
    pub fn crawl_delay(&self, agent: &str) -> Option<f64> {
        self.groups_for(agent).find_map(|group| group.delay)
    }

    /// Returns whether the file has a `Content-Signal` line.
    pub fn has_signals(&self) -> bool {
        let mut groups = self.groups.iter();
        !self.signals.is_empty() || groups.any(|group| !group.signals.is_empty())
    }

    /// Returns the `Content-Signal` texts that apply to `agent` and `target`.
    ///
    /// If groups that name the agent have such lines, only these count; otherwise the lines for all
    /// agents count. Paths match as in a Disallow line.
    pub fn signals(&self, agent: &str, target: &str) -> Vec<&str> {
        let target = TargetPath::new(target);
        let own = || self.groups_for(agent).flat_map(|group| &group.signals);
        let all = self.groups.iter().filter(|group| group.is_wildcard_group());
        let all = self.signals.iter().chain(all.flat_map(|group| &group.signals));
        let lines: Vec<&ContentSignal> =
            if own().next().is_some() { own().collect() } else { all.collect() };
        let fitting = lines.into_iter().filter(|signal| signal.path_rule.matches(&target));
        fitting.map(|signal| signal.text.as_str()).collect()
    }

    /// Returns the rules for `*` in file order.
    pub fn rules_for_all(&self) -> impl Iterator<Item = &RobotsRule> {
        self.groups.iter().filter(|group| group.is_wildcard_group()).flat_map(|group| &group.rules)
    }

    /// Returns all agent names except `*`.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        let agents = self.groups.iter().flat_map(|group| &group.agents);
        agents.filter(|agent| !agent.is_wildcard()).map(|agent| agent.name.as_str())
    }

    /// Returns the groups that name an agent; if no group names it, the groups for `*`.
    fn groups_for(&self, agent: &str) -> impl Iterator<Item = &RuleGroup> {
        let agent = agent.split('/').next().unwrap_or_default().trim().to_owned();
        let is_named = self.groups.iter().any(|group| group.names_agent(&agent));
        self.groups.iter().filter(move |group| {
            if is_named { group.names_agent(&agent) } else { group.is_wildcard_group() }
        })
    }
}

impl RuleGroup {
    fn names_agent(&self, name: &str) -> bool {
        self.agents.iter().any(|agent| agent.has_name(name))
    }

    fn is_wildcard_group(&self) -> bool {
        self.agents.iter().any(AgentName::is_wildcard)
    }
}

impl AgentName {
    fn new(line: u64, value: &[u8]) -> Self {
        let value = String::from_utf8_lossy(value);
        let name = value.split(|c: char| c.is_ascii_whitespace() || c == '/').next();
        let name = name.unwrap_or_default().to_owned();
        let end = name.find(|c: char| !is_token_char(c)).unwrap_or(name.len());
        let token = name.get(..end).unwrap_or_default().to_owned();
        Self { line, name, token }
    }

    fn is_wildcard(&self) -> bool {
        self.name == "*"
    }

    fn has_name(&self, name: &str) -> bool {
        !name.is_empty()
            && !self.is_wildcard()
            && (self.name.eq_ignore_ascii_case(name) || self.token.eq_ignore_ascii_case(name))
    }
}

impl ContentSignal {
    /// Parses `/path signals`, or signals without a path, which apply to every path.
    fn new(line: u64, value: &[u8]) -> Self {
        let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
        let (first, rest) = value.split_at(end);
        let (path, text): (&[u8], _) =
            if first.starts_with(b"/") { (first, rest) } else { (b"/", value) };
        let text = String::from_utf8_lossy(text.trim_ascii()).into_owned();
        Self { path_rule: RobotsRule::new(line, false, path), text }
    }
}

impl RobotsRule {
    fn new(line: u64, is_allow: bool, value: &[u8]) -> Self {
        let (written, normalised) = pattern_forms(value);
        let pattern = String::from_utf8_lossy(value).into_owned();
        Self { line, is_allow, pattern, written, normalised }
    }

    fn matches(&self, target: &TargetPath) -> bool {
        if self.normalised.is_empty() {
            return false;
        }
        if self.is_allow {
            target.matches_written(&self.written)
        } else {
            target.matches_normalised(&self.normalised)
        }
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '-' | '_')
}

fn parse_seconds(value: &[u8]) -> Option<f64> {
    let parse_seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (parse_seconds.is_finite() && 0.0 <= parse_seconds).then_some(parse_seconds)
}

/// Returns the part of the file that is parsed: without byte order mark, and cut after the last
/// complete line within the limit, because a truncated rule may allow more.
fn readable_part(bytes: &[u8]) -> &[u8] {
    let part = match bytes.get(..RobotsTxt::MAX_BYTES) {
        Some(part) if !matches!(bytes.get(part.len()), None | Some(b'\n' | b'\r')) => {
            let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
            let end = part.iter().rposition(is_line_end).map_or(0, |at| at + 1);
            part.get(..end).unwrap_or_default()
        }
        _ => bytes,
    };
    without_bom(part)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
