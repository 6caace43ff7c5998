//! Lists the files of a site's folder.
//!
//! An unreadable folder is reported, and the pages that were published from it stay listed: an unreadable page keeps
//! its published version, and only a missing page is removed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_finding::{Finding, Place};
use rutter_site::{LedgerReader, Manifest, Visibility, is_below};

use super::page_files::PageFiles;
use crate::address::{decoded, file_address};
use crate::error::{BuildError, IoErrorContext};
use crate::plan::{BuildPlan, SourceKind};
use crate::rules;
use crate::stages::inventory::address_scheme::AddressScheme;

/// Pages and other files of a site's folder.
#[derive(Debug, Default)]
pub(super) struct FolderListing {
    /// Pages of the site, sorted by URL.
    pub(super) pages: PageFiles,
    /// Paths of the site's files that are not pages, sorted.
    pub(super) others: Vec<Box<str>>,
    pub(super) findings: Vec<(String, Finding)>,
    /// Folders of the site that cannot be read, each with a final slash.
    pub(super) unreadable: Vec<String>,
}

impl FolderListing {
    /// Adds the published pages below unreadable folders, so that the build does not remove them.
    /// Their paths come from the manifest, else from their URLs.
    pub(super) fn keep_unreadable(
        &mut self,
        (plan, scheme): (&BuildPlan, &AddressScheme),
        ledger: &Path,
        published: &Manifest,
    ) -> Result<(), BuildError> {
        if self.unreadable.is_empty() {
            return Ok(());
        }
        let is_lost = |name: &str| self.unreadable.iter().any(|folder| name.starts_with(folder));
        let pages = published.iter().map(|(name, _)| name);
        let pages = pages.filter(|name| is_lost(name) && is_page(plan.source, name));
        let paths: HashMap<String, &str> =
            pages.filter_map(|name| Some((scheme.address(&plan.base, name)?, name))).collect();
        let prefixes: Vec<String> =
            self.unreadable.iter().map(|folder| file_address(&plan.base, folder)).collect();
        let mut rows = LedgerReader::open(ledger)?;
        let mut kept = Vec::new();
        while let Some(row) = rows.next_row()? {
            let is_kept = row.visibility != Visibility::Removed
                && prefixes.iter().any(|prefix| is_below(&row.url, prefix))
                && !self.pages.has_url(&row.url);
            if !is_kept {
                continue;
            }
            let known = paths.get(&row.url).map(|path| (*path).to_owned());
            let mut folders = self.unreadable.iter().zip(&prefixes);
            let index = folders.find(|(_, prefix)| prefix.strip_suffix('/') == Some(&row.url));
            let index = index.map(|(folder, _)| format!("{folder}index.html"));
            if let Some(path) = known.or(index).or_else(|| default_path(plan, &row.url)) {
                kept.push((row.url, path));
            }
        }
        for (url, path) in &kept {
            self.pages.push(url, path);
        }
        self.pages.sort(&mut |_, _| {});
        Ok(())
    }
}

/// Returns the default path of the page file of a URL.
fn default_path(plan: &BuildPlan, url: &str) -> Option<String> {
    let inside = decoded(plan.base.strip(url)?);
    Some(match (inside.strip_suffix('/'), plan.source) {
        (Some(folder), SourceKind::Markdown) => format!("{folder}.md"),
        (Some(folder), _) => format!("{folder}/index.html"),
        (None, _) => inside,
    })
}

/// Lists the pages and other files of the site's folder, without files for which `is_own_file`
/// returns true, which are artifacts of earlier builds.
pub(super) fn list_folder(
    plan: &BuildPlan,
    scheme: &AddressScheme,
    is_own_file: &dyn Fn(&str) -> bool,
) -> Result<FolderListing, BuildError> {
    let mut found = FolderListing::default();
    let skipped: Vec<PathBuf> = [Some(&plan.state), plan.out.as_ref()]
        .into_iter()
        .flatten()
        .chain(&plan.kept_out)
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    // Each folder has a flag: whether a pattern of the site owner excludes it. Excluded files are
    // not listed as pages, but they are copied.
    let mut folders = vec![(String::new(), false)];
    while let Some((inside, is_excluded)) = folders.pop() {
        let folder = plan.site.join(&inside);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if inside.is_empty() => return Err(BuildError::Io(folder, error)),
            // An unreadable folder is reported and does not stop the listing.
            Err(error) => {
                let finding = Finding::new(&rules::UNREADABLE, Place::WHOLE, error.to_string());
                found.findings.push((inside.clone(), finding));
                found.unreadable.push(inside);
                continue;
            }
        };
        for entry in entries {
            let entry = entry.at(&folder)?;
            let name = entry.file_name().to_str().map(str::to_owned);
            let Some(name) = name.filter(|name| !name.contains(char::is_control)) else {
                let shown = entry.path().display().to_string();
                found.findings.push((shown, Finding::new(&rules::ODD_NAME, Place::WHOLE, "")));
                continue;
            };
            let is_hidden = name.starts_with('.') && name != ".well-known";
            let path = format!("{inside}{name}");
            let kind = entry.file_type().at(&entry.path())?;
            let is_excluded = is_excluded || plan.exclude.iter().any(|glob| glob.matches(&path));
            if kind.is_dir() {
                let real = entry.path().canonicalize().at(&entry.path())?;
                if !is_hidden && !skipped.contains(&real) {
                    folders.push((format!("{path}/"), is_excluded));
                }
            } else if is_own_file(&path) {
                // The file is an artifact of an earlier build, and this build writes it again.
            } else if kind.is_symlink() && is_outside_link(plan, &path) {
                let detail = "a symbolic link out of the site is not published";
                let finding = Finding::new(&rules::ODD_NAME, Place::WHOLE, detail);
                found.findings.push((path, finding));
            } else if kind.is_symlink() && entry.path().is_dir() {
                let detail = "a symbolic link to a folder is not followed";
                let finding = Finding::new(&rules::ODD_NAME, Place::WHOLE, detail);
                found.findings.push((path, finding));
            } else if !kind.is_file() && !entry.path().is_file() && !is_denied(&entry.path()) {
                // The entry is a broken link or not a regular file, and is skipped.
            } else if matches!(name.as_str(), "rutter.toml" | ".gitignore")
                || (is_hidden && !matches!(name.as_str(), ".htaccess" | ".nojekyll"))
            {
                // Hidden files are skipped, except `.htaccess` and `.nojekyll`.
            } else if is_hidden || is_excluded {
                found.others.push(path.into());
            } else {
                add_file(plan, scheme, path, &mut found);
            }
        }
    }
    let FolderListing { pages, others, findings, .. } = &mut found;
    pages.sort(&mut |first, later| {
        let detail = format!("{}: `{}` is used", first.url, first.path);
        let finding = Finding::new(&rules::TWO_FILES, Place::WHOLE, detail);
        findings.push((later.path.to_owned(), finding));
        others.push(later.path.into());
    });
    found.others.sort_unstable();
    Ok(found)
}

/// Returns whether a symbolic link leads out of the site's folder. A broken link does not count.
fn is_outside_link(plan: &BuildPlan, path: &str) -> bool {
    rutter_root::resolve(&plan.site, path).is_err_and(|error| rutter_root::is_outside_link(&error))
}

/// Returns whether the process has no permission to read a file. Such a file counts as an
/// unreadable page, not as a missing one.
fn is_denied(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// Returns whether a file is a page according to its name.
fn is_page(source: SourceKind, path: &str) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    let is_page = match source {
        SourceKind::Html => matches!(ending.as_str(), "html" | "htm" | "xhtml"),
        SourceKind::Markdown => matches!(ending.as_str(), "md" | "markdown"),
        SourceKind::Lines => false,
    };
    // Error pages of the web server, such as `404.html`, do not count as pages.
    let name = path.rsplit('/').next().unwrap_or(path);
    is_page && !matches!(name, "404.html" | "50x.html" | "500.html" | "404.md")
}

fn add_file(plan: &BuildPlan, scheme: &AddressScheme, path: String, found: &mut FolderListing) {
    if !is_page(plan.source, &path) {
        found.others.push(path.into());
        return;
    }
    match scheme.address(&plan.base, &path) {
        Some(url) => found.pages.push(&url, &path),
        None => {
            found.findings.push((path, Finding::new(&rules::ODD_NAME, Place::WHOLE, "")));
        }
    }
}
