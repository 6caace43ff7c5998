//! Decides which pages llms.txt lists under `Optional`: pages that only list other pages, and old
//! versions.
//!
//! Input: the paths of all public pages. Output: whether a page is listed under `Optional`. The
//! decision depends only on paths.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of version folders; further version folders count as ordinary folders.
const MAX_VERSIONS: usize = 500;
/// Maximum number of page paths that are stored for each version folder.
const SAMPLE_PATHS: usize = 64;
/// Maximum number of date folders that are stored.
const MAX_DATES: usize = 5000;

/// Names of folders whose pages only list other pages.
const LISTS: [&str; 8] =
    ["tag", "tags", "category", "categories", "archive", "archives", "author", "authors"];
/// Names of folders that hold the current version of a documentation.
const CURRENT: [&str; 3] = ["latest", "stable", "current"];
/// Names of folders that hold an unreleased version of a documentation.
const UPCOMING: [&str; 10] = [
    "next",
    "dev",
    "devel",
    "develop",
    "main",
    "master",
    "nightly",
    "canary",
    "unreleased",
    "edge",
];

/// Decides which pages are listed under `Optional`, from the folders of the site.
#[derive(Debug, Default)]
pub(super) struct SidePages {
    /// Version folders, such as `v2`, by the path of their parent folder.
    holders: BTreeMap<String, Vec<VersionFolder>>,
    n_versions: usize,
    /// Folders that are named after a year, month or day and contain pages.
    dates: BTreeSet<String>,
    /// Folders of old versions; [`Self::find_old_versions`] fills this set.
    old: BTreeSet<String>,
}

#[derive(Debug)]
struct VersionFolder {
    name: String,
    /// Paths of some pages in the version folder, relative to it.
    sample: Vec<String>,
    n_found: usize,
}

impl SidePages {
    /// Records the version folders and date folders in the path of a page.
    pub(super) fn record(&mut self, path: &str) {
        for (folder, rest) in folders(path) {
            if is_dated(folder) && self.dates.len() < MAX_DATES {
                self.dates.insert(folder.to_owned());
            }
            let (holder, name) = folder.rsplit_once('/').unwrap_or(("", folder));
            if !is_version(name) {
                continue;
            }
            if self.n_versions < MAX_VERSIONS && !self.holders.contains_key(holder) {
                self.holders.insert(holder.to_owned(), Vec::new());
            }
            let Some(versions) = self.holders.get_mut(holder) else { return };
            match versions.iter_mut().find(|version| version.name == name) {
                Some(version) if version.sample.len() < SAMPLE_PATHS => {
                    version.sample.push(rest.to_owned());
                }
                Some(_) => {}
                None if self.n_versions < MAX_VERSIONS => {
                    self.n_versions += 1;
                    let (name, sample) = (name.to_owned(), vec![rest.to_owned()]);
                    versions.push(VersionFolder { name, sample, n_found: 0 });
                }
                None => {}
            }
            // A version folder inside another version folder is not recorded separately.
            return;
        }
    }

    /// Returns whether the site has version folders, with which all pages must then be compared.
    pub(super) fn has_versions(&self) -> bool {
        !self.holders.is_empty()
    }

    /// Counts for each version folder how many of its pages also exist outside of the folder. If
    /// many do, the pages outside are the current version.
    pub(super) fn compare(&mut self, path: &str) {
        let whole = std::iter::once(("", path));
        for (holder, rest) in whole.chain(folders(path)) {
            for version in self.holders.get_mut(holder).into_iter().flatten() {
                version.n_found += usize::from(version.sample.iter().any(|it| it == rest));
            }
        }
    }

    /// Decides which version folders are old. A folder for which `is_linked` returns true is not
    /// old, because the navigation links to it.
    pub(super) fn find_old_versions(&mut self, is_linked: &dyn Fn(&str) -> bool) {
        for (holder, versions) in std::mem::take(&mut self.holders) {
            if !versions.iter().any(|version| numbers(&version.name).is_some()) {
                continue;
            }
            let is_shared = |version: &VersionFolder| version.sample.len() <= 2 * version.n_found;
            let named = versions.iter().find(|version| is_in(&CURRENT, &version.name));
            let newest =
                versions.iter().max_by(|one, other| compare_versions(&one.name, &other.name));
            let current = match named {
                Some(named) => Some(&named.name),
                None if versions.iter().any(is_shared) => None,
                None => newest.map(|newest| &newest.name),
            };
            for version in &versions {
                let folder = if holder.is_empty() {
                    version.name.clone()
                } else {
                    format!("{holder}/{}", version.name)
                };
                if current != Some(&version.name) && !is_linked(&folder) {
                    self.old.insert(folder);
                }
            }
        }
    }

    /// Returns whether llms.txt lists the page with this path under `Optional`.
    pub(super) fn has(&self, path: &str) -> bool {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut segments = path.split('/').peekable();
        while let Some(segment) = segments.next() {
            let next = segments.peek().copied().unwrap_or_default();
            if is_in(&LISTS, segment) || is_page_number(segment, next) {
                return true;
            }
        }
        let is_paged = |part: &str| part.starts_with("page=") || part.starts_with("paged=");
        query.split('&').any(is_paged)
            || (is_dated(path) && self.dates.contains(path))
            || std::iter::once(path)
                .chain(folders(path).map(|(folder, _)| folder))
                .any(|folder| self.old.contains(folder))
    }
}

/// Returns the folders of a path, outermost first, each with the part of the path after it.
fn folders(path: &str) -> impl Iterator<Item = (&str, &str)> {
    path.match_indices('/').filter_map(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)))
}

fn is_in(names: &[&str], segment: &str) -> bool {
    names.iter().any(|name| segment.eq_ignore_ascii_case(name))
}

/// Returns whether a path segment, together with the next one, is a page number: `page/2`, `page-2`
/// or `page2`.
fn is_page_number(segment: &str, next: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let rest = segment.get(..4).filter(|start| start.eq_ignore_ascii_case("page"));
    let rest = rest.and_then(|_| segment.get(4..));
    rest.is_some_and(|rest| {
        (rest.is_empty() && is_number(next)) || is_number(rest.strip_prefix('-').unwrap_or(rest))
    })
}

/// Returns whether a path ends with a year, a month of a year or a day of a month.
fn is_dated(path: &str) -> bool {
    let number = |text: &str, digits: std::ops::RangeInclusive<usize>| {
        let is_number = digits.contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
        text.parse::<u32>().ok().filter(|_| is_number)
    };
    let is_year = |text: &str| number(text, 4..=4).is_some_and(|it| (1970..2100).contains(&it));
    let is_month = |text: &str| number(text, 1..=2).is_some_and(|it| (1..=12).contains(&it));
    let is_day = |text: &str| number(text, 1..=2).is_some_and(|it| (1..=31).contains(&it));
    let mut ends = path.rsplit('/');
    match (ends.next(), ends.next(), ends.next()) {
        (Some(year), ..) if is_year(year) => true,
        (Some(month), Some(year), _) if is_year(year) => is_month(month),
        (Some(day), Some(month), Some(year)) if is_year(year) => is_month(month) && is_day(day),
        _ => false,
    }
}

fn is_version(name: &str) -> bool {
    numbers(name).is_some() || is_in(&CURRENT, name) || is_in(&UPCOMING, name)
}

/// Returns the numbers of a version name such as `v2`, `1.10` or `3.x`, and whether the version is
/// a release. A number without a dot or `v` is not a version.
fn numbers(name: &str) -> Option<(Vec<u64>, bool)> {
    let digits = name.strip_prefix(['v', 'V']).unwrap_or(name);
    let (digits, is_release) = match digits.split_once('-') {
        Some((digits, suffix)) => {
            let is_early =
                ["rc", "beta", "alpha", "pre", "dev"].iter().any(|it| suffix.starts_with(it));
            (digits, is_early.then_some(false)?)
        }
        None => (digits, true),
    };
    if digits.len() == name.len() && !digits.contains('.') {
        return None;
    }
    let number = |(at, part): (usize, &str)| match part {
        "x" if 0 < at => Some(u64::MAX),
        part if part.len() < 9 && part.bytes().all(|it| it.is_ascii_digit()) => part.parse().ok(),
        _ => None,
    };
    let numbers: Option<Vec<u64>> = digits.split('.').enumerate().map(number).collect();
    Some((numbers?, is_release))
}

/// Compares two version names by their numbers; names that are not releases come before all
/// releases.
fn compare_versions(one: &str, other: &str) -> Ordering {
    let rank = |name: &str| match numbers(name) {
        Some((numbers, is_release)) => (is_release, numbers),
        None => (false, Vec::new()),
    };
    rank(one).cmp(&rank(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed_as_optional(paths: &[&str], linked: &[&str]) -> Vec<String> {
        let mut side = SidePages::default();
        for path in paths {
            side.record(path);
        }
        for path in paths {
            side.compare(path);
        }
        side.find_old_versions(&|folder| linked.contains(&folder));
        paths.iter().filter(|path| side.has(path)).map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn lists_pages_of_pages_under_optional() {
        let listed = [
            "tags",
            "blog/Tag/x",
            "category/a/b",
            "authors/anna",
            "page/2",
            "blog/page-3",
            "news?page=2",
        ];
        assert_eq!(listed_as_optional(&listed, &[]), listed);
        let others =
            ["tagged", "pages/2", "page", "pageant", "page/about", "reports/2024", "2024/05/x"];
        assert_eq!(listed_as_optional(&others, &[]), [""; 0]);
        assert_eq!(listed_as_optional(&["2024", "2024/05", "2024/05/x"], &[]), ["2024", "2024/05"]);
    }

    #[test]
    fn lists_old_versions_under_optional() {
        // The newest version is chosen by number and not alphabetically.
        assert_eq!(
            listed_as_optional(&["d/2.9/a", "d/2.10/a", "d/2.11-rc1/a"], &[]),
            ["d/2.9/a", "d/2.11-rc1/a"]
        );
        assert_eq!(listed_as_optional(&["v1/a", "v1/b"], &[]), [""; 0]);
        assert_eq!(
            listed_as_optional(&["d/stable/a", "d/v3/a", "d/dev/a"], &[]),
            ["d/v3/a", "d/dev/a"]
        );
        assert_eq!(
            listed_as_optional(&["d/a", "d/b", "d/1.0/a", "d/1.0/b", "d/next/a"], &[]),
            ["d/1.0/a", "d/1.0/b", "d/next/a"]
        );
        assert_eq!(listed_as_optional(&["d/1.x/a", "d/2.x/a"], &["d/1.x"]), [""; 0]);
        // A folder such as `latest` without a numbered version beside it, and a page named like a
        // version, are not listed.
        assert_eq!(
            listed_as_optional(
                &["d/next/a", "d/main/a", "blog/v1.0", "blog/v2.0", "7/a", "8/a"],
                &[]
            ),
            [""; 0]
        );
    }
}
