//! Rules of layer HT: problems in HTML and Markdown pages.
//!
//! Input: none; a table of codes, severities and texts. The extraction reports findings with these
//! rules.

rutter_finding::rules! {
    UNDECODABLE = "HT001" "undecodable" (advice, "D17") {
        title: "page contains bytes that are invalid in its character encoding",
        why: "Readers see a replacement character for each of them.",
        fix: "Declare the encoding in which the file is written, preferably UTF-8.",
        wrong: r#"`<meta charset="utf-8">` in a file saved as Latin-1."#,
        right: "The same declaration in a file saved as UTF-8.",
    }
    NO_LANGUAGE = "HT002" "no-language" (advice, "D42") {
        title: "language of the page is not declared and cannot be detected from the text",
        why: "Search engines and translation programs treat the language as undetermined (`und`).",
        fix: "Write `<html lang=\"…\">`, or configure the language of the site.",
        wrong in "page.html": "<html><head><title>7</title></head><body><main><p>7 8 9</p></main></body></html>",
        right: r#"<html lang="en"><head><title>7</title></head><body><main><p>7 8 9</p></main></body></html>"#,
    }
    GUESSED_LANGUAGE = "HT003" "guessed-language" (hint, "D42") {
        title: "language of the page is not declared and was detected from the text",
        why: "Detection can be wrong for short texts.",
        fix: "Write `<html lang=\"…\">`.",
        wrong in "page.html": "<html><head><title>Tides</title></head><body><main><p>The water in the harbour rises twice a day, and boats that leave the inner basin have to wait until the gate opens. The times are on the board of the harbour office and on this page, and they are right to the minute unless the wind blows from the north-east.</p></main></body></html>",
        right: r#"<html lang="en"><head><title>Tides</title></head><body><main><p>The water in the harbour rises twice a day, and boats that leave the inner basin have to wait until the gate opens. The times are on the board of the harbour office and on this page, and they are right to the minute unless the wind blows from the north-east.</p></main></body></html>"#,
    }
    SCRIPT_SHELL = "HT004" "script-shell" (advice, "D37") {
        title: "page shows its text only when scripts run",
        why: "Most crawlers do not run scripts and see little or no text. Rutter does not publish the page.",
        fix: "Render the page on the server or during the build.",
        wrong in "page.html": r#"<html lang="en"><head><title>Tides</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>"#,
        right: r#"<html lang="en"><head><title>Tides</title></head><body><main><p>High water at 06:12 and 18:40.</p></main><script src="/app.js"></script></body></html>"#,
    }
    NO_TEXT = "HT005" "no-text" (advice, "D37") {
        title: "page has no extractable text, only a title or a description",
        why: "Rutter publishes the title or the description as the content of the page.",
        fix: "Add text to the page, or exclude the page.",
        wrong in "page.html": r#"<html lang="en"><head><title>Tides</title></head><body></body></html>"#,
        right: r#"<html lang="en"><head><title>Tides</title></head><body><main><p>High water at 06:12 and 18:40.</p></main></body></html>"#,
    }
    EMPTY = "HT006" "empty-page" (warning, "D37") {
        title: "page has no text, no title and no description",
        why: "There is nothing to publish.",
        fix: "Exclude the page, or add text to it.",
        wrong in "page.html": r#"<html lang="en"><head></head><body></body></html>"#,
        right: r#"<html lang="en"><head><title>Tides</title></head><body><main><p>High water at 06:12.</p></main></body></html>"#,
    }
    MERGED = "HT008" "merged-blocks" (hint, "D36") {
        title: "neighbouring blocks were merged to stay within 1000 blocks",
        why: "A collection holds at most 1000 blocks per page. No text is lost, but several paragraphs share one block.",
        fix: "Split the page if readers need each paragraph as a block of its own.",
        wrong: "A page of 1,400 short paragraphs.",
        right: "Pages of up to 1,000 blocks.",
    }
    TOO_DEEP = "HT009" "too-deep" (advice, "D38") {
        title: "elements are nested deeper than the limit",
        why: "Rutter ignores tags that are nested deeper than the limit. Their text is kept.",
        fix: "Close the elements that are still open.",
        wrong: "Thousands of `<div>` elements that are never closed.",
        right: "Elements that are closed where their content ends.",
    }
    TOO_MANY_NODES = "HT010" "too-many-nodes" (warning, "D38") {
        title: "page has more elements than the limit",
        why: "Rutter does not extract anything after the limit.",
        fix: "Split the page, or raise the limit.",
        wrong: "One page with all rows of a large database.",
        right: "Several pages that link to each other.",
    }
    UNSURE = "HT011" "unsure" (hint, "D45") {
        title: "main content of the page cannot be determined reliably",
        why: "Navigation may have been extracted as content, or content dropped as navigation.",
        fix: "Mark the main content with `<main>`, or let `rutter extract` explain the choice.",
        wrong: "A page with text, menu and teasers in similar `<div>` elements.",
        right: "The same page with its text in `<main>`.",
    }
    BROKEN_JSON_LD = "HT012" "broken-json-ld" (advice, "D47") {
        title: "JSON-LD block cannot be parsed",
        why: "No reader can use the metadata in this block.",
        fix: "Correct the JSON. Common mistakes are a trailing comma and an unescaped quotation mark.",
        wrong in "page.html": r#"<html lang="en"><head><title>Tides</title><script type="application/ld+json">{"@type": "Article",}</script></head><body><main><p>High water at 06:12.</p></main></body></html>"#,
        right: r#"<html lang="en"><head><title>Tides</title><script type="application/ld+json">{"@type": "Article"}</script></head><body><main><p>High water at 06:12.</p></main></body></html>"#,
    }
    NO_DESCRIPTION = "HT013" "no-description" (hint, "SCP-034") {
        title: "page has no description, so its first sentences are used",
        why: "Search results and lists of pages show these sentences, which may not describe the page.",
        fix: "Write `<meta name=\"description\" content=\"…\">`.",
        wrong in "page.html": r#"<html lang="en"><head><title>Tides</title></head><body><main><p>High water at 06:12.</p></main></body></html>"#,
        right: r#"<html lang="en"><head><title>Tides</title><meta name="description" content="When the water is high."></head><body><main><p>High water at 06:12.</p></main></body></html>"#,
    }
    NO_TITLE = "HT014" "no-title" (advice, "SCP-033") {
        title: "page has no title",
        why: "Rutter uses the first words of the page or its URL as title.",
        fix: "Write `<title>`.",
        wrong in "page.html": r#"<html lang="en"><head></head><body><main><p>High water at 06:12.</p></main></body></html>"#,
        right: r#"<html lang="en"><head><title>Tides</title></head><body><main><p>High water at 06:12.</p></main></body></html>"#,
    }
    NOT_TEXT = "HT016" "not-text" (fatal, "D17") {
        title: "input is not text",
        why: "Programs, images and archives contain no text to extract.",
        fix: "Pass an HTML or Markdown page. Decompress it first if it is compressed.",
        wrong: "`rutter extract photo.jpg`",
        right: "`rutter extract page.html`",
    }
    FRONT_MATTER = "HT015" "front-matter" (advice, "D45") {
        title: "front matter cannot be parsed",
        why: "Title, date and language of the page are lost.",
        fix: "Correct the YAML, TOML or JSON at the top of the file.",
        wrong in "page.md":
            "---",
            r#"title: "Tides"#,
            "---",
            "High water at 06:12.",
        right:
            "---",
            r#"title: "Tides""#,
            "---",
            "High water at 06:12.",
    }
    TOO_MANY_ATTRIBUTES = "HT017" "too-many-attributes" (advice, "D38") {
        title: "tag has more attributes than the limit",
        why: "Attributes after the limit are ignored. The element and its text are kept.",
        fix: "Remove attributes, or add a missing closing quotation mark.",
        wrong: "`<div a1 a2 a3 …>` with 300 attributes.",
        right: "A tag with up to 256 attributes.",
    }
    TOO_MANY_STEPS = "HT018" "too-many-steps" (warning, "D38") {
        title: "page needs more processing steps than the limit",
        why: "Rutter does not extract anything after the limit.",
        fix: "Close the elements that are still open, or split the page.",
        wrong: "A page with 5,000,000 end tags inside 400 open elements.",
        right: "Several pages with elements that are closed where their content ends.",
    }
    MAIN_TEXT_DROPPED = "HT019" "main-text-dropped" (advice, "D45") {
        title: "a large part of the text in the `<main>` element was dropped",
        why: "This text is missing in all machine-readable layers.",
        fix: "Let `rutter extract` explain what is dropped, and move text that is not content out of the `<main>` element.",
        wrong: "`<main>` with a paragraph about tides, then a cookie notice of three paragraphs.",
        right: "The cookie notice after `</main>`.",
    }
    SELECTOR_UNMATCHED = "HT020" "selector-unmatched" (advice, "D45") {
        title: "selector in `[extract]` matches no element",
        why: "If `main` matches nothing, Rutter detects the main content itself. A `keep` or `drop` selector that matches on no page has no effect.",
        fix: "Correct the selector, or restrict it with `[[extract.path]]` to the pages that have the element.",
        wrong: "The selector `.article-text` for a page without an element of this class.",
        right: "A selector that matches: `main .text`.",
    }
    EMBEDDED_TEXT = "HT021" "embedded-text" (note, "D37") {
        title: "text of the page is only in embedded data or a `noscript` element",
        why: "Rutter publishes the text that it found in embedded data or in `noscript` elements. Crawlers that neither run scripts nor read these get an empty page.",
        fix: "Render the page on the server or during the build.",
        wrong in "page.html": r#"<html lang="en"><head><title>Tides</title></head><body><div id="root"></div><noscript><p>High water is at 06:12 and at 18:40 on the first day of the month. The gate of the inner harbour opens two hours before that. Boats that come later wait at the pontoon outside, which has nine berths.</p></noscript><script src="/app.js"></script></body></html>"#,
        right: r#"<html lang="en"><head><title>Tides</title></head><body><main><p>High water is at 06:12 and at 18:40.</p></main><script src="/app.js"></script></body></html>"#,
    }
}
