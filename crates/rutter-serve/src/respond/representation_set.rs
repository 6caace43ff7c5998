//! The representations of a path, and the choice among them.

use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderMap;

use crate::resolve::kind::FileKind;
use crate::resolve::resolver::{OpenFile, ResolvedFiles, SeenFiles};
use crate::resolve::root_dir::RootDir;
use crate::respond::accept::{wants_gzip, wants_markdown};
use crate::respond::representation::{Representation, RepresentationContext, RepresentationRole};

/// The representations of a path.
#[derive(Debug)]
pub(crate) struct RepresentationSet {
    pub(crate) plain: Representation,
    /// Served if the client accepts gzip.
    gzip: Option<Representation>,
    /// Served if the client prefers Markdown.
    markdown: Option<Representation>,
    pub(crate) is_restricted: bool,
    seen: SeenFiles,
    /// The generation of the catalog that the set was made with.
    pub(crate) generation: u64,
    /// When the files were last compared, in milliseconds of the site's clock.
    checked: AtomicU64,
}

impl RepresentationSet {
    /// Prepares the representations of resolved files, and returns the open files.
    pub(crate) fn new(
        files: ResolvedFiles,
        context: RepresentationContext<'_>,
        generation: u64,
        checked: u64,
    ) -> (Self, Vec<OpenFile>) {
        let ResolvedFiles { plain, gzip, markdown, is_restricted, seen } = files;
        let all = [Some(&plain), gzip.as_ref(), markdown.as_ref()];
        let open_files = all.into_iter().flatten().map(|file| file.open.clone()).collect();
        let role = match (&gzip, plain.kind) {
            (Some(_), _) => RepresentationRole::Plain,
            (None, FileKind::Page) => {
                RepresentationRole::Page(markdown.as_ref().map(|twin| twin.name.as_str()))
            }
            _ => RepresentationRole::Itself,
        };
        let set = Self {
            plain: Representation::new(plain, role, context),
            gzip: gzip.map(|file| Representation::new(file, RepresentationRole::Coded, context)),
            markdown: markdown
                .map(|file| Representation::new(file, RepresentationRole::Twin, context)),
            is_restricted,
            seen,
            generation,
            checked: AtomicU64::new(checked),
        };
        (set, open_files)
    }

    /// Returns the representation that the header fields of a request prefer.
    pub(crate) fn choose(&self, headers: &HeaderMap) -> &Representation {
        match self {
            Self { gzip: Some(gzip), .. } if wants_gzip(headers) => gzip,
            Self { markdown: Some(markdown), .. } if wants_markdown(headers) => markdown,
            Self { plain, .. } => plain,
        }
    }

    /// Returns whether all files are unchanged.
    pub(crate) fn is_current(&self, root: &RootDir) -> bool {
        root.is_unchanged(&self.seen)
    }

    /// Returns whether the files were compared less than `age` milliseconds before `now`.
    pub(crate) fn is_fresh(&self, now: u64, age: u64) -> bool {
        now.saturating_sub(self.checked.load(Ordering::Relaxed)) < age
    }

    /// Records that the files were compared and are unchanged.
    pub(crate) fn set_checked(&self, now: u64) {
        self.checked.store(now, Ordering::Relaxed);
    }

    /// Returns the memory that the set takes in the cache.
    pub(crate) fn weight(&self) -> usize {
        let others = [self.gzip.as_ref(), self.markdown.as_ref()];
        self.plain.weight()
            + others.into_iter().flatten().map(Representation::weight).sum::<usize>()
    }
}
