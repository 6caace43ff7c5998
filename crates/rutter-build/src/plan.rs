//! The plan of a build: all its settings and its time.
//!
//! A [`BuildPlan`] holds every setting. The build reads no configuration file, environment variable
//! or command line, and takes the current time from the plan.

use std::path::PathBuf;

use rutter_arc::ArcPolicy;
use rutter_extract::{Glob, SiteControl};
use rutter_page::{LanguageTag, Timestamp};
use rutter_scp::advert::UpdateFrequency;
use rutter_spxi::{Entity, Kernel, PacketQuestion, SemanticIndex};
use serde::Serialize;
use url::Url;

/// Settings of a build.
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
    pub extract: SiteControl,
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
            extract: SiteControl::default(),
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

/// Which layers are written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings of the site owner")]
pub struct Layers {
    /// Whether `sitemap.xml` is written.
    pub sitemap: bool,
    /// Whether SCP collections are written.
    pub collections: bool,
    /// Whether the `scp:` elements are written to a separate sitemap (D16).
    pub separate_sitemap: bool,
    /// Whether sitemaps declare the locations of their schemas (D15).
    pub schema_location: bool,
    /// Whether collections are also written as gzip.
    pub gzip: bool,
    /// Whether collections of the section `all` are written in addition to those of the other
    /// sections.
    pub all: bool,
    /// Whether deltas contain removals and states (D95).
    pub chain: bool,
    /// Whether Rutter's block in `robots.txt` is written.
    pub robots: bool,
    /// `Crawl-delay` for all crawlers in `robots.txt`; `None` writes no such line.
    pub crawl_delay: Option<f64>,
    /// Whether `llms.txt` is written.
    pub llms: bool,
    /// Whether `llms-full.txt` is written, with the content of the pages in the order of
    /// `llms.txt`.
    pub llms_full: bool,
    /// Maximum size in bytes of the page content in `llms-full.txt`; further pages are left out.
    pub llms_full_bytes: u64,
    /// Whether the ARC layer is written: `arc-sitemap.json` and its related files.
    pub arc: bool,
    /// Whether the SPXI layer is written, if entities are declared: `spxi-index.jsonld` and
    /// packets.
    pub spxi: bool,
    /// Whether Markdown twins of pages are written.
    pub twins: TwinPolicy,
    /// Whether links to the artifacts are inserted into the heads of HTML pages.
    pub inject: bool,
    /// Kind of web host for which a header file is written; `None` writes no header file.
    pub headers: Option<HostKind>,
}

impl Default for Layers {
    fn default() -> Self {
        Self {
            sitemap: true,
            collections: true,
            separate_sitemap: false,
            schema_location: false,
            gzip: true,
            all: true,
            chain: true,
            robots: true,
            crawl_delay: None,
            llms: true,
            llms_full: false,
            llms_full_bytes: 4_000_000,
            arc: true,
            spxi: true,
            twins: TwinPolicy::Auto,
            inject: false,
            headers: None,
        }
    }
}

/// Whether Markdown twins are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TwinPolicy {
    /// Twins are written for sites with up to [`TwinPolicy::MOST`] pages.
    Auto,
    /// Twins are always written.
    On,
    /// Twins are never written.
    Off,
}

impl TwinPolicy {
    /// Number of pages above which [`TwinPolicy::Auto`] writes no twins.
    pub const MOST: usize = 100_000;

    pub(crate) fn are_written(self, n_pages: usize) -> bool {
        match self {
            Self::Auto => n_pages <= Self::MOST,
            Self::On => true,
            Self::Off => false,
        }
    }

    /// Returns whether twins are left out only because there are too many pages.
    pub(crate) fn are_too_many(self, n_pages: u64) -> bool {
        self == Self::Auto && Self::MOST < usize::try_from(n_pages).unwrap_or(usize::MAX)
    }
}

/// What a build does with a page that has more blocks than a collection may hold (D36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OversizePolicy {
    /// Merge neighbouring blocks until the page fits; no text is lost.
    Merge,
    /// Stop the build and publish nothing.
    Stop,
}

/// Kind of web host for which a header file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum HostKind {
    /// nginx: the header file is included in a `server` block of its configuration.
    Nginx,
    /// Netlify and other static hosts that read the file `_headers`.
    Netlify,
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

/// Base URL of a site: scheme, host and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    /// The URL, which ends with a slash.
    text: String,
    /// Byte offset of the path in `text`.
    path_at: usize,
}

/// Reason why a text is not a base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// The text is not an absolute http or https URL.
    #[error("`{0}` is not an absolute http or https URL")]
    Url(String),
    /// The URL has a query, a fragment or credentials.
    #[error("`{0}` has a query, a fragment or credentials")]
    Parts(String),
}

impl BaseUrl {
    /// Parses a base URL and appends a final slash if it is missing.
    ///
    /// ```
    /// # use rutter_build::BaseUrl;
    /// let base = BaseUrl::parse("https://harbour.example/docs").unwrap();
    /// assert_eq!(base.as_str(), "https://harbour.example/docs/");
    /// assert_eq!(base.path(), "/docs/");
    /// ```
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        let url = Url::parse(text.trim())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else { return Err(BaseUrlError::Url(text.to_owned())) };
        let is_bare = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_bare {
            return Err(BaseUrlError::Parts(text.to_owned()));
        }
        let path_at = url[..url::Position::BeforePath].len();
        let mut text = String::from(url);
        if !text.ends_with('/') {
            text.push('/');
        }
        Ok(Self { text, path_at })
    }

    /// Returns the base URL with its final slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the origin of the base URL, such as `https://host`.
    pub fn origin(&self) -> &str {
        self.text.get(..self.path_at).unwrap_or_default()
    }

    /// Returns the path of the base URL; `/` for a site at the root of its host.
    pub fn path(&self) -> &str {
        self.text.get(self.path_at..).unwrap_or("/")
    }

    /// Returns whether the site is at the root of its host.
    pub fn is_root(&self) -> bool {
        self.path() == "/"
    }

    /// Returns the URL of a file by its path relative to the site's folder.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }

    /// Returns the path of a URL relative to the base URL, without a leading slash; `None` if the
    /// URL is outside the site.
    pub fn strip<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_writes_twins_up_to_the_limit() {
        for (twins, n_pages, are_written, are_too_many) in [
            (TwinPolicy::Auto, 100_000, true, false),
            (TwinPolicy::Auto, 100_001, false, true),
            (TwinPolicy::On, 100_001, true, false),
            (TwinPolicy::Off, 100_001, false, false),
        ] {
            assert_eq!(twins.are_written(n_pages), are_written, "{twins:?} {n_pages}");
            assert_eq!(twins.are_too_many(n_pages as u64), are_too_many, "{twins:?} {n_pages}");
        }
    }
}
