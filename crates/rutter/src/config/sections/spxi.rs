//! Keys of `[spxi]`.

use std::path::PathBuf;

use rutter_build::SurfaceRule;

use crate::config::key::{Key, Slot};
use crate::config::settings::Setting;

/// The settings of `[spxi]`.
// More than 12 fields: one for each key.
#[derive(Debug, Default)]
pub(crate) struct SpxiTable {
    pub(crate) kernel: Option<Setting<String>>,
    pub(crate) kernel_doi: Option<Setting<String>>,
    pub(crate) protocol_doi: Option<Setting<String>>,
    pub(crate) publisher: Option<Setting<String>>,
    pub(crate) publisher_url: Option<Setting<String>>,
    pub(crate) author: Option<Setting<String>>,
    pub(crate) author_id: Option<Setting<String>>,
    pub(crate) license: Option<Setting<String>>,
    pub(crate) entities: Option<Setting<PathBuf>>,
    pub(crate) surfaces: Option<Setting<Vec<SurfaceRule>>>,
    pub(crate) packets: Option<Setting<bool>>,
    pub(crate) robots_group: Option<Setting<bool>>,
    pub(crate) agents: Option<Setting<Vec<String>>>,
}

impl SpxiTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("kernel", |settings| &mut settings.spxi.kernel)
            .about("Summary (kernel) of the site, at most 100 words")
            .detail("Required if an entity is declared.")
            .flag("spxi-kernel")
            .example(r#""Who you are, what you do, and what you are not.""#),
        key("kernel-doi", |settings| &mut settings.spxi.kernel_doi)
            .about("DOI of the archived text of the kernel")
            .flag("spxi-kernel-doi")
            .example(r#""10.5555/12345678""#),
        key("protocol-doi", |settings| &mut settings.spxi.protocol_doi)
            .about("DOI of the SPXI specification that the index follows")
            .flag("spxi-protocol-doi")
            .example(r#""10.5555/12345678""#),
        key("publisher", |settings| &mut settings.spxi.publisher)
            .about("Name of the organization that publishes the site")
            .flag("spxi-publisher")
            .example(r#""Name of the publisher""#),
        key("publisher-url", |settings| &mut settings.spxi.publisher_url)
            .about("URL of the organization that publishes the site")
            .flag("spxi-publisher-url")
            .example(r#""https://www.example.org/""#),
        key("author", |settings| &mut settings.spxi.author)
            .about("Name of the person who wrote the index")
            .flag("spxi-author")
            .example(r#""Name of the author""#),
        key("author-id", |settings| &mut settings.spxi.author_id)
            .about("URL that identifies the author, such as an ORCID")
            .flag("spxi-author-id")
            .example(r#""https://orcid.org/0000-0000-0000-0000""#),
        key("license", |settings| &mut settings.spxi.license)
            .about("URL of the license of the index")
            .flag("spxi-license")
            .example(r#""https://creativecommons.org/licenses/by/4.0/""#),
        key("entities", |settings| &mut settings.spxi.entities)
            .about("Folder of entity files")
            .detail("Each TOML file in it describes one entity.")
            .default("entities beside rutter.toml")
            .flag("spxi-entities")
            .example(r#""entities""#),
        key("surfaces", |settings| &mut settings.spxi.surfaces)
            .about("Purpose of each page in the SPXI index, by path")
            .flag("spxi-surfaces"),
        key("packets", |settings| &mut settings.spxi.packets)
            .about("Write a file (packet) that describes the entity beside its page")
            .default("true")
            .flag("spxi-packets"),
        key("robots-group", |settings| &mut settings.spxi.robots_group)
            .about("Announce the index to AI agents in a robots.txt group")
            .default("true")
            .flag("spxi-robots-group"),
        key("agents", |settings| &mut settings.spxi.agents)
            .about("Additional AI agents in the robots.txt group")
            .detail("The agents are added to the seven agents that the specification names. Example: ClaudeBot.")
            .default("[]")
            .flag("spxi-agents")
            .example(r#"["ClaudeBot", "OAI-SearchBot"]"#),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("spxi", name, slot).heading("SPXI entities")
}
