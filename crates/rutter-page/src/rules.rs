//! Rules of layer SC about page objects and their content blocks.

rutter_finding::rules! {
    /// Content block is not an object with a string `type`.
    BLOCK_WITHOUT_TYPE = "SC020" "block-without-type" (warning, "SCP-094")
        "content block is not an object with a string `type`",
        "Readers choose how to read a block by its type. They drop a block without one.",
        "Write every block as an object with a string `type`.";
    /// Unknown content block type.
    UNKNOWN_BLOCK = "SC021" "unknown-block" (warning, "SCP-099")
        "unknown content block type",
        "Readers keep the block as it is, but cannot use its content.",
        "Use one of the ten block types of SCP 0.1, or write the content as a text block.";
    /// Content block lacks a required member or the member has the wrong type.
    BLOCK_INCOMPLETE = "SC022" "block-incomplete" (warning, "SCP-082")
        "content block lacks a required member or the member has the wrong type",
        "Readers drop the block and keep the rest of the page.",
        "Add the required member with the JSON type that the specification asks for.";
    /// Heading level is outside 1 to 6.
    HEADING_LEVEL = "SC023" "heading-level" (warning, "SCP-103")
        "heading level is outside 1 to 6",
        "Readers use the nearest allowed level, which may not be the intended one.",
        "Use an integer from 1 to 6.";
    /// Block URL is not an absolute http or https URL.
    BLOCK_URL = "SC024" "block-url" (warning, "SCP-188")
        "block URL is not an absolute http or https URL",
        "Other schemes can run code where the content is shown. Readers drop the block, but keep the text of a link.",
        "Write absolute http or https URLs.";
    /// Optional member of a content block has a wrong type or form.
    BLOCK_FIELD = "SC025" "block-field" (warning, "SCP-083")
        "optional member of a content block has a wrong type or form",
        "Readers drop the member and keep the block.",
        "Write the member as the specification shows it, or omit it.";
    /// Page has more content blocks than allowed.
    TOO_MANY_BLOCKS = "SC026" "too-many-blocks" (warning, "SCP-180")
        "page has more content blocks than allowed",
        "Readers reject the page, so its content reaches no reader.",
        "Merge neighbouring text blocks and lists until at most 1000 blocks remain.";
    /// Page has more list items, cells and members than the memory limit allows.
    TOO_MANY_PARTS = "SC027" "too-many-parts" (warning, "SCP-183")
        "page has more list items, cells and members than the memory limit allows",
        "A page of millions of tiny parts would fill the memory of a reader. Readers skip it.",
        "Split the table or list over several pages.";
    /// Content block type `structured` is not part of the specification.
    FOREIGN_BLOCK = "SC028" "foreign-block" (judge, "D46")
        "content block type `structured` is not part of the specification",
        "The SCP reference implementation writes this type. Readers keep the block as it is.",
        "Put JSON-LD into the page's `schema` member.";
    /// URL does not conform to RFC 3986, as the page schema requires.
    URL_FORM = "SC029" "url-form" (warning, "SCP-077")
        "URL does not conform to RFC 3986, as the page schema requires",
        "Readers that validate with the schema skip the page. Others guess how to escape the URL.",
        "Percent-encode spaces, `<`, `>`, `|` and non-ASCII letters, and write the scheme in lower case.";
    /// Page lacks a required member.
    PAGE_FIELD_MISSING = "SC030" "page-field-missing" (fatal, "SCP-097")
        "page lacks a required member",
        "Readers must reject the whole collection.",
        "Give every page the members url, title, description, modified, language and content.";
    /// Required member of a page has the wrong JSON type.
    PAGE_FIELD_TYPE = "SC031" "page-field-type" (fatal, "SCP-097")
        "required member of a page has the wrong JSON type",
        "Readers treat a member of the wrong type as missing and reject the whole collection.",
        "Write url, title, description, modified and language as strings, and content as an array.";
    /// Page URL is not an acceptable http or https URL.
    PAGE_URL = "SC032" "page-url" (warning, "SCP-102")
        "page URL is not an acceptable http or https URL",
        "The URL identifies the page. Readers skip a page without a valid URL.",
        "Write the absolute http or https URL without user name or password, at most 8192 bytes long.";
    /// `modified` of the page is not a date-time.
    PAGE_MODIFIED = "SC033" "page-modified" (warning, "SCP-078")
        "`modified` of the page is not a date-time",
        "Readers cannot tell which version of the page is newer, and skip the page.",
        "Write an RFC 3339 date-time, for example 2026-05-01T12:00:00Z.";
    /// Date-time does not have the full form of RFC 3339.
    TIME_FORM = "SC034" "time-form" (warning, "SCP-078")
        "date-time does not have the full form of RFC 3339",
        "Readers take a time without zone as UTC, which may be hours off, and a date without time as midnight.",
        "Write an RFC 3339 date-time with a zone, for example 2026-05-01T12:00:00Z.";
    /// Language is not a well-formed BCP 47 tag.
    LANGUAGE_MALFORMED = "SC035" "language-malformed" (warning, "SCP-038")
        "language is not a well-formed BCP 47 tag",
        "Readers keep the page and treat its language as unknown.",
        "Write a tag such as `en`, `en-US` or `zh-Hans`.";
    /// Language tag does not match the pattern of the page schema.
    LANGUAGE_FORM = "SC036" "language-form" (judge, "SCP-079")
        "language tag does not match the pattern of the page schema",
        "Readers that validate with the schema reject the page.",
        "Write the language in lower case, the script in title case, the region in upper case.";
    /// Language tag is written with an underscore.
    LANGUAGE_UNDERSCORE = "SC037" "language-underscore" (warning, "SCP-038")
        "language tag is written with an underscore",
        "Readers treat the underscore as a hyphen.",
        "Write `en-US`, not `en_US`.";
    /// Page has no content blocks.
    EMPTY_CONTENT = "SC038" "empty-content" (warning, "SCP-081")
        "page has no content blocks",
        "The page schema requires at least one block.",
        "Exclude the page, or give it a text block.";
    /// Title or description is empty.
    EMPTY_TEXT = "SC039" "empty-text" (warning, "SCP-033")
        "title or description is empty",
        "Both members are required, because search indexes show them.",
        "Write a title and a description.";
    /// Optional member of a page has a wrong type or form.
    PAGE_FIELD = "SC040" "page-field" (warning, "SCP-084")
        "optional member of a page has a wrong type or form",
        "Readers drop the member and keep the page.",
        "Write the member as the specification shows it, or omit it.";
    /// Member occurs twice in one object.
    DUPLICATE_MEMBER = "SC041" "duplicate-member" (warning, "SCP-002")
        "member occurs twice in one object",
        "JSON parsers disagree on which value counts. Rutter uses the last one.",
        "Write each member once.";
    /// Host name contains non-ASCII letters.
    INTERNATIONAL_HOST = "SC042" "international-host" (note, "SCP-188")
        "host name contains non-ASCII letters",
        "Such a name can look like another host name. The ASCII form shows the difference.",
        "Nothing, if the host name is yours.";
    /// Line is not valid UTF-8.
    INVALID_UTF8 = "SC007" "invalid-utf8" (fatal, "SCP-096")
        "line is not valid UTF-8",
        "JSON text must be UTF-8. Readers reject the whole collection.",
        "Save the file as UTF-8.";
    /// Line is not valid JSON.
    INVALID_JSON = "SC008" "invalid-json" (fatal, "SCP-096")
        "line is not valid JSON",
        "Readers must reject the whole collection.",
        "Write one complete JSON object per line, nested at most 128 levels deep.";
    /// Line is not a JSON object.
    NOT_AN_OBJECT = "SC009" "not-an-object" (fatal, "SCP-096")
        "line is not a JSON object",
        "Every line after the first must be one page object. Readers reject the whole collection.",
        "Write one page object per line.";
}
