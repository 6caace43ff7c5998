//! A table: the rules about HTML and Markdown pages.

rutter_finding::rules! {
    /// Bytes that are not characters.
    UNDECODABLE = "HT001" "undecodable" (advice, "D17")
        "page has bytes that its character encoding does not know",
        "Readers see replacement characters in their place.",
        "Declare the encoding the file is written in, best UTF-8.";
    /// No language declared or recognised.
    NO_LANGUAGE = "HT002" "no-language" (advice, "D42")
        "page does not say in which language it is written, and its text does not show it",
        "Search and translation treat it as undetermined (`und`).",
        "Write `<html lang=\"…\">`, or set the site's language.";
    /// A language that was guessed from the text.
    GUESSED_LANGUAGE = "HT003" "guessed-language" (hint, "D42")
        "page does not say in which language it is written; its text shows it",
        "A guess can be wrong for short texts.",
        "Write `<html lang=\"…\">`.";
    /// Text only scripts would bring.
    SCRIPT_SHELL = "HT004" "script-shell" (advice, "D37")
        "page has no text without scripts",
        "Most crawlers do not run scripts; for them the page is empty.",
        "Render it on the server or while building, or supply rendered HTML with --render-command.";
    /// A page without text.
    NO_TEXT = "HT005" "no-text" (advice, "D37")
        "page has no text of its own",
        "Its title or description stands in for content.",
        "Give the page text, or leave it out.";
    /// A page that cannot be a page of a collection.
    EMPTY = "HT006" "empty-page" (warning, "D37")
        "page has neither text nor title nor description",
        "There is nothing to publish.",
        "Leave the page out, or give it text.";
    /// Blocks were merged to stay below the limit.
    MERGED = "HT008" "merged-blocks" (hint, "D36")
        "neighbouring blocks were merged to stay within 1000",
        "Nothing is lost, but paragraphs share blocks.",
        "Split the page if its structure matters.";
    /// Nesting that was cut.
    TOO_DEEP = "HT009" "too-deep" (advice, "D38")
        "elements are nested deeper than the limit",
        "Deeper tags are ignored; their text is kept.",
        "Close the elements that are left open.";
    /// A page that was not read to its end.
    TOO_MANY_NODES = "HT010" "too-many-nodes" (warning, "D38")
        "page makes more elements than the limit",
        "Everything after the limit is missing.",
        "Split the page, or raise the limit.";
    /// Main content that was hard to tell.
    UNSURE = "HT011" "unsure" (hint, "D45")
        "it is unclear which part of the page is its main content",
        "Navigation may have been taken for content, or content for navigation.",
        "Mark the main content with `<main>`, or look at `rutter extract --explain`.";
    /// JSON-LD that is not JSON.
    BROKEN_JSON_LD = "HT012" "broken-json-ld" (advice, "D47")
        "block of JSON-LD cannot be read",
        "What it says about the page is lost for everybody.",
        "Validate the JSON.";
    /// No description anywhere.
    NO_DESCRIPTION = "HT013" "no-description" (hint, "SCP-034")
        "page has no description; its first sentences stand in",
        "Summaries show whatever the text begins with.",
        "Write `<meta name=\"description\" content=\"…\">`.";
    /// No title anywhere.
    NO_TITLE = "HT014" "no-title" (advice, "SCP-033")
        "page has no title",
        "Its first words or its address stand in.",
        "Write `<title>`.";
    /// Bytes that are no text.
    NOT_TEXT = "HT016" "not-text" (fatal, "D17")
        "input is not text",
        "Programs, pictures and archives have no words to extract.",
        "Name a page of HTML or Markdown; unpack it first if it is compressed.";
    /// Front matter that is not what it claims to be.
    FRONT_MATTER = "HT015" "front-matter" (advice, "D45")
        "front matter cannot be read",
        "Title, date and language of the page are lost.",
        "Correct the YAML, TOML or JSON at the top of the file.";
    /// Attributes that were left out.
    TOO_MANY_ATTRIBUTES = "HT017" "too-many-attributes" (advice, "D38")
        "tag has more attributes than the limit",
        "Attributes beyond the limit are ignored; the element and its text are kept.",
        "Remove the attributes, or close the quotation mark that is left open.";
    /// A page that takes too much work.
    TOO_MANY_STEPS = "HT018" "too-many-steps" (warning, "D38")
        "page takes more work to read than the limit",
        "Everything after the limit is missing.",
        "Close the elements that are left open, or split the page.";
    /// Text inside the main landmark that was not kept.
    MAIN_TEXT_DROPPED = "HT019" "main-text-dropped" (advice, "D45")
        "a large part of the text in the page's main element was dropped",
        "Readers of the machine-readable layers do not get it.",
        "Look at `rutter extract --explain`; move what is not content out of the main element.";
    /// A selector of the owner that matches nothing.
    SELECTOR_UNMATCHED = "HT020" "selector-unmatched" (advice, "D45")
        "selector matches no element of the page",
        "The part it names is not kept or dropped as wanted.",
        "Correct the selector, or limit it to the pages that have the element.";
}
