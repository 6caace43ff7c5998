//! What files are called: from where the command was started in reports, from
//! where the baseline lies in a baseline.
//!
//! Annotations and code scanners look for a path of the repository, so a
//! folder that was given by a long way around is called by its short one.

use std::path::Path;

use crate::config::real;

/// What a folder is called in reports: its path from the current folder, `.`
/// for that folder itself; one that lies elsewhere as it was given.
pub(crate) fn root_of(folder: &Path) -> String {
    let below = std::env::current_dir().ok().and_then(|here| below(&here, folder));
    let given = || {
        let text = folder.display().to_string();
        let plain = text.trim_end_matches('/');
        if plain.is_empty() { text } else { plain.to_owned() }
    };
    below.unwrap_or_else(given)
}

/// What a file of a report is called in a baseline. An address and standard
/// input have no place on the disk; a file that does not lie beside or below
/// the baseline is called as in the report.
pub(crate) fn seen_from(baseline: &Path, file: &str) -> String {
    if file.contains("://") || file.starts_with('<') {
        return file.to_owned();
    }
    let folder = match baseline.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    below(folder, Path::new(file)).unwrap_or_else(|| file.to_owned())
}

/// The way from a folder to what lies in it.
fn below(folder: &Path, path: &Path) -> Option<String> {
    let (folder, path) = (real(folder), real(path));
    let inner = path.strip_prefix(folder).ok()?.to_str()?.replace('\\', "/");
    Some(if inner.is_empty() { ".".to_owned() } else { inner })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_a_file_is_called_by_its_way_from_the_baseline() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("site/public")).unwrap();
        let file = dir.path().join("site/public/a.html");
        let file = file.to_str().unwrap();
        let seen = |baseline: &str| seen_from(&dir.path().join(baseline), file);
        assert_eq!(seen("known.json"), "site/public/a.html");
        assert_eq!(seen("site/known.json"), "public/a.html");
        assert_eq!(seen("site/public/known.json"), "a.html");
        // It lies elsewhere.
        assert_eq!(seen("ci/known.json"), file);
        let address = "https://a.example/b";
        assert_eq!(seen_from(Path::new("known.json"), address), address);
        assert_eq!(seen_from(Path::new("known.json"), "<stdin>"), "<stdin>");
        assert_eq!(seen_from(Path::new("known.json"), "src/main.rs"), "src/main.rs");
    }

    #[test]
    fn ours_a_folder_is_called_by_its_way_from_here() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(root_of(&here), ".");
        assert_eq!(root_of(Path::new("./src/")), "src");
        assert_eq!(root_of(&here.join("src/../src")), "src");
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(root_of(dir.path()), dir.path().display().to_string());
    }
}
