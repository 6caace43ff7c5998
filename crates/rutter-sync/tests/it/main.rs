//! Tests of the planner by cases and random histories, and of syncs with sites of every
//! kind: complete, partial, misbehaving and forbidden.

#![expect(clippy::unwrap_used, clippy::format_collect, reason = "a test may stop")]

mod arc_deltas;
mod bounds;
mod cases;
mod codings;
mod collections;
mod consent;
mod crawls;
mod damage;
mod discover;
mod faults;
mod histories;
mod lastmod;
mod left_out;
mod lists;
mod messages;
mod migration;
mod mixed;
mod page_statements;
mod pages;
mod recovery;
mod redirects;
mod refusals;
mod reports;
mod safety;
mod scope;
mod shells;
mod sitemap_outage;
mod sitemaps;
mod test_site;
mod variants;
