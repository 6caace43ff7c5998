//! Reads the times of the last changes of pages from the git history.
//!
//! Input: the history of the output folder, and of the generator's sources if the output is not in
//! git. Output: a time for each page whose file or source file has a commit, or the reason why no
//! page has one. Source files are found by the patterns of the site owner, else by the rules of the
//! generator.

use std::path::{Path, PathBuf};
use std::process::Command;

use rutter_page::Timestamp;

use crate::name_table::{NameTable, hash_of};
use crate::plan::BuildPlan;
use crate::stages::inventory::page_files::PageFiles;

/// Extensions of source files from which generators make pages, most likely first.
const ENDINGS: [&str; 10] =
    ["md", "mdx", "markdown", "rst", "html", "njk", "liquid", "adoc", "astro", "ipynb"];

/// Commit times of page files by path relative to the site's folder, or the reason why no page has
/// one.
#[derive(Debug)]
pub(crate) enum GitDates {
    Found(NameTable<Timestamp>),
    Unavailable(String),
}

/// Returns the times of the last commits of the pages or of their source files.
pub(crate) fn dates(plan: &BuildPlan, names: &PageFiles) -> GitDates {
    let output = History::of(&plan.site);
    let root = plan.generator.as_ref().and_then(|generator| generator.root.clone());
    let roots = root.into_iter().chain(plan.git_root.clone());
    let sources: Vec<(PathBuf, History)> =
        roots.map(|root| (root.clone(), History::of(&root))).collect();
    let mut found = Vec::new();
    for name in names.iter() {
        let of_source = || {
            let candidates = candidates(plan, name.path);
            let mut times = sources.iter().flat_map(|(_, history)| {
                candidates.iter().filter_map(|path| history.by_source.get(path))
            });
            times.next()
        };
        if let Some(time) = output.by_path.get(name.path).or_else(of_source) {
            found.push((hash_of(name.path), *time));
        }
    }
    if !found.is_empty() {
        return GitDates::Found(NameTable::of(found));
    }
    let folders = sources.iter().map(|(root, _)| root).chain([&plan.site]);
    let mut shown: Vec<String> = folders.map(|folder| display_path(folder)).collect();
    shown.dedup();
    let is_history = output.has_commits || sources.iter().any(|(_, history)| history.has_commits);
    let why = if is_history {
        let tried = names.iter().next().map(|name| candidates(plan, name.path));
        let tried = tried.unwrap_or_default().into_iter().next().unwrap_or_default();
        format!("the history has none of {} pages or their sources, such as {tried}", names.len())
    } else {
        "there is no history; it may not be a git repository".to_owned()
    };
    GitDates::Unavailable(format!(
        "found no dates in the git history of {}: {why}",
        shown.join(", ")
    ))
}

fn display_path(folder: &Path) -> String {
    let text = folder.display().to_string();
    if text.is_empty() { ".".to_owned() } else { text }
}

/// Commit times of the files below a folder, from the git history.
#[derive(Debug, Default)]
struct History {
    has_commits: bool,
    by_path: NameTable<Timestamp>,
    /// Commit times by path in the form that [`slug`] returns.
    by_source: NameTable<Timestamp>,
}

impl History {
    fn of(folder: &Path) -> Self {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(["log", "--format=%x01%ct", "--name-only", "--relative", "-z", "--", "."])
            .output();
        let Ok(output) = output else { return Self::default() };
        let text = String::from_utf8_lossy(&output.stdout);
        let (mut by_path, mut by_source) = (Vec::new(), Vec::new());
        let mut time = None;
        for part in text.split(['\0', '\n']).filter(|part| !part.is_empty()) {
            match part.strip_prefix('\u{1}') {
                Some(seconds) => {
                    time = seconds.trim().parse().ok().and_then(Timestamp::from_unix_seconds);
                }
                // A file may follow several commits; the newest commit comes first.
                None => {
                    if let Some(time) = time {
                        by_path.push((hash_of(part), time));
                        by_source.push((hash_of(&slug(part)), time));
                    }
                }
            }
        }
        let has_commits = output.status.success() && !by_path.is_empty();
        Self { has_commits, by_path: NameTable::of(by_path), by_source: NameTable::of(by_source) }
    }
}

/// Returns the path of a source file in the form in which generators write it to the output: in
/// lower case, with hyphens instead of spaces and without numeric prefixes.
fn slug(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        let bare = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_date =
            part.as_bytes().first_chunk::<4>().is_some_and(|it| it.iter().all(u8::is_ascii_digit));
        let bare = bare.strip_prefix(['-', '_', '.']).map(str::trim_start);
        let bare = bare.filter(|bare| !is_date && !bare.is_empty() && bare.len() < part.len());
        let bare = bare.filter(|_| part.starts_with(|c: char| c.is_ascii_digit()));
        bare.unwrap_or(part).to_lowercase().replace(' ', "-")
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns the possible paths of the source file of a page, most likely first.
fn candidates(plan: &BuildPlan, path: &str) -> Vec<String> {
    let folder_of = path.strip_suffix("index.html").or_else(|| path.strip_suffix("index.htm"));
    let is_index = folder_of.is_some();
    let stem = folder_of.or_else(|| path.rsplit_once('.').map(|(stem, _)| stem)).unwrap_or(path);
    let stem = stem.trim_end_matches('/');
    let mut found = Vec::new();
    for pattern in &plan.git_sources {
        let stem = if stem.is_empty() { "index" } else { stem };
        found.push(slug(&pattern.replace("{path}", stem)));
    }
    let usual = [".".to_owned()];
    let folders = plan.generator.as_ref().map_or(&usual[..], |generator| &generator.sources);
    let mut stems = Vec::new();
    if !stem.is_empty() {
        stems.push(stem.to_owned());
        stems.extend(dated_names(stem));
    }
    if is_index {
        for index in ["index", "_index", "README"] {
            stems.push(if stem.is_empty() { index.to_owned() } else { format!("{stem}/{index}") });
        }
    }
    for folder in folders {
        for stem in &stems {
            let place = if folder == "." { stem.clone() } else { format!("{folder}/{stem}") };
            found.extend(ENDINGS.iter().map(|ending| slug(&format!("{place}.{ending}"))));
        }
    }
    found
}

/// Returns the possible source paths of a post with a date in its path: `blog/2026/01/02/first` is
/// built from `blog/2026-01-02-first`.
fn dated_names(stem: &str) -> Vec<String> {
    let parts: Vec<&str> = stem.split('/').collect();
    let [before @ .., year, month, day, name] = parts.as_slice() else { return Vec::new() };
    let is_number =
        |text: &str, len: usize| text.len() == len && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(year, 4) || !is_number(month, 2) || !is_number(day, 2) {
        return Vec::new();
    }
    let file = format!("{year}-{month}-{day}-{name}");
    // Jekyll writes categories before the date in the output path, and reads all posts from one
    // folder.
    let in_folder = [before, &[file.as_str()]].concat().join("/");
    if before.is_empty() { vec![file] } else { vec![in_folder, file] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BaseUrl;
    use crate::plan::Generator;

    fn plan(sources: &[&str], patterns: &[&str]) -> BuildPlan {
        let base = BaseUrl::parse("https://h.example/").unwrap();
        let now = Timestamp::from_unix_seconds(0).unwrap();
        let sources = sources.iter().map(|name| (*name).to_owned()).collect();
        BuildPlan {
            generator: Some(Generator { name: "x".to_owned(), root: None, sources }),
            git_sources: patterns.iter().map(|pattern| (*pattern).to_owned()).collect(),
            ..BuildPlan::new("site".into(), "state".into(), base, now)
        }
    }

    #[test]
    fn finds_sources_by_the_rules_of_generators() {
        for (sources, path, source) in [
            (&["docs"][..], "install/index.html", "docs/install.md"), // MkDocs
            (&["docs"], "index.html", "docs/index.md"),
            (&[".", "source"], "guide/tides.html", "source/guide/tides.rst"), // Sphinx
            (&["docs", "."], "docs/intro/index.html", "docs/01-Intro.mdx"),   // Docusaurus
            (&["docs", "."], "blog/2026/01/02/first/index.html", "blog/2026-01-02-first.md"),
            (&["."], "guide/tides.html", "guide/tides.md"), // VitePress
            (&["src/content/docs"], "api/index.html", "src/content/docs/api/index.mdx"), // Astro
            (&[".", "src"], "a/index.html", "src/a.njk"),   // Eleventy
            (&["content"], "guide/index.html", "content/guide/_index.md"), // Hugo
            (&["content"], "my-page/index.html", "content/My Page.md"),
            (&[".", "_posts"], "news/2026/01/02/first.html", "_posts/2026-01-02-first.md"), // Jekyll
        ] {
            let found = candidates(&plan(sources, &[]), path);
            assert!(found.contains(&slug(source)), "{path}: {source} not in {found:?}");
        }
        let found = candidates(&plan(&[], &["texts/{path}/text.md"]), "a/b/index.html");
        assert_eq!(found.first().map(String::as_str), Some("texts/a/b/text.md"));
    }
}
