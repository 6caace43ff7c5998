//! Keys of `[extract]`.

use rutter_extract::{LinkBlocks, PathExtractSettings};

use crate::config::key::{Key, Slot};
use crate::config::selectors::Selectors;
use crate::config::settings::Setting;

/// The settings of `[extract]`.
#[derive(Debug, Default)]
pub(crate) struct ExtractTable {
    pub(crate) main: Option<Setting<Selectors>>,
    pub(crate) keep: Option<Setting<Selectors>>,
    pub(crate) drop: Option<Setting<Selectors>>,
    pub(crate) links: Option<Setting<LinkBlocks>>,
    pub(crate) path: Option<Setting<Vec<PathExtractSettings>>>,
}

impl ExtractTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("main", |settings| &mut settings.extract.main)
            .about("CSS selectors of the main content")
            .detail("Content outside these elements is dropped. On a page without such an element, the classifier finds the main content (HT020). Example: main article.")
            .default("found on each page")
            .flag("extract-main")
            .placeholder("SELECTOR")
            .example(r#""main article""#),
        key("keep", |settings| &mut settings.extract.keep)
            .about("CSS selectors of elements that are always kept")
            .detail("Example: aside#terms.")
            .default("[]")
            .flag("extract-keep")
            .placeholder("SELECTOR")
            .example(r#"[".kept", "aside#terms"]"#),
        key("drop", |settings| &mut settings.extract.drop)
            .about("CSS selectors of elements that are always dropped")
            .detail("`drop` takes precedence over `keep`. Example: .promo.")
            .default("[]")
            .flag("extract-drop")
            .placeholder("SELECTOR")
            .example(r#"[".promo", "[data-feedback]"]"#),
        key("links", |settings| &mut settings.extract.links)
            .about("Publish links inside text as link blocks, too")
            .detail("`on`: the links of a text follow it as link blocks, each URL once per page. `off`: only links that stand alone become link blocks.")
            .default("on")
            .flag("extract-links")
            .placeholder("WHEN"),
        key("path", |settings| &mut settings.extract.path)
            .about("Selectors for pages with a matching path")
            .detail("`main` replaces the selectors of `[extract]`; `keep` and `drop` are added to them.")
            .flag("extract-path"),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("extract", name, slot).heading("Content extraction")
}
