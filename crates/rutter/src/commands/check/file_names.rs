//! Names of checked files: a report has paths from the current folder, a baseline has paths from
//! the folder of the baseline.
//!
//! CI annotations and code scanners expect paths in the repository, so a report shortens the path
//! of a checked folder to its path from the current folder.

use std::path::Path;

use crate::config::real;

/// Returns the name of a folder in reports: its path from the current folder, `.` for the current
/// folder, and the given path for a folder outside it.
pub(crate) fn root_of(folder: &Path) -> String {
    let below = std::env::current_dir().ok().and_then(|here| below(&here, folder));
    let given = || {
        let text = folder.display().to_string();
        let plain = text.trim_end_matches('/');
        if plain.is_empty() { text } else { plain.to_owned() }
    };
    below.unwrap_or_else(given)
}

/// Returns the name that a reported file has in a baseline: the path from the folder of the
/// baseline. URLs, standard input and files outside that folder keep their names.
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

/// Returns the path of a file relative to a folder that contains it.
fn below(folder: &Path, path: &Path) -> Option<String> {
    let (folder, path) = (real(folder), real(path));
    let inner = path.strip_prefix(folder).ok()?.to_str()?.replace('\\', "/");
    Some(if inner.is_empty() { ".".to_owned() } else { inner })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_is_relative_to_the_baseline() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("site/public")).unwrap();
        let file = dir.path().join("site/public/a.html");
        let file = file.to_str().unwrap();
        let seen = |baseline: &str| seen_from(&dir.path().join(baseline), file);
        assert_eq!(seen("known.json"), "site/public/a.html");
        assert_eq!(seen("site/known.json"), "public/a.html");
        assert_eq!(seen("site/public/known.json"), "a.html");
        // The file is outside the folder of the baseline.
        assert_eq!(seen("ci/known.json"), file);
        let address = "https://a.example/b";
        assert_eq!(seen_from(Path::new("known.json"), address), address);
        assert_eq!(seen_from(Path::new("known.json"), "<stdin>"), "<stdin>");
        assert_eq!(seen_from(Path::new("known.json"), "src/main.rs"), "src/main.rs");
    }

    #[test]
    fn folder_name_is_relative_to_the_current_folder() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(root_of(&here), ".");
        assert_eq!(root_of(Path::new("./src/")), "src");
        assert_eq!(root_of(&here.join("src/../src")), "src");
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(root_of(dir.path()), dir.path().display().to_string());
    }
}
