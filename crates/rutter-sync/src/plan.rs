//! The planner: decides which files a sync downloads to bring sections up to date at the
//! lowest cost.
//!
//! Input: the collections that a site offers, the sections of the replica, and the failures
//! of this sync. Output: a [`SyncPlan`]. Each section is planned separately (`route.rs`):
//! unusable files are dropped, then the cost of a sequence of deltas is compared with the
//! cost of a snapshot plus the deltas after it. `choose_sections.rs` chooses between the
//! section `all` and the other sections.
//!
//! An advert does not contain the state from which a delta starts, so the plan assumes that
//! each delta continues from the one before. If line 1 of a delta contradicts this
//! assumption, the sync adds the section to [`KnownFailures::broken_sections`], and the
//! next plan uses a snapshot. A sync adds known failures and never removes them, so
//! repeated planning terminates.

mod choose_sections;
mod offer;
mod route;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rutter_page::Timestamp;
use rutter_scp::merge::{MAX_AGE, MAX_CLOCK_SKEW};
use serde::{Deserialize, Serialize};

pub use offer::{OfferedCollection, OfferedFile, PlanOffer};

/// Name of the section that contains the pages of all other sections.
pub const ALL: &str = "all";

/// Limits and costs for the planner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanPolicy {
    /// Tolerated clock skew, in seconds (D26).
    pub skew: i64,
    /// Age in seconds from which a collection counts as a replay (D26).
    pub oldest: i64,
    /// Maximum size of a file, in bytes.
    pub largest: u64,
    /// Age in seconds of the last snapshot from which a section without a proved state
    /// needs a newer snapshot, because its deltas report no deletions (D27).
    pub plain_refresh: i64,
    /// Number of deltas since the last snapshot from which a section without a proved state
    /// needs a newer snapshot (D27).
    pub plain_deltas: u64,
    /// Cost of one request, in bytes.
    pub request: u64,
    /// Delay between two requests to the host, in seconds.
    pub wait: u64,
    /// Cost of one second of delay, in bytes.
    pub second: u64,
}

impl PlanPolicy {
    /// The default values, as decided in D26 and D27.
    pub const DEFAULT: Self = Self {
        skew: MAX_CLOCK_SKEW,
        oldest: MAX_AGE,
        largest: 2_000_000_000,
        plain_refresh: 7 * 86_400,
        plain_deltas: 30,
        request: 32 << 10,
        wait: 1,
        second: 64 << 10,
    };

    /// Returns the cost, in bytes, of downloading `bytes` with this number of requests.
    pub fn cost(&self, bytes: u64, requests: u64) -> u64 {
        let one = self.request.saturating_add(self.wait.saturating_mul(self.second));
        bytes.saturating_add(requests.saturating_mul(one))
    }
}

/// State of one section in the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalSection {
    /// Time up to which the replica has all changes of the section.
    pub mark: Timestamp,
    /// `generated` of the newest applied snapshot; `None` if no snapshot was applied.
    pub snapshot_at: Option<Timestamp>,
    /// Number of deltas that were applied after that snapshot.
    pub deltas_since: u64,
    /// Number of pages in the section.
    pub pages: u64,
    /// Whether the last collection claimed a state, and the section has that state.
    pub is_chained: bool,
    /// `generated` of a snapshot that was applied to repair a wrong state. The same
    /// snapshot is not applied again (D95).
    pub mended: Option<Timestamp>,
}

impl LocalSection {
    /// Converts a section of the store into input of the planner. `mended` comes from the
    /// stored state of the site.
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

/// The sections of a site in the replica.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplicaSections {
    /// The sections, by section name.
    pub sections: BTreeMap<String, LocalSection>,
    /// The sections that the replica follows; `None` before the first sync.
    pub following: Option<SectionChoice>,
}

/// The sections of a site that a replica follows, which means that it keeps them up to
/// date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SectionChoice {
    /// Only the section `all`.
    All,
    /// Every section except the section `all`.
    Sections,
    /// Every section, because neither `all` nor the other sections have every page.
    Both,
}

/// Failures of this sync, which the next plan must avoid. A sync only adds failures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownFailures {
    /// URLs of files that are missing, that a policy refuses, or that failed verification.
    pub files: BTreeSet<String>,
    /// Hosts that asked for a pause in this sync.
    pub hosts: BTreeSet<String>,
    /// Sections with a delta that does not start from the state of the section, or whose
    /// state or number of pages differs from line 1 of a collection.
    pub broken_sections: BTreeSet<String>,
}

impl KnownFailures {
    /// Returns whether a file must not be requested, because the file failed or its host
    /// asked for a pause.
    pub fn is_refused(&self, url: &str) -> bool {
        let host = rutter_page::PageUrl::parse(url).map(|url| url.host().to_owned());
        self.files.contains(url) || host.is_ok_and(|host| self.hosts.contains(&host))
    }
}

/// The files that a sync will download, by section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncPlan {
    /// The sections that the replica follows from now on.
    pub following: SectionChoice,
    /// Sections that the replica no longer follows. The commit of the last section of this
    /// plan removes these sections and their pages.
    pub unfollow: BTreeSet<String>,
    /// The plan for each section, by section name.
    pub steps: BTreeMap<String, SectionPlan>,
    /// Sections with files to download, in order: small and frequently updated ones first
    /// (SCP-185).
    pub order: Vec<String>,
}

impl SyncPlan {
    /// Returns the predicted total number of bytes and requests.
    pub fn total(&self) -> (u64, u64) {
        let steps = self.steps.values();
        steps.fold((0, 0), |(bytes, requests), step| {
            (bytes.saturating_add(step.bytes()), requests + step.requests())
        })
    }

    /// Returns whether every section is up to date.
    pub fn is_nothing(&self) -> bool {
        self.steps.values().all(|step| step.way == SectionAction::Nothing)
    }
}

/// The plan for one section, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionPlan {
    /// How the section is brought up to date.
    pub way: SectionAction,
    /// The reason for this plan.
    pub reason: PlanReason,
}

/// How a section is brought up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionAction {
    /// The section is up to date: nothing is downloaded.
    Nothing,
    /// Apply these deltas, in this order.
    Deltas(Vec<PlannedFile>),
    /// Apply a snapshot, then these deltas.
    Snapshot(PlannedFile, Vec<PlannedFile>),
    /// Crawl the pages of the section, because no collection can be used.
    Fallback,
}

/// A collection file to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// URL of the file.
    pub url: String,
    /// Advertised size in bytes.
    pub size: u64,
    /// When the collection was generated.
    pub generated: Timestamp,
    /// Start of the period that a delta covers; `None` for a snapshot.
    pub since: Option<Timestamp>,
}

impl SectionPlan {
    fn planned_files(&self) -> impl Iterator<Item = &PlannedFile> {
        let (first, rest): (Option<&PlannedFile>, &[PlannedFile]) = match &self.way {
            SectionAction::Nothing | SectionAction::Fallback => (None, &[]),
            SectionAction::Deltas(deltas) => (None, deltas),
            SectionAction::Snapshot(snapshot, then) => (Some(snapshot), then),
        };
        first.into_iter().chain(rest)
    }

    /// Returns the files to download, in order.
    pub fn files(&self) -> Vec<&PlannedFile> {
        self.planned_files().collect()
    }

    /// Returns the predicted number of bytes to download.
    pub fn bytes(&self) -> u64 {
        self.planned_files().fold(0, |sum, planned_file| sum.saturating_add(planned_file.size))
    }

    /// Returns the predicted number of requests.
    pub fn requests(&self) -> u64 {
        self.planned_files().count() as u64
    }
}

/// Reason for the plan of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanReason {
    /// The replica has every offered change of the section.
    UpToDate,
    /// Deltas cost less than a snapshot.
    DeltasCheaper,
    /// Deltas are used because no snapshot can be used.
    OnlyDeltas,
    /// This is the first sync of the section.
    Empty,
    /// A snapshot costs less than deltas.
    SnapshotCheaper,
    /// No sequence of deltas starts at the time up to which the replica is complete.
    Gap,
    /// The state or the number of pages differs from line 1 of a collection.
    Broken,
    /// The last snapshot is old, and deltas without a state report no deletions. Not used
    /// while the state of the section is proved.
    RefreshByAge,
    /// Many deltas were applied since the last snapshot, and deltas without a state report
    /// no deletions.
    RefreshByDeltas,
    /// The site no longer offers this section.
    NotOffered,
    /// This is the first sync of the section, and no snapshot can be used.
    NoSnapshot,
    /// Every file is missing, was refused by a policy, or failed verification.
    Refused,
    /// Every file exceeds the size limit.
    TooLarge,
    /// Every file is dated in the future.
    FromFuture,
    /// Every file is so old that it may be a replay.
    TooOld,
    /// A mass deletion waits for confirmation, or the page quota is exhausted.
    Waiting,
}

impl fmt::Display for PlanReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UpToDate => "up to date",
            Self::DeltasCheaper => "deltas are cheaper than a snapshot",
            Self::OnlyDeltas => "deltas, as no snapshot can be used",
            Self::Empty => "first sync",
            Self::SnapshotCheaper => "a snapshot is cheaper than deltas",
            Self::Gap => "the deltas leave a gap",
            Self::Broken => "the state differs from the publisher's",
            Self::RefreshByAge => "the last snapshot is old",
            Self::RefreshByDeltas => "many deltas since the last snapshot",
            Self::NotOffered => "no longer offered",
            Self::NoSnapshot => "first sync, and no snapshot can be used",
            Self::Refused => "every file was refused, is missing, or failed verification",
            Self::TooLarge => "every file exceeds the size limit",
            Self::FromFuture => "every file is dated in the future",
            Self::TooOld => "every file is so old that it may be a replay",
            Self::Waiting => "waiting for a confirmation or a larger quota",
        })
    }
}

/// Plans which files a sync downloads.
///
/// ```
/// use rutter_page::Timestamp;
/// use rutter_scp::{CollectionKind, advert};
/// use rutter_sync::plan::{KnownFailures, PlanOffer, PlanPolicy, PlanReason, ReplicaSections, SectionAction, plan};
///
/// let day = |n: i64| Timestamp::from_unix_seconds(1_790_000_000 + n * 86_400).unwrap();
/// let snapshot = advert::AdvertisedCollection {
///     section: "blog".into(), kind: CollectionKind::Snapshot, period: None, generated: day(1),
///     expires: day(400), pages: 10, size: 5_000, checksum: None,
///     url: "https://h.example/blog.scp.zst".into(),
/// };
/// let offer = PlanOffer::of_adverts(&[snapshot]);
/// let plan = plan(day(2), &PlanPolicy::DEFAULT, &offer, &ReplicaSections::default(), &KnownFailures::default());
/// let step = &plan.steps["blog"];
/// assert_eq!((step.reason, step.bytes(), step.requests()), (PlanReason::Empty, 5_000, 1));
/// assert!(matches!(&step.way, SectionAction::Snapshot(snapshot, then) if then.is_empty()));
/// ```
pub fn plan(
    now: Timestamp,
    policy: &PlanPolicy,
    offer: &PlanOffer,
    replica: &ReplicaSections,
    failures: &KnownFailures,
) -> SyncPlan {
    choose_sections::choose_sections(&route::PlanInput { now, policy, offer, replica, failures })
}
