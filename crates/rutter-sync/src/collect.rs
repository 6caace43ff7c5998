//! Collections: planned, fetched, applied, and planned again with what was
//! learned, at most three times.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rutter_discover::Discovery;
use rutter_fetch::{Body, Cause, Request, Url, Validators, What};
use rutter_page::Digest;
use rutter_scp::Kind as Sort;
use rutter_scp::advert::Collection;
use rutter_store::{CommitError, Mode, StageError, Taken};

use crate::apply::{Applied, ApplyError, Applying, apply};
use crate::damage::remembered;
use crate::error::VisitError;
use crate::memo::RefusedFile;
use crate::options::Event;
use crate::plan::{Learned, Offer, Pick, Plan, Policy, Reason, Replica, Way, plan};
use crate::report::{Kind, SectionReport};
use crate::shelf::{Complete, Shelf};
use crate::visit::Visit;

/// How often a visit plans.
const ROUNDS: usize = 3;

/// How long a file that did not verify is only asked whether it changed, in
/// seconds: it may have been damaged on its way.
const REFUSED_FOR: i64 = 86_400;

/// How collections ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Sections that no collection can bring up to date, and why.
    pub(crate) failed: BTreeMap<String, Reason>,
    /// Of these, those for which asking the site once more is of no use: it
    /// does not answer, or what it says waits for somebody's word.
    pub(crate) hopeless: BTreeSet<String>,
}

/// What came of one file.
enum Lesson {
    Done(Box<Applied>),
    /// Not this file.
    Bad(Kind, String),
    /// Not this host, for now.
    Later(String),
    /// Not by deltas.
    Broken(String),
    /// Not without somebody's word.
    Held(String),
    /// Not while there is so little room.
    TooMany(String),
}

/// The adverts of a site that may be used, by address.
pub(crate) fn adverts(found: &Discovery) -> BTreeMap<String, Collection> {
    let mut adverts = BTreeMap::new();
    for offer in &found.offer.scp.collections {
        let kind = offer.since.map_or(Sort::Snapshot, |since| Sort::Delta { since });
        for file in offer.files.iter().filter(|file| file.is_allowed) {
            let advert = Collection {
                section: offer.section.clone(),
                kind,
                period: offer.period.clone(),
                url: file.url.clone(),
                generated: offer.generated,
                expires: offer.expires,
                pages: offer.pages,
                size: file.size,
                checksum: offer.checksum.as_deref().and_then(Digest::parse),
            };
            adverts.insert(file.url.clone(), advert);
        }
    }
    adverts
}

/// The offer that the planner chooses from.
pub(crate) fn offer_of(found: &Discovery, adverts: &BTreeMap<String, Collection>) -> Offer {
    let mut offer = Offer::of_adverts(adverts.values());
    for section in &found.offer.scp.sections {
        offer.note_update(&section.name, &section.update);
    }
    offer
}

/// What the planner is to know of the replica.
pub(crate) fn replica(visit: &Visit<'_>) -> Result<Replica, VisitError> {
    crate::visit::replica(visit.visitor.store.as_ref(), visit.publisher, &visit.memo)
}

/// The planner's policy at the pace of this client.
pub(crate) fn policy(visit: &Visit<'_>) -> Policy {
    visit.visitor.policy(&visit.site)
}

/// Brings all sections up to date that collections can.
pub(crate) async fn collect(
    visit: &mut Visit<'_>,
    offer: &Offer,
    adverts: &BTreeMap<String, Collection>,
) -> Result<Ended, VisitError> {
    report_future(visit, adverts);
    visit.memo.refused.retain(|url, _| adverts.contains_key(url));
    let mut round = Round {
        learned: Learned::default(),
        ended: Ended::default(),
        troubles: vec![],
        waiting: BTreeSet::new(),
    };
    let mut reasons: BTreeMap<String, Reason> = BTreeMap::new();
    if !visit.memo.stale.is_empty() {
        // Not a state that is wrong again: the pages themselves were replaced.
        let stale = visit.memo.stale.clone();
        visit.memo.mended.retain(|section, _| !stale.contains(section));
        let known = replica(visit)?.sections.into_keys();
        round.learned.broken.extend(known.filter(|section| stale.contains(section)));
    }
    let mut is_over = false;
    for number in 0.. {
        let replica = replica(visit)?;
        let plan = plan(visit.now, &policy(visit), offer, &replica, &round.learned);
        if number == 0 {
            visit.watcher.event(&visit.origin, Event::Planned(&plan));
        }
        for (section, step) in &plan.steps {
            let is_first = !reasons.contains_key(section);
            if is_first || !matches!(step.way, Way::Nothing | Way::Fallback) {
                reasons.insert(section.clone(), step.reason);
            }
        }
        // The last plan is only looked at: it says what is not here.
        if is_over || number == ROUNDS {
            return settle(visit, round, &plan, &reasons);
        }
        is_over = !run(visit, &mut round, &plan, adverts).await?;
    }
    Ok(round.ended)
}

struct Round {
    learned: Learned,
    ended: Ended,
    /// Troubles by section and place in the report, and whether another file
    /// may mend them.
    troubles: Vec<(String, usize, bool)>,
    /// Sections of which something waits for somebody's word.
    waiting: BTreeSet<String>,
}

/// Reports collections that are dated in the future: they are not fetched, so
/// the section is not what the site offers (D26).
fn report_future(visit: &mut Visit<'_>, adverts: &BTreeMap<String, Collection>) {
    let latest = visit.now.plus_seconds(visit.visitor.options.policy.skew);
    let mut newest: BTreeMap<&str, &Collection> = BTreeMap::new();
    for advert in adverts.values().filter(|advert| latest < advert.generated) {
        let known = newest.entry(&advert.section).or_insert(advert);
        if known.generated < advert.generated {
            *known = advert;
        }
    }
    for advert in newest.into_values() {
        let generated = advert.generated;
        let text = format!("not fetched: generated {generated}, which is in the future");
        visit.report.trouble(&advert.url, Kind::Integrity, text);
    }
}

/// Does what a plan says. Tells whether it is worth planning again.
async fn run(
    visit: &mut Visit<'_>,
    round: &mut Round,
    plan: &Plan,
    adverts: &BTreeMap<String, Collection>,
) -> Result<bool, VisitError> {
    let busy: Vec<_> =
        plan.order.iter().filter_map(|name| plan.steps.get_key_value(name)).collect();
    let mut unfollow: Vec<String> = plan.unfollow.iter().cloned().collect();
    let mut has_learned = false;
    let n_busy = busy.len();
    for (at, (section, step)) in busy.into_iter().enumerate() {
        let files = step.files();
        for (n, pick) in files.iter().enumerate() {
            let Some(advert) = adverts.get(&pick.url) else { continue };
            let is_last = at + 1 == n_busy && n + 1 == files.len() && !has_learned;
            let leave = if is_last { std::mem::take(&mut unfollow) } else { Vec::new() };
            let is_plain = round.learned.broken.contains(section);
            let is_known = !matches!(step.reason, Reason::Broken | Reason::Empty);
            let lesson = take(visit, advert, pick, is_plain, is_known, leave).await?;
            let Lesson::Done(mut applied) = lesson else {
                has_learned = true;
                // Another coding holds the same; where there is no room for
                // all pages or for more, no other file of its kind finds some.
                let is_same = |it: &&Collection| match &lesson {
                    Lesson::Held(_) => it.generated == advert.generated && it.kind == advert.kind,
                    Lesson::TooMany(_) => {
                        it.kind.since().is_some() == advert.kind.since().is_some()
                    }
                    _ => false,
                };
                let of_section = adverts.values().filter(|it| it.section == advert.section);
                let same = of_section.filter(is_same).map(|it| it.url.clone());
                round.learned.bad.extend(same);
                learn(visit, round, section, pick, lesson)?;
                break;
            };
            if 0 < applied.n_ignored {
                let text = format!(
                    "{} removals ignored: neither `from` nor `state` of the delta fits this replica",
                    applied.n_ignored
                );
                visit.report.trouble(&pick.url, Kind::Integrity, text);
            }
            visit.brought.add(&mut applied);
            if let Some(outlook) = &applied.outlook {
                visit.report.withheld += outlook.withheld;
                visit.no_room(outlook.over_quota);
                if step.reason == Reason::Broken && pick.since.is_none() {
                    visit.memo.mended.insert(section.clone(), pick.generated);
                }
                let files = visit.report.sections.entry(section.clone()).or_insert(SectionReport {
                    reason: step.reason,
                    files: 0,
                    pages: 0,
                    is_proved: false,
                });
                files.files += 1;
            }
            visit.keep_findings(&pick.url, &applied.findings);
        }
    }
    if !has_learned {
        visit.memo.following = Some(plan.following);
    }
    Ok(has_learned)
}

fn learn(
    visit: &mut Visit<'_>,
    round: &mut Round,
    section: &str,
    pick: &Pick,
    lesson: Lesson,
) -> Result<(), VisitError> {
    let url = &pick.url;
    let mut may_mend = false;
    let (kind, text) = match lesson {
        Lesson::Done(_) => return Ok(()),
        Lesson::Bad(kind, text) => {
            round.learned.bad.insert(url.clone());
            if kind == Kind::Network {
                round.ended.hopeless.insert(section.to_owned());
            }
            (kind, text)
        }
        Lesson::Later(text) => {
            let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
            round.learned.hosts.extend(host);
            round.ended.hopeless.insert(section.to_owned());
            (Kind::Network, text)
        }
        Lesson::Broken(text) => {
            if !round.learned.broken.insert(section.to_owned()) {
                // It was known, and this file does not mend it.
                round.learned.bad.insert(url.clone());
            }
            (Kind::Integrity, text)
        }
        // A snapshot may have fewer.
        Lesson::TooMany(text) if pick.since.is_some() => {
            round.learned.bad.insert(url.clone());
            may_mend = true;
            (Kind::Policy, text)
        }
        Lesson::Held(text) | Lesson::TooMany(text) => {
            round.learned.bad.insert(url.clone());
            // Pages one by one would be as many, and cost more.
            round.ended.hopeless.insert(section.to_owned());
            round.waiting.insert(section.to_owned());
            (Kind::Policy, text)
        }
    };
    let taken = Taken {
        section: section.to_owned(),
        url: url.clone(),
        mode: if pick.since.is_some() { Mode::Delta } else { Mode::Snapshot },
        generated: pick.generated,
        since: pick.since,
        checksum: None,
        from: None,
        state: None,
        bytes: pick.size,
        at: visit.now,
        outcome: rutter_fetch::redacted(&text),
    };
    visit.visitor.store.note(visit.hold.lease(), &taken)?;
    let may_mend = may_mend || kind != Kind::Policy;
    round.troubles.push((section.to_owned(), visit.report.troubles.len(), may_mend));
    visit.report.trouble(url, kind, text);
    Ok(())
}

/// Says what became of each section.
fn settle(
    visit: &mut Visit<'_>,
    mut round: Round,
    plan: &Plan,
    reasons: &BTreeMap<String, Reason>,
) -> Result<Ended, VisitError> {
    let sections = visit.visitor.store.sections(visit.publisher)?;
    for (name, step) in &plan.steps {
        let held = sections.iter().find(|section| section.name == *name);
        let is_here = step.way == Way::Nothing && held.is_some();
        let known = visit.report.sections.get(name).map_or(0, |report| report.files);
        let is_mended = is_here && !round.ended.hopeless.contains(name);
        let is_waiting = round.waiting.contains(name);
        let reason = reasons.get(name).copied().unwrap_or(step.reason);
        visit.report.sections.insert(
            name.clone(),
            SectionReport {
                reason: if is_waiting { Reason::Waiting } else { reason },
                files: known,
                pages: held.map_or(0, |section| section.pages),
                // What is here was proved once; it is not what is on offer.
                is_proved: !is_waiting && held.is_some_and(|section| section.is_proved),
            },
        );
        // Of a section that is offered no more and has no pages, nothing is left
        // to look after.
        let is_over = step.reason == Reason::NotOffered && held.is_none_or(|it| it.pages == 0);
        if !is_here && step.way != Way::Nothing && !is_over {
            round.ended.failed.insert(name.clone(), step.reason);
        }
        // No file was asked for, so nothing was reported yet.
        let unasked = match step.reason {
            Reason::TooOld => Some(Kind::Integrity),
            Reason::TooLarge => Some(Kind::Policy),
            _ => None,
        };
        if let Some(kind) = unasked.filter(|_| step.way == Way::Fallback) {
            let text = format!("section {}: {}", rutter_finding::quoted(name), step.reason);
            let origin = visit.origin.clone();
            visit.report.trouble(&origin, kind, text);
        }
        if is_here && 0 < known {
            visit.memo.stale.remove(name);
        }
        // Another file led to the same end.
        let is_current = is_here && (is_mended || 0 < known);
        for (section, at, may_mend) in &round.troubles {
            if section == name
                && is_current
                && let Some(trouble) = visit.report.troubles.get_mut(*at)
            {
                trouble.is_mended = *may_mend;
            }
        }
    }
    visit.memo.stale.retain(|name| plan.steps.contains_key(name));
    Ok(round.ended)
}

/// Fetches one collection, unless it lies here already, and applies it.
async fn take(
    visit: &mut Visit<'_>,
    advert: &Collection,
    pick: &Pick,
    is_plain: bool,
    is_known: bool,
    unfollow: Vec<String>,
) -> Result<Lesson, VisitError> {
    let place = visit.shelf.place(&pick.url, pick.generated);
    let complete = match Shelf::complete(&place, &pick.url) {
        Some(complete) => complete,
        None => match fetch(visit, pick, is_known).await? {
            Ok(complete) => complete,
            Err(lesson) => return Ok(lesson),
        },
    };
    visit.watcher.event(&visit.origin, Event::Applying { section: &advert.section });
    let store = Arc::clone(&visit.visitor.store);
    let (lease, gate) = (visit.hold.lease().clone(), Arc::clone(&visit.gate));
    let options = visit.visitor.options.clone();
    let (advert, now, path) = (advert.clone(), visit.now, place.clone());
    let validators = complete.validators.clone();
    let applied = tokio::task::spawn_blocking(move || {
        apply(&Applying {
            store: store.as_ref(),
            lease: &lease,
            gate: &gate,
            advert: &advert,
            path: &path,
            length: complete.length,
            validators: &complete.validators,
            quota: options.quota,
            mass_deletion: options.mass_deletion,
            unfollow: &unfollow,
            is_plain,
            now,
        })
    })
    .await
    .map_err(|_| VisitError::Worker)?;
    // What contradicts its advert or the clock may be fine tomorrow.
    let is_damaged = matches!(applied, Err(ApplyError::Read(_)));
    let lesson = lesson_of(applied)?;
    match &lesson {
        // It is fine, and waits for somebody's word.
        Lesson::Held(_) | Lesson::TooMany(_) => return Ok(lesson),
        Lesson::Bad(_, why) if is_damaged && validators != Validators::default() => {
            let (generated, why, at) = (pick.generated, why.clone(), visit.now);
            let refused = RefusedFile { generated, validators, why, at };
            visit.memo.refused.insert(pick.url.clone(), refused);
        }
        _ => drop(visit.memo.refused.remove(&pick.url)),
    }
    Shelf::discard(&place);
    Ok(lesson)
}

/// What an attempt to apply teaches; an error where it is our own fault, and
/// the spool is kept for the next run.
fn lesson_of(applied: Result<Applied, ApplyError>) -> Result<Lesson, VisitError> {
    let error = match applied {
        Ok(applied) => return Ok(Lesson::Done(Box::new(applied))),
        Err(error) => error,
    };
    let text = told(&error);
    Ok(match error {
        ApplyError::Read(rutter_scp::ReadError::Io(error)) => {
            return Err(VisitError::Spool("the spool".into(), error));
        }
        ApplyError::Query(error) => return Err(error.into()),
        ApplyError::Stage(StageError::Replay { .. }) => Lesson::Bad(Kind::Integrity, text),
        ApplyError::Stage(StageError::Quota { .. })
        | ApplyError::Commit(CommitError::Quota { .. }) => Lesson::TooMany(text),
        ApplyError::Stage(error) => return Err(error.into()),
        ApplyError::Commit(CommitError::MassDeletion { .. }) => Lesson::Held(text),
        ApplyError::Commit(CommitError::State { .. } | CommitError::Count { .. })
        | ApplyError::Broken
        | ApplyError::Gap(_) => Lesson::Broken(text),
        ApplyError::Commit(error) => return Err(error.into()),
        ApplyError::Read(_)
        | ApplyError::Refused(_)
        | ApplyError::Future(_)
        | ApplyError::Past(_) => Lesson::Bad(Kind::Integrity, text),
    })
}

/// An error with its causes, in one line.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}

/// Fetches one collection into its spool.
async fn fetch(
    visit: &mut Visit<'_>,
    pick: &Pick,
    is_known: bool,
) -> Result<Result<Complete, Lesson>, VisitError> {
    let Ok(url) = Url::parse(&pick.url) else {
        return Ok(Err(Lesson::Bad(Kind::Integrity, "not an address".to_owned())));
    };
    visit.watcher.event(&visit.origin, Event::Fetching { url: &pick.url, size: pick.size });
    let place = visit.shelf.place(&pick.url, pick.generated);
    // What was taken from there before is not taken again (SCP-153), nor what
    // could not be used and is the same.
    let refused = visit.memo.refused.get(&pick.url);
    let is_same = |refused: &&RefusedFile| {
        let age = visit.now.seconds_since(refused.at);
        refused.generated == pick.generated && age < REFUSED_FOR
    };
    let refused = refused.filter(is_same).cloned();
    let known = match remembered(visit.visitor.store.as_ref(), &pick.url)?.filter(|_| is_known) {
        _ if let Some(refused) = &refused => refused.validators.clone(),
        Some(known) => Validators { etag: known.etag, last_modified: known.last_modified },
        None => Validators::default(),
    };
    let request = Request {
        known,
        site: Some(visit.site.clone()),
        spool: Some(place.clone()),
        ..Request::new(url, What::Collection)
    };
    let answer = match visit.visitor.client.fetch(&request).await {
        Ok(answer) => answer,
        Err(error) => {
            let text = told(&error.cause);
            return Ok(Err(match error.cause {
                Cause::Spool(error) => return Err(VisitError::Spool(place, error)),
                Cause::Refused(_) => Lesson::Bad(Kind::Policy, text),
                Cause::Answer(_) => Lesson::Bad(Kind::Integrity, text),
                Cause::Later { until, .. } => {
                    visit.pause(until)?;
                    Lesson::Later(text)
                }
                _ => Lesson::Bad(Kind::Network, text),
            }));
        }
    };
    visit.tally.add_bytes(answer.wire_bytes);
    let media = answer.fields.media_type();
    let bad = |kind, text: String| Ok(Err(Lesson::Bad(kind, text)));
    let Body::Spooled { length, .. } = answer.body else {
        let text = match answer.status {
            304 if let Some(refused) = refused => format!("{}; it has not changed", refused.why),
            304 => "the file is the one that was taken before, not a newer one".to_owned(),
            status => format!("not there, status {status}"),
        };
        return bad(Kind::Integrity, text);
    };
    // A page for people is never a collection (D05, SCP-192).
    if media == "text/html" || media == "application/xhtml+xml" {
        Shelf::discard(&place);
        return bad(Kind::Integrity, format!("server sent HTML, status {}", answer.status));
    }
    let complete = Complete { url: pick.url.clone(), length, validators: answer.validators };
    Shelf::seal(&place, &complete)?;
    Ok(Ok(complete))
}
