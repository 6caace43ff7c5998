//! Who takes what files hold beside what they say.

use rutter_signpost::sitemap::Entry;

/// Takes what files hold beside what they say, in the order they are read.
///
/// A document may turn out to be refused after parts of it were handed out:
/// who keeps them asks the [`Discovery`](crate::Discovery) whether its address is in the offer.
pub trait PageSink {
    /// Takes one entry of a sitemap.
    fn page(&mut self, sitemap: &str, entry: &Entry);

    /// Takes one entry of an ARC sitemap.
    fn arc(&mut self, _sitemap: &str, _entry: &rutter_arc::Entry<'_>) {}

    /// Takes an SPXI index.
    fn spxi(&mut self, _url: &str, _bytes: &[u8]) {}
}

/// Lets entries go.
impl PageSink for () {
    fn page(&mut self, _sitemap: &str, _entry: &Entry) {}
}

/// Hands on what a file holds under the address it was asked for by, wherever
/// that led.
pub(crate) struct Named<'n> {
    pub(crate) url: &'n str,
    pub(crate) pages: &'n mut dyn PageSink,
}

impl PageSink for Named<'_> {
    fn page(&mut self, _sitemap: &str, entry: &Entry) {
        self.pages.page(self.url, entry);
    }

    fn arc(&mut self, _sitemap: &str, entry: &rutter_arc::Entry<'_>) {
        self.pages.arc(self.url, entry);
    }

    fn spxi(&mut self, _url: &str, bytes: &[u8]) {
        self.pages.spxi(self.url, bytes);
    }
}
