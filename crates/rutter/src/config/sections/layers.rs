//! Keys of `[layers]`.

use rutter_build::{HostKind, TwinPolicy};

use crate::config::key::{Key, Slot};
use crate::config::settings::Setting;

/// The settings of `[layers]`.
// More than 12 fields: one for each key.
#[derive(Debug, Default)]
pub(crate) struct LayersTable {
    pub(crate) sitemap: Option<Setting<bool>>,
    pub(crate) collections: Option<Setting<bool>>,
    pub(crate) robots: Option<Setting<bool>>,
    pub(crate) llms: Option<Setting<bool>>,
    pub(crate) llms_full: Option<Setting<bool>>,
    pub(crate) llms_full_bytes: Option<Setting<u64>>,
    pub(crate) arc: Option<Setting<bool>>,
    pub(crate) spxi: Option<Setting<bool>>,
    pub(crate) twins: Option<Setting<TwinPolicy>>,
    pub(crate) inject: Option<Setting<bool>>,
    pub(crate) headers: Option<Setting<HostKind>>,
    pub(crate) crawl_delay: Option<Setting<f64>>,
    pub(crate) gzip: Option<Setting<bool>>,
    pub(crate) all: Option<Setting<bool>>,
    pub(crate) chain: Option<Setting<bool>>,
    pub(crate) separate_sitemap: Option<Setting<bool>>,
    pub(crate) schema_location: Option<Setting<bool>>,
}

impl LayersTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("sitemap", |settings| &mut settings.layers.sitemap)
            .about("Write sitemap.xml")
            .default("true"),
        key("collections", |settings| &mut settings.layers.collections)
            .about("Write SCP collections")
            .default("true"),
        key("robots", |settings| &mut settings.layers.robots)
            .about("Write Rutter's lines into a marked block of robots.txt")
            .detail("Lines outside the block are never changed.")
            .default("true"),
        key("llms", |settings| &mut settings.layers.llms)
            .about("Write llms.txt")
            .default("true"),
        key("llms-full", |settings| &mut settings.layers.llms_full)
            .about("Write llms-full.txt with the text of the pages")
            .detail("Pages are in the order of llms.txt.")
            .default("false"),
        key("llms-full-bytes", |settings| &mut settings.layers.llms_full_bytes)
            .about("Maximum size of the pages in llms-full.txt, in bytes")
            .detail("Pages beyond this size are left out; the last line of the file says how many pages are left out.")
            .default("4000000")
            .example("4000000"),
        key("arc", |settings| &mut settings.layers.arc)
            .about("Write the ARC sitemap, its deltas and the policy")
            .default("true"),
        key("spxi", |settings| &mut settings.layers.spxi)
            .about("Write the SPXI index and packets")
            .detail("Nothing is written if no entity is declared.")
            .default("true"),
        key("twins", |settings| &mut settings.layers.twins)
            .about("Write a Markdown twin of each page")
            .detail("`auto` writes twins for sites of up to 100,000 pages.")
            .default("auto")
            .placeholder("WHEN"),
        key("inject", |settings| &mut settings.layers.inject)
            .about("Add links to the layers to the head of each HTML page")
            .default("false"),
        key("headers", |settings| &mut settings.layers.headers)
            .about("Write a file of HTTP headers for this web host")
            .detail("The file sets the media types and link headers of the layers.")
            .placeholder("HOST"),
        key("crawl-delay", |settings| &mut settings.layers.crawl_delay)
            .about("Crawl-delay for all crawlers in robots.txt, in seconds")
            .detail("By default, robots.txt asks for no delay. Example: 1.")
            .example("1"),
        key("gzip", |settings| &mut settings.layers.gzip)
            .about("Write collections as gzip, too, not only as zstd")
            .default("true"),
        key("all", |settings| &mut settings.layers.all)
            .about("Write a collection of all pages, not only of sections")
            .default("true"),
        key("chain", |settings| &mut settings.layers.chain)
            .about("List removed pages and section checksums (states) in deltas")
            .detail("Without removals and states, a reader of a delta does not learn which pages were removed and cannot verify its copy.")
            .default("true"),
        key("separate-sitemap", |settings| &mut settings.layers.separate_sitemap)
            .about("Announce collections in a separate sitemap")
            .detail("By default, sitemap.xml announces the collections.")
            .default("false"),
        key("schema-location", |settings| &mut settings.layers.schema_location)
            .about("Add xsi:schemaLocation to sitemaps")
            .default("false"),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("layers", name, slot).heading("Layers")
}
