//! Produces the entries of a response in chunks, as an ARC sitemap.

use std::io::{self, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rutter_arc::{JsonWriter, SitemapHeader};
use rutter_page::{CowStr, RawJson, Timestamp, UnknownMember};

use crate::partner::store::{EntryRange, PrivateStore, StoreLine};
use crate::respond::body::chunks::ChunkProducer;

/// Number of bytes after which a chunk is sent. A chunk contains at least one line.
const PIECE: usize = 32 << 10;

/// Which members the entries of a response have, according to the scope of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryContent {
    Without,
    /// Entries have their page as `scp_page`.
    With,
}

/// Bytes of the response that were written and not sent yet.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Produces the entries of a response.
pub(super) struct EntryStream {
    store: PrivateStore,
    /// Lines left to send.
    n_left: usize,
    content: EntryContent,
    written: SharedBuffer,
    /// `None` when everything is written.
    writer: Option<JsonWriter<SharedBuffer>>,
}

impl EntryStream {
    pub(super) fn start(
        mut store: PrivateStore,
        span: &EntryRange,
        (base, next): (&str, Option<&str>),
        content: EntryContent,
    ) -> io::Result<Self> {
        let made = Timestamp::from_unix_seconds(store.identity.modified_seconds());
        let mut head = SitemapHeader::new(
            base,
            made.ok_or_else(|| {
                io::Error::other("the modification time is outside the supported range")
            })?,
        );
        if let Some(next) = next {
            let value = RawJson::parse(&serde_json::to_string(next)?).map_err(io::Error::other)?;
            head.extra.push(UnknownMember { key: CowStr::borrowed("next"), value });
        }
        let written = SharedBuffer::default();
        let writer = Some(JsonWriter::new(written.clone(), &head)?);
        store.input.seek(SeekFrom::Start(span.from))?;
        Ok(Self { store, n_left: span.n_lines, content, written, writer })
    }

    fn write_line(&mut self, writer: &mut JsonWriter<SharedBuffer>) -> io::Result<()> {
        let line = self.store.line()?.ok_or_else(written_to)?;
        let line: StoreLine<'_> = serde_json::from_slice(line)?;
        match line.page.filter(|page| self.content == EntryContent::With && page.get() != "null") {
            Some(page) => writer.push_json(&with_page(line.entry.get(), page.get())),
            None => writer.push_json(line.entry.get()),
        }
    }
}

impl ChunkProducer for EntryStream {
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        if let Some(mut writer) = self.writer.take() {
            while 0 < self.n_left && self.written.len() < PIECE {
                self.write_line(&mut writer)?;
                self.n_left -= 1;
            }
            if 0 < self.n_left {
                self.writer = Some(writer);
            } else if self.store.is_unwritten()? {
                writer.finish()?;
            } else {
                // The error tells the client that the response is incomplete.
                return Err(written_to());
            }
        }
        let piece = self.written.take();
        Ok((!piece.is_empty()).then(|| Bytes::from(piece)))
    }
}

fn written_to() -> io::Error {
    io::Error::other("the private store was modified")
}

/// Adds the page to its entry as the member `scp_page`.
fn with_page(entry: &str, page: &str) -> String {
    let body = entry.trim_end().strip_suffix('}').unwrap_or(entry);
    let comma = if body.trim_end().ends_with('{') { "" } else { "," };
    format!("{body}{comma}\"scp_page\":{page}}}")
}
