//! What was judged, opened once more for the lines of its findings.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::input::Source;

/// An input, and its size where it is known.
pub(crate) type Opened = (Box<dyn Read + Send>, Option<u64>);

/// Knows where the files behind names lie.
#[derive(Default)]
pub(crate) struct Reopen {
    sources: BTreeMap<String, Source>,
    folders: BTreeMap<String, PathBuf>,
}

impl Reopen {
    /// Remembers a file or standard input by its name.
    pub(crate) fn add_source(&mut self, source: Source) {
        self.sources.insert(source.name().to_owned(), source);
    }

    /// Remembers a folder by what it is called in judgements.
    pub(crate) fn add_folder(&mut self, root: &str, folder: &Path) {
        self.folders.insert(root.to_owned(), folder.to_owned());
    }

    /// Opens a file of a folder, or one of its own where `root` is empty; what
    /// never was a file of ours is not found.
    pub(crate) fn open(&self, root: &str, name: &str) -> io::Result<Opened> {
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        if root.is_empty() {
            return self.sources.get(name).ok_or_else(not_found)?.open();
        }
        let folder = self.folders.get(root).ok_or_else(not_found)?;
        let path = Path::new(name);
        // Names may come from foreign addresses; they stay below the folder.
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
    fn ours_a_name_never_leads_out_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("site")).unwrap();
        std::fs::write(folder.path().join("secret"), "s").unwrap();
        std::fs::write(folder.path().join("site/robots.txt"), "r").unwrap();
        let mut reopen = Reopen::default();
        reopen.add_folder("site", &folder.path().join("site"));
        assert!(reopen.open("site", "robots.txt").is_ok());
        assert!(reopen.open("other", "robots.txt").is_err());
        let absolute = folder.path().join("secret");
        for name in ["../secret", "site/../../secret", absolute.to_str().unwrap(), "none", ""] {
            assert!(reopen.open("site", name).is_err(), "{name}");
        }
    }
}
