//! The files of a site, and which file a static host serves for a URL.
//!
//! Input: a folder, or the downloaded files of a live site with their URLs.
//! Symbolic links are not followed, the number and depth of folders is limited,
//! and a URL can only resolve to a listed file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, Place};
use rutter_page::PageUrl;

use super::site_base::SiteBase;
use crate::rules;

rutter_finding::rules! {
    ODD_NAME = "XL002" "name-without-address" (advice, "D30") {
        title: "file name is not UTF-8",
        why: "Web servers form the URL of such a file in different ways, so a link to the file works on some servers only.",
        fix: "Rename the file with a valid UTF-8 name.",
        wrong: r#"`H\xe4fen.html`, a name in Latin-1."#,
        right: "`haefen.html`",
    }
    STATE_PUBLISHED = "SE018" "state-published" (advice, "D94") {
        title: "state folder of the build is inside the published folder",
        why: "The state shows which pages were excluded, and why.",
        fix: "Choose another folder with `state` in rutter.toml.",
        wrong: "`public/.rutter/ledger.tsv`",
        right: "`.rutter/ledger.tsv` next to `public/`",
    }
}

/// The maximum number of files of a site.
pub(crate) const MOST_FILES: usize = 2_000_000;
/// The maximum size of a page in bytes (D89).
pub(crate) const LARGEST_PAGE: u64 = 10_000_000;
/// The maximum depth of nested folders.
const DEEPEST: usize = 64;

/// One file of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SiteFile {
    /// The path of the file below the folder, with slashes, or its URL on a live site.
    pub(crate) path: Box<str>,
    pub(crate) bytes: u64,
    /// The path of the file on disk, if it differs from `path`.
    pub(crate) spool: Option<PathBuf>,
    pub(crate) kind: MediaKind,
}

/// The type of a file by its name or media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Page,
    Markdown,
    Other,
}

/// All files of a site, sorted by path.
#[derive(Debug, Default)]
pub(crate) struct SiteFiles {
    dir: PathBuf,
    list: Vec<SiteFile>,
    /// The file of each URL of a live site.
    by_url: Option<BTreeMap<String, u32>>,
    /// Files of a live site that may exist but were not downloaded.
    unseen: BTreeSet<(ResourceKind, String)>,
}

impl SiteFiles {
    /// Lists the files of a folder.
    pub(crate) fn walk(dir: &Path, found: &mut Vec<(String, Finding)>) -> io::Result<Self> {
        let mut list = Vec::new();
        let mut folders = vec![(dir.to_owned(), String::new(), 0)];
        // The folder itself must be readable.
        drop(fs::read_dir(dir)?);
        let mut say = |path: &str, rule, detail: String| {
            found.push((path.to_owned(), Finding::new(rule, Place::WHOLE, detail)));
        };
        while let Some((folder, prefix, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    say(&prefix, &rules::UNREADABLE, error.to_string());
                    continue;
                }
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let Some(name) = name.to_str() else {
                    let shown = format!("{prefix}{}", name.to_string_lossy());
                    say(&shown, &ODD_NAME, String::new());
                    continue;
                };
                let Ok(kind) = entry.file_type() else { continue };
                if name == ".rutter" && kind.is_dir() {
                    say(&format!("{prefix}{name}"), &STATE_PUBLISHED, String::new());
                }
                let is_known = name == ".well-known" || !name.starts_with('.');
                if kind.is_dir() && is_known && name != "node_modules" {
                    if DEEPEST <= depth {
                        let path = format!("{prefix}{name}");
                        say(&path, &rules::STOPPED, format!("deeper than {DEEPEST} folders"));
                    } else {
                        folders.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
                    }
                } else if kind.is_file() && is_known {
                    if MOST_FILES <= list.len() {
                        say("", &rules::STOPPED, format!("more than {MOST_FILES} files"));
                        folders.clear();
                        break;
                    }
                    let path = format!("{prefix}{name}");
                    let bytes = entry.metadata().map_or(0, |it| it.len());
                    let kind = kind_of(&path);
                    list.push(SiteFile { path: path.into(), bytes, spool: None, kind });
                }
            }
        }
        list.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { dir: dir.to_owned(), list, ..Self::default() })
    }

    /// Creates the list of files for a live site. Files in `unseen` may exist as well.
    pub(crate) fn fetched(list: Vec<SiteFile>, unseen: BTreeSet<(ResourceKind, String)>) -> Self {
        let mut list = list;
        list.sort_by(|one, other| one.path.cmp(&other.path));
        list.dedup_by(|one, other| one.path == other.path);
        let by_url = (0..).zip(&list).map(|(at, file)| (String::from(&*file.path), at)).collect();
        Self { dir: PathBuf::new(), list, by_url: Some(by_url), unseen }
    }

    /// Returns whether the files were downloaded from a live site.
    pub(crate) fn is_live(&self) -> bool {
        self.by_url.is_some()
    }

    /// Returns whether files of a type may exist that were not downloaded. If so, no file of this
    /// type may be reported as missing.
    pub(crate) fn may_be_more(&self, what: ResourceKind) -> bool {
        self.unseen.iter().any(|(kind, _)| *kind == what)
    }

    /// Returns whether the file at a URL was not downloaded.
    pub(crate) fn is_unseen(&self, what: ResourceKind, url: &str) -> bool {
        self.unseen.contains(&(what, url.to_owned()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &SiteFile)> {
        (0..).zip(&self.list)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, at: u32) -> &SiteFile {
        static NOTHING: std::sync::LazyLock<SiteFile> = std::sync::LazyLock::new(|| SiteFile {
            path: "".into(),
            bytes: 0,
            spool: None,
            kind: MediaKind::Other,
        });
        self.list.get(at as usize).unwrap_or(&NOTHING)
    }

    pub(crate) fn path(&self, at: u32) -> &str {
        &self.get(at).path
    }

    /// Returns the path of a file on disk.
    pub(crate) fn disk(&self, at: u32) -> PathBuf {
        let file = self.get(at);
        file.spool.clone().unwrap_or_else(|| self.dir.join(&*file.path))
    }

    pub(crate) fn open(&self, at: u32) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        let file = File::open(self.disk(at))?;
        let size = file.metadata()?.len();
        Ok((Box::new(file), Some(size)))
    }

    /// Returns the bytes of a file, or `None` if there are more than `most`.
    pub(crate) fn read(&self, at: u32, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        File::open(self.disk(at))?.take(most + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }

    /// Returns the file with a path below the folder.
    pub(crate) fn find(&self, path: &str) -> Option<u32> {
        let at = self.list.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
        u32::try_from(at).ok()
    }

    /// Returns the Markdown twin of a page.
    pub(crate) fn twin_of(&self, at: u32) -> Option<u32> {
        let path = self.path(at);
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        self.find(&format!("{stem}.md"))
    }

    /// Returns a file at the root of the site.
    pub(crate) fn at_root(&self, home: Option<&SiteBase>, name: &str) -> Option<u32> {
        match &self.by_url {
            None => self.find(name),
            Some(by_url) => by_url.get(&home?.join(name)).copied(),
        }
    }

    /// Returns the file that a URL resolves to: the file itself, the file with the extension
    /// `.html`, or the index page of a folder.
    pub(crate) fn resolve(&self, home: &SiteBase, url: &str) -> Option<u32> {
        let url = PageUrl::parse(url).ok()?;
        if let Some(by_url) = &self.by_url {
            return by_url.get(url.key()).copied();
        }
        let plain = plain_path(home, &url)?;
        let is_folder = plain.is_empty() || plain.ends_with('/');
        let names: &[&str] = if is_folder {
            &["index.html", "index.htm", "index.xhtml"]
        } else {
            &["", ".html", "/index.html"]
        };
        names.iter().find_map(|name| self.find(&format!("{plain}{name}")))
    }

    /// Returns whether a static host would answer at a URL of the site. The host may answer with a
    /// file that is not checked: a hidden file, or a file behind a symbolic link.
    pub(crate) fn is_there(&self, home: &SiteBase, url: &str) -> bool {
        if self.resolve(home, url).is_some() || self.is_live() {
            return true;
        }
        let path = PageUrl::parse(url).ok().and_then(|url| plain_path(home, &url));
        path.is_some_and(|path| {
            let file = self.dir.join(&path);
            let is_folder = path.is_empty() || path.ends_with('/');
            let page = file.join("index.html");
            (!is_folder && file.is_file())
                || page.is_file()
                || self.dir.join(format!("{path}.html")).is_file()
        })
    }
}

/// Returns the decoded path of a URL below the folder; `None` if the URL is outside the site.
fn plain_path(home: &SiteBase, url: &PageUrl<'_>) -> Option<String> {
    let path = home.path_of(url.key())?;
    let path = path.split('?').next().unwrap_or_default();
    let mut plain = String::with_capacity(path.len());
    for (n, part) in path.split('/').enumerate() {
        let part = decoded(part)?;
        if part == "." || part == ".." || part.contains(['/', '\\', '\0']) {
            return None;
        }
        if 0 < n {
            plain.push('/');
        }
        plain.push_str(&part);
    }
    Some(plain)
}

/// Decodes the percent-encoding of a path segment.
fn decoded(part: &str) -> Option<String> {
    if !part.contains('%') {
        return Some(part.to_owned());
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Returns the type of a file by its name. Error pages such as 404.html are not
/// pages of the site.
fn kind_of(path: &str) -> MediaKind {
    let name = path.rsplit('/').next().unwrap_or(path);
    if matches!(name, "404.html" | "50x.html" | "500.html" | "404.md") {
        return MediaKind::Other;
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("html" | "htm" | "xhtml") => MediaKind::Page,
        Some("md") => MediaKind::Markdown,
        _ => MediaKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_urls_like_a_static_host() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["index.html", "a.html", "b/index.html", "ü b.html", "c.json"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".git/x.html"), "x").unwrap();
        let files = SiteFiles::walk(dir.path(), &mut Vec::new()).unwrap();
        assert_eq!(files.len(), 5);
        let home = SiteBase::parse("https://h.example/sub").unwrap();
        for (url, path) in [
            ("https://h.example/sub/", Some("index.html")),
            ("https://h.example/sub/index.html", Some("index.html")),
            ("https://h.example/sub/a", Some("a.html")),
            ("https://h.example/sub/a.html#x", Some("a.html")),
            ("https://h.example/sub/a.html?q=1", Some("a.html")),
            ("https://h.example/sub/b", Some("b/index.html")),
            ("https://h.example/sub/b/", Some("b/index.html")),
            ("https://h.example/sub/%C3%BC%20b.html", Some("ü b.html")),
            ("https://h.example/sub/c.json", Some("c.json")),
            ("https://h.example/c.json", None),
            ("https://h.example/sub/%2e%2e/c.json", None),
            ("https://h.example/sub/..%2fc.json", None),
            ("https://other.example/sub/c.json", None),
            ("https://h.example/sub/.git/x.html", None),
        ] {
            let found = files.resolve(&home, url).map(|at| files.path(at));
            assert_eq!(found, path, "{url}");
        }
    }
}
