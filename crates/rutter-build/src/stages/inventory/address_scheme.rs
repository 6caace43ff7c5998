//! Derives the URLs of a site's pages from the paths of their files.
//!
//! Input: the URLs in the generator's sitemap, else the canonical links of a sample of pages.
//! Output: the URL of a file. A generator that writes `a/index.html` may use the URL `a/`, `a` or
//! `a/index.html`; one that writes `a.html` may use `a.html`, `a` or `a/`.
//!
//! The module ignores canonical links that name another page, and URL forms on which the pages of
//! the sample do not agree.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use memchr::memmem;
use rutter_site::{LedgerReader, Visibility};

use crate::address;
use crate::error::BuildError;
use crate::name_table::{NameTable, hash_of};
use crate::plan::{BaseUrl, BuildPlan, SourceKind};

/// Maximum number of pages whose canonical links are read.
const SAMPLE_PAGES: usize = 200;
/// Number of published pages after which the check stops if all their URLs have the default form.
const PUBLISHED_SAMPLE: usize = 1000;
/// Maximum number of folders that are searched for pages with canonical links.
const MAX_FOLDERS: usize = 2000;
/// Number of bytes at the start of a page that are searched for its canonical link.
const HEAD_BYTES: u64 = 64 << 10;

/// Form of a page's URL, compared with the path of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressForm {
    /// The URL ends with a slash: `a/`.
    Folder,
    /// The URL has no extension and no final slash: `a`.
    Bare,
    /// The URL contains the file name: `a/index.html` or `a.html`.
    File,
}

/// Kind of a page file: the index file of a folder, or another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageFileKind {
    /// The index file of a folder, such as `a/index.html`.
    Index,
    /// Another page file, such as `a.html`.
    Page,
}

/// The page file that a URL belongs to, and the form of the URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResolvedAddress {
    pub(crate) path: String,
    pub(crate) kind: PageFileKind,
    pub(crate) form: AddressForm,
}

/// The forms that the page URLs of a site have: one for index files, one for other files, and the
/// exceptions.
#[derive(Debug)]
pub(crate) struct AddressScheme {
    index: AddressForm,
    page: AddressForm,
    /// Form of each file whose URL differs from the form of its kind.
    exceptions: NameTable<AddressForm>,
}

impl Default for AddressScheme {
    fn default() -> Self {
        Self {
            index: AddressForm::Folder,
            page: AddressForm::File,
            exceptions: NameTable::default(),
        }
    }
}

/// Numbers of URLs by form, counted separately for index files and other files.
#[derive(Debug, Default)]
pub(crate) struct AddressVotes {
    index: [u64; 3],
    page: [u64; 3],
    all: Vec<(u128, PageFileKind, AddressForm)>,
}

impl AddressVotes {
    pub(crate) fn add(&mut self, resolved: &ResolvedAddress) {
        self.all.push((hash_of(&resolved.path), resolved.kind, resolved.form));
        // The URL of the home page is the same with and without a final slash, so it shows no form.
        let is_root = resolved.kind == PageFileKind::Index && !resolved.path.contains('/');
        if !(is_root && resolved.form != AddressForm::File) {
            let votes = self.of(resolved.kind);
            if let Some(n) = votes.get_mut(resolved.form as usize) {
                *n += 1;
            }
        }
    }

    /// Returns whether no URL was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn of(&mut self, kind: PageFileKind) -> &mut [u64; 3] {
        match kind {
            PageFileKind::Index => &mut self.index,
            PageFileKind::Page => &mut self.page,
        }
    }

    /// Returns the most frequent URL form; `None` on a tie.
    fn majority(votes: [u64; 3]) -> Option<AddressForm> {
        let most = votes.into_iter().max().filter(|most| *most != 0)?;
        let mut with_most = FORMS.into_iter().zip(votes).filter(|(_, n)| *n == most);
        let (form, _) = with_most.next()?;
        with_most.next().is_none().then_some(form)
    }

    /// Returns whether all counted URLs have the default form of their kind of file.
    fn are_default(&self) -> bool {
        let default = AddressScheme::default();
        let is_default = |(_, kind, form): &(u128, PageFileKind, AddressForm)| match kind {
            PageFileKind::Index => *form == default.index,
            PageFileKind::Page => *form == default.page,
        };
        self.all.iter().all(is_default)
    }

    /// Returns the form of the URLs if all counted URLs have the same form.
    fn unanimous(votes: [u64; 3]) -> Option<AddressForm> {
        let mut resolved = FORMS.into_iter().zip(votes).filter(|(_, n)| *n != 0);
        let (form, _) = resolved.next()?;
        resolved.next().is_none().then_some(form)
    }
}

const FORMS: [AddressForm; 3] = [AddressForm::Folder, AddressForm::Bare, AddressForm::File];

impl AddressScheme {
    /// Determines the URL forms of a site.
    ///
    /// The form of a kind of file follows from the generator's sitemap; if the sitemap lists no
    /// such file, from the canonical links of pages, if they agree; else from the URLs that were
    /// published before. The published URLs are needed because Rutter's sitemap may have replaced
    /// the generator's sitemap, and because one unusual page must not change the URLs of the other
    /// pages.
    pub(crate) fn of_site(
        plan: &BuildPlan,
        mut sitemap: AddressVotes,
        ledger: &Path,
    ) -> Result<Self, BuildError> {
        if plan.source != SourceKind::Html {
            return Ok(Self::default());
        }
        let default = Self::default();
        let (index, page) =
            (AddressVotes::majority(sitemap.index), AddressVotes::majority(sitemap.page));
        let links = match (index, page) {
            (Some(_), Some(_)) => AddressVotes::default(),
            _ => canonical_votes(plan),
        };
        let index = index.or(AddressVotes::unanimous(links.index));
        let page = page.or(AddressVotes::unanimous(links.page));
        let is_open = |kind: PageFileKind| match kind {
            PageFileKind::Index => index.is_none(),
            PageFileKind::Page => page.is_none(),
        };
        let is_decided = index.is_some() && page.is_some();
        let published =
            if is_decided { AddressVotes::default() } else { published_votes(plan, ledger)? };
        // A kind of file whose form follows from the site itself gets no exceptions from earlier
        // builds.
        sitemap.all.extend(published.all.iter().filter(|(_, kind, _)| is_open(*kind)));
        let index = index.or(AddressVotes::majority(published.index)).unwrap_or(default.index);
        let page = page.or(AddressVotes::majority(published.page)).unwrap_or(default.page);
        let is_exception = |kind: PageFileKind, form: AddressForm| match kind {
            PageFileKind::Index => form != index,
            PageFileKind::Page => form != page,
        };
        let others = sitemap.all.into_iter().filter(|(_, kind, form)| is_exception(*kind, *form));
        let exceptions = NameTable::of(others.map(|(path, _, form)| (path, form)).collect());
        Ok(Self { index, page, exceptions })
    }

    /// Returns the URL of a page file, which identifies the page (D30).
    pub(crate) fn address(&self, base: &BaseUrl, path: &str) -> Option<String> {
        let default = address::address(base, path)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((stem, ending)) = page_ending(name) else { return Some(default) };
        let (kind, form) = if stem == "index" {
            (PageFileKind::Index, self.index)
        } else {
            (PageFileKind::Page, self.page)
        };
        let form = self.exceptions.get(path).copied().unwrap_or(form);
        Some(match (kind, form) {
            (PageFileKind::Index, AddressForm::Folder)
            | (PageFileKind::Page, AddressForm::File) => default,
            (PageFileKind::Index, AddressForm::Bare) if default == base.as_str() => default,
            (PageFileKind::Index, AddressForm::Bare) => default.trim_end_matches('/').to_owned(),
            (PageFileKind::Index, AddressForm::File) => format!("{default}{name}"),
            (PageFileKind::Page, form) => {
                let bare = default.strip_suffix(ending).unwrap_or(&default);
                if form == AddressForm::Folder { format!("{bare}/") } else { bare.to_owned() }
            }
        })
    }
}

/// Splits the name of a page file into stem and extension; `None` if the extension is not that of a
/// page.
fn page_ending(name: &str) -> Option<(&str, &str)> {
    [".html", ".htm", ".xhtml"].into_iter().find_map(|ending| {
        let stem = name.strip_suffix(ending).filter(|stem| !stem.is_empty())?;
        Some((stem, ending))
    })
}

/// Returns the page file that a URL belongs to, and the form of the URL; `None` if there is no such
/// file.
pub(crate) fn resolve(site: &Path, base: &BaseUrl, url: &str) -> Option<ResolvedAddress> {
    let inside = if url == base.as_str().trim_end_matches('/') { "" } else { base.strip(url)? };
    let inside = inside.split(['?', '#']).next().filter(|plain| *plain == inside)?;
    let path = decoded(inside)?;
    let is_safe = !path.starts_with('/')
        && !path.contains(['\\', '\0'])
        && !path.split('/').any(|segment| matches!(segment, "." | ".."));
    if !is_safe {
        return None;
    }
    let is_there = |path: &str| site.join(path).is_file();
    let found =
        |path: String, kind, form| is_there(&path).then_some(ResolvedAddress { path, kind, form });
    if path.is_empty() {
        return found("index.html".to_owned(), PageFileKind::Index, AddressForm::Folder);
    }
    if let Some(folder) = path.strip_suffix('/') {
        return found(format!("{path}index.html"), PageFileKind::Index, AddressForm::Folder)
            .or_else(|| found(format!("{folder}.html"), PageFileKind::Page, AddressForm::Folder));
    }
    let name = path.rsplit('/').next().unwrap_or(&path);
    if let Some((stem, _)) = page_ending(name)
        && is_there(&path)
    {
        let kind = if stem == "index" { PageFileKind::Index } else { PageFileKind::Page };
        return Some(ResolvedAddress { path, kind, form: AddressForm::File });
    }
    found(format!("{path}.html"), PageFileKind::Page, AddressForm::Bare)
        .or_else(|| found(format!("{path}/index.html"), PageFileKind::Index, AddressForm::Bare))
}

/// Returns a path percent-decoded; `None` if its percent-encoding or the resulting UTF-8 is
/// invalid.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
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

/// Counts the forms of the published URLs. If the first [`PUBLISHED_SAMPLE`] pages all have the
/// default form, the other pages are not checked.
fn published_votes(plan: &BuildPlan, ledger: &Path) -> Result<AddressVotes, BuildError> {
    let mut votes = AddressVotes::default();
    let mut rows = LedgerReader::open(ledger)?;
    let mut n_pages = 0;
    while let Some(row) = rows.next_row()? {
        if row.visibility == Visibility::Removed {
            continue;
        }
        let resolved = resolve(&plan.site, &plan.base, &row.url);
        if let Some(resolved) = resolved {
            votes.add(&resolved);
        }
        n_pages += 1;
        if n_pages == PUBLISHED_SAMPLE && votes.are_default() {
            return Ok(AddressVotes::default());
        }
    }
    Ok(votes)
}

/// Counts the URL forms in the canonical links of a sample of pages. The sample has the first pages
/// in breadth-first order and by name, so that it is deterministic.
fn canonical_votes(plan: &BuildPlan) -> AddressVotes {
    let mut votes = AddressVotes::default();
    let mut folders = VecDeque::from([String::new()]);
    let (mut n_pages, mut n_folders) = (0, 0);
    while let Some(inside) = folders.pop_front() {
        n_folders += 1;
        if MAX_FOLDERS < n_folders {
            break;
        }
        let Ok(entries) = fs::read_dir(plan.site.join(&inside)) else { continue };
        let mut names: Vec<(String, bool)> = entries
            .flatten()
            .filter_map(|entry| {
                let kind = entry.file_type().ok().filter(|kind| kind.is_dir() || kind.is_file())?;
                Some((entry.file_name().into_string().ok()?, kind.is_dir()))
            })
            .filter(|(name, _)| !name.starts_with('.'))
            .collect();
        names.sort_unstable();
        for (name, is_folder) in names {
            let path = format!("{inside}{name}");
            if is_folder {
                folders.push_back(format!("{path}/"));
                continue;
            }
            if page_ending(&name).is_none() {
                continue;
            }
            n_pages += 1;
            if SAMPLE_PAGES < n_pages {
                return votes;
            }
            let Some(link) = canonical_of(&plan.site.join(&path)) else { continue };
            let resolved = resolve(&plan.site, &plan.base, &link);
            // A link to another page does not show the URL of this page.
            if let Some(resolved) = resolved.filter(|resolved| resolved.path == path) {
                votes.add(&resolved);
            }
        }
    }
    votes
}

/// Returns the canonical link at the start of a page file.
fn canonical_of(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    canonical_in(&head)
}

fn canonical_in(head: &[u8]) -> Option<String> {
    let mut at = 0;
    while let Some(found) = memmem::find(head.get(at..)?, b"<link") {
        let start = at + found;
        let len = memchr::memchr(b'>', head.get(start..)?)?;
        let tag = String::from_utf8_lossy(head.get(start..start + len)?).into_owned();
        at = start + len;
        if attribute(&tag, "rel").is_some_and(|rel| rel.eq_ignore_ascii_case("canonical")) {
            return attribute(&tag, "href").map(|href| href.replace("&amp;", "&"));
        }
    }
    None
}

/// Returns the value of an attribute of an HTML tag, which is given as text.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let lower = tag.to_ascii_lowercase();
    let wanted = format!("{name}=");
    let mut from = 0;
    while let Some(found) = lower.get(from..)?.find(&wanted) {
        let start = from + found;
        let is_whole = lower.get(..start)?.ends_with(|c: char| c.is_ascii_whitespace());
        from = start + wanted.len();
        if !is_whole {
            continue;
        }
        let rest = tag.get(from..)?;
        return match rest.chars().next()? {
            quote @ ('"' | '\'') => rest.get(1..)?.split(quote).next(),
            _ => rest.split(|c: char| c.is_ascii_whitespace()).next(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "<p>x").unwrap();
        }
        folder
    }

    #[test]
    fn resolves_addresses_in_every_form() {
        let folder = site(&["index.html", "a/index.html", "b.html", "c d.html"]);
        let base = BaseUrl::parse("https://h.example/docs").unwrap();
        for (url, wanted) in [
            (
                "https://h.example/docs/",
                Some(("index.html", PageFileKind::Index, AddressForm::Folder)),
            ),
            (
                "https://h.example/docs",
                Some(("index.html", PageFileKind::Index, AddressForm::Folder)),
            ),
            (
                "https://h.example/docs/index.html",
                Some(("index.html", PageFileKind::Index, AddressForm::File)),
            ),
            (
                "https://h.example/docs/a",
                Some(("a/index.html", PageFileKind::Index, AddressForm::Bare)),
            ),
            (
                "https://h.example/docs/a/",
                Some(("a/index.html", PageFileKind::Index, AddressForm::Folder)),
            ),
            ("https://h.example/docs/b", Some(("b.html", PageFileKind::Page, AddressForm::Bare))),
            (
                "https://h.example/docs/b/",
                Some(("b.html", PageFileKind::Page, AddressForm::Folder)),
            ),
            (
                "https://h.example/docs/b.html",
                Some(("b.html", PageFileKind::Page, AddressForm::File)),
            ),
            (
                "https://h.example/docs/c%20d",
                Some(("c d.html", PageFileKind::Page, AddressForm::Bare)),
            ),
            ("https://h.example/docs/b?x=1", None),
            ("https://h.example/docs/../b", None),
            ("https://h.example/docs/gone", None),
            ("https://other.example/docs/b", None),
        ] {
            let found = resolve(folder.path(), &base, url);
            let found = found
                .as_ref()
                .map(|resolved| (resolved.path.as_str(), resolved.kind, resolved.form));
            assert_eq!(found, wanted, "{url}");
        }
    }

    #[test]
    fn gives_files_the_addresses_of_their_scheme() {
        let base = BaseUrl::parse("https://h.example/").unwrap();
        let scheme = |index, page| AddressScheme { index, page, exceptions: NameTable::default() };
        for (scheme, path, url) in [
            (
                scheme(AddressForm::Folder, AddressForm::File),
                "a/index.html",
                "https://h.example/a/",
            ),
            (scheme(AddressForm::Bare, AddressForm::File), "a/index.html", "https://h.example/a"),
            (scheme(AddressForm::Bare, AddressForm::File), "index.html", "https://h.example/"),
            (
                scheme(AddressForm::File, AddressForm::File),
                "index.html",
                "https://h.example/index.html",
            ),
            (
                scheme(AddressForm::File, AddressForm::File),
                "a/index.html",
                "https://h.example/a/index.html",
            ),
            (scheme(AddressForm::Folder, AddressForm::Bare), "a/b.html", "https://h.example/a/b"),
            (
                scheme(AddressForm::Folder, AddressForm::Folder),
                "a/b.html",
                "https://h.example/a/b/",
            ),
            (
                scheme(AddressForm::Folder, AddressForm::Bare),
                "a/ü.html",
                "https://h.example/a/%C3%BC",
            ),
        ] {
            assert_eq!(scheme.address(&base, path).as_deref(), Some(url), "{path}");
        }
    }

    #[test]
    fn finds_canonical_links_in_every_notation() {
        for (head, wanted) in [
            ("<link rel=\"canonical\" href=\"https://h.example/a\">", Some("https://h.example/a")),
            (
                "<LINK href='https://h.example/?a=1&amp;b' rel='Canonical' />",
                Some("https://h.example/?a=1&b"),
            ),
            ("<link rel=canonical href=https://h.example/a/>", Some("https://h.example/a/")),
            ("<link data-rh=\"true\" rel=\"canonical\" href=\"/a\"/>", Some("/a")),
            ("<link rel=\"stylesheet\" href=\"canonical\">", None),
        ] {
            let head = head.replace("<LINK", "<link");
            assert_eq!(canonical_in(head.as_bytes()).as_deref(), wanted, "{head}");
        }
    }
}
