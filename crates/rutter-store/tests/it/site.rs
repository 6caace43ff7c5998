//! Pages, times and small collections that the tests share.

use rutter_page::{LineDigest, Timestamp};
use rutter_scp::State;
use rutter_store::{
    Begin, Claim, CommitError, Finish, Item, Lease, Mode, Outlook, PublisherId, Quota, Selection,
    Source, Staging, Store, Withheld,
};

pub(crate) const ORIGIN: &str = "https://harbour.example";

/// The hour since some morning.
pub(crate) fn at(hour: i64) -> Timestamp {
    Timestamp::from_unix_seconds(1_790_000_000 + hour * 3600).unwrap()
}

pub(crate) fn url(n: usize) -> String {
    format!("{ORIGIN}/{n:05}")
}

/// A page's line; `words` makes versions of the same hour differ.
pub(crate) fn line(n: usize, hour: i64, words: &str) -> String {
    format!(
        "{{\"url\":\"{}\",\"title\":\"Berth\",\"description\":\"Where boats lie\",\
         \"modified\":\"{}\",\"language\":\"en\",\"content\":[{{\"type\":\"text\",\"text\":\
         \"Berth {n} at hour {hour}: {words}\"}}]}}",
        url(n),
        at(hour)
    )
}

/// A page on its way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) key: String,
    pub(crate) modified: Timestamp,
    pub(crate) line: String,
    pub(crate) withheld: Option<Withheld>,
}

impl Draft {
    pub(crate) fn new(n: usize, hour: i64, words: &str) -> Self {
        Self { key: url(n), modified: at(hour), line: line(n, hour, words), withheld: None }
    }

    pub(crate) fn withheld(self, reason: Withheld) -> Self {
        Self { withheld: Some(reason), ..self }
    }

    pub(crate) fn digest(&self) -> LineDigest {
        LineDigest::of(self.line.as_bytes())
    }

    pub(crate) fn item(&self) -> Item<'_> {
        Item {
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

pub(crate) fn begin(section: &str, mode: Mode, hour: i64) -> Begin<'_> {
    Begin {
        section,
        mode,
        generated: at(hour),
        source: Source::Scp,
        quota: Quota::NONE,
        now: at(hour),
    }
}

pub(crate) fn publisher(store: &dyn Store) -> (PublisherId, Lease) {
    let publisher = store.register(ORIGIN, &[], "").unwrap();
    (publisher, store.lease(publisher, at(0), at(10_000)).unwrap())
}

/// Stages and commits in one go.
pub(crate) fn put(
    store: &dyn Store,
    lease: &Lease,
    begin: Begin<'_>,
    drafts: &[Draft],
) -> Result<Outlook, CommitError> {
    let mut staging = store.stage(lease, begin).unwrap();
    add_all(drafts, &mut *staging);
    staging.commit(&Finish { lines: Some(drafts.len() as u64), ..Finish::plain() })
}

pub(crate) fn state_of<'d>(drafts: impl IntoIterator<Item = &'d Draft>) -> State {
    let mut state = State::EMPTY;
    for draft in drafts {
        state.add(&draft.key, draft.digest());
    }
    state
}

pub(crate) fn claim(drafts: &[Draft]) -> Claim {
    Claim { state: state_of(drafts), pages: drafts.len() as u64 }
}

/// Key and line of every page that can be read, page by page.
pub(crate) fn all_lines(store: &dyn Store) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut last = None;
    loop {
        let after = last.as_ref().map(|row: &rutter_store::PageRow| row.after());
        let piece = store.lines(&Selection::default(), after, 17).unwrap();
        let piece: Vec<_> = piece.into_iter().map(Result::unwrap).collect();
        let Some((row, _)) = piece.last() else { return found };
        last = Some(row.clone());
        found.extend(piece.into_iter().map(|(row, line)| (row.url, line)));
    }
}

/// Keys of the pages of a section, those without words included.
pub(crate) fn keys(store: &dyn Store, publisher: PublisherId, section: &str) -> Vec<String> {
    let selection =
        Selection { publisher: Some(publisher), section: Some(section), with_withheld: true };
    let rows = store.list(&selection, None, usize::MAX).unwrap();
    rows.into_iter().map(|row| row.url).collect()
}
