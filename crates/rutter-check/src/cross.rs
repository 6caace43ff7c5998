//! Rules that compare layers with each other, one module per family.
//!
//! Input: the rows of all pages and the data of machine-readable files. Each finding is added to
//! the file in which the problem must be corrected.

pub(crate) mod adverts;
pub(crate) mod arc;
pub(crate) mod leaks;
pub(crate) mod links;
pub(crate) mod pages;
pub(crate) mod presence;
pub(crate) mod values;

use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, Place, Rule, quoted};

use crate::site::SiteView;

rutter_finding::rules! {
    LAYER_MISSING = "XL006" "layer-missing" (hint, "D84") {
        title: "site lacks a machine-readable layer",
        why: "The detail names the layer, such as collections or llms.txt. Programs that look for it must read every page instead.",
        fix: "Run `rutter build`, which writes the layer.",
        wrong: "A folder with `sitemap.xml`, without collections, ARC sitemap and llms.txt.",
        right: "The same folder after `rutter build`.",
    }
}

/// Runs all comparisons.
pub(crate) fn compare(view: &mut SiteView<'_>) {
    missing_layers(view);
    presence::compare(view);
    values::compare(view);
    pages::compare(view);
    adverts::compare(view);
    arc::compare(view);
    links::compare(view);
    leaks::compare(view);
}

/// Reports the layers that the site does not have.
fn missing_layers(view: &mut SiteView<'_>) {
    if view.rows.list.iter().all(|row| row.page.is_none()) {
        return;
    }
    let machine_files = &view.machine_files;
    let layers = [
        ("sitemap.xml", ResourceKind::Sitemap, machine_files.sitemaps.files.is_empty()),
        ("robots.txt", ResourceKind::Robots, machine_files.robots.is_none()),
        ("llms.txt", ResourceKind::Llms, machine_files.llms.is_empty()),
        ("collections (SCP)", ResourceKind::Collection, machine_files.collections.is_empty()),
        ("arc-sitemap.json", ResourceKind::Arc, machine_files.arc.is_none()),
    ];
    // A sitemap that was not read may advertise collections.
    let is_open = |what| {
        let files = view.files;
        files.may_be_more(what)
            || what == ResourceKind::Collection && files.may_be_more(ResourceKind::Sitemap)
    };
    for (name, what, is_missing) in layers {
        if is_missing && !is_open(what) {
            view.findings.add_about_site(&LAYER_MISSING, name);
        }
    }
}

/// Creates a finding at a line of a file.
fn in_line(rule: &'static Rule, line: u64, detail: impl Into<String>) -> Finding {
    Finding::new(rule, Place::line(line), detail)
}

/// Creates a finding at a JSON pointer.
fn at_pointer(rule: &'static Rule, pointer: String, detail: impl Into<String>) -> Finding {
    Finding::new(rule, Place { line: None, pointer }, detail)
}

/// Returns a URL followed by the reason for the restriction of its page.
fn closed_detail(url: &str, closed: crate::RestrictionReason) -> String {
    format!("{}: {}", quoted(url), closed.reason())
}
