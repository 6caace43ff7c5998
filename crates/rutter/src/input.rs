//! Files and standard input, as things that can be opened again.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use rutter_scp::Limits;

use crate::commands::one_stdin;

/// Files below this size are read before anybody could watch.
const WATCHED_FROM: u64 = 16 << 20;

/// An input by the name the user gave it.
pub(crate) struct Source {
    name: String,
    place: Place,
}

enum Place {
    File(PathBuf),
    /// Standard input or a pipe, kept in a file without a name: it has a size
    /// then, a second reading is possible, and nothing is left behind.
    Spool(Arc<File>),
}

impl Source {
    /// Takes a path, or standard input for `-`.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Self::spooled("<stdin>".to_owned(), io::stdin().lock());
        }
        let name = path.display().to_string();
        let metadata = path.metadata().with_context(|| name.clone())?;
        anyhow::ensure!(!metadata.is_dir(), "{name}: is a folder, wanted a file");
        if !metadata.is_file() {
            // A pipe can be read only once.
            let pipe = File::open(path).with_context(|| name.clone())?;
            return Self::spooled(name, pipe);
        }
        Ok(Self { name, place: Place::File(path.to_owned()) })
    }

    /// Copies what can be read only once, up to the limit of the specification.
    fn spooled(name: String, input: impl Read) -> anyhow::Result<Self> {
        let mut spool = tempfile::tempfile().context("cannot make a temporary file")?;
        let most = Limits::SPEC.coded;
        let copied = io::copy(&mut input.take(most + 1), &mut spool);
        let copied = copied.with_context(|| format!("cannot read {name}"))?;
        anyhow::ensure!(copied <= most, "{name}: more than {most} bytes");
        Ok(Self { name, place: Place::Spool(Arc::new(spool)) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Opens it from its beginning, with a progress bar where one is of use.
    pub(crate) fn open(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        let (input, size): (Box<dyn Read + Send>, u64) = match &self.place {
            Place::File(path) => {
                let file = File::open(path)?;
                let size = file.metadata()?.len();
                (Box::new(file), size)
            }
            Place::Spool(spool) => {
                let size = spool.metadata()?.len();
                (Box::new(ByPosition { file: Arc::clone(spool), at: 0 }), size)
            }
        };
        if size <= WATCHED_FROM || !io::stderr().is_terminal() {
            return Ok((input, Some(size)));
        }
        let bar = bar(size, self.name.clone());
        Ok((Box::new(Watched { input, bar }), Some(size)))
    }
}

/// Reads a file that others read too, each from its own place.
struct ByPosition {
    file: Arc<File>,
    at: u64,
}

impl Read for ByPosition {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(&*self.file, buf, self.at)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(&*self.file, buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// An input whose reading is shown.
struct Watched {
    input: Box<dyn Read + Send>,
    bar: ProgressBar,
}

impl Read for Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(buf)?;
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
    one_stdin(paths)?;
    paths.iter().map(|path| Source::new(path)).collect()
}
