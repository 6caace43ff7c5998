//! How the addresses of a site's pages follow from their files.
//!
//! Input: addresses in the generator's own sitemap, else the canonical links of a sample of pages.
//! Output: the address of a file. A generator that writes `a/index.html` may mean `a/`, `a` or
//! `a/index.html`; one that writes `a.html` may mean `a.html`, `a` or `a/`.
//! Rejects: canonical links that name another page, and schemes the pages do not agree on.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use memchr::memmem;

use crate::error::BuildError;
use crate::inventory;
use crate::ledger::{Rows, Sight};
use crate::plan::{Base, Plan, Source};
use crate::table::{Table, hash_of};

/// Pages whose canonical links are looked at.
const SAMPLE: usize = 200;
/// Published pages whose addresses are looked at before it is clear that all are usual.
const PUBLISHED_SAMPLE: usize = 1000;
/// Folders that are looked into for the sample.
const MOST_FOLDERS: usize = 2000;
/// How much of a page is searched for its canonical link.
const HEAD: u64 = 64 << 10;

/// How a file shows in its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `a/`
    Folder,
    /// `a`
    Bare,
    /// `a/index.html`, `a.html`
    File,
}

/// What kind of file an address stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// `a/index.html`
    Index,
    /// `a.html`
    Page,
}

/// An address that stands for a file of the site.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) path: String,
    pub(crate) class: Class,
    pub(crate) form: Form,
}

/// The addresses of a site's pages.
#[derive(Debug)]
pub(crate) struct AddressScheme {
    index: Form,
    page: Form,
    /// Files that the generator's sitemap names otherwise.
    exceptions: Table<Form>,
}

impl Default for AddressScheme {
    fn default() -> Self {
        Self { index: Form::Folder, page: Form::File, exceptions: Table::default() }
    }
}

/// Which forms were seen, for each class.
#[derive(Debug, Default)]
pub(crate) struct Votes {
    index: [u64; 3],
    page: [u64; 3],
    all: Vec<(u128, Class, Form)>,
}

impl Votes {
    pub(crate) fn add(&mut self, seen: &Resolved) {
        self.all.push((hash_of(&seen.path), seen.class, seen.form));
        // The address of the home page is the same with and without a slash.
        let is_root = seen.class == Class::Index && !seen.path.contains('/');
        if !(is_root && seen.form != Form::File) {
            let votes = self.of(seen.class);
            if let Some(n) = votes.get_mut(seen.form as usize) {
                *n += 1;
            }
        }
    }

    /// Whether no address was seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn of(&mut self, class: Class) -> &mut [u64; 3] {
        match class {
            Class::Index => &mut self.index,
            Class::Page => &mut self.page,
        }
    }

    /// The form most addresses have.
    fn majority(votes: [u64; 3]) -> Option<Form> {
        let most = votes.into_iter().max().filter(|most| *most != 0)?;
        let mut with_most = FORMS.into_iter().zip(votes).filter(|(_, n)| *n == most);
        let (form, _) = with_most.next()?;
        with_most.next().is_none().then_some(form)
    }

    /// Whether all addresses have the form that files have without a scheme.
    fn are_usual(&self) -> bool {
        let usual = AddressScheme::default();
        let is_usual = |(_, class, form): &(u128, Class, Form)| match class {
            Class::Index => *form == usual.index,
            Class::Page => *form == usual.page,
        };
        self.all.iter().all(is_usual)
    }

    /// The form all addresses have.
    fn unanimous(votes: [u64; 3]) -> Option<Form> {
        let mut seen = FORMS.into_iter().zip(votes).filter(|(_, n)| *n != 0);
        let (form, _) = seen.next()?;
        seen.next().is_none().then_some(form)
    }
}

const FORMS: [Form; 3] = [Form::Folder, Form::Bare, Form::File];

impl AddressScheme {
    /// Decides by the generator's sitemap; where that says nothing of a class,
    /// by the canonical links of pages, if those agree. Where they say nothing or disagree, by the
    /// addresses that were published before: our sitemap may have replaced the generator's, and
    /// one odd page must not change the addresses of the others.
    pub(crate) fn of_site(
        plan: &Plan,
        mut sitemap: Votes,
        ledger: &Path,
    ) -> Result<Self, BuildError> {
        if plan.source != Source::Html {
            return Ok(Self::default());
        }
        let usual = Self::default();
        let (index, page) = (Votes::majority(sitemap.index), Votes::majority(sitemap.page));
        let links = match (index, page) {
            (Some(_), Some(_)) => Votes::default(),
            _ => canonical_votes(plan),
        };
        let index = index.or(Votes::unanimous(links.index));
        let page = page.or(Votes::unanimous(links.page));
        let is_open = |class: Class| match class {
            Class::Index => index.is_none(),
            Class::Page => page.is_none(),
        };
        let is_decided = index.is_some() && page.is_some();
        let published = if is_decided { Votes::default() } else { published_votes(plan, ledger)? };
        // What is decided by the site itself has no exceptions from before.
        sitemap.all.extend(published.all.iter().filter(|(_, class, _)| is_open(*class)));
        let index = index.or(Votes::majority(published.index)).unwrap_or(usual.index);
        let page = page.or(Votes::majority(published.page)).unwrap_or(usual.page);
        let is_other = |class: Class, form: Form| match class {
            Class::Index => form != index,
            Class::Page => form != page,
        };
        let others = sitemap.all.into_iter().filter(|(_, class, form)| is_other(*class, *form));
        let exceptions = Table::of(others.map(|(path, _, form)| (path, form)).collect());
        Ok(Self { index, page, exceptions })
    }

    /// The address of a file: the key by which pages are told apart (D30).
    pub(crate) fn address(&self, base: &Base, path: &str) -> Option<String> {
        let usual = inventory::address(base, path)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((stem, ending)) = page_ending(name) else { return Some(usual) };
        let (class, form) =
            if stem == "index" { (Class::Index, self.index) } else { (Class::Page, self.page) };
        let form = self.exceptions.get(path).copied().unwrap_or(form);
        Some(match (class, form) {
            (Class::Index, Form::Folder) | (Class::Page, Form::File) => usual,
            (Class::Index, Form::Bare) if usual == base.as_str() => usual,
            (Class::Index, Form::Bare) => usual.trim_end_matches('/').to_owned(),
            (Class::Index, Form::File) => format!("{usual}{name}"),
            (Class::Page, form) => {
                let bare = usual.strip_suffix(ending).unwrap_or(&usual);
                if form == Form::Folder { format!("{bare}/") } else { bare.to_owned() }
            }
        })
    }
}

/// A page's name without its ending, and the ending.
fn page_ending(name: &str) -> Option<(&str, &str)> {
    [".html", ".htm", ".xhtml"].into_iter().find_map(|ending| {
        let stem = name.strip_suffix(ending).filter(|stem| !stem.is_empty())?;
        Some((stem, ending))
    })
}

/// The file of the site that an address stands for, and in which form.
pub(crate) fn resolve(site: &Path, base: &Base, url: &str) -> Option<Resolved> {
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
        |path: String, class, form| is_there(&path).then_some(Resolved { path, class, form });
    if path.is_empty() {
        return found("index.html".to_owned(), Class::Index, Form::Folder);
    }
    if let Some(folder) = path.strip_suffix('/') {
        return found(format!("{path}index.html"), Class::Index, Form::Folder)
            .or_else(|| found(format!("{folder}.html"), Class::Page, Form::Folder));
    }
    let name = path.rsplit('/').next().unwrap_or(&path);
    if let Some((stem, _)) = page_ending(name)
        && is_there(&path)
    {
        let class = if stem == "index" { Class::Index } else { Class::Page };
        return Some(Resolved { path, class, form: Form::File });
    }
    found(format!("{path}.html"), Class::Page, Form::Bare)
        .or_else(|| found(format!("{path}/index.html"), Class::Index, Form::Bare))
}

/// A path without its escapes.
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

/// In which forms pages were published. The first ones tell where all have the usual form; only
/// otherwise the others are looked at.
fn published_votes(plan: &Plan, ledger: &Path) -> Result<Votes, BuildError> {
    let mut votes = Votes::default();
    let mut rows = Rows::open(ledger)?;
    let mut n_pages = 0;
    while let Some(row) = rows.next()? {
        if row.sight == Sight::Gone {
            continue;
        }
        let seen = resolve(&plan.site, &plan.base, &row.url);
        if let Some(seen) = seen {
            votes.add(&seen);
        }
        n_pages += 1;
        if n_pages == PUBLISHED_SAMPLE && votes.are_usual() {
            return Ok(Votes::default());
        }
    }
    Ok(votes)
}

/// What a sample of pages says of itself: the first ones, breadth first and by
/// name, so that the sample is always the same.
fn canonical_votes(plan: &Plan) -> Votes {
    let mut votes = Votes::default();
    let mut folders = VecDeque::from([String::new()]);
    let (mut n_pages, mut n_folders) = (0, 0);
    while let Some(inside) = folders.pop_front() {
        n_folders += 1;
        if MOST_FOLDERS < n_folders {
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
            if SAMPLE < n_pages {
                return votes;
            }
            let Some(link) = canonical_of(&plan.site.join(&path)) else { continue };
            let seen = resolve(&plan.site, &plan.base, &link);
            // A link to another page says nothing of this one's address.
            if let Some(seen) = seen.filter(|seen| seen.path == path) {
                votes.add(&seen);
            }
        }
    }
    votes
}

/// The canonical link in the head of a page.
fn canonical_of(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
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

/// The value of an attribute in the text of a tag.
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
        let base = Base::parse("https://h.example/docs").unwrap();
        for (url, wanted) in [
            ("https://h.example/docs/", Some(("index.html", Class::Index, Form::Folder))),
            ("https://h.example/docs", Some(("index.html", Class::Index, Form::Folder))),
            ("https://h.example/docs/index.html", Some(("index.html", Class::Index, Form::File))),
            ("https://h.example/docs/a", Some(("a/index.html", Class::Index, Form::Bare))),
            ("https://h.example/docs/a/", Some(("a/index.html", Class::Index, Form::Folder))),
            ("https://h.example/docs/b", Some(("b.html", Class::Page, Form::Bare))),
            ("https://h.example/docs/b/", Some(("b.html", Class::Page, Form::Folder))),
            ("https://h.example/docs/b.html", Some(("b.html", Class::Page, Form::File))),
            ("https://h.example/docs/c%20d", Some(("c d.html", Class::Page, Form::Bare))),
            ("https://h.example/docs/b?x=1", None),
            ("https://h.example/docs/../b", None),
            ("https://h.example/docs/gone", None),
            ("https://other.example/docs/b", None),
        ] {
            let found = resolve(folder.path(), &base, url);
            let found = found.as_ref().map(|seen| (seen.path.as_str(), seen.class, seen.form));
            assert_eq!(found, wanted, "{url}");
        }
    }

    #[test]
    fn gives_files_the_addresses_of_their_scheme() {
        let base = Base::parse("https://h.example/").unwrap();
        let scheme = |index, page| AddressScheme { index, page, exceptions: Table::default() };
        for (scheme, path, url) in [
            (scheme(Form::Folder, Form::File), "a/index.html", "https://h.example/a/"),
            (scheme(Form::Bare, Form::File), "a/index.html", "https://h.example/a"),
            (scheme(Form::Bare, Form::File), "index.html", "https://h.example/"),
            (scheme(Form::File, Form::File), "index.html", "https://h.example/index.html"),
            (scheme(Form::File, Form::File), "a/index.html", "https://h.example/a/index.html"),
            (scheme(Form::Folder, Form::Bare), "a/b.html", "https://h.example/a/b"),
            (scheme(Form::Folder, Form::Folder), "a/b.html", "https://h.example/a/b/"),
            (scheme(Form::Folder, Form::Bare), "a/ü.html", "https://h.example/a/%C3%BC"),
        ] {
            assert_eq!(scheme.address(&base, path).as_deref(), Some(url), "{path}");
        }
    }

    #[test]
    fn finds_canonical_links_however_they_are_written() {
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
