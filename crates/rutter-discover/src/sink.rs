//! Receives the entries of sitemaps and ARC sitemaps, and the SPXI index, while discovery
//! reads them.

use rutter_signpost::sitemap::SitemapEntry;

/// Receives file content that is not part of the offer, in reading order.
///
/// A document may be rejected after some of its entries were handed over. Check whether its
/// URL is in the offer of the [`Discovery`](crate::Discovery) before using them.
pub trait PageSink {
    /// Receives one entry of a sitemap.
    fn page(&mut self, sitemap: &str, entry: &SitemapEntry);

    /// Receives one entry of an ARC sitemap.
    fn arc(&mut self, _sitemap: &str, _entry: &rutter_arc::ArcEntry<'_>) {}

    /// Receives an SPXI index.
    fn spxi(&mut self, _url: &str, _bytes: &[u8]) {}
}

/// Ignores all entries.
impl PageSink for () {
    fn page(&mut self, _sitemap: &str, _entry: &SitemapEntry) {}
}

/// Passes entries on under the requested URL of a file, even if it redirected.
pub(crate) struct RenamedSink<'n> {
    pub(crate) url: &'n str,
    pub(crate) pages: &'n mut dyn PageSink,
}

impl PageSink for RenamedSink<'_> {
    fn page(&mut self, _sitemap: &str, entry: &SitemapEntry) {
        self.pages.page(self.url, entry);
    }

    fn arc(&mut self, _sitemap: &str, entry: &rutter_arc::ArcEntry<'_>) {
        self.pages.arc(self.url, entry);
    }

    fn spxi(&mut self, _url: &str, bytes: &[u8]) {
        self.pages.spxi(self.url, bytes);
    }
}
