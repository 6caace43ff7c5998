//! Writes header files for static web hosts: media types, codings, cache lifetimes and restricted
//! paths (D05, D08, D10).
//!
//! Input: the plan, and the restricted prefixes and pages. Output: the text of the header file. The
//! file for nginx denies access to restricted pages. Netlify cannot deny access; its header file
//! only keeps the pages out of caches and search indexes.

use std::collections::BTreeSet;
use std::fs;

use rutter_site::marked_block;

use super::{Layer, LayerInput, LayerOutput, OpenLayer};
use crate::address::SCP;
use crate::error::{BuildError, IoErrorContext};
use crate::plan::{BuildPlan, HostKind};
use crate::staging::PublishOrder;

/// Writer of the header file.
struct HeaderLayer<'p> {
    input: &'p LayerInput<'p>,
    host: HostKind,
}

/// Opens the layer; `None` if the plan does not ask for it.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> Option<OpenLayer<'p>> {
    let host = input.plan.layers.headers?;
    Some(Box::new(HeaderLayer { input, host }))
}

impl Layer for HeaderLayer<'_> {
    fn finish(self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let plan = self.input.plan;
        let text = headers(plan, self.host, out.served.restricted_files());
        match self.host {
            HostKind::Netlify => {
                let existing = out.owner_file(plan, "_headers", &marked_block::HASH);
                let merged = marked_block::with_block(
                    existing.as_deref().unwrap_or(""),
                    &text,
                    &marked_block::HASH,
                );
                if existing.is_some() && plan.out.is_none() {
                    out.put_shared(PublishOrder::Robots, "_headers", merged.as_bytes())?;
                } else {
                    out.put(PublishOrder::Robots, "_headers", merged.as_bytes())?;
                }
            }
            // The nginx file is for the configuration of the server and is not published.
            HostKind::Nginx => {
                let path = plan.state.join("nginx.conf");
                fs::write(&path, text).at(&path)?;
            }
        }
        Ok(())
    }
}

/// Cache lifetime in seconds of files such as the sitemap and Markdown twins, which have fixed
/// names.
const ENTRY_SECONDS: i64 = 3600;

/// HTTP headers of the files that match one path pattern.
struct FileHeaders {
    path: String,
    media_type: &'static str,
    coding: Option<&'static str>,
    cache: String,
}

fn file_headers(plan: &BuildPlan) -> Vec<FileHeaders> {
    let base = plan.base.path();
    let interval = plan.update.seconds();
    let snapshot = format!("public, max-age={interval}, stale-while-revalidate=3600");
    let entry = format!("public, max-age={ENTRY_SECONDS}");
    let kind = |path: String, media_type, coding, cache: &str| FileHeaders {
        path,
        media_type,
        coding,
        cache: cache.to_owned(),
    };
    // nginx applies the first pattern that matches a file, so deltas come before other collections.
    let delta = "public, max-age=3600, must-revalidate";
    vec![
        kind(format!("{base}{SCP}/*-delta-*.scp.zst"), "application/scp", Some("zstd"), delta),
        kind(format!("{base}{SCP}/*-delta-*.scp.gz"), "application/scp", Some("gzip"), delta),
        kind(format!("{base}{SCP}/*.scp.zst"), "application/scp", Some("zstd"), &snapshot),
        kind(format!("{base}{SCP}/*.scp.gz"), "application/scp", Some("gzip"), &snapshot),
        kind(format!("{base}{SCP}/*.scp"), "application/scp", None, &snapshot),
        kind(format!("{base}sitemap*.xml"), "application/xml", None, &entry),
        kind(format!("{base}*.md"), "text/markdown; charset=utf-8", None, &entry),
        kind(format!("{base}arc-sitemap.json"), "application/json", None, &entry),
        kind(format!("{base}arc-sitemap.yaml"), "application/yaml", None, &entry),
        kind(format!("{base}arc-sitemap.jsonld"), "application/ld+json", None, &entry),
        kind(format!("{base}arc-sitemap-deltas/*.json"), "application/json", None, &entry),
        kind(format!("{base}.well-known/arc-*.json"), "application/json", None, &entry),
        kind(format!("{base}spxi-index.jsonld"), "application/ld+json", None, &entry),
        kind(format!("{base}*spxi-packet.jsonld"), "application/ld+json", None, &entry),
        kind(format!("{base}llms.txt"), "text/plain; charset=utf-8", None, &entry),
    ]
}

/// Regular expression for the extensions of compressed files next to a page.
const CODED: &str = "(\\.(gz|br|zst|zz))?";

/// Returns the nginx patterns of restricted files: one for each path prefix, and one for each page
/// with its Markdown twin and compressed files.
fn patterns(plan: &BuildPlan, (names, pages): (&[String], &[String])) -> BTreeSet<String> {
    let base = escaped(plan.base.path());
    let below = names.iter().map(|name| format!("^{base}{}", escaped(name)));
    let pages = pages.iter().map(|page| {
        let stem = page.rsplit_once('.').map_or(page.as_str(), |(stem, _)| stem);
        let is_index = stem == "index" || stem.ends_with("/index");
        let folder = stem.strip_suffix("index").filter(|_| is_index);
        let ending = format!("(\\.x?html?|\\.md)?{CODED}");
        match folder {
            Some(folder) => format!("^{base}{}(index{ending})?$", escaped(folder)),
            None => format!("^{base}{}{ending}$", escaped(stem)),
        }
    });
    below.chain(pages).collect()
}

/// Escapes a text for a regular expression in quotes, as nginx reads it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // A backslash is escaped twice: for the regular expression and for the quotes.
            '\\' => out.push_str("\\\\\\\\"),
            '"' => out.push_str("\\\""),
            '/' | '-' | '_' | ' ' => out.push(c),
            c if c.is_ascii_punctuation() => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Comment at the top of the nginx file.
const INHERITANCE: &str = "\
# Include this file in the `server` block.
#
# A location with `add_header` directives of its own drops those of outer levels, such as
# Strict-Transport-Security of the server. To send them for the files below, too:
# - nginx 1.29.3 and later: write `add_header_inherit merge;` in the `server` block.
#   This file does not, because earlier versions reject unknown directives.
# - earlier versions: set the headers of the server with `more_set_headers` (module headers-more).";

/// Returns the lines of the header file for restricted files, which come before all other lines.
fn restricted_lines(
    plan: &BuildPlan,
    host: HostKind,
    restricted: (&[String], &[String]),
) -> Vec<String> {
    let mut lines = Vec::new();
    match host {
        HostKind::Nginx => {
            lines.push(INHERITANCE.to_owned());
            for pattern in patterns(plan, restricted) {
                lines.push(format!("location ~* \"{pattern}\" {{"));
                lines.push("    return 403;".to_owned());
                lines.push("}".to_owned());
            }
        }
        HostKind::Netlify => {
            let base = plan.base.path();
            let below = restricted.0.iter().map(|name| format!("{base}{name}*"));
            let pages = restricted.1.iter().map(|page| format!("{base}{page}"));
            for (at, path) in below.chain(pages).enumerate() {
                if at == 0 {
                    lines.push(
                        "# These pages need a login, which this host cannot check.".to_owned(),
                    );
                }
                lines.push(path);
                lines.push("  Cache-Control: private, no-store".to_owned());
                lines.push("  X-Robots-Tag: noindex".to_owned());
            }
        }
    }
    lines
}

/// Returns the text of the header file for a host. `restricted` holds the restricted path prefixes
/// and the restricted pages.
fn headers(plan: &BuildPlan, host: HostKind, restricted: (&[String], &[String])) -> String {
    let mut lines = restricted_lines(plan, host, restricted);
    for FileHeaders { path, media_type, coding, cache } in file_headers(plan) {
        // A twin gets `noindex`, because search engines must index the page and not its Markdown
        // twin.
        let is_twin = media_type.starts_with("text/markdown");
        match host {
            HostKind::Netlify => {
                lines.push(path);
                lines.push(format!("  Content-Type: {media_type}"));
                lines.extend(coding.map(|coding| format!("  Content-Encoding: {coding}")));
                lines.push(format!("  Cache-Control: {cache}"));
                lines.push("  X-Content-Type-Options: nosniff".to_owned());
                if is_twin {
                    lines.push("  X-Robots-Tag: noindex".to_owned());
                }
            }
            HostKind::Nginx => {
                let pattern = path.replace('.', "\\.").replace('*', ".*");
                lines.push(format!("location ~ ^{pattern}$ {{"));
                lines.push("    types { }".to_owned());
                lines.push(format!("    default_type \"{media_type}\";"));
                lines.push("    gzip off;".to_owned());
                lines.extend(
                    coding.map(|coding| format!("    add_header Content-Encoding {coding};")),
                );
                lines.push(format!("    add_header Cache-Control \"{cache}\";"));
                lines.push("    add_header X-Content-Type-Options nosniff;".to_owned());
                if is_twin {
                    lines.push("    add_header X-Robots-Tag noindex;".to_owned());
                }
                lines.push("}".to_owned());
            }
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use rutter_page::Timestamp;

    use super::*;
    use crate::plan::BaseUrl;

    fn plan() -> BuildPlan {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = BaseUrl::parse("https://harbour.example/docs/").unwrap();
        BuildPlan::new("site".into(), "state".into(), base, now)
    }

    #[test] // ARC-064
    fn host_files_deny_restricted_pages() {
        let names = ["members/".to_owned()];
        let pages = ["a+b/log.html".to_owned(), "c/index.html".to_owned()];
        let text = headers(&plan(), HostKind::Nginx, (&names, &pages));
        for wanted in [
            "location ~* \"^/docs/members/\" {\n    return 403;\n}\n",
            "location ~* \"^/docs/a\\+b/log(\\.x?html?|\\.md)?(\\.(gz|br|zst|zz))?$\" {\n",
            "location ~* \"^/docs/c/(index(\\.x?html?|\\.md)?(\\.(gz|br|zst|zz))?)?$\" {\n",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        // nginx applies the first pattern that matches, so restrictions come first.
        assert!(text.find("return 403").unwrap() < text.find("application/scp").unwrap());
        let text = headers(&plan(), HostKind::Netlify, (&names, &pages));
        assert!(text.contains("\n/docs/members/*\n  Cache-Control: private, no-store\n"), "{text}");
        assert!(!headers(&plan(), HostKind::Nginx, (&[], &[])).contains("403"));
    }

    #[test]
    fn nginx_file_explains_header_inheritance() {
        let text = headers(&plan(), HostKind::Nginx, (&["members/".to_owned()], &[]));
        let (comment, rest) = text.split_once("\nlocation ").unwrap();
        assert!(comment.lines().all(|line| line.starts_with('#')), "{comment}");
        assert!(comment.contains("`add_header_inherit merge;`"), "{comment}");
        assert!(comment.contains("1.29.3"), "{comment}");
        // Versions of nginx before 1.29.3 do not start if a directive is unknown.
        assert!(!rest.contains("add_header_inherit"), "{rest}");
        assert!(!headers(&plan(), HostKind::Netlify, (&[], &[])).contains("add_header"));
    }

    #[test]
    fn only_twins_are_kept_out_of_indexes() {
        for (host, wanted) in [
            (HostKind::Nginx, "add_header X-Robots-Tag noindex;"),
            (HostKind::Netlify, "X-Robots-Tag: noindex"),
        ] {
            let text = headers(&plan(), host, (&[], &[]));
            assert_eq!(text.matches(wanted).count(), 1, "{text}");
            let twins = text.find("text/markdown").unwrap();
            assert!(twins < text.find(wanted).unwrap());
        }
    }
}
