//! Computes a digest of all settings that decide what a build writes.
//!
//! The settings are serialised as JSON, and entities in the form in which they are published. If the digest changes,
//! the next build writes all files again; files with the same bytes are not touched.

use rutter_page::Digest;
use rutter_site::{SERVED_REVISION, SERVED_VERSION};
use rutter_spxi::{IndexWriter, MetadataPacket, SemanticIndex};
use serde_json::{Value, json};

use crate::plan::{ArcSettings, BuildPlan, EntityDeclaration, SpxiSettings};
use crate::stages::inventory::site_sitemap::{SiteSitemap, SitemapDecision};

/// Version of the rules that order links and sections in llms.txt. A new version makes builds write llms.txt again.
const LLMS_REVISION: u32 = 1;

/// Returns a digest of all settings, and of the site owner's files that artifacts are merged
/// with.
pub(super) fn digest(plan: &BuildPlan, site_sitemap: &SiteSitemap) -> String {
    let decision = match &site_sitemap.decision {
        SitemapDecision::Absent => "absent",
        SitemapDecision::Replaced => "replaced",
        SitemapDecision::Kept(why) => why,
    };
    let settings = json!({
        "layers": &plan.layers,
        "arc": arc(&plan.arc),
        "spxi": plan.spxi.as_ref().map(spxi),
        "name": &plan.name,
        "summary": &plan.summary,
        "update": plan.update.name(),
        "target": plan.target().display().to_string(),
        "sections": &plan.sections,
        "replace": &plan.replace,
        "restricted": &plan.restricted,
        "revisions": [SERVED_VERSION, SERVED_REVISION, LLMS_REVISION],
        "merged_files": merged_files(plan),
        "site_sitemap": [&site_sitemap.digest, decision],
    });
    Digest::of(settings.to_string().as_bytes()).to_string()
}

/// Returns the digests of the site owner's files that artifacts are merged with.
fn merged_files(plan: &BuildPlan) -> Vec<String> {
    if plan.out.is_none() {
        return Vec::new();
    }
    let digest = |name: &str| {
        Digest::of(&rutter_root::read(&plan.site, name).unwrap_or_default()).to_string()
    };
    ["robots.txt", "llms.txt", "_headers"].map(digest).into()
}

fn arc(settings: &ArcSettings) -> Value {
    let ArcSettings {
        robots_line,
        checksum,
        crawl_rate,
        contact,
        unlisted,
        lists_restricted,
        approved,
        priorities,
        private,
        days,
        policy,
    } = settings;
    json!({
        "robots_line": robots_line,
        "checksum": checksum.name(),
        "crawl_rate": crawl_rate,
        "contact": contact,
        "unlisted": unlisted,
        "lists_restricted": lists_restricted,
        "approved": approved,
        "priorities": priorities,
        "private": private,
        "days": days,
        "policy": policy.to_file(),
    })
}

fn spxi(settings: &SpxiSettings) -> Value {
    let SpxiSettings { index, entities, surfaces, packets, robots_group, agents } = settings;
    let all = entities.iter().map(|declared| declared.entity.clone());
    let index = SemanticIndex { entities: all.collect(), ..index.clone() };
    let index = IndexWriter::new(index).finish(None).bytes;
    json!({
        "index": String::from_utf8_lossy(&index),
        "entities": entities.iter().map(entity).collect::<Vec<_>>(),
        "surfaces": surfaces,
        "packets": packets,
        "robots_group": robots_group,
        "agents": agents,
    })
}

fn entity(declared: &EntityDeclaration) -> Value {
    let EntityDeclaration { entity, has_packet, kernel, questions } = declared;
    let packet = MetadataPacket {
        about: vec![entity.clone()],
        kernel: kernel.clone(),
        questions: questions.clone(),
        ..MetadataPacket::default()
    };
    json!({ "has_packet": has_packet, "packet": packet.to_json() })
}

#[cfg(test)]
mod tests {
    use rutter_page::Timestamp;

    use super::*;
    use crate::plan::{BaseUrl, TwinPolicy};

    #[test]
    fn digest_depends_on_every_kind_of_setting() {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = BaseUrl::parse("https://harbour.example/").unwrap();
        let plan = BuildPlan::new("site".into(), "state".into(), base, now);
        let changes: [fn(&mut BuildPlan); 8] = [
            |_| {},
            |plan| plan.layers.twins = TwinPolicy::Off,
            |plan| plan.layers.crawl_delay = Some(2.5),
            |plan| plan.arc.policy.contact = Some("mail@harbour.example".into()),
            |plan| plan.arc.priorities = vec![("/a/".into(), 0.5)],
            |plan| plan.name = Some("Harbour".into()),
            |plan| plan.spxi = Some(SpxiSettings::default()),
            |plan| {
                let entities = vec![EntityDeclaration { has_packet: true, ..Default::default() }];
                plan.spxi = Some(SpxiSettings { entities, ..SpxiSettings::default() });
            },
        ];
        let mut digests = changes.map(|change| {
            let mut changed = plan.clone();
            change(&mut changed);
            digest(&changed, &SiteSitemap::default())
        });
        assert_eq!(digests[0], digest(&plan, &SiteSitemap::default()));
        digests.sort_unstable();
        assert!(digests.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
