//! robots.txt of every host: fetched, kept, obeyed (RFC 9309).
//!
//! What cannot be had because it is not there allows everything; what cannot
//! be had because something is broken forbids everything, unless a copy of the
//! last day is at hand.

use std::time::Duration;

use rutter_page::Timestamp;
use rutter_signpost::robots::Robots;
use serde::{Deserialize, Serialize};

use crate::decode;
use crate::error::{BadAnswer, Cause, FetchError, RobotsReason};
use crate::header::Validators;
use crate::request::{Body, Fetched};
use crate::what::What;

/// A copy is used for no longer than a day (RFC 9309, 2.4).
pub(crate) const LONGEST_KEPT: Duration = Duration::from_hours(24);
/// However short a server says a copy lives, it is not asked more often.
const SHORTEST_KEPT: Duration = Duration::from_hours(1);
/// A file that could not be had is asked for again after this.
const ASKED_AGAIN: Duration = Duration::from_mins(5);

/// A robots.txt as it was fetched; can be kept from one run to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsFile {
    /// When it was asked for last.
    pub fetched: Timestamp,
    /// The status it came with.
    pub status: u16,
    /// Its text, decoded, at most 500 KiB; empty where the status is not 2xx.
    pub body: Vec<u8>,
    /// To ask again with.
    pub validators: Validators,
    /// How long it may be used, in seconds.
    pub max_age: u64,
}

/// The rules in force for an origin.
#[derive(Debug, Clone, PartialEq)]
pub enum RobotsRules {
    /// The file has rules.
    Rules(Robots),
    /// There is no such file: everything is allowed (RFC 9309, 2.3.1.3).
    Open(u16),
    /// It cannot be had: everything is forbidden (RFC 9309, 2.3.1.4).
    Closed(RobotsReason),
}

impl RobotsRules {
    /// Says why `agent` may not fetch `path`; `None` where it may.
    pub fn forbids(&self, agent: &str, path: &str) -> Option<RobotsReason> {
        match self {
            Self::Open(_) => None,
            Self::Closed(reason) => Some(reason.clone()),
            Self::Rules(robots) => {
                let verdict = robots.verdict(agent, path);
                let rule = verdict.rule.filter(|_| !verdict.is_allowed)?;
                Some(RobotsReason::Rule { line: rule.line, pattern: rule.pattern.clone() })
            }
        }
    }

    /// How long `agent` should wait between requests.
    pub fn delay(&self, agent: &str) -> Option<Duration> {
        let Self::Rules(robots) = self else { return None };
        Duration::try_from_secs_f64(robots.crawl_delay(agent)?).ok()
    }
}

/// What is kept of an origin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    /// The rules, and until when they need no thought.
    in_force: Option<(RobotsRules, Duration)>,
    /// The last file that could be had.
    pub(crate) file: Option<RobotsFile>,
}

impl Kept {
    /// Takes a copy of an earlier run.
    pub(crate) fn of_file(file: RobotsFile, now: Timestamp, moment: Duration) -> Self {
        let age = now.seconds_since(file.fetched);
        // A copy from the future is as good as an old one.
        let left = u64::try_from(age)
            .ok()
            .and_then(|age| file.max_age.min(LONGEST_KEPT.as_secs()).checked_sub(age));
        let in_force = left.map(|left| (rules_of(&file), moment + Duration::from_secs(left)));
        Self { in_force, file: Some(file) }
    }

    /// The rules, where they are still good.
    pub(crate) fn in_force(&self, moment: Duration) -> Option<&RobotsRules> {
        self.in_force.as_ref().filter(|(_, end)| moment < *end).map(|(rules, _)| rules)
    }

    /// What to ask again with.
    pub(crate) fn validators(&self) -> Validators {
        self.file.as_ref().map(|file| file.validators.clone()).unwrap_or_default()
    }

    /// Takes what came of asking.
    pub(crate) fn take(
        &mut self,
        answer: Result<Fetched, FetchError>,
        now: Timestamp,
        moment: Duration,
    ) -> (&RobotsRules, Option<FetchError>) {
        let (rules, life, error) = match self.read(answer, now) {
            Ok(file) => {
                let life = Duration::from_secs(file.max_age);
                let rules = rules_of(&file);
                self.file = Some(file);
                (rules, life, None)
            }
            Err((why, error)) => {
                let (rules, life) = self.fall_back(why, now);
                let is_closed = matches!(rules, RobotsRules::Closed(_));
                // What a policy forbids costs nothing to ask again.
                let is_refused =
                    error.as_ref().is_some_and(|error| matches!(error.cause, Cause::Refused(_)));
                let life = if is_refused { Duration::ZERO } else { life };
                (rules, life, error.filter(|_| is_closed))
            }
        };
        (&self.in_force.insert((rules, moment + life)).0, error)
    }

    /// The file that an answer gives; else why it gives none.
    fn read(
        &self,
        answer: Result<Fetched, FetchError>,
        now: Timestamp,
    ) -> Result<RobotsFile, (String, Option<FetchError>)> {
        let broken = |why: String| (why, None);
        let answer = match answer {
            Ok(answer) => answer,
            // More hops than are followed mean that there is no such file.
            Err(FetchError { cause: Cause::Answer(BadAnswer::TooManyRedirects(_)), .. }) => {
                let validators = Validators::default();
                let max_age = LONGEST_KEPT.as_secs();
                return Ok(RobotsFile {
                    fetched: now,
                    status: 310,
                    body: vec![],
                    validators,
                    max_age,
                });
            }
            Err(error) => return Err((error.cause.to_string(), Some(error))),
        };
        let life = answer.fields.freshness.max_age.map_or(LONGEST_KEPT, Duration::from_secs);
        let max_age = life.clamp(SHORTEST_KEPT, LONGEST_KEPT).as_secs();
        match answer.status {
            304 => {
                let file = self
                    .file
                    .clone()
                    .ok_or_else(|| broken("status 304, but nothing was known before".to_owned()))?;
                Ok(RobotsFile { fetched: now, max_age, ..file })
            }
            200..=299 => {
                let Body::Memory(bytes) = answer.body else {
                    return Err(broken("it has no body".to_owned()));
                };
                let coding = answer.fields.content_encoding.as_deref();
                let body = text_of(&bytes, coding).map_err(broken)?;
                let status = answer.status;
                Ok(RobotsFile {
                    fetched: now,
                    status,
                    body,
                    validators: answer.validators,
                    max_age,
                })
            }
            // Too many requests is no absence.
            429 | 500.. => Err(broken(format!("status {}", answer.status))),
            status => {
                let validators = Validators::default();
                Ok(RobotsFile { fetched: now, status, body: Vec::new(), validators, max_age })
            }
        }
    }

    /// What counts while the file cannot be had.
    fn fall_back(&self, why: String, now: Timestamp) -> (RobotsRules, Duration) {
        let closed = || (RobotsRules::Closed(RobotsReason::Unreachable(why)), ASKED_AGAIN);
        let Some(file) = &self.file else { return closed() };
        let Ok(age) = u64::try_from(now.seconds_since(file.fetched)) else { return closed() };
        match LONGEST_KEPT.as_secs().checked_sub(age) {
            Some(left @ 1..) => (rules_of(file), ASKED_AGAIN.min(Duration::from_secs(left))),
            _ => closed(),
        }
    }
}

fn rules_of(file: &RobotsFile) -> RobotsRules {
    match file.status {
        200..=299 => RobotsRules::Rules(Robots::parse(&file.body)),
        status => RobotsRules::Open(status),
    }
}

/// The text of a file: decoded, and in UTF-8 where it came in UTF-16.
fn text_of(bytes: &[u8], coding: Option<&str>) -> Result<Vec<u8>, String> {
    let most = What::Robots.sizes().decoded;
    let mut text = Vec::new();
    let input = decode::open(bytes, coding, u64::MAX).map_err(|error| error.to_string())?;
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(input, most), &mut text);
    read.map_err(|error| error.to_string())?;
    let units = |parse: fn([u8; 2]) -> u16| {
        let pairs = text.chunks_exact(2).filter_map(|pair| Some(parse(pair.try_into().ok()?)));
        char::decode_utf16(pairs).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>()
    };
    Ok(match text.as_slice() {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes).into_bytes(),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes).into_bytes(),
        _ => text,
    })
}
