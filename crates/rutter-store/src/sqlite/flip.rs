//! Commits a staging: makes all staged changes visible in one transaction.
//!
//! The commit changes rows and never copies bodies. It writes content, memberships, removals,
//! history, the download record and the totals of the section. Later statements depend on the rows
//! that earlier statements write.

use rusqlite::{Transaction, params};
use rutter_page::Timestamp;
use rutter_scp::MassDeletionPolicy;

use super::rows::RemovedPage;
use super::search;
use super::{sites, sync_records};
use crate::error::StorageError;
use crate::model::{
    ChangeKind, CommitOptions, CommitSummary, DownloadRecord, PageSource, PublisherId,
    RemovalCause, Section, StagingMode, WithheldReason,
};

/// The input of [`flip`].
// More than 12 fields: the values that the statements of one transaction bind.
pub(super) struct CommitInput<'f> {
    pub(super) publisher: i64,
    pub(super) run: i64,
    pub(super) section: Option<&'f (i64, Section)>,
    pub(super) name: &'f str,
    pub(super) mode: StagingMode,
    pub(super) generated: Timestamp,
    pub(super) source: PageSource,
    pub(super) now: Timestamp,
    pub(super) staged_bytes: u64,
    pub(super) leaving: &'f [RemovedPage],
    pub(super) unfollowed: &'f [String],
    pub(super) outlook: &'f CommitSummary,
    pub(super) finish: &'f CommitOptions,
}

/// Makes the staged changes visible to readers.
pub(super) fn flip(
    transaction: &Transaction<'_>,
    flip: &CommitInput<'_>,
) -> Result<(), StorageError> {
    let section = write_section(transaction, flip)?;
    let freed = replace_content(transaction, flip, section)?;
    write_members(transaction, flip, section)?;
    let removed = remove(transaction, flip, section)?;
    transaction.execute(
        "UPDATE publisher SET pages = pages + ?1 - ?2, bytes = bytes + ?3 - ?4 WHERE id = ?5",
        params![
            flip.outlook.added,
            removed.pages,
            flip.staged_bytes,
            freed + removed.bytes,
            flip.publisher
        ],
    )?;
    if let Some(taken) = &flip.finish.taken {
        sites::record_download(transaction, PublisherId(flip.publisher), taken)?;
    }
    if let Some(validator) = &flip.finish.validator {
        sync_records::store_validator(transaction, PublisherId(flip.publisher), validator)?;
    }
    transaction.execute("DELETE FROM stage WHERE run = ?1", [flip.run])?;
    transaction.execute("DELETE FROM run WHERE id = ?1", [flip.run])?;
    Ok(())
}

fn write_section(
    transaction: &Transaction<'_>,
    flip: &CommitInput<'_>,
) -> Result<i64, StorageError> {
    let before = flip.section.map(|(_, section)| section);
    let latest = before.map_or(flip.generated, |section| section.mark.max(flip.generated));
    let snapshot_at = before.and_then(|section| section.snapshot_at);
    let deltas_since = before.map_or(0, |section| section.deltas_since);
    let (mark, snapshot_at, deltas_since) = match flip.mode {
        StagingMode::Snapshot => (flip.generated, Some(flip.generated), 0),
        StagingMode::Delta => (latest, snapshot_at, deltas_since + 1),
        // A visit applies no collection, so it does not change the time up to which the section is
        // complete.
        StagingMode::Visit if snapshot_at.is_some() => {
            (before.map_or(latest, |section| section.mark), snapshot_at, deltas_since)
        }
        StagingMode::Visit => (latest, snapshot_at, deltas_since),
    };
    // The section no longer waits for a confirmation after a snapshot, or after a delta for which
    // the user allowed the mass deletion.
    let is_settled = flip.mode == StagingMode::Snapshot
        || (flip.mode == StagingMode::Delta
            && flip.finish.mass_deletion == MassDeletionPolicy::Allowed);
    let held = before.and_then(|section| section.held).filter(|_| !is_settled);
    transaction.execute(
        "INSERT INTO section
            (publisher, name, state, proved, mark, snapshot_at, deltas_since, pages, held)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (publisher, name) DO UPDATE SET
            state = excluded.state, proved = excluded.proved, mark = excluded.mark,
            snapshot_at = excluded.snapshot_at, deltas_since = excluded.deltas_since,
            pages = excluded.pages, held = excluded.held",
        params![
            flip.publisher,
            flip.name,
            flip.outlook.state.to_string(),
            flip.finish.claim.is_some(),
            mark.to_string(),
            snapshot_at.map(|time| time.to_string()),
            deltas_since,
            flip.outlook.after,
            held.map(|time| time.to_string()),
        ],
    )?;
    Ok(transaction.query_row(
        "SELECT id FROM section WHERE publisher = ?1 AND name = ?2",
        params![flip.publisher, flip.name],
        |row| row.get(0),
    )?)
}

/// Writes the staged content; returns the size of the bodies that it replaced, in bytes.
fn replace_content(
    transaction: &Transaction<'_>,
    flip: &CommitInput<'_>,
    section: i64,
) -> Result<u64, StorageError> {
    let now = flip.now.to_string();
    // The replaced version may belong to other sections, too: their memberships keep its digest for
    // the state.
    transaction.execute(
        "UPDATE member SET digest = (SELECT digest FROM page WHERE page.id = member.page)
         WHERE digest IS NULL AND section != ?1 AND page IN (
            SELECT s.page FROM stage s JOIN page p ON p.id = s.page
            WHERE s.run = ?2 AND s.content AND s.digest != p.digest)",
        [section, flip.run],
    )?;
    transaction.execute(
        "INSERT INTO change (at, publisher, kind, url, modified, digest, seal)
         SELECT ?1, ?2, kind, url, modified, digest,
            row_seal(?1, ?2, kind, url, modified, digest)
         FROM (SELECT
            CASE WHEN s.withheld IS NOT NULL THEN ?3
                 WHEN p.id IS NULL OR p.withheld IS NOT NULL THEN ?4
                 ELSE ?5 END AS kind,
            s.url AS url, s.modified AS modified, s.digest AS digest
         FROM stage s LEFT JOIN page p ON p.id = s.page
         WHERE s.run = ?6 AND s.content
            AND (s.withheld IS NULL OR (p.id IS NOT NULL AND p.withheld IS NULL))
         ORDER BY s.url)",
        params![
            now,
            flip.publisher,
            ChangeKind::Withheld.word(),
            ChangeKind::Added.word(),
            ChangeKind::Changed.word(),
            flip.run
        ],
    )?;
    let replaced = "SELECT p.body FROM stage s JOIN page p ON p.id = s.page
                    WHERE s.run = ?1 AND s.content AND p.body IS NOT NULL";
    let freed: u64 = transaction.query_row(
        &format!("SELECT coalesce(sum(length(z)), 0) FROM body WHERE id IN ({replaced})"),
        [flip.run],
        |row| row.get(0),
    )?;
    transaction.execute(&format!("DELETE FROM body WHERE id IN ({replaced})"), [flip.run])?;
    search::drop_pages(
        transaction,
        "SELECT page FROM stage WHERE run = ?1 AND content AND page IS NOT NULL",
        [flip.run],
    )?;
    transaction.execute(STAGED_SNAPSHOTS, params![flip.publisher, flip.run])?;
    transaction.execute(
        "UPDATE page SET modified = s.modified, digest = s.digest, title = s.title,
            language = s.language, source = ?1, withheld = s.withheld, body = s.body, changed = ?2,
            seal = row_seal(page.publisher, page.url, s.modified, s.digest, s.title, s.language,
                ?1, s.withheld, page.first_seen, ?2)
         FROM stage s WHERE s.run = ?3 AND s.content AND page.id = s.page",
        params![flip.source.word(), now, flip.run],
    )?;
    transaction.execute(
        "INSERT INTO page (publisher, url, modified, digest, title, language, source, withheld,
            body, first_seen, changed, seal)
         SELECT ?1, url, modified, digest, title, language, ?2, withheld, body, ?3, ?3,
            row_seal(?1, url, modified, digest, title, language, ?2, withheld, ?3, ?3)
         FROM stage WHERE run = ?4 AND page IS NULL ORDER BY url",
        params![flip.publisher, flip.source.word(), now, flip.run],
    )?;
    // Delete the tombstones of pages that exist again.
    transaction.execute(
        "DELETE FROM tombstone WHERE publisher = ?1 AND url IN
            (SELECT url FROM stage WHERE run = ?2 AND page IS NULL)",
        [flip.publisher, flip.run],
    )?;
    Ok(freed)
}

/// Adds every staged page to the section, even if its content was not written (D24).
fn write_members(
    transaction: &Transaction<'_>,
    flip: &CommitInput<'_>,
    section: i64,
) -> Result<(), StorageError> {
    let by_delta = (flip.mode == StagingMode::Delta).then(|| flip.generated.to_string());
    transaction.execute(MEMBERS, params![section, by_delta, flip.publisher, flip.run])?;
    Ok(())
}

/// Number of removed pages, and the size of their bodies in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct RemovalTotals {
    pages: u64,
    bytes: u64,
}

fn remove(
    transaction: &Transaction<'_>,
    flip: &CommitInput<'_>,
    section: i64,
) -> Result<RemovalTotals, StorageError> {
    if flip.leaving.is_empty() && flip.unfollowed.is_empty() {
        return Ok(RemovalTotals::default());
    }
    begin_gone(transaction)?;
    {
        let mut gone = transaction.prepare_cached("INSERT INTO temp.gone VALUES (?1, ?2)")?;
        let mut member =
            transaction.prepare_cached("DELETE FROM member WHERE section = ?1 AND page = ?2")?;
        for RemovedPage { page, cause } in flip.leaving {
            gone.execute(params![page, cause.word()])?;
            member.execute([section, *page])?;
        }
    }
    for name in flip.unfollowed {
        transaction.execute(
            "INSERT OR IGNORE INTO temp.gone SELECT m.page, ?1 FROM member m JOIN section s
             ON s.id = m.section WHERE s.publisher = ?2 AND s.name = ?3",
            params![RemovalCause::Unfollowed.word(), flip.publisher, name],
        )?;
        let of_name = "SELECT id FROM section WHERE publisher = ?1 AND name = ?2";
        transaction.execute(
            &format!("DELETE FROM member WHERE section IN ({of_name})"),
            params![flip.publisher, name],
        )?;
        transaction.execute(
            "DELETE FROM section WHERE publisher = ?1 AND name = ?2",
            params![flip.publisher, name],
        )?;
    }
    // Keep a page as long as any section contains it (D24).
    transaction.execute(
        "DELETE FROM temp.gone WHERE EXISTS (SELECT 1 FROM member WHERE member.page = gone.page)",
        [],
    )?;
    delete_gone(transaction, flip.publisher, flip.now)
}

fn begin_gone(transaction: &Transaction<'_>) -> Result<(), StorageError> {
    transaction.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS gone (page INTEGER PRIMARY KEY, cause TEXT NOT NULL);
         DELETE FROM temp.gone;",
    )?;
    Ok(())
}

// `CROSS JOIN` fixes the join order: few pages of many are removed, and SQLite has no statistics
// that say so.
const GONE_EVENTS: &str = "INSERT INTO change (at, publisher, kind, url, modified, digest, seal)
     SELECT ?1, ?2, ?3, p.url, p.modified, p.digest,
        row_seal(?1, ?2, ?3, p.url, p.modified, p.digest)
     FROM temp.gone g CROSS JOIN page p ON p.id = g.page
     WHERE p.withheld IS NULL ORDER BY p.url";
const GONE_TOMBSTONES: &str =
    "INSERT OR REPLACE INTO tombstone (publisher, url, at, cause, modified)
     SELECT ?1, p.url, ?2, g.cause, p.modified FROM temp.gone g CROSS JOIN page p ON p.id = g.page";
const GONE_BYTES: &str = "SELECT coalesce(sum(length(z)), 0) FROM body WHERE id IN (
        SELECT p.body FROM temp.gone g CROSS JOIN page p ON p.id = g.page
        WHERE p.body IS NOT NULL)";
const GONE_BODIES: &str = "DELETE FROM body WHERE id IN (
        SELECT p.body FROM temp.gone g CROSS JOIN page p ON p.id = g.page
        WHERE p.body IS NOT NULL)";
// The ARC snapshot of a page is content, so it is deleted in the
// transaction that deletes the content of the page.
const STAGED_SNAPSHOTS: &str = "DELETE FROM url_note
     WHERE kind = 'arc-snapshot' AND publisher = ?1 AND url IN (SELECT s.url FROM stage s
        WHERE s.run = ?2 AND s.content AND s.withheld IS NOT NULL AND s.page IS NOT NULL)";
const GONE_SNAPSHOTS: &str = "DELETE FROM url_note
     WHERE kind = 'arc-snapshot' AND publisher = ?1 AND url IN (
        SELECT p.url FROM temp.gone g CROSS JOIN page p ON p.id = g.page)";
const WITHHELD_SNAPSHOT: &str =
    "DELETE FROM url_note WHERE kind = 'arc-snapshot' AND publisher = ?1 AND url = ?2";
const GONE_PAGES: &str = "DELETE FROM page WHERE id IN (SELECT page FROM temp.gone)";
const MEMBERS: &str = "INSERT INTO member (section, page, by_delta, digest)
     SELECT ?1, p.id, ?2, CASE WHEN s.digest = p.digest THEN NULL ELSE s.digest END
     FROM stage s CROSS JOIN page p ON p.publisher = ?3 AND p.url = s.url
     WHERE s.run = ?4
     ON CONFLICT (section, page) DO UPDATE SET
        by_delta = excluded.by_delta, digest = excluded.digest";

/// Deletes the pages in the table `temp.gone`, and adds an event and a tombstone for each page.
fn delete_gone(
    transaction: &Transaction<'_>,
    publisher: i64,
    now: Timestamp,
) -> Result<RemovalTotals, StorageError> {
    let now = now.to_string();
    // Withheld pages are not readable, so their removal needs no event.
    transaction.execute(GONE_EVENTS, params![now, publisher, ChangeKind::Removed.word()])?;
    transaction.execute(GONE_TOMBSTONES, params![publisher, now])?;
    let bytes: u64 = transaction.query_row(GONE_BYTES, [], |row| row.get(0))?;
    transaction.execute(GONE_BODIES, [])?;
    search::drop_pages(transaction, "SELECT page FROM temp.gone", [])?;
    transaction.execute(GONE_SNAPSHOTS, [publisher])?;
    let pages = transaction.execute(GONE_PAGES, [])?;
    transaction.execute("DELETE FROM temp.gone", [])?;
    Ok(RemovalTotals { pages: pages as u64, bytes })
}

/// Records that a collection is held back, so that a later snapshot can confirm its deletions
/// (D23).
///
/// Besides its own section, the sections that the collection replaces record its time, because its
/// own section may not exist yet.
pub(super) fn hold_back<'n>(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    sections: impl IntoIterator<Item = &'n String>,
    generated: Timestamp,
    finish: &CommitOptions,
) -> Result<(), StorageError> {
    for section in sections {
        transaction.execute(
            "UPDATE section SET held = coalesce(held, ?1) WHERE publisher = ?2 AND name = ?3",
            params![generated.to_string(), publisher.0, section],
        )?;
    }
    if let Some(taken) = &finish.taken {
        let taken = DownloadRecord { outcome: "held back".into(), ..taken.clone() };
        sites::record_download(transaction, publisher, &taken)?;
    }
    Ok(())
}

/// Deletes the content of pages and keeps their records.
pub(super) fn withhold(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    pages: &[(&str, WithheldReason)],
    now: Timestamp,
) -> Result<u64, StorageError> {
    let now = now.to_string();
    let mut n_pages = 0;
    for (url, reason) in pages {
        let n_events = transaction
            .prepare_cached(
                "INSERT INTO change (at, publisher, kind, url, modified, digest, seal)
             SELECT ?1, publisher, ?2, url, modified, digest,
                row_seal(?1, publisher, ?2, url, modified, digest) FROM page
             WHERE publisher = ?3 AND url = ?4 AND withheld IS NULL",
            )?
            .execute(params![now, ChangeKind::Withheld.word(), publisher.0, url])?;
        if n_events == 0 {
            continue;
        }
        n_pages += 1;
        let of_url = "SELECT body FROM page WHERE publisher = ?1 AND url = ?2";
        transaction
            .prepare_cached(&format!(
                "UPDATE publisher SET bytes = bytes - coalesce((SELECT length(z) FROM body
                 WHERE id = ({of_url})), 0) WHERE id = ?1"
            ))?
            .execute(params![publisher.0, url])?;
        transaction
            .prepare_cached(&format!("DELETE FROM body WHERE id = ({of_url})"))?
            .execute(params![publisher.0, url])?;
        search::drop_pages(
            transaction,
            "SELECT id FROM page WHERE publisher = ?1 AND url = ?2",
            params![publisher.0, url],
        )?;
        transaction.prepare_cached(WITHHELD_SNAPSHOT)?.execute(params![publisher.0, url])?;
        transaction
            .prepare_cached(
                "UPDATE page SET withheld = ?1, body = NULL, changed = ?2,
                    seal = row_seal(publisher, url, modified, digest, title, language, source,
                        ?1, first_seen, ?2)
                 WHERE publisher = ?3 AND url = ?4",
            )?
            .execute(params![reason.word(), now, publisher.0, url])?;
    }
    Ok(n_pages)
}

/// Deletes all data of a publisher; the history gets a removal event for each page.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    now: Timestamp,
) -> Result<(), StorageError> {
    begin_gone(transaction)?;
    transaction.execute(
        "INSERT INTO temp.gone SELECT id, ?1 FROM page WHERE publisher = ?2",
        params![RemovalCause::Unfollowed.word(), publisher.0],
    )?;
    delete_gone(transaction, publisher.0, now)?;
    transaction.execute(
        "DELETE FROM member WHERE section IN (SELECT id FROM section WHERE publisher = ?1)",
        [publisher.0],
    )?;
    for table in [
        "section",
        "tombstone",
        "taken",
        "validator",
        "url_note",
        "site_state",
        "entity",
        "arc_entry",
        "visit",
    ] {
        transaction.execute(&format!("DELETE FROM {table} WHERE publisher = ?1"), [publisher.0])?;
    }
    transaction.execute("DELETE FROM publisher WHERE id = ?1", [publisher.0])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::connection::prepare;
    use super::super::{StoreOptions, schema};
    use super::*;

    #[test]
    fn cost_of_a_flip_depends_on_its_changes_only() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&connection, &StoreOptions::default()).unwrap();
        schema::migrate(&mut connection, schema::STEPS).unwrap();
        let transaction = connection.transaction().unwrap();
        begin_gone(&transaction).unwrap();
        for statement in [
            GONE_EVENTS,
            GONE_TOMBSTONES,
            GONE_BYTES,
            GONE_BODIES,
            GONE_SNAPSHOTS,
            GONE_PAGES,
            STAGED_SNAPSHOTS,
            WITHHELD_SNAPSHOT,
            MEMBERS,
        ] {
            let mut plan = transaction.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
            let steps: Vec<String> =
                plan.raw_query().mapped(|row| row.get("detail")).collect::<Result<_, _>>().unwrap();
            // Only the table of removed pages may be scanned.
            let is_little = |step: &str| ["SCAN g", "SCAN gone", "SCAN temp.gone"].contains(&step);
            let is_fine = |step: &String| !step.starts_with("SCAN") || is_little(step);
            assert!(steps.iter().all(is_fine), "{statement}: {steps:?}");
        }
    }
}
