//! The page files of a site, in little memory.

/// URL and file of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PageFile<'n> {
    pub(crate) url: &'n str,
    /// Path relative to the site's folder, with `/` as separator.
    pub(crate) path: &'n str,
}

/// URLs and file paths of all pages, sorted by URL. All URLs and paths are in one string, because a
/// build keeps this list in memory for the whole site.
#[derive(Debug, Default)]
pub(crate) struct PageFiles {
    text: String,
    spans: Vec<PageSpan>,
}

/// Position of a page's URL and path in the shared string; the path follows the URL.
#[derive(Debug, Clone, Copy)]
struct PageSpan {
    at: usize,
    url: u32,
    path: u32,
}

impl PageFiles {
    pub(super) fn push(&mut self, url: &str, path: &str) {
        // No URL or path is longer than `u32::MAX` bytes.
        let len = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.spans.push(PageSpan { at: self.text.len(), url: len(url), path: len(path) });
        self.text.push_str(url);
        self.text.push_str(path);
    }

    /// Sorts the pages by URL. Of several pages with the same URL, only the first is kept; `take`
    /// receives that page and each removed one.
    pub(super) fn sort(&mut self, take: &mut dyn FnMut(PageFile<'_>, PageFile<'_>)) {
        let Self { text, spans } = self;
        spans.sort_unstable_by(|one, other| name_of(text, *one).cmp(&name_of(text, *other)));
        spans.dedup_by(|later, first| {
            let (first, later) = (name_of(text, *first), name_of(text, *later));
            let is_second = first.url == later.url;
            if is_second {
                take(first, later);
            }
            is_second
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns whether a page has this URL. The pages must be sorted.
    pub(super) fn has_url(&self, url: &str) -> bool {
        self.spans.binary_search_by(|span| name_of(&self.text, *span).url.cmp(url)).is_ok()
    }

    pub(crate) fn get(&self, at: usize) -> Option<PageFile<'_>> {
        self.spans.get(at).map(|span| name_of(&self.text, *span))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = PageFile<'_>> {
        self.spans.iter().map(|span| name_of(&self.text, *span))
    }
}

fn name_of(text: &str, span: PageSpan) -> PageFile<'_> {
    let path_at = span.at + span.url as usize;
    PageFile {
        url: text.get(span.at..path_at).unwrap_or_default(),
        path: text.get(path_at..path_at + span.path as usize).unwrap_or_default(),
    }
}
