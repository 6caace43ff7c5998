//! Pages in, blocks out: cases as files, properties, limits, templates.

#![expect(clippy::unwrap_used, clippy::format_collect, reason = "a test may stop and waste")]

mod annotations;
mod cases;
mod control;
mod corpus;
mod dates;
mod harbour;
mod limits;
mod links;
mod properties;
mod rails;
mod schema;
mod structure;
mod templates;
mod visible;

use rutter_extract::{ExtractOptions, Extraction, html};
use rutter_page::{PageUrl, Timestamp};

/// The usual options for a page at an address.
fn options(url: &str) -> ExtractOptions {
    let url = PageUrl::parse(url.to_owned()).unwrap();
    ExtractOptions::new(url, Timestamp::parse("2026-06-01T00:00:00Z").unwrap())
}

/// Reads a page of the harbour.
fn read(page: impl AsRef<[u8]>) -> Extraction {
    html(page.as_ref(), &options("https://harbour.example/docs/page.html"))
}

#[test]
fn exponents_become_superscript_characters() {
    let page = read(
        "<html lang=en><title>Sizes</title><main><p>A file has at most 2<sup><small>48</small></sup> bytes, \
         the 1<sup>st</sup> of x<sup>-2</sup>, as a note<sup><a href=#fn1>1</a></sup> says.</p></main>",
    );
    assert_eq!(
        page.page.to_text(),
        "A file has at most 2\u{2074}\u{2078} bytes, the 1st of x\u{207b}\u{b2}, as a note[1] says.\n"
    );
}
