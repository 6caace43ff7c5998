//! robots.txt by RFC 9309: which agent may fetch which address.
//!
//! Bytes become groups of rules in [`Robots::parse`], which never fails; an
//! unreadable line is ignored. [`merge()`] adds what a site wants to say to the
//! owner's file, [`judge()`] says what is wrong with one.
//!
//! Refuses: to read more than [`Robots::MOST_BYTES`], to take an unreadable
//! line for a ban, and to let an Allow line reach further than its letters.
//!
//! Habits beyond the RFC, all on the polite side: a missing colon and some
//! misspellings are understood, a name is read up to its first space or slash.
//! One vendor's habit is not followed: that `Allow: /a/index.html` also allows
//! `/a/`; the RFC does not say so, and it would fetch what is forbidden.

mod agents;
mod judge;
mod lines;
mod merge;
mod pattern;

pub use judge::judge;
pub use merge::{AgentGroup, Wishes, merge};

use lines::{Directive, directive, lines, without_bom};
use pattern::{Target, forms};

/// The rules of one robots.txt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Robots {
    groups: Vec<Group>,
    sitemaps: Vec<(u64, String)>,
    /// `Content-Signal` lines before the first group: they are for all.
    signals: Vec<Signal>,
}

/// A `Content-Signal` line: the addresses it is about, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Signal {
    about: RobotsRule,
    text: String,
}

/// What is said to an agent about an address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict<'r> {
    /// Whether it may be fetched.
    pub is_allowed: bool,
    /// The rule that decided; `None` where no rule matches.
    pub rule: Option<&'r RobotsRule>,
}

/// One Allow or Disallow line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsRule {
    /// Its line, counted from 1.
    pub line: u64,
    /// Allow, or else Disallow.
    pub is_allow: bool,
    /// The pattern as it is written; empty patterns match nothing.
    pub pattern: String,
    /// The pattern with every byte beyond ASCII encoded.
    light: Vec<u8>,
    /// The same, with encoded letters, digits and `-._~` decoded.
    full: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Group {
    agents: Vec<Agent>,
    rules: Vec<RobotsRule>,
    delay: Option<f64>,
    signals: Vec<Signal>,
}

/// A name on a `User-agent` line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Agent {
    line: u64,
    /// Up to the first space or slash; `*` for all.
    name: String,
    /// The part of it that RFC 9309 lets be a product token.
    token: String,
}

impl Robots {
    /// How much of a file is read: 500 KiB.
    pub const MOST_BYTES: usize = 512_000;
    /// How much of a line is read.
    pub const LONGEST_LINE: usize = 16_664;

    /// Reads a file; what cannot be understood is left out.
    ///
    /// ```
    /// # use rutter_signpost::robots::Robots;
    /// let robots = Robots::parse(b"user-agent: *\ndisallow: /private");
    /// assert!(!robots.is_allowed("rutter", "https://harbour.example/private/notes"));
    /// assert!(robots.is_allowed("rutter", "/public"));
    /// ```
    pub fn parse(bytes: &[u8]) -> Self {
        let mut robots = Self::default();
        let mut is_open = false;
        for line in lines(read_part(bytes)) {
            let (directive, _) = directive(line.text);
            match directive {
                Directive::Agent(value) => {
                    if !is_open {
                        robots.groups.push(Group::default());
                        is_open = true;
                    }
                    if let Some(group) = robots.groups.last_mut() {
                        group.agents.push(Agent::new(line.number, value));
                    }
                }
                Directive::Allow(value) | Directive::Disallow(value) => {
                    is_open = false;
                    if let Some(group) = robots.groups.last_mut() {
                        let is_allow = matches!(directive, Directive::Allow(_));
                        group.rules.push(RobotsRule::new(line.number, is_allow, value));
                    }
                }
                Directive::Delay(value) => {
                    if let Some(group) = robots.groups.last_mut() {
                        group.delay = group.delay.or_else(|| seconds(value));
                    }
                }
                Directive::Sitemap(value) => {
                    let value = String::from_utf8_lossy(value).into_owned();
                    robots.sitemaps.push((line.number, value));
                }
                Directive::Signal(value) => {
                    // The group goes on: it is no rule about fetching.
                    let signal = Signal::new(line.number, value);
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

    /// Says whether `agent` may fetch `target`, and which rule decides.
    ///
    /// `agent` is a product token such as `GPTBot`, in any case; what follows
    /// a slash does not count. `target` is an absolute URL or a path with its
    /// query. The groups that name the agent count together; where none does,
    /// those for `*`. The longest matching rule wins, Allow wins a tie
    /// (RFC 9309, 2.2.2).
    ///
    /// Percent-encoding is normalised before patterns are compared. Only an
    /// Allow line must fit as it is written: where the RFC and the matchers
    /// before it differ, the answer is the stricter one.
    pub fn verdict(&self, agent: &str, target: &str) -> Verdict<'_> {
        let target = Target::new(target);
        if target.is_robots_txt() {
            return Verdict { is_allowed: true, rule: None };
        }
        let mut best: Option<&RobotsRule> = None;
        for rule in self.groups_for(agent).flat_map(|group| &group.rules) {
            let is_better = best.is_none_or(|best| {
                (best.full.len(), best.is_allow) < (rule.full.len(), rule.is_allow)
            });
            if is_better && rule.matches(&target) {
                best = Some(rule);
            }
        }
        Verdict { is_allowed: best.is_none_or(|rule| rule.is_allow), rule: best }
    }

    /// Tells whether `agent` may fetch `target`; see [`Robots::verdict`].
    pub fn is_allowed(&self, agent: &str, target: &str) -> bool {
        self.verdict(agent, target).is_allowed
    }

    /// The values of `Sitemap` lines and where they stand.
    pub fn sitemaps(&self) -> impl Iterator<Item = (u64, &str)> {
        self.sitemaps.iter().map(|(line, url)| (*line, url.as_str()))
    }

    /// Seconds the agent is asked to wait between requests.
    pub fn crawl_delay(&self, agent: &str) -> Option<f64> {
        self.groups_for(agent).find_map(|group| group.delay)
    }

    /// Whether there is any `Content-Signal` line.
    pub fn has_signals(&self) -> bool {
        let mut groups = self.groups.iter();
        !self.signals.is_empty() || groups.any(|group| !group.signals.is_empty())
    }

    /// What `Content-Signal` lines say to an agent about an address: those of
    /// its own groups where it has any with such lines, else those for all.
    /// Addresses fit as they do for a Disallow line.
    pub fn signals(&self, agent: &str, target: &str) -> Vec<&str> {
        let target = Target::new(target);
        let own = || self.groups_for(agent).flat_map(|group| &group.signals);
        let all = self.groups.iter().filter(|group| group.is_for_all());
        let all = self.signals.iter().chain(all.flat_map(|group| &group.signals));
        let lines: Vec<&Signal> =
            if own().next().is_some() { own().collect() } else { all.collect() };
        let fitting = lines.into_iter().filter(|signal| signal.about.matches(&target));
        fitting.map(|signal| signal.text.as_str()).collect()
    }

    /// The rules for `*`, in order.
    pub fn rules_for_all(&self) -> impl Iterator<Item = &RobotsRule> {
        self.groups.iter().filter(|group| group.is_for_all()).flat_map(|group| &group.rules)
    }

    /// The names that have groups of their own, `*` not among them.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        let agents = self.groups.iter().flat_map(|group| &group.agents);
        agents.filter(|agent| !agent.is_all()).map(|agent| agent.name.as_str())
    }

    /// The groups that name an agent; those for `*` where none does.
    fn groups_for(&self, agent: &str) -> impl Iterator<Item = &Group> {
        let agent = agent.split('/').next().unwrap_or_default().trim().to_owned();
        let is_named = self.groups.iter().any(|group| group.is_for(&agent));
        self.groups.iter().filter(
            move |group| {
                if is_named { group.is_for(&agent) } else { group.is_for_all() }
            },
        )
    }
}

impl Group {
    fn is_for(&self, name: &str) -> bool {
        self.agents.iter().any(|agent| agent.is_called(name))
    }

    fn is_for_all(&self) -> bool {
        self.agents.iter().any(Agent::is_all)
    }
}

impl Agent {
    fn new(line: u64, value: &[u8]) -> Self {
        let value = String::from_utf8_lossy(value);
        let name = value.split(|c: char| c.is_ascii_whitespace() || c == '/').next();
        let name = name.unwrap_or_default().to_owned();
        let end = name.find(|c: char| !is_token_char(c)).unwrap_or(name.len());
        let token = name.get(..end).unwrap_or_default().to_owned();
        Self { line, name, token }
    }

    fn is_all(&self) -> bool {
        self.name == "*"
    }

    fn is_called(&self, name: &str) -> bool {
        !name.is_empty()
            && !self.is_all()
            && (self.name.eq_ignore_ascii_case(name) || self.token.eq_ignore_ascii_case(name))
    }
}

impl Signal {
    /// `/path signals`, or signals about everything.
    fn new(line: u64, value: &[u8]) -> Self {
        let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
        let (first, rest) = value.split_at(end);
        let (path, text): (&[u8], _) =
            if first.starts_with(b"/") { (first, rest) } else { (b"/", value) };
        let text = String::from_utf8_lossy(text.trim_ascii()).into_owned();
        Self { about: RobotsRule::new(line, false, path), text }
    }
}

impl RobotsRule {
    fn new(line: u64, is_allow: bool, value: &[u8]) -> Self {
        let (light, full) = forms(value);
        let pattern = String::from_utf8_lossy(value).into_owned();
        Self { line, is_allow, pattern, light, full }
    }

    fn matches(&self, target: &Target) -> bool {
        if self.full.is_empty() {
            return false;
        }
        if self.is_allow { target.fits_light(&self.light) } else { target.fits_full(&self.full) }
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '-' | '_')
}

fn seconds(value: &[u8]) -> Option<f64> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (seconds.is_finite() && 0.0 <= seconds).then_some(seconds)
}

/// The part that counts: without byte order mark, cut behind the last line
/// that is whole, because half a rule may allow what the rule does not.
fn read_part(bytes: &[u8]) -> &[u8] {
    let part = match bytes.get(..Robots::MOST_BYTES) {
        Some(part) if !matches!(bytes.get(part.len()), None | Some(b'\n' | b'\r')) => {
            let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
            let end = part.iter().rposition(is_line_end).map_or(0, |at| at + 1);
            part.get(..end).unwrap_or_default()
        }
        _ => bytes,
    };
    without_bom(part)
}
