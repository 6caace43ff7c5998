//! Settings of the layers.

use serde::Serialize;

/// Which layers are written.
// More than 12 fields: one for each setting in `[layers]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings of the site owner")]
pub struct Layers {
    /// Whether `sitemap.xml` is written.
    pub sitemap: bool,
    /// Whether SCP collections are written.
    pub collections: bool,
    /// Whether the `scp:` elements are written to a separate sitemap (D16).
    pub separate_sitemap: bool,
    /// Whether sitemaps declare the locations of their schemas (D15).
    pub schema_location: bool,
    /// Whether collections are also written as gzip.
    pub gzip: bool,
    /// Whether collections of the section `all` are written in addition to those of the other
    /// sections.
    pub all: bool,
    /// Whether deltas contain removals and states (D95).
    pub chain: bool,
    /// Whether Rutter's block in `robots.txt` is written.
    pub robots: bool,
    /// `Crawl-delay` for all crawlers in `robots.txt`; `None` writes no such line.
    pub crawl_delay: Option<f64>,
    /// Whether `llms.txt` is written.
    pub llms: bool,
    /// Whether `llms-full.txt` is written, with the content of the pages in the order of
    /// `llms.txt`.
    pub llms_full: bool,
    /// Maximum size in bytes of the page content in `llms-full.txt`; further pages are left out.
    pub llms_full_bytes: u64,
    /// Whether the ARC layer is written: `arc-sitemap.json` and its related files.
    pub arc: bool,
    /// Whether the SPXI layer is written, if entities are declared: `spxi-index.jsonld` and
    /// packets.
    pub spxi: bool,
    /// Whether Markdown twins of pages are written.
    pub twins: TwinPolicy,
    /// Whether links to the artifacts are inserted into the heads of HTML pages.
    pub inject: bool,
    /// Kind of web host for which a header file is written; `None` writes no header file.
    pub headers: Option<HostKind>,
}

impl Default for Layers {
    fn default() -> Self {
        Self {
            sitemap: true,
            collections: true,
            separate_sitemap: false,
            schema_location: false,
            gzip: true,
            all: true,
            chain: true,
            robots: true,
            crawl_delay: None,
            llms: true,
            llms_full: false,
            llms_full_bytes: 4_000_000,
            arc: true,
            spxi: true,
            twins: TwinPolicy::Auto,
            inject: false,
            headers: None,
        }
    }
}

/// Whether Markdown twins are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TwinPolicy {
    /// Twins are written for sites with up to [`TwinPolicy::MOST`] pages.
    Auto,
    /// Twins are always written.
    On,
    /// Twins are never written.
    Off,
}

impl TwinPolicy {
    /// Number of pages above which [`TwinPolicy::Auto`] writes no twins.
    pub const MOST: usize = 100_000;

    pub(crate) fn are_written(self, n_pages: usize) -> bool {
        match self {
            Self::Auto => n_pages <= Self::MOST,
            Self::On => true,
            Self::Off => false,
        }
    }

    /// Returns whether twins are left out only because there are too many pages.
    pub(crate) fn are_too_many(self, n_pages: u64) -> bool {
        self == Self::Auto && Self::MOST < usize::try_from(n_pages).unwrap_or(usize::MAX)
    }
}

/// Kind of web host for which a header file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum HostKind {
    /// nginx: the header file is included in a `server` block of its configuration.
    Nginx,
    /// Netlify and other static hosts that read the file `_headers`.
    Netlify,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_writes_twins_up_to_the_limit() {
        for (twins, n_pages, are_written, are_too_many) in [
            (TwinPolicy::Auto, 100_000, true, false),
            (TwinPolicy::Auto, 100_001, false, true),
            (TwinPolicy::On, 100_001, true, false),
            (TwinPolicy::Off, 100_001, false, false),
        ] {
            assert_eq!(twins.are_written(n_pages), are_written, "{twins:?} {n_pages}");
            assert_eq!(twins.are_too_many(n_pages as u64), are_too_many, "{twins:?} {n_pages}");
        }
    }
}
