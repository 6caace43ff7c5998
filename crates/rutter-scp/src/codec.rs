//! Compression: undone by what the bytes are, done so that bytes never vary.
//!
//! Decoding goes by magic numbers, reads through several gzip members and zstd
//! frames, and undoes at most two layers. Every layer's output is gauged
//! against the bytes taken in, so that no layer can hide a bomb from the next.
//!
//! Refuses: names as evidence, dictionaries, windows and ratios beyond
//! [`Limits`](crate::Limits), bytes after the last member or frame.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Cursor, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rutter_finding::{Place, Refusal, Rule};

use crate::error::ReadError;
use crate::limits::Limits;
use crate::rules;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coding {
    /// Not at all: `.scp`.
    Plain,
    /// gzip: `.scp.gz`.
    Gzip,
    /// zstd: `.scp.zst`.
    Zstd,
}

impl Coding {
    /// The coding a file name promises; `None` for any other ending.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        [(".scp.gz", Self::Gzip), (".scp.zst", Self::Zstd), (".scp", Self::Plain)]
            .into_iter()
            .find_map(|(ending, coding)| name.ends_with(ending).then_some(coding))
    }

    /// Its name in `scp:compression` and `Content-Encoding`; `None` for plain.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }

    /// The level that is worth its time.
    pub fn usual_level(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Gzip => 6,
            Self::Zstd => 9,
        }
    }

    /// The highest level that keeps the window within 8 MiB.
    pub fn highest_level(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Gzip => 9,
            Self::Zstd => 19,
        }
    }

    fn of_magic(start: &[u8]) -> Self {
        // Skippable frames (0x184D2A5?) also begin a zstd stream.
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// What the layers of one input share: how much went in, and why it stopped.
#[derive(Debug)]
pub(crate) struct Intake {
    taken: AtomicU64,
    total: Option<u64>,
    limits: Limits,
    stopped: Mutex<Option<ReadError>>,
}

impl Intake {
    /// Bytes taken from the input so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Remembers why, and gives an error that only means "stop".
    fn stop(&self, why: ReadError) -> io::Error {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.get_or_insert(why);
        io::Error::other("stopped")
    }

    /// What really lies behind an error that came up through the layers.
    pub(crate) fn explain(&self, error: &io::Error) -> ReadError {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner).take();
        stopped.unwrap_or_else(|| refuse(&rules::DECODE_FAILED, error.to_string()).into())
    }

    /// Checks decoded bytes against the ratio; `is_end` makes it exact.
    pub(crate) fn check_ratio(&self, decoded: u64, is_end: bool) -> Result<(), Refusal> {
        let taken = self.taken();
        let coded = if is_end { taken } else { self.total.unwrap_or(taken).max(taken) };
        if Limits::RATIO_FLOOR < decoded && self.limits.ratio.saturating_mul(coded) < decoded {
            let detail =
                format!("{decoded} bytes from {coded}, more than {} to 1", self.limits.ratio);
            return Err(refuse(&rules::RATIO, detail));
        }
        Ok(())
    }
}

fn refuse(rule: &'static Rule, detail: impl Into<String>) -> Refusal {
    Refusal::new(rule, Place::WHOLE, detail)
}

/// Counts what is taken from the input and bounds it.
struct Counted<R> {
    inner: R,
    intake: Arc<Intake>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = match self.inner.read(buf) {
            Ok(n) => n as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => return Err(self.intake.stop(error.into())),
        };
        let taken = self.intake.taken.fetch_add(n, Ordering::Relaxed) + n;
        if self.intake.limits.coded < taken {
            let detail = format!("more than {} bytes", self.intake.limits.coded);
            return Err(self.intake.stop(refuse(&rules::TOO_LARGE, detail).into()));
        }
        Ok(usize::try_from(n).expect("came from a usize"))
    }
}

/// Counts what a layer gives out and bounds it.
struct Gauged<R> {
    inner: R,
    given: u64,
    intake: Arc<Intake>,
}

impl<R: Read> Read for Gauged<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.given += n as u64;
        let limits = &self.intake.limits;
        if limits.decoded < self.given {
            let detail = format!("more than {} bytes decoded", limits.decoded);
            return Err(self.intake.stop(refuse(&rules::TOO_LARGE, detail).into()));
        }
        match self.intake.check_ratio(self.given, false) {
            Ok(()) => Ok(n),
            Err(refusal) => Err(self.intake.stop(refusal.into())),
        }
    }
}

/// Undoes the codings of an input.
pub(crate) struct Decoder {
    text: Box<dyn Read + Send>,
    intake: Arc<Intake>,
    codings: Vec<Coding>,
}

impl Decoder {
    /// Looks at the first bytes and undoes up to two layers.
    ///
    /// `total` is the size of the input where it is known; it makes the ratio
    /// check exact from the start.
    pub(crate) fn open(
        input: impl Read + Send + 'static,
        total: Option<u64>,
        limits: Limits,
    ) -> Result<Self, ReadError> {
        if let Some(total) = total.filter(|total| limits.coded < *total) {
            let detail = format!("{total} bytes, at most {}", limits.coded);
            return Err(refuse(&rules::TOO_LARGE, detail).into());
        }
        let taken = AtomicU64::new(0);
        let intake = Arc::new(Intake { taken, total, limits, stopped: Mutex::new(None) });
        let mut text: Box<dyn Read + Send> =
            Box::new(Counted { inner: input, intake: Arc::clone(&intake) });
        let mut codings = Vec::new();
        loop {
            let (coding, whole) = peek(text, &intake)?;
            text = whole;
            if coding == Coding::Plain {
                return Ok(Self { text, intake, codings });
            }
            if 2 <= codings.len() {
                return Err(refuse(&rules::TOO_MANY_CODINGS, "").into());
            }
            codings.push(coding);
            let layer = undo(coding, text, &limits)?;
            text = Box::new(Gauged { inner: layer, given: 0, intake: Arc::clone(&intake) });
        }
    }

    pub(crate) fn intake(&self) -> &Arc<Intake> {
        &self.intake
    }

    /// The codings that were undone, outermost first.
    pub(crate) fn codings(&self) -> &[Coding] {
        &self.codings
    }
}

impl Read for Decoder {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.text.read(buf)
    }
}

/// The text behind the compression of a file, whatever it is called.
///
/// For whoever wants to show a part of it: limits and the guard against bombs
/// hold as for the [`Reader`](crate::Reader), nothing else is judged.
pub fn decoded(
    input: impl Read + Send + 'static,
    limits: Limits,
) -> Result<impl Read + Send, ReadError> {
    Decoder::open(input, None, limits)
}

/// Looks at the first four bytes and puts them back.
fn peek(
    mut text: Box<dyn Read + Send>,
    intake: &Intake,
) -> Result<(Coding, Box<dyn Read + Send>), ReadError> {
    let mut start = Vec::with_capacity(4);
    let taken = text.by_ref().take(4).read_to_end(&mut start);
    taken.map_err(|error| intake.explain(&error))?;
    let coding = Coding::of_magic(&start);
    Ok((coding, Box::new(Cursor::new(start).chain(text))))
}

fn undo(
    coding: Coding,
    text: Box<dyn Read + Send>,
    limits: &Limits,
) -> Result<Box<dyn Read + Send>, ReadError> {
    let input = BufReader::with_capacity(128 << 10, text);
    Ok(match coding {
        Coding::Plain => Box::new(input),
        // Not `GzDecoder`, which calls the first member the whole file.
        Coding::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
            decoder.window_log_max(limits.window_log)?;
            Box::new(decoder)
        }
    })
}

/// Compresses `size` bytes into one gzip member or one zstd frame.
///
/// Same text, same level, same bytes, whatever the number of threads.
pub(crate) fn encode(
    coding: Coding,
    level: u8,
    size: u64,
    text: &mut dyn Read,
    out: &File,
) -> io::Result<()> {
    encode_with(workers(), coding, level, size, text, out)
}

fn encode_with(
    workers: u32,
    coding: Coding,
    level: u8,
    size: u64,
    text: &mut dyn Read,
    out: &File,
) -> io::Result<()> {
    let out = BufWriter::with_capacity(256 << 10, out);
    let level = level.min(coding.highest_level());
    let mut out = match coding {
        Coding::Plain => {
            let mut out = out;
            copy(text, &mut out)?;
            out
        }
        Coding::Gzip => {
            // 255 says "unknown" for the operating system; no name, no time.
            let mut gzip = flate2::GzBuilder::new()
                .mtime(0)
                .operating_system(255)
                .write(out, flate2::Compression::new(level.into()));
            copy(text, &mut gzip)?;
            gzip.finish()?
        }
        Coding::Zstd => {
            let mut zstd = zstd::stream::write::Encoder::new(out, level.into())?;
            // With workers the bytes do not depend on how many there are;
            // without, they differ.
            zstd.multithread(workers)?;
            // Jobs of 4 MiB halve the memory for half a per cent of size.
            zstd.set_parameter(zstd::zstd_safe::CParameter::JobSize(4 << 20))?;
            zstd.include_checksum(true)?;
            zstd.include_contentsize(true)?;
            zstd.set_pledged_src_size(Some(size))?;
            copy(text, &mut zstd)?;
            zstd.finish()?
        }
    };
    out.flush()
}

fn workers() -> u32 {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    if 1 < n_cores { 2 } else { 1 }
}

fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(buffer.get(..n).unwrap_or_default())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D08
    fn ours_the_number_of_workers_does_not_change_the_bytes() {
        // Several jobs of 4 MiB, neither empty nor noise.
        let text: Vec<u8> =
            (0..900_000_u64).flat_map(|n| (n * n % 999_983 * 77).to_le_bytes()).collect();
        let coded = |workers| {
            let out = tempfile::NamedTempFile::new().unwrap();
            let (size, mut text) = (text.len() as u64, text.as_slice());
            encode_with(workers, Coding::Zstd, 3, size, &mut text, out.as_file()).unwrap();
            std::fs::read(out.path()).unwrap()
        };
        let one = coded(1);
        assert_eq!(zstd::stream::decode_all(one.as_slice()).unwrap(), text);
        assert!(one == coded(2) && one == coded(3), "the bytes differ");
    }
}
