//! Links inside text are published as blocks behind it (D45).

use rutter_extract::{Extraction, LinkBlocks, html, merged};
use rutter_page::Block;

use crate::options;

const LOCK: &str = include_str!("../../fixtures/links/lock.html");

fn read(page: &str, links: LinkBlocks) -> Extraction {
    let mut how = options("https://harbour.example/lock");
    how.links = links;
    html(page.as_bytes(), &how)
}

/// One line for each block: its kind, and of links all they say.
fn shown(page: &Extraction) -> String {
    let lines = page.page.content.iter().map(|block| match block {
        Block::Link(link) => {
            let rel = link.rel.iter().flatten().map(|rel| &**rel).collect::<Vec<_>>().join(" ");
            format!("link {} \"{}\" {rel}", link.url.as_str(), link.text).trim_end().to_owned()
        }
        other => other.kind().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn n_links(page: &Extraction) -> usize {
    page.page.content.iter().filter(|block| matches!(block, Block::Link(_))).count()
}

#[test] // SCP-055 SCP-056
fn links_follow_the_block_they_stand_in_each_address_once() {
    insta::assert_snapshot!(shown(&read(LOCK, LinkBlocks::All)));
}

#[test]
fn without_link_blocks_only_lone_links_are_blocks() {
    let page = read(LOCK, LinkBlocks::Lone);
    assert_eq!(n_links(&page), 1);
    assert!(shown(&page).contains("link https://harbour.example/radio"));
}

#[test]
fn text_markdown_and_description_do_not_change_with_link_blocks() {
    let (with, without) = (read(LOCK, LinkBlocks::All), read(LOCK, LinkBlocks::Lone));
    assert!(n_links(&without) < n_links(&with));
    assert_eq!(with.to_text(), without.to_text());
    assert_eq!(with.to_markdown(), without.to_markdown());
    assert_eq!(with.page.to_text(), without.page.to_text());
    assert_eq!(with.page.description, without.page.description);
    assert_eq!(with.page.language, without.page.language);
    assert_eq!(with.is_short(), without.is_short());
}

#[test]
fn the_line_of_a_page_gives_its_links_back_to_its_markdown() {
    let with = read(LOCK, LinkBlocks::All);
    let line = with.page.to_line();
    let mut judge = rutter_page::PageReader::new(rutter_page::PageLimits::SPEC);
    let copy = judge.read(&line, 1, &mut ()).unwrap().unwrap();
    assert_eq!(copy.to_text(), with.page.to_text());
    let markdown = copy.to_markdown();
    for link in [
        "[at high water](https://harbour.example/tides#noon)",
        "[table of lights](https://harbour.example/lights)",
        "[sheet 4](https://harbour.example/charts/basin.pdf)",
    ] {
        assert!(markdown.contains(link), "{link} is not in {markdown}");
    }
}

#[test]
fn a_changed_address_changes_the_page() {
    let other = LOCK.replace("href=\"/lights\"", "href=\"/lamps\"");
    let (one, other) = (read(LOCK, LinkBlocks::All), read(&other, LinkBlocks::All));
    assert_ne!(one.page.to_line(), other.page.to_line());
    assert_eq!(one.page.to_text(), other.page.to_text());
}

/// A page of paragraphs with a link each.
fn paragraphs(n: usize) -> String {
    let paragraph = |n: usize| {
        format!("<p>Boat {n} has its berth at <a href='/berth/{n}'>berth {n}</a> of the mole.</p>")
    };
    format!("<main><h1>Boats</h1>{}</main>", (0..n).map(paragraph).collect::<String>())
}

#[test] // D36
fn links_at_the_end_are_left_out_before_content_is_merged() {
    // 1 heading and 600 paragraphs have room for 399 links.
    let page = read(&paragraphs(600), LinkBlocks::All);
    assert_eq!(page.page.content.len(), 1000);
    assert_eq!(n_links(&page), 399);
    assert!(shown(&page).contains("/berth/398 ") && !shown(&page).contains("/berth/399 "));
    assert!(page.findings.iter().all(|finding| finding.rule.code != "HT008"));
    assert_eq!(page.to_text(), read(&paragraphs(600), LinkBlocks::Lone).to_text());
    // A page that must be merged has none.
    let page = read(&paragraphs(1200), LinkBlocks::All);
    assert_eq!((page.page.content.len(), n_links(&page)), (1000, 0));
}

#[test] // D36
fn a_line_with_too_many_blocks_loses_repeated_links_and_no_text() {
    let mut how = options("https://harbour.example/boats");
    how.limits.blocks = usize::MAX;
    let page = html(paragraphs(600).as_bytes(), &how).page;
    assert_eq!(page.content.len(), 1201);
    let text = page.to_text();
    let merged = rutter_page::Page { content: merged(page.content.clone(), 1000), ..page };
    assert_eq!(merged.content.len(), 1000);
    assert_eq!(merged.to_text(), text);
}

#[test]
fn a_page_of_relations_says_those_of_the_first_link() {
    let page = "<main><p>The <a href=/a>first</a> and the <a href=/a rel=nofollow>second</a> way \
                to say it, and a <a href=/b rel='SPONSORED nofollow'>third</a> one.</main>";
    assert_eq!(
        shown(&read(page, LinkBlocks::All)),
        "text\nlink https://harbour.example/a \"first\"\n\
         link https://harbour.example/b \"third\" sponsored nofollow"
    );
}
