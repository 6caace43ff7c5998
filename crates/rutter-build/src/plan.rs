//! What is to be built, settled: no file, variable or flag is looked at below
//! this point.

use std::path::PathBuf;

use rutter_arc::Policy;
use rutter_page::{LanguageTag, Timestamp};
use rutter_scp::advert::Frequency;
use rutter_spxi::{Entity, Index, Kernel, Question};
use url::Url;

use crate::glob::Glob;

/// A build, with every choice made.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the owner, each its own question")]
pub struct Plan {
    /// The folder or file the pages come from.
    pub site: PathBuf,
    /// What lies there.
    pub source: Source,
    /// Where artefacts go; `None` for the site's own folder. A folder given
    /// here becomes a whole site that can be served.
    pub out: Option<PathBuf>,
    /// The folder that remembers: `.rutter`.
    pub state: PathBuf,
    /// A folder with published files, to rebuild lost state from.
    pub previous: Option<PathBuf>,
    /// Address of the site.
    pub base: Base,
    /// The time of day.
    pub now: Timestamp,
    /// The program that made the site, where it is known.
    pub generator: Option<Generator>,
    /// What the site is called; the home page's title where nothing is given.
    pub name: Option<String>,
    /// What the site is about; the home page's description where nothing is given.
    pub summary: Option<String>,
    /// The language of pages that declare none.
    pub language: Option<LanguageTag<'static>>,
    /// Folders of the owner that are no part of the site, wherever they lie.
    pub kept_out: Vec<PathBuf>,
    /// Files that are not pages of the site.
    pub exclude: Vec<Glob>,
    /// Path prefixes of pages that need a login.
    pub restricted: Vec<String>,
    /// Sections by path prefix; empty for a section per first path segment.
    pub sections: Vec<SectionRule>,
    /// What becomes of pages that a collection may not hold.
    pub oversize: Oversize,
    /// How often the site is said to change.
    pub update: Frequency,
    /// Which artefacts are written.
    pub layers: Layers,
    /// What the sitemap for AI agents says beside its pages.
    pub arc: Arc,
    /// What the semantic index says; nothing where no entity is declared.
    pub spxi: Option<Spxi>,
    /// How personal data is treated.
    pub privacy: Privacy,
    /// Where first dates come from, beside the pages themselves.
    pub git_dates: bool,
    /// A folder in git that holds sources of pages, beside those of the generator.
    pub git_root: Option<PathBuf>,
    /// Where the source of a page is below that folder, or below the
    /// generator's: `content/{path}.md`, with the page's path without its ending.
    pub git_sources: Vec<String>,
    /// Whether pages are read again although they did not change.
    pub reread: bool,
    /// Whether a file with the size and time it had is taken for unchanged.
    pub trust_mtime: bool,
    /// Whether times in the state that are later than now are set to now.
    pub redate: bool,
    /// Whether collections that hold removed pages are withdrawn at once.
    pub purge: bool,
    /// Whether most pages may be removed or left out at once.
    pub allow_mass_delete: bool,
    /// Whether files that are not ours may be replaced.
    pub force: bool,
    /// Files of the owner that ours may replace, relative to the output folder.
    pub replace: Vec<String>,
    /// Where to list the addresses of changed and removed pages.
    pub changed_list: Option<PathBuf>,
    /// Threads that read pages.
    pub threads: usize,
}

impl Plan {
    /// A build of a folder of HTML with the usual choices.
    pub fn new(site: PathBuf, state: PathBuf, base: Base, now: Timestamp) -> Self {
        Self {
            site,
            source: Source::Html,
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
            oversize: Oversize::Merge,
            update: Frequency::Weekly,
            layers: Layers::default(),
            arc: Arc::default(),
            spxi: None,
            privacy: Privacy::default(),
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

    /// The folder artefacts go to.
    pub fn target(&self) -> &std::path::Path {
        self.out.as_deref().unwrap_or(&self.site)
    }
}

/// A program that makes sites, and where its sources are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Its name, for people.
    pub name: String,
    /// The folder that its settings are in; `None` where only its output is known.
    pub root: Option<PathBuf>,
    /// Folders below it that may hold the sources of pages, the likeliest first.
    pub sources: Vec<String>,
}

/// Where the pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A folder of HTML files.
    Html,
    /// A folder of Markdown files.
    Markdown,
    /// A file with one page per line, as collections hold them.
    Lines,
}

/// A part of the site with collections of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionRule {
    /// Its name: letters, digits, hyphen, underscore.
    pub name: String,
    /// Pages whose path begins with this belong to it: `/docs/`.
    pub prefix: String,
}

/// Which artefacts are written.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the owner, each its own question")]
pub struct Layers {
    /// `sitemap.xml`.
    pub sitemap: bool,
    /// SCP collections.
    pub collections: bool,
    /// Whether `scp:` elements stand in a sitemap of their own (D16).
    pub separate_sitemap: bool,
    /// Whether sitemaps say where their schemas lie (D15).
    pub schema_location: bool,
    /// Whether collections also come as gzip.
    pub gzip: bool,
    /// Whether there is a collection of all pages beside those of sections.
    pub all: bool,
    /// Whether deltas carry removals and states (D95).
    pub chain: bool,
    /// The block in `robots.txt`.
    pub robots: bool,
    /// `Crawl-delay` for everybody; written only where it is given.
    pub crawl_delay: Option<f64>,
    /// `llms.txt`.
    pub llms: bool,
    /// `llms-full.txt`: the text of pages in the order of `llms.txt`.
    pub llms_full: bool,
    /// Most bytes of page text in `llms-full.txt`; further pages are left out.
    pub llms_full_bytes: u64,
    /// `arc-sitemap.json` and what belongs to it.
    pub arc: bool,
    /// `spxi-index.jsonld` and packets, where entities are declared.
    pub spxi: bool,
    /// Markdown twins of pages.
    pub twins: Twins,
    /// Whether links to the artefacts are put into the HTML.
    pub inject: bool,
    /// A file of headers for this kind of host.
    pub headers: Option<Host>,
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
            twins: Twins::Auto,
            inject: false,
            headers: None,
        }
    }
}

/// Whether twins are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twins {
    /// For sites of up to [`Twins::MOST`] pages.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Twins {
    /// Pages beyond which twins are not written unless asked for.
    pub const MOST: usize = 100_000;

    pub(crate) fn are_written(self, n_pages: usize) -> bool {
        match self {
            Self::Auto => n_pages <= Self::MOST,
            Self::On => true,
            Self::Off => false,
        }
    }

    /// Whether they are left out for the number of pages alone.
    pub(crate) fn are_too_many(self, n_pages: u64) -> bool {
        self == Self::Auto && Self::MOST < usize::try_from(n_pages).unwrap_or(usize::MAX)
    }
}

/// What becomes of a page with more blocks than the format allows (D36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// Neighbouring blocks are merged until it fits; no word is lost.
    Merge,
    /// Nothing is published.
    Stop,
}

/// A kind of web host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// A file to be included in an nginx server block.
    Nginx,
    /// `_headers`, which several static hosts read.
    Netlify,
}

/// What the sitemap for AI agents says beside its pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Arc {
    /// Whether `robots.txt` names it (D64).
    pub robots_line: bool,
    /// What checksums are of (D51).
    pub checksum: Checksum,
    /// How often crawlers may come: `1/s`.
    pub crawl_rate: Option<String>,
    /// Whom to ask about crawling.
    pub contact: Option<String>,
    /// Path prefixes of pages whose address is nobody's business (D56).
    pub unlisted: Vec<String>,
    /// Whether pages with a password form and pages that robots.txt forbids to
    /// everybody are listed by their addresses (D85).
    pub lists_restricted: bool,
    /// Path prefixes of pages that may show what they mark as sensitive (D59).
    pub approved: Vec<String>,
    /// Priorities of pages by path prefix, from 0 to 1; the longest counts.
    pub priorities: Vec<(String, f64)>,
    /// Whether what partners may read of pages that need a login is kept in
    /// the state (D57).
    pub private: bool,
    /// How many days deltas are kept.
    pub days: u32,
    /// Retention, access and approved consumers, as far as the owner says so
    /// (D55); site and date are filled in.
    pub policy: Policy,
}

impl Default for Arc {
    fn default() -> Self {
        Self {
            robots_line: true,
            checksum: Checksum::Content,
            crawl_rate: None,
            contact: None,
            unlisted: Vec::new(),
            lists_restricted: false,
            approved: Vec::new(),
            priorities: Vec::new(),
            private: false,
            days: 30,
            policy: Policy::default(),
        }
    }
}

/// What the semantic index says: the owner's words, and nothing else.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spxi {
    /// Kernel, publisher, author and the like. Address, date, entities and
    /// pages are filled in.
    pub index: Index,
    /// The entities, in the order they are declared.
    pub entities: Vec<Declared>,
    /// What pages are for.
    pub surfaces: Vec<SurfaceRule>,
    /// Whether entities have packets beside their pages.
    pub packets: bool,
    /// Whether robots.txt has a group for AI agents (D79).
    pub robots_group: bool,
    /// Agents of that group, beside those the specification names.
    pub agents: Vec<String>,
}

/// An entity, and what its packet says beyond the index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declared {
    /// The entity; its `id` is the absolute address of its page.
    pub entity: Entity,
    /// Whether it may have a packet.
    pub has_packet: bool,
    /// What must remain of the entity alone.
    pub kernel: Option<Kernel>,
    /// Questions the owner answers.
    pub questions: Vec<Question>,
}

/// What some pages are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceRule {
    /// The path of a page; with `*` at its end, how paths begin. The longest
    /// that fits counts.
    pub path: String,
    /// What kind of page it is: `gateway`, `entity_page`.
    pub surface_type: Option<String>,
    /// What it does: `person_definition`.
    pub function: Option<String>,
    /// Names of entities it keeps from being mistaken.
    pub protects: Vec<String>,
}

/// What a checksum is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// The page's line: it changes exactly when the content does.
    Content,
    /// The HTML of the file, before anything is put into it.
    Html,
}

/// How personal data is treated (D94).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Privacy {
    /// Whether addresses and telephone numbers stop the build like secrets do.
    pub strict: bool,
    /// Whether authors are left out.
    pub no_authors: bool,
    /// Findings the owner has looked at: lines of the acknowledgement file.
    pub acknowledged: Vec<String>,
}

/// Address of a site: scheme, host, and the path it lives under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Ends with a slash.
    text: String,
    /// Where the path begins in `text`.
    path_at: usize,
}

/// Why a text is not the address of a site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    /// It is not an absolute http(s) URL.
    #[error("`{0}` is not an absolute http or https URL")]
    Url(String),
    /// It has a query, a fragment or credentials.
    #[error("`{0}` has more than a host and a path")]
    Parts(String),
}

impl Base {
    /// Reads an address; a missing last slash is added.
    ///
    /// ```
    /// # use rutter_build::Base;
    /// let base = Base::parse("https://harbour.example/docs").unwrap();
    /// assert_eq!(base.as_str(), "https://harbour.example/docs/");
    /// assert_eq!(base.path(), "/docs/");
    /// ```
    pub fn parse(text: &str) -> Result<Self, BaseError> {
        let url = Url::parse(text.trim())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else { return Err(BaseError::Url(text.to_owned())) };
        let is_bare = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_bare {
            return Err(BaseError::Parts(text.to_owned()));
        }
        let path_at = url[..url::Position::BeforePath].len();
        let mut text = String::from(url);
        if !text.ends_with('/') {
            text.push('/');
        }
        Ok(Self { text, path_at })
    }

    /// The address, with its last slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `https://host`
    pub fn origin(&self) -> &str {
        self.text.get(..self.path_at).unwrap_or_default()
    }

    /// The path it lives under, `/` for most.
    pub fn path(&self) -> &str {
        self.text.get(self.path_at..).unwrap_or("/")
    }

    /// Whether the site is all of its host.
    pub fn is_root(&self) -> bool {
        self.path() == "/"
    }

    /// The address of a file, by its path below the site's folder.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }

    /// The path of an address below the site, without a first slash.
    pub fn strip<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_twins_stop_at_a_hundred_thousand_pages() {
        for (twins, n_pages, are_written, are_too_many) in [
            (Twins::Auto, 100_000, true, false),
            (Twins::Auto, 100_001, false, true),
            (Twins::On, 100_001, true, false),
            (Twins::Off, 100_001, false, false),
        ] {
            assert_eq!(twins.are_written(n_pages), are_written, "{twins:?} {n_pages}");
            assert_eq!(twins.are_too_many(n_pages as u64), are_too_many, "{twins:?} {n_pages}");
        }
    }
}
