//! The partner API, `GET /arc-api/v1/pages` (D57): full entries of restricted pages, for clients
//! with a token.
//!
//! The private store is a file of lines sorted by URL, written by the build outside of the public
//! directory. A binary search finds the first line of a response, and further lines are read when
//! the client has received the lines before them: a response needs memory for one chunk and one
//! line, and no thread waits for the client.
//!
//! - The API is below the path of the site's base URL.
//! - `?url=` returns one entry, `?after=` the entries after a URL, `?limit=` at most this many.
//!   `next` and a `Link` field point to the rest.
//! - Scope `entries` returns entries, scope `content` adds their `scp_page`.
//! - A line longer than [`Limits::line`](crate::Limits) is skipped.
//! - Responses have `Cache-Control: private, no-cache` and an `ETag`: a client may store a response
//!   and revalidate it; shared caches may not store it.
//!
//! Rejects: requests without a token, unknown parameters, and responses that would mix two versions
//! of the file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, LAST_MODIFIED, LINK, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use rutter_arc::{JsonWriter, SitemapHeader};
use rutter_page::{CowStr, LineDigest, RawJson, Timestamp, UnknownMember};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::admission::token::Scope;
use crate::resolve::root_dir::{Identity, is_absent};
use crate::respond::body::{Body, ChunkProducer};
use crate::respond::condition::{self, ConditionOutcome, CurrentVersion};
use crate::respond::date;
use crate::respond::refusal::Refusal;
use crate::respond::representation::PRIVATE;
use crate::site::{RequestClient, Site, now};

/// Path of the API.
pub(crate) const PATH: &str = "/arc-api/v1/pages";

/// Default number of entries in a response.
const DEFAULT_ENTRIES: usize = 100;

/// Number of bytes after which a chunk is sent. A chunk contains at least one line.
const PIECE: usize = 32 << 10;

/// The parsed query.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ApiQuery {
    One(String),
    /// Entries after a URL, or from the first on.
    Some {
        after: Option<String>,
        limit: usize,
    },
}

/// A line of the store.
#[derive(Deserialize)]
struct StoreLine<'l> {
    #[serde(borrow)]
    url: Cow<'l, str>,
    #[serde(borrow)]
    entry: &'l RawValue,
    #[serde(borrow, default)]
    page: Option<&'l RawValue>,
}

/// Handles a request below `/arc-api/`.
pub(crate) async fn answer(site: &Site, parts: &Parts, client: &RequestClient) -> Response<Body> {
    match try_answer(site, parts, client).await {
        Ok(response) => response,
        Err(refusal) => refusal.answer_json(),
    }
}

async fn try_answer(
    site: &Site,
    parts: &Parts,
    client: &RequestClient,
) -> Result<Response<Body>, Refusal> {
    if site.api_path(parts.uri.path()) != Some(PATH) || !site.has_tokens() {
        return Err(Refusal::Missing);
    }
    let grant = match &client.grant {
        Some(grant) => grant,
        None if client.has_bad_token => return Err(Refusal::BadToken),
        None => return Err(Refusal::Token),
    };
    if !grant.allows(Scope::Entries) {
        return Err(Refusal::Scope(Scope::Entries));
    }
    let most = site.0.settings.limits.entries;
    let wanted = read_query(parts.uri.query().unwrap_or_default(), most)?;
    let with_content = grant.allows(Scope::Content);
    let (site, parts) = (site.clone(), parts.clone());
    // Limit the threads of the API, so that other threads remain for pages.
    let turn = Arc::clone(&site.0.api).acquire_owned().await;
    let work = move || {
        let response = prepare(&site, &parts, &wanted, with_content);
        drop(turn);
        response
    };
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Refusal::Internal))
}

/// Parses the query: `url`, or `after` and `limit`.
fn read_query(query: &str, most: usize) -> Result<ApiQuery, Refusal> {
    let (mut url, mut after, mut limit) = (None, None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let place = match key {
            "url" => &mut url,
            "after" => &mut after,
            "limit" => &mut limit,
            _ => return Err(Refusal::Parameter("unknown parameter; expected url, after or limit")),
        };
        let value = unescaped(value).ok_or(Refusal::Parameter("a parameter is not UTF-8"))?;
        if place.replace(value).is_some() {
            return Err(Refusal::Parameter("a parameter is given twice"));
        }
    }
    let limit = match limit {
        Some(limit) => match limit.parse::<usize>() {
            Ok(limit) if 0 < limit => limit.min(most),
            _ => return Err(Refusal::Parameter("limit must be a number above 0")),
        },
        None => DEFAULT_ENTRIES.min(most),
    };
    match (url, after) {
        (Some(_), Some(_)) => Err(Refusal::Parameter("url and after cannot be combined")),
        (Some(url), None) => Ok(ApiQuery::One(url)),
        (None, after) => Ok(ApiQuery::Some { after, limit }),
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high << 4 | low).ok()?
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    out
}

/// Finds the requested entries and starts the response.
fn prepare(
    site: &Site,
    parts: &Parts,
    wanted: &ApiQuery,
    with_content: bool,
) -> Result<Response<Body>, Refusal> {
    let state = site.0.settings.state.as_deref().ok_or(Refusal::Missing)?;
    let mut store =
        PrivateStore::open(&state.join("private/pages.jsonl"), site.0.settings.limits.line)
            .map_err(
                |error| if is_absent(&error) { Refusal::Missing } else { Refusal::Strained },
            )?;
    let catalog = site.catalog();
    let failed = |_| Refusal::Internal;
    let (from, limit) = match wanted {
        ApiQuery::One(url) => (store.find(url, SearchEdge::At).map_err(failed)?, 1),
        ApiQuery::Some { after: Some(url), limit } => {
            (store.find(url, SearchEdge::Behind).map_err(failed)?, *limit)
        }
        ApiQuery::Some { after: None, limit } => (0, *limit),
    };
    let span = store.span(from, limit).map_err(failed)?;
    if let ApiQuery::One(url) = wanted
        && span.last.as_ref() != Some(url)
    {
        return Err(Refusal::Missing);
    }
    let next = span.last.as_ref().filter(|_| span.has_more && !matches!(wanted, ApiQuery::One(_)));
    let next =
        next.map(|last| format!("{}{PATH}?after={}&limit={limit}", catalog.mount(), escaped(last)));
    let modified = store.identity.modified_seconds();
    // The same file, query and scope give the same bytes.
    let facts = format!("{:?} {wanted:?} {with_content} {}", store.identity, catalog.base);
    let tag = format!("\"api-{}\"", LineDigest::of(facts.as_bytes()));
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(ETAG, &tag);
    put(LAST_MODIFIED, &date::write(modified));
    put(CACHE_CONTROL, PRIVATE);
    put(VARY, "authorization");
    if let Some(next) = &next {
        put(LINK, &format!("<{next}>; rel=\"next\""));
    }
    // The length is unknown, so ranges are not supported.
    let known = CurrentVersion { tag: Some(&tag), modified, length: u64::MAX };
    match condition::evaluate(&parts.headers, &parts.method, known, now()) {
        ConditionOutcome::Current => {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Ok(response);
        }
        ConditionOutcome::Failed => {
            put(CACHE_CONTROL, "no-store");
            *response.status_mut() = StatusCode::PRECONDITION_FAILED;
            return Ok(response);
        }
        ConditionOutcome::Whole | ConditionOutcome::Part(_) | ConditionOutcome::NoRange => {}
    }
    put(CONTENT_TYPE, "application/json");
    put(X_CONTENT_TYPE_OPTIONS, "nosniff");
    if parts.method == Method::HEAD {
        return Ok(response);
    }
    let sending = EntryStream::start(store, &span, (&catalog.base, next.as_deref()), with_content);
    let sending = sending.map_err(failed)?;
    *response.body_mut() = Body::made(Box::new(sending), &site.0.api);
    Ok(response)
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
struct EntryStream {
    store: PrivateStore,
    /// Lines left to send.
    n_left: usize,
    with_content: bool,
    written: SharedBuffer,
    /// `None` when everything is written.
    writer: Option<JsonWriter<SharedBuffer>>,
}

impl EntryStream {
    fn start(
        mut store: PrivateStore,
        span: &EntryRange,
        (base, next): (&str, Option<&str>),
        with_content: bool,
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
        Ok(Self { store, n_left: span.n_lines, with_content, written, writer })
    }

    fn write_line(&mut self, writer: &mut JsonWriter<SharedBuffer>) -> io::Result<()> {
        let line = self.store.line()?.ok_or_else(written_to)?;
        let line: StoreLine<'_> = serde_json::from_slice(line)?;
        match line.page.filter(|page| self.with_content && page.get() != "null") {
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

/// A range of lines of the store.
#[derive(Debug)]
struct EntryRange {
    from: u64,
    n_lines: usize,
    /// URL of the last line.
    last: Option<String>,
    has_more: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchEdge {
    /// The first line at or after a URL.
    At,
    /// The first line after a URL.
    Behind,
}

/// The open private store.
struct PrivateStore {
    input: BufReader<File>,
    identity: Identity,
    longest: usize,
    line: Vec<u8>,
}

impl PrivateStore {
    fn open(path: &Path, longest: usize) -> io::Result<Self> {
        let file = File::open(path)?;
        let identity = Identity::of(&file)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { input: BufReader::new(file), identity, longest, line: Vec::new() })
    }

    /// Reads the next line that is not too long; `None` at the end. An oversized line is skipped.
    fn line(&mut self) -> io::Result<Option<&[u8]>> {
        use io::Read as _;
        let most = self.longest as u64 + 1;
        let n = loop {
            self.line.clear();
            let n = self.input.by_ref().take(most).read_until(b'\n', &mut self.line)?;
            if n <= self.longest {
                break n;
            }
            if !self.line.ends_with(b"\n") {
                self.skip_line()?;
            }
        };
        Ok((0 < n).then(|| self.line.trim_ascii_end()))
    }

    fn url(&mut self) -> io::Result<Option<String>> {
        let Some(line) = self.line()? else { return Ok(None) };
        let line: StoreLine<'_> = serde_json::from_slice(line)?;
        Ok(Some(line.url.into_owned()))
    }

    /// Returns the offset of the first line at or after a URL.
    fn find(&mut self, url: &str, edge: SearchEdge) -> io::Result<u64> {
        let is_before = |found: &str| match edge {
            SearchEdge::At => found < url,
            SearchEdge::Behind => found <= url,
        };
        // Invariant: lines before `low` sort before the URL, lines from `high` on do not.
        let (mut low, mut high) = (0, self.identity.size);
        while low < high {
            let middle = low + (high - low) / 2;
            // The first line that starts at or after the middle.
            let start = if middle == 0 {
                self.input.seek(SeekFrom::Start(0))?;
                0
            } else {
                self.input.seek(SeekFrom::Start(middle - 1))?;
                self.skip_line()?;
                self.input.stream_position()?
            };
            if high <= start {
                high = middle;
                continue;
            }
            match self.url()? {
                Some(found) if is_before(&found) => low = self.input.stream_position()?,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            match memchr::memchr(b'\n', bytes) {
                Some(at) => {
                    self.input.consume(at + 1);
                    return Ok(());
                }
                None => {
                    let n = bytes.len();
                    self.input.consume(n);
                }
            }
        }
    }

    /// Counts the lines of a response, without keeping them in memory.
    fn span(&mut self, from: u64, limit: usize) -> io::Result<EntryRange> {
        self.input.seek(SeekFrom::Start(from))?;
        let mut span = EntryRange { from, n_lines: 0, last: None, has_more: false };
        while let Some(url) = self.url()? {
            if span.n_lines == limit {
                span.has_more = true;
                break;
            }
            span.n_lines += 1;
            span.last = Some(url);
        }
        Ok(span)
    }

    fn is_unwritten(&self) -> io::Result<bool> {
        self.identity.is_unwritten(self.input.get_ref())
    }
}

/// Adds the page to its entry as the member `scp_page`.
fn with_page(entry: &str, page: &str) -> String {
    let body = entry.trim_end().strip_suffix('}').unwrap_or(entry);
    let comma = if body.trim_end().ends_with('{') { "" } else { "," };
    format!("{body}{comma}\"scp_page\":{page}}}")
}
