//! Computes a digest of all settings that decide what a build writes.
//!
//! If the digest changes, the build writes all files again.

use rutter_page::Digest;
use rutter_site::{SERVED_REVISION, SERVED_VERSION};

use crate::plan::BuildPlan;
use crate::stages::inventory::site_sitemap::SiteSitemap;

/// Version of the rules that order links and sections in llms.txt. A new version makes builds write llms.txt again.
const LLMS_REVISION: u32 = 1;

/// Returns a digest of all settings, and of the site owner's files that artifacts are merged
/// with.
pub(super) fn digest(plan: &BuildPlan, site_sitemap: &SiteSitemap) -> String {
    // Digests of the site owner's files that artifacts are merged with.
    let mut parts = String::new();
    if plan.out.is_some() {
        for name in ["robots.txt", "llms.txt", "_headers"] {
            let bytes = rutter_root::read(&plan.site, name).unwrap_or_default();
            parts.push_str(&Digest::of(&bytes).to_string());
        }
    }
    let text = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {}.{}.{} {parts} {} {:?}",
        plan.layers,
        plan.arc,
        plan.spxi,
        plan.name,
        plan.summary,
        plan.update,
        plan.target().display(),
        plan.sections,
        plan.replace,
        plan.restricted,
        SERVED_VERSION,
        SERVED_REVISION,
        LLMS_REVISION,
        site_sitemap.digest,
        site_sitemap.decision
    );
    Digest::of(text.as_bytes()).to_string()
}
