//! Link blocks that repeat a link of the text before them (D45).

use rutter_page::{Block, PageLimits, PageReader, remove_repeats};

fn page_of(content: &serde_json::Value) -> String {
    let page = serde_json::json!({
        "url": "https://a.example/", "title": "A", "description": "B",
        "modified": "2026-01-01T00:00:00Z", "language": "en", "content": content,
    });
    page.to_string()
}

fn text(text: &str) -> serde_json::Value {
    serde_json::json!({ "type": "text", "text": text })
}

fn link(name: &str) -> serde_json::Value {
    serde_json::json!({ "type": "link", "url": format!("https://a.example/{name}"), "text": name })
}

#[test] // SCP-055
fn skips_links_that_repeat_preceding_text() {
    for (content, wanted) in [
        // In order, as whole words.
        (vec![text("See one and two."), link("one"), link("two")], "See one and two.\n"),
        (vec![text("Artists."), link("Art")], "Artists.\n\nArt\n"),
        (vec![text("See two, then one."), link("one"), link("two")], "See two, then one.\n\ntwo\n"),
        // Several links may repeat the same text.
        (vec![text("One and two."), link("none"), link("two")], "One and two.\n\nnone\n"),
        // The text must be in the preceding block.
        (vec![text("See one."), text("Or not."), link("one")], "See one.\n\nOr not.\n\none\n"),
        (vec![link("one"), link("one")], "one\n\none\n"),
    ] {
        let line = page_of(&content.into());
        let page = PageReader::new(PageLimits::SPEC).read(&line, 1, &mut ()).unwrap().unwrap();
        assert_eq!(page.to_text(), wanted);
    }
}

#[test]
fn many_unmatched_links_need_few_searches() {
    let mut content = vec![text(&"words ".repeat(100_000))];
    content.extend((0..900).map(|n| link(&format!("absent{n}"))));
    let line = page_of(&content.into());
    let page = PageReader::new(PageLimits::SPEC).read(&line, 1, &mut ()).unwrap().unwrap();
    // All of these links are content.
    assert_eq!(page.to_text().matches("absent").count(), 900);
}

#[test] // D36
fn removes_repeated_links_from_the_end_and_no_content() {
    let content = [text("one two three"), link("one"), link("two"), link("three"), link("own")];
    let line = page_of(&content.to_vec().into());
    let page = PageReader::new(PageLimits::SPEC).read(&line, 1, &mut ()).unwrap().unwrap();
    for (most, wanted) in [
        (5, vec!["one two three", "one", "two", "three", "own"]),
        (4, vec!["one two three", "one", "two", "own"]),
        (1, vec!["one two three", "own"]),
    ] {
        let mut blocks = page.content.clone();
        remove_repeats(&mut blocks, most);
        assert_eq!(blocks.iter().map(Block::to_text).collect::<Vec<_>>(), wanted);
    }
}
