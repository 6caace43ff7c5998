//! Adds lines to a robots.txt that the site owner wrote (D81).
//!
//! All added lines are in one block between two marker comments; the rest of the file stays byte
//! for byte the same. The block does not change any decision that follows from the owner's lines.
//! Agents that the owner names are omitted from the block, and a block that would split a group of
//! the owner is moved to the end of the file.

use crate::lines::{Directive, lines, parse_directive, without_bom};
use crate::{RobotsRule, RobotsTxt, is_token_char};

const BEGIN: &[u8] = b"# rutter:begin";
const END: &[u8] = b"# rutter:end";

/// The lines that [`merge`] adds to a robots.txt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RobotsAdditions {
    /// URLs for `Sitemap` lines.
    pub sitemaps: Vec<String>,
    /// A group for named agents; `None` for no group.
    pub group: Option<AgentGroup>,
    /// Number of seconds between requests, for all agents.
    pub crawl_delay: Option<f64>,
    /// Comments, one line each.
    pub notes: Vec<String>,
}

/// A group for named agents.
///
/// A crawler that is named in a group ignores the group for `*`, so [`merge`]
/// first copies the rules of `*` into the new group (D79).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentGroup {
    /// Product tokens of the agents.
    pub agents: Vec<String>,
    /// Patterns of the Allow lines.
    pub allow: Vec<String>,
}

/// Merges `additions` into an existing robots.txt.
///
/// The block between `# rutter:begin` and `# rutter:end` is replaced; if the file has no block, it
/// is appended. Merging twice gives the same result as merging once. Empty additions remove the
/// block.
///
/// ```
/// # use rutter_robots::{RobotsAdditions, merge};
/// let additions = RobotsAdditions { sitemaps: vec!["https://h.example/s.xml".into()], ..RobotsAdditions::default() };
/// let merged = merge(Some(b"User-agent: *\nDisallow: /x\n"), &additions);
/// assert_eq!(
///     String::from_utf8(merged.clone()).unwrap(),
///     "User-agent: *\nDisallow: /x\n\n# rutter:begin\n\
///      Sitemap: https://h.example/s.xml\n# rutter:end\n"
/// );
/// assert_eq!(merge(Some(&merged), &additions), merged);
/// ```
pub fn merge(existing: Option<&[u8]>, additions: &RobotsAdditions) -> Vec<u8> {
    let SplitFile { head, tail, has_block } = split(existing.unwrap_or_default());
    let outside = [head.as_slice(), tail.as_slice()].concat();
    let owner = RobotsTxt::parse(&outside);
    let splits_group = has_block && would_split_group(&head, &tail);
    let (before, after): (&[u8], &[u8]) =
        if has_block && !splits_group { (&head, &tail) } else { (&outside, b"") };
    let opening = GroupState { is_open: ends_with_open_group(before) };
    let assemble = |block: &[u8]| {
        let mut out = before.to_vec();
        if block.is_empty() {
            out.extend(after);
            return out;
        }
        if !out.is_empty() && !matches!(out.last(), Some(b'\n' | b'\r')) {
            out.push(b'\n');
        }
        // A new block is preceded by one empty line. A replaced block keeps the line before it.
        let is_new = !has_block || splits_group;
        if is_new && !without_bom(&out).is_empty() && !ends_with_empty_line(&out) {
            out.push(b'\n');
        }
        out.extend(block);
        out.extend(after);
        out
    };
    let merged = assemble(&block(additions, &owner, opening, additions.group.as_ref()));
    if merged.len() <= RobotsTxt::MAX_BYTES {
        return merged;
    }
    // Crawlers stop reading at the size limit, and a group without its rules allows everything.
    // Therefore a large file only gets the lines that need no group.
    let additions = RobotsAdditions { crawl_delay: None, ..additions.clone() };
    assemble(&block(&additions, &owner, opening, None))
}

struct SplitFile {
    head: Vec<u8>,
    tail: Vec<u8>,
    has_block: bool,
}

/// Removes the blocks. Head and tail are the parts of the file before and after the first block.
///
/// Markers pair up like brackets and the outermost pairs are removed, so the
/// remaining text contains no pair.
fn split(bytes: &[u8]) -> SplitFile {
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
        return SplitFile { head: bytes.to_vec(), tail: Vec::new(), has_block: false };
    };
    let head = bytes.get(..first).unwrap_or_default().to_vec();
    let mut tail = Vec::new();
    let ends = cuts.iter().skip(1).map(|(start, _)| *start).chain([bytes.len()]);
    for ((_, end), next) in cuts.iter().zip(ends) {
        tail.extend(bytes.get(*end..next).unwrap_or_default());
    }
    SplitFile { head, tail, has_block: true }
}

/// Returns whether a block between `head` and `tail` would split a group.
fn would_split_group(head: &[u8], tail: &[u8]) -> bool {
    let first = lines(tail).find_map(|line| match parse_directive(line.text).0 {
        Directive::AgentName(_) => Some(true),
        Directive::Allow(_) | Directive::Disallow(_) | Directive::Delay(_) => Some(false),
        _ => None,
    });
    match first {
        None => false,
        Some(is_agent) => !is_agent || ends_with_open_group(head),
    }
}

/// Returns whether the last group has names but no rule yet.
fn ends_with_open_group(bytes: &[u8]) -> bool {
    let mut is_open = false;
    for line in lines(without_bom(bytes)) {
        match parse_directive(line.text).0 {
            Directive::AgentName(_) => is_open = true,
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
struct GroupState {
    is_open: bool,
}

/// Returns the block with its marker comments, or no bytes if `additions` is empty.
fn block(
    additions: &RobotsAdditions,
    owner: &RobotsTxt,
    opening: GroupState,
    group: Option<&AgentGroup>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for note in additions.notes.iter().flat_map(|note| note.lines()) {
        let note = single_line(note);
        // A comment must not look like a marker.
        let gap = if note.trim_start().starts_with("rutter:") { "- " } else { "" };
        out.extend(format!("# {gap}{note}\n").bytes());
    }
    let agents = group.map(|group| new_agents(&group.agents, owner)).unwrap_or_default();
    let delay = additions.crawl_delay.filter(|delay| delay.is_finite() && 0.0 <= *delay);
    let general = delay.filter(|_| owner.crawl_delay("*").is_none());
    if opening.is_open && (!agents.is_empty() || general.is_some()) {
        // End the group above the block, which has names but no rule.
        out.extend(b"Disallow:\n");
    }
    if let Some(delay) = general {
        // An empty rule ends the group; otherwise the names that follow would join this group.
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
    let mut listed: Vec<String> = owner.sitemaps().map(|(_, url)| url.to_owned()).collect();
    for url in additions.sitemaps.iter().map(|url| single_line(url)) {
        if !url.is_empty() && !listed.contains(&url) {
            out.extend(format!("Sitemap: {url}\n").bytes());
            listed.push(url);
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

/// Returns the valid names in `wanted` that the owner's lines do not contain, without duplicates.
fn new_agents(wanted: &[String], owner: &RobotsTxt) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    for name in wanted {
        // RFC 9309 does not allow digits in a token, but real names contain them.
        let is_name_char = |c: char| is_token_char(c) || c.is_ascii_digit();
        let end = name.find(|c: char| !is_name_char(c)).unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default();
        let is_known = owner.groups.iter().any(|group| group.names_agent(name))
            || owner.agents().any(|agent| is_same_token(agent, name))
            || agents.iter().any(|agent| agent.eq_ignore_ascii_case(name));
        if !name.is_empty() && !is_known {
            agents.push(name.to_owned());
        }
    }
    agents
}

/// Returns whether a crawler that implements RFC 9309 strictly treats the two
/// names as the same token.
fn is_same_token(one: &str, other: &str) -> bool {
    let token = |name: &str| {
        let end = name.find(|c: char| !is_token_char(c)).unwrap_or(name.len());
        name.get(..end).unwrap_or_default().to_ascii_lowercase()
    };
    token(one) == token(other) || token(other).eq_ignore_ascii_case(one)
}

/// Writes a rule so that it parses to the same pattern.
fn write_rule(rule: &RobotsRule, out: &mut Vec<u8>) {
    out.extend(if rule.is_allow { b"Allow: ".as_slice() } else { b"Disallow: " });
    // Invalid UTF-8 was replaced in `pattern`; the encoded form contains the original bytes.
    let is_lossy = rule.pattern.contains(char::REPLACEMENT_CHARACTER);
    out.extend(if is_lossy { rule.written.as_slice() } else { rule.pattern.as_bytes() });
    while out.last() == Some(&b' ') {
        out.pop();
    }
    out.push(b'\n');
}

fn clean_pattern(pattern: &str) -> Option<String> {
    let pattern = single_line(pattern).replace('#', "%23").replace(' ', "%20");
    if pattern.is_empty() {
        return None;
    }
    Some(if pattern.starts_with(['/', '*']) { pattern } else { format!("/{pattern}") })
}

/// Removes characters that could start another line.
fn single_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}
