//! The full-text index of a replica file, which is created on first use.
//!
//! The index stores tokens, not texts. The transaction that removes a page deletes it from the
//! index by its id, without decompressing its text. (An FTS5 index over external content would need
//! that text.) New pages are indexed after their commit, from a cursor in the history, so no commit
//! waits for the index. The index can be dropped and created again.
//!
//! Snippets are created from the content of the found pages.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Params, Transaction, params};
use rutter_page::Page;

use super::body::Dictionaries;
use super::columns::collect;
use super::find::{self, SearchCorpus, TOKENS, find};
use super::{SqliteStore, WriteConnection};
use super::{history, pages};
use crate::error::{PageLine, QueryError, StorageError, WriteError};
use crate::model::DamagedPage;
use crate::model::{IndexProgress, PageRow, PublisherId, SearchResults};
use crate::store::SearchIndex;
use crate::words::SearchQuery;

/// Weight of a match in the title; a match in the text has weight 1.
const TITLE: f64 = 5.0;
/// Number of pages that are indexed in one transaction.
const BATCH: u64 = 500;

impl SearchIndex for SqliteStore {
    fn search(&self, query: &SearchQuery, most: usize) -> Result<SearchResults, QueryError> {
        search(&mut *self.reader()?, &self.dictionaries, None, query, most)
    }

    fn search_of(
        &self,
        publisher: PublisherId,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError> {
        search(&mut *self.reader()?, &self.dictionaries, Some(publisher), query, most)
    }

    fn unindexed(&self) -> Result<Option<u64>, QueryError> {
        Ok(unindexed(&mut *self.reader()?)?)
    }

    fn index(&self, most: u64) -> Result<IndexProgress, WriteError> {
        index(self, most)
    }
}

fn get(connection: &Connection, key: &str) -> Result<Option<u64>, StorageError> {
    Ok(connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
        .optional()?)
}

fn set(transaction: &Transaction<'_>, key: &str, value: u64) -> Result<(), StorageError> {
    transaction.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![key, value])?;
    Ok(())
}

fn has_index(connection: &Connection) -> Result<bool, StorageError> {
    Ok(get(connection, "text_cursor")?.is_some())
}

/// Deletes pages from the index, in the transaction that removes them.
pub(super) fn drop_pages(
    transaction: &Transaction<'_>,
    pages: &str,
    params: impl Params,
) -> Result<(), StorageError> {
    if has_index(transaction)? {
        transaction
            .prepare_cached(&format!("DELETE FROM page_text WHERE rowid IN ({pages})"))?
            .execute(params)?;
    }
    Ok(())
}

/// Adds at most `most` pages to the index.
pub(super) fn index(store: &SqliteStore, most: u64) -> Result<IndexProgress, WriteError> {
    let mut n_pages = 0;
    let mut damaged = Vec::new();
    while n_pages < most {
        let mut writer = store.writer()?;
        let batch = BATCH.min(most - n_pages);
        let (n_done, is_current) = step(&mut writer, &store.dictionaries, batch, &mut damaged)?;
        n_pages += n_done;
        if is_current {
            return Ok(IndexProgress { pages: n_pages, is_current: true, damaged });
        }
    }
    let is_current = is_current(&*store.reader()?)?;
    Ok(IndexProgress { pages: n_pages, is_current, damaged })
}

fn is_current(connection: &Connection) -> Result<bool, StorageError> {
    let is_whole = get(connection, "text_page")?.is_none();
    Ok(is_whole && get(connection, "text_cursor")? == Some(history::last_change(connection)?))
}

/// Returns the number of events that are not indexed yet; `None` if the index has not been created
/// completely.
pub(super) fn unindexed(connection: &mut Connection) -> Result<Option<u64>, StorageError> {
    let transaction = connection.transaction()?;
    let cursor = get(&transaction, "text_cursor")?;
    let is_whole = get(&transaction, "text_page")?.is_none();
    let Some(cursor) = cursor.filter(|_| is_whole) else { return Ok(None) };
    Ok(Some(history::last_change(&transaction)?.saturating_sub(cursor)))
}

/// Indexes one batch of pages: in the order of their ids while the index is being created, then the
/// pages of new events.
fn step(
    writer: &mut WriteConnection<'_>,
    dictionaries: &Dictionaries,
    batch: u64,
    damaged: &mut Vec<DamagedPage>,
) -> Result<(u64, bool), StorageError> {
    let transaction = writer.begin()?;
    let cursor = match get(&transaction, "text_cursor")? {
        // The history no longer contains all events after the cursor, so the index is created
        // again.
        Some(cursor) if cursor < history::pruned(&transaction)? => begin(&transaction)?,
        Some(cursor) => cursor,
        None => begin(&transaction)?,
    };
    let mut is_over = false;
    let n_pages = if let Some(after) = get(&transaction, "text_page")? {
        let mut statement = transaction.prepare_cached(
            "SELECT id FROM page WHERE ?1 < id AND withheld IS NULL ORDER BY id LIMIT ?2",
        )?;
        let ids: Vec<i64> =
            collect(statement.query(params![after, batch])?, |row| Ok(row.get(0)?))?;
        drop(statement);
        for id in &ids {
            damaged.extend(put(&transaction, dictionaries, *id)?);
        }
        match ids.last() {
            Some(last) => set(&transaction, "text_page", u64::try_from(*last).unwrap_or(0))?,
            None => {
                transaction.execute("DELETE FROM meta WHERE key = 'text_page'", [])?;
            }
        }
        ids.len() as u64
    } else {
        let most = i64::try_from(batch).unwrap_or(i64::MAX);
        let events = history::changes_behind(&transaction, cursor, most)?;
        // Index a page once, even if it changed several times.
        let pages: BTreeSet<(i64, &str)> =
            events.iter().map(|event| (event.publisher.0, event.url.as_str())).collect();
        for (publisher, url) in &pages {
            let id: Option<i64> = transaction
                .prepare_cached(
                    "SELECT id FROM page WHERE publisher = ?1 AND url = ?2 AND withheld IS NULL",
                )?
                .query_row(params![publisher, url], |row| row.get(0))
                .optional()?;
            if let Some(id) = id {
                damaged.extend(put(&transaction, dictionaries, id)?);
            }
        }
        match events.last() {
            Some(last) => set(&transaction, "text_cursor", last.seq)?,
            None => is_over = true,
        }
        events.len() as u64
    };
    transaction.commit()?;
    Ok((n_pages, is_over))
}

/// Creates an empty index; returns the number of the last event of the history.
fn begin(transaction: &Transaction<'_>) -> Result<u64, StorageError> {
    transaction.execute_batch(&format!(
        "DROP TABLE IF EXISTS page_text;
         CREATE VIRTUAL TABLE page_text USING fts5
            (title, text, content = '', contentless_delete = 1, {TOKENS});"
    ))?;
    let cursor = history::last_change(transaction)?;
    set(transaction, "text_cursor", cursor)?;
    set(transaction, "text_page", 0)?;
    Ok(cursor)
}

/// Indexes a page. A damaged page is not indexed; it is added to `damaged`.
fn put(
    transaction: &Transaction<'_>,
    dictionaries: &Dictionaries,
    id: i64,
) -> Result<Option<DamagedPage>, StorageError> {
    let line = match pages::page_with_line(transaction, dictionaries, id)? {
        Some(Ok((_, line))) => line,
        Some(Err(damaged)) => return Ok(Some(damaged)),
        None => return Ok(None),
    };
    let (title, text) = texts(&line);
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO page_text (rowid, title, text) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![id, title, text])?;
    Ok(None)
}

/// Returns the searchable texts of a page: its title and its content (SCP-052).
pub(super) fn texts(line: &str) -> (String, String) {
    // Lines of collections may have findings; invalid parts of a page are not indexed.
    let mut findings = ();
    let judged =
        rutter_page::PageReader::new(rutter_page::PageLimits::SPEC).read(line, 1, &mut findings);
    match judged {
        Ok(Some(page)) => (page.title.to_string(), text_of(&page)),
        _ => (String::new(), String::new()),
    }
}

fn text_of(page: &Page<'_>) -> String {
    let mut text = page.description.to_string();
    text.push_str("\n\n");
    text.push_str(&page.to_text());
    text
}

/// The indexed pages of a replica file.
struct StoredCorpus<'c> {
    connection: &'c Connection,
    dictionaries: &'c Dictionaries,
    publisher: Option<i64>,
}

impl SearchCorpus for StoredCorpus<'_> {
    fn connection(&self) -> &Connection {
        self.connection
    }

    fn index(&self) -> &'static str {
        "page_text"
    }

    fn n_pages(&self) -> Result<u64, StorageError> {
        let question = "SELECT coalesce(sum(pages), 0) FROM publisher";
        Ok(self.connection.query_row(question, [], |row| row.get(0))?)
    }

    fn matching(&self, expression: &str, most: usize) -> Result<Vec<(i64, f64)>, StorageError> {
        let mut statement = self.connection.prepare_cached(
            // Few pages match, so the publisher of each match is checked.
            "SELECT page_text.rowid, bm25(page_text, ?1, 1.0) AS rank
             FROM page_text CROSS JOIN page p ON p.id = page_text.rowid
             WHERE page_text MATCH ?2 AND (?3 IS NULL OR p.publisher = ?3)
             ORDER BY rank, page_text.rowid LIMIT ?4",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query(params![TITLE, expression, self.publisher, most])?;
        collect(rows, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn text(&self, id: i64) -> Result<Option<PageLine>, StorageError> {
        pages::page_with_line(self.connection, self.dictionaries, id)
    }
}

pub(super) fn search(
    connection: &mut Connection,
    dictionaries: &Dictionaries,
    publisher: Option<PublisherId>,
    query: &SearchQuery,
    most: usize,
) -> Result<SearchResults, QueryError> {
    let transaction = connection.transaction()?;
    if !has_index(&transaction)? {
        return Ok(SearchResults::default());
    }
    let publisher = publisher.map(|publisher| publisher.0);
    let stored = StoredCorpus { connection: &transaction, dictionaries, publisher };
    Ok(find(&stored, query, most)?)
}

/// Pages in memory, indexed for one search.
struct MemoryCorpus {
    scratch: Connection,
    pages: Vec<(PageRow, String)>,
}

impl SearchCorpus for MemoryCorpus {
    fn connection(&self) -> &Connection {
        &self.scratch
    }

    fn index(&self) -> &'static str {
        "texts"
    }

    fn n_pages(&self) -> Result<u64, StorageError> {
        Ok(self.pages.len() as u64)
    }

    fn matching(&self, expression: &str, most: usize) -> Result<Vec<(i64, f64)>, StorageError> {
        let mut statement = self.scratch.prepare_cached(
            "SELECT rowid, bm25(texts, ?1, 1.0) AS rank FROM texts WHERE texts MATCH ?2
             ORDER BY rank, rowid LIMIT ?3",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query(params![TITLE, expression, most])?;
        collect(rows, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn text(&self, id: i64) -> Result<Option<PageLine>, StorageError> {
        let page = usize::try_from(id).ok().and_then(|at| self.pages.get(at));
        Ok(page.cloned().map(Ok))
    }
}

/// Searches pages in memory with the rules of [`search`].
pub(crate) fn search_in(
    pages: &mut dyn Iterator<Item = (PageRow, String)>,
    query: &SearchQuery,
    most: usize,
) -> Result<SearchResults, StorageError> {
    let mut held = MemoryCorpus { scratch: find::scratch()?, pages: Vec::new() };
    for (page, line) in pages {
        let (title, text) = texts(&line);
        held.scratch.execute(
            "INSERT INTO texts (rowid, title, text) VALUES (?1, ?2, ?3)",
            params![held.pages.len(), title, text],
        )?;
        held.pages.push((page, line));
    }
    find(&held, query, most)
}
