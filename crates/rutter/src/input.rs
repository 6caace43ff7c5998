//! Files and standard input, as things that can be opened again.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use tempfile::NamedTempFile;

/// Files below this size are read before anybody could watch.
const WATCHED_FROM: u64 = 16 << 20;

/// An input by the name the user gave it.
pub(crate) struct Source {
    name: String,
    place: Place,
}

enum Place {
    File(PathBuf),
    /// Standard input, kept on disk: it has a size then, and a second reading
    /// is possible.
    Spool(NamedTempFile),
}

impl Source {
    /// Takes a path, or standard input for `-`.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            let mut spool = NamedTempFile::new().context("cannot make a temporary file")?;
            io::copy(&mut io::stdin().lock(), &mut spool).context("cannot read standard input")?;
            return Ok(Self { name: "<stdin>".to_owned(), place: Place::Spool(spool) });
        }
        let name = path.display().to_string();
        let metadata = path.metadata().with_context(|| name.clone())?;
        anyhow::ensure!(!metadata.is_dir(), "{name}: is a folder, wanted a file");
        Ok(Self { name, place: Place::File(path.to_owned()) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Opens it from its beginning, with a progress bar where one is of use.
    pub(crate) fn open(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        let file = match &self.place {
            Place::File(path) => File::open(path)?,
            Place::Spool(spool) => spool.reopen()?,
        };
        let metadata = file.metadata()?;
        // A pipe given by name has no size.
        let size = metadata.is_file().then_some(metadata.len());
        match size {
            Some(size) if WATCHED_FROM < size && io::stderr().is_terminal() => {
                let bar = bar(size, self.name.clone());
                Ok((Box::new(Watched { file, bar }), Some(size)))
            }
            _ => Ok((Box::new(file), size)),
        }
    }
}

/// A file whose reading is shown.
struct Watched {
    file: File,
    bar: ProgressBar,
}

impl Read for Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buf)?;
        self.bar.inc(n as u64);
        Ok(n)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn bar(size: u64, name: String) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
        .expect("the template is fixed");
    ProgressBar::new(size).with_style(style).with_message(name)
}

/// Takes all paths, in order.
pub(crate) fn sources(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    paths.iter().map(|path| Source::new(path)).collect()
}
