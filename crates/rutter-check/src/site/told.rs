//! What robots.txt and the tags of pages tell a judge of the semantic index.

use rutter_signpost::robots::Robots;
use rutter_spxi::{AGENTS, AgentSignals, INDEX, PACKET, Signals};

/// What robots.txt says about the index to each agent.
pub(super) fn signals(robots: &Robots) -> Signals {
    let names = |agent: &str, path: &str, word: &str| {
        let rule = robots.verdict(agent, path).rule;
        rule.is_some_and(|rule| rule.is_allow && rule.pattern.contains(word))
    };
    let agents = AGENTS.map(|agent| AgentSignals {
        name: agent.to_owned(),
        may_fetch: robots.is_allowed(agent, &format!("/{INDEX}")),
        names_index: names(agent, &format!("/{INDEX}"), INDEX),
        names_packets: names(agent, &format!("/page/{PACKET}"), PACKET),
        names_home_packet: names(agent, &format!("/{PACKET}"), PACKET),
    });
    let sitemaps = robots.sitemaps().map(|(_, url)| url.to_owned()).collect();
    Signals { sitemaps, agents: agents.to_vec() }
}

/// The values of `id` and `name` in the tags of a page.
pub(super) fn names_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for tag in text.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        for (at, _) in tag.match_indices('=') {
            let (before, after) = (tag.get(..at), tag.get(at + 1..));
            let (Some(before), Some(after)) = (before, after) else { continue };
            // Only so many characters are looked at, however long a tag is.
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
    fn ours_names_are_those_of_attributes() {
        let text = "<p id=a><a name = \"b c\" data-id=d grid=e ID='f'>id=g</a><p id=";
        assert_eq!(names_of(text), ["a", "b c", "f", ""]);
    }
}
