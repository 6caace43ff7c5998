//! Says what is wrong with a robots.txt.

use std::collections::{BTreeMap, BTreeSet};

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};

use super::agents::is_ai;
use super::lines::{Directive, Spelling, directive, lines, without_bom};
use super::{Agent, Group, Robots, RobotsRule, is_token_char, read_part, seconds};
use crate::rules;

/// Judges a file, line by line and then group by group.
pub fn judge(bytes: &[u8], sink: &mut dyn FindingSink) {
    if Robots::MOST_BYTES < bytes.len() {
        let detail = format!("{} bytes", bytes.len());
        sink.report(Finding::new(&rules::ROBOTS_TOO_LARGE, Place::WHOLE, detail));
    }
    let text = without_bom(bytes);
    if text.len() < bytes.len() {
        sink.report(Finding::new(&rules::ROBOTS_BOM, Place::line(1), ""));
    }
    if text.trim_ascii_start().starts_with(b"<") {
        sink.report(Finding::new(&rules::ROBOTS_IS_HTML, Place::line(1), ""));
        return;
    }
    let mut has_group = false;
    for line in lines(read_part(bytes)) {
        let mut found = |rule: &'static Rule, detail: String| {
            sink.report(Finding::new(rule, Place::line(line.number), detail));
        };
        if line.is_cut {
            found(&rules::ROBOTS_LINE_TOO_LONG, String::new());
        }
        if std::str::from_utf8(line.text).is_err() || line.text.contains(&0) {
            found(&rules::ROBOTS_NOT_TEXT, String::new());
        }
        let (directive, spelling) = directive(line.text);
        if spelling == Spelling::Guessed {
            found(&rules::MISSPELT_DIRECTIVE, shown(line.text.trim_ascii()));
        }
        match directive {
            Directive::Agent(value) => {
                has_group = true;
                judge_agent(value, &mut found);
            }
            Directive::Allow(value) | Directive::Disallow(value) => {
                if !has_group {
                    found(&rules::RULE_OUTSIDE_GROUP, shown(value));
                }
                if !matches!(value.first(), None | Some(b'/' | b'*')) {
                    found(&rules::BAD_PATTERN, shown(value));
                }
            }
            Directive::Sitemap(value) => {
                let is_absolute = std::str::from_utf8(value)
                    .is_ok_and(|url| rutter_page::HttpUrl::parse(url).is_ok());
                if !is_absolute {
                    found(&rules::RELATIVE_SITEMAP, shown(value));
                }
            }
            Directive::Delay(value) => {
                if !has_group {
                    found(&rules::RULE_OUTSIDE_GROUP, "Crawl-delay".to_owned());
                }
                if seconds(value).is_none() {
                    found(&rules::BAD_CRAWL_DELAY, shown(value));
                }
            }
            Directive::Other(key) => found(&rules::UNKNOWN_DIRECTIVE, shown(key)),
            Directive::Signal(_) | Directive::Nothing => {}
        }
    }
    let robots = Robots::parse(bytes);
    judge_groups(&robots, sink);
    judge_ai_groups(&robots, sink);
}

fn judge_agent(value: &[u8], found: &mut dyn FnMut(&'static Rule, String)) {
    let text = String::from_utf8_lossy(value);
    let is_token = !text.is_empty() && text.chars().all(is_token_char);
    if text != "*" && !is_token {
        found(&rules::BAD_AGENT, quoted(&text));
    }
}

/// Groups without rules, and rules that contradict each other.
fn judge_groups(robots: &Robots, sink: &mut dyn FindingSink) {
    // Groups of one name count together, so contradictions may lie apart.
    let mut by_name: BTreeMap<String, BTreeMap<&[u8], &RobotsRule>> = BTreeMap::new();
    let mut told: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut n_compared = 0;
    for group in &robots.groups {
        if let (true, Some(agent)) = (group.rules.is_empty(), group.agents.last()) {
            let detail = quoted(&agent.name);
            sink.report(Finding::new(&rules::EMPTY_GROUP, Place::line(agent.line), detail));
        }
        for agent in &group.agents {
            // Thousands of names for thousands of rules are a trap.
            n_compared += group.rules.len();
            if MOST_COMPARED < n_compared {
                break;
            }
            let rules = by_name.entry(agent.name.to_ascii_lowercase()).or_default();
            for rule in group.rules.iter().filter(|rule| !rule.full.is_empty()) {
                let first = *rules.entry(&rule.full).or_insert(rule);
                if first.is_allow != rule.is_allow && told.insert((first.line, rule.line)) {
                    let detail = format!("{}, see line {}", quoted(&rule.pattern), first.line);
                    let place = Place::line(rule.line);
                    sink.report(Finding::new(&rules::CONFLICTING_RULES, place, detail));
                }
            }
        }
    }
}

/// Says which general bans a group for an AI crawler lifts in silence (D79).
fn judge_ai_groups(robots: &Robots, sink: &mut dyn FindingSink) {
    let bans: Vec<&RobotsRule> = robots
        .rules_for_all()
        .filter(|rule| !rule.is_allow && !rule.full.is_empty())
        .take(MOST_BANS)
        .collect();
    for group in &robots.groups {
        let ai = |agent: &&Agent| is_ai(&agent.name) || is_ai(&agent.token);
        let Some(agent) = group.agents.iter().find(ai) else { continue };
        if group.is_for_all() || is_first_of(robots, group, agent) {
            continue;
        }
        for ban in &bans {
            let sample = sample(&ban.pattern);
            let is_banned = !robots.is_allowed("*", &sample);
            let verdict = robots.verdict(&agent.name, &sample);
            // An Allow line is a decision; no line at all is an oversight.
            if is_banned && verdict.is_allowed && verdict.rule.is_none() {
                let (name, pattern) = (quoted(&agent.name), quoted(&ban.pattern));
                let detail = format!("{name} may fetch {pattern}, see line {}", ban.line);
                let place = Place::line(agent.line);
                sink.report(Finding::new(&rules::AI_GROUP_LIFTS_RULES, place, detail));
            }
        }
    }
}

/// Rules, counted once for every name of their group, that are compared.
const MOST_COMPARED: usize = 200_000;

/// Bans that are held against every AI group; more are a hostile file.
const MOST_BANS: usize = 50;

/// Tells whether an earlier group names the agent, so that it was judged.
fn is_first_of(robots: &Robots, group: &Group, agent: &Agent) -> bool {
    let earlier = robots.groups.iter().take_while(|other| !std::ptr::eq(*other, group));
    earlier.into_iter().any(|other| other.is_for(&agent.name))
}

/// An address that a pattern forbids.
fn sample(pattern: &str) -> String {
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern).replace('*', "x");
    if pattern.starts_with('/') { pattern } else { format!("/{pattern}") }
}

fn shown(value: &[u8]) -> String {
    quoted(&String::from_utf8_lossy(value))
}
