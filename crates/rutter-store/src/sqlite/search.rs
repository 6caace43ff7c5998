//! Full text: an index that is made when somebody wants it.
//!
//! It holds words, not texts: a page that goes away is taken out by its
//! number, in the transaction in which it goes, without its old text being
//! unpacked. (An index over external content would have to be told that text.)
//! It is brought up to date by a cursor on the history, so no commit waits for
//! it, and it can be dropped and made again.
//!
//! Snippets are made from the bodies of the pages that were found.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Params, Transaction, params};
use rutter_page::Page;

use super::body::Dictionaries;
use super::find::{self, Corpus, TOKENS, find};
use super::read::{self, collect};
use super::{SqliteStore, Writer};
use crate::error::{DamagedPage, PageLine, QueryError, Storage, WriteError};
use crate::model::{Found, Indexed, PageRow, PublisherId};
use crate::words::Query;

/// A word in the title counts this many times.
const TITLE: f64 = 5.0;
/// Pages that are indexed in one transaction.
const BATCH: u64 = 500;

fn get(connection: &Connection, key: &str) -> Result<Option<u64>, Storage> {
    Ok(connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
        .optional()?)
}

fn set(transaction: &Transaction<'_>, key: &str, value: u64) -> Result<(), Storage> {
    transaction.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![key, value])?;
    Ok(())
}

fn has_index(connection: &Connection) -> Result<bool, Storage> {
    Ok(get(connection, "text_cursor")?.is_some())
}

/// Takes pages out of the index, in the transaction in which they go.
pub(super) fn drop_pages(
    transaction: &Transaction<'_>,
    pages: &str,
    params: impl Params,
) -> Result<(), Storage> {
    if has_index(transaction)? {
        transaction
            .prepare_cached(&format!("DELETE FROM page_text WHERE rowid IN ({pages})"))?
            .execute(params)?;
    }
    Ok(())
}

/// Brings the index on by at most `most` pages.
pub(super) fn index(store: &SqliteStore, most: u64) -> Result<Indexed, WriteError> {
    let mut n_pages = 0;
    let mut damaged = Vec::new();
    while n_pages < most {
        let mut writer = store.writer()?;
        let batch = BATCH.min(most - n_pages);
        let (n_done, is_current) = step(&mut writer, &store.dictionaries, batch, &mut damaged)?;
        n_pages += n_done;
        if is_current {
            return Ok(Indexed { pages: n_pages, is_current: true, damaged });
        }
    }
    let is_current = is_current(&*store.reader()?)?;
    Ok(Indexed { pages: n_pages, is_current, damaged })
}

fn is_current(connection: &Connection) -> Result<bool, Storage> {
    let is_whole = get(connection, "text_page")?.is_none();
    Ok(is_whole && get(connection, "text_cursor")? == Some(read::last_change(connection)?))
}

/// Events that the index has not seen; `None` where it is not whole.
pub(super) fn unindexed(connection: &mut Connection) -> Result<Option<u64>, Storage> {
    let transaction = connection.transaction()?;
    let cursor = get(&transaction, "text_cursor")?;
    let is_whole = get(&transaction, "text_page")?.is_none();
    let Some(cursor) = cursor.filter(|_| is_whole) else { return Ok(None) };
    Ok(Some(read::last_change(&transaction)?.saturating_sub(cursor)))
}

/// Indexes one batch: while the index is being made, pages by their number;
/// then pages that the history names.
fn step(
    writer: &mut Writer<'_>,
    dictionaries: &Dictionaries,
    batch: u64,
    damaged: &mut Vec<DamagedPage>,
) -> Result<(u64, bool), Storage> {
    let transaction = writer.begin()?;
    let cursor = match get(&transaction, "text_cursor")? {
        // The history no longer knows what the index missed.
        Some(cursor) if cursor < read::pruned(&transaction)? => begin(&transaction)?,
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
        let events = read::changes_behind(&transaction, cursor, most)?;
        // One page, however often it changed.
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

/// Makes the index, or makes it anew; gives the place in the history where
/// that was.
fn begin(transaction: &Transaction<'_>) -> Result<u64, Storage> {
    transaction.execute_batch(&format!(
        "DROP TABLE IF EXISTS page_text;
         CREATE VIRTUAL TABLE page_text USING fts5
            (title, text, content = '', contentless_delete = 1, {TOKENS});"
    ))?;
    let cursor = read::last_change(transaction)?;
    set(transaction, "text_cursor", cursor)?;
    set(transaction, "text_page", 0)?;
    Ok(cursor)
}

/// Indexes a page; one that is damaged is not indexed, and given back.
fn put(
    transaction: &Transaction<'_>,
    dictionaries: &Dictionaries,
    id: i64,
) -> Result<Option<DamagedPage>, Storage> {
    let line = match read::page_with_line(transaction, dictionaries, id)? {
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

/// What of a page can be looked for: its title, and everything it says
/// (SCP-052).
pub(super) fn texts(line: &str) -> (String, String) {
    // Lines of collections may need mending; what needs it is not indexed.
    let mut findings = ();
    let judged =
        rutter_page::Judge::new(rutter_page::PageLimits::SPEC).read(line, 1, &mut findings);
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

/// The pages of a file that are in its index.
struct Stored<'c> {
    connection: &'c Connection,
    dictionaries: &'c Dictionaries,
    publisher: Option<i64>,
}

impl Corpus for Stored<'_> {
    fn connection(&self) -> &Connection {
        self.connection
    }

    fn index(&self) -> &'static str {
        "page_text"
    }

    fn n_pages(&self) -> Result<u64, Storage> {
        let question = "SELECT coalesce(sum(pages), 0) FROM publisher";
        Ok(self.connection.query_row(question, [], |row| row.get(0))?)
    }

    fn matching(&self, expression: &str, most: usize) -> Result<Vec<(i64, f64)>, Storage> {
        let mut statement = self.connection.prepare_cached(
            // Few pages have the words; each is asked whose it is.
            "SELECT page_text.rowid, bm25(page_text, ?1, 1.0) AS rank
             FROM page_text CROSS JOIN page p ON p.id = page_text.rowid
             WHERE page_text MATCH ?2 AND (?3 IS NULL OR p.publisher = ?3)
             ORDER BY rank, page_text.rowid LIMIT ?4",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query(params![TITLE, expression, self.publisher, most])?;
        collect(rows, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn text(&self, id: i64) -> Result<Option<PageLine>, Storage> {
        read::page_with_line(self.connection, self.dictionaries, id)
    }
}

pub(super) fn search(
    connection: &mut Connection,
    dictionaries: &Dictionaries,
    publisher: Option<PublisherId>,
    query: &Query,
    most: usize,
) -> Result<Found, QueryError> {
    let transaction = connection.transaction()?;
    if !has_index(&transaction)? {
        return Ok(Found::default());
    }
    let publisher = publisher.map(|publisher| publisher.0);
    let stored = Stored { connection: &transaction, dictionaries, publisher };
    Ok(find(&stored, query, most)?)
}

/// Pages that lie in memory, indexed for one search.
struct Held {
    scratch: Connection,
    pages: Vec<(PageRow, String)>,
}

impl Corpus for Held {
    fn connection(&self) -> &Connection {
        &self.scratch
    }

    fn index(&self) -> &'static str {
        "texts"
    }

    fn n_pages(&self) -> Result<u64, Storage> {
        Ok(self.pages.len() as u64)
    }

    fn matching(&self, expression: &str, most: usize) -> Result<Vec<(i64, f64)>, Storage> {
        let mut statement = self.scratch.prepare_cached(
            "SELECT rowid, bm25(texts, ?1, 1.0) AS rank FROM texts WHERE texts MATCH ?2
             ORDER BY rank, rowid LIMIT ?3",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query(params![TITLE, expression, most])?;
        collect(rows, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn text(&self, id: i64) -> Result<Option<PageLine>, Storage> {
        let page = usize::try_from(id).ok().and_then(|at| self.pages.get(at));
        Ok(page.cloned().map(Ok))
    }
}

/// Searches pages that lie in memory, by the same rules.
pub(crate) fn search_in(
    pages: &mut dyn Iterator<Item = (PageRow, String)>,
    query: &Query,
    most: usize,
) -> Result<Found, Storage> {
    let mut held = Held { scratch: find::scratch()?, pages: Vec::new() };
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
