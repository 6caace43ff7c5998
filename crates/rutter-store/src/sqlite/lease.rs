//! Leases: the exclusive right to write the pages of a publisher.
//!
//! Every writing transaction compares the epoch of the lease, which is a fencing number. On Linux,
//! the name of the holder identifies its process, so that the lease of a killed process can be
//! taken over at once.

use std::fs;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use rutter_page::Timestamp;

use super::SqliteStore;
use super::columns::time;
use crate::error::{LeaseError, StorageError};
use crate::model::{Lease, PublisherId};

/// Returns the name that this process records as the holder of a lease.
pub(super) fn this_process() -> String {
    let pid = std::process::id();
    match started(pid) {
        Some(start) => format!("process {pid} (started {start}, {})", machine()),
        None => format!("process {pid}"),
    }
}

/// Returns whether the process that a holder name identifies has certainly exited.
fn is_dead(holder: &str) -> bool {
    let parts = (|| {
        let rest = holder.strip_prefix("process ")?;
        let (pid, rest) = rest.split_once(" (started ")?;
        let (start, place) = rest.strip_suffix(')')?.split_once(", ")?;
        Some((pid.parse::<u32>().ok()?, start, place))
    })();
    let Some((pid, start, place)) = parts else { return false };
    // Whether a process of another machine or of another boot has exited is unknown.
    place == machine() && started(pid).is_none_or(|now| now != start)
}

/// Returns the start time of a process in clock ticks, which tells reused process ids apart.
/// Returns `None` if the process has exited, even if its parent has not called `wait` yet.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, which precedes the last `) `, may contain any character.
    let (_, rest) = stat.rsplit_once(") ")?;
    let is_over = rest.starts_with(['Z', 'X']);
    rest.split(' ').nth(19).filter(|_| !is_over).map(str::to_owned)
}

fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
}

impl SqliteStore {
    pub(super) fn take_lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError> {
        let mut writer = self.writer()?;
        let transaction = writer.begin()?;
        let found = transaction
            .query_row(
                "SELECT lease_holder, lease_until, lease_epoch FROM publisher WHERE id = ?1",
                [publisher.0],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        let found: Option<(Option<String>, Option<String>, u64)> = found;
        let (holder, held_until, epoch) = found.ok_or(LeaseError::Unknown)?;
        if let (Some(holder), Some(held_until)) = (holder, held_until) {
            let held_until = time(&held_until)?;
            if now < held_until && !is_dead(&holder) {
                return Err(LeaseError::Held { holder, until: held_until });
            }
        }
        let epoch = epoch + 1;
        // Delete the unfinished staging of the previous holder.
        drop_run(&transaction, publisher.0)?;
        transaction.execute(
            "UPDATE publisher SET lease_holder = ?1, lease_until = ?2, lease_epoch = ?3 WHERE id = ?4",
            params![this_process(), until.to_string(), epoch, publisher.0],
        )?;
        transaction.commit()?;
        Ok(Lease { publisher, epoch })
    }

    pub(super) fn renew_lease(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError> {
        let writer = self.writer()?;
        let n_rows = writer.execute(
            "UPDATE publisher SET lease_until = ?1 WHERE id = ?2 AND lease_epoch = ?3
             AND lease_holder IS NOT NULL",
            params![until.to_string(), lease.publisher.0, lease.epoch],
        )?;
        if n_rows == 0 { Err(LeaseError::Lost) } else { Ok(()) }
    }

    pub(super) fn release_lease(&self, lease: &Lease) -> Result<(), LeaseError> {
        let writer = self.writer()?;
        writer.execute(
            "UPDATE publisher SET lease_holder = NULL, lease_until = NULL
             WHERE id = ?1 AND lease_epoch = ?2",
            params![lease.publisher.0, lease.epoch],
        )?;
        Ok(())
    }
}

/// Returns whether a lease is valid, so that its holder may write.
pub(super) fn holds(connection: &Connection, lease: &Lease) -> Result<bool, StorageError> {
    let epoch: Option<u64> = connection
        .query_row(
            "SELECT lease_epoch FROM publisher WHERE id = ?1 AND lease_holder IS NOT NULL",
            [lease.publisher.0],
            |row| row.get(0),
        )
        .optional()?;
    Ok(epoch == Some(lease.epoch))
}

/// Deletes the staging run of a publisher: its rows and their content.
pub(super) fn drop_run(transaction: &Transaction<'_>, publisher: i64) -> Result<(), StorageError> {
    let run: Option<i64> = transaction
        .query_row("SELECT id FROM run WHERE publisher = ?1", [publisher], |row| row.get(0))
        .optional()?;
    let Some(run) = run else { return Ok(()) };
    transaction.execute(
        "DELETE FROM body WHERE id IN (SELECT body FROM stage WHERE run = ?1 AND body IS NOT NULL)",
        [run],
    )?;
    transaction.execute("DELETE FROM stage WHERE run = ?1", [run])?;
    transaction.execute("DELETE FROM run WHERE id = ?1", [run])?;
    Ok(())
}

/// Deletes the staging runs of processes that have exited, in several transactions.
pub(super) fn recover(connection: &mut Connection) -> Result<u64, StorageError> {
    let runs: Vec<(i64, i64, bool, Option<String>)> = {
        let mut statement = connection.prepare(
            "SELECT r.id, r.publisher, r.epoch = p.lease_epoch, p.lease_holder
             FROM run r JOIN publisher p ON p.id = r.publisher",
        )?;
        let rows = statement.query_map([], |row: &Row<'_>| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        rows.collect::<Result<_, _>>()?
    };
    let mut n_recovered = 0;
    for (run, publisher, is_current, holder) in runs {
        let is_alive = is_current && holder.is_some_and(|holder| !is_dead(&holder));
        if is_alive {
            continue;
        }
        // Delete in several transactions, so that other processes can write between two of them.
        loop {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            transaction.execute(
                "DELETE FROM body WHERE id IN
                 (SELECT body FROM stage WHERE run = ?1 ORDER BY url LIMIT 2000)",
                [run],
            )?;
            let n_rows = transaction.execute(
                "DELETE FROM stage WHERE run = ?1 AND url IN
                 (SELECT url FROM stage WHERE run = ?1 ORDER BY url LIMIT 2000)",
                [run],
            )?;
            if n_rows == 0 {
                drop_run(&transaction, publisher)?;
            }
            transaction.commit()?;
            if n_rows == 0 {
                break;
            }
        }
        n_recovered += 1;
    }
    Ok(n_recovered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // F06
    fn detects_exited_processes() {
        let me = this_process();
        assert!(!is_dead(&me));
        // The same process id with another start time.
        let start = started(std::process::id());
        if let Some(start) = start {
            assert!(is_dead(&me.replace(&format!("started {start}"), "started 1")));
        }
        assert!(!is_dead("process 1 (started 1, elsewhere)"));
        // A process that exited keeps its id until its parent calls `wait`.
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = child.id();
        let holder = format!("process {pid} (started {}, {})", started(pid).unwrap(), machine());
        assert!(!is_dead(&holder));
        child.kill().unwrap();
        while !is_dead(&holder) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_dead("unknown"));
        assert!(!is_dead("process 4000000000"));
    }
}
