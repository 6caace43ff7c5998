//! Rules of layer HT: problems in HTML and Markdown pages.
//!
//! Input: none; a table of codes, severities and texts. The extraction reports findings with these
//! rules.

rutter_finding::rules! {
    /// Page contains bytes that are invalid in its character encoding.
    UNDECODABLE = "HT001" "undecodable" (advice, "D17")
        "page contains bytes that are invalid in its character encoding",
        "Readers see a replacement character for each of them.",
        "Declare the encoding in which the file is written, preferably UTF-8.";
    /// Page does not declare a language, and the text is not enough to detect it.
    NO_LANGUAGE = "HT002" "no-language" (advice, "D42")
        "page does not declare a language, and the text is not enough to detect it",
        "Search engines and translation programs treat the language as undetermined (`und`).",
        "Write `<html lang=\"…\">`, or configure the language of the site.";
    /// Page does not declare a language; it was detected from the text.
    GUESSED_LANGUAGE = "HT003" "guessed-language" (hint, "D42")
        "page does not declare a language; it was detected from the text",
        "Detection can be wrong for short texts.",
        "Write `<html lang=\"…\">`.";
    /// Page shows its text only when scripts run.
    SCRIPT_SHELL = "HT004" "script-shell" (advice, "D37")
        "page shows its text only when scripts run",
        "Most crawlers do not run scripts and see little or no text. Rutter does not publish the page.",
        "Render the page on the server or during the build, or let Rutter read the rendered page.";
    /// Page has no text of its own.
    NO_TEXT = "HT005" "no-text" (advice, "D37")
        "page has no text of its own",
        "Rutter uses the title or the description as content.",
        "Add text to the page, or exclude the page.";
    /// Page has no text, no title and no description.
    EMPTY = "HT006" "empty-page" (warning, "D37")
        "page has no text, no title and no description",
        "There is nothing to publish.",
        "Exclude the page, or add text to it.";
    /// Neighbouring blocks were merged to stay within 1000 blocks.
    MERGED = "HT008" "merged-blocks" (hint, "D36")
        "neighbouring blocks were merged to stay within 1000 blocks",
        "No text is lost, but several paragraphs share one block.",
        "Split the page if its structure matters.";
    /// Elements are nested deeper than the limit.
    TOO_DEEP = "HT009" "too-deep" (advice, "D38")
        "elements are nested deeper than the limit",
        "Tags below the limit are ignored. Their text is kept.",
        "Close the elements that are still open.";
    /// Page has more elements than the limit.
    TOO_MANY_NODES = "HT010" "too-many-nodes" (warning, "D38")
        "page has more elements than the limit",
        "Everything after the limit is missing.",
        "Split the page, or raise the limit.";
    /// Main content of the page is ambiguous.
    UNSURE = "HT011" "unsure" (hint, "D45")
        "main content of the page is ambiguous",
        "Navigation may have been extracted as content, or content dropped as navigation.",
        "Mark the main content with `<main>`, or let `rutter extract` explain the choice.";
    /// JSON-LD block cannot be parsed.
    BROKEN_JSON_LD = "HT012" "broken-json-ld" (advice, "D47")
        "JSON-LD block cannot be parsed",
        "No reader can use the metadata in this block.",
        "Validate the JSON.";
    /// Page has no description, so its first sentences are used.
    NO_DESCRIPTION = "HT013" "no-description" (hint, "SCP-034")
        "page has no description, so its first sentences are used",
        "Summaries show the beginning of the text, which may not describe the page.",
        "Write `<meta name=\"description\" content=\"…\">`.";
    /// Page has no title.
    NO_TITLE = "HT014" "no-title" (advice, "SCP-033")
        "page has no title",
        "Rutter uses the first words of the page or its URL.",
        "Write `<title>`.";
    /// Input is not text.
    NOT_TEXT = "HT016" "not-text" (fatal, "D17")
        "input is not text",
        "Programs, images and archives contain no text to extract.",
        "Pass an HTML or Markdown page. Decompress it first if it is compressed.";
    /// Front matter cannot be parsed.
    FRONT_MATTER = "HT015" "front-matter" (advice, "D45")
        "front matter cannot be parsed",
        "Title, date and language of the page are lost.",
        "Correct the YAML, TOML or JSON at the top of the file.";
    /// Tag has more attributes than the limit.
    TOO_MANY_ATTRIBUTES = "HT017" "too-many-attributes" (advice, "D38")
        "tag has more attributes than the limit",
        "Attributes after the limit are ignored. The element and its text are kept.",
        "Remove attributes, or add a missing closing quotation mark.";
    /// Page needs more processing steps than the limit.
    TOO_MANY_STEPS = "HT018" "too-many-steps" (warning, "D38")
        "page needs more processing steps than the limit",
        "Everything after the limit is missing.",
        "Close the elements that are still open, or split the page.";
    /// A large part of the text in the `<main>` element was dropped.
    MAIN_TEXT_DROPPED = "HT019" "main-text-dropped" (advice, "D45")
        "a large part of the text in the `<main>` element was dropped",
        "This text is missing in all machine-readable layers.",
        "Let `rutter extract` explain what is dropped, and move text that is not content out of the `<main>` element.";
    /// Selector in `[extract]` matches no element.
    SELECTOR_UNMATCHED = "HT020" "selector-unmatched" (advice, "D45")
        "selector in `[extract]` matches no element",
        "If `main` matches nothing, Rutter detects the main content itself. A `keep` or `drop` selector that matches on no page has no effect.",
        "Correct the selector, or restrict it with `[[extract.path]]` to the pages that have the element.";
    /// Page has its text only in embedded data, not in its elements.
    EMBEDDED_TEXT = "HT021" "embedded-text" (note, "D37")
        "page has its text only in embedded data, not in its elements",
        "Crawlers that neither run scripts nor read this data get an empty page.",
        "Render the page on the server or during the build.";
}
