//! Reads and writes the entities of a site.

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use rutter_page::JsonTree;
use rutter_spxi::{BasinState, Collision, CollisionRisk, Entity, VerificationLevel};

use super::columns::{collect, word};
use crate::error::StorageError;
use crate::model::PublisherId;

pub(super) fn list_json<T: AsRef<str>>(list: &[T]) -> String {
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
