//! What leaves the replica after pages were read one by one: what is gone,
//! what no list has any more, and what collections bring by now.

use std::collections::{BTreeMap, BTreeSet};

use rutter_scp::{MassDeletion, merge};
use rutter_store::{Begin, Cause, CommitError, Finish, Mode, Source, Withheld};

use crate::collect::Ended;
use crate::error::VisitError;
use crate::frontier::Frontier;
use crate::keys::Keys;
use crate::plan::Reason;
use crate::report::Kind;
use crate::urls;
use crate::visit::{PIECE, Visit, WEB};

/// How long a deletion of too much is held back at least, in seconds: whoever
/// runs a command again at once has seen nothing new.
const HELD_FOR: i64 = 20 * 3600;

/// Pages that may be closed at once, whatever else was asked for.
const FEW: u64 = 5;

/// Takes away what is gone, and what no list has any more.
pub(crate) fn leave(
    visit: &mut Visit<'_>,
    ended: &Ended,
    frontier: &Frontier<'_>,
    healthy: &Keys,
    gone: &BTreeSet<String>,
    is_whole: bool,
) -> Result<(), VisitError> {
    let sections = visit.visitor.store.sections(visit.publisher)?;
    // Where only a file is broken, the next good one tells what went away.
    let is_over = |name: &str| ended.failed.get(name) == Some(&Reason::NotOffered);
    let mut read = Keys::default();
    if sections.iter().any(|section| is_over(&section.name)) {
        urls::for_each_key(visit, WEB, |key| {
            read.insert(&key);
        })?;
    }
    for section in sections {
        let is_web = section.name == WEB;
        if !is_web && !is_over(&section.name) {
            continue;
        }
        let mut covered: BTreeMap<String, Cause> = BTreeMap::new();
        let mut leaving: BTreeMap<String, Cause> = BTreeMap::new();
        urls::for_each_key(visit, &section.name, |key| {
            let is_elsewhere = healthy.has(&key) || (!is_web && read.has(&key));
            if is_elsewhere {
                covered.insert(key, Cause::Absent);
            } else if gone.contains(&key) {
                leaving.insert(key, Cause::Gone);
            } else if is_whole && !frontier.has(&key) {
                leaving.insert(key, Cause::Absent);
            }
        })?;
        // They stay in the sections that have them: nothing is lost.
        commit(visit, &section.name, &covered)?;
        let pages = section.pages.saturating_sub(covered.len() as u64);
        take_away(visit, &section.name, pages, &leaving)?;
    }
    Ok(())
}

/// Takes pages out of a section, unless they are too many at once (D23): most
/// of the section, or all that there is of the site.
fn take_away(
    visit: &mut Visit<'_>,
    section: &str,
    pages: u64,
    leaving: &BTreeMap<String, Cause>,
) -> Result<(), VisitError> {
    // A visit on another day that finds the same confirms the first; one that
    // does not takes the first one's word back.
    let held = visit.held.get(section).copied();
    let is_confirmed = held.is_some_and(|held| HELD_FOR <= visit.now.seconds_since(held));
    let is_allowed = visit.visitor.options.mass_deletion == MassDeletion::Allowed;
    let deleted = leaving.len() as u64;
    let publisher = visit.visitor.store.publisher(&visit.origin)?;
    let is_all = publisher.is_some_and(|publisher| 0 < deleted && publisher.pages <= deleted);
    let is_much = is_all || merge::is_mass_deletion(pages, deleted);
    if is_much && !is_confirmed && !is_allowed {
        visit.memo.held.insert(section.to_owned(), held.unwrap_or(visit.now));
        let error = CommitError::MassDeletion { deleted, pages };
        let origin = visit.origin.clone();
        visit.report.trouble(&origin, Kind::Policy, error.to_string());
        return Ok(());
    }
    commit(visit, section, leaving)
}

fn commit(
    visit: &Visit<'_>,
    section: &str,
    leaving: &BTreeMap<String, Cause>,
) -> Result<(), VisitError> {
    if leaving.is_empty() {
        return Ok(());
    }
    let mut staging = visit.visitor.store.stage(
        visit.hold.lease(),
        Begin {
            section,
            mode: Mode::Visit,
            generated: visit.now,
            source: Source::Html,
            quota: visit.visitor.options.quota,
            now: visit.now,
        },
    )?;
    for (key, cause) in leaving {
        staging.remove(key, *cause)?;
    }
    // Whoever calls has asked whether these are too many.
    let mass_deletion = MassDeletion::Allowed;
    staging.commit(&Finish { mass_deletion, ..Finish::plain() })?;
    Ok(())
}

/// Takes the words of pages away that are not for everybody any more. Where
/// they are most of what is here, or of what was asked for, it is us who are
/// turned away, and nothing is said about the pages.
pub(crate) fn close(
    visit: &mut Visit<'_>,
    closed: &BTreeSet<String>,
    n_asked: u64,
) -> Result<(), VisitError> {
    let store = &visit.visitor.store;
    let pages = store.publisher(&visit.origin)?.map_or(0, |publisher| publisher.pages);
    let n_closed = closed.len() as u64;
    let is_much = |of: u64| of < 2 * n_closed;
    if (is_much(pages) && 1 < pages) || (is_much(n_asked) && FEW <= n_closed) {
        let text = format!("{n_closed} of {n_asked} pages are closed to us; their words are kept");
        let origin = visit.origin.clone();
        visit.report.trouble(&origin, Kind::Policy, text);
        return Ok(());
    }
    let pages: Vec<(&str, Withheld)> =
        closed.iter().map(|key| (key.as_str(), Withheld::Consent)).collect();
    for piece in pages.chunks(PIECE) {
        visit.report.withheld += store.withhold(visit.hold.lease(), piece, visit.now)?;
    }
    Ok(())
}
