//! Pages that a site lists and its collections do not bring.
//!
//! A site may offer collections of a part of its pages, or a page may be
//! wrong in itself and be skipped where the rest of its collection is fine
//! (D39). Lists are read in every visit in which they changed, so nothing is
//! asked for that; what was found covered is remembered, so that a visit costs
//! what changed and not what there is.
//!
//! What is remembered holds for sections as they were then. Where they are
//! not, because a visit was killed or a snapshot came, every listed page is
//! looked up.

use rutter_discover::Discovery;
use rutter_page::Timestamp;
use rutter_store::{Section, Source, Validator, Withheld};

use crate::apply::Applied;
use crate::crawl::why_left;
use crate::damage::remembered;
use crate::error::VisitError;
use crate::frontier::is_file;
use crate::gate::key_of;
use crate::keys::{Keys, number};
use crate::layers::Gathered;
use crate::left_out::LeftOut;
use crate::mark::{Mark, is_recent, is_same_lastmod};
use crate::visit::{Visit, WEB};
use crate::{left_out, urls};

/// How often every sitemap is read, in seconds; less often where collections
/// prove that the replica has every page they have.
const WHOLE_EVERY: i64 = 7 * 86_400;
const WHOLE_EVERY_PROVED: i64 = 30 * 86_400;

/// Listed pages whose reasons for not being here are told.
const MOST_UNWANTED: usize = 100_000;

/// The file of a publisher that remembers what collections bring of its lists.
const COVERED: &str = "covered";

/// What collections brought in this visit.
#[derive(Debug, Default)]
pub(crate) struct Brought {
    /// The sections before.
    stamp: u64,
    keys: Keys,
    removed: Keys,
    has_snapshot: bool,
}

impl Brought {
    /// Nothing so far.
    pub(crate) fn since(sections: &[Section]) -> Self {
        Self { stamp: stamp(sections), ..Self::default() }
    }

    pub(crate) fn add(&mut self, applied: &mut Applied) {
        self.keys.extend(std::mem::take(&mut applied.brought));
        self.removed.extend(std::mem::take(&mut applied.removed));
        self.has_snapshot |= applied.is_snapshot;
    }
}

/// A number that changes with what collections brought.
fn stamp(sections: &[Section]) -> u64 {
    let sections = sections.iter().filter(|section| section.name != WEB);
    let told = sections.map(|section| {
        let Section { name, state, mark, pages, .. } = section;
        format!("{name} {state} {mark} {pages}")
    });
    number(&told.collect::<Vec<_>>().join("\n"))
}

/// Finds out whether lists have more than collections bring, as far as this
/// visit can tell. `n_lists` are on offer; `arc` is an ARC sitemap that
/// changed.
pub(crate) fn look(
    visit: &mut Visit<'_>,
    gathered: &Gathered,
    n_lists: usize,
    arc: Option<&str>,
) -> Result<(), VisitError> {
    let sections = visit.visitor.store.sections(visit.publisher)?;
    if sections.iter().all(|section| section.name == WEB) {
        return Ok(());
    }
    let after = stamp(&sections);
    let is_listed = gathered.listed.values().any(|list| !list.is_empty());
    if !is_listed && arc.is_none() && after == visit.brought.stamp {
        return Ok(());
    }
    let kept = Keys::read(&visit.shelf, COVERED, visit.brought.stamp);
    let mut covered = kept.filter(|_| !visit.brought.has_snapshot).unwrap_or_default();
    // Where a list was not read now, it may still name what went away.
    if covered.take_out(&visit.brought.removed) && !is_listed {
        visit.memo.rest.insert(String::new());
    }
    let (mut unwanted, mut n_unwanted) = (Vec::new(), 0);
    for (sitemap, list) in &gathered.listed {
        let mut is_more = false;
        for listed in list {
            let url = listed.url.as_str();
            // Most addresses are written as keys are.
            if covered.has(url) {
                continue;
            }
            if visit.brought.keys.has(url) {
                covered.insert(url);
                continue;
            }
            let Some(key) = key_of(url).filter(|key| !covered.has(key)) else { continue };
            if is_brought(visit, &key)? {
                covered.insert(&key);
            } else if is_wanted(visit, &key, listed.lastmod)? {
                is_more = true;
            } else if n_unwanted < MOST_UNWANTED {
                n_unwanted += 1;
                unwanted.push(key);
            }
        }
        if is_more {
            visit.memo.rest.insert(sitemap.clone());
        } else {
            visit.memo.rest.remove(sitemap);
        }
    }
    if let Some(arc) = arc {
        look_at_arc(visit, &mut covered, arc)?;
    }
    // Of some of the lists only, nothing is known about the others.
    if is_listed && n_lists <= gathered.listed.len() {
        visit.memo.left_out.clear();
        for key in unwanted {
            tell(visit, &key)?;
        }
        left_out::keep(visit, true)?;
    }
    covered.write(&visit.shelf, COVERED, after)
}

/// Notes why a listed page is not here.
fn tell(visit: &mut Visit<'_>, key: &str) -> Result<(), VisitError> {
    let why = match visit.gate.judge(key) {
        Some(Withheld::Robots) => LeftOut::ROBOTS,
        Some(Withheld::Scope) => LeftOut::SCOPE,
        Some(_) => LeftOut::CONSENT,
        None if rutter_fetch::Url::parse(key).is_ok_and(|url| is_file(&url)) => LeftOut::FILE,
        None => why_left(visit, key)?,
    };
    *visit.memo.left_out.entry(why.key()).or_default() += 1;
    visit.report.list_left_out(key, why);
    Ok(())
}

/// The same for the entries of an ARC sitemap, as they lie in the replica.
fn look_at_arc(visit: &mut Visit<'_>, covered: &mut Keys, arc: &str) -> Result<(), VisitError> {
    let mut is_more = false;
    let mut after: Option<String> = None;
    while let Some(entries) = urls::entries(visit, &mut after)? {
        for entry in &entries {
            let key = entry.url.key();
            if covered.has(key) {
                continue;
            }
            if is_brought(visit, key)? {
                covered.insert(key);
            } else {
                is_more = is_more || is_wanted(visit, key, entry.lastmod)?;
            }
        }
    }
    if is_more {
        visit.memo.rest.insert(arc.to_owned());
    } else {
        visit.memo.rest.remove(arc);
    }
    Ok(())
}

/// Sitemaps that were not read, because one before them has the collections,
/// may list what these lack. They are read when a site is new, and once a week;
/// once a month where every section is proved.
pub(crate) fn look_further(visit: &mut Visit<'_>, found: &Discovery) {
    let sections = &visit.report.sections;
    let is_proved = !sections.is_empty() && sections.values().all(|section| section.is_proved);
    let every = if is_proved { WHOLE_EVERY_PROVED } else { WHOLE_EVERY };
    let is_due = |whole: Timestamp| every <= visit.now.seconds_since(whole);
    if 0 < found.n_unread && visit.memo.whole.is_none_or(is_due) {
        visit.memo.rest.insert(String::new());
    }
}

/// Whether there are pages that have to be looked after one by one although
/// every section is up to date.
pub(crate) fn has_rest(visit: &Visit<'_>) -> Result<bool, VisitError> {
    let sections = visit.visitor.store.sections(visit.publisher)?;
    let has_web = sections.iter().any(|section| section.name == WEB && 0 < section.pages);
    Ok(has_web || !visit.memo.rest.is_empty())
}

/// Whether a collection brought a page, whenever that was.
fn is_brought(visit: &Visit<'_>, key: &str) -> Result<bool, VisitError> {
    if visit.brought.keys.has(key) {
        return Ok(true);
    }
    Ok(visit.row(key)?.is_some_and(|row| row.source == Source::Scp))
}

/// Whether an address would be asked for at all. What was no page, and is said
/// not to have changed since, still is none.
fn is_wanted(visit: &Visit<'_>, key: &str, lastmod: Option<Timestamp>) -> Result<bool, VisitError> {
    let is_page = rutter_fetch::Url::parse(key).is_ok_and(|url| !is_file(&url));
    if !is_page || visit.gate.judge(key).is_some() {
        return Ok(false);
    }
    let left = remembered(visit.visitor.store.as_ref(), &Mark::Left.of(key))?;
    let left = left.filter(|left| is_recent(visit.now, left));
    let fetched_with = remembered(visit.visitor.store.as_ref(), &Mark::Lastmod.of(key))?;
    let is_same = |left: Validator| {
        lastmod.is_some_and(|lastmod| {
            lastmod <= left.checked && is_same_lastmod(lastmod, fetched_with.as_ref())
        })
    };
    Ok(!left.is_some_and(is_same))
}
