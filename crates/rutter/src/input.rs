//! Input files and standard input that can be opened more than once.
//!
//! Standard input and pipes are copied to a temporary file, up to the size limit of the
//! specification. Large files show a progress bar while they are read.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use rutter_scp::Limits;

use crate::commands::reject_second_stdin;

/// Minimum size in bytes of a file that is read with a progress bar.
const MIN_SIZE_FOR_PROGRESS: u64 = 16 << 20;

/// An input file, with the name that the user gave it.
pub(crate) struct InputFile {
    name: String,
    location: InputBytes,
}

enum InputBytes {
    File(PathBuf),
    /// Standard input or a pipe, copied to an unnamed temporary file, so that it has a size and can
    /// be read again.
    Spool(Arc<File>),
}

impl InputFile {
    /// Opens a path, or standard input for `-`.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Self::spooled("<stdin>".to_owned(), io::stdin().lock());
        }
        let name = path.display().to_string();
        let metadata = path.metadata().with_context(|| name.clone())?;
        anyhow::ensure!(!metadata.is_dir(), "{name} is a folder, expected a file");
        if !metadata.is_file() {
            // A pipe can be read only once.
            let pipe = File::open(path).with_context(|| name.clone())?;
            return Self::spooled(name, pipe);
        }
        Ok(Self { name, location: InputBytes::File(path.to_owned()) })
    }

    /// Copies a stream that can be read only once, up to the size limit of the specification.
    fn spooled(name: String, input: impl Read) -> anyhow::Result<Self> {
        let mut spool = tempfile::tempfile().context("cannot create a temporary file")?;
        let most = Limits::SPEC.coded;
        let copied = io::copy(&mut input.take(most + 1), &mut spool);
        let copied = copied.with_context(|| format!("cannot read {name}"))?;
        anyhow::ensure!(copied <= most, "{name} has more than {most} bytes");
        Ok(Self { name, location: InputBytes::Spool(Arc::new(spool)) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Opens the input from its start, with a progress bar if it is large and stderr is a terminal.
    pub(crate) fn open(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        let (input, size): (Box<dyn Read + Send>, u64) = match &self.location {
            InputBytes::File(path) => {
                let file = File::open(path)?;
                let size = file.metadata()?.len();
                (Box::new(file), size)
            }
            InputBytes::Spool(spool) => {
                let size = spool.metadata()?.len();
                (Box::new(SharedFileReader { file: Arc::clone(spool), at: 0 }), size)
            }
        };
        if size <= MIN_SIZE_FOR_PROGRESS || !io::stderr().is_terminal() {
            return Ok((input, Some(size)));
        }
        let bar = bar(size, self.name.clone());
        Ok((Box::new(ProgressReader { input, bar }), Some(size)))
    }
}

/// Reads a shared file from the reader's own position.
struct SharedFileReader {
    file: Arc<File>,
    at: u64,
}

impl Read for SharedFileReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(&*self.file, buf, self.at)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(&*self.file, buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// An input with a progress bar.
struct ProgressReader {
    input: Box<dyn Read + Send>,
    bar: ProgressBar,
}

impl Read for ProgressReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(buf)?;
        self.bar.inc(n as u64);
        Ok(n)
    }
}

impl Drop for ProgressReader {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn bar(size: u64, name: String) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
        .expect("the template is fixed");
    ProgressBar::new(size).with_style(style).with_message(name)
}

/// Opens all paths, in order. Rejects more than one `-`.
pub(crate) fn sources(paths: &[PathBuf]) -> anyhow::Result<Vec<InputFile>> {
    reject_second_stdin(paths)?;
    paths.iter().map(|path| InputFile::new(path)).collect()
}
