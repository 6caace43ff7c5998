//! What the head of an answer says, against what the file is.

use rutter_fetch::{Fetched, Url, What};

use super::Visit;
use crate::rules;

impl Visit<'_> {
    /// Looks at type, coding, validators, way and restrictions of an answer.
    pub(super) fn look_at(&mut self, url: &str, asked: &Url, what: What, answer: &Fetched) {
        let media = answer.fields.media_type();
        if let Some(wanted) = wanted(url, what)
            && !wanted.contains(&media.as_str())
        {
            let wanted = wanted.first().copied().unwrap_or_default();
            let shown = if media.is_empty() { "no type" } else { &media };
            self.say(url, &rules::MEDIA_TYPE, format!("{shown}, wanted {wanted}"));
        }
        let coding = answer.fields.content_encoding.as_deref().unwrap_or("identity");
        let named = match url.rsplit('.').next() {
            Some("gz") => Some("gzip"),
            Some("zst") => Some("zstd"),
            _ => None,
        };
        if what == What::Collection
            && let Some(named) = named
            && !coding.eq_ignore_ascii_case(named)
        {
            self.say(url, &rules::CODING, format!("{coding}, wanted {named}"));
        }
        if what != What::Robots && answer.validators.is_empty() {
            self.say(url, &rules::NO_VALIDATOR, String::new());
        }
        if !answer.hops.is_empty() && answer.url != *asked {
            self.say(url, &rules::REDIRECT, rutter_finding::quoted(answer.url.as_str()));
        }
        let forbids = answer.fields.robots_tags.iter().any(|tag| {
            // A tag for one agent begins with its name.
            let words = tag.to_ascii_lowercase();
            !words.contains(':')
                && words.split(',').any(|word| matches!(word.trim(), "noindex" | "none"))
        });
        if what == What::Page && forbids {
            self.say(url, &rules::HEADER_ROBOTS, String::new());
        }
    }
}

/// The media types a file may have, the best first.
fn wanted(url: &str, what: What) -> Option<&'static [&'static str]> {
    let path = url.split('?').next().unwrap_or(url);
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    Some(match what {
        What::Robots => &["text/plain"],
        What::Llms => &["text/plain", "text/markdown"],
        What::Sitemap if ending == "txt" => &["text/plain"],
        What::Sitemap => &["application/xml", "text/xml", "application/gzip", "application/x-gzip"],
        What::Arc if ending == "yaml" => &["application/yaml", "text/yaml", "application/x-yaml"],
        What::Arc if ending == "jsonld" => &["application/ld+json", "application/json"],
        What::Arc | What::Policy => &["application/json", "application/ld+json"],
        What::SpxiIndex | What::SpxiPacket => &["application/ld+json", "application/json"],
        What::Collection => &["application/scp"],
        What::Page => &["text/html", "application/xhtml+xml"],
        _ => return None,
    })
}
