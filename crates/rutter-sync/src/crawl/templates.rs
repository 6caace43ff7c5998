//! The templates of a site, and the pages that wait until a crawl has learned them.

use std::collections::BTreeSet;
use std::sync::Arc;

use rutter_extract::{TemplateChoice, TemplateSet};
use rutter_fetch::ResponseBody;

use crate::crawl::page::FetchedPage;

/// Maximum size in bytes of the fetched pages that wait for the templates.
const SAMPLE_BYTES: usize = 16 << 20;

/// Fetched pages from which the templates of a site are learned.
#[derive(Debug, Default)]
pub(super) struct TemplateSample {
    /// URLs of the sample that are not fetched yet.
    pub(super) wanted: BTreeSet<String>,
    /// Fetched pages with their depth.
    pub(super) pages: Vec<(FetchedPage, u32)>,
    /// Size of the fetched pages, in bytes.
    size: usize,
}

/// The templates with which a crawl extracts pages.
#[derive(Debug)]
pub(super) struct SiteTemplates {
    pub(super) template: TemplateChoice,
    /// The sample, until the templates are learned from it.
    pub(super) sample: Option<TemplateSample>,
}

impl SiteTemplates {
    /// Uses templates that an earlier crawl learned.
    pub(super) fn known(templates: TemplateSet) -> Self {
        Self { template: TemplateChoice::Fitting(Arc::new(templates)), sample: None }
    }

    /// Learns templates from the pages at the URLs `wanted`.
    pub(super) fn learned_from(wanted: BTreeSet<String>) -> Self {
        let sample = TemplateSample { wanted, ..TemplateSample::default() };
        Self { template: TemplateChoice::Nothing, sample: Some(sample) }
    }

    /// Uses no templates.
    pub(super) fn unused() -> Self {
        Self { template: TemplateChoice::Nothing, sample: None }
    }

    /// Stops waiting for a page of the sample.
    pub(super) fn drop_wanted(&mut self, key: &str) {
        if let Some(sample) = &mut self.sample {
            sample.wanted.remove(key);
        }
    }

    /// Stops waiting for all pages that are not fetched yet.
    pub(super) fn close(&mut self) {
        if let Some(sample) = &mut self.sample {
            sample.wanted.clear();
        }
    }

    /// Keeps a page until the templates are learned. Returns the page if it need not wait.
    pub(super) fn hold(&mut self, raw: FetchedPage, depth: u32) -> Option<FetchedPage> {
        let Some(sample) = &mut self.sample else { return Some(raw) };
        if let ResponseBody::Memory(bytes) = &raw.response.body {
            sample.size += bytes.len();
        }
        sample.pages.push((raw, depth));
        None
    }

    /// Returns whether the templates have to be learned now from the pages that wait.
    pub(super) fn is_due(&self, is_late: bool) -> bool {
        self.sample
            .as_ref()
            .is_some_and(|sample| sample.wanted.is_empty() || SAMPLE_BYTES < sample.size || is_late)
    }
}
