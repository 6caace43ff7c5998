//! Queries about pages. Each query runs one short statement or transaction.

use rusqlite::{Connection, OptionalExtension, Row, params};
use rutter_page::LineDigest;

use super::SqliteStore;
use super::body::Dictionaries;
use super::columns::{BROKEN_SEAL, collect, digest, key_of, limit, origin_of, time, word};
use super::sites::publishers;
use crate::error::{PageLine, QueryError, StorageError};
use crate::model::DamagedPage;
use crate::model::{
    PageCount, PagePosition, PageRow, PageSelection, PageSource, PageTotals, PublisherId,
    RemovalCause, Tombstone, WithheldReason,
};
use crate::store::PageQueries;

impl PageQueries for SqliteStore {
    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError> {
        Ok(page(&*self.reader()?, key)?.map(|(_, page)| page))
    }

    fn line(&self, key: &str) -> Result<Option<String>, QueryError> {
        let mut reader = self.reader()?;
        // Both queries run in one transaction: a page replaced between them would look damaged.
        let reader = reader.transaction().map_err(StorageError::from)?;
        let Some((id, page)) = page(&reader, key)? else { return Ok(None) };
        match line(&reader, &self.dictionaries, id, page.digest) {
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
        selection: &PageSelection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError> {
        let pages = rows(&*self.reader()?, selection, after, most)?;
        Ok(pages.into_iter().map(|row| row.map(|(_, page)| page)).collect())
    }

    fn lines(
        &self,
        selection: &PageSelection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<PageLine>, QueryError> {
        Ok(lines(&mut *self.reader()?, &self.dictionaries, selection, after, most)?)
    }

    fn tombstones(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Tombstone>, QueryError> {
        Ok(tombstones(&*self.reader()?, publisher, after, most)?)
    }

    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError> {
        Ok(tombstone(&*self.reader()?, key)?)
    }

    fn page_counts(&self, publisher: PublisherId) -> Result<Vec<PageCount>, QueryError> {
        Ok(page_counts(&*self.reader()?, publisher)?)
    }

    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError> {
        Ok(page_totals(&*self.reader()?, publisher)?)
    }
}

/// Total size of lines, in bytes, after which a query reads no further line.
const MOST_BYTES: usize = 16 << 20;

pub(super) const PAGE: &str = "p.id, p.publisher, p.url, p.modified, p.digest, p.title, p.language,
    p.source, p.withheld, p.first_seen, p.changed, p.seal = row_seal(p.publisher, p.url, p.modified,
    p.digest, p.title, p.language, p.source, p.withheld, p.first_seen, p.changed)";

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
    selection: &PageSelection<'_>,
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
    selection: &PageSelection<'_>,
    after: Option<PagePosition<'_>>,
    most: usize,
) -> Result<Vec<PageLine>, StorageError> {
    // Both queries run in one transaction, so that every listed page has its line.
    let transaction = connection.transaction()?;
    let selection = PageSelection { with_withheld: false, ..*selection };
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

pub(super) fn page_by_id(
    connection: &Connection,
    id: i64,
) -> Result<Option<PageRow>, StorageError> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {PAGE} FROM page p WHERE p.id = ?1"))?;
    Ok(collect(statement.query([id])?, page_of)?.pop().map(|(_, page)| page))
}
