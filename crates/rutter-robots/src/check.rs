//! Checks a robots.txt and reports problems.

use std::collections::{BTreeMap, BTreeSet};

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};

use crate::ai_agents::is_ai_agent;
use crate::lines::{Directive, DirectiveSpelling, lines, parse_directive, without_bom};
use crate::rules;
use crate::{
    AgentName, RobotsRule, RobotsTxt, RuleGroup, is_token_char, parse_seconds, readable_part,
};

/// Checks a robots.txt and reports problems to `sink`.
pub fn check(bytes: &[u8], sink: &mut dyn FindingSink) {
    if RobotsTxt::MAX_BYTES < bytes.len() {
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
    for line in lines(readable_part(bytes)) {
        let mut report = |rule: &'static Rule, detail: String| {
            sink.report(Finding::new(rule, Place::line(line.number), detail));
        };
        if line.is_cut {
            report(&rules::ROBOTS_LINE_TOO_LONG, String::new());
        }
        if std::str::from_utf8(line.text).is_err() || line.text.contains(&0) {
            report(&rules::ROBOTS_NOT_TEXT, String::new());
        }
        let (parse_directive, spelling) = parse_directive(line.text);
        if spelling == DirectiveSpelling::Guessed {
            report(&rules::MISSPELT_DIRECTIVE, quoted_bytes(line.text.trim_ascii()));
        }
        match parse_directive {
            Directive::AgentName(value) => {
                has_group = true;
                check_agent_name(value, &mut report);
            }
            Directive::Allow(value) | Directive::Disallow(value) => {
                if !has_group {
                    report(&rules::RULE_OUTSIDE_GROUP, quoted_bytes(value));
                }
                if !matches!(value.first(), None | Some(b'/' | b'*')) {
                    report(&rules::BAD_PATTERN, quoted_bytes(value));
                }
            }
            Directive::Sitemap(value) => {
                let is_absolute = std::str::from_utf8(value)
                    .is_ok_and(|url| rutter_page::HttpUrl::parse(url).is_ok());
                if !is_absolute {
                    report(&rules::RELATIVE_SITEMAP, quoted_bytes(value));
                }
            }
            Directive::Delay(value) => {
                if !has_group {
                    report(&rules::RULE_OUTSIDE_GROUP, "Crawl-delay".to_owned());
                }
                if parse_seconds(value).is_none() {
                    report(&rules::BAD_CRAWL_DELAY, quoted_bytes(value));
                }
            }
            Directive::Other(key) => report(&rules::UNKNOWN_DIRECTIVE, quoted_bytes(key)),
            Directive::ContentSignal(_) | Directive::Nothing => {}
        }
    }
    let robots = RobotsTxt::parse(bytes);
    check_groups(&robots, sink);
    check_ai_groups(&robots, sink);
}

fn check_agent_name(value: &[u8], report: &mut dyn FnMut(&'static Rule, String)) {
    let text = String::from_utf8_lossy(value);
    let is_token = !text.is_empty() && text.chars().all(is_token_char);
    if text != "*" && !is_token {
        report(&rules::BAD_AGENT, quoted(&text));
    }
}

/// Reports groups without rules and rules that contradict each other.
fn check_groups(robots: &RobotsTxt, sink: &mut dyn FindingSink) {
    // Groups with the same name count together, so compare the rules of all groups.
    let mut by_name: BTreeMap<String, BTreeMap<&[u8], &RobotsRule>> = BTreeMap::new();
    let mut reported_pairs: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut n_compared = 0;
    for group in &robots.groups {
        if let (true, Some(agent)) = (group.rules.is_empty(), group.agents.last()) {
            let detail = quoted(&agent.name);
            sink.report(Finding::new(&rules::EMPTY_GROUP, Place::line(agent.line), detail));
        }
        for agent in &group.agents {
            // Limit the work for thousands of names with thousands of rules.
            n_compared += group.rules.len();
            if MAX_COMPARISONS < n_compared {
                break;
            }
            let rules = by_name.entry(agent.name.to_ascii_lowercase()).or_default();
            for rule in group.rules.iter().filter(|rule| !rule.normalised.is_empty()) {
                let first = *rules.entry(&rule.normalised).or_insert(rule);
                if first.is_allow != rule.is_allow && reported_pairs.insert((first.line, rule.line))
                {
                    let detail = format!("{}, see line {}", quoted(&rule.pattern), first.line);
                    let place = Place::line(rule.line);
                    sink.report(Finding::new(&rules::CONFLICTING_RULES, place, detail));
                }
            }
        }
    }
}

/// Reports Disallow rules of `*` that a group for an AI crawler omits (D79).
fn check_ai_groups(robots: &RobotsTxt, sink: &mut dyn FindingSink) {
    let disallow_rules: Vec<&RobotsRule> = robots
        .rules_for_all()
        .filter(|rule| !rule.is_allow && !rule.normalised.is_empty())
        .take(MAX_DISALLOW_RULES)
        .collect();
    for group in &robots.groups {
        let ai = |agent: &&AgentName| is_ai_agent(&agent.name) || is_ai_agent(&agent.token);
        let Some(agent) = group.agents.iter().find(ai) else { continue };
        if group.is_wildcard_group() || is_named_earlier(robots, group, agent) {
            continue;
        }
        for disallow_rule in &disallow_rules {
            let sample_path = sample_path(&disallow_rule.pattern);
            let is_disallowed = !robots.is_allowed("*", &sample_path);
            let verdict = robots.verdict(&agent.name, &sample_path);
            // An Allow line is intended; a missing Disallow line is probably an oversight.
            if is_disallowed && verdict.is_allowed && verdict.rule.is_none() {
                let (name, pattern) = (quoted(&agent.name), quoted(&disallow_rule.pattern));
                let detail = format!("{name} may fetch {pattern}, see line {}", disallow_rule.line);
                let place = Place::line(agent.line);
                sink.report(Finding::new(&rules::AI_GROUP_LIFTS_RULES, place, detail));
            }
        }
    }
}

/// The maximum number of compared rules, counted once per name of their group.
const MAX_COMPARISONS: usize = 200_000;

/// The maximum number of Disallow rules that are compared with each AI group.
const MAX_DISALLOW_RULES: usize = 50;

/// Returns whether an earlier group names the agent; the agent was then checked already.
fn is_named_earlier(robots: &RobotsTxt, group: &RuleGroup, agent: &AgentName) -> bool {
    let earlier = robots.groups.iter().take_while(|other| !std::ptr::eq(*other, group));
    earlier.into_iter().any(|other| other.names_agent(&agent.name))
}

/// Returns a path that the pattern matches.
fn sample_path(pattern: &str) -> String {
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern).replace('*', "x");
    if pattern.starts_with('/') { pattern } else { format!("/{pattern}") }
}

fn quoted_bytes(value: &[u8]) -> String {
    quoted(&String::from_utf8_lossy(value))
}
