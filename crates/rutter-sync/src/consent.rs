//! What a site forbids, said in many places, joined: the most restrictive wins
//! (D58, D87).
//!
//! Statements are made from ARC entries, robots.txt, `meta` elements and
//! header fields; [`join`] is a pure function over them. What follows for the
//! replica is one of three: words are kept, words are withheld, nothing is
//! asked for.
//!
//! Refuses: to take silence or an unreadable statement for consent where a
//! place exists to give it.

use rutter_arc::{Consent, Directive, Directives, Entry};
use rutter_extract::{Extraction, Refusal, Wishes};
use rutter_fetch::RobotsReason;
use rutter_page::Timestamp;
use rutter_signpost::robots::Robots;
use rutter_store::Withheld;

/// Where something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// `ai_indexable` of an ARC entry.
    ArcIndexable,
    /// `auth_required` of an ARC entry.
    ArcLogin,
    /// `robots_directive` of an ARC entry.
    ArcDirective,
    /// A rule of robots.txt.
    RobotsTxt,
    /// `Content-Signal` in robots.txt.
    SignalInRobots,
    /// A robots `meta` of the page.
    Meta,
    /// `data-ai-*` attributes and ARC `meta` elements of the page.
    Page,
    /// The `X-Robots-Tag` field.
    Tag,
    /// The `Content-Signal` field.
    Signal,
}

impl Origin {
    /// What people call it.
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

/// What a statement means for us, the most restrictive last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The page may be used.
    Allows,
    /// It may be used, but not to train models; kept with the page's source,
    /// and for whoever trains to obey.
    NoTraining,
    /// Its links are not followed.
    NoFollow,
    /// Its words are not kept.
    Withholds,
    /// It is for those who have a login; we have none.
    NeedsLogin,
    /// It is not asked for.
    Forbids,
}

impl Effect {
    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allows => "allows",
            Self::NoTraining => "not for training",
            Self::NoFollow => "links are not followed",
            Self::Withholds => "words are not kept",
            Self::NeedsLogin => "needs a login",
            Self::Forbids => "not asked for",
        }
    }
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Where.
    pub origin: Origin,
    /// What, as it was written.
    pub text: String,
    /// What it means.
    pub effect: Effect,
}

/// What follows from everything that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Why words are not kept; `None` where they are.
    pub withheld: Option<Withheld>,
    /// Whether links of the page are followed.
    pub follows: bool,
    /// Whether the page may be asked for.
    pub asks: bool,
}

/// Joins statements; the most restrictive wins.
///
/// ```
/// use rutter_sync::consent::{Effect, Origin, Statement, join};
///
/// let said = |effect| Statement { origin: Origin::Meta, text: String::new(), effect };
/// assert_eq!(join(&[said(Effect::Allows)]).withheld, None);
/// assert!(join(&[said(Effect::Allows), said(Effect::Withholds)]).withheld.is_some());
/// ```
pub fn join(statements: &[Statement]) -> Verdict {
    let has = |effect| statements.iter().any(|statement| statement.effect == effect);
    let withheld = if has(Effect::Withholds) || has(Effect::NeedsLogin) {
        Some(Withheld::Consent)
    } else if has(Effect::Forbids) {
        Some(Withheld::Robots)
    } else {
        None
    };
    let asks = !has(Effect::Forbids) && !has(Effect::NeedsLogin);
    Verdict { withheld, follows: asks && !has(Effect::NoFollow), asks }
}

/// What an ARC entry says (ARC-056, ARC-057).
pub fn of_arc(entry: &Entry<'_>) -> Vec<Statement> {
    let mut said = Vec::new();
    let mut say = |origin, text: String, effect| said.push(Statement { origin, text, effect });
    let flag = |flag: Option<bool>| flag.map_or("not said".to_owned(), |flag| flag.to_string());
    let indexable = if entry.ai_indexable == Some(true) && !entry.is_doubtful && !entry.removed {
        Effect::Allows
    } else {
        Effect::Withholds
    };
    say(Origin::ArcIndexable, flag(entry.ai_indexable), indexable);
    if entry.auth_required == Some(true) {
        say(Origin::ArcLogin, "true".to_owned(), Effect::NeedsLogin);
    }
    if let Some(text) = entry.robots_directive.as_deref() {
        for effect in effects(entry.directives()) {
            say(Origin::ArcDirective, text.to_owned(), effect);
        }
    }
    // The entry's own verdict is never weaker than its parts.
    debug_assert!(entry.consent() == Consent::Given || join(&said).withheld.is_some());
    said
}

/// What robots.txt says of an address.
pub fn of_robots(forbidden: Option<&RobotsReason>) -> Statement {
    match forbidden {
        Some(reason) => Statement {
            origin: Origin::RobotsTxt,
            text: reason.to_string(),
            effect: Effect::Forbids,
        },
        None => Statement {
            origin: Origin::RobotsTxt,
            text: "no rule against it".to_owned(),
            effect: Effect::Allows,
        },
    }
}

/// What a page says of its own use: robots `meta` elements, `data-ai-*`
/// attributes and ARC `meta` elements, for everybody or for us by name.
/// `rutter build` asks the same [`Wishes`].
pub fn of_page(extraction: &Extraction, token: &str, now: Timestamp) -> Vec<Statement> {
    let metas = extraction.facts.metas.iter();
    let ours = metas.filter(|(name, _)| name == "robots" || is_us(name, token));
    let mut said: Vec<Statement> = ours
        .flat_map(|(_, value)| statements(Origin::Meta, value, &Wishes::of_directives(value), now))
        .collect();
    let wishes = Wishes::of(extraction, token);
    let text = match wishes.refusal(now) {
        Some(Refusal::Login) => "auth-required".to_owned(),
        Some(Refusal::NoAi) if wishes.is_for_ai == Some(false) => {
            "ai-indexable is not true".to_owned()
        }
        _ => wishes.robots.join(", "),
    };
    for more in statements(Origin::Page, &text, &wishes, now) {
        if !said.iter().any(|said| said.effect == more.effect) {
            said.push(more);
        }
    }
    said
}

/// `unavailable_after` of a page: the earliest date, past or not.
pub(crate) fn expiry_of_page(extraction: &Extraction, token: &str) -> Option<Timestamp> {
    Wishes::of(extraction, token).unavailable_after
}

/// `unavailable_after` of `X-Robots-Tag` fields: the earliest date.
pub(crate) fn expiry_of_tags(values: &[String], token: &str) -> Option<Timestamp> {
    values.iter().filter_map(|value| tag_wishes(value, token).unavailable_after).min()
}

/// What `X-Robots-Tag` fields say, for everybody or for us by name.
pub fn of_tags(values: &[String], token: &str, now: Timestamp) -> Vec<Statement> {
    let said = values
        .iter()
        .flat_map(|value| statements(Origin::Tag, value, &tag_wishes(value, token), now));
    said.collect()
}

/// The wishes of one `X-Robots-Tag` field; none where it is for another agent.
fn tag_wishes(value: &str, token: &str) -> Wishes {
    // `agent: words` is for one agent; `max-snippet: 5` is for all.
    let (agent, words) = match value.split_once(':') {
        Some((agent, words)) if !agent.contains(',') && !is_word(agent.trim()) => {
            (Some(agent.trim()), words)
        }
        _ => (None, value),
    };
    let is_ours = agent.is_none_or(|agent| agent == "*" || is_us(agent, token));
    Wishes::of_directives(if is_ours { words } else { "" })
}

/// What `Content-Signal` says: `search` and `ai-input` are what a replica is
/// for, `ai-train` is for whoever trains.
pub fn of_signal(origin: Origin, value: &str) -> Option<Statement> {
    let mut effect = None;
    for (name, is_yes) in signals(value) {
        let one = match (name.as_str(), is_yes) {
            ("search" | "ai-input", false) => Effect::Withholds,
            ("ai-train", false) => Effect::NoTraining,
            ("search" | "ai-input" | "ai-train", true) => Effect::Allows,
            _ => continue,
        };
        effect = effect.max(Some(one));
    }
    effect.map(|effect| Statement { origin, text: value.trim().to_owned(), effect })
}

/// Names in lower case and answers of a `Content-Signal`, separated by commas,
/// semicolons or blanks. An answer other than `yes` and `no` is ignored.
fn signals(value: &str) -> Vec<(String, bool)> {
    let spaced = value.replace('=', " = ").replace([',', ';'], " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let pair = |words: &[&str]| match words {
        [name, "=", answer] if answer.eq_ignore_ascii_case("yes") => {
            Some((name.to_ascii_lowercase(), true))
        }
        [name, "=", answer] if answer.eq_ignore_ascii_case("no") => {
            Some((name.to_ascii_lowercase(), false))
        }
        _ => None,
    };
    words.windows(3).filter_map(pair).collect()
}

/// The `Content-Signal` lines of a robots.txt, for one agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signals {
    /// The file, where it has such lines, and what it calls us.
    robots: Option<(Robots, String)>,
}

impl Signals {
    /// Reads robots.txt for an agent.
    pub fn of_robots(robots: &[u8], token: &str) -> Self {
        let robots = Robots::parse(robots);
        Self { robots: robots.has_signals().then(|| (robots, token.to_owned())) }
    }

    /// What they say of a path with its query.
    pub fn about(&self, target: &str) -> Vec<Statement> {
        let Some((robots, token)) = &self.robots else { return Vec::new() };
        let said = robots.signals(token, target).into_iter();
        said.filter_map(|text| of_signal(Origin::SignalInRobots, text)).collect()
    }

    /// Whether they keep the words of a page from us.
    pub fn withholds(&self, target: &str) -> bool {
        self.about(target).iter().any(|said| said.effect == Effect::Withholds)
    }
}

/// What the fields of an answer say; also of one without a body.
pub fn of_fields(fields: &rutter_fetch::Fields, token: &str, now: Timestamp) -> Vec<Statement> {
    let mut said = of_tags(&fields.robots_tags, token, now);
    let signals = fields.content_signals.iter();
    said.extend(signals.filter_map(|value| of_signal(Origin::Signal, value)));
    said
}

fn statements(origin: Origin, text: &str, wishes: &Wishes, now: Timestamp) -> Vec<Statement> {
    let withholds = wishes.refusal(now).map(|refusal| match refusal {
        Refusal::Login => Effect::NeedsLogin,
        _ => Effect::Withholds,
    });
    let follows = wishes.asks("nofollow").then_some(Effect::NoFollow);
    let said = withholds.into_iter().chain(follows);
    said.map(|effect| Statement { origin, text: text.to_owned(), effect }).collect()
}

/// Whether statements forbid training, or allow it; `None` where none speaks
/// of it clearly. One `no` outweighs every `yes`.
pub(crate) fn training(said: &[Statement]) -> Option<bool> {
    let is_signal = |it: &&Statement| matches!(it.origin, Origin::Signal | Origin::SignalInRobots);
    let signals = said.iter().filter(is_signal).flat_map(|it| signals(&it.text));
    signals.filter(|(name, _)| name == "ai-train").map(|(_, is_yes)| is_yes).min()
}

fn effects(directives: Directives) -> Vec<Effect> {
    let mut effects = Vec::new();
    if directives.has(Directive::NoIndex) || directives.has(Directive::NoAi) {
        effects.push(Effect::Withholds);
    }
    if directives.has(Directive::NoFollow) {
        effects.push(Effect::NoFollow);
    }
    effects
}

fn is_us(agent: &str, token: &str) -> bool {
    agent.trim().eq_ignore_ascii_case(token)
}

/// Words that take a value after a colon of their own.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 4] =
        ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::parse("2027-01-10T00:00:00Z").unwrap()
    }

    fn withheld(said: &[Statement]) -> bool {
        join(said).withheld.is_some()
    }

    #[test] // ARC-056 ARC-057 D56 D57 D58
    fn spec_an_arc_entry_must_say_yes_clearly() {
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
            let entry = Entry::from_json(json).unwrap();
            let verdict = join(&of_arc(&entry));
            assert_eq!(verdict.withheld.is_some(), wanted.is_some(), "{json}");
            // What needs a login is not even asked for.
            assert_eq!(verdict.asks, wanted != Some(false), "{json}");
        }
    }

    #[test] // D58
    fn ours_tags_are_for_everybody_or_for_us() {
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
        assert!(!join(&of_tags(&["nofollow".to_owned()], "Rutter", now())).follows);
    }

    #[test]
    fn ours_signals_of_the_own_group_count() {
        let robots = b"User-agent: *\nContent-Signal: search=yes, ai-input=no\nAllow: /\n\
                      User-agent: Rutter/1.0\nContent-Signal: /docs/ ai-input=no, ai-train=no\n\
                      Content-Signal: /*.pdf$ ai-input=no\nContent-Signal: ai-train=no\n";
        assert!(withheld(&Signals::of_robots(robots, "Other").about("/")));
        let ours = Signals::of_robots(robots, "rutter");
        assert!(withheld(&ours.about("/docs/a")) && ours.withholds("/docs/a"));
        assert!(ours.withholds("/blog/a.pdf") && !ours.withholds("/blog/a.pdf.html"));
        let rest = ours.about("/blog");
        assert!(!withheld(&rest) && !ours.withholds("/blog"));
        assert_eq!(rest.first().map(|said| said.effect), Some(Effect::NoTraining));
        assert!(of_signal(Origin::Signal, "weather=no").is_none());
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
            let said: Vec<Statement> = of_signal(Origin::Signal, value).into_iter().collect();
            assert_eq!(training(&said), wanted, "{value}");
            let forbids = said.iter().any(|said| said.effect == Effect::NoTraining);
            assert_eq!(forbids, wanted == Some(false), "{value}");
        }
        assert!(withheld(
            &of_signal(Origin::Signal, "ai-train=no ai-input = no").into_iter().collect::<Vec<_>>()
        ));
    }

    #[test] // D58 D87
    fn spec_the_most_restrictive_wins() {
        use Effect::{Allows, Forbids, NeedsLogin, NoFollow, NoTraining, Withholds};
        let said = |effect| Statement { origin: Origin::Meta, text: String::new(), effect };
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
            let found = (verdict.withheld.is_none(), verdict.follows, verdict.asks);
            assert_eq!(found, (kept, follows, asks), "{effects:?}");
        }
    }
}
