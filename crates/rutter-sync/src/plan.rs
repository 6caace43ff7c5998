//! The planner: the cheapest correct way from what the replica has to what the
//! site offers.
//!
//! Sections are planned one by one (`road.rs`): what cannot be used is dropped,
//! then a run of deltas and a snapshot with the deltas after it are compared by
//! what they cost. `sides.rs` chooses between `all` and the sections.
//!
//! Adverts do not say which state a delta starts from. The plan assumes that
//! chains hold; where line 1 says otherwise, [`Learned::broken`] grows and the
//! next plan is a snapshot. What is learned only grows, so asking again ends.

mod offer;
mod road;
mod sides;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rutter_page::Timestamp;
use rutter_scp::merge::{OLDEST, SKEW};
use serde::{Deserialize, Serialize};

pub use offer::{Collection, File, Offer};

/// The section that holds the pages of all others.
pub const ALL: &str = "all";

/// How a site is to be visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Clock skew that is tolerated, in seconds (D26).
    pub skew: i64,
    /// Age beyond which a collection is a replay, in seconds (D26).
    pub oldest: i64,
    /// Bytes of the largest file that is taken.
    pub largest: u64,
    /// Age in seconds after which the snapshot of a section without a proved
    /// state is fetched again, because plain deltas report no deletions (D27).
    pub plain_refresh: i64,
    /// Number of deltas after which it is.
    pub plain_deltas: u64,
    /// What a request costs, in bytes.
    pub request: u64,
    /// What the host's pace makes a request wait, in seconds.
    pub wait: u64,
    /// What a second of waiting costs, in bytes.
    pub second: u64,
}

impl Policy {
    /// The figures of D26, D27 and the design.
    pub const USUAL: Self = Self {
        skew: SKEW,
        oldest: OLDEST,
        largest: 2_000_000_000,
        plain_refresh: 7 * 86_400,
        plain_deltas: 30,
        request: 32 << 10,
        wait: 1,
        second: 64 << 10,
    };

    /// What so many bytes in so many requests cost.
    pub fn cost(&self, bytes: u64, requests: u64) -> u64 {
        let one = self.request.saturating_add(self.wait.saturating_mul(self.second));
        bytes.saturating_add(requests.saturating_mul(one))
    }
}

/// What a replica has of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Everything up to here.
    pub mark: Timestamp,
    /// `generated` of the newest snapshot; `None` where there never was one.
    pub snapshot_at: Option<Timestamp>,
    /// Deltas since then.
    pub deltas_since: u64,
    /// Pages.
    pub pages: u64,
    /// Whether the last collection named its state, and it came out.
    pub is_chained: bool,
    /// `generated` of a snapshot that was taken because states were unequal:
    /// it is not taken twice (D95).
    pub mended: Option<Timestamp>,
}

impl Held {
    /// What a store knows of a section. `mended` is for the visitor to remember.
    pub fn of_section(section: &rutter_store::Section, mended: Option<Timestamp>) -> Self {
        Self {
            mark: section.mark,
            snapshot_at: section.snapshot_at,
            deltas_since: section.deltas_since,
            pages: section.pages,
            is_chained: section.is_proved,
            mended,
        }
    }
}

/// What a replica has of a site.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replica {
    /// By section.
    pub sections: BTreeMap<String, Held>,
    /// Which side is followed; `None` before the first visit.
    pub following: Option<Following>,
}

/// Which collections of a site are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Following {
    /// `all` alone.
    All,
    /// Every section but `all`.
    Sections,
    /// Both, because neither has everything.
    Both,
}

/// What this visit found out so far. Grows only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Learned {
    /// Files that are gone, refused, or did not verify.
    pub bad: BTreeSet<String>,
    /// Hosts that want to be left alone.
    pub hosts: BTreeSet<String>,
    /// Sections whose chain does not hold, or whose state or count is not what
    /// line 1 says.
    pub broken: BTreeSet<String>,
}

impl Learned {
    /// Whether a file is not to be asked for.
    pub fn is_refused(&self, url: &str) -> bool {
        let host = rutter_page::PageUrl::parse(url).map(|url| url.host().to_owned());
        self.bad.contains(url) || host.is_ok_and(|host| self.hosts.contains(&host))
    }
}

/// What is to be taken, for each section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which side is followed from now on.
    pub following: Following,
    /// Sections that are no longer followed; their memberships go in the
    /// commit of the last section of this plan.
    pub unfollow: BTreeSet<String>,
    /// By section.
    pub steps: BTreeMap<String, Step>,
    /// Sections with files to fetch, in the order in which they are fetched:
    /// small and frequently updated ones first (SCP-185).
    pub order: Vec<String>,
}

impl Plan {
    /// Bytes and requests of all steps.
    pub fn total(&self) -> (u64, u64) {
        let steps = self.steps.values();
        steps.fold((0, 0), |(bytes, requests), step| {
            (bytes.saturating_add(step.bytes()), requests + step.requests())
        })
    }

    /// Whether nothing has to be asked for.
    pub fn is_nothing(&self) -> bool {
        self.steps.values().all(|step| step.way == Way::Nothing)
    }
}

/// What is to be done about one section, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What.
    pub way: Way,
    /// Why.
    pub reason: Reason,
}

/// How a section is brought up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// It is.
    Nothing,
    /// By these, in this order.
    Deltas(Vec<Pick>),
    /// By a snapshot, then by these.
    Snapshot(Pick, Vec<Pick>),
    /// By its pages: no offer can be used.
    Fallback,
}

/// A file to be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// Where.
    pub url: String,
    /// Its size, as advertised.
    pub size: u64,
    /// When it was made.
    pub generated: Timestamp,
    /// Where a delta begins; `None` for snapshots.
    pub since: Option<Timestamp>,
}

impl Step {
    fn picks(&self) -> impl Iterator<Item = &Pick> {
        let (first, rest): (Option<&Pick>, &[Pick]) = match &self.way {
            Way::Nothing | Way::Fallback => (None, &[]),
            Way::Deltas(deltas) => (None, deltas),
            Way::Snapshot(snapshot, then) => (Some(snapshot), then),
        };
        first.into_iter().chain(rest)
    }

    /// The files to be taken, in order.
    pub fn files(&self) -> Vec<&Pick> {
        self.picks().collect()
    }

    /// Predicted bytes.
    pub fn bytes(&self) -> u64 {
        self.picks().fold(0, |sum, pick| sum.saturating_add(pick.size))
    }

    /// Predicted requests.
    pub fn requests(&self) -> u64 {
        self.picks().count() as u64
    }
}

/// Why a section is brought up to date in its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Everything on offer is here.
    UpToDate,
    /// Deltas cost less than a snapshot.
    DeltasCheaper,
    /// Deltas, because no snapshot can be used.
    OnlyDeltas,
    /// Nothing is here yet.
    Empty,
    /// A snapshot costs less than deltas.
    SnapshotCheaper,
    /// Deltas leave a gap behind what is here.
    Gap,
    /// States or counts are not what they should be.
    Broken,
    /// The last snapshot is old, and plain deltas report no deletions. Never
    /// used while the state of the section is proved.
    RefreshByAge,
    /// Many deltas came since the last snapshot.
    RefreshByDeltas,
    /// The site no longer offers this section.
    NotOffered,
    /// Nothing is here, and there is no snapshot to begin with.
    NoSnapshot,
    /// Every file was refused, is gone, or did not verify.
    Refused,
    /// Every file is larger than allowed.
    TooLarge,
    /// Everything is dated in the future.
    FromFuture,
    /// Everything is so old that it may be a replay.
    TooOld,
    /// What is on offer waits for somebody's word, or for room.
    Waiting,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UpToDate => "everything on offer is here",
            Self::DeltasCheaper => "deltas cost less than a snapshot",
            Self::OnlyDeltas => "no snapshot can be used",
            Self::Empty => "nothing is here yet",
            Self::SnapshotCheaper => "a snapshot costs less than deltas",
            Self::Gap => "deltas leave a gap",
            Self::Broken => "states are not what they should be",
            Self::RefreshByAge => "the last snapshot is old",
            Self::RefreshByDeltas => "many deltas since the last snapshot",
            Self::NotOffered => "no longer offered",
            Self::NoSnapshot => "nothing is here, and no snapshot can be used",
            Self::Refused => "every file was refused, is gone, or did not verify",
            Self::TooLarge => "every file is larger than allowed",
            Self::FromFuture => "everything is dated in the future",
            Self::TooOld => "everything is so old that it may be a replay",
            Self::Waiting => "what is on offer waits for a word",
        })
    }
}

/// Decides what to take.
///
/// ```
/// use rutter_page::Timestamp;
/// use rutter_scp::{Kind, advert};
/// use rutter_sync::plan::{Learned, Offer, Policy, Reason, Replica, Way, plan};
///
/// let day = |n: i64| Timestamp::from_unix_seconds(1_790_000_000 + n * 86_400).unwrap();
/// let snapshot = advert::Collection {
///     section: "blog".into(), kind: Kind::Snapshot, period: None, generated: day(1),
///     expires: day(400), pages: 10, size: 5_000, checksum: None,
///     url: "https://h.example/blog.scp.zst".into(),
/// };
/// let offer = Offer::of_adverts(&[snapshot]);
/// let plan = plan(day(2), &Policy::USUAL, &offer, &Replica::default(), &Learned::default());
/// let step = &plan.steps["blog"];
/// assert_eq!((step.reason, step.bytes(), step.requests()), (Reason::Empty, 5_000, 1));
/// assert!(matches!(&step.way, Way::Snapshot(snapshot, then) if then.is_empty()));
/// ```
pub fn plan(
    now: Timestamp,
    policy: &Policy,
    offer: &Offer,
    replica: &Replica,
    learned: &Learned,
) -> Plan {
    sides::choose(&road::Ground { now, policy, offer, replica, learned })
}
