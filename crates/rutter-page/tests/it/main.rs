//! Tests of the public interface of the page model.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod blocks;
mod markdown;
mod media;
mod page_reader;
mod render;
mod repeated_links;
