//! Opens checked files again, to read the lines that findings refer to.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::input::InputFile;

/// An open input, with its size if it is known.
pub(crate) type OpenInput = (Box<dyn Read + Send>, Option<u64>);

/// The checked files and folders, by their names in the file reports.
#[derive(Default)]
pub(crate) struct CheckedFiles {
    sources: BTreeMap<String, InputFile>,
    folders: BTreeMap<String, PathBuf>,
}

impl CheckedFiles {
    /// Adds a file or standard input.
    pub(crate) fn add_source(&mut self, source: InputFile) {
        self.sources.insert(source.name().to_owned(), source);
    }

    /// Adds a folder under its name in the file reports.
    pub(crate) fn add_folder(&mut self, root: &str, folder: &Path) {
        self.folders.insert(root.to_owned(), folder.to_owned());
    }

    /// Opens a file of the folder `root`, or a single file if `root` is empty. Opening a name that
    /// was not added fails with `NotFound`.
    pub(crate) fn open(&self, root: &str, name: &str) -> io::Result<OpenInput> {
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        if root.is_empty() {
            return self.sources.get(name).ok_or_else(not_found)?.open();
        }
        let folder = self.folders.get(root).ok_or_else(not_found)?;
        let path = Path::new(name);
        // Names may come from foreign URLs: reject paths that leave the folder.
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        let path = folder.join(path);
        if !is_below || !path.is_file() {
            return Err(not_found());
        }
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok((Box::new(file), Some(size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_names_outside_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("site")).unwrap();
        std::fs::write(folder.path().join("secret"), "s").unwrap();
        std::fs::write(folder.path().join("site/robots.txt"), "r").unwrap();
        let mut reopen = CheckedFiles::default();
        reopen.add_folder("site", &folder.path().join("site"));
        assert!(reopen.open("site", "robots.txt").is_ok());
        assert!(reopen.open("other", "robots.txt").is_err());
        let absolute = folder.path().join("secret");
        for name in ["../secret", "site/../../secret", absolute.to_str().unwrap(), "none", ""] {
            assert!(reopen.open("site", name).is_err(), "{name}");
        }
    }
}
