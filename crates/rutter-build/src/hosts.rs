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
    vec![
        kind(format!("{base}{SCP}/*.scp.zst"), "application/scp", Some("zstd"), &snapshot),
        kind(format!("{base}{SCP}/*.scp.gz"), "application/scp", Some("gzip"), &snapshot),
        kind(format!("{base}{SCP}/*.scp"), "application/scp", None, &snapshot),
        kind(format!("{base}sitemap*.xml"), "application/xml", None, &entry),
        kind(format!("{base}*.md"), "text/markdown; charset=utf-8", None, &entry),
        kind(format!("{base}llms.txt"), "text/plain; charset=utf-8", None, &entry),
    ]
}

/// The text of a header file for a host.
pub(crate) fn headers(plan: &Plan, host: Host) -> String {
    let mut out = String::new();
    for kind in kinds(plan) {
        match host {
            Host::Netlify => {
                out.push_str(&format!("{}\n  Content-Type: {}\n", kind.path, kind.media_type));
                if let Some(coding) = kind.coding {
                    out.push_str(&format!("  Content-Encoding: {coding}\n"));
                }
                out.push_str(&format!("  Cache-Control: {}\n", kind.cache));
                out.push_str("  X-Content-Type-Options: nosniff\n");
            }
            Host::Nginx => {
                let pattern = kind.path.replace('.', "\\.").replace('*', ".*");
                out.push_str(&format!("location ~ ^{pattern}$ {{\n    types {{ }}\n"));
                out.push_str(&format!(
                    "    default_type \"{}\";\n    gzip off;\n",
                    kind.media_type
                ));
                if let Some(coding) = kind.coding {
                    out.push_str(&format!("    add_header Content-Encoding {coding};\n"));
                }
                out.push_str(&format!("    add_header Cache-Control \"{}\";\n", kind.cache));
                out.push_str("    add_header X-Content-Type-Options nosniff;\n}\n");
            }
        }
    }
    out
}
