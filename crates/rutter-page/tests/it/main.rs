//! The page model, tried from outside.

mod blocks;
mod judge;
mod render;
