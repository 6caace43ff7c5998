//! A replica in one file of `SQLite`.
//!
//! One connection writes, behind a lock; as many as are needed read, each for
//! one short statement, so that no reader keeps the log from being folded in.
//! Pages come in by [`stage`](stage::SqliteStaging) and appear in
//! [`flip`](flip::flip), which is one transaction.
//!
//! Refuses: files that are something else, formats it does not know, and
//! values it would not have written itself. None of them makes it panic.

mod body;
mod books;
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
use rutter_arc::Entry;
use rutter_page::{LineDigest, Timestamp};
use rutter_spxi::Entity;

use crate::error::{
    DamagedPage, LeaseError, OpenError, PageLine, QueryError, StageError, Storage, WriteError,
};
use crate::model::{
    After, ArcRow, Begin, Census, Changes, Cursor, Depth, Found, Happened, History, Indexed, Lease,
    PageRow, PageTotals, Publisher, PublisherId, Section, Selection, Taken, Tombstone, Validator,
    Withheld,
};
use crate::store::{Staging, Store};
use crate::words::Query;

/// How a replica is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether it may be written, and made where there is none.
    pub access: Access,
    /// How much is held before it is written.
    pub tuning: Tuning,
    /// Bytes the file may have at most.
    pub ceiling: Option<u64>,
    /// How long another process is waited for.
    pub wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            access: Access::Write,
            tuning: Tuning::USUAL,
            ceiling: None,
            wait: Duration::from_secs(5),
        }
    }
}

/// What may be done with a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everything; one that is not there is made.
    Write,
    /// Questions only.
    Read,
}

/// How much a staging holds in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Pages up to which everything is written in one transaction.
    pub held: usize,
    /// Bytes of bodies up to which it is.
    pub held_bytes: usize,
    /// Pages in a batch beyond that.
    pub batch: usize,
}

impl Tuning {
    /// Up to 20,000 pages at once, then 2,000 at a time.
    pub const USUAL: Self = Self { held: 20_000, held_bytes: 16 << 20, batch: 2_000 };
}

/// Bytes of a page of the file.
const PAGE_SIZE: u32 = 8192;

/// A replica in a file.
pub struct SqliteStore {
    path: PathBuf,
    options: Options,
    /// Connections that nobody uses at the moment.
    readers: Mutex<Vec<Connection>>,
    /// `None` where it may only be read. Closed last: it folds the log in.
    writer: Mutex<Option<Connection>>,
    dictionaries: body::Dictionaries,
    /// Which replica this is.
    id: u64,
    /// Whether the file is taken as it lies there, without a log beside it.
    is_immutable: bool,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a replica; makes one where there is none and it may be written.
    ///
    /// What a process that is no more left half done is taken away.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        file::look_at(path, options.access)?;
        let mut is_immutable = false;
        let writer = match options.access {
            Access::Write => Some(open_writer_in_time(path, &options)?),
            Access::Read => {
                is_immutable = !file::has_log(path) && is_unwritable(path);
                let reader = open_reader(path, &options, is_immutable)?;
                let known = u32::try_from(schema::STEPS.len()).unwrap_or(u32::MAX);
                let found = schema::format(&reader)?;
                if known < found {
                    return Err(OpenError::Newer { found, known });
                }
                if found < known {
                    // An older file is read after it was brought up to date.
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
        let nameless = || Storage::damaged("it does not say which replica it is");
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

    fn writer(&self) -> Result<Writer<'_>, Storage> {
        let guard = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() { Err(Storage::ReadOnly) } else { Ok(Writer(guard)) }
    }

    fn reader(&self) -> Result<Reader<'_>, Storage> {
        let spare = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match spare {
            Some(connection) => connection,
            None => open_reader(&self.path, &self.options, self.is_immutable)?,
        };
        Ok(Reader { store: self, connection: Some(connection) })
    }
}

/// The connection that writes.
struct Writer<'s>(MutexGuard<'s, Option<Connection>>);

impl Writer<'_> {
    fn begin(&mut self) -> Result<Transaction<'_>, Storage> {
        Ok(self.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

impl Deref for Writer<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("a writer is given out only where there is one")
    }
}

impl DerefMut for Writer<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.0.as_mut().expect("a writer is given out only where there is one")
    }
}

/// A connection that reads; goes back to the others when it is dropped.
struct Reader<'s> {
    store: &'s SqliteStore,
    connection: Option<Connection>,
}

/// More than this many are closed again.
const MOST_READERS: usize = 8;

impl Deref for Reader<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("taken only when dropped")
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("taken only when dropped")
    }
}

impl Drop for Reader<'_> {
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

/// Opens for writing. Who makes the file at the same moment is waited for:
/// the database itself does not wait while the log is switched on.
fn open_writer_in_time(path: &Path, options: &Options) -> Result<Connection, OpenError> {
    let started = Instant::now();
    loop {
        match open_writer(path, options) {
            Err(OpenError::Storage(Storage::Busy)) if started.elapsed() < options.wait => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

fn open_writer(path: &Path, options: &Options) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, options)?;
    // What it is comes before anything is changed about it.
    if schema::format(&connection)? == 0 {
        connection.pragma_update(None, "page_size", PAGE_SIZE)?;
        connection.pragma_update(None, "auto_vacuum", "incremental")?;
    }
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Storage::ReadOnly.into());
    }
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    // Folded in seldom: what is written twice within 32 MB is folded in once.
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

fn open_reader(path: &Path, options: &Options, is_immutable: bool) -> Result<Connection, Storage> {
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

/// What every connection needs; a file may come from anywhere.
fn prepare(connection: &Connection, options: &Options) -> Result<(), Storage> {
    connection.busy_timeout(options.wait)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // References are a description; `check` compares them.
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_prepared_statement_cache_capacity(64);
    seal::register(connection)
}

/// A time as it lies in a column.
fn time(text: &str) -> Result<Timestamp, Storage> {
    Timestamp::parse(text).map_err(|_| Storage::damaged(format!("`{text}` is no time")))
}

fn optional_time(text: Option<String>) -> Result<Option<Timestamp>, Storage> {
    text.map(|text| time(&text)).transpose()
}

/// A digest as it lies in a column.
fn digest(bytes: &[u8]) -> Result<LineDigest, Storage> {
    let bytes = bytes.try_into().map_err(|_| Storage::damaged("a digest has another length"))?;
    Ok(LineDigest(bytes))
}

/// A word of an enumeration as it lies in a column.
fn word<T>(text: &str, of_word: impl FnOnce(&str) -> Option<T>) -> Result<T, Storage> {
    of_word(text).ok_or_else(|| Storage::damaged(format!("`{text}` is no word of ours")))
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
        // One snapshot: a page replaced between two queries would look damaged.
        let reader = reader.transaction().map_err(Storage::from)?;
        let Some((id, page)) = read::page(&reader, key)? else { return Ok(None) };
        match read::line(&reader, &self.dictionaries, id, page.digest) {
            Ok(None) if page.withheld.is_none() => {
                Err(Storage::damaged(format!("{}: its content is not there", page.url)).into())
            }
            Err(Storage::Damaged(what)) => {
                Err(Storage::damaged(format!("{}: {what}", page.url)).into())
            }
            line => Ok(line?),
        }
    }

    fn rows(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError> {
        let pages = read::rows(&*self.reader()?, selection, after, most)?;
        Ok(pages.into_iter().map(|row| row.map(|(_, page)| page)).collect())
    }

    fn lines(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
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

    fn census(&self, publisher: PublisherId) -> Result<Vec<Census>, QueryError> {
        Ok(read::census(&*self.reader()?, publisher)?)
    }

    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError> {
        Ok(read::page_totals(&*self.reader()?, publisher)?)
    }

    fn changes_since(&self, cursor: Option<Cursor>, most: usize) -> Result<Changes, QueryError> {
        read::changes(&mut *self.reader()?, self.id, cursor, most)
    }

    fn happened_since(
        &self,
        publisher: PublisherId,
        cursor: Cursor,
    ) -> Result<Happened, QueryError> {
        Ok(read::happened(&*self.reader()?, publisher, cursor)?)
    }

    fn cursor(&self) -> Result<Cursor, QueryError> {
        Ok(Cursor { store: self.id, seq: read::last_change(&*self.reader()?)? })
    }

    fn history(&self) -> Result<History, QueryError> {
        Ok(read::history(&mut *self.reader()?, self.id)?)
    }

    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError> {
        Ok(books::arc_entry(&*self.reader()?, key)?)
    }

    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError> {
        Ok(books::arc_entries(&*self.reader()?, publisher, after, most)?)
    }

    fn arc_closed(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError> {
        Ok(books::arc_closed(&*self.reader()?, publisher, after, most)?)
    }

    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError> {
        Ok(books::entities(&*self.reader()?, publisher)?)
    }

    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(books::validator(&*self.reader()?, url)?)
    }

    fn marks(
        &self,
        publisher: PublisherId,
        word: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<Validator, DamagedPage>>, QueryError> {
        Ok(books::marks(&*self.reader()?, publisher, word, after, most)?)
    }

    fn taken(&self, publisher: PublisherId, most: usize) -> Result<Vec<Taken>, QueryError> {
        Ok(books::taken(&*self.reader()?, publisher, most)?)
    }

    fn search(&self, query: &Query, most: usize) -> Result<Found, QueryError> {
        search::search(&mut *self.reader()?, &self.dictionaries, None, query, most)
    }

    fn search_of(
        &self,
        publisher: PublisherId,
        query: &Query,
        most: usize,
    ) -> Result<Found, QueryError> {
        search::search(&mut *self.reader()?, &self.dictionaries, Some(publisher), query, most)
    }

    fn unindexed(&self) -> Result<Option<u64>, QueryError> {
        Ok(search::unindexed(&mut *self.reader()?)?)
    }

    fn check(&self, depth: Depth) -> Result<Vec<String>, QueryError> {
        Ok(check::check(&mut *self.reader()?, &self.dictionaries, depth)?)
    }

    fn register(
        &self,
        origin: &str,
        aliases: &[&str],
        policy: &str,
    ) -> Result<PublisherId, WriteError> {
        books::register(&*self.writer()?, origin, aliases, policy)
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
        begin: Begin<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError> {
        Ok(Box::new(stage::SqliteStaging::begin(self, lease, begin)?))
    }

    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, Withheld)],
        now: Timestamp,
    ) -> Result<u64, WriteError> {
        self.write(lease, |transaction| flip::withhold(transaction, lease.publisher, pages, now))
    }

    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = Entry<'_>>,
    ) -> Result<(), WriteError> {
        self.write(lease, |transaction| books::replace_arc(transaction, lease.publisher, entries))
    }

    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = Entry<'_>>,
    ) -> Result<(), WriteError> {
        self.write(lease, |transaction| books::merge_arc(transaction, lease.publisher, entries))
    }

    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            books::replace_entities(transaction, lease.publisher, entities)
        })
    }

    fn remember(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError> {
        self.write(lease, |transaction| books::remember(transaction, lease.publisher, validator))
    }

    fn remember_all(&self, lease: &Lease, validators: &[Validator]) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            let mut all = validators.iter();
            all.try_for_each(|it| books::remember(transaction, lease.publisher, it))
        })
    }

    fn drop_marks(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError> {
        self.write(lease, |transaction| books::drop_marks(transaction, lease.publisher, marks))
    }

    fn note(&self, lease: &Lease, taken: &Taken) -> Result<(), WriteError> {
        self.write(lease, |transaction| books::note(transaction, lease.publisher, taken))
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

    fn index(&self, most: u64) -> Result<Indexed, WriteError> {
        search::index(self, most)
    }

    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError> {
        books::maintain(&mut *self.writer()?, oldest)
    }
}

impl SqliteStore {
    /// Writes something in a transaction of its own, under a lease.
    fn write<T>(
        &self,
        lease: &Lease,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Storage>,
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
