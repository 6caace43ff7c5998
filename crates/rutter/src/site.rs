//! Detects properties of a site folder: the type of its files, its base URL and its generator.

mod address;
pub(crate) mod generator;

#[cfg(test)]
mod tests;

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use rutter_build::{BaseUrl, SourceKind};
use rutter_extract::{ExtractOptions, PageStatements};
use rutter_page::{PageUrl, Timestamp};

pub(crate) use address::base_url;

/// Maximum number of bytes of a home page or sitemap to read.
const MAX_BYTES_READ: u64 = 1 << 20;

/// Placeholder for a base URL that is not known yet. No site is published there, so relative links
/// can be distinguished from absolute ones.
const PLACEHOLDER_URL: &str = "http://localhost/";

/// Detects the type of a site by its file extension or by the files in the folder.
pub(crate) fn source(site: &Path) -> SourceKind {
    if !site.is_dir() {
        return match ending(site).as_str() {
            "jsonl" | "ndjson" => SourceKind::Lines,
            "md" | "markdown" => SourceKind::Markdown,
            _ => SourceKind::Html,
        };
    }
    let mut has_markdown = false;
    let mut folders = vec![site.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                // Skip hidden folders and installed packages.
                if !name.starts_with('.') && name != "node_modules" {
                    folders.push(entry.path());
                }
                continue;
            }
            match ending(&entry.path()).as_str() {
                "html" | "htm" | "xhtml" => return SourceKind::Html,
                "md" | "markdown" => has_markdown = true,
                _ => {}
            }
        }
    }
    if has_markdown { SourceKind::Markdown } else { SourceKind::Html }
}

fn ending(path: &Path) -> String {
    path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// The home page of a site.
pub(crate) struct HomePage {
    pub(crate) text: String,
    pub(crate) facts: PageStatements,
}

impl HomePage {
    pub(crate) fn read(site: &Path) -> Option<Self> {
        let bytes = ["index.html", "index.htm", "index.xhtml"]
            .into_iter()
            .find_map(|name| start_of(&site.join(name)))?;
        let url = PageUrl::parse(PLACEHOLDER_URL).ok()?;
        let options = ExtractOptions::new(url, Timestamp::from_unix_seconds(0)?);
        let facts = rutter_extract::html(&bytes, &options).facts;
        Some(Self { text: String::from_utf8_lossy(&bytes).into_owned(), facts })
    }
}

fn start_of(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Opening a pipe would block.
    path.metadata().ok().filter(Metadata::is_file)?;
    File::open(path).ok()?.take(MAX_BYTES_READ).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads the host name from CNAME, a file of GitHub Pages and similar hosts.
fn of_cname(site: &Path) -> Option<BaseUrl> {
    let bytes = start_of(&site.join("CNAME"))?;
    let text = String::from_utf8(bytes).ok()?;
    let host = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let is_host = host.contains('.') && !host.contains(|c: char| "/@?#:\\".contains(c));
    public(&format!("https://{host}/")).filter(|_| is_host)
}

fn of_home(site: &Path, facts: &PageStatements) -> Option<BaseUrl> {
    let canonical = facts.canonical.as_deref()?;
    // The canonical link of a home page that redirects names the target page.
    if facts.refresh.is_some() {
        return below(site, canonical);
    }
    let folder = canonical.rsplit_once('/').filter(|(_, last)| last.starts_with("index."));
    public(folder.map_or(canonical, |(folder, _)| folder))
}

fn of_sitemap(site: &Path) -> Option<BaseUrl> {
    let bytes = start_of(&site.join("sitemap.xml"))?;
    let text = String::from_utf8_lossy(&bytes);
    let (_, rest) = text.split_once("<loc>")?;
    let (loc, _) = rest.split_once("</loc>")?;
    let loc = loc.trim();
    let loc = loc.strip_prefix("<![CDATA[").and_then(|it| it.strip_suffix("]]>")).unwrap_or(loc);
    below(site, &loc.trim().replace("&amp;", "&"))
}

/// Returns the base URL of a site for the URL of one of its files: the shortest prefix of the URL
/// after which the rest is the path of an existing file.
fn below(site: &Path, url: &str) -> Option<BaseUrl> {
    let bare = url.split(['?', '#']).next()?;
    let root = public(bare)?.origin().to_owned();
    let path = bare.get(root.len()..).unwrap_or_default().trim_start_matches('/');
    let cuts = path.match_indices('/').map(|(at, _)| at + 1);
    for cut in [0].into_iter().chain(cuts) {
        let (before, rest) = path.split_at(cut);
        if leads_to_file(site, rest) {
            return public(&format!("{root}/{before}"));
        }
    }
    public(&format!("{root}/"))
}

fn leads_to_file(site: &Path, path: &str) -> bool {
    let is_inside = path.split('/').all(|part| part != "..");
    let file = |name: String| is_inside && site.join(name).is_file();
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        return file("index.html".to_owned());
    }
    file(path.to_owned()) || file(format!("{path}.html")) || file(format!("{path}/index.html"))
}

/// Parses a base URL. Returns `None` for local servers and for placeholders of generators
/// (`https://example.com`, `https://your-site.example.com`). Other hosts below `example.com` are
/// accepted.
pub(crate) fn public(url: &str) -> Option<BaseUrl> {
    let base = BaseUrl::parse(url).ok()?;
    let host = base.origin().split_once("://").map(|(_, host)| host)?;
    // An IPv6 address is in brackets; its colons do not separate a port.
    let host = if host.starts_with('[') { host } else { host.split(':').next()? };
    let is_local = host == "localhost" || host.starts_with("127.") || host == "0.0.0.0";
    let is_local = is_local || host.starts_with('[') || host.ends_with(".localhost");
    let is_template = ["example.com", "example.org", "example.net"].into_iter().any(|name| {
        let below = host.strip_suffix(name).map(|rest| rest.trim_end_matches('.'));
        below.is_some_and(|label| {
            matches!(label, "" | "www") || label.starts_with("your-") || label.starts_with("my-")
        })
    });
    (!is_local && !is_template).then_some(base)
}

/// Files that identify a folder as a site.
const ENTRY_FILES: [&str; 5] =
    ["index.html", "sitemap.xml", "spxi-index.jsonld", "arc-sitemap.json", "llms.txt"];

/// Output folders of common site generators.
pub(crate) const OUTPUT_FOLDERS: [&str; 9] =
    ["public", "dist", "build", "_site", "site", "out", "book", "_build/html", "html"];

/// Returns whether a folder has an entry file of a site.
pub(crate) fn has_entry_file(folder: &Path) -> bool {
    ENTRY_FILES.iter().any(|name| folder.join(name).is_file())
}

/// Returns the first of the named subfolders that contains a home page.
pub(crate) fn built(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let built = names.iter().map(PathBuf::from);
    built.into_iter().find(|name| folder.join(name).join("index.html").is_file())
}
