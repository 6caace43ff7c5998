//! The page model, tried from outside.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod blocks;
mod judge;
mod markdown;
mod media;
mod render;
