//! Whether a replica is what it says it is.
//!
//! Three layers: the file as the database sees it, the bookkeeping, and, where
//! asked for, every body against its digest.

use rusqlite::Connection;
use rutter_page::{Judge, LineDigest, PageLimits};
use rutter_scp::State;

use super::body::Dictionaries;
use super::read::collect;
use super::{books, digest, read};
use crate::error::Storage;
use crate::model::Depth;

/// Complaints of one kind are told up to this many.
const MOST: usize = 20;

/// A question whose every answer is a fault, and what to call it.
const QUESTIONS: [(&str, &str); 12] = [
    (
        "page without words and without a reason",
        "SELECT url FROM page WHERE (withheld IS NULL) != (body IS NOT NULL)",
    ),
    (
        "page whose body is not there",
        "SELECT url FROM page WHERE body IS NOT NULL AND body NOT IN (SELECT id FROM body)",
    ),
    (
        "body that is named twice",
        "SELECT body FROM page WHERE body IS NOT NULL GROUP BY body HAVING 1 < count(*)",
    ),
    (
        "body that nobody names",
        "SELECT id FROM body WHERE id NOT IN (SELECT body FROM page WHERE body IS NOT NULL)
            AND id NOT IN (SELECT body FROM stage WHERE body IS NOT NULL)",
    ),
    (
        "body whose dictionary is not there",
        "SELECT id FROM body WHERE dict IS NOT NULL AND dict NOT IN (SELECT id FROM dict)",
    ),
    ("page in no section", "SELECT url FROM page WHERE id NOT IN (SELECT page FROM member)"),
    (
        "membership of a page or a section that is not there",
        "SELECT section || '/' || page FROM member WHERE page NOT IN (SELECT id FROM page)
            OR section NOT IN (SELECT id FROM section)",
    ),
    (
        "page that is there and has a tombstone",
        "SELECT t.url FROM tombstone t JOIN page p ON p.publisher = t.publisher AND p.url = t.url",
    ),
    (
        "section with another number of pages than it says",
        "SELECT name FROM section s
         WHERE pages != (SELECT count(*) FROM member m WHERE m.section = s.id)",
    ),
    (
        "publisher with another number of pages than it says",
        "SELECT origin FROM publisher b
         WHERE pages != (SELECT count(*) FROM page p WHERE p.publisher = b.id)",
    ),
    (
        "publisher with another number of entities than it says",
        "SELECT origin FROM publisher b
         WHERE entities != (SELECT count(*) FROM entity e WHERE e.publisher = b.id)",
    ),
    (
        "publisher with other bytes than it says",
        "SELECT origin FROM publisher b WHERE bytes != (SELECT coalesce(sum(length(z)), 0)
            FROM page p JOIN body y ON y.id = p.body WHERE p.publisher = b.id)",
    ),
];

pub(super) fn check(
    connection: &mut Connection,
    dictionaries: &Dictionaries,
    depth: Depth,
) -> Result<Vec<String>, Storage> {
    let transaction = connection.transaction()?;
    let mut faults = Vec::new();
    let mut statement = transaction.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
    let said: Vec<String> = collect(statement.query([])?, |row| Ok(row.get(0)?))?;
    drop(statement);
    if said != ["ok"] {
        faults.extend(said);
    }
    for (name, question) in QUESTIONS {
        let mut statement = transaction.prepare(&format!("{question} LIMIT {MOST}"))?;
        let answers: Vec<rusqlite::types::Value> =
            collect(statement.query([])?, |row| Ok(row.get(0)?))?;
        for answer in answers {
            faults.push(format!("{name}: {}", shown(&answer)));
        }
    }
    for publisher in read::publishers(&transaction)? {
        for (id, section) in read::sections(&transaction, publisher.id)? {
            let found = state(&transaction, id)?;
            if found != section.state {
                let name = &section.name;
                faults.push(format!(
                    "section with another state than it says: {name}: {} is {found}",
                    section.state
                ));
            }
        }
    }
    values(&transaction, &mut faults)?;
    if depth == Depth::Bodies {
        bodies(&transaction, dictionaries, &mut faults)?;
    }
    Ok(faults)
}

/// Reads every row as those do who ask for it.
fn values(connection: &Connection, faults: &mut Vec<String>) -> Result<(), Storage> {
    let mut pages = connection.prepare(&format!("SELECT {} FROM page p", read::PAGE))?;
    let mut changes = connection.prepare(&format!("SELECT {} FROM change", read::CHANGE))?;
    let mut tombstones =
        connection.prepare(&format!("SELECT {} FROM tombstone", read::TOMBSTONE))?;
    let mut entities = connection.prepare(&format!("SELECT {} FROM entity", books::ENTITY))?;
    let mut validators =
        connection.prepare(&format!("SELECT {} FROM validator", books::VALIDATOR))?;
    each(entities.query([])?, books::entity_of, faults)?;
    each(validators.query([])?, books::validator_of, faults)?;
    each(pages.query([])?, read::page_of, faults)?;
    each(changes.query([])?, read::change_of, faults)?;
    each(tombstones.query([])?, read::tombstone_of, faults)
}

fn each<T>(
    mut rows: rusqlite::Rows<'_>,
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, Storage>,
    faults: &mut Vec<String>,
) -> Result<(), Storage> {
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

/// The state of a section as its members give it.
fn state(connection: &Connection, section: i64) -> Result<State, Storage> {
    let mut statement = connection.prepare_cached(
        "SELECT p.url, coalesce(m.digest, p.digest) FROM member m JOIN page p ON p.id = m.page
         WHERE m.section = ?1",
    )?;
    let mut rows = statement.query([section])?;
    let mut state = State::EMPTY;
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
) -> Result<(), Storage> {
    let mut statement = connection.prepare(
        "SELECT p.url, p.digest, b.dict, b.size, b.z, p.modified, p.title, p.language
         FROM page p JOIN body b ON b.id = p.body",
    )?;
    let mut rows = statement.query([])?;
    let mut judge = Judge::new(PageLimits::SPEC);
    let mut n_faults = 0;
    while let Some(row) = rows.next()? {
        let (url, bytes): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let z: Vec<u8> = row.get(4)?;
        let size = usize::try_from(row.get::<_, i64>(3)?).unwrap_or(usize::MAX);
        let fault = match dictionaries.unpack(connection, row.get(2)?, size, &z) {
            Ok(line) if LineDigest::of(line.as_bytes()) == digest(&bytes)? => {
                let columns: [String; 3] = [row.get(5)?, row.get(6)?, row.get(7)?];
                match column_fault(&mut judge, &line, &url, &columns) {
                    Some(fault) => fault.to_owned(),
                    None => continue,
                }
            }
            Ok(_) => "the body is not the one the digest was taken of".to_owned(),
            Err(error) => error.to_string(),
        };
        n_faults += 1;
        if n_faults <= MOST {
            faults.push(format!("{url}: {fault}"));
        }
    }
    Ok(())
}

/// What the columns of a page say that its line does not.
fn column_fault(
    judge: &mut Judge,
    line: &str,
    url: &str,
    [modified, title, language]: &[String; 3],
) -> Option<&'static str> {
    // A line that is no page has no columns to be held against.
    let page = judge.read(line, 1, &mut ()).ok().flatten()?;
    if page.url.key() != url || page.modified.to_string() != *modified {
        return Some("the body is of another page, or of another time");
    }
    if *page.title != **title || page.language.as_str() != language {
        return Some("the title or the language is not the one of the body");
    }
    None
}
