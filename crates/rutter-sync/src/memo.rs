//! What a visit leaves for the next one, kept with the publisher.
//!
//! It is a cache and a few decisions: losing it costs requests, never pages.

use std::collections::{BTreeMap, BTreeSet};

use rutter_discover::{Memory, Said};
use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::VisitError;
use crate::plan::Following;
use crate::scope::ScopeRules;

/// The newest form we write.
const VERSION: u32 = 1;

/// What is remembered of a site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memo {
    version: u32,
    /// Which side is followed.
    #[serde(default)]
    pub(crate) following: Option<Following>,
    /// `generated` of snapshots that were taken because states were unequal.
    #[serde(default)]
    pub(crate) mended: BTreeMap<String, Timestamp>,
    /// What the site's files said.
    #[serde(default)]
    pub(crate) memory: Memory,
    /// How far its ARC sitemap is known.
    #[serde(default)]
    pub(crate) arc: Option<ArcMemo>,
    /// Digest of the robots.txt by which delivered pages were judged.
    #[serde(default)]
    pub(crate) robots: Option<String>,
    /// The robots.txt that was read last, where it has `Content-Signal` lines,
    /// and what it calls us.
    #[serde(default)]
    pub(crate) signals: Option<(String, String)>,
    /// Sections whose verified lines were replaced by what pages say, or whose
    /// words were taken away and may be kept again: only a snapshot tells all.
    #[serde(default)]
    pub(crate) stale: BTreeSet<String>,
    /// Pages that were read one by one, lost their words and may have them
    /// again: they are asked for, whatever lists say of their age.
    #[serde(default)]
    pub(crate) again: BTreeSet<String>,
    /// Pages whose stored content an audit found damaged: the next sync fetches
    /// them again.
    #[serde(default)]
    pub(crate) damaged: BTreeSet<String>,
    /// Collections that did not verify, by address: they are not downloaded
    /// again while they are the same.
    #[serde(default)]
    pub(crate) refused: BTreeMap<String, RefusedFile>,
    /// Pages that ended a walk, because they never answered or only asked to
    /// come again: others come before them.
    #[serde(default)]
    pub(crate) stops: BTreeSet<String>,
    /// Since when the sitemap that named collections cannot be had.
    #[serde(default)]
    pub(crate) lost: Option<Timestamp>,
    /// Sitemaps that have more pages than collections bring; an empty name
    /// where it is not known which.
    #[serde(default)]
    pub(crate) rest: BTreeSet<String>,
    /// Pages that are listed and not here, by reason, as it was found last.
    #[serde(default)]
    pub(crate) left_out: BTreeMap<String, u64>,
    /// Pages without words, as they were counted last.
    #[serde(default)]
    pub(crate) withheld: Option<Counted>,
    /// Hosts that belonged to the site.
    #[serde(default)]
    pub(crate) hosts: Option<BTreeSet<String>>,
    /// The quota of bytes beyond which pages lost their words.
    #[serde(default)]
    pub(crate) quota: Option<u64>,
    /// The scope of the last sync; `None` where every page was wanted.
    #[serde(default)]
    pub(crate) scope: Option<ScopeRules>,
    /// When every sitemap was read last, also those that are not read for
    /// collections.
    #[serde(default)]
    pub(crate) whole: Option<Timestamp>,
    /// Sections of which so much was to go that it waits for another visit to
    /// find the same, and since when.
    #[serde(default)]
    pub(crate) held: BTreeMap<String, Timestamp>,
}

/// A collection that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefusedFile {
    pub(crate) generated: Timestamp,
    /// To ask whether it is still the same with.
    pub(crate) validators: rutter_fetch::Validators,
    pub(crate) why: String,
    /// When it came.
    pub(crate) at: Timestamp,
}

/// How many pages had no words, and when that was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// The end of the history then.
    pub(crate) cursor: String,
    /// All pages of the site then.
    pub(crate) pages: u64,
    pub(crate) withheld: u64,
}

/// How far an ARC sitemap is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArcMemo {
    /// The last day whose changes are in the replica.
    pub(crate) day: String,
    /// To ask for that day's changes again with; `None` where the whole
    /// sitemap was read last.
    pub(crate) delta: Option<rutter_fetch::Validators>,
    /// Validators that the whole sitemap had before the last deltas were read;
    /// `None` where the whole sitemap was read last, or the server names none.
    #[serde(default)]
    pub(crate) version: Option<rutter_fetch::Validators>,
    /// The moment up to which all changes are in the replica, by the
    /// publisher's clock.
    #[serde(default)]
    pub(crate) until: Option<Timestamp>,
    /// When the whole sitemap was asked for last.
    #[serde(default)]
    pub(crate) whole: Option<Timestamp>,
    /// The file that says when the sitemap last changed.
    #[serde(default)]
    pub(crate) pointer: PointerMemo,
}

/// What is known of the pointer to an ARC sitemap (D53).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PointerMemo {
    /// It was not asked for.
    #[default]
    Unknown,
    /// There is none, or it says nothing useful: not asked for again before the
    /// whole sitemap is.
    Useless,
    /// When the sitemap changed, as it said, and how to ask again.
    Known(Timestamp, rutter_fetch::Validators),
}

impl PointerMemo {
    /// When the sitemap changed, as the pointer says.
    pub(crate) fn date(&self) -> Option<Timestamp> {
        match self {
            Self::Known(date, _) => Some(*date),
            Self::Unknown | Self::Useless => None,
        }
    }
}

impl Memo {
    /// Reads what a publisher has; what cannot be read is forgotten, but not
    /// what a later version wrote.
    pub(crate) fn read(origin: &str, policy: &str) -> Result<Self, VisitError> {
        #[derive(Deserialize)]
        struct Any {
            version: u32,
        }
        if serde_json::from_str::<Any>(policy).is_ok_and(|any| VERSION < any.version) {
            return Err(VisitError::Memo(origin.to_owned()));
        }
        Ok(serde_json::from_str(policy).unwrap_or_default())
    }

    /// Takes in which hosts belong to the site; tells whether they are others
    /// than before. What files said of hosts that were not its own is then
    /// asked for anew.
    pub(crate) fn meet(&mut self, hosts: &BTreeSet<String>) -> bool {
        let is_new = self.hosts.as_ref().is_some_and(|known| known != hosts);
        self.hosts = Some(hosts.clone());
        if is_new {
            let is_kept = |said: &Option<Said>| !matches!(said, Some(Said::Arc(_) | Said::Spxi));
            self.memory.files.retain(|_, file| is_kept(&file.said));
            self.arc = None;
        }
        is_new
    }

    pub(crate) fn write(&self) -> String {
        let memo = Self { version: VERSION, ..self.clone() };
        serde_json::to_string(&memo).expect("names are strings and numbers are finite")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_a_memo_comes_back_and_later_ones_are_left_alone() {
        let stale = BTreeSet::from(["all".to_owned()]);
        let memo = Memo { following: Some(Following::All), stale, ..Memo::default() };
        let read = Memo::read("o", &memo.write()).unwrap();
        assert_eq!(read, Memo { version: VERSION, ..memo });
        assert_eq!(Memo::read("o", "").unwrap(), Memo::default());
        assert_eq!(Memo::read("o", "{").unwrap(), Memo::default());
        assert!(matches!(Memo::read("o", r#"{"version":2}"#), Err(VisitError::Memo(_))));
    }
}
