//! The plan of a build: all its settings and its time.
//!
//! A [`BuildPlan`] holds every setting. The build reads no configuration file, environment variable
//! or command line, and takes the current time from the plan.

mod base_url;
mod layers;

use std::path::PathBuf;

use rutter_arc::ArcPolicy;
use rutter_extract::{Glob, SiteExtractSettings};
use rutter_page::{LanguageTag, Timestamp};
use rutter_scp::advert::UpdateFrequency;
use rutter_spxi::{Entity, Kernel, PacketQuestion, SemanticIndex};
use serde::Serialize;

pub use self::base_url::{BaseUrl, BaseUrlError};
pub use self::layers::{HostKind, Layers, TwinPolicy};

/// Settings of a build.
// More than 12 fields: one for each setting of a site owner.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings of the site owner")]
pub struct BuildPlan {
    /// Folder or file that contains the pages.
    pub site: PathBuf,
    /// Format of the pages.
    pub source: SourceKind,
    /// Output folder; `None` writes into the site's own folder. A separate output folder becomes a
    /// complete copy of the site that can be served.
    pub out: Option<PathBuf>,
    /// State folder, usually `.rutter`.
    pub state: PathBuf,
    /// Folder with published files from which a lost state is rebuilt.
    pub previous: Option<PathBuf>,
    /// Base URL of the site.
    pub base: BaseUrl,
    /// Time of the build.
    pub now: Timestamp,
    /// The generator that built the site, if it is known.
    pub generator: Option<Generator>,
    /// Name of the site; `None` means the title of the home page.
    pub name: Option<String>,
    /// Summary of the site; `None` means the description of the home page.
    pub summary: Option<String>,
    /// Language of pages that declare no language.
    pub language: Option<LanguageTag<'static>>,
    /// Folders that are not part of the site, even if they are below its folder.
    pub kept_out: Vec<PathBuf>,
    /// Patterns of files that do not count as pages of the site.
    pub exclude: Vec<Glob>,
    /// Path prefixes of pages that need a login.
    pub restricted: Vec<String>,
    /// Sections by path prefix. If the list is empty, each first path segment with enough pages
    /// becomes a section.
    pub sections: Vec<SectionRule>,
    /// What happens to pages with more blocks than a collection may hold.
    pub oversize: OversizePolicy,
    /// Announced update frequency of the site.
    pub update: UpdateFrequency,
    /// Which layers are written.
    pub layers: Layers,
    /// Settings of the ARC sitemap.
    pub arc: ArcSettings,
    /// Settings of the SPXI index; `None` if no entity is declared.
    pub spxi: Option<SpxiSettings>,
    /// Settings for personal data.
    pub privacy: PrivacySettings,
    /// Settings that select which content of a page is extracted.
    pub extract: SiteExtractSettings,
    /// Whether the git history provides the dates of new pages.
    pub git_dates: bool,
    /// A folder in a git repository that holds sources of pages, in addition to the folders of the
    /// generator.
    pub git_root: Option<PathBuf>,
    /// Patterns for the path of a page's source below the folder of the generator or `git_root`,
    /// such as `content/{path}.md`. `{path}` is the path of the page without its file extension.
    pub git_sources: Vec<String>,
    /// Whether unchanged pages are read again.
    pub reread: bool,
    /// Whether a file with unchanged size and modification time counts as unchanged.
    pub trust_mtime: bool,
    /// Whether times in the state that are later than `now` are set to `now`.
    pub redate: bool,
    /// Whether collections that contain removed pages are withdrawn immediately.
    pub purge: bool,
    /// Whether the build may remove or exclude most pages at once.
    pub allow_mass_delete: bool,
    /// Whether files that Rutter did not write may be replaced.
    pub force: bool,
    /// Existing files that Rutter may replace, relative to the output folder.
    pub replace: Vec<String>,
    /// File that receives the URLs of changed and removed pages.
    pub changed_list: Option<PathBuf>,
    /// Number of threads that read pages.
    pub threads: usize,
}

impl BuildPlan {
    /// Returns a plan for a folder of HTML files with default settings.
    pub fn new(site: PathBuf, state: PathBuf, base: BaseUrl, now: Timestamp) -> Self {
        Self {
            site,
            source: SourceKind::Html,
            out: None,
            state,
            previous: None,
            base,
            now,
            generator: None,
            name: None,
            summary: None,
            language: None,
            kept_out: Vec::new(),
            exclude: Vec::new(),
            restricted: Vec::new(),
            sections: Vec::new(),
            oversize: OversizePolicy::Merge,
            update: UpdateFrequency::Weekly,
            layers: Layers::default(),
            arc: ArcSettings::default(),
            spxi: None,
            privacy: PrivacySettings::default(),
            extract: SiteExtractSettings::default(),
            git_dates: false,
            git_root: None,
            git_sources: Vec::new(),
            reread: false,
            trust_mtime: false,
            redate: false,
            purge: false,
            allow_mass_delete: false,
            force: false,
            replace: Vec::new(),
            changed_list: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Returns the folder to which artifacts are written.
    pub fn target(&self) -> &std::path::Path {
        self.out.as_deref().unwrap_or(&self.site)
    }
}

/// A site generator and the location of its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Name of the generator for messages.
    pub name: String,
    /// Folder with the generator's configuration; `None` if only its output is known.
    pub root: Option<PathBuf>,
    /// Folders below `root` that may hold the sources of pages, most likely first.
    pub sources: Vec<String>,
}

/// Format of the pages of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A folder of HTML files.
    Html,
    /// A folder of Markdown files.
    Markdown,
    /// A JSON Lines file with one SCP page object per line.
    Lines,
}

/// A section and its path prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SectionRule {
    /// Name of the section, of letters, digits, hyphens and underscores.
    pub name: String,
    /// Path prefix, such as `/docs/`; pages whose path starts with it belong to the section.
    pub prefix: String,
}

/// What a build does with a page that has more blocks than a collection may hold (D36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OversizePolicy {
    /// Merge neighbouring blocks until the page fits; no text is lost.
    Merge,
    /// Stop the build and publish nothing.
    Stop,
}

/// Settings of the ARC sitemap.
#[derive(Debug, Clone, PartialEq)]
pub struct ArcSettings {
    /// Whether `robots.txt` names the ARC sitemap (D64).
    pub robots_line: bool,
    /// Content that the checksums of ARC entries cover (D51).
    pub checksum: ChecksumScope,
    /// Maximum crawl rate that the ARC sitemap states, such as `1/s`.
    pub crawl_rate: Option<String>,
    /// Contact for questions about crawling.
    pub contact: Option<String>,
    /// Path prefixes of pages that no ARC file lists (D56).
    pub unlisted: Vec<String>,
    /// Whether the ARC sitemap lists the URLs of pages with a password form and of pages that
    /// robots.txt disallows for all crawlers (D85).
    pub lists_restricted: bool,
    /// Path prefixes of pages that stay public although they mark content as sensitive (D59).
    pub approved: Vec<String>,
    /// Priorities of pages by path prefix, from 0 to 1; the longest matching prefix applies.
    pub priorities: Vec<(String, f64)>,
    /// Whether the state stores pages that need a login, for partners (D57).
    pub private: bool,
    /// Number of days for which daily ARC deltas are kept.
    pub days: u32,
    /// Retention, access and approved consumers, if the site owner declared them (D55). The build
    /// adds the site and the date.
    pub policy: ArcPolicy,
}

impl Default for ArcSettings {
    fn default() -> Self {
        Self {
            robots_line: true,
            checksum: ChecksumScope::Content,
            crawl_rate: None,
            contact: None,
            unlisted: Vec::new(),
            lists_restricted: false,
            approved: Vec::new(),
            priorities: Vec::new(),
            private: false,
            days: 30,
            policy: ArcPolicy::default(),
        }
    }
}

/// Settings of the SPXI index. The build states nothing about entities that the site owner did not
/// declare.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpxiSettings {
    /// Kernel, publisher, author and similar members of the index. The build adds the URL, the
    /// date, the entities and the surfaces.
    pub index: SemanticIndex,
    /// The entities in the order of their declaration.
    pub entities: Vec<EntityDeclaration>,
    /// Rules that give pages their surface type and function in the index.
    pub surfaces: Vec<SurfaceRule>,
    /// Whether entities have packets next to their pages.
    pub packets: bool,
    /// Whether robots.txt has a group for AI agents (D79).
    pub robots_group: bool,
    /// AI agents in the robots.txt group, in addition to those that the specification names.
    pub agents: Vec<String>,
}

/// A declared entity and the additional members of its packet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntityDeclaration {
    /// The entity; its `id` is the absolute URL of its page.
    pub entity: Entity,
    /// Whether the entity may have a packet.
    pub has_packet: bool,
    /// The kernel of the entity, which only its packet contains.
    pub kernel: Option<Kernel>,
    /// Questions and answers about the entity that the site owner declared.
    pub questions: Vec<PacketQuestion>,
}

/// Rule that describes pages as surfaces of the SPXI index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SurfaceRule {
    /// Path of a page, or a path prefix followed by `*`. An exact path takes precedence, then the
    /// longest prefix.
    pub path: String,
    /// Surface type, such as `gateway` or `entity_page`.
    pub surface_type: Option<String>,
    /// Function of the surface, such as `person_definition`.
    pub function: Option<String>,
    /// Names of entities that the page distinguishes from their collisions.
    pub protects: Vec<String>,
}

/// Content that a checksum covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumScope {
    /// The checksum covers the line of the page, which changes exactly when the page's content
    /// changes.
    Content,
    /// The checksum covers the HTML of the page without the links that Rutter inserted.
    Html,
}

impl ChecksumScope {
    /// Returns the name of the variant, from which the state keeps digests.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Content => "Content",
            Self::Html => "Html",
        }
    }
}

/// Settings for personal data and secrets in pages (D94).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivacySettings {
    /// Whether email addresses and telephone numbers in pages stop the build, as secrets do.
    pub strict: bool,
    /// Whether authors are removed from pages.
    pub no_authors: bool,
    /// Acknowledged findings of secrets and personal data: the lines of the acknowledgement file.
    pub acknowledged: Vec<String>,
}
