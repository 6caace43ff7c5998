//! Pages that a site lists and its collections do not bring.
//!
//! A site may offer collections of a part of its pages, or a page may be
//! wrong in itself and be skipped where the rest of its collection is fine
//! (D39). Lists are read in every visit in which they changed, so nothing is
//! asked for that; what was found covered is remembered, so that a visit costs
//! what changed and not what there is.

use crate::apply::Applied;
use crate::error::VisitError;
use crate::frontier::is_file;
use crate::gate::key_of;
use crate::keys::Keys;
use crate::layers::Gathered;
use crate::visit::{Visit, WEB};

/// The file of a publisher that remembers what collections bring of its lists.
const COVERED: &str = "covered";

/// What collections brought in this visit.
#[derive(Debug, Default)]
pub(crate) struct Brought {
    keys: Keys,
    removed: Keys,
    has_snapshot: bool,
}

impl Brought {
    pub(crate) fn add(&mut self, applied: &mut Applied) {
        self.keys.extend(std::mem::take(&mut applied.brought));
        self.removed.extend(std::mem::take(&mut applied.removed));
        self.has_snapshot |= applied.is_snapshot;
    }
}

/// Whether there are pages that have to be looked after one by one although
/// every section is up to date.
pub(crate) fn has_rest(visit: &mut Visit<'_>, gathered: &Gathered) -> Result<bool, VisitError> {
    if gathered.listed.values().any(|list| !list.is_empty()) {
        visit.memo.has_rest = is_more_listed(visit, gathered)?;
    }
    let sections = visit.visitor.store.sections(visit.publisher)?;
    let has_web = sections.iter().any(|section| section.name == WEB && 0 < section.pages);
    Ok(visit.memo.has_rest || has_web)
}

fn is_more_listed(visit: &Visit<'_>, gathered: &Gathered) -> Result<bool, VisitError> {
    let brought = &visit.brought;
    // What a snapshot lacks went away without being named.
    let before =
        if brought.has_snapshot { Keys::default() } else { Keys::read(&visit.shelf, COVERED) };
    let mut covered = Keys::default();
    let mut is_more = false;
    for listed in gathered.listed.values().flatten() {
        let url = listed.url.as_str();
        let is_known = before.has(url) && !brought.removed.has(url);
        if is_known || brought.keys.has(url) || is_covered(visit, url)? {
            covered.insert(url);
        } else if is_wanted(visit, url) {
            is_more = true;
        }
    }
    if covered != before {
        covered.write(&visit.shelf, COVERED)?;
    }
    Ok(is_more)
}

fn is_covered(visit: &Visit<'_>, url: &str) -> Result<bool, VisitError> {
    let Some(key) = key_of(url) else { return Ok(false) };
    let row = visit.visitor.store.page(&key)?;
    Ok(row.is_some_and(|row| row.publisher == visit.publisher))
}

/// Whether an address would be asked for at all.
fn is_wanted(visit: &Visit<'_>, url: &str) -> bool {
    let Some(key) = key_of(url) else { return false };
    visit.gate.judge(&key).is_none()
        && rutter_fetch::Url::parse(&key).is_ok_and(|url| !is_file(&url))
}
