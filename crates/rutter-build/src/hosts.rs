//! Header files, so that plain static hosting sends what the specifications
//! ask for: types, codings, lifetimes (D05, D08, D10).

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

/// The text of a header file for a host.
pub(crate) fn headers(plan: &Plan, host: Host) -> String {
    let mut lines = Vec::new();
    for Kind { path, media_type, coding, cache } in kinds(plan) {
        match host {
            Host::Netlify => {
                lines.push(path);
                lines.push(format!("  Content-Type: {media_type}"));
                lines.extend(coding.map(|coding| format!("  Content-Encoding: {coding}")));
                lines.push(format!("  Cache-Control: {cache}"));
                lines.push("  X-Content-Type-Options: nosniff".to_owned());
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
                lines.push("}".to_owned());
            }
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
