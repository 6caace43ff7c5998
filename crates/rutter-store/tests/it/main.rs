//! The replica as its users see it.

mod contract;
mod files;
mod kill;
mod model;
mod site;
