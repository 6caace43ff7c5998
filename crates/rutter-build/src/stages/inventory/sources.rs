//! Provides the pages of a site in the order of their URLs.
//!
//! Input: the listed files, or a JSON Lines file that is validated and sorted. Output: one
//! [`SourcePage`] at a time. Lines that are not pages or are outside the site are reported and
//! skipped.

use std::fs::File;
use std::sync::Arc;

use rutter_finding::{Finding, Place};
use rutter_scp::{KeyedLine, Limits, LineReader, LineSorter, ReadError, SortedLines};

use crate::error::{BuildError, IoErrorContext};
use crate::exclusion::UnusedPrefixes;
use crate::plan::{BuildPlan, OversizePolicy};
use crate::rules;
use crate::section::SegmentCounts;
use crate::stages::inventory::page_files::PageFiles;

/// The pages of a site, which [`PageSources::next`] returns one at a time.
#[derive(Debug)]
pub(crate) enum PageSources {
    Files { names: Arc<PageFiles>, at: usize },
    Lines { sorted: SortedLines, next: KeyedLine, has_next: bool },
}

/// A loaded JSON Lines source. A page with several lines counts several times.
#[derive(Debug)]
pub(crate) struct LoadedLines {
    pub(crate) sources: PageSources,
    pub(crate) n_pages: usize,
    pub(crate) segments: SegmentCounts,
}

/// URL and source of a page.
#[derive(Debug)]
pub(crate) struct SourcePage {
    pub(crate) url: String,
    /// Path of the page's file relative to the site's folder; `None` for a page of a JSON Lines
    /// source.
    pub(crate) path: Option<Box<str>>,
    pub(crate) from: PageInput,
}

/// Source of a page.
#[derive(Debug)]
pub(crate) enum PageInput {
    /// A file, given by its path relative to the site's folder.
    File(Box<str>),
    Line(Vec<u8>),
}

impl PageSources {
    pub(crate) fn files(names: Arc<PageFiles>) -> Self {
        Self::Files { names, at: 0 }
    }

    /// Reads the lines of a JSON Lines source and sorts them by URL. Lines that are not pages are
    /// reported and skipped.
    pub(crate) fn lines(
        plan: &BuildPlan,
        report: &mut dyn FnMut(&str, Finding),
    ) -> Result<LoadedLines, BuildError> {
        let name = plan.site.display().to_string();
        let file = File::open(&plan.site).at(&plan.site)?;
        let size = file.metadata().ok().map(|metadata| metadata.len());
        let invalid_source =
            |error: ReadError| BuildError::InvalidSource(plan.site.clone(), error.to_string());
        // With `OversizePolicy::Merge`, the blocks of a page with too many blocks are merged, so
        // that the page need not be skipped (D36).
        let mut limits = Limits::DEFAULT;
        if plan.oversize == OversizePolicy::Merge {
            limits.parts.blocks = usize::MAX;
        }
        let mut lines = LineReader::open(file, size, limits).map_err(invalid_source)?;
        let mut sorter = LineSorter::new(&plan.state);
        let mut n_pages = 0;
        let mut segments = SegmentCounts::default();
        let mut findings: Vec<Finding> = Vec::new();
        let mut unused = UnusedPrefixes::new(plan);
        loop {
            let result = lines.next(&mut findings, |record| {
                // The page gets its canonical form here, because the ledger and all layers must use
                // the same URL as the collection.
                let mut page = rutter_scp::canonical(record.page);
                let key = page.url.key().to_owned();
                if plan.base.strip(&key).is_none() {
                    return Err(Some((record.line, key)));
                }
                segments.count(&plan.base, &key);
                unused.remove_matching(&key);
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
                report(&name, Finding::new(&rules::BAD_LINE, finding.place, detail));
            }
            match result.map_err(invalid_source)? {
                None => break,
                Some(Ok(())) => n_pages += 1,
                Some(Err(Some((line, key)))) => {
                    report(&name, Finding::new(&rules::OUTSIDE, Place::line(line), key));
                }
                Some(Err(None)) => {
                    let error =
                        std::io::Error::other("cannot write temporary files to sort the pages");
                    return Err(BuildError::Io(plan.state.clone(), error));
                }
            }
        }
        if let Some(written) = unused.first() {
            return Err(BuildError::UnusedRestriction(written.clone()));
        }
        let mut sorted = sorter.finish().at(&plan.state)?;
        let mut next = KeyedLine::empty();
        let has_next = sorted.next(&mut next).at(&plan.state)?;
        Ok(LoadedLines { sources: Self::Lines { sorted, next, has_next }, n_pages, segments })
    }

    pub(crate) fn next(&mut self) -> Result<Option<SourcePage>, BuildError> {
        match self {
            Self::Files { names, at } => {
                let name = names.get(*at);
                *at += 1;
                Ok(name.map(|name| SourcePage {
                    url: name.url.to_owned(),
                    from: PageInput::File(name.path.into()),
                    path: Some(name.path.into()),
                }))
            }
            Self::Lines { sorted, next, has_next } => {
                if !*has_next {
                    return Ok(None);
                }
                let mut best = std::mem::replace(next, KeyedLine::empty());
                // If several lines have the same URL, the line with the latest date is used (D30).
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
                Ok(Some(SourcePage { url, path: None, from: PageInput::Line(line) }))
            }
        }
    }
}
