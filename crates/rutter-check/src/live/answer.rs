//! Checks the headers of a response against the file that it delivers.

use rutter_fetch::{FetchedResponse, ResourceKind, Url};

use super::SiteVisit;
use crate::rules;

impl SiteVisit<'_> {
    /// Checks media type, coding, validators, redirects and restrictions of a response.
    pub(super) fn look_at(
        &mut self,
        url: &str,
        asked: &Url,
        what: ResourceKind,
        answer: &FetchedResponse,
    ) {
        let media = answer.fields.media_type();
        if let Some(wanted) = wanted(url, what)
            && !wanted.contains(&media.as_str())
        {
            let wanted = wanted.first().copied().unwrap_or_default();
            let shown = if media.is_empty() { "no type" } else { &media };
            self.report(url, &rules::MEDIA_TYPE, format!("{shown}, expected {wanted}"));
        }
        let coding = answer.fields.content_encoding.as_deref().unwrap_or("identity");
        let named = match url.rsplit('.').next() {
            Some("gz") => Some("gzip"),
            Some("zst") => Some("zstd"),
            _ => None,
        };
        if what == ResourceKind::Collection
            && let Some(named) = named
            && !coding.eq_ignore_ascii_case(named)
        {
            self.report(url, &rules::CODING, format!("{coding}, expected {named}"));
        }
        if what != ResourceKind::Robots && answer.validators.is_empty() {
            self.report(url, &rules::NO_VALIDATOR, String::new());
        }
        if !answer.hops.is_empty() && answer.url != *asked {
            self.report(url, &rules::REDIRECT, rutter_finding::quoted(answer.url.as_str()));
        }
        let forbids = answer.fields.robots_tags.iter().any(|tag| {
            // A directive for one agent begins with the name of the agent.
            let words = tag.to_ascii_lowercase();
            !words.contains(':')
                && words.split(',').any(|word| matches!(word.trim(), "noindex" | "none"))
        });
        if what == ResourceKind::Page && forbids {
            self.report(url, &rules::HEADER_ROBOTS, String::new());
        }
    }
}

/// Returns the accepted media types of a file, the preferred one first.
fn wanted(url: &str, what: ResourceKind) -> Option<&'static [&'static str]> {
    let path = url.split('?').next().unwrap_or(url);
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    Some(match what {
        ResourceKind::Robots => &["text/plain"],
        ResourceKind::Llms => &["text/plain", "text/markdown"],
        ResourceKind::Sitemap if ending == "txt" => &["text/plain"],
        ResourceKind::Sitemap => {
            &["application/xml", "text/xml", "application/gzip", "application/x-gzip"]
        }
        ResourceKind::Arc if ending == "yaml" => {
            &["application/yaml", "text/yaml", "application/x-yaml"]
        }
        ResourceKind::Arc if ending == "jsonld" => &["application/ld+json", "application/json"],
        ResourceKind::Arc | ResourceKind::Policy => &["application/json", "application/ld+json"],
        ResourceKind::SpxiIndex | ResourceKind::SpxiPacket => {
            &["application/ld+json", "application/json"]
        }
        ResourceKind::Collection => &["application/scp"],
        ResourceKind::Page => &["text/html", "application/xhtml+xml"],
        _ => return None,
    })
}
