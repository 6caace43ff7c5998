//! Pages in the order of their addresses, wherever they come from: files that
//! were listed, or lines that were sorted.

use std::fs::File;
use std::sync::Arc;

use rutter_finding::{Finding, Place};
use rutter_scp::{Entry, Limits, Lines, ReadError, Sorted, Sorter};

use crate::error::{At, BuildError};
use crate::gate::UnusedPrefixes;
use crate::inventory::Names;
use crate::plan::{Oversize, Plan};
use crate::rules;
use crate::section::Segments;
use crate::worker::From;

/// Gives pages one by one.
#[derive(Debug)]
pub(crate) enum Sources {
    Files { names: Arc<Names>, at: usize },
    Lines { sorted: Sorted, next: Entry, has_next: bool },
}

/// Lines that were taken in, each page counted as often as it came.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) sources: Sources,
    pub(crate) n_pages: usize,
    pub(crate) segments: Segments,
}

/// A page and where it comes from.
#[derive(Debug)]
pub(crate) struct Sourced {
    pub(crate) url: String,
    /// Below the site's folder; `None` for a line.
    pub(crate) path: Option<Box<str>>,
    pub(crate) from: From,
}

impl Sources {
    pub(crate) fn files(names: Arc<Names>) -> Self {
        Self::Files { names, at: 0 }
    }

    /// Reads and sorts JSON Lines; what is no page is told and left out.
    pub(crate) fn lines(
        plan: &Plan,
        tell: &mut dyn FnMut(&str, Finding),
    ) -> Result<Taken, BuildError> {
        let name = plan.site.display().to_string();
        let file = File::open(&plan.site).at(&plan.site)?;
        let size = file.metadata().ok().map(|metadata| metadata.len());
        let wrong = |error: ReadError| BuildError::Source(plan.site.clone(), error.to_string());
        // A page with too many blocks is merged, not left out (D36).
        let mut limits = Limits::DEFAULT;
        if plan.oversize == Oversize::Merge {
            limits.parts.blocks = usize::MAX;
        }
        let mut lines = Lines::open(file, size, limits).map_err(wrong)?;
        let mut sorter = Sorter::new(&plan.state);
        let mut n_pages = 0;
        let mut segments = Segments::default();
        let mut findings: Vec<Finding> = Vec::new();
        let mut unused = UnusedPrefixes::new(plan);
        loop {
            let taken = lines.next(&mut findings, |record| {
                // The ledger and every layer name the page by the URL that is
                // written into the collection.
                let mut page = rutter_scp::canonical(record.page);
                let key = page.url.key().to_owned();
                if plan.base.strip(&key).is_none() {
                    return Err(Some((record.line, key)));
                }
                segments.count(&plan.base, &key);
                unused.see(&key);
                let most = Limits::SPEC.parts.blocks;
                if most < page.content.len() {
                    let content = std::mem::take(&mut page.content);
                    page.content = rutter_extract::merged(content, most);
                }
                let line = page.to_line();
                sorter.push(&key, page.modified, line.as_bytes()).map_err(|_| None)
            });
            for finding in findings.drain(..) {
                let detail = format!("{}: {}", finding.rule.title, finding.detail);
                tell(&name, Finding::new(&rules::BAD_LINE, finding.place, detail));
            }
            match taken.map_err(wrong)? {
                None => break,
                Some(Ok(())) => n_pages += 1,
                Some(Err(Some((line, key)))) => {
                    tell(&name, Finding::new(&rules::OUTSIDE, Place::line(line), key));
                }
                Some(Err(None)) => {
                    let error = std::io::Error::other("cannot sort pages there");
                    return Err(BuildError::Io(plan.state.clone(), error));
                }
            }
        }
        if let Some(written) = unused.first() {
            return Err(BuildError::Unused(written.clone()));
        }
        let mut sorted = sorter.finish().at(&plan.state)?;
        let mut next = Entry::empty();
        let has_next = sorted.next(&mut next).at(&plan.state)?;
        Ok(Taken { sources: Self::Lines { sorted, next, has_next }, n_pages, segments })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Sourced>, BuildError> {
        match self {
            Self::Files { names, at } => {
                let name = names.get(*at);
                *at += 1;
                Ok(name.map(|name| Sourced {
                    url: name.url.to_owned(),
                    from: From::File(name.path.into()),
                    path: Some(name.path.into()),
                }))
            }
            Self::Lines { sorted, next, has_next } => {
                if !*has_next {
                    return Ok(None);
                }
                let mut best = std::mem::replace(next, Entry::empty());
                // Of two pages with one address the later one counts (D30).
                loop {
                    let at = std::path::Path::new("sorted pages");
                    *has_next = sorted.next(next).at(at)?;
                    if !*has_next || next.key != best.key {
                        break;
                    }
                    if best.modified < next.modified {
                        std::mem::swap(&mut best, next);
                    }
                }
                let (url, line) = (best.key, best.line);
                Ok(Some(Sourced { url, path: None, from: From::Line(line) }))
            }
        }
    }
}
