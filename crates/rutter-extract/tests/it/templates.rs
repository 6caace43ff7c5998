//! Templates: stable while pages are added and removed, updated when the site design changes.

use std::sync::Arc;

use rutter_extract::{
    Extraction, Limits, PageSketch, TemplateChoice, TemplateSet, TemplateVersionId, html,
};

use crate::options;

/// A design of the site: how a page's own text is wrapped.
type Design = fn(usize, &str) -> String;

fn old(n: usize, text: &str) -> String {
    format!(
        "<html lang=en><title>Berth {n}</title><body><div id=top><p>Welcome to the harbour of Port Selk, \
         where the tide is always right for a boat.</p></div><div class=wrap><div class=col><h1>Berth {n}</h1>{text}\
         <h2>Contact</h2><p>Call the office on channel 12, or knock at the green door on the quay. Bring your papers.</p></div>\
         <div class=more><p>The museum is open from ten to four, except when the curator is at sea.</p></div></div>\
         <div id=end><p>All depths are in metres above chart datum, and no one is liable for mud.</p></div></body>"
    )
}

fn new(n: usize, text: &str) -> String {
    format!(
        "<html lang=en><title>Berth {n}</title><body><header><p>Port Selk, a harbour in two halves. Sign up for the \
         newsletter of the pilots, it is free and short.</p></header><main><article><h1>Berth {n}</h1>{text}</article>\
         </main><section class=box><p>Book a berth today, pay tomorrow, leave with the tide. Offer ends on Sunday, as ever.</p></section>\
         <footer><p>Made with rope and patience by the harbour board of Port Selk.</p></footer></body>"
    )
}

fn text(n: usize) -> String {
    format!(
        "<p>Berth {n} has a depth of {n} metres at low water, and takes boats of up to {} metres.</p>\
         <p>Turn to port behind buoy {n}, and mind the mooring of number {}.</p>",
        n + 8,
        n + 1
    )
}

fn site(design: Design, pages: impl IntoIterator<Item = usize>) -> Vec<(usize, String)> {
    pages.into_iter().map(|n| (n, design(n, &text(n)))).collect()
}

fn sketches(site: &[(usize, String)]) -> Vec<PageSketch> {
    site.iter()
        .map(|(_, page)| PageSketch::of_html(page.as_bytes(), None, &Limits::USUAL))
        .collect()
}

fn read(n: usize, page: &str, template: TemplateChoice) -> Extraction {
    let mut how = options(&format!("https://harbour.example/berths/{n}"));
    how.template = template;
    html(page.as_bytes(), &how)
}

fn lines(
    site: &[(usize, String)],
    templates: &Arc<TemplateSet>,
) -> Vec<(usize, String, Option<TemplateVersionId>)> {
    let read = |(n, page): &(usize, String)| {
        let extraction = read(*n, page, TemplateChoice::Fitting(Arc::clone(templates)));
        (*n, extraction.page.to_line(), extraction.template)
    };
    site.iter().map(read).collect()
}

#[test]
fn template_drops_only_shared_lines() {
    let site = site(old, 0..20);
    let mut templates = TemplateSet::default();
    assert_eq!(templates.adapt(&sketches(&site), &[]), 1);
    let templates = Arc::new(templates);
    for (n, page) in &site {
        let alone = read(*n, page, TemplateChoice::Nothing).page.to_text();
        let shared = read(*n, page, TemplateChoice::Fitting(Arc::clone(&templates))).page.to_text();
        assert!(alone.contains("Call the office"), "the page alone cannot know");
        assert!(!shared.contains("Call the office"), "{shared}");
        assert!(shared.contains(&format!("depth of {n} metres")));
        assert!(shared.contains(&format!("buoy {n},")));
        assert!(shared.len() < alone.len());
    }
}

#[test]
fn added_and_removed_pages_change_no_other_page() {
    let before = site(old, 0..30);
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches(&before), &[]);
    let first = lines(&before, &Arc::new(templates.clone()));
    // Ten pages are removed, fifteen are added, three of them with another layout.
    let mut after: Vec<_> = before.iter().filter(|(n, _)| *n % 3 != 0).cloned().collect();
    let added = site(old, 100..112).into_iter().chain(site(new, 200..203));
    after.extend(added);
    let changed: Vec<PageSketch> = sketches(&after.split_off(20));
    let sample = sketches(&after);
    assert_eq!(templates.adapt(&sample, &changed), 0, "a few odd pages are no redesign");
    let second = lines(&after, &Arc::new(templates));
    for (n, line, version) in &second {
        let Some((_, old_line, old_version)) = first.iter().find(|(other, ..)| other == n) else {
            continue;
        };
        assert_eq!((line, version), (old_line, old_version));
    }
}

#[test]
fn redesign_with_same_text_gives_same_lines() {
    let before = site(old, 0..30);
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches(&before), &[]);
    let first = lines(&before, &Arc::new(templates.clone()));
    let after = site(new, 0..30);
    let changed = sketches(&after);
    assert_eq!(templates.adapt(&changed, &changed), 1);
    let templates = Arc::new(templates);
    let second = lines(&after, &templates);
    for ((_, old_line, old_version), (_, line, version)) in first.iter().zip(&second) {
        assert_eq!(old_line, line);
        assert_ne!(old_version, version);
    }
    // Half of the site still has the old design: both versions are used.
    let half: Vec<_> = before.iter().take(15).chain(after.iter().skip(15)).cloned().collect();
    for ((_, line, _), (_, wanted, _)) in lines(&half, &templates).iter().zip(&first) {
        assert_eq!(line, wanted);
    }
    // A page keeps the version it was read with.
    let (n, page) = &before[0];
    let pinned = first[0].2.unwrap();
    let again = read(*n, page, TemplateChoice::Pinned(Arc::clone(&templates), pinned));
    assert_eq!(again.page.to_line(), first[0].1);
}

#[test]
fn relearned_templates_are_identical() {
    let site = site(old, 0..30);
    let (mut first, mut second) = (TemplateSet::default(), TemplateSet::default());
    first.adapt(&sketches(&site), &[]);
    let mut shuffled = sketches(&site);
    shuffled.reverse();
    second.adapt(&shuffled, &[]);
    assert_eq!(first, second);
    let json = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<TemplateSet>(&json).unwrap(), first);
}

#[test]
fn too_few_pages_give_no_template() {
    let mut templates = TemplateSet::default();
    assert_eq!(templates.adapt(&sketches(&site(old, 0..4)), &[]), 0);
    assert!(templates.is_empty());
}

/// A short page keeps its own words, and loses a long footer, however long the
/// menu is.
#[test]
fn longer_menu_does_not_change_short_pages() {
    let footer = "The harbour office answers questions about charges, tides and the gate every day, and writes back within a week. ".repeat(6);
    let page = |n: usize, menu: &str| {
        format!(
            "<html lang=en><title>Entry {n}</title><body><div id=wrap><div class=nav><a href=/>{menu}</a></div>\
             <div class=text><h1>Entry {n}</h1><p>Log number {n}: the wind came from the west all day, and {n} boats lay at the mole.</p></div>\
             <div class=below><p>{footer}</p><p>Write to the office, or call.</p></div></div></body></html>"
        )
    };
    let sketches: Vec<PageSketch> = (0..20)
        .map(|n| PageSketch::of_html(page(n, "Home").as_bytes(), None, &Limits::USUAL))
        .collect();
    let mut templates = TemplateSet::default();
    assert_eq!(templates.adapt(&sketches, &[]), 1);
    let templates = Arc::new(templates);
    let read = |menu: &str| {
        let mut options = options("https://harbour.example/log/3.html");
        options.template = TemplateChoice::Fitting(Arc::clone(&templates));
        html(page(3, menu).as_bytes(), &options).page.to_text()
    };
    let text = read("Home");
    assert!(text.contains("Log number 3") && !text.contains("charges, tides"), "{text}");
    assert_eq!(read(&"A very long new menu of many words ".repeat(30)), text);
}

/// A page of a site that prints a line of its own making below every text.
fn stamped(n: usize, stamp: &str) -> String {
    old(n, &format!("{}<p>{stamp}</p>", text(n)))
}

fn all_stamped(stamp: &str) -> Vec<(usize, String)> {
    (0..30).map(|n| (n, stamped(n, stamp))).collect()
}

#[test]
fn changed_stamp_on_all_pages_changes_no_line() {
    let stamps = [
        "Built from commit 3f2a91c on 1 November 2026 at 12:30 UTC",
        "Built from commit 77be012 on Monday, 2 Dec 2026 at 9:05 CET",
    ];
    let before = all_stamped(stamps[0]);
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches(&before), &[]);
    let first = lines(&before, &Arc::new(templates.clone()));
    assert!(first.iter().all(|(_, line, _)| !line.contains("commit")));
    let after = all_stamped(stamps[1]);
    let changed = sketches(&after);
    assert_eq!(templates.adapt(&changed, &changed), 0, "it is the same stamp");
    assert_eq!(lines(&after, &Arc::new(templates)), first);
}

#[test]
fn new_line_on_all_pages_joins_the_template() {
    let before = site(old, 0..30);
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches(&before), &[]);
    let first = lines(&before, &Arc::new(templates.clone()));
    let after = all_stamped("Join us at the summer meeting of all boats, and bring a friend.");
    let changed = sketches(&after);
    assert_eq!(templates.adapt(&changed, &changed), 1);
    let second = lines(&after, &Arc::new(templates.clone()));
    for ((_, old_line, _), (_, line, _)) in first.iter().zip(&second) {
        assert_eq!(old_line, line);
    }
    // A new line on a few pages is content of these pages.
    let mut few = before;
    for (n, page) in few.iter_mut().take(9) {
        *page = stamped(*n, "This berth is closed until the crane has been mended.");
    }
    let changed = sketches(&few[..9]);
    assert_eq!(templates.adapt(&sketches(&few), &changed), 0);
    let third = lines(&few, &Arc::new(templates));
    assert!(third[..9].iter().all(|(_, line, _)| line.contains("crane")));
}

#[test]
fn lines_with_different_dates_per_page_are_content() {
    let page = |n: usize| stamped(n, &format!("The crane was last tested on {n} May 2026."));
    let site: Vec<_> = (1..25).map(|n| (n, page(n))).collect();
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches(&site), &[]);
    let read = lines(&site, &Arc::new(templates));
    assert!(read.iter().all(|(n, line, _)| line.contains(&format!("tested on {n} May"))));
}

/// A guide whose last section is the same on all guides.
fn guide(n: usize, last: &str) -> String {
    format!(
        "<html lang=en><title>Guide {n}</title><body><header><nav><a href=/>Home</a> <a href=/guides>Guides</a>\
         </nav></header><main><h1>Guide {n}</h1><p>Guide {n} is about pump {n}, which stands on quay {n} and \
         moves {n} cubic metres an hour.</p><h2>Rollback</h2><p>Stop the pump, restore the old firmware and start \
         it again.</p><p>{last}</p></main><footer><p>Built on day {n} by the harbour office.</p></footer></body>"
    )
}

#[test]
fn a_section_that_repeats_inside_main_is_content_and_an_edit_in_it_is_a_change() {
    let rule = "Never restore a firmware of another pump.";
    let site: Vec<_> = (0..20).map(|n| (n, guide(n, rule))).collect();
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches(&site), &[]);
    let templates = Arc::new(templates);
    let lines = lines(&site, &templates);
    for (n, line, version) in &lines {
        assert!(version.is_some());
        assert!(line.contains("Stop the pump") && line.contains(rule), "{line}");
        assert!(!line.contains("Built on day"), "{line}");
        let edited = guide(*n, &rule.replace("Never", "Always"));
        let edited = read(*n, &edited, TemplateChoice::Fitting(Arc::clone(&templates)));
        assert_ne!(*line, edited.page.to_line());
        // A new stamp is no change.
        let stamped = guide(*n, rule).replace("Built on day", "Built on the day");
        let stamped = read(*n, &stamped, TemplateChoice::Fitting(Arc::clone(&templates)));
        assert_eq!(*line, stamped.page.to_line());
    }
}
