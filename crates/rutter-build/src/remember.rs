//! What the state remembers of pages, for whoever judges what was published:
//! pages whose bytes are the same need not be read again.

use std::path::Path;
use std::sync::mpsc;

use rutter_page::{Digest, LineDigest};

use crate::error::BuildError;
use crate::gate::Bar;
use crate::manifest::Manifest;
use crate::own_marks;
use crate::pack::Records;
use crate::state::{Paths, whole};

/// Texts that may wait to be hashed.
const WAITING: usize = 64;

/// A page as the last build read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// Its address.
    pub url: String,
    /// Digest of its bytes, without what was put into its head.
    pub source: Digest,
    /// Digest of its line; `None` where it may not leave.
    pub line: Option<LineDigest>,
    /// Digest of its Markdown twin; `None` likewise.
    pub twin: Option<LineDigest>,
    /// Its title.
    pub title: String,
    /// Why it may not leave, in words.
    pub barred: Option<String>,
    /// What was found wrong with it: code and detail.
    pub findings: Vec<(String, String)>,
}

impl Remembered {
    /// Whether it may not leave by what it or its owner says. A page with too
    /// many blocks for a collection is open all the same.
    pub fn is_closed(&self) -> bool {
        self.barred.as_deref().is_some_and(|reason| Bar::of_reason(reason) != Some(Bar::Oversize))
    }
}

/// Whether the state tells of files in this folder.
pub fn is_built_into(state: &Path, folder: &Path) -> bool {
    let list = Manifest::load(&Paths::new(state).files());
    // By whatever way the folder is named, it is the same.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    list.is_some_and(|(known, _)| known == whole(folder) || real(&known) == real(folder))
}

/// Everything that the state of a build remembers, in the order of addresses;
/// nothing where there is no state.
pub fn remembered(state: &Path) -> Result<Vec<Remembered>, BuildError> {
    let mut all = Vec::new();
    let mut records = Records::open(&Paths::new(state).pack())?;
    // One thread unpacks, another hashes what the first unpacked.
    let digests = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<[Vec<u8>; 2]>(WAITING);
        let hashing = scope.spawn(move || {
            let digest = |bytes: Vec<u8>| (!bytes.is_empty()).then(|| LineDigest::of(&bytes));
            receiver.into_iter().map(|texts| texts.map(digest)).collect::<Vec<_>>()
        });
        let unpacked = records.every(&mut |url, record| {
            let Some(source) = Digest::parse(&record.meta.source) else { return };
            // It hears until the last one is sent.
            let twin = match record.markdown.as_slice() {
                [] => Vec::new(),
                markdown => own_marks::twin(markdown),
            };
            drop(sender.send([record.line.clone(), twin]));
            all.push(Remembered {
                url: url.to_owned(),
                source,
                line: None,
                twin: None,
                title: record.meta.title.clone(),
                barred: record.meta.barred.clone(),
                findings: record.meta.findings.clone(),
            });
        });
        drop(sender);
        unpacked.map(|()| hashing.join().unwrap_or_default())
    })?;
    // A page whose digests are lost is one that nobody remembers.
    all.truncate(digests.len());
    for (page, [line, twin]) in all.iter_mut().zip(digests) {
        (page.line, page.twin) = (line, twin);
    }
    Ok(all)
}
