//! Checks the integrity of a replica.
//!
//! The check reads the database file, then the records, then (if requested) the content of every
//! page, which must match its digest. Output: a description of each problem.

use rusqlite::Connection;
use rutter_page::{LineDigest, PageLimits, PageReader};
use rutter_scp::SectionState;

use super::body::Dictionaries;
use super::columns::collect;
use super::columns::digest;
use super::{entities, history, pages, sites, sync_records};
use crate::error::StorageError;
use crate::model::CheckDepth;

/// Maximum number of problems that each query reports.
const MOST: usize = 20;

/// Descriptions of problems, each with a query that returns the affected rows.
const PROBLEM_QUERIES: [(&str, &str); 12] = [
    (
        "page without content and without a withheld reason",
        "SELECT url FROM page WHERE (withheld IS NULL) != (body IS NOT NULL)",
    ),
    (
        "page with missing content",
        "SELECT url FROM page WHERE body IS NOT NULL AND body NOT IN (SELECT id FROM body)",
    ),
    (
        "content that belongs to several pages",
        "SELECT body FROM page WHERE body IS NOT NULL GROUP BY body HAVING 1 < count(*)",
    ),
    (
        "content without a page",
        "SELECT id FROM body WHERE id NOT IN (SELECT body FROM page WHERE body IS NOT NULL)
            AND id NOT IN (SELECT body FROM stage WHERE body IS NOT NULL)",
    ),
    (
        "content with a missing dictionary",
        "SELECT id FROM body WHERE dict IS NOT NULL AND dict NOT IN (SELECT id FROM dict)",
    ),
    ("page in no section", "SELECT url FROM page WHERE id NOT IN (SELECT page FROM member)"),
    (
        "section member without a page or a section",
        "SELECT section || '/' || page FROM member WHERE page NOT IN (SELECT id FROM page)
            OR section NOT IN (SELECT id FROM section)",
    ),
    (
        "page with a tombstone",
        "SELECT t.url FROM tombstone t JOIN page p ON p.publisher = t.publisher AND p.url = t.url",
    ),
    (
        "section with a wrong number of pages",
        "SELECT name FROM section s
         WHERE pages != (SELECT count(*) FROM member m WHERE m.section = s.id)",
    ),
    (
        "publisher with a wrong number of pages",
        "SELECT origin FROM publisher b
         WHERE pages != (SELECT count(*) FROM page p WHERE p.publisher = b.id)",
    ),
    (
        "publisher with a wrong number of entities",
        "SELECT origin FROM publisher b
         WHERE entities != (SELECT count(*) FROM entity e WHERE e.publisher = b.id)",
    ),
    (
        "publisher with a wrong number of bytes",
        "SELECT origin FROM publisher b WHERE bytes != (SELECT coalesce(sum(length(z)), 0)
            FROM page p JOIN body y ON y.id = p.body WHERE p.publisher = b.id)",
    ),
];

pub(super) fn check(
    connection: &mut Connection,
    dictionaries: &Dictionaries,
    depth: CheckDepth,
) -> Result<Vec<String>, StorageError> {
    let transaction = connection.transaction()?;
    let mut faults = Vec::new();
    let mut statement = transaction.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
    let messages: Vec<String> = collect(statement.query([])?, |row| Ok(row.get(0)?))?;
    drop(statement);
    if messages != ["ok"] {
        faults.extend(messages);
    }
    for (name, query) in PROBLEM_QUERIES {
        let mut statement = transaction.prepare(&format!("{query} LIMIT {MOST}"))?;
        let answers: Vec<rusqlite::types::Value> =
            collect(statement.query([])?, |row| Ok(row.get(0)?))?;
        for answer in answers {
            faults.push(format!("{name}: {}", shown(&answer)));
        }
    }
    for publisher in sites::publishers(&transaction)? {
        for (id, section) in sites::sections(&transaction, publisher.id)? {
            let found = state(&transaction, id)?;
            if found != section.state {
                let name = &section.name;
                faults.push(format!(
                    "section with a wrong state: {name}: {} should be {found}",
                    section.state
                ));
            }
        }
    }
    values(&transaction, &mut faults)?;
    if depth == CheckDepth::Content {
        bodies(&transaction, dictionaries, &mut faults)?;
    }
    Ok(faults)
}

/// Reads every row with the functions that queries use, so that the same damage is found.
fn values(connection: &Connection, faults: &mut Vec<String>) -> Result<(), StorageError> {
    let mut pages = connection.prepare(&format!("SELECT {} FROM page p", pages::PAGE))?;
    let mut changes = connection.prepare(&format!("SELECT {} FROM change", history::CHANGE))?;
    let mut tombstones =
        connection.prepare(&format!("SELECT {} FROM tombstone", pages::TOMBSTONE))?;
    let mut entities = connection.prepare(&format!("SELECT {} FROM entity", entities::ENTITY))?;
    let mut validators =
        connection.prepare(&format!("SELECT {} FROM validator", sync_records::VALIDATOR))?;
    each(entities.query([])?, entities::entity_of, faults)?;
    each(validators.query([])?, sync_records::validator_of, faults)?;
    let mut notes =
        connection.prepare(&format!("SELECT {} FROM url_note", sync_records::URL_NOTE))?;
    each(notes.query([])?, sync_records::url_note_of, faults)?;
    let mut states =
        connection.prepare(&format!("SELECT {} FROM site_state", sync_records::SITE_STATE))?;
    each(states.query([])?, sync_records::site_state_of, faults)?;
    each(pages.query([])?, pages::page_of, faults)?;
    each(changes.query([])?, history::change_of, faults)?;
    each(tombstones.query([])?, pages::tombstone_of, faults)
}

fn each<T>(
    mut rows: rusqlite::Rows<'_>,
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, StorageError>,
    faults: &mut Vec<String>,
) -> Result<(), StorageError> {
    let mut n_faults = 0;
    while let Some(row) = rows.next()? {
        if let Err(error) = read(row)
            && n_faults < MOST
        {
            n_faults += 1;
            faults.push(error.to_string());
        }
    }
    Ok(())
}

fn shown(value: &rusqlite::types::Value) -> String {
    match value {
        rusqlite::types::Value::Text(text) => text.clone(),
        rusqlite::types::Value::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

/// Computes the state of a section from its members.
fn state(connection: &Connection, section: i64) -> Result<SectionState, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT p.url, coalesce(m.digest, p.digest) FROM member m JOIN page p ON p.id = m.page
         WHERE m.section = ?1",
    )?;
    let mut rows = statement.query([section])?;
    let mut state = SectionState::EMPTY;
    while let Some(row) = rows.next()? {
        let (url, bytes): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        state.add(&url, digest(&bytes)?);
    }
    Ok(state)
}

fn bodies(
    connection: &Connection,
    dictionaries: &Dictionaries,
    faults: &mut Vec<String>,
) -> Result<(), StorageError> {
    let mut statement = connection.prepare(
        "SELECT p.url, p.digest, b.dict, b.size, b.z, p.modified, p.title, p.language
         FROM page p JOIN body b ON b.id = p.body",
    )?;
    let mut rows = statement.query([])?;
    let mut reader = PageReader::new(PageLimits::SPEC);
    let mut n_faults = 0;
    while let Some(row) = rows.next()? {
        let (url, bytes): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let z: Vec<u8> = row.get(4)?;
        let size = usize::try_from(row.get::<_, i64>(3)?).unwrap_or(usize::MAX);
        let fault = match dictionaries.unpack(connection, row.get(2)?, size, &z) {
            Ok(line) if LineDigest::of(line.as_bytes()) == digest(&bytes)? => {
                let columns: [String; 3] = [row.get(5)?, row.get(6)?, row.get(7)?];
                match column_fault(&mut reader, &line, &url, &columns) {
                    Some(fault) => fault.to_owned(),
                    None => continue,
                }
            }
            Ok(_) => "the content does not match its digest".to_owned(),
            Err(error) => error.to_string(),
        };
        n_faults += 1;
        if n_faults <= MOST {
            faults.push(format!("{url}: {fault}"));
        }
    }
    Ok(())
}

/// Returns a description of the first column that differs from the line of the page; `None` if all
/// columns match.
fn column_fault(
    reader: &mut PageReader,
    line: &str,
    url: &str,
    [modified, title, language]: &[String; 3],
) -> Option<&'static str> {
    // A line that is not a valid page cannot be compared with the columns.
    let page = reader.read(line, 1, &mut ()).ok().flatten()?;
    if page.url.key() != url || page.modified.to_string() != *modified {
        return Some("the content belongs to another page or another version");
    }
    if *page.title != **title || page.language.as_str() != language {
        return Some("the title or the language differs from the content");
    }
    None
}
