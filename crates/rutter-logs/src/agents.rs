//! Programs by their `User-Agent`: which read for AI, and what the others are.
//!
//! Names of AI agents are a table made by `cargo xtask agents` (`agents.txt`,
//! which says where it is from); those of search engines, other bots and tools
//! are below. All are looked for in one pass. A name counts where a product
//! may stand: not within a word or an address, and not in the middle of a
//! remark. Of several, one that reads for AI counts first, then the longest.
//!
//! Refuses: to believe. A name is what a client says of itself; whoever wants
//! proof asks the operator's list of addresses, which we do not have.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// What kind of program came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Reads for AI: training, answers, assistants.
    Ai,
    /// Indexes for a search engine.
    Search,
    /// Any other program that goes around by itself.
    Bot,
    /// A person with a browser, or what says so.
    Browser,
    /// A library or a command that somebody runs.
    Tool,
    /// Says nothing, or nothing we know.
    Unknown,
}

impl Class {
    /// All classes, in the order in which they are listed.
    pub const ALL: [Self; 6] =
        [Self::Ai, Self::Search, Self::Bot, Self::Browser, Self::Tool, Self::Unknown];

    /// The lower-case word used in all outputs.
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

/// What an AI agent reads for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// To train models.
    Training,
    /// To find and cite pages in answers.
    Search,
    /// Because a user of an assistant asked.
    Assistant,
    /// To act on pages for a user.
    Agent,
    /// Because a programmer's helper asked.
    Coding,
    /// To sell or hand on what it read.
    Data,
    /// Not told, or something else.
    Other,
}

impl Purpose {
    /// The lower-case word used in all outputs.
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

/// A program we know by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// Its name in the `User-Agent`, as its operator writes it.
    pub name: &'static str,
    /// What kind of program it is.
    pub class: Class,
    /// What an AI agent reads for.
    pub purpose: Option<Purpose>,
    /// Who runs it, where that is known.
    pub operator: Option<&'static str>,
    /// Its number in the table.
    pub(crate) idx: usize,
    place: Place,
}

/// Where a name must stand to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Wherever a product may.
    Any,
    /// Outside of remarks and with a version: the name is a word.
    Product,
    /// First of all.
    First,
}

/// What a `User-Agent` was recognised as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The kind of program.
    pub class: Class,
    /// The program, where its name is one we know.
    pub agent: Option<&'static Agent>,
}

/// Longest word before a name that is looked at.
const LONGEST_WORD: usize = 256;

const TABLE: &str = include_str!("agents.txt");

const SEARCH: [&str; 18] = [
    "360Spider",
    "Baiduspider",
    "bingbot",
    "BingPreview",
    "Coccocbot",
    "coccocbot-web",
    "DuckDuckBot",
    "Googlebot",
    "Googlebot-Image",
    "Googlebot-News",
    "Googlebot-Video",
    "MojeekBot",
    "Qwantbot",
    "SeznamBot",
    "Sogou web spider",
    "Yahoo! Slurp",
    "YandexBot",
    "Yeti",
];

const BOTS: [&str; 20] = [
    "AdsBot-Google",
    "AhrefsBot",
    "archive.org_bot",
    "BLEXBot",
    "DataForSeoBot",
    "Discordbot",
    "DotBot",
    "Feedly",
    "heritrix",
    "ia_archiver",
    "LinkedInBot",
    "Mediapartners-Google",
    "MJ12bot",
    "Pingdom.com_bot",
    "SemrushBot",
    "Slackbot",
    "TelegramBot",
    "Twitterbot",
    "UptimeRobot",
    "WhatsApp",
];

const TOOLS: [&str; 24] = [
    "aiohttp",
    "Apache-HttpClient",
    "axios",
    "curl",
    "Dart",
    "Deno",
    "Go-http-client",
    "GuzzleHttp",
    "got",
    "HTTPie",
    "Java",
    "libwww-perl",
    "node",
    "node-fetch",
    "okhttp",
    "PostmanRuntime",
    "python-httpx",
    "Python-urllib",
    "python-requests",
    "reqwest",
    "Ruby",
    "rutter",
    "undici",
    "Wget",
];

static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| {
    let mut agents = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default();
        let (name, purpose, operator) = (cell(), cell(), cell());
        let (name, place) = match name.strip_prefix('!') {
            Some(name) => (name, Place::Product),
            None => (name, Place::Any),
        };
        agents.push(Agent {
            name,
            class: Class::Ai,
            purpose: Some(Purpose::parse(purpose)),
            operator: (operator != "-").then_some(operator),
            idx: agents.len(),
            place,
        });
    }
    let others = [
        (&SEARCH[..], Class::Search, Place::Any),
        (&BOTS[..], Class::Bot, Place::Any),
        (&TOOLS[..], Class::Tool, Place::First),
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
        .expect("a few hundred names fit")
});

/// Every program we know by name: AI agents first, then the others.
pub fn all() -> &'static [Agent] {
    &AGENTS
}

/// Whether this is the name of a program we know or of a kind of client, in
/// any case.
pub fn is_known(name: &str) -> bool {
    let mut names = all().iter().map(|agent| agent.name);
    names.any(|known| known.eq_ignore_ascii_case(name))
        || Class::ALL.iter().any(|class| class.name().eq_ignore_ascii_case(name))
}

/// Where the table of AI agents is from.
pub fn source() -> &'static str {
    let line = TABLE.lines().nth(1).unwrap_or_default();
    line.trim_start_matches("# From ").split(',').next().unwrap_or_default()
}

impl Known {
    /// The program's name, or that of its kind.
    pub fn name(self) -> &'static str {
        self.agent.map_or(self.class.name(), |agent| agent.name)
    }
}

/// Says what a `User-Agent` tells of the program that sent it.
///
/// ```
/// # use rutter_logs::agents::{Class, recognise};
/// let known = recognise("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)");
/// assert_eq!(known.agent.map(|agent| agent.name), Some("GPTBot"));
/// assert_eq!(recognise("Mozilla/5.0 (X11) Firefox/140.0").class, Class::Browser);
/// ```
pub fn recognise(user_agent: &str) -> Known {
    let mut hits: Vec<Hit> = NAMES
        .find_overlapping_iter(user_agent)
        .filter_map(|found| {
            let agent = AGENTS.get(found.pattern().as_usize())?;
            let hit = Hit { start: found.start(), end: found.end(), agent };
            hit.is_apart(user_agent).then_some(hit)
        })
        .collect();
    hits.sort_unstable_by_key(|hit| hit.start);
    let mut best: Option<&'static Agent> = None;
    // Parentheses are counted on from name to name, never from the start again.
    let (mut depth, mut counted) = (0, 0);
    for hit in hits {
        depth = deeper(depth, user_agent.get(counted..hit.start).unwrap_or_default());
        counted = hit.start;
        if !hit.stands(user_agent, 0 < depth) {
            continue;
        }
        let rank = |agent: &Agent| (std::cmp::Reverse(agent.class), agent.name.len());
        if best.is_none_or(|best| rank(best) < rank(hit.agent)) {
            best = Some(hit.agent);
        }
    }
    match best {
        Some(agent) => Known { class: agent.class, agent: Some(agent) },
        None => Known { class: guess(user_agent), agent: None },
    }
}

/// A name that was found.
struct Hit {
    start: usize,
    end: usize,
    agent: &'static Agent,
}

impl Hit {
    fn around<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        (text.get(..self.start).unwrap_or("x"), text.get(self.end..).unwrap_or("x"))
    }

    /// Tells whether it is a word of its own.
    fn is_apart(&self, text: &str) -> bool {
        let (before, after) = self.around(text);
        let is_free = |c: char| matches!(c, ' ' | '(' | ';' | ',' | '[' | '"' | '\'');
        let may_end = |c: char| matches!(c, '/' | ')' | ']') || is_free(c);
        before.chars().next_back().is_none_or(is_free) && after.chars().next().is_none_or(may_end)
    }

    /// Tells whether it is the name of a product.
    fn stands(&self, text: &str, is_remark: bool) -> bool {
        let (before, after) = self.around(text);
        let has_version = has_version(after);
        match self.agent.place {
            Place::First => before.is_empty(),
            Place::Product => has_version && !is_remark && !is_name_begun(before),
            Place::Any if has_version || !is_remark => true,
            // In a remark without a version: it must begin one of its parts.
            Place::Any => {
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

/// Tells whether a word without a version stands last: `Sogou web spider/4.0`
/// is not called `spider`.
fn is_name_begun(before: &str) -> bool {
    // Longer words are no names.
    let near = before.len().saturating_sub(LONGEST_WORD);
    let before = before.get(before.ceil_char_boundary(near)..).unwrap_or_default();
    let last = before.split_ascii_whitespace().next_back();
    last.is_some_and(|last| !last.contains('/') && !last.ends_with([')', ';', ',']))
}

/// How many parentheses are open behind this text, if `depth` are before it.
fn deeper(depth: u32, text: &str) -> u32 {
    text.bytes().fold(depth, |depth, byte| match byte {
        b'(' => depth.saturating_add(1),
        b')' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// The kind of a program whose name is not in the tables.
fn guess(text: &str) -> Class {
    let text = text.trim();
    if text.contains("+http://") || text.contains("+https://") || names_a_bot(text) {
        // An address to complain to is what crawlers add, and browsers do not.
        Class::Bot
    } else if text.starts_with("Mozilla/") || text.starts_with("Opera/") {
        Class::Browser
    } else if text.split(['/', ' ']).next().is_some_and(|name| name.len() < text.len())
        && text.contains('/')
    {
        Class::Tool
    } else {
        Class::Unknown
    }
}

/// Tells whether a product calls itself bot, crawler or spider.
fn names_a_bot(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        // Part of an address is no name.
        let before = rest.get(..at).unwrap_or_default();
        let may_begin = !before.ends_with(['/', '@', ':', '?', '=', '+', '#']);
        let word = rest.get(at..).unwrap_or_default();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let end = word.find(|c: char| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at_checked(end).unwrap_or((word, ""));
        let is_ended = after.is_empty() || after.starts_with(['/', ';', ')', ',']);
        let word = word.to_ascii_lowercase();
        // Cubot makes telephones.
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
    fn ours_the_table_is_well_formed() {
        assert_eq!(source(), "ai-robots-txt/ai.robots.txt 738c80d");
        let ai: Vec<_> = all().iter().filter(|agent| agent.class == Class::Ai).collect();
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
    fn ours_every_agent_is_known_by_its_own_name() {
        for agent in all() {
            let text = format!("{}/1.0", agent.name.to_uppercase());
            assert_eq!(recognise(&text).agent, Some(agent), "{text}");
        }
    }

    #[test]
    fn ours_a_long_text_is_read_once() {
        // Looked at from its start for each name, this would take hours.
        for part in ["(GPTBot) ", "GPTBot;", "Code/1.0;", "(x ;GPTBot "] {
            let known = recognise(&part.repeat((2 << 20) / part.len()));
            assert_eq!(known.class, Class::Ai, "{part}");
        }
        let text = format!("({}) GPTBot/1.0", "bot ".repeat(100_000));
        assert_eq!(recognise(&text).agent.map(|agent| agent.name), Some("GPTBot"));
    }

    #[test]
    fn ours_foreign_text_is_answered() {
        for text in ["", "(", ")))", "GPTBot", "é/1.0", "\u{202e}GPTBot/1", "((((GPTBot", "/ / /"]
        {
            let known = recognise(text);
            assert_eq!(known.agent.is_some(), matches!(text, "GPTBot" | "((((GPTBot"), "{text}");
        }
    }
}
