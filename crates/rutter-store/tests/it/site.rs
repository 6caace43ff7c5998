//! Shared test data: pages, times and small collections.

use rutter_page::{LineDigest, Timestamp};
use rutter_scp::SectionState;
use rutter_store::prelude::*;
use rutter_store::{
    ClaimedState, CommitError, CommitOptions, CommitSummary, Lease, PageSelection, PageSource,
    PublisherId, Quota, StagedPage, StagingMode, StagingOptions, WithheldReason,
};

pub(crate) const ORIGIN: &str = "https://harbour.example";

/// Returns a fixed time plus a number of hours.
pub(crate) fn at(hour: i64) -> Timestamp {
    Timestamp::from_unix_seconds(1_790_000_000 + hour * 3600).unwrap()
}

pub(crate) fn url(n: usize) -> String {
    format!("{ORIGIN}/{n:05}")
}

/// Returns the line of a page; `words` distinguishes versions of the same hour.
pub(crate) fn line(n: usize, hour: i64, words: &str) -> String {
    format!(
        "{{\"url\":\"{}\",\"title\":\"Berth\",\"description\":\"Where boats lie\",\
         \"modified\":\"{}\",\"language\":\"en\",\"content\":[{{\"type\":\"text\",\"text\":\
         \"Berth {n} at hour {hour}: {words}\"}}]}}",
        url(n),
        at(hour)
    )
}

/// A page to be staged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) key: String,
    pub(crate) modified: Timestamp,
    pub(crate) line: String,
    pub(crate) withheld: Option<WithheldReason>,
}

impl Draft {
    pub(crate) fn new(n: usize, hour: i64, words: &str) -> Self {
        Self { key: url(n), modified: at(hour), line: line(n, hour, words), withheld: None }
    }

    pub(crate) fn withheld(self, reason: WithheldReason) -> Self {
        Self { withheld: Some(reason), ..self }
    }

    pub(crate) fn digest(&self) -> LineDigest {
        LineDigest::of(self.line.as_bytes())
    }

    pub(crate) fn item(&self) -> StagedPage<'_> {
        StagedPage {
            key: &self.key,
            modified: self.modified,
            digest: self.digest(),
            title: "Berth",
            language: "en",
            line: &self.line,
            withheld: self.withheld,
        }
    }

    pub(crate) fn add(&self, staging: &mut dyn Staging) {
        staging.add(&self.item()).unwrap();
    }
}

pub(crate) fn add_all(drafts: &[Draft], staging: &mut dyn Staging) {
    for draft in drafts {
        draft.add(staging);
    }
}

pub(crate) fn begin(section: &str, mode: StagingMode, hour: i64) -> StagingOptions<'_> {
    StagingOptions {
        section,
        mode,
        generated: at(hour),
        source: PageSource::Scp,
        quota: Quota::NONE,
        now: at(hour),
    }
}

pub(crate) fn publisher(store: &dyn Store) -> (PublisherId, Lease) {
    let publisher = store.register(ORIGIN, &[]).unwrap();
    (publisher, store.lease(publisher, at(0), at(10_000)).unwrap())
}

/// Stages and commits pages.
pub(crate) fn put(
    store: &dyn Store,
    lease: &Lease,
    begin: StagingOptions<'_>,
    drafts: &[Draft],
) -> Result<CommitSummary, CommitError> {
    let mut staging = store.stage(lease, begin).unwrap();
    add_all(drafts, &mut *staging);
    staging.commit(&CommitOptions { lines: Some(drafts.len() as u64), ..CommitOptions::plain() })
}

pub(crate) fn state_of<'d>(drafts: impl IntoIterator<Item = &'d Draft>) -> SectionState {
    let mut state = SectionState::EMPTY;
    for draft in drafts {
        state.add(&draft.key, draft.digest());
    }
    state
}

pub(crate) fn claim(drafts: &[Draft]) -> ClaimedState {
    ClaimedState { state: state_of(drafts), pages: drafts.len() as u64 }
}

/// Returns the key and line of every readable page.
pub(crate) fn all_lines(store: &dyn Store) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut last = None;
    loop {
        let after = last.as_ref().map(|row: &rutter_store::PageRow| row.after());
        let piece = store.lines(&PageSelection::default(), after, 17).unwrap();
        let piece: Vec<_> = piece.into_iter().map(Result::unwrap).collect();
        let Some((row, _)) = piece.last() else { return found };
        last = Some(row.clone());
        found.extend(piece.into_iter().map(|(row, line)| (row.url, line)));
    }
}

/// Returns the keys of the pages of a section, including withheld ones.
pub(crate) fn keys(store: &dyn Store, publisher: PublisherId, section: &str) -> Vec<String> {
    let selection =
        PageSelection { publisher: Some(publisher), section: Some(section), with_withheld: true };
    let rows = store.list(&selection, None, usize::MAX).unwrap();
    rows.into_iter().map(|row| row.url).collect()
}
