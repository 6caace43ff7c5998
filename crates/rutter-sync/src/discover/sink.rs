//! Receives the entries of sitemaps and ARC sitemaps, and the SPXI index, while discovery
//! reads these files.

use rutter_sitemap::SitemapEntry;

/// Receives the content of files that is not part of the offer, in the order in which
/// discovery reads it.
///
/// Discovery may reject a file after it passed some entries of the file to the sink. Before
/// using entries, check whether the URL of their file is in the offer of the
/// [`Discovery`](crate::discover::Discovery).
pub trait PageSink {
    /// Receives one entry of a sitemap.
    fn page(&mut self, sitemap: &str, entry: &SitemapEntry);

    /// Receives one entry of an ARC sitemap.
    fn arc(&mut self, _sitemap: &str, _entry: &rutter_arc::ArcEntry<'_>) {}

    /// Receives an SPXI index.
    fn spxi(&mut self, _url: &str, _bytes: &[u8]) {}
}

/// Sink that ignores all entries.
impl PageSink for () {
    fn page(&mut self, _sitemap: &str, _entry: &SitemapEntry) {}
}

/// Sink that passes entries on with the URL at which the file was requested, even if the
/// request was redirected.
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
