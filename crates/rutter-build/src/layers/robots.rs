//! Writes Rutter's block in robots.txt: the sitemaps and the group for AI agents.

use rutter_robots::RobotsAdditions;
use rutter_site::marked_block;

use super::{Layer, LayerInput, LayerOutput, OpenLayer};
use crate::error::BuildError;
use crate::staging::PublishOrder;
use crate::{arc_publication, entities, rules};

/// Writer of robots.txt.
struct RobotsLayer<'p> {
    input: &'p LayerInput<'p>,
}

/// Opens the layer; `None` if the plan does not ask for it.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> Option<OpenLayer<'p>> {
    input.plan.layers.robots.then(|| Box::new(RobotsLayer { input }) as OpenLayer<'p>)
}

impl Layer for RobotsLayer<'_> {
    fn finish(self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let plan = self.input.plan;
        let mut sitemaps = out.links.sitemaps.clone();
        if out.links.arc.is_some() && plan.arc.robots_line {
            // The ARC sitemap comes after the sitemaps that every crawler can read (D64).
            sitemaps.push(arc_publication::SITEMAP.to_owned());
        }
        let wishes = RobotsAdditions {
            sitemaps: sitemaps.iter().map(|name| plan.base.join(name)).collect(),
            crawl_delay: plan.layers.crawl_delay,
            group: entities::agent_group(plan).filter(|_| self.input.has_index()),
            ..RobotsAdditions::default()
        };
        if !plan.base.is_root() {
            let lines: Vec<String> =
                wishes.sitemaps.iter().map(|url| format!("Sitemap: {url}")).collect();
            out.report("robots.txt", &rules::UNDER_A_PATH, lines.join(", "));
            return Ok(());
        }
        let existing = rutter_root::read(&plan.site, "robots.txt").ok();
        let merged = rutter_robots::merge(existing.as_deref(), &wishes);
        let is_owners = existing.as_ref().is_some_and(|text| {
            let text = String::from_utf8_lossy(text);
            // A file without Rutter's block belongs to the site owner, even if the file is empty.
            marked_block::block_of(&text, &marked_block::HASH).is_none()
                || !marked_block::without_block(&text, &marked_block::HASH).trim().is_empty()
        });
        if is_owners && plan.out.is_none() {
            out.put_shared(PublishOrder::Robots, "robots.txt", &merged)?;
        } else {
            out.put(PublishOrder::Robots, "robots.txt", &merged)?;
        }
        Ok(())
    }
}
