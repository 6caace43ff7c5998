//! llms-full.txt: the text of pages in the order of llms.txt, up to a number of bytes.
//!
//! Input: pages in any order, each with its sort key. Output: the first of them that fit, in order;
//! the last line says how many are left out. Memory is bounded by the number of bytes, not by the
//! number of pages. A page that is too large for the file is left out; smaller ones behind it stay.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_signpost::llms::{self, Head};

use super::WHOLE;

/// Pages that are written, while they come in.
#[derive(Debug)]
pub(super) struct FullText {
    most_bytes: u64,
    n_bytes: u64,
    n_pages: usize,
    /// By sort key.
    pages: BTreeMap<String, Vec<u8>>,
    /// The first key that found no place: what comes behind it has none either.
    end: Option<String>,
}

impl FullText {
    pub(super) fn new(most_bytes: u64) -> Self {
        Self { most_bytes, n_bytes: 0, n_pages: 0, pages: BTreeMap::new(), end: None }
    }

    /// Takes a page, and drops the last ones where it needs their place.
    pub(super) fn push(&mut self, key: &str, (url, title): (&str, &str), markdown: &[u8]) {
        self.n_pages += 1;
        let markdown = without_metadata(markdown);
        let mut start = format!("\n---\n\nSource: {url}\n\n").into_bytes();
        if !markdown.starts_with(b"# ") {
            let head = Head { title, summary: "", notes: &[] };
            llms::write_head(&mut start, &head).expect("memory takes every byte");
            start.push(b'\n');
        }
        let n_bytes = (start.len() + markdown.len() + 1) as u64;
        let is_behind = self.end.as_deref().is_some_and(|end| end < key);
        if self.most_bytes < n_bytes || is_behind {
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

    /// One line about the file.
    pub(super) fn note(&self) -> String {
        let noun = if self.n_pages == 1 { "page" } else { "pages" };
        if self.pages.len() == self.n_pages {
            format!("{} {noun} in one file", self.n_pages)
        } else {
            format!("{} of {} {noun} in one file", self.pages.len(), self.n_pages)
        }
    }

    pub(super) fn write(&self, out: &mut impl Write, head: &Head<'_>) -> io::Result<()> {
        llms::write_head(out, head)?;
        for page in self.pages.values() {
            out.write_all(page)?;
        }
        let n_left = self.n_pages - self.pages.len();
        if n_left == 0 {
            return writeln!(out, "\n{WHOLE}");
        }
        let (n_pages, most) = (self.n_pages, self.most_bytes);
        let verb = if n_left == 1 { "is" } else { "are" };
        writeln!(
            out,
            "\n---\n\n{n_left} of {n_pages} pages {verb} left out: this file holds at most {most} bytes of pages. {WHOLE}"
        )
    }
}

/// The text of a page without the metadata above it.
fn without_metadata(markdown: &[u8]) -> &[u8] {
    const END: &[u8] = b"\n---\n";
    let end = markdown.starts_with(b"---\n").then(|| memchr::memmem::find(markdown, END)).flatten();
    let text = end.and_then(|end| markdown.get(end + END.len()..)).unwrap_or(markdown);
    text.trim_ascii_start()
}
