//! Extracts the data from robots.txt and page tags that the check of the semantic index needs.

use rutter_robots::RobotsTxt;
use rutter_spxi::{AGENTS, AgentSignals, INDEX_FILE, PACKET_FILE, RobotsSignals};

/// Returns the rules of robots.txt about the index for each AI agent.
pub(super) fn signals(robots: &RobotsTxt) -> RobotsSignals {
    let names = |agent: &str, path: &str, word: &str| {
        let rule = robots.verdict(agent, path).rule;
        rule.is_some_and(|rule| rule.is_allow && rule.pattern.contains(word))
    };
    let agents = AGENTS.map(|agent| AgentSignals {
        name: agent.to_owned(),
        may_fetch: robots.is_allowed(agent, &format!("/{INDEX_FILE}")),
        names_index: names(agent, &format!("/{INDEX_FILE}"), INDEX_FILE),
        names_packets: names(agent, &format!("/page/{PACKET_FILE}"), PACKET_FILE),
        names_home_packet: names(agent, &format!("/{PACKET_FILE}"), PACKET_FILE),
    });
    let sitemaps = robots.sitemaps().map(|(_, url)| url.to_owned()).collect();
    RobotsSignals { sitemaps, agents: agents.to_vec() }
}

/// Returns the values of the `id` and `name` attributes of a page.
pub(super) fn names_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for tag in text.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        for (at, _) in tag.match_indices('=') {
            let (before, after) = (tag.get(..at), tag.get(at + 1..));
            let (Some(before), Some(after)) = (before, after) else { continue };
            // Limit the search backwards in very long tags.
            let before = before.trim_end();
            let is_name = ["id", "name"].iter().any(|name| {
                let start = before.len().checked_sub(name.len());
                start.and_then(|start| before.split_at_checked(start)).is_some_and(
                    |(rest, last)| {
                        last.eq_ignore_ascii_case(name) && rest.ends_with(char::is_whitespace)
                    },
                )
            });
            if !is_name {
                continue;
            }
            let after = after.trim_start();
            let value = match after.chars().next() {
                Some(quote @ ('"' | '\'')) => after.split(quote).nth(1),
                _ => after.split(char::is_whitespace).next(),
            };
            names.extend(value.map(str::to_owned));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::names_of;

    #[test]
    fn finds_names_in_attributes() {
        let text = "<p id=a><a name = \"b c\" data-id=d grid=e ID='f'>id=g</a><p id=";
        assert_eq!(names_of(text), ["a", "b c", "f", ""]);
    }
}
