//! Rules of layer SC about page objects and their content blocks.

rutter_finding::rules! {
    BLOCK_WITHOUT_TYPE = "SC020" "block-without-type" (warning, "SCP-094") {
        title: "content block is not an object with a string `type`",
        why: "Readers choose how to read a block by its type. They drop a block without one.",
        fix: "Write every block as an object with a string `type`.",
        wrong in "page in all.scp": r#"{"content": ["A port.", {"text": "No type."}]}"#,
        right: r#"{"content": [{"type": "text", "text": "A port."}]}"#,
    }
    UNKNOWN_BLOCK = "SC021" "unknown-block" (warning, "SCP-099") {
        title: "unknown content block type",
        why: "Readers keep the block as it is, but cannot use its content.",
        fix: "Use one of the ten block types of SCP 0.1, or write the content as a text block.",
        wrong in "page in all.scp": r#"{"content": [{"type": "chart", "data": [1, 2]}]}"#,
        right: r#"{"content": [{"type": "table", "rows": [["1", "2"]]}]}"#,
    }
    BLOCK_INCOMPLETE = "SC022" "block-incomplete" (warning, "SCP-082") {
        title: "content block lacks a required member or the member has the wrong type",
        why: "Readers drop the block and keep the rest of the page.",
        fix: "Add the required member with the JSON type that the specification asks for.",
        wrong in "page in all.scp": r#"{"content": [{"type": "heading", "level": 2}]}"#,
        right: r#"{"content": [{"type": "heading", "level": 2, "text": "Tides"}]}"#,
    }
    HEADING_LEVEL = "SC023" "heading-level" (warning, "SCP-103") {
        title: "heading level is outside 1 to 6",
        why: "Readers use the nearest allowed level, which may not be the intended one.",
        fix: "Use an integer from 1 to 6.",
        wrong in "page in all.scp": r#"{"content": [{"type": "heading", "level": 9, "text": "Tides"}]}"#,
        right: r#"{"content": [{"type": "heading", "level": 3, "text": "Tides"}]}"#,
    }
    BLOCK_URL = "SC024" "block-url" (warning, "SCP-188") {
        title: "block URL is not an absolute http or https URL",
        why: "Other schemes can run code where the content is shown. Readers drop the block, but keep the text of a link.",
        fix: "Write absolute http or https URLs.",
        wrong in "page in all.scp": r#"{"content": [{"type": "link", "url": "javascript:alert(1)", "text": "Tides"}]}"#,
        right: r#"{"content": [{"type": "link", "url": "https://harbour.example/tides.html", "text": "Tides"}]}"#,
    }
    BLOCK_FIELD = "SC025" "block-field" (warning, "SCP-083") {
        title: "optional member of a content block has a wrong type or form",
        why: "Readers drop the member and keep the block.",
        fix: "Write the member as the specification shows it, or omit it.",
        wrong in "page in all.scp": r#"{"content": [{"type": "code", "code": "x = 1", "language": 7}]}"#,
        right: r#"{"content": [{"type": "code", "code": "x = 1", "language": "python"}]}"#,
    }
    TOO_MANY_BLOCKS = "SC026" "too-many-blocks" (warning, "SCP-180") {
        title: "page has more content blocks than allowed",
        why: "Readers reject the page, so its content reaches no reader.",
        fix: "Merge neighbouring text blocks and lists until at most 1000 blocks remain.",
        wrong: "A page with 1,400 paragraphs, each of them a block.",
        right: "At most 1,000 blocks, by merging paragraphs or splitting the page.",
    }
    TOO_MANY_PARTS = "SC027" "too-many-parts" (warning, "SCP-183") {
        title: "page has more list items, cells and members than the memory limit allows",
        why: "A page of millions of tiny parts would fill the memory of a reader. Readers skip it.",
        fix: "Split the table or list over several pages.",
        wrong: "A table of a million empty cells in one page.",
        right: "Several pages with smaller tables.",
    }
    FOREIGN_BLOCK = "SC028" "foreign-block" (judge, "D46") {
        title: "content block type `structured` is not part of the specification",
        why: "The SCP reference implementation writes this type. Readers keep the block as it is.",
        fix: "Put JSON-LD into the page's `schema` member.",
        wrong in "page in all.scp": r#"{"content": [{"type": "structured", "data": {"@type": "Place"}}, {"type": "text", "text": "A port."}]}"#,
        right: r#"{"schema": {"@type": "Place"}, "content": [{"type": "text", "text": "A port."}]}"#,
    }
    URL_FORM = "SC029" "url-form" (warning, "SCP-077") {
        title: "URL does not conform to RFC 3986, as the page schema requires",
        why: "Readers that validate with the schema skip the page. Others guess how to escape the URL.",
        fix: "Percent-encode spaces, `<`, `>`, `|` and non-ASCII letters, and write the scheme in lower case.",
        wrong in "page in all.scp": r#"{"url": "https://harbour.example/tide tables"}"#,
        right: r#"{"url": "https://harbour.example/tide%20tables"}"#,
    }
    PAGE_FIELD_MISSING = "SC030" "page-field-missing" (fatal, "SCP-097") {
        title: "page lacks a required member",
        why: "Readers must reject the whole collection.",
        fix: "Give every page the members url, title, description, modified, language and content.",
        wrong in "page in all.scp": r#"{"title": "Port Selk"}"#,
        right: r#"{"title": "Port Selk", "description": "A port on the estuary."}"#,
    }
    PAGE_FIELD_TYPE = "SC031" "page-field-type" (fatal, "SCP-097") {
        title: "required member of a page has the wrong JSON type",
        why: "Readers treat a member of the wrong type as missing and reject the whole collection.",
        fix: "Write url, title, description, modified and language as strings, and content as an array.",
        wrong in "page in all.scp": r#"{"title": 404}"#,
        right: r#"{"title": "Port Selk"}"#,
    }
    PAGE_URL = "SC032" "page-url" (warning, "SCP-102") {
        title: "page URL is not an acceptable http or https URL",
        why: "The URL identifies the page. Readers skip a page without a valid URL.",
        fix: "Write the absolute http or https URL without user name or password, at most 8192 bytes long.",
        wrong in "page in all.scp": r#"{"url": "/tides.html"}"#,
        right: r#"{"url": "https://harbour.example/tides.html"}"#,
    }
    PAGE_MODIFIED = "SC033" "page-modified" (warning, "SCP-078") {
        title: "`modified` of the page is not a date-time",
        why: "Readers cannot tell which version of the page is newer, and skip the page.",
        fix: "Write an RFC 3339 date-time, for example 2026-05-01T12:00:00Z.",
        wrong in "page in all.scp": r#"{"modified": "last Friday"}"#,
        right: r#"{"modified": "2026-05-01T12:00:00Z"}"#,
    }
    TIME_FORM = "SC034" "time-form" (warning, "SCP-078") {
        title: "date-time does not have the full form of RFC 3339",
        why: "Readers take a time without zone as UTC, which may be hours off, and a date without time as midnight.",
        fix: "Write an RFC 3339 date-time with a zone, for example 2026-05-01T12:00:00Z.",
        wrong in "page in all.scp": r#"{"modified": "2026-05-01T12:00:00"}"#,
        right: r#"{"modified": "2026-05-01T12:00:00Z"}"#,
    }
    LANGUAGE_MALFORMED = "SC035" "language-malformed" (warning, "SCP-038") {
        title: "language is not a well-formed BCP 47 tag",
        why: "Readers keep the page and treat its language as unknown.",
        fix: "Write a tag such as `en`, `en-US` or `zh-Hans`.",
        wrong in "page in all.scp": r#"{"language": "english, mostly"}"#,
        right: r#"{"language": "en"}"#,
    }
    LANGUAGE_FORM = "SC036" "language-form" (judge, "SCP-079") {
        title: "language tag does not match the pattern of the page schema",
        why: "Readers that validate with the schema reject the page.",
        fix: "Write the language in lower case, the script in title case, the region in upper case.",
        wrong in "page in all.scp": r#"{"language": "EN-us"}"#,
        right: r#"{"language": "en-US"}"#,
    }
    LANGUAGE_UNDERSCORE = "SC037" "language-underscore" (warning, "SCP-038") {
        title: "language tag is written with an underscore",
        why: "Readers treat the underscore as a hyphen.",
        fix: "Write `en-US`, not `en_US`.",
        wrong in "page in all.scp": r#"{"language": "en_US"}"#,
        right: r#"{"language": "en-US"}"#,
    }
    EMPTY_CONTENT = "SC038" "empty-content" (warning, "SCP-081") {
        title: "page has no content blocks",
        why: "The page schema requires at least one block.",
        fix: "Exclude the page, or give it a text block.",
        wrong in "page in all.scp": r#"{"content": []}"#,
        right: r#"{"content": [{"type": "text", "text": "A port."}]}"#,
    }
    EMPTY_TEXT = "SC039" "empty-text" (warning, "SCP-033") {
        title: "title or description is empty",
        why: "Both members are required, because search indexes show them.",
        fix: "Write a title and a description.",
        wrong in "page in all.scp": r#"{"title": "", "description": "A port."}"#,
        right: r#"{"title": "Port Selk", "description": "A port."}"#,
    }
    PAGE_FIELD = "SC040" "page-field" (warning, "SCP-084") {
        title: "optional member of a page has a wrong type or form",
        why: "Readers drop the member and keep the page.",
        fix: "Write the member as the specification shows it, or omit it.",
        wrong in "page in all.scp": r#"{"published": "in spring"}"#,
        right: r#"{"published": "2026-04-01T08:00:00Z"}"#,
    }
    DUPLICATE_MEMBER = "SC041" "duplicate-member" (warning, "SCP-002") {
        title: "member occurs twice in one object",
        why: "JSON parsers disagree on which value counts. Rutter uses the last one.",
        fix: "Write each member once.",
        wrong in "lines of all.scp": r#"{"url": "https://harbour.example/", "title": "Port Selk", "title": "Harbour", "description": "A port.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A port."}]}"#,
        right: r#"{"url": "https://harbour.example/", "title": "Port Selk", "description": "A port.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A port."}]}"#,
    }
    INTERNATIONAL_HOST = "SC042" "international-host" (note, "SCP-188") {
        title: "host name contains non-ASCII letters",
        why: "Such a name can look like another host name. The ASCII form shows the difference.",
        fix: "No action is needed if the host name is yours. Otherwise correct the URL.",
        wrong in "page in all.scp": r#"{"url": "https://häfen.example/"}"#,
        right: r#"{"url": "https://harbour.example/"}"#,
    }
    INVALID_UTF8 = "SC007" "invalid-utf8" (fatal, "SCP-096") {
        title: "line is not valid UTF-8",
        why: "JSON text must be UTF-8. Readers reject the whole collection.",
        fix: "Save the file as UTF-8.",
        wrong: "A title with the byte E9 (`é` in Latin-1).",
        right: "The same title with the bytes C3 A9 (`é` in UTF-8).",
    }
    INVALID_JSON = "SC008" "invalid-json" (fatal, "SCP-096") {
        title: "line is not valid JSON",
        why: "Readers must reject the whole collection.",
        fix: "Write one complete JSON object per line, nested at most 128 levels deep.",
        wrong in "lines of all.scp": r#"{"url": "https://harbour.example/", "title": "Port Selk",}"#,
        right: r#"{"url": "https://harbour.example/", "title": "Port Selk", "description": "A port.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A port."}]}"#,
    }
    NOT_AN_OBJECT = "SC009" "not-an-object" (fatal, "SCP-096") {
        title: "line is not a JSON object",
        why: "Every line after the first must be one page object. Readers reject the whole collection.",
        fix: "Write one page object per line.",
        wrong in "lines of all.scp": r#"["https://harbour.example/", "Port Selk"]"#,
        right: r#"{"url": "https://harbour.example/", "title": "Port Selk", "description": "A port.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A port."}]}"#,
    }
}
