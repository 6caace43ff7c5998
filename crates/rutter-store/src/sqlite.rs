//! A replica in one `SQLite` file.
//!
//! One connection writes, protected by a lock. Readers take connections from a pool, each for one
//! short statement, so that no reader blocks a checkpoint of the write-ahead log.
//! [`SqliteStaging`](stage::SqliteStaging) stages pages, and [`flip`](flip::flip) makes them
//! visible in one transaction.
//!
//! Rejects files that are not replicas, unknown formats and invalid values.

mod body;
mod check;
mod file;
mod find;
mod flip;
mod lease;
mod pipeline;
mod read;
mod records;
mod rows;
mod schema;
mod seal;
mod search;
mod site_data;
mod stage;
mod train;

pub use file::remove_unused;
pub(crate) use read::origin_of;
pub(crate) use search::search_in;

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior};
use rutter_arc::ArcEntry;
use rutter_page::{LineDigest, Timestamp};
use rutter_spxi::Entity;

use crate::error::{
    DamagedPage, LeaseError, OpenError, PageLine, QueryError, StageError, StorageError, WriteError,
};
use crate::model::{
    ArcRow, ChangeBatch, ChangeCounts, ChangeCursor, CheckDepth, DownloadRecord, HistorySummary,
    IndexProgress, Lease, PageCount, PagePosition, PageRow, PageTotals, Publisher, PublisherId,
    SearchResults, Section, Selection, StagingOptions, Tombstone, Validator, WithheldReason,
};
use crate::store::{Staging, Store};
use crate::words::SearchQuery;

/// Options for opening a replica.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Whether the replica is opened for writing.
    pub access: AccessMode,
    /// How much a staging keeps in memory.
    pub tuning: StagingBuffer,
    /// Maximum size of the file in bytes; `None` for no limit.
    pub ceiling: Option<u64>,
    /// How long a write waits for the lock of another process.
    pub wait: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            access: AccessMode::Write,
            tuning: StagingBuffer::DEFAULT,
            ceiling: None,
            wait: Duration::from_secs(5),
        }
    }
}

/// The access mode of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// Reading and writing; the replica is created if it does not exist.
    Write,
    /// Reading only.
    Read,
}

/// How much a staging keeps in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagingBuffer {
    /// Maximum number of changed pages that a staging keeps in memory until the commit. A staging
    /// with more pages writes them to the file in batches.
    pub held: usize,
    /// Maximum size of the pages in memory, in bytes.
    pub held_bytes: usize,
    /// Number of pages in one batch.
    pub batch: usize,
}

impl StagingBuffer {
    /// Up to 20,000 pages and 16 MiB are kept in memory; larger stagings write batches of 2,000
    /// pages.
    pub const DEFAULT: Self = Self { held: 20_000, held_bytes: 16 << 20, batch: 2_000 };
}

/// Size of a database page, in bytes.
const PAGE_SIZE: u32 = 8192;

/// A replica in a file.
pub struct SqliteStore {
    path: PathBuf,
    options: StoreOptions,
    /// Idle connections for reading.
    readers: Mutex<Vec<Connection>>,
    /// Connection for writing; `None` if the replica is read-only. It is closed after the readers,
    /// because closing it checkpoints the write-ahead log.
    writer: Mutex<Option<Connection>>,
    dictionaries: body::Dictionaries,
    /// Identifier of the replica, which cursors contain.
    id: u64,
    /// Whether the file is opened as immutable, without a write-ahead log.
    is_immutable: bool,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a replica, or creates it if it does not exist and `options` allow writing.
    ///
    /// Unfinished stagings of processes that have exited are deleted.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, OpenError> {
        file::check_file(path, options.access)?;
        let mut is_immutable = false;
        let writer = match options.access {
            AccessMode::Write => Some(open_writer_in_time(path, &options)?),
            AccessMode::Read => {
                is_immutable = !file::has_log(path) && is_unwritable(path);
                let reader = open_reader(path, &options, is_immutable)?;
                let known = u32::try_from(schema::STEPS.len()).unwrap_or(u32::MAX);
                let found = schema::format(&reader)?;
                if known < found {
                    return Err(OpenError::Newer { found, known });
                }
                if found < known {
                    // A file of an older format must be opened for writing once, which converts it.
                    return Err(if found == 0 {
                        OpenError::NotAReplica
                    } else {
                        OpenError::Older { found, known }
                    });
                }
                None
            }
        };
        let reader = open_reader(path, &options, is_immutable)?;
        let question = "SELECT m.value, s.value = row_seal(m.value) FROM meta m
             JOIN meta s ON s.key = 'store_seal' WHERE m.key = 'store'";
        let nameless = || StorageError::damaged("the identifier of the replica is missing");
        let found = reader.query_row(question, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (id, is_sealed): (Vec<u8>, bool) = found.optional()?.ok_or_else(nameless)?;
        let id: [u8; 8] = id.try_into().ok().filter(|_| is_sealed).ok_or_else(nameless)?;
        Ok(Self {
            path: path.to_owned(),
            options,
            writer: Mutex::new(writer),
            readers: Mutex::new(vec![reader]),
            dictionaries: body::Dictionaries::default(),
            id: u64::from_be_bytes(id),
            is_immutable,
        })
    }

    fn writer(&self) -> Result<WriteConnection<'_>, StorageError> {
        let guard = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() { Err(StorageError::ReadOnly) } else { Ok(WriteConnection(guard)) }
    }

    fn reader(&self) -> Result<ReadConnection<'_>, StorageError> {
        let spare = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match spare {
            Some(connection) => connection,
            None => open_reader(&self.path, &self.options, self.is_immutable)?,
        };
        Ok(ReadConnection { store: self, connection: Some(connection) })
    }
}

/// The locked connection for writing.
struct WriteConnection<'s>(MutexGuard<'s, Option<Connection>>);

impl WriteConnection<'_> {
    fn begin(&mut self) -> Result<Transaction<'_>, StorageError> {
        Ok(self.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

impl Deref for WriteConnection<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("a writer is given out only where there is one")
    }
}

impl DerefMut for WriteConnection<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.0.as_mut().expect("a writer is given out only where there is one")
    }
}

/// A connection for reading, which returns to the pool when this value is dropped.
struct ReadConnection<'s> {
    store: &'s SqliteStore,
    connection: Option<Connection>,
}

/// Maximum number of idle connections in the pool.
const MOST_READERS: usize = 8;

impl Deref for ReadConnection<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("taken only when dropped")
    }
}

impl DerefMut for ReadConnection<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("taken only when dropped")
    }
}

impl Drop for ReadConnection<'_> {
    fn drop(&mut self) {
        let mut readers = self.store.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < MOST_READERS {
            readers.extend(self.connection.take());
        }
    }
}

fn is_unwritable(path: &Path) -> bool {
    fs::OpenOptions::new().append(true).open(path).is_err()
}

/// Opens the file for writing. Retries while another process creates the file, because `SQLite` does
/// not wait while that process switches to the write-ahead log.
fn open_writer_in_time(path: &Path, options: &StoreOptions) -> Result<Connection, OpenError> {
    let started = Instant::now();
    loop {
        match open_writer(path, options) {
            Err(OpenError::Storage(StorageError::Busy)) if started.elapsed() < options.wait => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

fn open_writer(path: &Path, options: &StoreOptions) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, options)?;
    // Check that the file is a replica before changing it.
    if schema::format(&connection)? == 0 {
        connection.pragma_update(None, "page_size", PAGE_SIZE)?;
        connection.pragma_update(None, "auto_vacuum", "incremental")?;
    }
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(StorageError::ReadOnly.into());
    }
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    // Checkpoint seldom: a database page that is written twice within 32 MB of the log is copied
    // once.
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.pragma_update(None, "cache_size", -8_000)?;
    if let Some(ceiling) = options.ceiling {
        let n_pages = (ceiling / u64::from(PAGE_SIZE)).max(1);
        connection.pragma_update_and_check(
            None,
            "max_page_count",
            n_pages.cast_signed(),
            |_| Ok(()),
        )?;
    }
    schema::migrate(&mut connection, schema::STEPS)?;
    lease::recover(&mut connection)?;
    Ok(connection)
}

fn open_reader(
    path: &Path,
    options: &StoreOptions,
    is_immutable: bool,
) -> Result<Connection, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if is_immutable {
        let mut name = String::from("file:");
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                    name.push(char::from(*byte));
                }
                _ => name.extend(format!("%{byte:02x}").chars()),
            }
        }
        name.push_str("?immutable=1");
        Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    prepare(&connection, options)?;
    connection.pragma_update(None, "cache_size", -4_000)?;
    Ok(connection)
}

/// Configures a connection; the settings assume that the file comes from an untrusted source.
fn prepare(connection: &Connection, options: &StoreOptions) -> Result<(), StorageError> {
    connection.busy_timeout(options.wait)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // SQLite does not enforce the foreign keys of the schema; `check` verifies them.
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_prepared_statement_cache_capacity(64);
    seal::register(connection)
}

/// Parses a time column.
fn time(text: &str) -> Result<Timestamp, StorageError> {
    Timestamp::parse(text).map_err(|_| StorageError::damaged(format!("`{text}` is not a time")))
}

fn optional_time(text: Option<String>) -> Result<Option<Timestamp>, StorageError> {
    text.map(|text| time(&text)).transpose()
}

/// Parses a digest column.
fn digest(bytes: &[u8]) -> Result<LineDigest, StorageError> {
    let bytes =
        bytes.try_into().map_err(|_| StorageError::damaged("a digest has a wrong length"))?;
    Ok(LineDigest(bytes))
}

/// Parses a column with the name of an enumeration value.
fn word<T>(text: &str, of_word: impl FnOnce(&str) -> Option<T>) -> Result<T, StorageError> {
    of_word(text).ok_or_else(|| StorageError::damaged(format!("`{text}` is not a known value")))
}

impl Store for SqliteStore {
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError> {
        Ok(read::publishers(&*self.reader()?)?)
    }

    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError> {
        Ok(read::publisher(&*self.reader()?, origin)?)
    }

    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError> {
        let sections = read::sections(&*self.reader()?, publisher)?;
        Ok(sections.into_iter().map(|(_, section)| section).collect())
    }

    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError> {
        Ok(read::sections_of(&*self.reader()?, publisher, key)?)
    }

    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError> {
        Ok(read::page(&*self.reader()?, key)?.map(|(_, page)| page))
    }

    fn line(&self, key: &str) -> Result<Option<String>, QueryError> {
        let mut reader = self.reader()?;
        // Both queries run in one transaction: a page replaced between them would look damaged.
        let reader = reader.transaction().map_err(StorageError::from)?;
        let Some((id, page)) = read::page(&reader, key)? else { return Ok(None) };
        match read::line(&reader, &self.dictionaries, id, page.digest) {
            Ok(None) if page.withheld.is_none() => {
                Err(StorageError::damaged(format!("{}: its content is missing", page.url)).into())
            }
            Err(StorageError::Damaged(what)) => {
                Err(StorageError::damaged(format!("{}: {what}", page.url)).into())
            }
            line => Ok(line?),
        }
    }

    fn rows(
        &self,
        selection: &Selection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError> {
        let pages = read::rows(&*self.reader()?, selection, after, most)?;
        Ok(pages.into_iter().map(|row| row.map(|(_, page)| page)).collect())
    }

    fn lines(
        &self,
        selection: &Selection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<PageLine>, QueryError> {
        Ok(read::lines(&mut *self.reader()?, &self.dictionaries, selection, after, most)?)
    }

    fn tombstones(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Tombstone>, QueryError> {
        Ok(read::tombstones(&*self.reader()?, publisher, after, most)?)
    }

    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError> {
        Ok(read::tombstone(&*self.reader()?, key)?)
    }

    fn page_counts(&self, publisher: PublisherId) -> Result<Vec<PageCount>, QueryError> {
        Ok(read::page_counts(&*self.reader()?, publisher)?)
    }

    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError> {
        Ok(read::page_totals(&*self.reader()?, publisher)?)
    }

    fn changes_since(
        &self,
        cursor: Option<ChangeCursor>,
        most: usize,
    ) -> Result<ChangeBatch, QueryError> {
        read::changes(&mut *self.reader()?, self.id, cursor, most)
    }

    fn change_counts_since(
        &self,
        publisher: PublisherId,
        cursor: ChangeCursor,
    ) -> Result<ChangeCounts, QueryError> {
        Ok(read::happened(&*self.reader()?, publisher, cursor)?)
    }

    fn cursor(&self) -> Result<ChangeCursor, QueryError> {
        Ok(ChangeCursor { store: self.id, seq: read::last_change(&*self.reader()?)? })
    }

    fn history(&self) -> Result<HistorySummary, QueryError> {
        Ok(read::history(&mut *self.reader()?, self.id)?)
    }

    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError> {
        Ok(site_data::arc_entry(&*self.reader()?, key)?)
    }

    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError> {
        Ok(site_data::arc_entries(&*self.reader()?, publisher, after, most)?)
    }

    fn arc_forbidden(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError> {
        Ok(site_data::arc_forbidden(&*self.reader()?, publisher, after, most)?)
    }

    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError> {
        Ok(site_data::entities(&*self.reader()?, publisher)?)
    }

    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(site_data::validator(&*self.reader()?, url)?)
    }

    fn url_notes(
        &self,
        publisher: PublisherId,
        word: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<Validator, DamagedPage>>, QueryError> {
        Ok(site_data::url_notes(&*self.reader()?, publisher, word, after, most)?)
    }

    fn downloads(
        &self,
        publisher: PublisherId,
        most: usize,
    ) -> Result<Vec<DownloadRecord>, QueryError> {
        Ok(site_data::downloads(&*self.reader()?, publisher, most)?)
    }

    fn search(&self, query: &SearchQuery, most: usize) -> Result<SearchResults, QueryError> {
        search::search(&mut *self.reader()?, &self.dictionaries, None, query, most)
    }

    fn search_of(
        &self,
        publisher: PublisherId,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError> {
        search::search(&mut *self.reader()?, &self.dictionaries, Some(publisher), query, most)
    }

    fn unindexed(&self) -> Result<Option<u64>, QueryError> {
        Ok(search::unindexed(&mut *self.reader()?)?)
    }

    fn check(&self, depth: CheckDepth) -> Result<Vec<String>, QueryError> {
        Ok(check::check(&mut *self.reader()?, &self.dictionaries, depth)?)
    }

    fn register(
        &self,
        origin: &str,
        aliases: &[&str],
        policy: &str,
    ) -> Result<PublisherId, WriteError> {
        site_data::register(&*self.writer()?, origin, aliases, policy)
    }

    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError> {
        self.take_lease(publisher, now, until)
    }

    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError> {
        self.renew_lease(lease, until)
    }

    fn release(&self, lease: Lease) -> Result<(), LeaseError> {
        self.release_lease(&lease)
    }

    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: StagingOptions<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError> {
        Ok(Box::new(stage::SqliteStaging::begin(self, lease, begin)?))
    }

    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, WithheldReason)],
        now: Timestamp,
    ) -> Result<u64, WriteError> {
        self.write(lease, |transaction| flip::withhold(transaction, lease.publisher, pages, now))
    }

    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            site_data::replace_arc(transaction, lease.publisher, entries)
        })
    }

    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        self.write(lease, |transaction| site_data::merge_arc(transaction, lease.publisher, entries))
    }

    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            site_data::replace_entities(transaction, lease.publisher, entities)
        })
    }

    fn store_validator(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            site_data::store_validator(transaction, lease.publisher, validator)
        })
    }

    fn store_validators(&self, lease: &Lease, validators: &[Validator]) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            let mut all = validators.iter();
            all.try_for_each(|it| site_data::store_validator(transaction, lease.publisher, it))
        })
    }

    fn delete_url_notes(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            site_data::delete_url_notes(transaction, lease.publisher, marks)
        })
    }

    fn record_download(&self, lease: &Lease, taken: &DownloadRecord) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            site_data::record_download(transaction, lease.publisher, taken)
        })
    }

    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            transaction.execute(
                "UPDATE publisher SET paused_until = ?1 WHERE id = ?2",
                (until.map(|until| until.to_string()), lease.publisher.0),
            )?;
            Ok(())
        })
    }

    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError> {
        self.write(&lease, |transaction| flip::forget(transaction, lease.publisher, now))
    }

    fn index(&self, most: u64) -> Result<IndexProgress, WriteError> {
        search::index(self, most)
    }

    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError> {
        site_data::maintain(&mut *self.writer()?, oldest)
    }
}

impl SqliteStore {
    /// Runs `work` in a transaction, after checking that the lease is valid.
    fn write<T>(
        &self,
        lease: &Lease,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StorageError>,
    ) -> Result<T, WriteError> {
        let mut writer = self.writer()?;
        let transaction = writer.begin()?;
        if !lease::holds(&transaction, lease)? {
            return Err(WriteError::Lost);
        }
        let is_staging: bool = transaction.query_row(
            "SELECT EXISTS (SELECT 1 FROM run WHERE publisher = ?1)",
            [lease.publisher.0],
            |row| row.get(0),
        )?;
        if is_staging {
            return Err(WriteError::Staging);
        }
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}
