//! Reads and writes the records of sites: publishers, sections and downloads.

use rusqlite::{Connection, Row, Transaction, params};
use rutter_scp::SectionState;
use rutter_spxi::Entity;

use super::columns::{collect, optional_time, time, word};
use super::entities::list_json;
use super::{SqliteStore, arc, entities};
use crate::error::{QueryError, StorageError, WriteError};
use crate::model::{ArcRow, DownloadRecord, Publisher, PublisherId, Section, StagingMode};
use crate::store::SiteQueries;

impl SiteQueries for SqliteStore {
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError> {
        Ok(publishers(&*self.reader()?)?)
    }

    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError> {
        Ok(publisher(&*self.reader()?, origin)?)
    }

    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError> {
        let sections = sections(&*self.reader()?, publisher)?;
        Ok(sections.into_iter().map(|(_, section)| section).collect())
    }

    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError> {
        Ok(sections_of(&*self.reader()?, publisher, key)?)
    }

    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError> {
        Ok(arc::arc_entry(&*self.reader()?, key)?)
    }

    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError> {
        Ok(arc::arc_entries(&*self.reader()?, publisher, after, most)?)
    }

    fn arc_forbidden(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError> {
        Ok(arc::arc_forbidden(&*self.reader()?, publisher, after, most)?)
    }

    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError> {
        Ok(entities::entities(&*self.reader()?, publisher)?)
    }

    fn downloads(
        &self,
        publisher: PublisherId,
        most: usize,
    ) -> Result<Vec<DownloadRecord>, QueryError> {
        Ok(downloads(&*self.reader()?, publisher, most)?)
    }
}

const PUBLISHER: &str = "SELECT id, origin, aliases, paused_until, pages, bytes,
    lease_holder, lease_until, seal = row_seal(id, origin, aliases) FROM publisher";

fn publisher_of(row: &Row<'_>) -> Result<Publisher, StorageError> {
    let aliases: String = row.get(2)?;
    let holder: Option<String> = row.get(6)?;
    let until = optional_time(row.get(7)?)?;
    if !row.get::<_, bool>(8)? {
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
        paused_until: optional_time(row.get(3)?)?,
        pages: row.get(4)?,
        bytes: row.get(5)?,
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

pub(super) fn register(
    connection: &Connection,
    origin: &str,
    aliases: &[&str],
) -> Result<PublisherId, WriteError> {
    let has_aliases = !aliases.is_empty();
    let aliases = list_json(aliases);
    let transaction = connection.unchecked_transaction()?;
    transaction.execute(
        "INSERT INTO publisher (origin, aliases) VALUES (?1, ?2)
         ON CONFLICT (origin) DO UPDATE SET aliases = excluded.aliases
         WHERE ?3 AND aliases != excluded.aliases",
        params![origin, aliases, has_aliases],
    )?;
    transaction.execute(
        "UPDATE publisher SET seal = row_seal(id, origin, aliases)
         WHERE origin = ?1 AND seal != row_seal(id, origin, aliases)",
        [origin],
    )?;
    let question = "SELECT id FROM publisher WHERE origin = ?1";
    let id = transaction.query_row(question, [origin], |row| row.get(0))?;
    transaction.commit()?;
    Ok(PublisherId(id))
}

pub(super) fn record_download(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    taken: &DownloadRecord,
) -> Result<(), StorageError> {
    transaction.execute(
        "INSERT INTO taken (publisher, section, url, kind, generated, since, checksum, from_state,
            state, bytes, at, outcome)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            publisher.0,
            taken.section,
            taken.url,
            taken.mode.word(),
            taken.generated.to_string(),
            taken.since.map(|time| time.to_string()),
            taken.checksum,
            taken.from.map(|state| state.to_string()),
            taken.state.map(|state| state.to_string()),
            taken.bytes,
            taken.at.to_string(),
            taken.outcome,
        ],
    )?;
    Ok(())
}

pub(super) fn downloads(
    connection: &Connection,
    publisher: PublisherId,
    most: usize,
) -> Result<Vec<DownloadRecord>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT section, url, kind, generated, since, checksum, from_state, state, bytes, at,
            outcome
         FROM taken WHERE publisher = ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    collect(statement.query(params![publisher.0, most])?, |row| {
        let text = |at: usize| -> Result<String, StorageError> { Ok(row.get(at)?) };
        let state = |at: usize| -> Result<Option<SectionState>, StorageError> {
            let text: Option<String> = row.get(at)?;
            text.map(|text| word(&text, SectionState::parse)).transpose()
        };
        Ok(DownloadRecord {
            section: row.get(0)?,
            url: row.get(1)?,
            mode: word(&text(2)?, StagingMode::of_word)?,
            generated: time(&text(3)?)?,
            since: optional_time(row.get(4)?)?,
            checksum: row.get(5)?,
            from: state(6)?,
            state: state(7)?,
            bytes: row.get(8)?,
            at: time(&text(9)?)?,
            outcome: row.get(10)?,
        })
    })
}
