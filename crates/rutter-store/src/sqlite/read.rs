//! Queries about publishers, sections, pages and history. Each query runs one short statement or
//! transaction.

use rusqlite::{Connection, OptionalExtension, Row, params};
use rutter_page::{LineDigest, PageUrl};
use rutter_scp::SectionState;

use super::body::Dictionaries;
use super::{digest, optional_time, time, word};
use crate::error::{DamagedPage, PageLine, QueryError, StorageError};
use crate::model::{
    Change, ChangeBatch, ChangeCounts, ChangeCursor, ChangeKind, HistorySummary, PageCount,
    PagePosition, PageRow, PageSource, PageTotals, Publisher, PublisherId, RemovalCause, Section,
    Selection, Tombstone, WithheldReason,
};

/// Maximum number of rows that one query returns; callers read further rows with more queries.
const MOST: usize = 100_000;

/// Total size of lines, in bytes, after which a query reads no further line.
const MOST_BYTES: usize = 16 << 20;

fn limit(most: usize) -> i64 {
    i64::try_from(most.min(MOST)).unwrap_or(0)
}

/// Converts all rows of a statement with a function that can return a [`StorageError`].
pub(super) fn collect<T>(
    mut rows: rusqlite::Rows<'_>,
    read: impl Fn(&Row<'_>) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

const PUBLISHER: &str = "SELECT id, origin, aliases, policy, paused_until, pages, bytes,
    lease_holder, lease_until, seal = row_seal(id, origin, aliases, policy) FROM publisher";

fn publisher_of(row: &Row<'_>) -> Result<Publisher, StorageError> {
    let aliases: String = row.get(2)?;
    let holder: Option<String> = row.get(7)?;
    let until = optional_time(row.get(8)?)?;
    if !row.get::<_, bool>(9)? {
        let origin: String = row.get(1)?;
        return Err(StorageError::damaged(format!(
            "the seal of the record of site {origin} does not match"
        )));
    }
    Ok(Publisher {
        id: PublisherId(row.get(0)?),
        origin: row.get(1)?,
        aliases: serde_json::from_str(&aliases)
            .map_err(|_| StorageError::damaged("the aliases of a publisher are not a list"))?,
        policy: row.get(3)?,
        paused_until: optional_time(row.get(4)?)?,
        pages: row.get(5)?,
        bytes: row.get(6)?,
        lease: holder.zip(until),
    })
}

pub(super) fn publishers(connection: &Connection) -> Result<Vec<Publisher>, StorageError> {
    let mut statement = connection.prepare_cached(&format!("{PUBLISHER} ORDER BY id"))?;
    collect(statement.query([])?, publisher_of)
}

pub(super) fn publisher(
    connection: &Connection,
    origin: &str,
) -> Result<Option<Publisher>, StorageError> {
    let mut statement = connection.prepare_cached(&format!("{PUBLISHER} WHERE origin = ?1"))?;
    Ok(collect(statement.query([origin])?, publisher_of)?.pop())
}

pub(super) fn sections(
    connection: &Connection,
    publisher: PublisherId,
) -> Result<Vec<(i64, Section)>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name, state, proved, mark, snapshot_at, deltas_since, pages, held
         FROM section WHERE publisher = ?1 ORDER BY name",
    )?;
    collect(statement.query([publisher.0])?, |row| {
        let state: String = row.get(2)?;
        let mark: String = row.get(4)?;
        let section = Section {
            name: row.get(1)?,
            state: word(&state, SectionState::parse)?,
            is_proved: row.get(3)?,
            mark: time(&mark)?,
            snapshot_at: optional_time(row.get(5)?)?,
            deltas_since: row.get(6)?,
            pages: row.get(7)?,
            held: optional_time(row.get(8)?)?,
        };
        Ok((row.get(0)?, section))
    })
}

pub(super) fn sections_of(
    connection: &Connection,
    publisher: PublisherId,
    key: &str,
) -> Result<Vec<String>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT s.name FROM section s JOIN page p ON p.publisher = s.publisher AND p.url = ?2
         WHERE s.publisher = ?1
            AND EXISTS (SELECT 1 FROM member m WHERE m.section = s.id AND m.page = p.id)
         ORDER BY s.name",
    )?;
    collect(statement.query(params![publisher.0, key])?, |row| Ok(row.get(0)?))
}

pub(super) const PAGE: &str = "p.id, p.publisher, p.url, p.modified, p.digest, p.title, p.language,
    p.source, p.withheld, p.first_seen, p.changed, p.seal = row_seal(p.publisher, p.url, p.modified,
    p.digest, p.title, p.language, p.source, p.withheld, p.first_seen, p.changed)";

/// Error text for a row whose seal does not match.
pub(super) const BROKEN_SEAL: &str = "the record is damaged: its seal does not match";

/// Converts a row to a page record; returns an error with the URL of the page if the seal does not
/// match.
pub(super) fn page_of(row: &Row<'_>) -> Result<(i64, PageRow), StorageError> {
    if row.get(11).ok() != Some(true) {
        let url = row.get(2).unwrap_or_else(|_| "a page".to_owned());
        return Err(StorageError::damaged(format!("{url}: {BROKEN_SEAL}")));
    }
    let text = |at: usize| -> Result<String, StorageError> { Ok(row.get(at)?) };
    let bytes: Vec<u8> = row.get(4)?;
    let withheld: Option<String> = row.get(8)?;
    let page = PageRow {
        publisher: PublisherId(row.get(1)?),
        url: row.get(2)?,
        modified: time(&text(3)?)?,
        digest: digest(&bytes)?,
        title: row.get(5)?,
        language: row.get(6)?,
        source: word(&text(7)?, PageSource::of_word)?,
        withheld: withheld.map(|text| word(&text, WithheldReason::of_word)).transpose()?,
        first_seen: time(&text(9)?)?,
        changed: time(&text(10)?)?,
    };
    Ok((row.get(0)?, page))
}

/// Returns the origin of a page key: everything before the path.
pub(crate) fn origin_of(key: &str) -> &str {
    let Some((scheme, rest)) = key.split_once("://") else { return key };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    key.get(..scheme.len() + 3 + end).unwrap_or(key)
}

/// Returns the page key of a URL.
fn key_of(text: &str) -> String {
    PageUrl::parse(text).map_or_else(|_| text.to_owned(), |url| url.key().to_owned())
}

pub(super) fn page(
    connection: &Connection,
    key: &str,
) -> Result<Option<(i64, PageRow)>, StorageError> {
    let key = key_of(key);
    let mut own = connection.prepare_cached(&format!(
        "SELECT {PAGE} FROM publisher b JOIN page p ON p.publisher = b.id AND p.url = ?1
         WHERE b.origin = ?2"
    ))?;
    if let Some(found) = collect(own.query(params![key, origin_of(&key)])?, page_of)?.pop() {
        return Ok(Some(found));
    }
    // The index on pages starts with the publisher, so the query looks up the key for each
    // publisher.
    let mut any = connection.prepare_cached(&format!(
        "SELECT {PAGE} FROM publisher b CROSS JOIN page p ON p.publisher = b.id AND p.url = ?1
         ORDER BY b.id LIMIT 1"
    ))?;
    Ok(collect(any.query(params![key])?, page_of)?.pop())
}

/// Returns the line of a page, after verifying that it matches the digest.
pub(super) fn line(
    connection: &Connection,
    dictionaries: &Dictionaries,
    page: i64,
    expected: LineDigest,
) -> Result<Option<String>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT b.dict, b.size, b.z FROM page p JOIN body b ON b.id = p.body WHERE p.id = ?1",
    )?;
    let found: Option<(Option<i64>, usize, Vec<u8>)> = statement
        .query_row([page], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((dict, size, z)) = found else { return Ok(None) };
    let line = dictionaries.unpack(connection, dict, size, &z)?;
    if LineDigest::of(line.as_bytes()) != expected {
        return Err(StorageError::damaged("its content does not match its digest"));
    }
    Ok(Some(line))
}

/// Returns the line of a page with content, or a description of the damage.
fn line_or_damage(
    connection: &Connection,
    dictionaries: &Dictionaries,
    id: i64,
    page: &PageRow,
) -> Result<Result<String, DamagedPage>, StorageError> {
    let damaged =
        |what: String| Err(DamagedPage { publisher: page.publisher, url: page.url.clone(), what });
    match line(connection, dictionaries, id, page.digest) {
        Ok(Some(line)) => Ok(Ok(line)),
        Ok(None) => Ok(damaged("its content is missing".to_owned())),
        Err(StorageError::Damaged(what)) => Ok(damaged(what)),
        Err(error) => Err(error),
    }
}

/// Returns a page by its id, with its line; `None` if the page is withheld or does not exist.
pub(super) fn page_with_line(
    connection: &Connection,
    dictionaries: &Dictionaries,
    id: i64,
) -> Result<Option<PageLine>, StorageError> {
    let page = match page_by_id(connection, id) {
        Ok(Some(page)) if page.withheld.is_none() => page,
        Ok(_) => return Ok(None),
        Err(StorageError::Damaged(what)) => {
            let (url, what) = what.split_once(": ").unwrap_or(("a page", &what));
            let (url, what) = (url.to_owned(), what.to_owned());
            return Ok(Some(Err(DamagedPage { publisher: PublisherId(0), url, what })));
        }
        Err(error) => return Err(error),
    };
    let line = line_or_damage(connection, dictionaries, id, &page)?;
    Ok(Some(line.map(|line| (page, line))))
}

/// The id and the record of a page, or a description of the damage.
pub(super) type NumberedRow = Result<(i64, PageRow), DamagedPage>;

/// Returns page records, sorted by publisher and key. The keys are read from the index, so that the
/// records after a damaged record can still be read.
pub(super) fn rows(
    connection: &Connection,
    selection: &Selection<'_>,
    after: Option<PagePosition<'_>>,
    most: usize,
) -> Result<Vec<NumberedRow>, StorageError> {
    let mut found = Vec::new();
    // Query each publisher separately: within one publisher, the index has the requested order.
    let publishers = match selection.publisher {
        Some(publisher) => vec![publisher],
        None => publishers(connection)?.into_iter().map(|publisher| publisher.id).collect(),
    };
    for publisher in publishers {
        let behind = match after {
            Some(after) if publisher < after.publisher => continue,
            Some(after) if publisher == after.publisher => after.url,
            _ => "",
        };
        let missing = most.saturating_sub(found.len());
        if missing == 0 {
            break;
        }
        let of_section = match selection.section {
            Some(_) => {
                "AND EXISTS (SELECT 1 FROM section s JOIN member m ON m.section = s.id
                    WHERE s.publisher = k.publisher AND s.name = ?4 AND m.page = k.id)"
            }
            None => "AND ?4 IS NULL",
        };
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {PAGE}, k.url FROM page k LEFT JOIN page p ON p.id = k.id
             WHERE k.publisher = ?1 AND ?2 < k.url
             AND (?3 OR p.withheld IS NULL) {of_section} ORDER BY k.url LIMIT ?5"
        ))?;
        let mut rows = statement.query(params![
            publisher.0,
            behind,
            selection.with_withheld,
            selection.section,
            limit(missing)
        ])?;
        let mut last = behind.to_owned();
        while let Some(row) = rows.next()? {
            let key: String = row.get(12)?;
            if key <= last {
                return Err(StorageError::damaged(format!("pages are not in order after {last}")));
            }
            last.clone_from(&key);
            found.push(match page_of(row) {
                Ok((id, page)) if page.url == key && page.publisher == publisher => Ok((id, page)),
                _ => Err(DamagedPage { publisher, url: key, what: BROKEN_SEAL.to_owned() }),
            });
        }
    }
    Ok(found)
}

pub(super) fn lines(
    connection: &mut Connection,
    dictionaries: &Dictionaries,
    selection: &Selection<'_>,
    after: Option<PagePosition<'_>>,
    most: usize,
) -> Result<Vec<PageLine>, StorageError> {
    // Both queries run in one transaction, so that every listed page has its line.
    let transaction = connection.transaction()?;
    let selection = Selection { with_withheld: false, ..*selection };
    let mut found = Vec::new();
    let mut n_bytes = 0;
    for row in rows(&transaction, &selection, after, most)? {
        let read = match row {
            Ok((id, page)) => {
                let line = line_or_damage(&transaction, dictionaries, id, &page)?;
                line.map(|line| (page, line))
            }
            Err(damaged) => Err(damaged),
        };
        n_bytes += read.as_ref().map_or(0, |(_, line)| line.len());
        found.push(read);
        if MOST_BYTES <= n_bytes {
            break;
        }
    }
    Ok(found)
}

pub(super) fn tombstones(
    connection: &Connection,
    publisher: PublisherId,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<Tombstone>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {TOMBSTONE} FROM tombstone
         WHERE publisher = ?1 AND ?2 < url ORDER BY url LIMIT ?3"
    ))?;
    let rows = statement.query(params![publisher.0, after.unwrap_or(""), limit(most)])?;
    collect(rows, tombstone_of)
}

pub(super) fn tombstone(
    connection: &Connection,
    key: &str,
) -> Result<Option<Tombstone>, StorageError> {
    let key = key_of(key);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {TOMBSTONE} FROM tombstone
         WHERE publisher IN (SELECT id FROM publisher) AND url = ?1
         ORDER BY publisher != coalesce((SELECT id FROM publisher WHERE origin = ?2), 0), publisher
         LIMIT 1"
    ))?;
    Ok(collect(statement.query(params![key, origin_of(&key)])?, tombstone_of)?.pop())
}

pub(super) fn page_counts(
    connection: &Connection,
    publisher: PublisherId,
) -> Result<Vec<PageCount>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT source, withheld, count(*) FROM page WHERE publisher = ?1
         GROUP BY source, withheld ORDER BY source, withheld",
    )?;
    collect(statement.query([publisher.0])?, |row| {
        let source: String = row.get(0)?;
        let withheld: Option<String> = row.get(1)?;
        Ok(PageCount {
            source: word(&source, PageSource::of_word)?,
            withheld: withheld.map(|text| word(&text, WithheldReason::of_word)).transpose()?,
            pages: row.get(2)?,
        })
    })
}

/// Returns both numbers from one statement, so that they are consistent.
pub(super) fn page_totals(
    connection: &Connection,
    publisher: PublisherId,
) -> Result<Option<PageTotals>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT pages, (SELECT count(*) FROM page WHERE publisher = ?1 AND withheld IS NOT NULL)
         FROM publisher WHERE id = ?1",
    )?;
    let totals = |row: &Row<'_>| Ok(PageTotals { pages: row.get(0)?, withheld: row.get(1)? });
    Ok(statement.query_row([publisher.0], totals).optional()?)
}

pub(super) const TOMBSTONE: &str = "publisher, url, at, cause, modified";

pub(super) fn tombstone_of(row: &Row<'_>) -> Result<Tombstone, StorageError> {
    let text = |at: usize| -> Result<String, StorageError> { Ok(row.get(at)?) };
    Ok(Tombstone {
        publisher: PublisherId(row.get(0)?),
        url: row.get(1)?,
        at: time(&text(2)?)?,
        cause: word(&text(3)?, RemovalCause::of_word)?,
        modified: time(&text(4)?)?,
    })
}

/// Returns the number of the last event of the history, even if the event was already deleted.
pub(super) fn last_change(connection: &Connection) -> Result<u64, StorageError> {
    Ok(connection.query_row(
        "SELECT max((SELECT coalesce(max(seq), 0) FROM change),
                    (SELECT value FROM meta WHERE key = 'pruned'))",
        [],
        |row| row.get(0),
    )?)
}

pub(super) fn history(
    connection: &mut Connection,
    store: u64,
) -> Result<HistorySummary, StorageError> {
    let transaction = connection.transaction()?;
    let oldest: Option<String> = transaction
        .query_row("SELECT at FROM change ORDER BY seq LIMIT 1", [], |row| row.get(0))
        .optional()?;
    let seq = last_change(&transaction)?;
    let events = seq.saturating_sub(pruned(&transaction)?);
    Ok(HistorySummary {
        oldest: optional_time(oldest)?,
        events,
        cursor: ChangeCursor { store, seq },
    })
}

pub(super) fn pruned(connection: &Connection) -> Result<u64, StorageError> {
    Ok(connection.query_row("SELECT value FROM meta WHERE key = 'pruned'", [], |row| row.get(0))?)
}

pub(super) fn changes(
    connection: &mut Connection,
    store: u64,
    cursor: Option<ChangeCursor>,
    most: usize,
) -> Result<ChangeBatch, QueryError> {
    // The queries run in one transaction: an event written between them would look like a gap.
    let transaction = connection.transaction().map_err(StorageError::from)?;
    let connection = &*transaction;
    let seq = match cursor {
        None => 0,
        Some(cursor) if cursor.store != store => return Err(QueryError::ForeignCursor),
        Some(ChangeCursor { seq, .. }) => {
            let end = last_change(connection)?;
            // The file was probably restored from a backup.
            if end < seq {
                return Err(QueryError::CursorAhead { seq, end });
            }
            seq
        }
    };
    if seq < pruned(connection)? {
        return Err(QueryError::ExpiredCursor);
    }
    let mut rows = numbered_changes(connection, seq, limit(most).saturating_add(1))?;
    let has_more = limit(most) < i64::try_from(rows.len()).unwrap_or(i64::MAX);
    if has_more {
        rows.pop();
    }
    let ever: Option<u64> = connection
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'change'", [], |row| row.get(0))
        .optional()?;
    let end = ever.map_or_else(|| last_change(connection), Ok)?;
    // Events are numbered without gaps, so a missing number is a lost event.
    let mut last = seq.max(pruned(connection)?);
    let next = rows.last().map_or(seq, |(last, _)| *last);
    let mut damaged = Vec::new();
    let mut events = Vec::with_capacity(rows.len());
    for (seq, event) in rows {
        if seq <= last || end < seq {
            let text = format!("the events after number {last} are not in order");
            return Err(StorageError::damaged(text).into());
        }
        if last + 1 < seq {
            damaged.push(last + 1..=seq - 1);
        }
        if event.is_none() {
            damaged.push(seq..=seq);
        }
        last = seq;
        events.extend(event);
    }
    if !has_more && last < end {
        damaged.push(last + 1..=end);
    }
    // Events of erased sites have only their numbers.
    events.retain(|event| event.kind != ChangeKind::Erased);
    Ok(ChangeBatch { next: ChangeCursor { store, seq: next }, has_more, events, damaged })
}

/// Returns the events after event `seq`, each with its number; `None` in place of a damaged event.
fn numbered_changes(
    connection: &Connection,
    seq: u64,
    most: i64,
) -> Result<Vec<(u64, Option<Change>)>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {CHANGE} FROM change WHERE ?1 < seq ORDER BY seq LIMIT ?2"
    ))?;
    collect(statement.query(params![seq, most])?, |row| match change_of(row) {
        Ok(change) => Ok((change.seq, Some(change))),
        Err(StorageError::Damaged(_)) => Ok((row.get(0)?, None)),
        Err(error) => Err(error),
    })
}

pub(super) fn changes_behind(
    connection: &Connection,
    seq: u64,
    most: i64,
) -> Result<Vec<Change>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {CHANGE} FROM change WHERE ?1 < seq ORDER BY seq LIMIT ?2"
    ))?;
    collect(statement.query(params![seq, most])?, change_of)
}

/// Counts the changes of a publisher after a cursor. The cost is O(n) in events, not in pages.
pub(super) fn happened(
    connection: &Connection,
    publisher: PublisherId,
    cursor: ChangeCursor,
) -> Result<ChangeCounts, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT kind, count(*) FROM change WHERE ?1 < seq AND publisher = ?2 GROUP BY kind",
    )?;
    let mut rows = statement.query(params![cursor.seq, publisher.0])?;
    let mut happened = ChangeCounts::default();
    while let Some(row) = rows.next()? {
        let kind: String = row.get(0)?;
        happened.count(word(&kind, ChangeKind::of_word)?, row.get(1)?);
    }
    Ok(happened)
}

pub(super) const CHANGE: &str = "seq, at, publisher, kind, url, modified, digest,
    seal = row_seal(at, publisher, kind, url, modified, digest)";

pub(super) fn change_of(row: &Row<'_>) -> Result<Change, StorageError> {
    let text = |at: usize| -> Result<String, StorageError> { Ok(row.get(at)?) };
    if row.get(7).ok() != Some(true) {
        let seq: u64 = row.get(0)?;
        return Err(StorageError::damaged(format!(
            "the seal of event {seq} of the history does not match"
        )));
    }
    let bytes: Vec<u8> = row.get(6)?;
    Ok(Change {
        seq: row.get(0)?,
        at: time(&text(1)?)?,
        publisher: PublisherId(row.get(2)?),
        kind: word(&text(3)?, ChangeKind::of_word)?,
        url: row.get(4)?,
        modified: time(&text(5)?)?,
        digest: digest(&bytes)?,
    })
}

pub(super) fn page_by_id(
    connection: &Connection,
    id: i64,
) -> Result<Option<PageRow>, StorageError> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {PAGE} FROM page p WHERE p.id = ?1"))?;
    Ok(collect(statement.query([id])?, page_of)?.pop().map(|(_, page)| page))
}
