//! Caches, revalidates and evaluates the robots.txt of each origin (RFC 9309).
//!
//! If robots.txt does not exist, all URLs are allowed. If robots.txt cannot be fetched, all URLs
//! are disallowed, unless the cache has a copy from the last 24 hours.

use std::time::Duration;

use rutter_page::Timestamp;
use rutter_robots::RobotsTxt;
use serde::{Deserialize, Serialize};

use crate::decode;
use crate::error::{BadResponse, FailureCause, FetchError, RobotsReason};
use crate::header::Validators;
use crate::redact::redact;
use crate::request::{FetchedResponse, ResponseBody};
use crate::resource_kind::ResourceKind;

/// Maximum time for which a cached robots.txt is used (RFC 9309, section 2.4).
pub(crate) const MAX_CACHE_AGE: Duration = Duration::from_hours(24);
/// Minimum time for which a cached robots.txt is used, even if the server declares a shorter
/// lifetime.
const MIN_CACHE_AGE: Duration = Duration::from_hours(1);
/// Time until a robots.txt that could not be fetched is requested again.
const RETRY_AFTER_FAILURE: Duration = Duration::from_mins(5);

/// A fetched robots.txt, which the caller can store for the next run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsFile {
    /// Time of the last request for the file.
    pub fetched: Timestamp,
    /// Status code of the response.
    pub status: u16,
    /// Decompressed text, at most 500 KiB; empty unless the status is 2xx.
    pub body: Vec<u8>,
    /// Validators for a conditional request.
    pub validators: Validators,
    /// How long the file may be used, in seconds.
    pub max_age: u64,
}

/// The robots.txt rules of an origin.
#[derive(Debug, Clone, PartialEq)]
pub enum RobotsRules {
    /// robots.txt exists and has these rules.
    Rules(RobotsTxt),
    /// robots.txt does not exist (the server sent this status code), so all URLs are allowed (RFC
    /// 9309, section 2.3.1.3).
    AllowAll(u16),
    /// robots.txt cannot be fetched, so all URLs are disallowed (RFC 9309, section 2.3.1.4).
    DisallowAll(RobotsReason),
}

impl RobotsRules {
    /// Returns why `agent` may not fetch `path`; `None` if it may.
    pub fn forbids(&self, agent: &str, path: &str) -> Option<RobotsReason> {
        match self {
            Self::AllowAll(_) => None,
            Self::DisallowAll(reason) => Some(reason.clone()),
            Self::Rules(robots) => {
                let verdict = robots.verdict(agent, path);
                let rule = verdict.rule.filter(|_| !verdict.is_allowed)?;
                Some(RobotsReason::Rule { line: rule.line, pattern: rule.pattern.clone() })
            }
        }
    }

    /// Returns the `Crawl-delay` for `agent`.
    pub fn delay(&self, agent: &str) -> Option<Duration> {
        let Self::Rules(robots) = self else { return None };
        Duration::try_from_secs_f64(robots.crawl_delay(agent)?).ok()
    }
}

/// The cached robots.txt of an origin.
#[derive(Debug, Clone, Default)]
pub(crate) struct CachedRobots {
    /// The rules, and the monotonic time until which they are valid.
    in_force: Option<(RobotsRules, Duration)>,
    /// The last file that was fetched.
    pub(crate) file: Option<RobotsFile>,
}

impl CachedRobots {
    /// Creates a cache entry from the robots.txt of an earlier run.
    pub(crate) fn from_file(file: RobotsFile, now: Timestamp, moment: Duration) -> Self {
        let age = now.seconds_since(file.fetched);
        // A file with a future date counts as stale.
        let left = u64::try_from(age)
            .ok()
            .and_then(|age| file.max_age.min(MAX_CACHE_AGE.as_secs()).checked_sub(age));
        let in_force = left.map(|left| (rules_of(&file), moment + Duration::from_secs(left)));
        Self { in_force, file: Some(file) }
    }

    /// Returns the rules if they are still valid.
    pub(crate) fn in_force(&self, moment: Duration) -> Option<&RobotsRules> {
        self.in_force.as_ref().filter(|(_, end)| moment < *end).map(|(rules, _)| rules)
    }

    /// Returns the validators for a conditional request.
    pub(crate) fn validators(&self) -> Validators {
        self.file.as_ref().map(|file| file.validators.clone()).unwrap_or_default()
    }

    /// Stores the result of a request for robots.txt. Returns the rules, and the error of the
    /// request if all URLs are disallowed because of it.
    pub(crate) fn update(
        &mut self,
        answer: Result<FetchedResponse, FetchError>,
        now: Timestamp,
        moment: Duration,
    ) -> (&RobotsRules, Option<FetchError>) {
        let (rules, life, error) = match self.parse_response(answer, now) {
            Ok(file) => {
                let life = Duration::from_secs(file.max_age);
                let rules = rules_of(&file);
                self.file = Some(file);
                (rules, life, None)
            }
            Err((why, error)) => {
                let (rules, life) = self.fall_back(why, now);
                let is_closed = matches!(rules, RobotsRules::DisallowAll(_));
                // A failure because of a policy is not cached, because the repeated request is not
                // sent either.
                let is_refused = error
                    .as_ref()
                    .is_some_and(|error| matches!(error.cause, FailureCause::Refused(_)));
                let life = if is_refused { Duration::ZERO } else { life };
                (rules, life, error.filter(|_| is_closed))
            }
        };
        (&self.in_force.insert((rules, moment + life)).0, error)
    }

    /// Converts a response to a robots.txt file; returns an error if the response cannot be used.
    fn parse_response(
        &self,
        answer: Result<FetchedResponse, FetchError>,
        now: Timestamp,
    ) -> Result<RobotsFile, (String, Option<FetchError>)> {
        let broken = |why: String| (why, None);
        let answer = match answer {
            Ok(answer) => answer,
            // Too many redirects mean that the file does not exist.
            Err(FetchError {
                cause: FailureCause::Response(BadResponse::TooManyRedirects(_)),
                ..
            }) => {
                let validators = Validators::default();
                let max_age = MAX_CACHE_AGE.as_secs();
                return Ok(RobotsFile {
                    fetched: now,
                    status: 310,
                    body: vec![],
                    validators,
                    max_age,
                });
            }
            Err(error) => return Err((redact(&error.cause.to_string()), Some(error))),
        };
        let life = answer.fields.freshness.max_age.map_or(MAX_CACHE_AGE, Duration::from_secs);
        let max_age = life.clamp(MIN_CACHE_AGE, MAX_CACHE_AGE).as_secs();
        match answer.status {
            304 => {
                let file = self.file.clone().ok_or_else(|| {
                    broken("status 304 in response to a request without conditions".to_owned())
                })?;
                Ok(RobotsFile { fetched: now, max_age, ..file })
            }
            200..=299 => {
                let ResponseBody::Memory(bytes) = answer.body else {
                    return Err(broken("the response has no body".to_owned()));
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
            // 429 and 5xx do not mean that the file does not exist.
            429 | 500.. => Err(broken(format!("status {}", answer.status))),
            status => {
                let validators = Validators::default();
                Ok(RobotsFile { fetched: now, status, body: Vec::new(), validators, max_age })
            }
        }
    }

    /// Returns the rules that are valid while robots.txt cannot be fetched, and for how long they
    /// are valid.
    fn fall_back(&self, why: String, now: Timestamp) -> (RobotsRules, Duration) {
        let closed =
            || (RobotsRules::DisallowAll(RobotsReason::Unreachable(why)), RETRY_AFTER_FAILURE);
        let Some(file) = &self.file else { return closed() };
        let Ok(age) = u64::try_from(now.seconds_since(file.fetched)) else { return closed() };
        match MAX_CACHE_AGE.as_secs().checked_sub(age) {
            Some(left @ 1..) => {
                (rules_of(file), RETRY_AFTER_FAILURE.min(Duration::from_secs(left)))
            }
            _ => closed(),
        }
    }
}

fn rules_of(file: &RobotsFile) -> RobotsRules {
    match file.status {
        200..=299 => RobotsRules::Rules(RobotsTxt::parse(&file.body)),
        status => RobotsRules::AllowAll(status),
    }
}

/// Decompresses a robots.txt and converts UTF-16 to UTF-8.
fn text_of(bytes: &[u8], coding: Option<&str>) -> Result<Vec<u8>, String> {
    let max_bytes = ResourceKind::Robots.size_limits().decoded;
    let mut text = Vec::new();
    let input = decode::open(bytes, coding, u64::MAX).map_err(|error| error.to_string())?;
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(input, max_bytes), &mut text);
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
