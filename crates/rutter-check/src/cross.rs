//! Rules that compare layers with each other, one small file for each family.
//! They see the inventory and what was read beside it; what they find goes to
//! the file in which it has to be mended.

mod adverts;
mod arc;
mod leaks;
mod links;
mod pages;
mod presence;
mod values;

use rutter_fetch::What;
use rutter_finding::{Finding, Place, Rule, quoted};

use crate::rules;
use crate::site::View;

/// Compares everything.
pub(crate) fn compare(view: &mut View<'_>) {
    missing_layers(view);
    presence::compare(view);
    values::compare(view);
    pages::compare(view);
    adverts::compare(view);
    arc::compare(view);
    links::compare(view);
    leaks::compare(view);
}

/// Says which layers the site does not have.
fn missing_layers(view: &mut View<'_>) {
    if view.rows.list.iter().all(|row| row.page.is_none()) {
        return;
    }
    let machine = &view.machine;
    let layers = [
        ("sitemap.xml", What::Sitemap, machine.sitemaps.is_empty()),
        ("robots.txt", What::Robots, machine.robots.is_none()),
        ("llms.txt", What::Llms, machine.llms.is_empty()),
        ("collections (SCP)", What::Collection, machine.collections.is_empty()),
        ("arc-sitemap.json", What::Arc, machine.arc.is_none()),
    ];
    // A sitemap that was not looked at may advertise collections.
    let is_open = |what| {
        let files = view.files;
        files.may_be_more(what) || what == What::Collection && files.may_be_more(What::Sitemap)
    };
    for (name, what, is_missing) in layers {
        if is_missing && !is_open(what) {
            view.book.site(&rules::LAYER_MISSING, name);
        }
    }
}

/// A finding in a line of a file.
fn in_line(rule: &'static Rule, line: u64, detail: impl Into<String>) -> Finding {
    Finding::new(rule, Place::line(line), detail)
}

/// A finding at a JSON pointer.
fn at_pointer(rule: &'static Rule, pointer: String, detail: impl Into<String>) -> Finding {
    Finding::new(rule, Place { line: None, pointer }, detail)
}

/// An address and why it is closed.
fn closed_detail(url: &str, closed: crate::Closed) -> String {
    format!("{}: {}", quoted(url), closed.reason())
}
