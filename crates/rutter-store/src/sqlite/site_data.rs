//! Reads and writes records other than pages: publishers, ARC entries, entities, validators and
//! download records. Also deletes old records (maintenance).

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use rutter_arc::{ArcEntry, Consent};
use rutter_page::{JsonTree, Timestamp};
use rutter_scp::SectionState;
use rutter_spxi::{BasinState, Collision, CollisionRisk, Entity, VerificationLevel};

use super::read::{BROKEN_SEAL, collect, origin_of};
use super::rows::PageIdSet;
use super::{optional_time, time, word};
use crate::error::{DamagedPage, StorageError, WriteError};
use crate::model::{ArcRow, DownloadRecord, PublisherId, StagingMode, Validator};

/// Maximum number of download records per publisher.
const MOST_TAKEN: i64 = 1_000;
/// Number of free database pages that one statement returns to the file system.
const SLICE: u32 = 1_000;

pub(super) fn register(
    connection: &Connection,
    origin: &str,
    aliases: &[&str],
    policy: &str,
) -> Result<PublisherId, WriteError> {
    let has_aliases = !aliases.is_empty();
    let aliases = list_json(aliases);
    let transaction = connection.unchecked_transaction()?;
    transaction.execute(
        "INSERT INTO publisher (origin, aliases, policy) VALUES (?1, ?2, ?3)
         ON CONFLICT (origin) DO UPDATE SET policy = excluded.policy,
            aliases = CASE WHEN ?4 THEN excluded.aliases ELSE aliases END
         WHERE (?4 AND aliases != excluded.aliases) OR policy != excluded.policy",
        params![origin, aliases, policy, has_aliases],
    )?;
    transaction.execute(
        "UPDATE publisher SET seal = row_seal(id, origin, aliases, policy)
         WHERE origin = ?1 AND seal != row_seal(id, origin, aliases, policy)",
        [origin],
    )?;
    let question = "SELECT id FROM publisher WHERE origin = ?1";
    let id = transaction.query_row(question, [origin], |row| row.get(0))?;
    transaction.commit()?;
    Ok(PublisherId(id))
}

const ARC: &str = "SELECT publisher, url, allowed, entry,
    seal = row_seal(publisher, url, allowed, entry) FROM arc_entry";

fn arc_of(row: &rusqlite::Row<'_>) -> Result<ArcRow, StorageError> {
    if !row.get::<_, bool>(4)? {
        let url: String = row.get(1)?;
        return Err(StorageError::damaged(format!(
            "the seal of the ARC entry of {url} does not match"
        )));
    }
    Ok(ArcRow {
        publisher: PublisherId(row.get(0)?),
        url: row.get(1)?,
        is_allowed: row.get(2)?,
        json: row.get(3)?,
    })
}

pub(super) fn arc_entry(
    connection: &Connection,
    key: &str,
) -> Result<Option<ArcRow>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "{ARC} WHERE url = ?1 AND publisher IN (SELECT id FROM publisher)
         ORDER BY publisher != coalesce((SELECT id FROM publisher WHERE origin = ?2), 0), publisher
         LIMIT 1"
    ))?;
    Ok(collect(statement.query([key, origin_of(key)])?, arc_of)?.pop())
}

pub(super) fn arc_entries(
    connection: &Connection,
    publisher: PublisherId,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<ArcRow>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "{ARC} WHERE publisher = ?1 AND ?2 < url ORDER BY url LIMIT ?3"
    ))?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    collect(statement.query(params![publisher.0, after.unwrap_or(""), most])?, arc_of)
}

pub(super) fn arc_forbidden(
    connection: &Connection,
    publisher: PublisherId,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<String>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT url FROM arc_entry WHERE publisher = ?1 AND ?2 < url AND NOT allowed
         ORDER BY url LIMIT ?3",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = statement.query(params![publisher.0, after.unwrap_or(""), most])?;
    collect(rows, |row| Ok(row.get(0)?))
}

/// Writes an ARC entry if it differs from the stored one; returns its id.
fn put_arc(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    entry: &ArcEntry<'_>,
) -> Result<i64, StorageError> {
    let is_allowed = entry.consent() == Consent::Given;
    let id: i64 = transaction
        .prepare_cached(
            "INSERT INTO arc_entry (publisher, url, allowed, entry, seal)
             VALUES (?1, ?2, ?3, ?4, row_seal(?1, ?2, ?3, ?4))
             ON CONFLICT (publisher, url) DO UPDATE SET
                allowed = excluded.allowed, entry = excluded.entry, seal = excluded.seal
             WHERE allowed != excluded.allowed OR entry != excluded.entry
             RETURNING id",
        )?
        .query_row(params![publisher.0, entry.url.key(), is_allowed, entry.to_json()], |row| {
            row.get(0)
        })
        .optional()?
        .map_or_else(
            || {
                // The statement wrote nothing, because the entry is unchanged.
                transaction
                    .prepare_cached("SELECT id FROM arc_entry WHERE publisher = ?1 AND url = ?2")?
                    .query_row(params![publisher.0, entry.url.key()], |row| row.get(0))
            },
            Ok,
        )?;
    Ok(id)
}

pub(super) fn replace_arc(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
) -> Result<(), StorageError> {
    let mut seen = PageIdSet::default();
    for entry in entries.filter(|entry| !entry.removed) {
        seen.set(put_arc(transaction, publisher, &entry)?);
    }
    let mut statement =
        transaction.prepare_cached("SELECT id FROM arc_entry WHERE publisher = ?1")?;
    let all: Vec<i64> = collect(statement.query([publisher.0])?, |row| Ok(row.get(0)?))?;
    let mut delete = transaction.prepare_cached("DELETE FROM arc_entry WHERE id = ?1")?;
    for id in all.into_iter().filter(|id| !seen.has(*id)) {
        delete.execute([id])?;
    }
    Ok(())
}

pub(super) fn merge_arc(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
) -> Result<(), StorageError> {
    for entry in entries {
        if entry.removed {
            transaction
                .prepare_cached("DELETE FROM arc_entry WHERE publisher = ?1 AND url = ?2")?
                .execute(params![publisher.0, entry.url.key()])?;
        } else {
            put_arc(transaction, publisher, &entry)?;
        }
    }
    Ok(())
}

fn list_json<T: AsRef<str>>(list: &[T]) -> String {
    JsonTree::List(list.iter().map(|text| JsonTree::text(text.as_ref())).collect()).to_json()
}

fn list_of(json: &str) -> Result<Vec<String>, StorageError> {
    serde_json::from_str(json).map_err(|_| StorageError::damaged("a list of texts is invalid"))
}

/// Returns a JSON member, or `None` if the value is missing.
fn pair(name: &str, value: Option<&str>) -> Option<(String, JsonTree)> {
    value.map(|value| (name.to_owned(), JsonTree::text(value)))
}

fn collision_tree(collision: &Collision) -> JsonTree {
    let members = [
        pair("with", collision.with.as_deref()),
        pair("attribute", collision.attribute.as_deref()),
        pair("risk", collision.risk.map(CollisionRisk::word)),
    ];
    JsonTree::Map(members.into_iter().flatten().collect())
}

fn collision_of(tree: &JsonTree) -> Collision {
    let text = |name: &str| tree.get(name).and_then(JsonTree::as_str);
    Collision {
        with: text("with").map(str::to_owned),
        attribute: text("attribute").map(str::to_owned),
        risk: text("risk").and_then(CollisionRisk::of_word),
    }
}

pub(super) fn replace_entities(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    entities: &[Entity],
) -> Result<(), StorageError> {
    transaction.execute("DELETE FROM entity WHERE publisher = ?1", [publisher.0])?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO entity (publisher, position, url, type, name, alternate_names, description,
            negative_tags, markers, basin_state, bdr, verification, packet_ref, collisions,
            same_as, identifiers, extra, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
            row_seal(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17))",
    )?;
    for (position, entity) in entities.iter().enumerate() {
        let collisions = entity.collisions.iter().map(collision_tree).collect();
        statement.execute(params![
            publisher.0,
            position,
            entity.id,
            entity.entity_type,
            entity.name,
            list_json(&entity.alternate_names),
            entity.description,
            list_json(&entity.negative_tags),
            list_json(&entity.markers),
            entity.basin_state.map(BasinState::word),
            entity.bdr,
            entity.verification.map(VerificationLevel::word),
            entity.packet_ref,
            JsonTree::List(collisions).to_json(),
            list_json(&entity.same_as),
            list_json(&entity.identifiers),
            JsonTree::Map(entity.extra.clone()).to_json(),
        ])?;
    }
    transaction.execute(
        "UPDATE publisher SET entities = ?1 WHERE id = ?2",
        params![entities.len(), publisher.0],
    )?;
    Ok(())
}

pub(super) const ENTITY: &str = "url, type, name, alternate_names, description, negative_tags,
    markers, basin_state, bdr, verification, packet_ref, collisions, same_as, identifiers, extra,
    seal = row_seal(publisher, position, url, type, name, alternate_names, description,
        negative_tags, markers, basin_state, bdr, verification, packet_ref, collisions, same_as,
        identifiers, extra)";

/// Converts a row to an entity; returns an error if its seal does not match.
pub(super) fn entity_of(row: &rusqlite::Row<'_>) -> Result<Entity, StorageError> {
    if row.get(15).ok() != Some(true) {
        let name: Option<String> = row.get(2).unwrap_or_default();
        let name = name.unwrap_or_else(|| "without a name".to_owned());
        return Err(StorageError::damaged(format!("the record of entity {name} is damaged")));
    }
    let list = |at: usize| -> Result<Vec<String>, StorageError> {
        let json: String = row.get(at)?;
        list_of(&json)
    };
    let tree = |at: usize| -> Result<JsonTree, StorageError> {
        let json: String = row.get(at)?;
        JsonTree::parse(&json).ok_or_else(|| StorageError::damaged("an entity is not JSON"))
    };
    let basin_state: Option<String> = row.get(7)?;
    let verification: Option<String> = row.get(9)?;
    Ok(Entity {
        id: row.get(0)?,
        entity_type: row.get(1)?,
        name: row.get(2)?,
        alternate_names: list(3)?,
        description: row.get(4)?,
        negative_tags: list(5)?,
        markers: list(6)?,
        basin_state: basin_state.map(|text| word(&text, BasinState::of_word)).transpose()?,
        bdr: row.get(8)?,
        verification: verification
            .map(|text| word(&text, VerificationLevel::of_word))
            .transpose()?,
        packet_ref: row.get(10)?,
        collisions: tree(11)?.items().iter().map(collision_of).collect(),
        same_as: list(12)?,
        identifiers: list(13)?,
        extra: tree(14)?.members().to_vec(),
    })
}

pub(super) fn entities(
    connection: &Connection,
    publisher: PublisherId,
) -> Result<Vec<Entity>, StorageError> {
    // Both queries run in one transaction, so that the number of entities matches the rows.
    let transaction = connection.unchecked_transaction()?;
    let mut statement = transaction.prepare_cached(&format!(
        "SELECT {ENTITY} FROM entity WHERE publisher = ?1 ORDER BY position"
    ))?;
    let entities = collect(statement.query([publisher.0])?, entity_of)?;
    let expected: Option<usize> = transaction
        .query_row("SELECT entities FROM publisher WHERE id = ?1", [publisher.0], |row| row.get(0))
        .optional()?;
    if expected.unwrap_or(0) != entities.len() {
        return Err(StorageError::damaged("the number of entities of a site is wrong"));
    }
    Ok(entities)
}

pub(super) fn store_validator(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    validator: &Validator,
) -> Result<(), StorageError> {
    let Validator { url, etag, last_modified, checked } = validator;
    transaction.execute(
        "INSERT OR REPLACE INTO validator (url, publisher, etag, last_modified, checked, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, row_seal(?1, ?2, ?3, ?4, ?5))",
        params![url, publisher.0, etag, last_modified, checked.to_string()],
    )?;
    Ok(())
}

pub(super) fn validator(
    connection: &Connection,
    url: &str,
) -> Result<Option<Validator>, StorageError> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {VALIDATOR} FROM validator WHERE url = ?1"))?;
    let found = collect(statement.query([url])?, validator_of)?;
    Ok(found.into_iter().next())
}

pub(super) const VALIDATOR: &str = "url, etag, last_modified, checked,
    seal = row_seal(url, publisher, etag, last_modified, checked)";

/// Converts a row to a validator; returns an error if its seal does not match.
pub(super) fn validator_of(row: &rusqlite::Row<'_>) -> Result<Validator, StorageError> {
    if row.get(4).ok() != Some(true) {
        let url = row.get(0).unwrap_or_else(|_| "a validator".to_owned());
        return Err(StorageError::damaged(format!("{url}: {BROKEN_SEAL}")));
    }
    let checked: String = row.get(3)?;
    Ok(Validator {
        url: row.get(0)?,
        etag: row.get(1)?,
        last_modified: row.get(2)?,
        checked: time(&checked)?,
    })
}

/// Returns the URL notes with the prefix `word:` that sort after `after`. (The upper bound of the
/// query is `word;`, because the semicolon follows the colon in byte order.)
pub(super) fn url_notes(
    connection: &Connection,
    publisher: PublisherId,
    word: &str,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<Result<Validator, DamagedPage>>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {VALIDATOR} FROM validator
         WHERE ?1 < url AND url < ?2 AND publisher = ?3 ORDER BY url LIMIT ?4"
    ))?;
    let start = format!("{word}:{}", after.unwrap_or_default());
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![start, format!("{word};"), publisher.0, most])?;
    let mut last = start.clone();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let url: String = row.get(0)?;
        if url <= last {
            return Err(StorageError::damaged(format!("URL notes are not in order after {last}")));
        }
        last.clone_from(&url);
        let damaged = |_| DamagedPage { publisher, url, what: BROKEN_SEAL.to_owned() };
        found.push(validator_of(row).map_err(damaged));
    }
    Ok(found)
}

pub(super) fn delete_url_notes(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    marks: &[String],
) -> Result<(), StorageError> {
    let mut statement =
        transaction.prepare_cached("DELETE FROM validator WHERE url = ?1 AND publisher = ?2")?;
    for mark in marks {
        statement.execute(params![mark, publisher.0])?;
    }
    Ok(())
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

/// Deletes history and records from before `oldest`, and returns free space to the file system.
pub(super) fn maintain(connection: &mut Connection, oldest: Timestamp) -> Result<(), WriteError> {
    let oldest = oldest.to_string();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Only the start of the history can be deleted, because cursors are positions in the history.
    // The plus sign in `+at` prevents the use of the index on `at`, which would visit every event
    // that is kept.
    let last: Option<i64> = transaction.query_row(
        "SELECT coalesce((SELECT seq - 1 FROM change WHERE ?1 <= +at ORDER BY seq LIMIT 1),
            (SELECT max(seq) FROM change))",
        [&oldest],
        |row| row.get(0),
    )?;
    if let Some(last) = last {
        transaction.execute("DELETE FROM change WHERE seq <= ?1", [last])?;
        transaction
            .execute("UPDATE meta SET value = max(value, ?1) WHERE key = 'pruned'", [last])?;
    }
    transaction.execute("DELETE FROM tombstone WHERE at < ?1", [&oldest])?;
    transaction.execute(
        "DELETE FROM taken WHERE at < ?1 AND id NOT IN (SELECT id FROM taken t
            WHERE t.publisher = taken.publisher ORDER BY id DESC LIMIT ?2)",
        params![oldest, MOST_TAKEN],
    )?;
    // Delete old validators and URL notes of URLs that are not stored pages. The name of a URL note
    // is a prefix, a colon and a URL.
    transaction.execute(
        "DELETE FROM validator WHERE checked < ?1 AND NOT EXISTS (SELECT 1 FROM page p
            WHERE p.publisher = validator.publisher AND p.url = CASE
                WHEN validator.url LIKE 'http%' THEN validator.url
                ELSE substr(validator.url, instr(validator.url, ':') + 1) END)",
        [&oldest],
    )?;
    transaction.commit()?;
    // Up to a quarter of the file stays free, so that the next snapshot can use that space.
    let count = |name: &str| -> Result<u32, StorageError> {
        Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
    };
    while count("page_count")? / 4 < count("freelist_count")? {
        let before = count("freelist_count")?;
        connection.execute_batch(&format!("PRAGMA incremental_vacuum({SLICE})"))?;
        if before <= count("freelist_count")? {
            break;
        }
    }
    super::records::scrub_if_due(connection)?;
    connection.execute_batch("PRAGMA optimize")?;
    Ok(())
}
