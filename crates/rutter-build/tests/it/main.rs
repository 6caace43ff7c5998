//! Whole builds of small sites, from files to files.

mod flow;
mod gate;
mod loss;
mod merge;
mod site;
