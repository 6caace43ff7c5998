//! Header files, so that plain static hosting sends what the specifications
//! ask for: types, codings, lifetimes (D05, D08, D10).
//!
//! Pages that need a login lie among the files. nginx is told to show them to
//! nobody; a host that only reads headers cannot be, so it is told to keep
//! them out of caches and indexes, and the owner is told by the build.

use std::collections::BTreeSet;

use crate::plan::{Host, Plan};
use crate::signs::SCP;

/// How long entry files may be kept: they announce everything else.
const ENTRY_SECONDS: i64 = 3600;

/// A kind of file: its ending below a folder, its type, its coding, its lifetime.
struct Kind {
    path: String,
    media_type: &'static str,
    coding: Option<&'static str>,
    cache: String,
}

fn kinds(plan: &Plan) -> Vec<Kind> {
    let base = plan.base.path();
    let interval = plan.update.seconds();
    let snapshot = format!("public, max-age={interval}, stale-while-revalidate=3600");
    let entry = format!("public, max-age={ENTRY_SECONDS}");
    let kind = |path: String, media_type, coding, cache: &str| Kind {
        path,
        media_type,
        coding,
        cache: cache.to_owned(),
    };
    // The first that fits counts.
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

/// Endings of compressed forms that may lie beside a page.
const CODED: &str = "(\\.(gz|br|zst|zz))?";

/// Patterns of what is closed, as nginx has them: below names, and pages with
/// their Markdown and their compressed forms.
fn patterns(plan: &Plan, (names, pages): (&[String], &[String])) -> BTreeSet<String> {
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

/// A text as a pattern of nginx that means itself, for double quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Once for the pattern, once for the quotes.
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
#   This file does not, because earlier versions refuse a directive they do not know.
# - earlier versions: set the headers of the server with `more_set_headers` (module headers-more).";

/// What keeps closed pages closed, as far as the host can; it comes first.
fn closed_lines(plan: &Plan, host: Host, closed: (&[String], &[String])) -> Vec<String> {
    let mut lines = Vec::new();
    match host {
        Host::Nginx => {
            lines.push(INHERITANCE.to_owned());
            for pattern in patterns(plan, closed) {
                lines.push(format!("location ~* \"{pattern}\" {{"));
                lines.push("    return 403;".to_owned());
                lines.push("}".to_owned());
            }
        }
        Host::Netlify => {
            let base = plan.base.path();
            let below = closed.0.iter().map(|name| format!("{base}{name}*"));
            let pages = closed.1.iter().map(|page| format!("{base}{page}"));
            for (at, path) in below.chain(pages).enumerate() {
                if at == 0 {
                    lines.push("# These need a login, which this host cannot ask for.".to_owned());
                }
                lines.push(path);
                lines.push("  Cache-Control: private, no-store".to_owned());
                lines.push("  X-Robots-Tag: noindex".to_owned());
            }
        }
    }
    lines
}

/// The text of a header file for a host, with what is closed: beginnings of
/// names, and pages.
pub(crate) fn headers(plan: &Plan, host: Host, closed: (&[String], &[String])) -> String {
    let mut lines = closed_lines(plan, host, closed);
    for Kind { path, media_type, coding, cache } in kinds(plan) {
        // A page is found under one address, and that is not its twin's.
        let is_twin = media_type.starts_with("text/markdown");
        match host {
            Host::Netlify => {
                lines.push(path);
                lines.push(format!("  Content-Type: {media_type}"));
                lines.extend(coding.map(|coding| format!("  Content-Encoding: {coding}")));
                lines.push(format!("  Cache-Control: {cache}"));
                lines.push("  X-Content-Type-Options: nosniff".to_owned());
                if is_twin {
                    lines.push("  X-Robots-Tag: noindex".to_owned());
                }
            }
            Host::Nginx => {
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
    use crate::plan::Base;

    fn plan() -> Plan {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = Base::parse("https://harbour.example/docs/").unwrap();
        Plan::new("site".into(), "state".into(), base, now)
    }

    #[test] // ARC-064
    fn spec_hosts_are_told_what_is_closed() {
        let names = ["members/".to_owned()];
        let pages = ["a+b/log.html".to_owned(), "c/index.html".to_owned()];
        let text = headers(&plan(), Host::Nginx, (&names, &pages));
        for wanted in [
            "location ~* \"^/docs/members/\" {\n    return 403;\n}\n",
            "location ~* \"^/docs/a\\+b/log(\\.x?html?|\\.md)?(\\.(gz|br|zst|zz))?$\" {\n",
            "location ~* \"^/docs/c/(index(\\.x?html?|\\.md)?(\\.(gz|br|zst|zz))?)?$\" {\n",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        // The first pattern that fits counts.
        assert!(text.find("return 403").unwrap() < text.find("application/scp").unwrap());
        let text = headers(&plan(), Host::Netlify, (&names, &pages));
        assert!(text.contains("\n/docs/members/*\n  Cache-Control: private, no-store\n"), "{text}");
        assert!(!headers(&plan(), Host::Nginx, (&[], &[])).contains("403"));
    }

    #[test]
    fn nginx_file_says_how_headers_of_outer_levels_are_kept() {
        let text = headers(&plan(), Host::Nginx, (&["members/".to_owned()], &[]));
        let (comment, rest) = text.split_once("\nlocation ").unwrap();
        assert!(comment.lines().all(|line| line.starts_with('#')), "{comment}");
        assert!(comment.contains("`add_header_inherit merge;`"), "{comment}");
        assert!(comment.contains("1.29.3"), "{comment}");
        // Versions before that refuse to start with a directive they do not know.
        assert!(!rest.contains("add_header_inherit"), "{rest}");
        assert!(!headers(&plan(), Host::Netlify, (&[], &[])).contains("add_header"));
    }

    #[test]
    fn ours_only_twins_are_kept_out_of_indexes() {
        for (host, wanted) in [
            (Host::Nginx, "add_header X-Robots-Tag noindex;"),
            (Host::Netlify, "X-Robots-Tag: noindex"),
        ] {
            let text = headers(&plan(), host, (&[], &[]));
            assert_eq!(text.matches(wanted).count(), 1, "{text}");
            let twins = text.find("text/markdown").unwrap();
            assert!(twins < text.find(wanted).unwrap());
        }
    }
}
