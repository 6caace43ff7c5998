//! Checks the headers of a response against the file that it delivers.

use rutter_fetch::{FetchedResponse, ResourceKind, Url};

use super::LiveDownload;
use crate::rules;

rutter_finding::rules! {
    MEDIA_TYPE = "HP001" "wrong-media-type" (advice, "SCP-144") {
        title: "server sends a wrong media type for the file",
        why: "Readers that check the media type ignore the file.",
        fix: "Configure the server to send the right media type. With `headers` in rutter.toml, `rutter build` writes a configuration file for your host.",
        wrong: "`Content-Type: text/html` for `arc-sitemap.json`.",
        right: "`Content-Type: application/json`",
    }
    NO_VALIDATOR = "HP002" "no-validator" (advice, "SCP-149") {
        title: "response has neither ETag nor Last-Modified",
        why: "Readers must download the whole file again each time.",
        fix: "Configure the server to send ETag or Last-Modified.",
        wrong: "`200 OK` without `ETag` and `Last-Modified`.",
        right: r#"`ETag: "5f2c"`"#,
    }
    REDIRECT = "HP007" "announced-address-moves" (advice, "D65") {
        title: "announced URL redirects",
        why: "Each reader needs two requests, and the announced URL is not the canonical one.",
        fix: "Announce the target URL of the redirect.",
        wrong: "`<loc>http://harbour.example/tides</loc>`, which answers `301` to `https://harbour.example/tides`.",
        right: "`<loc>https://harbour.example/tides</loc>`",
    }
    HEADER_ROBOTS = "HP009" "header-forbids-page" (warning, "D58") {
        title: "server sends `X-Robots-Tag: noindex` for a page that the sitemap or another published file lists",
        why: "The most restrictive statement counts, so the page is not indexed.",
        fix: "Remove the header, or exclude the page from the sitemap and all other machine-readable files.",
        wrong: "`X-Robots-Tag: noindex` for a page of the sitemap.",
        right: "No such header, or the page is not in any layer.",
    }
}

impl LiveDownload<'_> {
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
            self.report(url, &MEDIA_TYPE, format!("{shown}, expected {wanted}"));
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
            self.report(url, &NO_VALIDATOR, String::new());
        }
        if !answer.hops.is_empty() && answer.url != *asked {
            self.report(url, &REDIRECT, rutter_finding::quoted(answer.url.as_str()));
        }
        let forbids = answer.fields.robots_tags.iter().any(|tag| {
            // A directive for one agent begins with the name of the agent.
            let words = tag.to_ascii_lowercase();
            !words.contains(':')
                && words.split(',').any(|word| matches!(word.trim(), "noindex" | "none"))
        });
        if what == ResourceKind::Page && forbids {
            self.report(url, &HEADER_ROBOTS, String::new());
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
