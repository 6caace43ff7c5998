//! Pages in, blocks out: cases as files, properties, limits, templates.

#![expect(clippy::unwrap_used, clippy::format_collect, reason = "a test may stop and waste")]

mod cases;
mod corpus;
mod harbour;
mod limits;
mod properties;
mod templates;

use rutter_extract::{Extraction, Options, html};
use rutter_page::{PageUrl, Timestamp};

/// The usual options for a page at an address.
fn options(url: &str) -> Options {
    let url = PageUrl::parse(url.to_owned()).unwrap();
    Options::new(url, Timestamp::parse("2026-06-01T00:00:00Z").unwrap())
}

/// Reads a page of the harbour.
fn read(page: impl AsRef<[u8]>) -> Extraction {
    html(page.as_ref(), &options("https://harbour.example/docs/page.html"))
}
