//! The database schema, and the migration of older files.
//!
//! Migration steps are numbered and never changed: step n converts format n - 1 to format n, in one
//! transaction. `docs/replica.md` describes the tables for users who query them.

use rusqlite::Connection;

use crate::error::{OpenError, StorageError};

/// The `SQLite` application id of a replica: the ASCII bytes `RUTT`.
pub(super) const APPLICATION: i32 = 0x5255_5454;

/// The SQL statements of one migration step.
pub(super) type MigrationStep = &'static str;

/// The migration steps from an empty file to the newest format.
pub(super) const STEPS: &[MigrationStep] = &[FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4];

const FORMAT_1: MigrationStep = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE dict (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE publisher (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    origin TEXT NOT NULL UNIQUE,
    aliases TEXT NOT NULL DEFAULT '[]',
    policy TEXT NOT NULL DEFAULT '',
    lease_holder TEXT,
    lease_until TEXT,
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    paused_until TEXT,
    dict INTEGER REFERENCES dict(id),
    pages INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE section (
    id INTEGER PRIMARY KEY,
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    proved INTEGER NOT NULL,
    mark TEXT NOT NULL,
    snapshot_at TEXT,
    deltas_since INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    held TEXT,
    UNIQUE (publisher, name)
);
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    url TEXT NOT NULL,
    modified TEXT NOT NULL,
    digest BLOB NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    source TEXT NOT NULL,
    withheld TEXT,
    body INTEGER REFERENCES body(id),
    first_seen TEXT NOT NULL,
    changed TEXT NOT NULL,
    UNIQUE (publisher, url)
);
CREATE TABLE body (
    id INTEGER PRIMARY KEY,
    dict INTEGER REFERENCES dict(id),
    size INTEGER NOT NULL,
    z BLOB NOT NULL
);
CREATE TABLE member (
    section INTEGER NOT NULL REFERENCES section(id),
    page INTEGER NOT NULL REFERENCES page(id),
    by_delta TEXT,
    digest BLOB,
    PRIMARY KEY (section, page)
) WITHOUT ROWID;
CREATE INDEX member_page ON member (page);
CREATE TABLE tombstone (
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    url TEXT NOT NULL,
    at TEXT NOT NULL,
    cause TEXT NOT NULL,
    modified TEXT NOT NULL,
    PRIMARY KEY (publisher, url)
) WITHOUT ROWID;
CREATE TABLE change (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    publisher INTEGER NOT NULL,
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    modified TEXT NOT NULL,
    digest BLOB NOT NULL
);
CREATE INDEX change_at ON change (at);
CREATE TABLE taken (
    id INTEGER PRIMARY KEY,
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    section TEXT NOT NULL,
    url TEXT NOT NULL,
    kind TEXT NOT NULL,
    generated TEXT NOT NULL,
    since TEXT,
    checksum TEXT,
    from_state TEXT,
    state TEXT,
    bytes INTEGER NOT NULL,
    at TEXT NOT NULL,
    outcome TEXT NOT NULL
);
CREATE INDEX taken_publisher ON taken (publisher);
CREATE TABLE validator (
    url TEXT PRIMARY KEY,
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    etag TEXT,
    last_modified TEXT,
    checked TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    publisher INTEGER NOT NULL UNIQUE REFERENCES publisher(id),
    section TEXT NOT NULL,
    kind TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    started TEXT NOT NULL
);
CREATE TABLE stage (
    run INTEGER NOT NULL REFERENCES run(id),
    url TEXT NOT NULL,
    page INTEGER,
    content INTEGER NOT NULL,
    modified TEXT NOT NULL,
    digest BLOB NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    withheld TEXT,
    body INTEGER,
    PRIMARY KEY (run, url)
) WITHOUT ROWID;
CREATE TABLE entity (
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    position INTEGER NOT NULL,
    url TEXT,
    type TEXT,
    name TEXT,
    alternate_names TEXT NOT NULL,
    description TEXT,
    negative_tags TEXT NOT NULL,
    markers TEXT NOT NULL,
    basin_state TEXT,
    bdr REAL,
    verification TEXT,
    packet_ref TEXT,
    collisions TEXT NOT NULL,
    same_as TEXT NOT NULL,
    identifiers TEXT NOT NULL,
    extra TEXT NOT NULL,
    PRIMARY KEY (publisher, position)
) WITHOUT ROWID;
CREATE TABLE arc_entry (
    id INTEGER PRIMARY KEY,
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    url TEXT NOT NULL,
    allowed INTEGER NOT NULL,
    entry TEXT NOT NULL,
    UNIQUE (publisher, url)
);
INSERT INTO meta VALUES ('store', randomblob(8));
INSERT INTO meta VALUES ('pruned', 0);
";

/// Adds seals, which detect damaged rows, and records about sites.
const FORMAT_2: MigrationStep = "
ALTER TABLE publisher ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE publisher SET seal = row_seal(id, origin, aliases, policy);
ALTER TABLE page ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE page SET seal = row_seal(publisher, url, modified, digest, title, language, source, withheld,
    first_seen, changed);
ALTER TABLE change ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE change SET seal = row_seal(at, publisher, kind, url, modified, digest);
ALTER TABLE arc_entry ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE arc_entry SET seal = row_seal(publisher, url, allowed, entry);
CREATE TABLE visit (
    publisher INTEGER PRIMARY KEY REFERENCES publisher(id),
    at TEXT NOT NULL,
    result TEXT NOT NULL,
    method TEXT NOT NULL,
    error TEXT,
    requests INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    left_out TEXT NOT NULL
);
CREATE TABLE forgotten (origin TEXT PRIMARY KEY, at TEXT NOT NULL, pages INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta SELECT 'store_seal', row_seal(value) FROM meta WHERE key = 'store';
";

/// Adds seals to entities and validators, and the number of entities to each publisher.
const FORMAT_3: MigrationStep = "
ALTER TABLE entity ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE entity SET seal = row_seal(publisher, position, url, type, name, alternate_names,
    description, negative_tags, markers, basin_state, bdr, verification, packet_ref, collisions,
    same_as, identifiers, extra);
ALTER TABLE validator ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE validator SET seal = row_seal(url, publisher, etag, last_modified, checked);
ALTER TABLE publisher ADD COLUMN entities INTEGER NOT NULL DEFAULT 0;
UPDATE publisher SET entities = (SELECT count(*) FROM entity e WHERE e.publisher = publisher.id);
";

/// Moves the state of a site from a column of `publisher`, and the notes about URLs from rows of
/// `validator` whose URL began with a prefix, into tables of their own. A row whose seal did not
/// match gets a seal that does not match either.
const FORMAT_4: MigrationStep = "
CREATE TABLE site_state (
    publisher INTEGER PRIMARY KEY REFERENCES publisher(id),
    state TEXT NOT NULL,
    seal INTEGER NOT NULL
);
INSERT INTO site_state
    SELECT id, policy, CASE WHEN seal = row_seal(id, origin, aliases, policy)
        THEN row_seal(id, policy) ELSE ~row_seal(id, policy) END
    FROM publisher WHERE policy != '';
UPDATE publisher SET seal = CASE WHEN seal = row_seal(id, origin, aliases, policy)
    THEN row_seal(id, origin, aliases) ELSE ~row_seal(id, origin, aliases) END;
ALTER TABLE publisher DROP COLUMN policy;
CREATE TABLE url_note (
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    publisher INTEGER NOT NULL REFERENCES publisher(id),
    value TEXT,
    noted TEXT NOT NULL,
    seal INTEGER NOT NULL,
    PRIMARY KEY (kind, url)
) WITHOUT ROWID;
CREATE TEMP TABLE note_prefix (prefix TEXT PRIMARY KEY, kind TEXT NOT NULL);
INSERT INTO note_prefix VALUES ('arc', 'arc-checksum'), ('left', 'no-page'),
    ('why', 'no-page-reason'), ('withheld', 'withheld-page'), ('gone', 'missing-since'),
    ('moved', 'moved-to'), ('tried', 'requested'), ('lastmod', 'lastmod'),
    ('ai-train', 'ai-train'), ('snapshot', 'arc-snapshot'), ('expiry', 'expiry'),
    ('out', 'left-out');
INSERT OR IGNORE INTO url_note
    SELECT kind, url, publisher, value, noted, CASE WHEN coalesce(is_sound, 0)
        THEN row_seal(kind, url, publisher, value, noted)
        ELSE ~row_seal(kind, url, publisher, value, noted) END
    FROM (SELECT k.kind, substr(v.url, length(k.prefix) + 2) AS url, v.publisher,
            CASE
                WHEN k.kind IN ('no-page', 'withheld-page')
                    THEN json_object('etag', v.tag, 'last_modified', v.date)
                WHEN k.kind = 'expiry' THEN json_object('page', v.tag, 'header', v.date)
                ELSE v.tag
            END AS value,
            v.noted, v.is_sound
        FROM (SELECT url, publisher,
                -- A damaged row may hold values of other types.
                CASE typeof(etag) WHEN 'text' THEN etag END AS tag,
                CASE typeof(last_modified) WHEN 'text' THEN last_modified END AS date,
                CASE typeof(checked) WHEN 'text' THEN checked ELSE '' END AS noted,
                seal = row_seal(url, publisher, etag, last_modified, checked) AS is_sound
            FROM validator) v JOIN note_prefix k ON k.prefix = substr(v.url, 1, instr(v.url, ':') - 1));
DELETE FROM validator
    WHERE substr(url, 1, instr(url, ':') - 1) IN (SELECT prefix FROM note_prefix);
DROP TABLE note_prefix;
";

/// Migrates a file to the newest format.
pub(super) fn migrate(
    connection: &mut Connection,
    steps: &[MigrationStep],
) -> Result<(), OpenError> {
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    super::seal::register(connection)?;
    // Another process may have migrated the file meanwhile, so the format is read again inside the
    // transaction.
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mut format = format(&transaction)?;
    if known < format {
        return Err(OpenError::Newer { found: format, known });
    }
    if format == known {
        return Ok(());
    }
    if format == 0 {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    let left = steps.get(usize::try_from(format).unwrap_or(0)..).unwrap_or_default();
    for step in left {
        transaction.execute_batch(step)?;
        format += 1;
    }
    transaction.execute(
        "INSERT INTO meta VALUES ('format', ?1) ON CONFLICT DO UPDATE SET value = excluded.value",
        [format],
    )?;
    Ok(transaction.commit()?)
}

/// Returns the number of a file's format; 0 for an empty file.
pub(super) fn format(connection: &Connection) -> Result<u32, OpenError> {
    let n_tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    match (n_tables, application) {
        (0, 0) => Ok(0),
        (_, APPLICATION) => {
            let format: Option<u32> = rusqlite::OptionalExtension::optional(connection.query_row(
                "SELECT value FROM meta WHERE key = 'format'",
                [],
                |row| row.get(0),
            ))?;
            format.ok_or_else(|| StorageError::damaged("the format number is missing").into())
        }
        _ => Err(OpenError::NotAReplica),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // F08 F09
    fn runs_each_step_once_in_order_and_rolls_back_on_failure() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, STEPS).unwrap();
        let now = u32::try_from(STEPS.len()).unwrap();
        assert_eq!(format(&connection).unwrap(), now);
        let broken: Vec<MigrationStep> =
            [STEPS, &["ALTER TABLE page ADD COLUMN x; CREATE TABLE page (y);"]].concat();
        assert!(migrate(&mut connection, &broken).is_err());
        assert_eq!(format(&connection).unwrap(), now);
        let more: Vec<MigrationStep> = [STEPS, &["ALTER TABLE page ADD COLUMN x"]].concat();
        migrate(&mut connection, &more).unwrap();
        migrate(&mut connection, &more).unwrap();
        assert_eq!(format(&connection).unwrap(), now + 1);
        let error = migrate(&mut connection, STEPS).unwrap_err();
        assert!(matches!(error, OpenError::Newer { found, known } if found == known + 1));
    }
}
