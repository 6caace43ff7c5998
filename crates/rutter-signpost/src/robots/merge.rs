//! Says something in a robots.txt that belongs to somebody else (D81).
//!
//! Everything goes into one block between two marks; the rest stays byte for
//! byte. The block changes no answer that the owner's own lines give: agents
//! the owner names are left out of our group, and where the block's place would
//! tear a group of the owner's apart it moves to the end.

use super::lines::{Directive, directive, lines, without_bom};
use super::{Robots, RobotsRule, is_token_char};

const BEGIN: &[u8] = b"# rutter:begin";
const END: &[u8] = b"# rutter:end";

/// What Rutter wants to say in robots.txt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wishes {
    /// Addresses of sitemaps.
    pub sitemaps: Vec<String>,
    /// A group for named agents.
    pub group: Option<AgentGroup>,
    /// Seconds between requests, for everybody.
    pub crawl_delay: Option<f64>,
    /// Comments, a line each.
    pub notes: Vec<String>,
}

/// Agents that get a group of their own.
///
/// A crawler with its own group ignores the group for `*`, so the rules of `*`
/// are copied into it first (D79).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentGroup {
    /// Their product tokens.
    pub agents: Vec<String>,
    /// Patterns they are told they may fetch.
    pub allow: Vec<String>,
}

/// Merges wishes into the owner's file.
///
/// Only the block between `# rutter:begin` and `# rutter:end` is replaced, or
/// appended where there is none; merging again changes nothing. Without a wish
/// the block goes.
///
/// ```
/// # use rutter_signpost::robots::{Wishes, merge};
/// let wishes = Wishes { sitemaps: vec!["https://h.example/s.xml".into()], ..Wishes::default() };
/// let merged = merge(Some(b"User-agent: *\nDisallow: /x\n"), &wishes);
/// assert_eq!(
///     String::from_utf8(merged.clone()).unwrap(),
///     "User-agent: *\nDisallow: /x\n\n# rutter:begin\n\
///      Sitemap: https://h.example/s.xml\n# rutter:end\n"
/// );
/// assert_eq!(merge(Some(&merged), &wishes), merged);
/// ```
pub fn merge(existing: Option<&[u8]>, wishes: &Wishes) -> Vec<u8> {
    let Parts { head, tail, has_block } = split(existing.unwrap_or_default());
    let outside = [head.as_slice(), tail.as_slice()].concat();
    let owner = Robots::parse(&outside);
    let is_torn = has_block && tears(&head, &tail);
    let (before, after): (&[u8], &[u8]) =
        if has_block && !is_torn { (&head, &tail) } else { (&outside, b"") };
    let opening = Opening { is_open: ends_open(before) };
    let whole = |block: &[u8]| {
        let mut out = before.to_vec();
        if block.is_empty() {
            out.extend(after);
            return out;
        }
        if !out.is_empty() && !matches!(out.last(), Some(b'\n' | b'\r')) {
            out.push(b'\n');
        }
        // One empty line sets a new block off; ours is still there next time.
        let is_new = !has_block || is_torn;
        if is_new && !without_bom(&out).is_empty() && !ends_with_empty_line(&out) {
            out.push(b'\n');
        }
        out.extend(block);
        out.extend(after);
        out
    };
    let merged = whole(&block(wishes, &owner, opening, wishes.group.as_ref()));
    if merged.len() <= Robots::MOST_BYTES {
        return merged;
    }
    // Crawlers stop reading there, and a group without its rules allows all;
    // so what tears nothing apart has to do.
    let wishes = Wishes { crawl_delay: None, ..wishes.clone() };
    whole(&block(&wishes, &owner, opening, None))
}

struct Parts {
    head: Vec<u8>,
    tail: Vec<u8>,
    has_block: bool,
}

/// Cuts the blocks out; the first one's place is where head and tail meet.
///
/// Marks pair up as brackets do and the outermost pairs go, so what remains has
/// no pair, wherever it is put together.
fn split(bytes: &[u8]) -> Parts {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    let mut open = Vec::new();
    for line in lines(bytes) {
        match line.text.trim_ascii() {
            BEGIN => open.push(line.start),
            END => {
                if let Some(start) = open.pop() {
                    cuts.retain(|(inner, _)| *inner < start);
                    cuts.push((start, line.end));
                }
            }
            _ => {}
        }
    }
    let Some(&(first, _)) = cuts.first() else {
        return Parts { head: bytes.to_vec(), tail: Vec::new(), has_block: false };
    };
    let head = bytes.get(..first).unwrap_or_default().to_vec();
    let mut tail = Vec::new();
    let ends = cuts.iter().skip(1).map(|(start, _)| *start).chain([bytes.len()]);
    for ((_, end), next) in cuts.iter().zip(ends) {
        tail.extend(bytes.get(*end..next).unwrap_or_default());
    }
    Parts { head, tail, has_block: true }
}

/// Tells whether a block between the two would part what belongs together.
fn tears(head: &[u8], tail: &[u8]) -> bool {
    let first = lines(tail).find_map(|line| match directive(line.text).0 {
        Directive::Agent(_) => Some(true),
        Directive::Allow(_) | Directive::Disallow(_) | Directive::Delay(_) => Some(false),
        _ => None,
    });
    match first {
        None => false,
        Some(is_agent) => !is_agent || ends_open(head),
    }
}

/// Tells whether the last group has names but no rule yet.
fn ends_open(bytes: &[u8]) -> bool {
    let mut is_open = false;
    for line in lines(without_bom(bytes)) {
        match directive(line.text).0 {
            Directive::Agent(_) => is_open = true,
            Directive::Allow(_) | Directive::Disallow(_) => is_open = false,
            _ => {}
        }
    }
    is_open
}

fn ends_with_empty_line(bytes: &[u8]) -> bool {
    bytes.ends_with(b"\n\n") || bytes.ends_with(b"\r\n\r\n") || bytes.ends_with(b"\r\r")
}

#[derive(Clone, Copy)]
struct Opening {
    is_open: bool,
}

/// The block with its marks; empty where nothing is wished.
fn block(wishes: &Wishes, owner: &Robots, opening: Opening, group: Option<&AgentGroup>) -> Vec<u8> {
    let mut out = Vec::new();
    for note in wishes.notes.iter().flat_map(|note| note.lines()) {
        let note = one_line(note);
        // A note must not end the block.
        let gap = if note.trim_start().starts_with("rutter:") { "- " } else { "" };
        out.extend(format!("# {gap}{note}\n").bytes());
    }
    let agents = group.map(|group| fresh_agents(&group.agents, owner)).unwrap_or_default();
    let delay = wishes.crawl_delay.filter(|delay| delay.is_finite() && 0.0 <= *delay);
    let general = delay.filter(|_| owner.crawl_delay("*").is_none());
    if opening.is_open && (!agents.is_empty() || general.is_some()) {
        // Ends the group above, whose names stand without a rule.
        out.extend(b"Disallow:\n");
    }
    if let Some(delay) = general {
        // An empty rule closes the group, or the next names would join it.
        out.extend(format!("User-agent: *\nCrawl-delay: {delay}\nDisallow:\n").bytes());
    }
    if let Some(group) = group.filter(|_| !agents.is_empty()) {
        for agent in &agents {
            out.extend(format!("User-agent: {agent}\n").bytes());
        }
        if let Some(delay) = owner.crawl_delay("*").or(delay) {
            out.extend(format!("Crawl-delay: {delay}\n").bytes());
        }
        for rule in owner.rules_for_all() {
            write_rule(rule, &mut out);
        }
        for pattern in group.allow.iter().filter_map(|pattern| clean_pattern(pattern)) {
            out.extend(format!("Allow: {pattern}\n").bytes());
        }
        if owner.rules_for_all().next().is_none() && group.allow.is_empty() {
            out.extend(b"Disallow:\n");
        }
    }
    let mut named: Vec<String> = owner.sitemaps().map(|(_, url)| url.to_owned()).collect();
    for url in wishes.sitemaps.iter().map(|url| one_line(url)) {
        if !url.is_empty() && !named.contains(&url) {
            out.extend(format!("Sitemap: {url}\n").bytes());
            named.push(url);
        }
    }
    if out.is_empty() {
        return out;
    }
    let mut block = [BEGIN, b"\n"].concat();
    block.extend(out);
    block.extend(END);
    block.push(b'\n');
    block
}

/// Valid names the owner does not speak of, each once.
fn fresh_agents(wanted: &[String], owner: &Robots) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    for name in wanted {
        // Digits are no part of a token by the letter, but of real names.
        let is_name_char = |c: char| is_token_char(c) || c.is_ascii_digit();
        let end = name.find(|c: char| !is_name_char(c)).unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default();
        let is_known = owner.groups.iter().any(|group| group.is_for(name))
            || owner.agents().any(|agent| is_same_token(agent, name))
            || agents.iter().any(|agent| agent.eq_ignore_ascii_case(name));
        if !name.is_empty() && !is_known {
            agents.push(name.to_owned());
        }
    }
    agents
}

/// Tells whether a crawler that reads tokens by the letter takes one name for
/// the other.
fn is_same_token(one: &str, other: &str) -> bool {
    let token = |name: &str| {
        let end = name.find(|c: char| !is_token_char(c)).unwrap_or(name.len());
        name.get(..end).unwrap_or_default().to_ascii_lowercase()
    };
    token(one) == token(other) || token(other).eq_ignore_ascii_case(one)
}

/// Repeats a rule so that it reads the same.
fn write_rule(rule: &RobotsRule, out: &mut Vec<u8>) {
    out.extend(if rule.is_allow { b"Allow: ".as_slice() } else { b"Disallow: " });
    // What was not UTF-8 has lost its bytes; the encoded form has not.
    let is_lossy = rule.pattern.contains(char::REPLACEMENT_CHARACTER);
    out.extend(if is_lossy { rule.light.as_slice() } else { rule.pattern.as_bytes() });
    while out.last() == Some(&b' ') {
        out.pop();
    }
    out.push(b'\n');
}

fn clean_pattern(pattern: &str) -> Option<String> {
    let pattern = one_line(pattern).replace('#', "%23").replace(' ', "%20");
    if pattern.is_empty() {
        return None;
    }
    Some(if pattern.starts_with(['/', '*']) { pattern } else { format!("/{pattern}") })
}

/// Text without what could begin another line.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}
