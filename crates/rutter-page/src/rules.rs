//! A table: the rules about pages and their blocks.

rutter_finding::rules! {
    /// A block that says nothing about what it is.
    BLOCK_WITHOUT_TYPE = "SC020" "block-without-type" (warning, "SCP-094")
        "content block is not an object with a string `type`",
        "The type decides how a block is read; without it the block is dropped.",
        "Write every block as an object with a string `type`.";
    /// A block type this version does not know.
    UNKNOWN_BLOCK = "SC021" "unknown-block" (warning, "SCP-099")
        "unknown content block type",
        "Readers keep going and keep the block as it is, but cannot use it.",
        "Use one of the ten types of SCP 0.1, or say the same with a text block.";
    /// A known block without what makes it one.
    BLOCK_INCOMPLETE = "SC022" "block-incomplete" (warning, "SCP-082")
        "content block lacks a required member, or it has the wrong type",
        "Readers drop the block; the rest of the page is used.",
        "Add the member the block type requires, with the JSON type it requires.";
    /// A heading level outside 1 to 6.
    HEADING_LEVEL = "SC023" "heading-level" (warning, "SCP-103")
        "heading level is outside 1 to 6",
        "Readers take the nearest level, which may not be the one you meant.",
        "Use an integer from 1 to 6.";
    /// A block address that is not http or https.
    BLOCK_URL = "SC024" "block-url" (warning, "SCP-188")
        "block address is not an absolute http or https URL",
        "Other schemes can run code where the content is shown; the block is dropped (the text of a link is kept).",
        "Write absolute http or https URLs.";
    /// An optional member of a block that cannot be used.
    BLOCK_FIELD = "SC025" "block-field" (warning, "SCP-083")
        "optional member of a content block has a wrong type or form",
        "Readers drop the member and keep the block.",
        "Write the member as the specification shows it, or leave it out.";
    /// More blocks than a page may have.
    TOO_MANY_BLOCKS = "SC026" "too-many-blocks" (warning, "SCP-180")
        "page has more content blocks than allowed",
        "Readers refuse the page, so nobody gets it.",
        "Merge neighbouring text blocks and lists until at most 1000 are left.";
    /// More list items, cells and members than we are willing to hold.
    TOO_MANY_PARTS = "SC027" "too-many-parts" (warning, "SCP-183")
        "page has more parts than the memory limit allows",
        "A page of millions of tiny parts would fill a reader's memory; it is skipped.",
        "Split the table or list over several pages.";
    /// A block type of the reference implementation.
    FOREIGN_BLOCK = "SC028" "foreign-block" (judge, "D46")
        "content block type `structured` is not part of the specification",
        "The reference implementation writes it; readers keep it as it is.",
        "Put JSON-LD into the page's `schema` member.";
    /// An address that browsers take and the schema does not.
    URL_FORM = "SC029" "url-form" (warning, "SCP-077")
        "URL is not a URI as RFC 3986 and the page schema want it",
        "Readers that use the schema literally skip the page; others guess how to escape the URL.",
        "Percent-encode spaces, `<`, `>`, `|` and letters outside ASCII, and write the scheme in lower case.";
    /// A page without one of the members it must have.
    PAGE_FIELD_MISSING = "SC030" "page-field-missing" (fatal, "SCP-097")
        "page lacks a required member",
        "The specification rejects the whole collection.",
        "Give every page url, title, description, modified, language and content.";
    /// A required member of the wrong JSON type.
    PAGE_FIELD_TYPE = "SC031" "page-field-type" (fatal, "SCP-097")
        "required member of a page has the wrong JSON type",
        "A title that is a number is as good as missing; the whole collection is rejected.",
        "Write strings as strings and content as an array.";
    /// A page address that is not one.
    PAGE_URL = "SC032" "page-url" (warning, "SCP-102")
        "page address is not an acceptable http or https URL",
        "The address is the page's identity; readers skip the page.",
        "Write the absolute http or https URL, without user name or password, at most 8192 bytes.";
    /// A modification time that cannot be read.
    PAGE_MODIFIED = "SC033" "page-modified" (warning, "SCP-078")
        "page's `modified` is not a date-time",
        "Without it nobody can tell which version is newer; readers skip the page.",
        "Write RFC 3339, for instance 2026-05-01T12:00:00Z.";
    /// A date alone, or a time without zone.
    TIME_FORM = "SC034" "time-form" (warning, "SCP-078")
        "date-time is not in the full form of RFC 3339",
        "Without a zone readers take it as UTC, which may be hours off; a date alone means midnight.",
        "Write RFC 3339 with a zone, for instance 2026-05-01T12:00:00Z.";
    /// A language tag that is none.
    LANGUAGE_MALFORMED = "SC035" "language-malformed" (warning, "SCP-038")
        "language is not a well-formed BCP 47 tag",
        "Readers keep the page and treat its language as unknown.",
        "Write a tag such as en, en-US or zh-Hans.";
    /// A well-formed tag the page schema's pattern refuses.
    LANGUAGE_FORM = "SC036" "language-form" (judge, "SCP-079")
        "language tag does not fit the pattern of the page schema",
        "Readers that use the schema literally refuse the page.",
        "Write the language in lower case, the script in title case, the region in upper case.";
    /// Underscores where hyphens belong.
    LANGUAGE_UNDERSCORE = "SC037" "language-underscore" (warning, "SCP-038")
        "language tag is written with an underscore",
        "Readers take it for a hyphen.",
        "Write en-US, not en_US.";
    /// A page without content.
    EMPTY_CONTENT = "SC038" "empty-content" (warning, "SCP-081")
        "page has no content blocks",
        "The page schema asks for at least one block.",
        "Leave the page out, or give it a text block.";
    /// An empty title or description.
    EMPTY_TEXT = "SC039" "empty-text" (warning, "SCP-033")
        "title or description is empty",
        "Both are required because indexes show them.",
        "Write a title and a description.";
    /// An optional page member that cannot be used.
    PAGE_FIELD = "SC040" "page-field" (warning, "SCP-084")
        "optional member of a page has a wrong type or form",
        "Readers drop the member and keep the page.",
        "Write the member as the specification shows it, or leave it out.";
    /// The same member twice.
    DUPLICATE_MEMBER = "SC041" "duplicate-member" (warning, "SCP-002")
        "member occurs twice in one object",
        "Parsers disagree which one counts; we take the last.",
        "Write each member once.";
    /// A host name outside ASCII.
    INTERNATIONAL_HOST = "SC042" "international-host" (note, "SCP-188")
        "host name uses letters outside ASCII",
        "Such names can look like others; the ASCII form shows what it really is.",
        "Nothing, if the name is yours.";
    /// A line that is not UTF-8.
    INVALID_UTF8 = "SC007" "invalid-utf8" (fatal, "SCP-096")
        "line is not valid UTF-8",
        "JSON text is UTF-8; the whole collection is rejected.",
        "Write the file as UTF-8.";
    /// A line that is not JSON.
    INVALID_JSON = "SC008" "invalid-json" (fatal, "SCP-096")
        "line is not valid JSON",
        "The specification rejects the whole collection.",
        "Write one complete JSON object per line, nested at most 128 deep.";
    /// A line that is JSON but not an object.
    NOT_AN_OBJECT = "SC009" "not-an-object" (fatal, "SCP-096")
        "line is not a JSON object",
        "Every line after the first is one page object; the whole collection is rejected.",
        "Write one page object per line.";
}
