//! What a visit leaves for the next one.

use std::collections::{BTreeMap, BTreeSet};

use rutter_fetch::{Probe, RobotsFile, Validators};
use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

use crate::said::Said;

/// Places that were looked at without need are looked at again after a week.
const HINTS_KEPT: i64 = 7 * 86_400;

/// What is known of a site from before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Files by their addresses.
    pub files: BTreeMap<String, Remembered>,
    /// What the host says to addresses that nobody has, and when.
    pub probe: Option<(Timestamp, Probe)>,
    /// The robots.txt.
    pub robots: Option<RobotsFile>,
    /// Addresses of files that whoever remembers asks for himself: what they
    /// said is taken from `files`, and they are left alone.
    #[serde(skip)]
    pub mine: BTreeSet<String>,
}

/// What is known of one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// When it was asked for last.
    pub asked: Timestamp,
    /// To ask again with.
    pub validators: Validators,
    /// What it said; `None` where there was nothing.
    pub said: Option<Said>,
}

impl Remembered {
    /// Tells whether this is still recent.
    pub(crate) fn is_recent(&self, now: Timestamp) -> bool {
        is_recent(self.asked, now)
    }
}

/// Within a week; a time in the future is not believed.
pub(crate) fn is_recent(asked: Timestamp, now: Timestamp) -> bool {
    (0..HINTS_KEPT).contains(&now.seconds_since(asked))
}
