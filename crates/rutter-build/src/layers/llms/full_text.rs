//! Collects the pages of llms-full.txt up to a maximum size.
//!
//! Input: pages in any order, each with its sort key. Output: the pages that fit into the maximum
//! size, in the order of their keys; the last line states how many pages are missing. Memory is
//! bounded by the maximum size. A single page that is larger than the maximum size is skipped, and
//! the pages after it are still added.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_llms::{self as llms, LlmsHead};
use rutter_site::file_marks::WHOLE_FILE;

/// The pages of llms-full.txt that have been collected so far.
#[derive(Debug)]
pub(super) struct FullText {
    most_bytes: u64,
    n_bytes: u64,
    n_pages: usize,
    /// Markdown of the collected pages by sort key.
    pages: BTreeMap<String, Vec<u8>>,
    /// Sort key of the first page that was dropped because the maximum size was reached. Pages with
    /// a greater key are not added.
    end: Option<String>,
}

impl FullText {
    pub(super) fn new(most_bytes: u64) -> Self {
        Self { most_bytes, n_bytes: 0, n_pages: 0, pages: BTreeMap::new(), end: None }
    }

    /// Adds a page, and drops the pages with the greatest keys while the maximum size is exceeded.
    pub(super) fn push(&mut self, key: &str, (url, title): (&str, &str), markdown: &[u8]) {
        self.n_pages += 1;
        let markdown = without_metadata(markdown);
        let mut start = format!("\n---\n\nSource: {url}\n\n").into_bytes();
        if !markdown.starts_with(b"# ") {
            let head = LlmsHead { title, summary: "", notes: &[] };
            llms::write_head(&mut start, &head).expect("writing to memory cannot fail");
            start.push(b'\n');
        }
        let n_bytes = (start.len() + markdown.len() + 1) as u64;
        let is_after_end = self.end.as_deref().is_some_and(|end| end < key);
        if self.most_bytes < n_bytes || is_after_end {
            return;
        }
        let mut page = start;
        page.extend_from_slice(markdown);
        if !page.ends_with(b"\n") {
            page.push(b'\n');
        }
        self.n_bytes += page.len() as u64;
        self.pages.insert(key.to_owned(), page);
        while self.most_bytes < self.n_bytes
            && let Some((key, page)) = self.pages.pop_last()
        {
            self.n_bytes -= page.len() as u64;
            self.end = Some(key);
        }
    }

    /// Returns the note that llms.txt shows after its link to llms-full.txt.
    pub(super) fn note(&self) -> String {
        let noun = if self.n_pages == 1 { "page" } else { "pages" };
        if self.pages.len() == self.n_pages {
            format!("{} {noun} in one file", self.n_pages)
        } else {
            format!("{} of {} {noun} in one file", self.pages.len(), self.n_pages)
        }
    }

    pub(super) fn write(&self, out: &mut impl Write, head: &LlmsHead<'_>) -> io::Result<()> {
        llms::write_head(out, head)?;
        for page in self.pages.values() {
            out.write_all(page)?;
        }
        let n_left = self.n_pages - self.pages.len();
        if n_left == 0 {
            return writeln!(out, "\n{WHOLE_FILE}");
        }
        let (n_pages, most) = (self.n_pages, self.most_bytes);
        let verb = if n_left == 1 { "is" } else { "are" };
        writeln!(
            out,
            "\n---\n\n{n_left} of {n_pages} pages {verb} left out: this file holds at most {most} bytes of pages. {WHOLE_FILE}"
        )
    }
}

/// Returns the Markdown of a page without its front matter.
fn without_metadata(markdown: &[u8]) -> &[u8] {
    const END: &[u8] = b"\n---\n";
    let end = markdown.starts_with(b"---\n").then(|| memchr::memmem::find(markdown, END)).flatten();
    let text = end.and_then(|end| markdown.get(end + END.len()..)).unwrap_or(markdown);
    text.trim_ascii_start()
}
