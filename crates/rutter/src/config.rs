//! Reads settings from `rutter.toml`, `RUTTER_*` variables and flags.
//!
//! The macro call `keys!` lists all keys. The struct of settings, the readers of the three sources,
//! the flags, the JSON Schema and the documentation are generated from this list.
//! [`make_plan`](crate::plan::make_plan) turns the settings into a build plan. Rejects unknown keys
//! and values of the wrong type, with file, line and column.

pub(crate) mod accept;
pub(crate) mod document;
pub(crate) mod entity;
pub(crate) mod extract;
pub(crate) mod flags;
pub(crate) mod ignore;
pub(crate) mod similarity;
pub(crate) mod table;
pub(crate) mod value;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_arc::policy::{AccessDefault, ApprovedConsumer, PartnerEndpoint};
use rutter_build::{
    BaseUrl, ChecksumScope, HostKind, OversizePolicy, SectionRule, SourceKind, SurfaceRule,
    TwinPolicy,
};
use rutter_extract::{LinkBlocks, PathControl};
use rutter_finding::Severity;
use rutter_page::LanguageTag;
use rutter_scp::advert::UpdateFrequency;
use toml::de::{DeTable, DeValue};

use crate::config::entity::DeclaredEntity;
use crate::config::extract::Selectors;
use crate::config::flags::Flags;
use crate::config::ignore::IgnoreRule;
use crate::config::similarity::nearest;
use crate::config::table::{Priority, Rate};
use crate::config::value::{ConfigValue, Days, InvalidValue, TomlValue, ValueType};

/// Name of the settings file.
pub(crate) const FILE: &str = "rutter.toml";

/// Default name of the state folder.
pub(crate) const STATE: &str = ".rutter";

/// Heading for flags about overwriting and deleting files.
pub(crate) const OVERWRITING: &str = "Overwriting and deletion";

/// Heading for flags about speed and about a lost state.
pub(crate) const RECOVERY: &str = "Performance and recovery";

/// Headings of `rutter build --help`, in their order: headings of common flags first.
pub(crate) const HEADINGS: [&str; 10] = [
    "Site",
    "Layers",
    "Content extraction",
    "Dates",
    "Privacy",
    OVERWRITING,
    "Policy for AI consumers",
    "ARC sitemap",
    "SPXI entities",
    RECOVERY,
];

/// Generates the struct of settings and the table of keys. Each key has a field, a type, a name, a
/// flag if its name differs, a default, a short description and further details.
macro_rules! keys {
    ($( $table:literal { $(
        $field:ident: $kind:ty, $name:literal $(as $flag:literal)?, $default:literal,
        $about:literal, $detail:literal;
    )* } )*) => {
        /// The settings that one source or several sources give.
        #[derive(Debug, Default)]
        pub(crate) struct SiteSettings {
            $( $( #[doc = $about] pub(crate) $field: Option<Setting<$kind>>, )* )*
        }

        impl SiteSettings {
            /// Returns these settings, completed with those of `other`.
            fn or(self, other: Self) -> Self {
                Self { $( $( $field: self.$field.or(other.$field), )* )* }
            }
        }

        /// All keys, in the order of the documentation.
        pub(crate) const KEYS: &[Key] = &[ $( $( Key {
            table: $table,
            name: $name,
            flag: keys!(@flag $name $($flag)?),
            shape: <$kind as ConfigValue>::SHAPE,
            default: $default,
            about: $about,
            detail: $detail,
            from_toml: |settings, value, by| {
                settings.$field = Some(Setting { value: ConfigValue::from_toml(value)?, by });
                Ok(())
            },
            from_variable: |settings, text, by| {
                settings.$field = Some(Setting { value: ConfigValue::from_os(text)?, by });
                Ok(())
            },
            from_flag: |settings, texts, by| {
                settings.$field = Some(Setting { value: ConfigValue::from_flag(texts)?, by });
                Ok(())
            },
        }, )* )* ];
    };
    (@flag $name:literal) => { $name };
    (@flag $name:literal $flag:literal) => { $flag };
}

keys! {
    "" {
        site: PathBuf, "site", "",
            "Folder with the built site, or a JSON Lines file of pages",
            "A JSON Lines file has one page object per line. A relative path in rutter.toml starts at the folder of the file.";
        base_url: BaseUrl, "base-url", "read from CNAME, the home page or sitemap.xml",
            "Base URL that the site is published at",
            "All published URLs start with the base URL. Example: https://docs.example.org/. The build fails if it is not given and cannot be read from the site.";
        source: SourceKind, "source", "detected from the files",
            "Type of the site's files",
            "`html`: built HTML pages; `markdown`: Markdown files; `lines`: one JSON page object per line.";
        out: PathBuf, "out", "the site's folder",
            "Folder to write the complete site to",
            "The site's files are copied to it and the layers are added. By default, the layers are written into the site's folder.";
        state: PathBuf, "state", ".rutter beside rutter.toml, else in the current folder",
            "Folder with the state of the last build",
            "The folder holds the ledger and the page cache. Keep it between builds: the state provides the dates of pages and the deltas.";
        name: String, "name", "title of the home page",
            "Name of the site",
            "llms.txt and the SPXI index show the name.";
        summary: String, "summary", "description of the home page",
            "Description of the site, in one sentence",
            "llms.txt shows the description.";
        language: LanguageTag<'static>, "language", "",
            "Language of pages that declare none",
            "A language tag, such as en or pt-BR.";
        exclude: Vec<String>, "exclude", "[]",
            "Files that are not pages of the site",
            "Patterns of paths: `*` matches within a path segment, `**` across segments, a trailing `/` everything below a folder. Examples: `drafts/`, `*.print.html`.";
        restricted: Vec<String>, "restricted", "[]",
            "Path prefixes of pages that need a login",
            "No layer contains the content of these pages; the ARC sitemap lists only their URLs. Their files are still copied to the output folder, so serve it only with a server that checks tokens, such as `rutter serve`. Example: /members/.";
        oversize: OversizePolicy, "oversize", "merge",
            "What to do with pages of more than 1,000 blocks",
            "`merge` joins neighbouring blocks; `stop` fails the build.";
        update: UpdateFrequency, "update", "weekly",
            "How often the site changes, as announced to crawlers",
            "";
        git_dates: bool, "git-dates", "false",
            "Take missing page dates from the git history",
            "The dates are used for pages that state no date. They are read from the history of the site's folder, or of the source files of its generator.";
        git_sources: Vec<String>, "git-sources", "[]",
            "Path patterns of the source files of pages, for git dates",
            "`{path}` is the path of a page without index.html or its extension; the pattern is relative to the folder of rutter.toml. Set it only if the built-in paths for the site generator do not fit. Example: content/{path}.md.";
        trust_mtime: bool, "trust-mtime", "false",
            "Skip files whose size and mtime are unchanged",
            "By default, each file is read and its content is compared.";
        purge: bool, "purge", "false",
            "Withdraw collections with removed pages immediately",
            "By default, these collections stay available until they expire.";
        allow_mass_delete: bool, "allow-mass-delete", "false",
            "Publish even if most pages are removed or excluded",
            "By default, the build fails if more than half of more than 20 pages would be removed or excluded, or if all pages would be excluded.";
        replace: Vec<String>, "replace", "[]",
            "Existing files that Rutter may overwrite",
            "Paths in the output folder. By default, Rutter overwrites only files that it wrote, and the sitemap.xml of the site generator. Example: llms.txt.";
        threads: usize, "threads", "number of processors",
            "Number of threads that read pages",
            "";
        sections: Vec<SectionRule>, "sections", "one for each first path segment with at least 20 pages, and `main` for the rest",
            "Sections of the site, by path prefix",
            "Each section has collections of its own. Example on the command line: docs=/docs/.";
        entities: Vec<DeclaredEntity>, "entities", "",
            "Entities that the site describes",
            "These entities are added to the entities in the folder of entity files.";
    }
    "extract" {
        extract_main: Selectors, "main" as "extract-main", "found on each page",
            "Selectors of the main content",
            "Content outside these elements is dropped. On a page without such an element, the classifier finds the main content (HT020). Example: main article.";
        extract_keep: Selectors, "keep" as "extract-keep", "[]",
            "Selectors of elements that are always kept",
            "Example: aside#terms.";
        extract_drop: Selectors, "drop" as "extract-drop", "[]",
            "Selectors of elements that are always dropped",
            "`drop` takes precedence over `keep`. Example: .promo.";
        extract_links: LinkBlocks, "links" as "extract-links", "on",
            "Publish links inside text as link blocks, too",
            "`on`: the links of a text follow it as link blocks, each URL once per page. `off`: only links that stand alone become link blocks.";
        extract_paths: Vec<PathControl>, "path" as "extract-path", "",
            "Selectors for pages with a matching path",
            "`main` replaces the selectors of `[extract]`; `keep` and `drop` are added to them.";
    }
    "layers" {
        sitemap: bool, "sitemap", "true",
            "Write sitemap.xml",
            "";
        collections: bool, "collections", "true",
            "Write SCP collections",
            "";
        robots: bool, "robots", "true",
            "Maintain a block of Rutter's lines in robots.txt",
            "Lines outside the block are never changed.";
        llms: bool, "llms", "true",
            "Write llms.txt",
            "";
        llms_full: bool, "llms-full", "false",
            "Write llms-full.txt with the text of the pages",
            "Pages are in the order of llms.txt.";
        llms_full_bytes: u64, "llms-full-bytes", "4000000",
            "Maximum size of the pages in llms-full.txt, in bytes",
            "Pages beyond this size are left out; the last line of the file says how many pages are left out.";
        arc: bool, "arc", "true",
            "Write the ARC sitemap, its deltas and the policy",
            "";
        spxi: bool, "spxi", "true",
            "Write the SPXI index and packets",
            "Nothing is written if no entity is declared.";
        twins: TwinPolicy, "twins", "auto",
            "Write a Markdown twin of each page",
            "`auto` writes twins for sites of up to 100,000 pages.";
        inject: bool, "inject", "false",
            "Add links to the layers to the head of each HTML page",
            "";
        headers: HostKind, "headers", "",
            "Write a file of HTTP headers for this web host",
            "The file sets the media types and link headers of the layers.";
        crawl_delay: f64, "crawl-delay", "",
            "Crawl-delay for all crawlers in robots.txt, in seconds",
            "By default, robots.txt asks for no delay. Example: 1.";
        gzip: bool, "gzip", "true",
            "Write collections as gzip, too, not only as zstd",
            "";
        all: bool, "all", "true",
            "Write a collection of all pages, not only of sections",
            "";
        chain: bool, "chain", "true",
            "Include removals and states in deltas",
            "Without removals and states, a reader of a delta does not learn which pages were removed and cannot verify its copy.";
        separate_sitemap: bool, "separate-sitemap", "false",
            "Announce collections in a separate sitemap",
            "By default, sitemap.xml announces the collections.";
        schema_location: bool, "schema-location", "false",
            "Add xsi:schemaLocation to sitemaps",
            "";
    }
    "arc" {
        arc_robots_line: bool, "robots-line" as "arc-robots-line", "true",
            "Name the ARC sitemap in robots.txt",
            "";
        arc_checksum: ChecksumScope, "checksum" as "arc-checksum", "content",
            "What the checksums of the ARC sitemap are computed from",
            "`content`: the extracted content of the page; `html`: its HTML file.";
        arc_crawl_rate: Rate, "crawl-rate" as "arc-crawl-rate", "",
            "Crawl rate that the ARC sitemap announces",
            "Example: 1/s or 30/min.";
        arc_contact: String, "contact" as "arc-contact", "",
            "Contact address for questions about crawling",
            "Example: crawling@example.org.";
        arc_unlisted: Vec<String>, "unlisted" as "arc-unlisted", "[]",
            "Path prefixes of pages that the ARC sitemap leaves out",
            "Example: /internal/.";
        arc_list_restricted: bool, "list-restricted" as "arc-list-restricted", "false",
            "List pages that need a password or that robots.txt disallows",
            "The ARC sitemap lists only the URLs of these pages. By default, it leaves the pages out.";
        arc_approved: Vec<String>, "approved" as "arc-approved", "[]",
            "Path prefixes of pages to publish despite sensitive parts",
            "By default, pages with parts that are marked sensitive, and pages with a password form as their main content, are excluded. Example: /join/.";
        arc_priorities: Vec<Priority>, "priorities" as "arc-priorities", "",
            "Priorities of pages in the ARC sitemap, by path prefix",
            "A priority is a number from 0 to 1; the longest matching prefix wins. Example on the command line: /docs/=0.8.";
        arc_private: bool, "private" as "arc-private", "false",
            "Keep restricted content for partners in the state folder",
            "`rutter serve` sends this content to partners with a token. The state folder must be outside the published folder.";
        arc_days: Days, "days" as "arc-days", "30",
            "Number of days for which ARC deltas are kept",
            "";
    }
    "spxi" {
        spxi_kernel: String, "kernel" as "spxi-kernel", "",
            "Summary (kernel) of the site, at most 100 words",
            "Required if an entity is declared.";
        spxi_kernel_doi: String, "kernel-doi" as "spxi-kernel-doi", "",
            "DOI of a deposit that supports the kernel",
            "";
        spxi_protocol_doi: String, "protocol-doi" as "spxi-protocol-doi", "",
            "DOI of the specification that the index names",
            "";
        spxi_publisher: String, "publisher" as "spxi-publisher", "",
            "Name of the organization that publishes the site",
            "";
        spxi_publisher_url: String, "publisher-url" as "spxi-publisher-url", "",
            "URL of the organization that publishes the site",
            "";
        spxi_author: String, "author" as "spxi-author", "",
            "Name of the person who wrote the index",
            "";
        spxi_author_id: String, "author-id" as "spxi-author-id", "",
            "URL that identifies the author, such as an ORCID",
            "";
        spxi_license: String, "license" as "spxi-license", "",
            "URL of the license of the index",
            "";
        spxi_entities: PathBuf, "entities" as "spxi-entities", "entities beside rutter.toml",
            "Folder of entity files",
            "Each TOML file in it describes one entity.";
        spxi_surfaces: Vec<SurfaceRule>, "surfaces" as "spxi-surfaces", "",
            "Purpose of pages, by path",
            "";
        spxi_packets: bool, "packets" as "spxi-packets", "true",
            "Write a packet beside the page of each entity",
            "";
        spxi_robots_group: bool, "robots-group" as "spxi-robots-group", "true",
            "Announce the index to AI agents in a robots.txt group",
            "";
        spxi_agents: Vec<String>, "agents" as "spxi-agents", "[]",
            "Additional AI agents in the robots.txt group",
            "The agents are added to the seven agents that the specification names. Example: ClaudeBot.";
    }
    "policy" {
        policy_retention_days: u64, "retention-days" as "policy-retention-days", "",
            "Number of days for which AI consumers may keep copies",
            "";
        policy_delete_on_removal: bool, "delete-on-removal" as "policy-delete-on-removal", "",
            "Ask AI consumers to delete copies of removed pages",
            "";
        policy_retention_notes: String, "retention-notes" as "policy-retention-notes", "",
            "Further terms for copies, as free text",
            "";
        policy_access: AccessDefault, "access" as "policy-access", "",
            "Access for AI consumers that are not listed",
            "";
        policy_access_rate: Rate, "access-rate" as "policy-access-rate", "",
            "Request rate for all AI consumers",
            "Example: 30/min.";
        policy_endpoints: Vec<PartnerEndpoint>, "endpoints" as "policy-endpoints", "",
            "Endpoints that offer more content to partners",
            "";
        policy_consumers: Vec<ApprovedConsumer>, "consumers" as "policy-consumers", "",
            "AI consumers that you approve",
            "";
    }
    "privacy" {
        privacy_strict: bool, "strict" as "privacy-strict", "false",
            "Fail on mail addresses and telephone numbers",
            "By default, only secrets such as keys and passwords fail the build.";
        no_authors: bool, "no-authors", "false",
            "Omit the authors of pages",
            "";
        acknowledged: PathBuf, "acknowledged", "",
            "File of accepted privacy findings, one per line",
            "Lines that start with # are comments.";
    }
    "check" {
        check_fail_on: Severity, "fail-on" as "check-fail-on", "error",
            "Minimum severity that fails `rutter check`",
            "";
        check_select: Vec<String>, "select" as "check-select", "",
            "Rules that `rutter check` reports",
            "Codes, names, or layers such as SC. By default, all rules are reported.";
        check_ignore: Vec<IgnoreRule>, "ignore" as "check-ignore", "",
            "Findings that `rutter check` ignores",
            "";
        check_baseline: PathBuf, "baseline" as "check-baseline", "",
            "File of known findings, which do not fail `rutter check`",
            "";
    }
}

/// A key of the settings: its names in all sources, its documentation and its readers.
#[derive(Debug)]
pub(crate) struct Key {
    /// The table of `rutter.toml` that contains the key; empty for keys at the top of the file.
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
    pub(crate) flag: &'static str,
    pub(crate) shape: ValueType,
    /// Description of the default value; empty if the key has no default.
    pub(crate) default: &'static str,
    /// Short description of the key: one line, imperative or a noun phrase, at most 70 characters,
    /// without a full stop.
    pub(crate) about: &'static str,
    /// Further description of the key: sentences with units, examples and the behaviour by default;
    /// may be empty.
    pub(crate) detail: &'static str,
    from_toml: fn(&mut SiteSettings, &TomlValue<'_>, SettingSource) -> Result<(), InvalidValue>,
    from_variable: fn(&mut SiteSettings, &OsStr, SettingSource) -> Result<(), String>,
    from_flag: fn(&mut SiteSettings, &[OsString], SettingSource) -> Result<(), String>,
}

impl Key {
    /// Returns the name of the environment variable.
    pub(crate) fn variable(&self) -> String {
        format!("RUTTER_{}", self.flag.to_uppercase().replace('-', "_"))
    }

    /// Returns whether the key is a positional argument.
    pub(crate) fn is_positional(&self) -> bool {
        self.flag == "site"
    }

    /// Returns the placeholder for the value in help texts.
    pub(crate) fn placeholder(&self) -> &'static str {
        match self.name {
            "exclude" => "GLOB",
            "git-sources" => "PATTERN",
            "restricted" | "unlisted" | "approved" => "PREFIX",
            "replace" => "PATH",
            "main" | "keep" | "drop" => "SELECTOR",
            "links" => "WHEN",
            "out" | "state" => "DIR",
            "acknowledged" => "FILE",
            "source" => "KIND",
            "update" => "OFTEN",
            "oversize" => "DO",
            "twins" => "WHEN",
            "checksum" => "OF",
            "access" => "GRANT",
            "headers" => "HOST",
            _ => self.shape.placeholder(),
        }
    }

    /// Returns the heading of the flag in `rutter build --help`; one of [`HEADINGS`].
    pub(crate) fn heading(&self) -> &'static str {
        match (self.table, self.name) {
            ("extract", _) => "Content extraction",
            ("layers", _) => "Layers",
            ("arc", _) => "ARC sitemap",
            ("spxi", _) => "SPXI entities",
            ("policy", _) => "Policy for AI consumers",
            ("privacy", _) => "Privacy",
            (_, "update" | "git-dates" | "git-sources") => "Dates",
            (_, "purge" | "allow-mass-delete" | "replace") => OVERWRITING,
            (_, "trust-mtime" | "threads") => RECOVERY,
            _ => "Site",
        }
    }

    /// Returns the place of the key in the file, for help texts.
    pub(crate) fn place(&self) -> String {
        match self.table {
            "" => format!("`{}`", self.name),
            table => format!("`{}` in [{table}]", self.name),
        }
    }

    /// Returns the short and the further description as sentences.
    pub(crate) fn sentences(&self) -> String {
        match self.detail {
            "" => format!("{}.", self.about),
            detail => format!("{}. {detail}", self.about),
        }
    }

    /// Returns whether only the settings file can set the key.
    pub(crate) fn is_of_file(&self) -> bool {
        // `rutter check` has its own flags for the settings of `[check]`.
        self.table == "check"
            || matches!(self.shape, ValueType::Tables(form) if form.placeholder.is_empty())
    }

    /// Returns the argument of the key as it is written on the command line.
    pub(crate) fn typed(&self) -> String {
        if self.is_positional() { "SITE".to_owned() } else { format!("--{}", self.flag) }
    }
}

/// The value of a key, and its source.
#[derive(Debug, Clone)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) by: SettingSource,
}

impl<T> Setting<T> {
    pub(crate) fn value(self) -> T {
        self.value
    }
}

/// The source of the value of a key, for error messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingSource {
    /// A place in a settings file, such as `rutter.toml:3:1`.
    File(String),
    /// The name of an environment variable, such as `RUTTER_BASE_URL`.
    Variable(String),
    /// The name of a flag, such as `--base-url`.
    Flag(String),
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => f.write_str(place),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// An error in the settings or arguments, with an optional hint.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct SettingsError {
    what: String,
    pub(crate) hint: Option<String>,
}

impl SettingsError {
    pub(crate) fn new(by: &SettingSource, what: impl fmt::Display) -> Self {
        Self { what: format!("{by}: {what}"), hint: None }
    }

    /// Creates an error about something that is missing.
    pub(crate) fn missing(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: Some(hint.into()) }
    }
}

/// The settings of all sources, merged by precedence.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) settings: SiteSettings,
    /// The `rutter.toml` that was read. Relative paths in it start at its folder.
    pub(crate) file: Option<PathBuf>,
}

/// Reads an environment variable of the process.
pub(crate) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Merges flags, variables and the file. Flags take precedence over variables, and variables over
/// the file.
pub(crate) fn load(
    flags: &Flags,
    file: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> anyhow::Result<Config> {
    let mut settings = from_flags(flags)?.or(from_environment(environment)?);
    let found = match file {
        Some(file) => Some(file.to_owned()),
        None => find(settings.site.as_ref().map(|site| site.value.as_path()))?,
    };
    let Some(file) = found else { return Ok(Config { settings, file: None }) };
    let name = file.display().to_string();
    let text = fs::read_to_string(&file).with_context(|| name.clone())?;
    settings = settings.or(from_file(&name, &text)?);
    Ok(Config { settings, file: Some(file) })
}

fn from_flags(flags: &Flags) -> Result<SiteSettings, SettingsError> {
    let mut settings = SiteSettings::default();
    for (key, texts) in flags.given() {
        let by = SettingSource::Flag(key.typed());
        let read = (key.from_flag)(&mut settings, texts, by.clone());
        read.map_err(|what| SettingsError::new(&by, what))?;
    }
    Ok(settings)
}

fn from_environment(get: &dyn Fn(&str) -> Option<OsString>) -> Result<SiteSettings, SettingsError> {
    let mut settings = SiteSettings::default();
    for key in KEYS.iter().filter(|key| !key.is_of_file()) {
        // CI systems set variables to the empty string to unset them.
        let Some(text) = get(&key.variable()).filter(|text| !text.is_empty()) else { continue };
        let by = SettingSource::Variable(key.variable());
        let read = (key.from_variable)(&mut settings, &text, by.clone());
        read.map_err(|what| SettingsError::new(&by, what))?;
    }
    Ok(settings)
}

/// Returns a message for each `RUTTER_*` variable that is not a setting, with the most similar
/// setting.
pub(crate) fn misspelt(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let settable = || KEYS.iter().filter(|key| !key.is_of_file());
    let known: Vec<String> = settable().map(Key::variable).collect();
    let flags = || settable().map(|key| key.flag);
    let mut messages = Vec::new();
    for name in names {
        let Some(name) = name.to_str() else { continue };
        // Rutter sets the first two variables for render commands.
        let is_other =
            matches!(name, "RUTTER_URL" | "RUTTER_FILE") || name == crate::diagnostics::VARIABLE;
        let Some(setting) = name.strip_prefix("RUTTER_").filter(|_| !is_other) else { continue };
        if known.iter().any(|known| known == name) {
            continue;
        }
        let meant = nearest(setting, flags());
        let meant = meant.and_then(|flag| KEYS.iter().find(|key| key.flag == flag));
        let meant = meant.map(|key| format!("; did you mean {}?", key.variable()));
        let shown = rutter_finding::visible(name);
        messages.push(format!("ignoring {shown}: not a setting{}", meant.unwrap_or_default()));
    }
    messages.sort();
    messages
}

/// Reads the text of a settings file; `name` is the name of the file in messages.
pub(crate) fn from_file(name: &str, text: &str) -> Result<SiteSettings, SettingsError> {
    let place = |at: usize| SettingSource::File(format!("{name}:{}", line_and_column(text, at)));
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        SettingsError::new(&place(at), error.message().trim_end())
    })?;
    let mut settings = SiteSettings::default();
    from_table("", table.get_ref(), &place, &mut settings)?;
    Ok(settings)
}

fn from_table(
    table: &str,
    entries: &DeTable<'_>,
    place: &dyn Fn(usize) -> SettingSource,
    settings: &mut SiteSettings,
) -> Result<(), SettingsError> {
    // Read the entries in the order of the file, so that the first error is reported.
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in entries {
        let by = place(name.span().start);
        let name = name.get_ref().as_ref();
        if let Some(key) = KEYS.iter().find(|key| key.table == table && key.name == name) {
            (key.from_toml)(settings, value, by).map_err(|wrong| {
                let at = wrong.span.unwrap_or(value.span()).start;
                let fault =
                    SettingsError::new(&place(at), format_args!("{}: {}", key.name, wrong.what));
                SettingsError { hint: wrong.hint, ..fault }
            })?;
        } else if table.is_empty() && tables().any(|known| known == name) {
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(SettingsError::new(
                    &by,
                    format_args!("{name}: expected a table, [{name}]"),
                ));
            };
            from_table(name, inner, place, settings)?;
        } else {
            let shown = rutter_finding::visible(name);
            let whose = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
            let fault = SettingsError::new(&by, format_args!("unknown key `{shown}`{whose}"));
            return Err(SettingsError { hint: suggestion(table, name), ..fault });
        }
    }
    Ok(())
}

/// Returns the names of the tables of `rutter.toml`.
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    let mut before = "";
    KEYS.iter()
        .map(|key| key.table)
        .filter(move |table| std::mem::replace(&mut before, *table) != *table)
}

/// Returns a hint for an unknown key: the most similar key of the same table, else of another
/// table.
fn suggestion(table: &str, name: &str) -> Option<String> {
    let same = KEYS.iter().filter(|key| key.table == table).map(|key| key.name);
    let tables = tables().filter(|_| table.is_empty());
    if let Some(near) = nearest(name, same.chain(tables)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let near = nearest(name, KEYS.iter().map(|key| key.name))?;
    let key = KEYS.iter().find(|key| key.name == near)?;
    Some(match key.table {
        "" => format!("`{near}` is a key at the top of the file, before the first table"),
        table => format!("`{near}` is a key of [{table}]"),
    })
}

/// Returns the line and the column of a byte offset, counted from 1.
fn line_and_column(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{line}:{column}")
}

/// Finds the settings file: in the parent folders of the site, then in the current folder and its
/// parents.
pub(crate) fn find(site: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    let beside = site.map(|site| real(&here.join(site)));
    let beside = beside.as_deref().and_then(|site| {
        // If the current folder is inside the site, the search starts at the current folder.
        if here.starts_with(site) { None } else { site.parent() }
    });
    let found = beside.into_iter().chain([here.as_path()]).find_map(upwards);
    Ok(found.map(|file| file.strip_prefix(&here).map(Path::to_owned).unwrap_or(file)))
}

/// Searches for the settings file in a folder and its parents, up to the root of the repository.
fn upwards(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let file = folder.join(FILE);
        if file.is_file() {
            return Some(file);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Resolves symbolic links and `..` in the part of a path that exists.
pub(crate) fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    match found {
        Some((part, real)) => match path.strip_prefix(part) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path,
    }
}
