//! A built website over HTTP.

mod accept;
mod access;
mod beneath;
mod catalog;
mod condition;
mod date;
mod facts;
mod generations;
mod kind;
mod limiter;
mod metrics;
mod network;
mod path;
mod settings;
mod token;
pub use access::*;
pub use catalog::*;
pub use metrics::*;
pub use network::*;
pub use settings::*;
pub use token::rate_of;
pub use token::*;
