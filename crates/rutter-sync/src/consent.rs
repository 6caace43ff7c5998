//! Combines the usage signals of a site: the most restrictive statement wins (D58, D87).
//!
//! Input: ARC entries, robots.txt, `meta` elements and header fields. Output: usage
//! statements, and the [`UsageVerdict`] that [`join`] computes from them: content is
//! stored, content is withheld, or the page is not requested. If a format requires an
//! explicit consent, a missing or unreadable statement never counts as consent.

pub(crate) mod page_policy;
pub(crate) mod scope;

use rutter_arc::{ArcEntry, Consent, RobotsDirective, RobotsDirectives};
use rutter_extract::{Extraction, UsageSignals, UseRefusal};
use rutter_fetch::RobotsReason;
use rutter_page::Timestamp;
use rutter_robots::RobotsTxt;
use rutter_store::WithheldReason;

/// Source of a usage statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StatementSource {
    /// `ai_indexable` of an ARC entry.
    ArcIndexable,
    /// `auth_required` of an ARC entry.
    ArcLogin,
    /// `robots_directive` of an ARC entry.
    ArcDirective,
    /// A rule of robots.txt about fetching.
    RobotsTxt,
    /// `Content-Signal` in robots.txt.
    SignalInRobots,
    /// A robots `meta` element of the page.
    Meta,
    /// `data-ai-*` attributes and ARC `meta` elements of the page.
    Page,
    /// The `X-Robots-Tag` field of the response.
    Tag,
    /// The `Content-Signal` field of the response.
    Signal,
}

impl StatementSource {
    /// Returns the name of the source, for output to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::ArcIndexable => "ARC ai_indexable",
            Self::ArcLogin => "ARC auth_required",
            Self::ArcDirective => "ARC robots_directive",
            Self::RobotsTxt => "robots.txt",
            Self::SignalInRobots => "Content-Signal in robots.txt",
            Self::Meta => "robots meta",
            Self::Page => "data-ai-* of the page",
            Self::Tag => "X-Robots-Tag",
            Self::Signal => "Content-Signal",
        }
    }
}

/// Effect of a usage statement on a replica, the most restrictive last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageEffect {
    /// The page may be used.
    Allows,
    /// The page may be used, but not to train models. A replica stores this statement for
    /// consumers that train models.
    NoTraining,
    /// The links of the page are not followed.
    NoFollow,
    /// The content of the page is not stored.
    Withholds,
    /// The page requires a login, and Rutter has none.
    NeedsLogin,
    /// The page is not requested.
    Forbids,
}

impl UsageEffect {
    /// Returns the name of the effect, for output to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allows => "allows",
            Self::NoTraining => "not for training",
            Self::NoFollow => "links are not followed",
            Self::Withholds => "content is not stored",
            Self::NeedsLogin => "needs a login",
            Self::Forbids => "not requested",
        }
    }
}

/// One statement about the use of a page or a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageStatement {
    /// Where the statement was made.
    pub source: StatementSource,
    /// The statement, as its source states it.
    pub text: String,
    /// Effect of the statement on the replica.
    pub effect: UsageEffect,
}

/// The combined effect of all statements about a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageVerdict {
    /// Reason why the content of the page is withheld; `None` if the content is stored.
    pub withheld: Option<WithheldReason>,
    /// Whether links of the page may be followed.
    pub follows_links: bool,
    /// Whether the page may be requested.
    pub may_fetch: bool,
}

/// Combines usage statements about a page; the most restrictive statement wins.
///
/// ```
/// use rutter_sync::consent::{UsageEffect, StatementSource, UsageStatement, join};
///
/// let statement = |effect| UsageStatement { source: StatementSource::Meta, text: String::new(), effect };
/// assert_eq!(join(&[statement(UsageEffect::Allows)]).withheld, None);
/// assert!(join(&[statement(UsageEffect::Allows), statement(UsageEffect::Withholds)]).withheld.is_some());
/// ```
pub fn join(statements: &[UsageStatement]) -> UsageVerdict {
    let has = |effect| statements.iter().any(|statement| statement.effect == effect);
    let withheld = if has(UsageEffect::Withholds) || has(UsageEffect::NeedsLogin) {
        Some(WithheldReason::Consent)
    } else if has(UsageEffect::Forbids) {
        Some(WithheldReason::Robots)
    } else {
        None
    };
    let may_fetch = !has(UsageEffect::Forbids) && !has(UsageEffect::NeedsLogin);
    UsageVerdict { withheld, follows_links: may_fetch && !has(UsageEffect::NoFollow), may_fetch }
}

/// Returns the statements of an ARC entry (ARC-056, ARC-057).
pub fn of_arc(entry: &ArcEntry<'_>) -> Vec<UsageStatement> {
    let mut said = Vec::new();
    let mut say = |source, text: String, effect| said.push(UsageStatement { source, text, effect });
    let flag = |flag: Option<bool>| flag.map_or("not given".to_owned(), |flag| flag.to_string());
    let indexable = if entry.ai_indexable == Some(true) && !entry.is_doubtful && !entry.removed {
        UsageEffect::Allows
    } else {
        UsageEffect::Withholds
    };
    say(StatementSource::ArcIndexable, flag(entry.ai_indexable), indexable);
    if entry.auth_required == Some(true) {
        say(StatementSource::ArcLogin, "true".to_owned(), UsageEffect::NeedsLogin);
    }
    if let Some(text) = entry.robots_directive.as_deref() {
        for effect in effects(entry.directives()) {
            say(StatementSource::ArcDirective, text.to_owned(), effect);
        }
    }
    // If the entry as a whole gives no consent, its statements must withhold the content.
    debug_assert!(entry.consent() == Consent::Given || join(&said).withheld.is_some());
    said
}

/// Returns the statement of robots.txt about a URL.
pub fn of_robots(forbidden: Option<&RobotsReason>) -> UsageStatement {
    match forbidden {
        Some(reason) => UsageStatement {
            source: StatementSource::RobotsTxt,
            text: reason.to_string(),
            effect: UsageEffect::Forbids,
        },
        None => UsageStatement {
            source: StatementSource::RobotsTxt,
            text: "no rule disallows the page".to_owned(),
            effect: UsageEffect::Allows,
        },
    }
}

/// Returns the statements of a page about its own use: robots `meta` elements, `data-ai-*`
/// attributes and ARC `meta` elements that address every agent or the agent `token`.
/// `rutter build` reads the same statements ([`UsageSignals`]).
pub fn of_page(extraction: &Extraction, token: &str, now: Timestamp) -> Vec<UsageStatement> {
    let metas = extraction.facts.metas.iter();
    let ours = metas.filter(|(name, _)| name == "robots" || is_us(name, token));
    let mut said: Vec<UsageStatement> = ours
        .flat_map(|(_, value)| {
            statements(StatementSource::Meta, value, &UsageSignals::of_directives(value), now)
        })
        .collect();
    let wishes = UsageSignals::of(extraction, token);
    let text = match wishes.refusal(now) {
        Some(UseRefusal::Login) => "auth-required".to_owned(),
        Some(UseRefusal::NoAi) if wishes.is_for_ai == Some(false) => {
            "ai-indexable is not true".to_owned()
        }
        _ => wishes.robots.join(", "),
    };
    for more in statements(StatementSource::Page, &text, &wishes, now) {
        if !said.iter().any(|said| said.effect == more.effect) {
            said.push(more);
        }
    }
    said
}

/// Returns the earliest `unavailable_after` date of a page, past or not.
pub(crate) fn expiry_of_page(extraction: &Extraction, token: &str) -> Option<Timestamp> {
    UsageSignals::of(extraction, token).unavailable_after
}

/// Returns the earliest `unavailable_after` date of `X-Robots-Tag` fields.
pub(crate) fn expiry_of_tags(values: &[String], token: &str) -> Option<Timestamp> {
    values.iter().filter_map(|value| tag_wishes(value, token).unavailable_after).min()
}

/// Returns the statements of the `X-Robots-Tag` fields that address every agent or the
/// agent `token`.
pub fn of_tags(values: &[String], token: &str, now: Timestamp) -> Vec<UsageStatement> {
    let said = values
        .iter()
        .flat_map(|value| statements(StatementSource::Tag, value, &tag_wishes(value, token), now));
    said.collect()
}

/// Parses one `X-Robots-Tag` field; a field that addresses another agent gives empty
/// [`UsageSignals`].
fn tag_wishes(value: &str, token: &str) -> UsageSignals {
    // `agent: directives` addresses one agent; `max-snippet: 5` is a directive for all.
    let (agent, words) = match value.split_once(':') {
        Some((agent, words)) if !agent.contains(',') && !is_word(agent.trim()) => {
            (Some(agent.trim()), words)
        }
        _ => (None, value),
    };
    let is_addressed = agent.is_none_or(|agent| agent == "*" || is_us(agent, token));
    UsageSignals::of_directives(if is_addressed { words } else { "" })
}

/// Returns the statement of a `Content-Signal`. The signals `search` and `ai-input` concern
/// the replica itself; `ai-train` concerns consumers that train models.
pub fn of_signal(source: StatementSource, value: &str) -> Option<UsageStatement> {
    let mut effect = None;
    for (name, is_yes) in signals(value) {
        let one = match (name.as_str(), is_yes) {
            ("search" | "ai-input", false) => UsageEffect::Withholds,
            ("ai-train", false) => UsageEffect::NoTraining,
            ("search" | "ai-input" | "ai-train", true) => UsageEffect::Allows,
            _ => continue,
        };
        effect = effect.max(Some(one));
    }
    effect.map(|effect| UsageStatement { source, text: value.trim().to_owned(), effect })
}

/// Parses a `Content-Signal` into pairs of a lower-case name and whether its value is
/// `yes`. Pairs are separated by commas, semicolons or spaces; pairs with values other than
/// `yes` and `no` are ignored.
fn signals(value: &str) -> Vec<(String, bool)> {
    let spaced = value.replace('=', " = ").replace([',', ';'], " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let pair = |words: &[&str]| match words {
        [name, "=", response] if response.eq_ignore_ascii_case("yes") => {
            Some((name.to_ascii_lowercase(), true))
        }
        [name, "=", response] if response.eq_ignore_ascii_case("no") => {
            Some((name.to_ascii_lowercase(), false))
        }
        _ => None,
    };
    words.windows(3).filter_map(pair).collect()
}

/// The `Content-Signal` lines of a robots.txt, for one agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RobotsSignals {
    /// The parsed robots.txt and the product token; `None` if the file has no
    /// `Content-Signal` lines.
    robots: Option<(RobotsTxt, String)>,
}

impl RobotsSignals {
    /// Reads the `Content-Signal` lines of robots.txt for the agent `token`.
    pub fn of_robots(robots: &[u8], token: &str) -> Self {
        let robots = RobotsTxt::parse(robots);
        Self { robots: robots.has_signals().then(|| (robots, token.to_owned())) }
    }

    /// Returns the statements about `target`, the path and query of a URL.
    pub fn about(&self, target: &str) -> Vec<UsageStatement> {
        let Some((robots, token)) = &self.robots else { return Vec::new() };
        let said = robots.signals(token, target).into_iter();
        said.filter_map(|text| of_signal(StatementSource::SignalInRobots, text)).collect()
    }

    /// Returns whether a `Content-Signal` forbids to store the content of the page at
    /// `target`.
    pub fn withholds(&self, target: &str) -> bool {
        self.about(target).iter().any(|said| said.effect == UsageEffect::Withholds)
    }
}

/// Returns the statements of the header fields of a response, with or without a body.
pub fn of_fields(
    fields: &rutter_fetch::ResponseFields,
    token: &str,
    now: Timestamp,
) -> Vec<UsageStatement> {
    let mut said = of_tags(&fields.robots_tags, token, now);
    let signals = fields.content_signals.iter();
    said.extend(signals.filter_map(|value| of_signal(StatementSource::Signal, value)));
    said
}

fn statements(
    source: StatementSource,
    text: &str,
    wishes: &UsageSignals,
    now: Timestamp,
) -> Vec<UsageStatement> {
    let withholds = wishes.refusal(now).map(|refusal| match refusal {
        UseRefusal::Login => UsageEffect::NeedsLogin,
        _ => UsageEffect::Withholds,
    });
    let follows = wishes.asks("nofollow").then_some(UsageEffect::NoFollow);
    let said = withholds.into_iter().chain(follows);
    said.map(|effect| UsageStatement { source, text: text.to_owned(), effect }).collect()
}

/// Returns whether `Content-Signal` statements allow to train models; `None` if no
/// statement says `yes` or `no`. One `no` outweighs every `yes`.
pub(crate) fn training(said: &[UsageStatement]) -> Option<bool> {
    let is_signal = |it: &&UsageStatement| {
        matches!(it.source, StatementSource::Signal | StatementSource::SignalInRobots)
    };
    let signals = said.iter().filter(is_signal).flat_map(|it| signals(&it.text));
    signals.filter(|(name, _)| name == "ai-train").map(|(_, is_yes)| is_yes).min()
}

fn effects(directives: RobotsDirectives) -> Vec<UsageEffect> {
    let mut effects = Vec::new();
    if directives.has(RobotsDirective::NoIndex) || directives.has(RobotsDirective::NoAi) {
        effects.push(UsageEffect::Withholds);
    }
    if directives.has(RobotsDirective::NoFollow) {
        effects.push(UsageEffect::NoFollow);
    }
    effects
}

fn is_us(agent: &str, token: &str) -> bool {
    agent.trim().eq_ignore_ascii_case(token)
}

/// Returns whether the text is the name of a directive that takes a value after a colon.
fn is_word(text: &str) -> bool {
    const VALUED_DIRECTIVES: [&str; 4] =
        ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"];
    VALUED_DIRECTIVES.iter().any(|word| word.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::parse("2027-01-10T00:00:00Z").unwrap()
    }

    fn withheld(said: &[UsageStatement]) -> bool {
        join(said).withheld.is_some()
    }

    #[test] // ARC-056 ARC-057 D56 D57 D58
    fn stores_content_only_if_the_arc_entry_clearly_allows_it() {
        for (json, wanted) in [
            (r#"{"url":"https://h.example/","ai_indexable":true}"#, None),
            (r#"{"url":"https://h.example/","ai_indexable":false}"#, Some(true)),
            (r#"{"url":"https://h.example/"}"#, Some(true)),
            (
                r#"{"url":"https://h.example/","ai_indexable":true,"auth_required":true}"#,
                Some(false),
            ),
            (
                r#"{"url":"https://h.example/","ai_indexable":true,"robots_directive":"noai"}"#,
                Some(true),
            ),
        ] {
            let entry = ArcEntry::from_json(json).unwrap();
            let verdict = join(&of_arc(&entry));
            assert_eq!(verdict.withheld.is_some(), wanted.is_some(), "{json}");
            // A page that requires a login is not requested at all.
            assert_eq!(verdict.may_fetch, wanted != Some(false), "{json}");
        }
    }

    #[test] // D58
    fn obeys_tags_for_all_agents_and_for_our_token() {
        for (value, wanted) in [
            ("noindex", true),
            ("NOAI", true),
            ("none", true),
            ("otherbot: noindex", false),
            ("rutter: noindex", true),
            ("max-snippet: 5, noindex", true),
            ("nofollow", false),
            ("unavailable_after: 25 Jun 2010", true),
            ("unavailable_after: 25 Jun 2040", false),
            ("noarchive", true),
            ("nosnippet", true),
        ] {
            let said = of_tags(&[value.to_owned()], "Rutter", now());
            assert_eq!(withheld(&said), wanted, "{value}");
        }
        assert!(!join(&of_tags(&["nofollow".to_owned()], "Rutter", now())).follows_links);
    }

    #[test]
    fn uses_signals_of_the_own_group() {
        let robots = b"User-agent: *\nContent-Signal: search=yes, ai-input=no\nAllow: /\n\
                      User-agent: Rutter/1.0\nContent-Signal: /docs/ ai-input=no, ai-train=no\n\
                      Content-Signal: /*.pdf$ ai-input=no\nContent-Signal: ai-train=no\n";
        assert!(withheld(&RobotsSignals::of_robots(robots, "Other").about("/")));
        let ours = RobotsSignals::of_robots(robots, "rutter");
        assert!(withheld(&ours.about("/docs/a")) && ours.withholds("/docs/a"));
        assert!(ours.withholds("/blog/a.pdf") && !ours.withholds("/blog/a.pdf.html"));
        let rest = ours.about("/blog");
        assert!(!withheld(&rest) && !ours.withholds("/blog"));
        assert_eq!(rest.first().map(|said| said.effect), Some(UsageEffect::NoTraining));
        assert!(of_signal(StatementSource::Signal, "weather=no").is_none());
    }

    #[test] // D58
    fn training_is_allowed_only_by_a_clear_yes() {
        for (value, wanted) in [
            ("ai-train=no", Some(false)),
            ("ai-train = no", Some(false)),
            ("search=yes, AI-Train =NO", Some(false)),
            ("search=yes ai-train= no", Some(false)),
            ("ai-train=yes;ai-train=no", Some(false)),
            ("ai-train=yes", Some(true)),
            ("search=yes; ai-train = yes", Some(true)),
            ("ai-train", None),
            ("ai-train=maybe", None),
            ("search=yes", None),
        ] {
            let said: Vec<UsageStatement> =
                of_signal(StatementSource::Signal, value).into_iter().collect();
            assert_eq!(training(&said), wanted, "{value}");
            let forbids = said.iter().any(|said| said.effect == UsageEffect::NoTraining);
            assert_eq!(forbids, wanted == Some(false), "{value}");
        }
        assert!(withheld(
            &of_signal(StatementSource::Signal, "ai-train=no ai-input = no")
                .into_iter()
                .collect::<Vec<_>>()
        ));
    }

    #[test] // D58 D87
    fn most_restrictive_statement_wins() {
        use UsageEffect::{Allows, Forbids, NeedsLogin, NoFollow, NoTraining, Withholds};
        let said =
            |effect| UsageStatement { source: StatementSource::Meta, text: String::new(), effect };
        for (effects, kept, follows, asks) in [
            (&[][..], true, true, true),
            (&[Allows, NoTraining][..], true, true, true),
            (&[Allows, NoFollow][..], true, false, true),
            (&[Withholds, Allows][..], false, true, true),
            (&[NeedsLogin, Allows][..], false, false, false),
            (&[Forbids, Allows][..], false, false, false),
        ] {
            let said: Vec<_> = effects.iter().copied().map(said).collect();
            let verdict = join(&said);
            let found = (verdict.withheld.is_none(), verdict.follows_links, verdict.may_fetch);
            assert_eq!(found, (kept, follows, asks), "{effects:?}");
        }
    }
}
