//! A built website over HTTP.

mod accept;
mod beneath;
mod condition;
mod date;
mod generations;
mod kind;
mod limiter;
mod network;
mod path;
mod settings;
