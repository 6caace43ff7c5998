//! Which collections are due, and making them (D25 to D29, D95).

use std::path::{Path, PathBuf};

use rutter_finding::Rule;
use rutter_page::{LineDigest, Timestamp};
use rutter_scp::{
    Chain, Coding, Header, Kind, Limits, Target, Track, Version, WriteError, Writer, collection_id,
};

use crate::chain::{CodedFile, Offered, Published};
use crate::error::BuildError;
use crate::ledger::{Row, Rows};
use crate::outcome::{Made, SectionOutcome};
use crate::pack::Records;
use crate::plan::Plan;
use crate::read::Tally;
use crate::section::{ALL, Sections};

/// Deltas after which a snapshot is due.
const MOST_DELTAS: usize = 30;
/// Days a collection on offer stays, and after which an unchanged snapshot is
/// made again (D28).
const OFFERED_DAYS: i64 = 400;
const STALE_DAYS: i64 = 180;
const DAY: i64 = 86_400;
/// Bytes up to which a snapshot is made for a removal alone.
const CHEAP: u64 = 1 << 20;
/// Bytes of text up to which zstd takes all the time it wants: more than that
/// would be felt in a build.
const SMALL: u64 = 1 << 20;
/// Bytes of removed addresses that fit the first line of a delta (D95).
const MOST_REMOVED_BYTES: usize = 800_000;

/// What is to be made for a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) snapshot: bool,
    pub(crate) delta: bool,
}

/// Decides by what changed and what is on offer; a pure function.
pub(crate) fn due(tally: &Tally, published: &Published, plan: &Plan, stamp: Timestamp) -> Due {
    let Some(last) = published.last(&tally.name) else {
        return Due { snapshot: tally.pages != 0, delta: false };
    };
    let Some(snapshot) = published.last_snapshot(&tally.name) else {
        return Due { snapshot: true, delta: false };
    };
    // Nobody can follow from a state that was never published.
    let is_chained = last.state() == Some(tally.before);
    let n_bytes: usize = tally.removed.iter().map(|url| url.len() + 3).sum();
    let fits = tally.removed.len() <= Chain::MOST_REMOVED
        && n_bytes <= MOST_REMOVED_BYTES
        && (plan.layers.chain || tally.removed.is_empty());
    let age = stamp.seconds_since(snapshot.generated);
    let deltas = published.deltas(&tally.name);
    if !tally.is_changed() && is_chained {
        let is_late = !deltas.is_empty() && plan.update.seconds() <= age;
        return Due {
            snapshot: is_late || tally.is_barred || STALE_DAYS * DAY < age,
            delta: false,
        };
    }
    let bytes = |one: &Offered| one.files.first().map_or(0, |file| file.bytes);
    let delta_bytes: u64 = deltas.iter().map(|delta| bytes(delta)).sum();
    // Plain readers learn of a removal by a snapshot only (SCP-137); a small
    // one costs less than their doubt.
    let is_cheap = bytes(snapshot) <= CHEAP;
    let is_due = plan.update.seconds() <= age
        || (is_cheap && !tally.removed.is_empty())
        || tally.is_barred
        || MOST_DELTAS <= deltas.len()
        || bytes(snapshot) < 2 * delta_bytes
        || !fits
        || !is_chained;
    Due { snapshot: is_due, delta: is_chained && fits }
}

/// Takes a page's row and line.
type Take<'t> = dyn FnMut(&Row, &[u8]) -> Result<(), BuildError> + 't;

/// Hears what is wrong with a collection.
pub(crate) type Tell<'t> = dyn FnMut(&'static Rule, String) + 't;

/// Where lines come from.
#[derive(Debug)]
pub(crate) struct Lines<'p> {
    pub(crate) ledger: &'p Path,
    pub(crate) pack: &'p Path,
    pub(crate) sections: &'p Sections,
}

impl Lines<'_> {
    /// Hands over the public pages of a section, in order.
    fn each(&self, section: &str, take: &mut Take<'_>) -> Result<(), BuildError> {
        let mask = if section == ALL { u64::MAX } else { self.sections.bit(section) };
        let mut rows = Rows::open(self.ledger)?;
        let mut row = rows.next()?;
        Records::open(self.pack)?.each(mask, &mut |url, record| {
            while row.as_ref().is_some_and(|row| row.url.as_str() < url) {
                row = rows.next()?;
            }
            match &row {
                Some(row)
                    if row.url == url
                        && row.is_public()
                        && (section == ALL || row.section == section) =>
                {
                    // The state is summed over the ledger: it must be true.
                    if LineDigest::of(&record.line) != row.digest {
                        return Err(BuildError::State(self.pack.to_owned(), 0));
                    }
                    take(row, &record.line)
                }
                _ => Ok(()),
            }
        })
    }
}

/// What all collections of a build have in common.
#[derive(Debug)]
pub(crate) struct Making<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) lines: Lines<'p>,
    /// When they are said to be made.
    pub(crate) stamp: Timestamp,
    pub(crate) folder: &'p Path,
}

/// Makes what is due for one section; adds it to the chain.
pub(crate) fn make(
    tally: &Tally,
    due: Due,
    making: &Making<'_>,
    published: &mut Published,
    told: &mut Tell<'_>,
) -> Result<SectionOutcome, BuildError> {
    let Making { plan, lines, stamp, folder } = making;
    let stamp = *stamp;
    let mut outcome = SectionOutcome {
        name: tally.name.clone(),
        pages: tally.pages,
        snapshot: None,
        delta: None,
        removed: 0,
    };
    let expires = stamp.plus_seconds((2 * plan.update.seconds()).max(OFFERED_DAYS * DAY));
    if due.delta
        && let Some(last) = published.last(&tally.name).cloned()
    {
        let kind = Kind::Delta { since: last.generated };
        let chain = Chain {
            from: Some(tally.before),
            state: tally.state,
            pages: tally.pages,
            removed: tally.removed.clone(),
        };
        let from = last.generated;
        let make = Make { tally, kind, chain, plan, stamp, expires, folder };
        let wanted = |row: &Row| from < row.recorded;
        let made = make.collection(lines, &wanted, told)?;
        outcome.delta = Some(summed(&made));
        outcome.removed = tally.removed.len() as u64;
        published.collections.push(made);
    }
    if due.snapshot {
        // The delta of this build leads to the same state and stays.
        supersede(published, plan, stamp, &|one| {
            one.section == tally.name && one.generated < stamp
        });
        let chain =
            Chain { from: None, state: tally.state, pages: tally.pages, removed: Vec::new() };
        let make = Make { tally, kind: Kind::Snapshot, chain, plan, stamp, expires, folder };
        let made = make.collection(lines, &|_| true, told)?;
        outcome.snapshot = Some(summed(&made));
        published.collections.push(made);
    }
    Ok(outcome)
}

fn summed(one: &Offered) -> Made {
    Made { pages: one.pages, bytes: one.files.first().map_or(0, |file| file.bytes) }
}

/// A collection to be made.
struct Make<'m> {
    tally: &'m Tally,
    kind: Kind,
    chain: Chain,
    plan: &'m Plan,
    stamp: Timestamp,
    expires: Timestamp,
    folder: &'m Path,
}

impl Make<'_> {
    fn collection(
        &self,
        lines: &Lines<'_>,
        is_wanted: &dyn Fn(&Row) -> bool,
        told: &mut Tell<'_>,
    ) -> Result<Offered, BuildError> {
        let section = &self.tally.name;
        let wrong = |error: WriteError| BuildError::Collection(section.clone(), error);
        let id = collection_id(section, self.kind, self.stamp);
        let header = Header {
            id: id.clone(),
            section: section.clone(),
            kind: self.kind,
            generated: self.stamp,
            version: Version::CURRENT,
            checksum: None,
            chain: self.plan.layers.chain.then(|| self.chain.clone()),
            extra: Vec::new(),
        };
        let mut codings = vec![Coding::Zstd];
        if self.plan.layers.gzip {
            codings.push(Coding::Gzip);
        }
        let written = self.write(lines, is_wanted, &header, &codings);
        let written = match written {
            // Pages so alike look like a bomb: plain, then (D34).
            Err(BuildError::Collection(_, WriteError::Ratio(ratio, _))) => {
                told(&crate::rules::RATIO, format!("`{id}`, {ratio}:1"));
                self.write(lines, is_wanted, &header, &[Coding::Plain])?
            }
            other => other?,
        };
        let first = written.first().ok_or_else(|| {
            wrong(WriteError::Io(PathBuf::from(&id), std::io::Error::other("nothing was written")))
        })?;
        let name = |path: &Path| {
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        Ok(Offered {
            section: section.clone(),
            since: self.kind.since(),
            generated: self.stamp,
            expires: self.expires,
            superseded: None,
            pages: first.pages,
            state: self.chain.state.to_string(),
            checksum: first.header.checksum.map_or_else(String::new, |sum| sum.to_string()),
            files: written
                .iter()
                .map(|one| CodedFile { name: name(&one.path), bytes: one.coded })
                .collect(),
            id,
        })
    }

    fn write(
        &self,
        lines: &Lines<'_>,
        is_wanted: &dyn Fn(&Row) -> bool,
        header: &Header,
        codings: &[Coding],
    ) -> Result<Vec<rutter_scp::Written>, BuildError> {
        let section = &self.tally.name;
        let wrong = |error: WriteError| BuildError::Collection(section.clone(), error);
        let mut writer = Writer::with_header(self.folder, Track::Nothing, header, Limits::SPEC)
            .map_err(wrong)?;
        lines.each(section, &mut |row, line| {
            if is_wanted(row) {
                writer.line(&row.url, line).map_err(wrong)?;
            }
            Ok(())
        })?;
        let spooled = writer.close().map_err(wrong)?;
        let decoded = spooled.decoded(header);
        let target = |coding: &Coding| {
            let path = self.folder.join(format!("{}{}", header.id, ending(*coding)));
            Target { path, coding: *coding, level: level(*coding, decoded) }
        };
        let targets: Vec<Target> = codings.iter().map(target).collect();
        spooled.finish(header.clone(), &targets).map_err(wrong)
    }
}

/// How hard a collection is compressed: a function of its text alone, so that
/// the same pages are the same bytes whenever they are written.
fn level(coding: Coding, decoded: u64) -> u8 {
    match coding {
        Coding::Zstd if decoded <= SMALL => coding.highest_level(),
        _ => coding.usual_level(),
    }
}

fn ending(coding: Coding) -> &'static str {
    match coding {
        Coding::Zstd => ".scp.zst",
        Coding::Gzip => ".scp.gz",
        Coding::Plain => ".scp",
    }
}

/// Days a collection stays at the least after another took its place.
const GRACE_DAYS: i64 = 7;

/// Says of collections that something else took their place: they stay on
/// offer for two intervals, and their `expires` says so.
pub(crate) fn supersede(
    published: &mut Published,
    plan: &Plan,
    stamp: Timestamp,
    is_meant: &dyn Fn(&Offered) -> bool,
) {
    let until = stamp.plus_seconds((2 * plan.update.seconds()).max(GRACE_DAYS * DAY));
    for one in &mut published.collections {
        if one.superseded.is_none() && is_meant(one) {
            one.superseded = Some(stamp);
            one.expires = one.expires.min(until);
        }
    }
}

/// Takes what is no longer on offer off the chain; gives the names of files.
pub(crate) fn expire(published: &mut Published, plan: &Plan) -> Vec<String> {
    let mut gone = Vec::new();
    published.collections.retain(|one| {
        let is_over = one.superseded.is_some() && one.expires < plan.now;
        if is_over {
            gone.extend(one.files.iter().map(|file| file.name.clone()));
        }
        !is_over
    });
    gone
}
