//! Keys of `[arc]`.

use rutter_build::ChecksumScope;

use crate::config::key::{Key, Slot};
use crate::config::rows::priority::Priority;
use crate::config::settings::Setting;
use crate::config::value::{Days, Rate};

/// The settings of `[arc]`.
#[derive(Debug, Default)]
pub(crate) struct ArcTable {
    pub(crate) robots_line: Option<Setting<bool>>,
    pub(crate) checksum: Option<Setting<ChecksumScope>>,
    pub(crate) crawl_rate: Option<Setting<Rate>>,
    pub(crate) contact: Option<Setting<String>>,
    pub(crate) unlisted: Option<Setting<Vec<String>>>,
    pub(crate) list_restricted: Option<Setting<bool>>,
    pub(crate) approved: Option<Setting<Vec<String>>>,
    pub(crate) priorities: Option<Setting<Vec<Priority>>>,
    pub(crate) private: Option<Setting<bool>>,
    pub(crate) days: Option<Setting<Days>>,
}

impl ArcTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("robots-line", |settings| &mut settings.arc.robots_line)
            .about("Write the URL of the ARC sitemap into robots.txt")
            .default("true")
            .flag("arc-robots-line"),
        key("checksum", |settings| &mut settings.arc.checksum)
            .about("What the checksums of the ARC sitemap are computed from")
            .detail("`content`: the extracted content of the page; `html`: its HTML file.")
            .default("content")
            .flag("arc-checksum")
            .placeholder("OF"),
        key("crawl-rate", |settings| &mut settings.arc.crawl_rate)
            .about("Crawl rate that the ARC sitemap announces")
            .detail("Example: 1/s or 30/min.")
            .flag("arc-crawl-rate"),
        key("contact", |settings| &mut settings.arc.contact)
            .about("Contact address for questions about crawling")
            .detail("Example: crawling@example.org.")
            .flag("arc-contact")
            .example(r#""crawling@example.org""#),
        key("unlisted", |settings| &mut settings.arc.unlisted)
            .about("Path prefixes of pages that the ARC sitemap leaves out")
            .detail("Example: /internal/.")
            .default("[]")
            .flag("arc-unlisted")
            .placeholder("PREFIX")
            .example(r#"["/internal/"]"#),
        key("list-restricted", |settings| &mut settings.arc.list_restricted)
            .about("List pages that need a password or that robots.txt disallows")
            .detail("The ARC sitemap lists only the URLs of these pages. By default, it leaves the pages out.")
            .default("false")
            .flag("arc-list-restricted"),
        key("approved", |settings| &mut settings.arc.approved)
            .about("Path prefixes of pages to publish despite sensitive parts")
            .detail("By default, pages with parts that are marked sensitive, and pages with a password form as their main content, are excluded. Example: /join/.")
            .default("[]")
            .flag("arc-approved")
            .placeholder("PREFIX")
            .example(r#"["/join/"]"#),
        key("priorities", |settings| &mut settings.arc.priorities)
            .about("Priorities of pages in the ARC sitemap, by path prefix")
            .detail("A priority is a number from 0 to 1; the longest matching prefix wins. Example on the command line: /docs/=0.8.")
            .flag("arc-priorities"),
        key("private", |settings| &mut settings.arc.private)
            .about("Keep restricted content for partners in the state folder")
            .detail("`rutter serve` sends this content to partners with a token. The state folder must be outside the published folder.")
            .default("false")
            .flag("arc-private"),
        key("days", |settings| &mut settings.arc.days)
            .about("Number of days for which ARC deltas are kept")
            .default("30")
            .flag("arc-days"),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("arc", name, slot).heading("ARC sitemap")
}
