//! What was written: `rutter.toml`, `RUTTER_*` variables and flags.
//!
//! One table names every key. The struct, the readers of all three places, the
//! flags, the schema and the documentation follow from it, so they cannot
//! differ. Nothing is decided here: [`settle`](crate::settle) says what it means.
//!
//! Refuses: keys it does not know, and values of another kind, with the place
//! where they stand.

pub(crate) mod accept;
pub(crate) mod document;
pub(crate) mod entity;
pub(crate) mod flags;
pub(crate) mod ignore;
pub(crate) mod suggest;
pub(crate) mod table;
pub(crate) mod value;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_arc::policy::{Consumer, Endpoint, Grant};
use rutter_build::{Base, Checksum, Host, Oversize, SectionRule, Source, SurfaceRule, Twins};
use rutter_finding::Severity;
use rutter_page::LanguageTag;
use rutter_scp::advert::Frequency;
use toml::de::{DeTable, DeValue};

use crate::config::entity::Stated as StatedEntity;
use crate::config::flags::Flags;
use crate::config::ignore::Ignore;
use crate::config::suggest::nearest;
use crate::config::table::{Priority, Rate};
use crate::config::value::{Days, Shape, Stated, Value, Wrong};

/// What the file is called.
pub(crate) const FILE: &str = "rutter.toml";

/// The folder that remembers, unless another is named.
pub(crate) const STATE: &str = ".rutter";

/// Makes the struct and the table of its keys. A flag has the name of its key
/// unless that is taken.
macro_rules! keys {
    ($( $table:literal { $(
        $field:ident: $kind:ty, $name:literal $(as $flag:literal)?, $default:literal, $about:literal;
    )* } )*) => {
        /// Everything that can be written, nothing decided.
        #[derive(Debug, Default)]
        pub(crate) struct Written {
            $( $( #[doc = $about] pub(crate) $field: Option<Given<$kind>>, )* )*
        }

        impl Written {
            /// What is written here, else what is written there.
            fn or(self, other: Self) -> Self {
                Self { $( $( $field: self.$field.or(other.$field), )* )* }
            }
        }

        /// Every key, in the order in which they are explained.
        pub(crate) const KEYS: &[Key] = &[ $( $( Key {
            table: $table,
            name: $name,
            flag: keys!(@flag $name $($flag)?),
            shape: <$kind as Value>::SHAPE,
            default: $default,
            about: $about,
            of_toml: |written, value, by| {
                written.$field = Some(Given { value: Value::of_toml(value)?, by });
                Ok(())
            },
            of_variable: |written, text, by| {
                written.$field = Some(Given { value: Value::of_os(text)?, by });
                Ok(())
            },
            of_flag: |written, texts, by| {
                written.$field = Some(Given { value: Value::of_flag(texts)?, by });
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
            "Folder with the built site, or a file of JSON Lines";
        base_url: Base, "base-url", "found in CNAME, the home page or sitemap.xml",
            "Address the site is published at";
        source: Source, "source", "by what lies there",
            "What the site is made of";
        out: PathBuf, "out", "the site's folder",
            "Folder that becomes the whole site with everything that is made for it";
        state: PathBuf, "state", ".rutter beside rutter.toml, else in the current folder",
            "Folder that remembers the last build";
        name: String, "name", "title of the home page",
            "What the site is called";
        summary: String, "summary", "description of the home page",
            "What the site is about, in a sentence";
        language: LanguageTag<'static>, "language", "",
            "Language of pages that declare none";
        exclude: Vec<String>, "exclude", "[]",
            "Files that are not pages of the site; * within a segment, ** across";
        restricted: Vec<String>, "restricted", "[]",
            "How the paths of pages begin that need a login; nothing of them but their addresses, in the ARC sitemap, is in what is made. Their files are part of the output folder: only a server that asks for tokens may show it";
        oversize: Oversize, "oversize", "merge",
            "Page with more than 1,000 blocks: merge neighbouring blocks, or stop the build";
        update: Frequency, "update", "weekly",
            "How often the site is said to change";
        git_dates: bool, "git-dates", "false",
            "Take dates of pages that name none from git: the history of the site's folder, or of the generator's sources";
        git_sources: Vec<String>, "git-sources", "[]",
            "Where the source of a page is below the folder of rutter.toml, as in content/{path}.md, where the rules of the generator do not fit; {path} is the page's path without index.html or its ending";
        trust_mtime: bool, "trust-mtime", "false",
            "Take a file with the size and time it had for unchanged, without reading it";
        purge: bool, "purge", "false",
            "Withdraw collections that hold removed pages at once, instead of after their time";
        allow_mass_delete: bool, "allow-mass-delete", "false",
            "Publish although more than half of more than 20 pages are removed or left out, or all are left out";
        replace: Vec<String>, "replace", "[]",
            "Files of yours that ours may replace, by their paths in the output folder";
        threads: usize, "threads", "number of processors",
            "How many threads read pages";
        sections: Vec<SectionRule>, "sections", "one for each first segment of a path with 20 pages or more, and `main` for the rest",
            "Parts of the site with collections of their own, by how paths begin";
        entities: Vec<StatedEntity>, "entities", "",
            "What the site is about: entities, beside those of the folder `entities`";
    }
    "layers" {
        sitemap: bool, "sitemap", "true", "Write sitemap.xml";
        collections: bool, "collections", "true", "Write SCP collections";
        separate_sitemap: bool, "separate-sitemap", "false",
            "Announce collections in a sitemap of their own, not in sitemap.xml";
        schema_location: bool, "schema-location", "false",
            "Say in sitemaps where their schemas lie (xsi:schemaLocation)";
        gzip: bool, "gzip", "true", "Write collections as gzip too, beside zstd";
        all: bool, "all", "true", "Write a collection of all pages, beside those of sections";
        chain: bool, "chain", "true", "Let deltas carry removals and states";
        robots: bool, "robots", "true", "Keep a block of ours in robots.txt";
        crawl_delay: f64, "crawl-delay", "",
            "Ask everybody in robots.txt to wait so many seconds between requests";
        llms: bool, "llms", "true", "Write llms.txt";
        llms_full: bool, "llms-full", "false",
            "Write llms-full.txt: the text of pages in the order of llms.txt";
        llms_full_bytes: u64, "llms-full-bytes", "4000000",
            "Most bytes of pages in llms-full.txt; its last line says how many pages are left out";
        arc: bool, "arc", "true", "Write the ARC sitemap for AI agents, its deltas and its policy";
        spxi: bool, "spxi", "true",
            "Write the SPXI index and packets, where entities are declared";
        twins: Twins, "twins", "auto",
            "Write a Markdown twin of each page; auto does for up to 100,000 pages";
        inject: bool, "inject", "false", "Put links to what is made into the HTML";
        headers: Host, "headers", "", "Write a file of headers for this kind of host";
    }
    "arc" {
        arc_robots_line: bool, "robots-line" as "arc-robots-line", "true",
            "Name the ARC sitemap in robots.txt";
        arc_checksum: Checksum, "checksum" as "arc-checksum", "content",
            "What checksums of pages in the ARC sitemap are of: their content, or their HTML";
        arc_crawl_rate: Rate, "crawl-rate" as "arc-crawl-rate", "",
            "How often crawlers may come";
        arc_contact: String, "contact" as "arc-contact", "",
            "Whom to ask about crawling";
        arc_unlisted: Vec<String>, "unlisted" as "arc-unlisted", "[]",
            "How the paths of pages begin that the ARC sitemap does not name at all";
        arc_list_restricted: bool, "list-restricted" as "arc-list-restricted", "false",
            "List pages with a password form and pages disallowed by robots.txt by their addresses";
        arc_approved: Vec<String>, "approved" as "arc-approved", "[]",
            "How the paths of pages begin that may be published although parts of them are marked sensitive";
        arc_priorities: Vec<Priority>, "priorities" as "arc-priorities", "",
            "Priorities of pages in the ARC sitemap, by how paths begin; the longest counts";
        arc_private: bool, "private" as "arc-private", "false",
            "Keep what partners may read of pages that need a login in the state's folder, for `rutter serve`";
        arc_days: Days, "days" as "arc-days", "30",
            "For how many days the ARC deltas are kept";
    }
    "spxi" {
        spxi_kernel: String, "kernel" as "spxi-kernel", "",
            "What must remain of the site when everything else is gone, in at most 100 words";
        spxi_kernel_doi: String, "kernel-doi" as "spxi-kernel-doi", "",
            "DOI of a deposit that the kernel rests on";
        spxi_protocol_doi: String, "protocol-doi" as "spxi-protocol-doi", "",
            "DOI of the specification to name in the index";
        spxi_publisher: String, "publisher" as "spxi-publisher", "",
            "Name of the organization that publishes the site";
        spxi_publisher_url: String, "publisher-url" as "spxi-publisher-url", "",
            "Address of that organization";
        spxi_author: String, "author" as "spxi-author", "",
            "Name of the person who wrote the index";
        spxi_author_id: String, "author-id" as "spxi-author-id", "",
            "An address that identifies that person, such as an ORCID";
        spxi_license: String, "license" as "spxi-license", "",
            "Address of the license of the index";
        spxi_entities: PathBuf, "entities" as "spxi-entities", "entities beside rutter.toml",
            "Folder of files with an entity each";
        spxi_surfaces: Vec<SurfaceRule>, "surfaces" as "spxi-surfaces", "",
            "What pages are for, by their paths";
        spxi_packets: bool, "packets" as "spxi-packets", "true",
            "Write a packet beside the page of each entity";
        spxi_robots_group: bool, "robots-group" as "spxi-robots-group", "true",
            "Tell AI agents of the index in a group of their own in robots.txt";
        spxi_agents: Vec<String>, "agents" as "spxi-agents", "[]",
            "Agents of that group, beside the seven the specification names";
    }
    "policy" {
        policy_retention_days: u64, "retention-days" as "policy-retention-days", "",
            "How many days AI consumers may keep copies";
        policy_delete_on_removal: bool, "delete-on-removal" as "policy-delete-on-removal", "",
            "Ask for copies of a page to be deleted with the page";
        policy_retention_notes: String, "retention-notes" as "policy-retention-notes", "",
            "What holds for copies, in words";
        policy_access: Grant, "access" as "policy-access", "",
            "What holds for AI consumers that are not named";
        policy_access_rate: Rate, "access-rate" as "policy-access-rate", "",
            "How often any AI consumer may come";
        policy_endpoints: Vec<Endpoint>, "endpoints" as "policy-endpoints", "",
            "Where partners get more";
        policy_consumers: Vec<Consumer>, "consumers" as "policy-consumers", "",
            "AI consumers you approve of";
    }
    "privacy" {
        privacy_strict: bool, "strict" as "privacy-strict", "false",
            "Let mail addresses and telephone numbers stop the build as secrets do";
        no_authors: bool, "no-authors", "false", "Leave authors out";
        acknowledged: PathBuf, "acknowledged", "",
            "File with the findings you have looked at, one on a line; # begins a remark";
    }
    "check" {
        check_fail_on: Severity, "fail-on" as "check-fail-on", "error",
            "The least severity that fails `rutter check`";
        check_select: Vec<String>, "select" as "check-select", "",
            "Rules that `rutter check` speaks of: codes, names, or layers such as SC";
        check_ignore: Vec<Ignore>, "ignore" as "check-ignore", "",
            "Findings that `rutter check` does not speak of";
        check_baseline: PathBuf, "baseline" as "check-baseline", "",
            "File of known findings, which do not fail `rutter check`";
    }
}

/// A key: its name in every place, and how it is read there.
#[derive(Debug)]
pub(crate) struct Key {
    /// The table of the file, empty for the top.
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
    pub(crate) flag: &'static str,
    pub(crate) shape: Shape,
    /// What holds where nothing is written, for people; empty for nothing.
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
    of_toml: fn(&mut Written, &Stated<'_>, By) -> Result<(), Wrong>,
    of_variable: fn(&mut Written, &OsStr, By) -> Result<(), String>,
    of_flag: fn(&mut Written, &[OsString], By) -> Result<(), String>,
}

impl Key {
    /// The variable with its name.
    pub(crate) fn variable(&self) -> String {
        format!("RUTTER_{}", self.flag.to_uppercase().replace('-', "_"))
    }

    /// Whether it is given without a flag before it.
    pub(crate) fn is_positional(&self) -> bool {
        self.flag == "site"
    }

    /// What help puts in place of the value.
    pub(crate) fn placeholder(&self) -> &'static str {
        match self.name {
            "exclude" => "GLOB",
            "git-sources" => "PATTERN",
            "restricted" | "unlisted" | "approved" => "PREFIX",
            "replace" => "PATH",
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

    /// Whether it stands in the file only: it is too much for a line, or no
    /// matter of a build.
    pub(crate) fn is_of_file(&self) -> bool {
        // Settings of `check` are no flags of `build`; `check` has its own.
        self.table == "check"
            || matches!(self.shape, Shape::Tables(form) if form.placeholder.is_empty())
    }

    /// How it is given on the command line.
    pub(crate) fn typed(&self) -> String {
        if self.is_positional() { "SITE".to_owned() } else { format!("--{}", self.flag) }
    }
}

/// A value, and who gave it.
#[derive(Debug, Clone)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) by: By,
}

impl<T> Given<T> {
    pub(crate) fn value(self) -> T {
        self.value
    }
}

/// Who gave a value; shown where it is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    /// `rutter.toml:3:1`
    File(String),
    /// `RUTTER_BASE_URL`
    Variable(String),
    /// `--base-url`
    Flag(String),
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => f.write_str(place),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Settings that cannot be followed: where, why, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Fault {
    what: String,
    pub(crate) hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(by: &By, what: impl fmt::Display) -> Self {
        Self { what: format!("{by}: {what}"), hint: None }
    }

    /// A fault of nobody's value: something is missing.
    pub(crate) fn missing(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: Some(hint.into()) }
    }
}

/// Everything that was written, the strongest word first.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) written: Written,
    /// The `rutter.toml` that was read; its paths start from its folder.
    pub(crate) file: Option<PathBuf>,
}

/// Reads the variables of the process.
pub(crate) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Gathers flags, variables and the file, in this order of strength.
pub(crate) fn load(
    flags: &Flags,
    file: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> anyhow::Result<Config> {
    let mut written = of_flags(flags)?.or(of_environment(environment)?);
    let found = match file {
        Some(file) => Some(file.to_owned()),
        None => find(written.site.as_ref().map(|site| site.value.as_path()))?,
    };
    let Some(file) = found else { return Ok(Config { written, file: None }) };
    let name = file.display().to_string();
    let text = fs::read_to_string(&file).with_context(|| name.clone())?;
    written = written.or(of_file(&name, &text)?);
    Ok(Config { written, file: Some(file) })
}

fn of_flags(flags: &Flags) -> Result<Written, Fault> {
    let mut written = Written::default();
    for (key, texts) in flags.given() {
        let by = By::Flag(key.typed());
        let read = (key.of_flag)(&mut written, texts, by.clone());
        read.map_err(|what| Fault::new(&by, what))?;
    }
    Ok(written)
}

fn of_environment(get: &dyn Fn(&str) -> Option<OsString>) -> Result<Written, Fault> {
    let mut written = Written::default();
    for key in KEYS.iter().filter(|key| !key.is_of_file()) {
        // CI systems set variables to nothing where they mean not at all.
        let Some(text) = get(&key.variable()).filter(|text| !text.is_empty()) else { continue };
        let by = By::Variable(key.variable());
        let read = (key.of_variable)(&mut written, &text, by.clone());
        read.map_err(|what| Fault::new(&by, what))?;
    }
    Ok(written)
}

/// What is wrong with the names of variables: those that look like settings
/// and are none, each with the one that was probably meant.
pub(crate) fn misspelt(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let settable = || KEYS.iter().filter(|key| !key.is_of_file());
    let known: Vec<String> = settable().map(Key::variable).collect();
    let flags = || settable().map(|key| key.flag);
    let mut messages = Vec::new();
    for name in names {
        let Some(name) = name.to_str() else { continue };
        // These two are told to commands that render pages.
        let is_told = matches!(name, "RUTTER_URL" | "RUTTER_FILE");
        let Some(setting) = name.strip_prefix("RUTTER_").filter(|_| !is_told) else { continue };
        if known.iter().any(|known| known == name) {
            continue;
        }
        let meant = nearest(setting, flags());
        let meant = meant.and_then(|flag| KEYS.iter().find(|key| key.flag == flag));
        let meant = meant.map(|key| format!("; did you mean {}?", key.variable()));
        let shown = rutter_finding::visible(name);
        messages
            .push(format!("{shown} is not a setting and is ignored{}", meant.unwrap_or_default()));
    }
    messages.sort();
    messages
}

/// Reads a file, called by a name in messages.
pub(crate) fn of_file(name: &str, text: &str) -> Result<Written, Fault> {
    let place = |at: usize| By::File(format!("{name}:{}", line_and_column(text, at)));
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        Fault::new(&place(at), error.message().trim_end())
    })?;
    let mut written = Written::default();
    of_table("", table.get_ref(), &place, &mut written)?;
    Ok(written)
}

fn of_table(
    table: &str,
    entries: &DeTable<'_>,
    place: &dyn Fn(usize) -> By,
    written: &mut Written,
) -> Result<(), Fault> {
    // In the order of the file, so that the first fault is the first one there.
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in entries {
        let by = place(name.span().start);
        let name = name.get_ref().as_ref();
        if let Some(key) = KEYS.iter().find(|key| key.table == table && key.name == name) {
            (key.of_toml)(written, value, by).map_err(|wrong| {
                let at = wrong.span.unwrap_or(value.span()).start;
                let fault = Fault::new(&place(at), format_args!("{}: {}", key.name, wrong.what));
                Fault { hint: wrong.hint, ..fault }
            })?;
        } else if table.is_empty() && tables().any(|known| known == name) {
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(Fault::new(&by, format_args!("{name}: wanted a table, [{name}]")));
            };
            of_table(name, inner, place, written)?;
        } else {
            let shown = rutter_finding::visible(name);
            let whose = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
            let fault = Fault::new(&by, format_args!("unknown key `{shown}`{whose}"));
            return Err(Fault { hint: suggestion(table, name), ..fault });
        }
    }
    Ok(())
}

/// The tables of the file, beside its top.
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    let mut before = "";
    KEYS.iter()
        .map(|key| key.table)
        .filter(move |table| std::mem::replace(&mut before, *table) != *table)
}

/// What was probably meant: a key of the same table, else one of another.
fn suggestion(table: &str, name: &str) -> Option<String> {
    let same = KEYS.iter().filter(|key| key.table == table).map(|key| key.name);
    let tables = tables().filter(|_| table.is_empty());
    if let Some(near) = nearest(name, same.chain(tables)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let near = nearest(name, KEYS.iter().map(|key| key.name))?;
    let key = KEYS.iter().find(|key| key.name == near)?;
    Some(match key.table {
        "" => format!("`{near}` stands at the top, before the first table"),
        table => format!("`{near}` stands in [{table}]"),
    })
}

/// Where an offset lies, as people count.
fn line_and_column(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{line}:{column}")
}

/// Finds the file: from the site's folder upwards, then from the current one.
pub(crate) fn find(site: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("the current folder")?;
    let beside = site.map(|site| real(&here.join(site)));
    let beside = beside.as_deref().and_then(|site| {
        // From inside the site the current folder is nearer than the one above.
        if here.starts_with(site) { None } else { site.parent() }
    });
    let found = beside.into_iter().chain([here.as_path()]).find_map(upwards);
    Ok(found.map(|file| file.strip_prefix(&here).map(Path::to_owned).unwrap_or(file)))
}

/// Looks in a folder and those above, as far as the repository reaches.
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

/// A path without links and dots, as far as it exists.
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
