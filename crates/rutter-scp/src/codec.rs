//! Compression: detected by content when reading, deterministic when writing.
//!
//! Decoding detects gzip and zstd by magic numbers, reads all gzip members and zstd frames, and
//! removes at most two layers. The output size of every layer is compared with the number of bytes
//! read from the file, so a decompression bomb inside an outer layer is detected too.
//!
//! Rejects dictionaries, windows and ratios over [`Limits`](crate::Limits), and bytes after the
//! last member or frame. File names are not used for detection.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Cursor, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rutter_finding::{Place, Refusal, Rule};

use crate::error::ReadError;
use crate::limits::Limits;
use crate::rules;

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coding {
    /// No compression: `.scp`.
    Plain,
    /// gzip: `.scp.gz`.
    Gzip,
    /// zstd: `.scp.zst`.
    Zstd,
}

impl Coding {
    /// Returns the coding that a file name implies; `None` for an unknown extension.
    pub fn from_file_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        [(".scp.gz", Self::Gzip), (".scp.zst", Self::Zstd), (".scp", Self::Plain)]
            .into_iter()
            .find_map(|(ending, coding)| name.ends_with(ending).then_some(coding))
    }

    /// Returns the name in `scp:compression` and `Content-Encoding`; `None` for plain.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }

    /// Returns the default compression level.
    pub fn default_level(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Gzip => 6,
            Self::Zstd => 9,
        }
    }

    /// Returns the highest level whose window fits into 8 MiB.
    pub fn max_level(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Gzip => 9,
            Self::Zstd => 19,
        }
    }

    fn of_magic(start: &[u8]) -> Self {
        // A zstd stream may also begin with a skippable frame (0x184D2A5?).
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// State shared by the layers of one input: bytes read, limits, and the first error.
#[derive(Debug)]
pub(crate) struct InputMeter {
    taken: AtomicU64,
    total: Option<u64>,
    limits: Limits,
    stopped: Mutex<Option<ReadError>>,
}

impl InputMeter {
    /// Returns the number of bytes read from the input so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Stores `why` as the first error and returns an I/O error that makes all layers stop.
    fn stop(&self, why: ReadError) -> io::Error {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.get_or_insert(why);
        io::Error::other("stopped")
    }

    /// Returns the original error behind an error that passed through the layers.
    pub(crate) fn explain(&self, error: &io::Error) -> ReadError {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner).take();
        stopped.unwrap_or_else(|| refuse(&rules::DECODE_FAILED, error.to_string()).into())
    }

    /// Rejects `decoded` bytes that exceed the ratio limit. With `is_end`, the check is exact.
    pub(crate) fn check_ratio(&self, decoded: u64, is_end: bool) -> Result<(), Refusal> {
        let taken = self.taken();
        let coded = if is_end { taken } else { self.total.unwrap_or(taken).max(taken) };
        if Limits::RATIO_FLOOR < decoded && self.limits.ratio.saturating_mul(coded) < decoded {
            let detail = format!(
                "{decoded} bytes decoded from {coded}, more than {} to 1",
                self.limits.ratio
            );
            return Err(refuse(&rules::RATIO, detail));
        }
        Ok(())
    }
}

fn refuse(rule: &'static Rule, detail: impl Into<String>) -> Refusal {
    Refusal::new(rule, Place::WHOLE, detail)
}

/// Counts and limits the bytes read from the input.
struct MeteredInput<R> {
    inner: R,
    meter: Arc<InputMeter>,
}

impl<R: Read> Read for MeteredInput<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = match self.inner.read(buf) {
            Ok(n) => n as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => return Err(self.meter.stop(error.into())),
        };
        let taken = self.meter.taken.fetch_add(n, Ordering::Relaxed) + n;
        if self.meter.limits.coded < taken {
            let detail = format!("the file has more than {} bytes", self.meter.limits.coded);
            return Err(self.meter.stop(refuse(&rules::TOO_LARGE, detail).into()));
        }
        Ok(usize::try_from(n).expect("came from a usize"))
    }
}

/// Counts and limits the bytes that one layer produces.
struct MeteredLayer<R> {
    inner: R,
    given: u64,
    meter: Arc<InputMeter>,
}

impl<R: Read> Read for MeteredLayer<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.given += n as u64;
        let limits = &self.meter.limits;
        if limits.decoded < self.given {
            let detail = format!("the text has more than {} bytes", limits.decoded);
            return Err(self.meter.stop(refuse(&rules::TOO_LARGE, detail).into()));
        }
        match self.meter.check_ratio(self.given, false) {
            Ok(()) => Ok(n),
            Err(refusal) => Err(self.meter.stop(refusal.into())),
        }
    }
}

/// Decompresses an input with up to two layers of compression.
pub(crate) struct Decoder {
    text: Box<dyn Read + Send>,
    meter: Arc<InputMeter>,
    codings: Vec<Coding>,
}

impl Decoder {
    /// Creates a decoder that detects and removes up to two layers of compression.
    ///
    /// `total` is the size of the input, if known. If it is known, the check of the compression
    /// ratio is exact from the first byte.
    pub(crate) fn open(
        input: impl Read + Send + 'static,
        total: Option<u64>,
        limits: Limits,
    ) -> Result<Self, ReadError> {
        if let Some(total) = total.filter(|total| limits.coded < *total) {
            let detail = format!("the file has {total} bytes, the limit is {}", limits.coded);
            return Err(refuse(&rules::TOO_LARGE, detail).into());
        }
        let taken = AtomicU64::new(0);
        let meter = Arc::new(InputMeter { taken, total, limits, stopped: Mutex::new(None) });
        let mut text: Box<dyn Read + Send> =
            Box::new(MeteredInput { inner: input, meter: Arc::clone(&meter) });
        let mut codings = Vec::new();
        loop {
            let (coding, whole) = peek(text, &meter)?;
            text = whole;
            if coding == Coding::Plain {
                return Ok(Self { text, meter, codings });
            }
            if 2 <= codings.len() {
                return Err(refuse(&rules::TOO_MANY_CODINGS, "").into());
            }
            codings.push(coding);
            let layer = undo(coding, text, &limits)?;
            text = Box::new(MeteredLayer { inner: layer, given: 0, meter: Arc::clone(&meter) });
        }
    }

    pub(crate) fn meter(&self) -> &Arc<InputMeter> {
        &self.meter
    }

    /// Returns the codings that were removed, outermost first.
    pub(crate) fn codings(&self) -> &[Coding] {
        &self.codings
    }
}

impl Read for Decoder {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.text.read(buf)
    }
}

/// Returns the decoded text of a file; the coding is detected by content.
///
/// Limits and the bomb check apply as for [`CollectionReader`](crate::CollectionReader). Nothing
/// else is checked.
pub fn decoded(
    input: impl Read + Send + 'static,
    limits: Limits,
) -> Result<impl Read + Send, ReadError> {
    Decoder::open(input, None, limits)
}

/// Detects the coding by the first four bytes and returns a reader that still yields them.
fn peek(
    mut text: Box<dyn Read + Send>,
    meter: &InputMeter,
) -> Result<(Coding, Box<dyn Read + Send>), ReadError> {
    let mut start = Vec::with_capacity(4);
    let taken = text.by_ref().take(4).read_to_end(&mut start);
    taken.map_err(|error| meter.explain(&error))?;
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
        // `GzDecoder` would stop after the first member.
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
/// The same text and level give the same bytes, independent of the number of threads.
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
    let level = level.min(coding.max_level());
    let mut out = match coding {
        Coding::Plain => {
            let mut out = out;
            copy(text, &mut out)?;
            out
        }
        Coding::Gzip => {
            // 255 means "unknown operating system". The header has no name and no time.
            let mut gzip = flate2::GzBuilder::new()
                .mtime(0)
                .operating_system(255)
                .write(out, flate2::Compression::new(level.into()));
            copy(text, &mut gzip)?;
            gzip.finish()?
        }
        Coding::Zstd => {
            let mut zstd = zstd::stream::write::Encoder::new(out, level.into())?;
            // With worker threads the bytes are independent of their number, but they differ from
            // the bytes without workers.
            zstd.multithread(workers)?;
            // Jobs of 4 MiB halve the memory and cost half a per cent in size.
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
    fn number_of_workers_does_not_change_the_bytes() {
        // Several jobs of 4 MiB, moderately compressible.
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
