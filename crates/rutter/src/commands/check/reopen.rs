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
    folders: Vec<PathBuf>,
}

impl Reopen {
    /// Remembers a file or standard input by its name.
    pub(crate) fn add_source(&mut self, source: Source) {
        self.sources.insert(source.name().to_owned(), source);
    }

    /// Remembers a folder: names that are no sources are looked for in it.
    pub(crate) fn add_folder(&mut self, folder: &Path) {
        self.folders.push(folder.to_owned());
    }

    /// Opens what has this name; what never was a file of ours is not found.
    pub(crate) fn open(&self, name: &str) -> io::Result<Opened> {
        if let Some(source) = self.sources.get(name) {
            return source.open();
        }
        let path = Path::new(name);
        // Names may come from foreign addresses; they stay below the folder.
        if path.components().all(|part| matches!(part, Component::Normal(_))) {
            for folder in &self.folders {
                let path = folder.join(path);
                if path.is_file() {
                    let file = File::open(path)?;
                    let size = file.metadata()?.len();
                    return Ok((Box::new(file), Some(size)));
                }
            }
        }
        Err(io::ErrorKind::NotFound.into())
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
        reopen.add_folder(&folder.path().join("site"));
        assert!(reopen.open("robots.txt").is_ok());
        let absolute = folder.path().join("secret");
        for name in ["../secret", "site/../../secret", absolute.to_str().unwrap(), "none", ""] {
            assert!(reopen.open(name).is_err(), "{name}");
        }
    }
}
