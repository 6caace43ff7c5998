//! Keys at the top of `rutter.toml`.

use std::path::PathBuf;

use rutter_build::{BaseUrl, OversizePolicy, SectionRule, SourceKind};
use rutter_page::LanguageTag;
use rutter_scp::advert::UpdateFrequency;

use crate::config::entity::DeclaredEntity;
use crate::config::key::{Key, OVERWRITING, RECOVERY, Slot};
use crate::config::settings::Setting;

/// The settings at the top of `rutter.toml`.
// More than 12 fields: one for each key.
#[derive(Debug, Default)]
pub(crate) struct TopTable {
    pub(crate) site: Option<Setting<PathBuf>>,
    pub(crate) base_url: Option<Setting<BaseUrl>>,
    pub(crate) source: Option<Setting<SourceKind>>,
    pub(crate) out: Option<Setting<PathBuf>>,
    pub(crate) state: Option<Setting<PathBuf>>,
    pub(crate) name: Option<Setting<String>>,
    pub(crate) summary: Option<Setting<String>>,
    pub(crate) language: Option<Setting<LanguageTag<'static>>>,
    pub(crate) exclude: Option<Setting<Vec<String>>>,
    pub(crate) restricted: Option<Setting<Vec<String>>>,
    pub(crate) oversize: Option<Setting<OversizePolicy>>,
    pub(crate) update: Option<Setting<UpdateFrequency>>,
    pub(crate) git_dates: Option<Setting<bool>>,
    pub(crate) git_sources: Option<Setting<Vec<String>>>,
    pub(crate) trust_mtime: Option<Setting<bool>>,
    pub(crate) purge: Option<Setting<bool>>,
    pub(crate) allow_mass_delete: Option<Setting<bool>>,
    pub(crate) replace: Option<Setting<Vec<String>>>,
    pub(crate) threads: Option<Setting<usize>>,
    pub(crate) sections: Option<Setting<Vec<SectionRule>>>,
    pub(crate) entities: Option<Setting<Vec<DeclaredEntity>>>,
}

impl TopTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("site", |settings| &mut settings.top.site)
            .about("Folder with the built site, or a JSON Lines file of pages")
            .detail("A JSON Lines file has one page object per line. A relative path in rutter.toml starts at the folder of the file."),
        key("base-url", |settings| &mut settings.top.base_url)
            .about("Base URL that the site is published at")
            .detail("All published URLs start with the base URL. Example: https://docs.example.org/. The build fails if it is not given and cannot be read from the site.")
            .default("read from CNAME, the home page or sitemap.xml")
            .example(r#""https://www.example.org/""#),
        key("source", |settings| &mut settings.top.source)
            .about("Format of the site's pages: HTML, Markdown or JSON Lines")
            .detail("`html`: built HTML pages; `markdown`: Markdown files; `lines`: one JSON page object per line.")
            .default("detected from the files")
            .placeholder("KIND"),
        key("out", |settings| &mut settings.top.out)
            .about("Folder to write the complete site to")
            .detail("The site's files are copied to it and the layers are added. By default, the layers are written into the site's folder.")
            .default("the site's folder")
            .placeholder("DIR")
            .example(r#""public-with-layers""#),
        key("state", |settings| &mut settings.top.state)
            .about("Folder with the state of the last build")
            .detail("The folder holds the ledger and the page cache. Keep it between builds: the state provides the dates of pages and the deltas.")
            .default(".rutter beside rutter.toml, else in the current folder")
            .placeholder("DIR")
            .example(r#"".rutter""#),
        key("name", |settings| &mut settings.top.name)
            .about("Name of the site")
            .detail("llms.txt and the SPXI index show the name.")
            .default("title of the home page")
            .example(r#""Name of the site""#),
        key("summary", |settings| &mut settings.top.summary)
            .about("Description of the site, in one sentence")
            .detail("llms.txt shows the description.")
            .default("description of the home page")
            .example(r#""Description of the site.""#),
        key("language", |settings| &mut settings.top.language)
            .about("Language of pages that declare none")
            .detail("A language tag, such as en or pt-BR.")
            .example(r#""en""#),
        key("exclude", |settings| &mut settings.top.exclude)
            .about("Files that are not pages of the site")
            .detail("Patterns of paths: `*` matches within a path segment, `**` across segments, a trailing `/` everything below a folder. Examples: `drafts/`, `*.print.html`.")
            .default("[]")
            .placeholder("GLOB")
            .example(r#"["drafts/", "*.print.html"]"#),
        key("restricted", |settings| &mut settings.top.restricted)
            .about("Path prefixes of pages that need a login")
            .detail("No layer contains the content of these pages; the ARC sitemap lists only their URLs. Their files are still copied to the output folder, so serve it only with a server that checks tokens, such as `rutter serve`. Example: /members/.")
            .default("[]")
            .placeholder("PREFIX")
            .example(r#"["/members/"]"#),
        key("oversize", |settings| &mut settings.top.oversize)
            .about("What to do with pages of more than 1,000 blocks")
            .detail("`merge` joins neighbouring blocks; `stop` fails the build.")
            .default("merge")
            .placeholder("DO"),
        key("update", |settings| &mut settings.top.update)
            .about("How often the site changes, as announced to crawlers")
            .default("weekly")
            .heading("Dates")
            .placeholder("OFTEN"),
        key("git-dates", |settings| &mut settings.top.git_dates)
            .about("Take missing page dates from the git history")
            .detail("The dates are used for pages that state no date. They are read from the history of the site's folder, or of the source files of its generator.")
            .default("false")
            .heading("Dates"),
        key("git-sources", |settings| &mut settings.top.git_sources)
            .about("Path patterns of the source files of pages, for git dates")
            .detail("`{path}` is the path of a page without index.html or its extension; the pattern is relative to the folder of rutter.toml. Set it only if the built-in paths for the site generator do not fit. Example: content/{path}.md.")
            .default("[]")
            .heading("Dates")
            .placeholder("PATTERN")
            .example(r#"["content/{path}.md"]"#),
        key("trust-mtime", |settings| &mut settings.top.trust_mtime)
            .about("Skip files whose size and mtime are unchanged")
            .detail("By default, each file is read and its content is compared.")
            .default("false")
            .heading(RECOVERY),
        key("purge", |settings| &mut settings.top.purge)
            .about("Delete published collections that contain removed pages")
            .detail("By default, these collections stay available until they expire.")
            .default("false")
            .heading(OVERWRITING),
        key("allow-mass-delete", |settings| &mut settings.top.allow_mass_delete)
            .about("Publish even if most pages are removed or excluded")
            .detail("By default, the build fails if more than half of more than 20 pages would be removed or excluded, or if all pages would be excluded.")
            .default("false")
            .heading(OVERWRITING),
        key("replace", |settings| &mut settings.top.replace)
            .about("Existing files that Rutter may overwrite")
            .detail("Paths in the output folder. By default, Rutter overwrites only files that it wrote, and the sitemap.xml of the site generator. Example: llms.txt.")
            .default("[]")
            .heading(OVERWRITING)
            .placeholder("PATH")
            .example(r#"["sitemap.xml"]"#),
        key("threads", |settings| &mut settings.top.threads)
            .about("Number of threads that read pages")
            .default("number of processors")
            .heading(RECOVERY)
            .example("4"),
        key("sections", |settings| &mut settings.top.sections)
            .about("Sections of the site, by path prefix")
            .detail("Each section has collections of its own. Example on the command line: docs=/docs/.")
            .default("one for each first path segment with at least 20 pages, and `main` for the rest"),
        key("entities", |settings| &mut settings.top.entities)
            .about("Entities that the site describes")
            .detail("These entities are added to the entities in the folder of entity files."),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("", name, slot).heading("Site")
}
