//! Exports pages as a folder with one Markdown file per page, and an index.
//!
//! The name of a file consists of safe characters of the URL and a hash of the URL: a URL cannot
//! choose the location of its file, and two URLs never share a file. Rejects folders that are not
//! empty.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use rutter_page::{LineDigest, push_string};
use rutter_scp::parent_folder;
use serde::Serialize;
use tempfile::TempDir;

use super::columns::NamedColumns;
use super::{PageColumns, PageSink};

/// Maximum number of characters of the URL in a file name.
const LONGEST: usize = 60;
/// Number of hex digits of the hash in a file name.
const DIGITS: usize = 24;
/// Name of the index file.
const INDEX: &str = "index.jsonl";

pub(super) struct MarkdownSink {
    folder: TempDir,
    index: BufWriter<File>,
    /// Origin and folder of the current site.
    site: Option<(String, String)>,
}

/// Rejects a folder that is not empty, and a path that is not a folder.
pub(super) fn refuse_full(path: &Path) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let is_empty = fs::read_dir(path).with_context(name)?.next().is_none();
    anyhow::ensure!(is_empty, "folder {} is not empty; choose a new folder", path.display());
    Ok(())
}

impl MarkdownSink {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(".rutter-").tempdir_in(parent_folder(path))?;
        let index = BufWriter::new(File::create_new(folder.path().join(INDEX))?);
        Ok(Self { folder, index, site: None })
    }

    pub(super) fn finish(self, path: &Path) -> io::Result<()> {
        let Self { folder, index, .. } = self;
        index.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        // By default, only the owner can read a temporary folder; the output has the usual
        // permissions.
        #[cfg(unix)]
        {
            let usual = tempfile::Builder::new()
                .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777))
                .tempdir_in(folder.path())?;
            fs::set_permissions(folder.path(), usual.path().metadata()?.permissions())?;
        }
        if path.exists() {
            fs::remove_dir(path)?;
        }
        fs::rename(folder.path(), path)?;
        // The temporary folder was renamed to the output folder: do not delete it.
        drop(folder.keep());
        Ok(())
    }

    /// Returns the folder of a site, and creates it for the first page of the site.
    fn folder_of_site(&mut self, site: &str) -> io::Result<String> {
        if let Some((_, folder)) = self.site.as_ref().filter(|(known, _)| known == site) {
            return Ok(folder.clone());
        }
        let name = site_name(site);
        fs::create_dir_all(self.folder.path().join(&name))?;
        self.site = Some((site.to_owned(), name.clone()));
        Ok(name)
    }
}

#[derive(Serialize)]
struct PageWithFile<'c> {
    file: &'c str,
    #[serde(flatten)]
    named: NamedColumns<'c>,
}

impl PageSink for MarkdownSink {
    fn page(&mut self, columns: &PageColumns<'_>) -> anyhow::Result<()> {
        let Some(view) = columns.view else { return Ok(()) };
        let named = columns.named();
        let folder = self.folder_of_site(columns.site)?;
        let file = format!("{folder}/{}", file_name(named.url));
        let text = view.page.to_markdown();
        let text = with_terms(&text, &named);
        let path = self.folder.path().join(&file);
        File::create_new(&path)
            .and_then(|mut to| to.write_all(text.as_bytes()))
            .with_context(|| file.clone())?;
        serde_json::to_writer(&mut self.index, &PageWithFile { file: &file, named })?;
        Ok(self.index.write_all(b"\n")?)
    }
}

/// Adds digest, source and usage terms to the front matter.
fn with_terms(text: &str, named: &NamedColumns<'_>) -> String {
    let mut out = String::from("---\n");
    let mut put = |key: &str, value: &str| {
        let mut quoted = Vec::new();
        push_string(value, &mut quoted);
        out.extend([key, ": ", &String::from_utf8_lossy(&quoted), "\n"]);
    };
    put("digest", &named.digest);
    put("source", named.source);
    put("consent", named.consent);
    if let Some(directive) = named.robots_directive {
        put("robots_directive", &rutter_finding::visible(directive));
    }
    out.push_str(text.strip_prefix("---\n").unwrap_or(text));
    out
}

/// Returns the file name of a page.
fn file_name(key: &str) -> String {
    let path = key.split_once("://").map_or(key, |(_, rest)| rest);
    let path = path.split_once('/').map_or("", |(_, path)| path);
    let mut name = harmless(path, LONGEST, |c| c.is_ascii_alphanumeric());
    if !name.is_empty() {
        name.push('-');
    }
    let digest = LineDigest::of(key.as_bytes()).to_string();
    name.push_str(digest.get(..DIGITS).unwrap_or(&digest));
    name.push_str(".md");
    name
}

/// Returns the folder name of a site.
fn site_name(site: &str) -> String {
    let host = site.split_once("://").map_or(site, |(_, host)| host);
    let name = harmless(host, 200, |c| c.is_ascii_alphanumeric() || c == '.');
    let name = name.trim_matches(['.', '-']);
    // Reserved device names on Windows, with any extension.
    let stem = name.split('.').next().unwrap_or_default();
    let is_numbered = |start: &str| {
        let number = stem.strip_prefix(start);
        number.is_some_and(|number| number.len() == 1 && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_device = matches!(stem, "con" | "prn" | "aux" | "nul");
    if name.is_empty() || is_device || is_numbered("com") || is_numbered("lpt") {
        return format!("site-{name}");
    }
    name.to_owned()
}

/// Converts safe characters to lower case, and replaces other characters with a hyphen.
fn harmless(text: &str, longest: usize, is_kept: impl Fn(char) -> bool) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if longest <= name.len() {
            break;
        }
        if is_kept(c) {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{file_name, site_name};

    #[test]
    fn file_names_are_safe_for_any_url() {
        let long = format!("https://a.example/{}", "x/".repeat(4000));
        for url in [
            "https://a.example/",
            "https://a.example/docs/tides-api.html",
            "https://a.example/../../etc/passwd",
            "https://a.example/%2e%2e%2f%2e%2e/x",
            "https://a.example/a\\..\\b",
            "https://a.example/con",
            "https://a.example/x\0y\n.md",
            "https://a.example/.git/config",
            "https://a.example/-rf",
            "https://a.example/\u{202e}dm.exe",
            &long,
        ] {
            let name = file_name(url);
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.strip_suffix(".md").unwrap().chars().all(is_plain), "{name}");
            assert!(name.len() < 100 && !name.starts_with('-'), "{name}");
        }
        assert!(
            file_name("https://a.example/docs/tides-api.html").starts_with("docs-tides-api-html-")
        );
        // Names differ for different URLs, even if only the case differs.
        assert_ne!(
            file_name("https://a.example/A").to_lowercase(),
            file_name("https://a.example/a").to_lowercase()
        );
    }

    #[test]
    fn folder_names_are_safe_for_any_site() {
        for (site, name) in [
            ("https://harbour.example", "harbour.example"),
            ("http://127.0.0.1:8080", "127.0.0.1-8080"),
            ("http://[::1]:80", "1-80"),
            ("https://con", "site-con"),
            ("https://NUL.example", "site-nul.example"),
            ("https://com1.example", "site-com1.example"),
            ("https://..", "site-"),
            ("https://a/../b", "a-..-b"),
        ] {
            assert_eq!(site_name(site), name);
        }
    }
}
