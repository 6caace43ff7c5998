//! Recognizes programs by their `User-Agent`: AI agents, and classes of other clients.
//!
//! The names of AI agents come from `agents.txt`, a table that `cargo xtask agents` generates; the
//! names of search engines, other bots and tools are in `names.rs`. One pass over a
//! `User-Agent` finds all names. A name counts only where a product name may occur: not inside a
//! word or a URL, and not in the middle of a comment. If several names match, the class that comes
//! first in [`ClientClass`] wins, then the longest name.
//!
//! A recognized name is not verified: a client can claim any name, and the IP address lists of
//! operators are not used.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

mod names;

use names::{BOTS, SEARCH, TOOLS};

/// Class of the client that sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientClass {
    /// An AI agent, with one of the purposes in [`Purpose`].
    Ai,
    /// A crawler of a search engine.
    Search,
    /// A crawler that is neither an AI agent nor of a search engine.
    Bot,
    /// A browser, or a program that claims to be one.
    Browser,
    /// A library or command-line tool.
    Tool,
    /// The `User-Agent` is missing, or no rule recognizes it.
    Unknown,
}

impl ClientClass {
    /// All client classes, in the order in which outputs list them.
    pub const ALL: [Self; 6] =
        [Self::Ai, Self::Search, Self::Bot, Self::Browser, Self::Tool, Self::Unknown];

    /// Returns the lower-case name that all outputs use for the class or purpose.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ai => "ai",
            Self::Search => "search engine",
            Self::Bot => "other bot",
            Self::Browser => "browser",
            Self::Tool => "tool",
            Self::Unknown => "unknown",
        }
    }
}

/// The purpose of an AI agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// Training of models.
    Training,
    /// Finding and citing pages in answers.
    Search,
    /// Answering a question of a person who uses an assistant.
    Assistant,
    /// Operating web pages on behalf of a person.
    Agent,
    /// Reading documentation for a coding assistant.
    Coding,
    /// Collecting data to sell it or pass it on.
    Data,
    /// The purpose is unknown or not in this list.
    Other,
}

impl Purpose {
    /// Returns the lower-case name that all outputs use for the class or purpose.
    pub fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Search => "search",
            Self::Assistant => "assistant",
            Self::Agent => "agent",
            Self::Coding => "coding",
            Self::Data => "data",
            Self::Other => "other",
        }
    }

    fn parse(name: &str) -> Self {
        let all =
            [Self::Training, Self::Search, Self::Assistant, Self::Agent, Self::Coding, Self::Data];
        all.into_iter().find(|purpose| purpose.name() == name).unwrap_or(Self::Other)
    }
}

/// A program that is recognized by its name in the `User-Agent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// Name of the program in the `User-Agent`, as its operator writes it.
    pub name: &'static str,
    /// Class of the program.
    pub class: ClientClass,
    /// Purpose of the program; `None` if it is not an AI agent.
    pub purpose: Option<Purpose>,
    /// Operator of the program, if known.
    pub operator: Option<&'static str>,
    /// Index of the program in [`all`].
    pub(crate) idx: usize,
    place: NamePosition,
}

/// Where in a `User-Agent` the name of a program must occur to be recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamePosition {
    /// Anywhere a product name may occur, also in comments.
    Any,
    /// Only outside of comments and before a version, because the name is also a common word.
    Product,
    /// Only at the start of the `User-Agent`.
    First,
}

/// The result of recognizing a `User-Agent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecognizedClient {
    /// Class of the program.
    pub class: ClientClass,
    /// The program; `None` if the `User-Agent` contains no known name.
    pub agent: Option<&'static Agent>,
}

/// Maximum length in bytes of the word before a name that [`is_name_begun`] inspects.
const MAX_WORD: usize = 256;

const TABLE: &str = include_str!("agents.txt");

static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| {
    let mut agents = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default();
        let (name, purpose, operator) = (cell(), cell(), cell());
        let (name, place) = match name.strip_prefix('!') {
            Some(name) => (name, NamePosition::Product),
            None => (name, NamePosition::Any),
        };
        agents.push(Agent {
            name,
            class: ClientClass::Ai,
            purpose: Some(Purpose::parse(purpose)),
            operator: (operator != "-").then_some(operator),
            idx: agents.len(),
            place,
        });
    }
    let others = [
        (&SEARCH[..], ClientClass::Search, NamePosition::Any),
        (&BOTS[..], ClientClass::Bot, NamePosition::Any),
        (&TOOLS[..], ClientClass::Tool, NamePosition::First),
    ];
    for (names, class, place) in others {
        for name in names {
            let idx = agents.len();
            agents.push(Agent { name, class, purpose: None, operator: None, idx, place });
        }
    }
    agents
});

static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(AGENTS.iter().map(|agent| agent.name))
        .expect("a few hundred names are within the limits")
});

/// Returns all known programs: AI agents first, then search engines, other bots and tools.
pub fn all() -> &'static [Agent] {
    &AGENTS
}

/// Returns whether `name` is the name of a known program or client class, ignoring case.
pub fn is_known(name: &str) -> bool {
    let mut names = all().iter().map(|agent| agent.name);
    names.any(|known| known.eq_ignore_ascii_case(name))
        || ClientClass::ALL.iter().any(|class| class.name().eq_ignore_ascii_case(name))
}

/// Returns the repository and commit that the names of AI agents come from.
pub fn source() -> &'static str {
    let line = TABLE.lines().nth(1).unwrap_or_default();
    line.trim_start_matches("# From ").split(',').next().unwrap_or_default()
}

impl RecognizedClient {
    /// Returns the name of the program; if it is unknown, the name of its class.
    pub fn name(self) -> &'static str {
        self.agent.map_or(self.class.name(), |agent| agent.name)
    }
}

/// Recognizes the program that sent a `User-Agent`.
///
/// ```
/// # use rutter_logs::agents::{ClientClass, recognize};
/// let known = recognize("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)");
/// assert_eq!(known.agent.map(|agent| agent.name), Some("GPTBot"));
/// assert_eq!(recognize("Mozilla/5.0 (X11) Firefox/140.0").class, ClientClass::Browser);
/// ```
pub fn recognize(user_agent: &str) -> RecognizedClient {
    let mut hits: Vec<NameMatch> = NAMES
        .find_overlapping_iter(user_agent)
        .filter_map(|found| {
            let agent = AGENTS.get(found.pattern().as_usize())?;
            let hit = NameMatch { start: found.start(), end: found.end(), agent };
            hit.is_apart(user_agent).then_some(hit)
        })
        .collect();
    hits.sort_unstable_by_key(|hit| hit.start);
    let mut best: Option<&'static Agent> = None;
    // Counting parentheses from the previous match, not from the start of the text, keeps the
    // search linear.
    let (mut depth, mut counted) = (0, 0);
    for hit in hits {
        depth = paren_depth(depth, user_agent.get(counted..hit.start).unwrap_or_default());
        counted = hit.start;
        if !hit.is_product(user_agent, 0 < depth) {
            continue;
        }
        let rank = |agent: &Agent| (std::cmp::Reverse(agent.class), agent.name.len());
        if best.is_none_or(|best| rank(best) < rank(hit.agent)) {
            best = Some(hit.agent);
        }
    }
    match best {
        Some(agent) => RecognizedClient { class: agent.class, agent: Some(agent) },
        None => RecognizedClient { class: guess(user_agent), agent: None },
    }
}

/// The name of a program at a position of a `User-Agent`.
struct NameMatch {
    start: usize,
    end: usize,
    agent: &'static Agent,
}

impl NameMatch {
    fn around<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        (text.get(..self.start).unwrap_or("x"), text.get(self.end..).unwrap_or("x"))
    }

    /// Returns whether the matched name is a separate word, not a part of a longer one.
    fn is_apart(&self, text: &str) -> bool {
        let (before, after) = self.around(text);
        let is_free = |c: char| matches!(c, ' ' | '(' | ';' | ',' | '[' | '"' | '\'');
        let may_end = |c: char| matches!(c, '/' | ')' | ']') || is_free(c);
        before.chars().next_back().is_none_or(is_free) && after.chars().next().is_none_or(may_end)
    }

    /// Returns whether the matched name occurs where [`NamePosition`] requires it.
    fn is_product(&self, text: &str, is_remark: bool) -> bool {
        let (before, after) = self.around(text);
        let has_version = has_version(after);
        match self.agent.place {
            NamePosition::First => before.is_empty(),
            NamePosition::Product => has_version && !is_remark && !is_name_begun(before),
            NamePosition::Any if has_version || !is_remark => true,
            // A name without a version in a comment must be at the start of a part of the comment.
            NamePosition::Any => {
                let last = before.trim_ascii_end().chars().next_back();
                last.is_none_or(|c| matches!(c, '(' | ';' | ',' | '['))
            }
        }
    }
}

fn has_version(after: &str) -> bool {
    let digits = after.strip_prefix('/').map(|rest| rest.trim_start_matches(['v', 'V']));
    digits.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether the text before a match ends with a word of the same product name. In `Sogou web
/// spider/4.0`, `spider` is not the whole name, because `web` has no version.
fn is_name_begun(before: &str) -> bool {
    // A word of more than `MAX_WORD` bytes is not part of a product name.
    let near = before.len().saturating_sub(MAX_WORD);
    let before = before.get(before.ceil_char_boundary(near)..).unwrap_or_default();
    let last = before.split_ascii_whitespace().next_back();
    last.is_some_and(|last| !last.contains('/') && !last.ends_with([')', ';', ',']))
}

/// Returns the number of open parentheses after `text`, if `depth` were open before it.
fn paren_depth(depth: u32, text: &str) -> u32 {
    text.bytes().fold(depth, |depth, byte| match byte {
        b'(' => depth.saturating_add(1),
        b')' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// Guesses the class of a program whose name is unknown from its `User-Agent`.
fn guess(text: &str) -> ClientClass {
    let text = text.trim();
    if text.contains("+http://") || text.contains("+https://") || names_a_bot(text) {
        // Crawlers put a contact URL into the `User-Agent`; browsers do not.
        ClientClass::Bot
    } else if text.starts_with("Mozilla/") || text.starts_with("Opera/") {
        ClientClass::Browser
    } else if text.split(['/', ' ']).next().is_some_and(|name| name.len() < text.len())
        && text.contains('/')
    {
        ClientClass::Tool
    } else {
        ClientClass::Unknown
    }
}

/// Returns whether a product name in the `User-Agent` ends with bot, crawler or spider.
fn names_a_bot(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        // A word inside a URL is not a product name.
        let before = rest.get(..at).unwrap_or_default();
        let may_begin = !before.ends_with(['/', '@', ':', '?', '=', '+', '#']);
        let word = rest.get(at..).unwrap_or_default();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let end = word.find(|c: char| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at_checked(end).unwrap_or((word, ""));
        let is_ended = after.is_empty() || after.starts_with(['/', ';', ')', ',']);
        let word = word.to_ascii_lowercase();
        // Cubot is a brand of phones, not a crawler.
        let is_bot = ["bot", "crawler", "spider"].iter().any(|ending| word.ends_with(ending));
        if may_begin && is_ended && is_bot && word != "cubot" {
            return true;
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_well_formed() {
        assert_eq!(source(), "ai-robots-txt/ai.robots.txt 738c80d");
        let ai: Vec<_> = all().iter().filter(|agent| agent.class == ClientClass::Ai).collect();
        assert_eq!(ai.len(), 160);
        let mut names: Vec<String> = all().iter().map(|agent| agent.name.to_lowercase()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all().len());
        for agent in all() {
            assert!(!agent.name.is_empty() && agent.name.is_ascii(), "{}", agent.name);
        }
    }

    #[test]
    fn recognizes_every_agent_by_its_name() {
        for agent in all() {
            let text = format!("{}/1.0", agent.name.to_uppercase());
            assert_eq!(recognize(&text).agent, Some(agent), "{text}");
        }
    }

    #[test]
    fn recognizes_long_texts_in_linear_time() {
        // A search that starts again at the beginning of the text for each match would take hours.
        for part in ["(GPTBot) ", "GPTBot;", "Code/1.0;", "(x ;GPTBot "] {
            let known = recognize(&part.repeat((2 << 20) / part.len()));
            assert_eq!(known.class, ClientClass::Ai, "{part}");
        }
        let text = format!("({}) GPTBot/1.0", "bot ".repeat(100_000));
        assert_eq!(recognize(&text).agent.map(|agent| agent.name), Some("GPTBot"));
    }

    #[test]
    fn accepts_any_text() {
        for text in ["", "(", ")))", "GPTBot", "é/1.0", "\u{202e}GPTBot/1", "((((GPTBot", "/ / /"]
        {
            let known = recognize(text);
            assert_eq!(known.agent.is_some(), matches!(text, "GPTBot" | "((((GPTBot"), "{text}");
        }
    }
}
