//! Rules of layer SC about collection files, their metadata and their `scp:` elements in sitemaps.

rutter_finding::rules! {
    NO_COLLECTION_LINE = "SC001" "no-collection-line" (fatal, "SCP-007") {
        title: "collection has no line 1",
        why: "Line 1 of a collection contains its metadata. The file is empty, or contains only blank lines.",
        fix: "Check that the file was written and downloaded completely.",
        wrong: "An empty file.",
        right: r#"A file whose line 1 is `{"collection": {…}}`."#,
    }
    DECODE_FAILED = "SC002" "decode-failed" (fatal, "SCP-095") {
        title: "decompression failed",
        why: "The file is truncated, damaged or followed by other bytes. Readers use no part of the file.",
        fix: "Download or write the file again. Use one gzip member, or one zstd frame with a window of at most 8 MiB and no dictionary.",
        wrong: "An `.scp.gz` file without its last kilobyte.",
        right: "The complete file, written under a temporary name and renamed.",
    }
    NOT_TEXT = "SC003" "not-json-lines" (fatal, "SCP-007") {
        title: "input is not JSON Lines",
        why: "A collection is a text file with one JSON object per line, so its first line begins with `{`.",
        fix: "Check the URL or path. Servers often send an error page at the URL of a missing file.",
        wrong in "all.scp": "<!doctype html><title>404</title>",
        right: r#"{"collection": {"id": "harbour-all", "section": "all", "type": "snapshot", "generated": "2026-05-01T12:00:00Z", "version": "0.1"}}"#,
    }
    TOO_MANY_CODINGS = "SC004" "too-many-codings" (fatal, "SCP-006") {
        title: "input is compressed more than twice",
        why: "Rutter undoes two layers of compression, because servers sometimes compress a compressed file. More layers can be an attack.",
        fix: "Compress the finished file once.",
        wrong: "`gzip all.scp.gz.zst`: three layers of compression.",
        right: "`all.scp.zst`: one layer of compression.",
    }
    RATIO = "SC005" "ratio-exceeded" (fatal, "SCP-098") {
        title: "decompression ratio is above the limit",
        why: "Readers treat a file that expands more than 100 times as a decompression bomb.",
        fix: "Use a lower compression level, or publish plain `.scp`.",
        wrong: "A million identical pages with a compression ratio of 1000.",
        right: "Pages with different text, or an uncompressed `.scp` file.",
    }
    TOO_LARGE = "SC006" "file-too-large" (fatal, "SCP-177") {
        title: "collection is larger than the limit of the reader",
        why: "Limits prevent a publisher from filling the disk of a reader.",
        fix: "Split the section, or raise the limit of the reader. The specification sets a maximum for this limit.",
        wrong: "One collection of 3 GB (the default limit is 2 GB).",
        right: "A section for each part of the site.",
    }
    NOT_METADATA = "SC010" "not-a-collection" (fatal, "SCP-007") {
        title: "line 1 is not an object with a `collection` object",
        why: "Without metadata readers cannot identify the file.",
        fix: "Write the collection's metadata as line 1.",
        wrong in "all.scp": r#"{"id": "harbour-all", "section": "all"}"#,
        right: r#"{"collection": {"id": "harbour-all", "section": "all", "type": "snapshot", "generated": "2026-05-01T12:00:00Z", "version": "0.1"}}"#,
    }
    METADATA_MISSING = "SC011" "metadata-missing" (fatal, "SCP-086") {
        title: "collection metadata lacks a required member",
        why: "The members id, section, type, generated and version are required, and since in a delta.",
        fix: "Add the member.",
        wrong in "line 1 of all.scp": r#"{"id": "harbour-all", "section": "all", "type": "snapshot"}"#,
        right: r#"{"id": "harbour-all", "section": "all", "type": "snapshot", "generated": "2026-05-01T12:00:00Z"}"#,
    }
    METADATA_MALFORMED = "SC012" "metadata-malformed" (fatal, "SCP-085") {
        title: "collection metadata has a malformed member",
        why: "Readers use the members of the metadata to decide which pages the file replaces.",
        fix: "Use letters, digits, hyphens and underscores in id and section, snapshot or delta as type, and RFC 3339 date-times.",
        wrong in "line 1 of all.scp": r#"{"section": "all pages", "type": "full"}"#,
        right: r#"{"section": "all", "type": "snapshot"}"#,
    }
    VERSION_MALFORMED = "SC013" "version-malformed" (fatal, "SCP-089") {
        title: "version does not have the form MAJOR.MINOR",
        why: "Readers use the version to decide whether they can read the file.",
        fix: "Write \"0.1\".",
        wrong in "line 1 of all.scp": r#"{"version": "one"}"#,
        right: r#"{"version": "0.1"}"#,
    }
    VERSION_UNSUPPORTED = "SC014" "version-unsupported" (fatal, "SCP-019") {
        title: "major version of the collection is not supported",
        why: "In another major version, members of the same name may have another meaning.",
        fix: "Read the file with a newer program.",
        wrong in "line 1 of all.scp": r#"{"version": "7.0"}"#,
        right: r#"{"version": "0.1"}"#,
    }
    CHECKSUM_MALFORMED = "SC015" "checksum-malformed" (fatal, "SCP-088") {
        title: "checksum is not `sha256:` followed by 64 hexadecimal digits",
        why: "Readers cannot compare a malformed checksum, so it protects nothing.",
        fix: "Write `sha256:` followed by 64 lower-case hexadecimal digits.",
        wrong in "line 1 of all.scp": r#"{"id": "harbour-all", "checksum": "sha256:c0ffee"}"#,
        right: r#"{"id": "harbour-all"}"#,
    }
    CHECKSUM_MISMATCH = "SC016" "checksum-mismatch" (fatal, "SCP-029") {
        title: "checksum does not match the content",
        why: "The file was damaged or changed after it was written. Readers use no page of it.",
        fix: "Download the file again. Publishers must compute the hash over the exact text with the checksum member absent from line 1.",
        wrong in "line 1 of all.scp": r#"{"id": "harbour-all", "checksum": "sha256:0000000000000000000000000000000000000000000000000000000000000000"}"#,
        right: r#"{"id": "harbour-all"}"#,
    }
    METADATA_TWICE = "SC017" "metadata-twice" (fatal, "D02") {
        title: "member of the metadata occurs twice",
        why: "Two readers could use two different values.",
        fix: "Write each member of line 1 once.",
        wrong in "all.scp": r#"{"collection": {"id": "harbour-all", "section": "all", "section": "docs", "type": "snapshot", "generated": "2026-05-01T12:00:00Z", "version": "0.1"}}"#,
        right: r#"{"collection": {"id": "harbour-all", "section": "all", "type": "snapshot", "generated": "2026-05-01T12:00:00Z", "version": "0.1"}}"#,
    }
    CHAIN_WITHOUT_CHECKSUM = "SC018" "chain-without-checksum" (fatal, "D95") {
        title: "`rutter` member is present but the checksum is missing",
        why: "The `rutter` member lists removed pages. Readers trust this list only if a checksum covers it, so they reject the collection.",
        fix: "Write the checksum, or delete the `rutter` member.",
        wrong in "line 1 of all.scp": r#"{"id": "harbour-all", "rutter": {"state": "0000000000000000000000000000000000000000000000000000000000000000", "pages": 1, "removed": []}}"#,
        right: r#"{"id": "harbour-all"}"#,
    }
    METADATA_TOO_LARGE = "SC019" "metadata-too-large" (fatal, "SCP-183") {
        title: "line 1 is longer than the limit",
        why: "Readers hold the metadata in memory, so its size is limited.",
        fix: "List at most 10,000 removed pages, or publish a snapshot.",
        wrong: "A delta whose line 1 lists a million removed pages.",
        right: "A delta with at most 10,000 removals, or a new snapshot.",
    }
    PAGE_TOO_LARGE = "SC043" "page-too-large" (warning, "SCP-179") {
        title: "page is larger than the limit",
        why: "Readers skip the page without loading it into memory.",
        fix: "Split the page. The specification allows 100 MB.",
        wrong: "A page line of 120 MB.",
        right: "The same text on several pages.",
    }
    PAGE_TOO_SLOW = "SC044" "page-too-slow" (fatal, "SCP-182") {
        title: "page took longer to read than the time limit",
        why: "The limit is two seconds plus one second per megabyte. Skipping the page would look like a removal, so the file is rejected.",
        fix: "Read the file again on a less busy machine, or make the page smaller.",
        wrong: "A page of 90 MB, read on a busy machine.",
        right: "A page of ordinary size.",
    }
    BYTE_ORDER_MARK = "SC050" "byte-order-mark" (warning, "SCP-002") {
        title: "file begins with a byte order mark",
        why: "JSON text has no byte order mark, and strict parsers fail on it.",
        fix: "Save the file as UTF-8 without a byte order mark.",
        wrong: r#"The bytes EF BB BF before `{"collection"`."#,
        right: "A file that begins with `{`.",
    }
    CARRIAGE_RETURN = "SC051" "crlf-line-ends" (warning, "SCP-002") {
        title: "lines end with CRLF",
        why: "The checksum covers the line ends, and other parsers may not accept CRLF.",
        fix: "End each line with a line feed only.",
        wrong: r#"Lines that end with `\r\n`, as some Windows editors write them."#,
        right: r#"Lines that end with `\n`."#,
    }
    BLANK_LINE = "SC052" "blank-line" (warning, "SCP-004") {
        title: "collection has a blank line before line 1 or between pages",
        why: "Line 1 is the metadata and every other line is one page. Readers ignore blank lines.",
        fix: "Delete the line.",
        wrong in "lines of all.scp":
            r#"{"url": "https://harbour.example/a", "title": "A", "description": "A.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A."}]}"#,
            "",
            r#"{"url": "https://harbour.example/b", "title": "B", "description": "B.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "B."}]}"#,
        right:
            r#"{"url": "https://harbour.example/a", "title": "A", "description": "A.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A."}]}"#,
            r#"{"url": "https://harbour.example/b", "title": "B", "description": "B.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "B."}]}"#,
    }
    FINAL_NEWLINE = "SC053" "final-newline" (note, "D02") {
        title: "checksum matches only without the final line feed",
        why: "An editor or an upload added a line feed after the checksum was computed.",
        fix: "No action is needed, because readers accept the file.",
        wrong: "A line feed that an editor added after the checksum was computed.",
        right: "The file without that line feed.",
    }
    CHECKSUM_FORM = "SC054" "checksum-form" (note, "D02") {
        title: "checksum matches only if it is computed in a less common way",
        why: "Usually the checksum is the hash of the text without the checksum member.",
        fix: "No action is needed for readers that try all known ways. For all other readers, compute the checksum in the usual way.",
        wrong: "A checksum computed with an empty `checksum` member in line 1.",
        right: "A checksum computed without that member, as `rutter scp pack` does.",
    }
    NO_CHECKSUM = "SC055" "no-checksum" (hint, "SCP-031") {
        title: "collection has no checksum",
        why: "Without a checksum, readers cannot detect a damaged file.",
        fix: "Write a checksum, as `rutter scp pack` does.",
        wrong: "A line 1 without `checksum`.",
        right: r#"A line 1 with `"checksum": "sha256:…"`, as `rutter scp pack` writes it."#,
    }
    NEWER_MINOR = "SC056" "newer-minor-version" (advice, "SCP-020") {
        title: "minor version is newer than this program",
        why: "Readers ignore and keep unknown members.",
        fix: "No action is needed. A newer program may understand more members of the file.",
        wrong in "line 1 of all.scp": r#"{"version": "0.9"}"#,
        right: r#"{"version": "0.1"}"#,
    }
    SINCE_ON_SNAPSHOT = "SC057" "since-on-snapshot" (warning, "SCP-014") {
        title: "snapshot has the member `since`",
        why: "A snapshot contains the whole section, so readers ignore `since`.",
        fix: "Delete `since`, or write the type delta.",
        wrong in "line 1 of all.scp": r#"{"type": "snapshot", "since": "2026-04-01T00:00:00Z"}"#,
        right: r#"{"type": "snapshot"}"#,
    }
    DUPLICATE_PAGE = "SC058" "duplicate-page" (warning, "SCP-004") {
        title: "two pages of one collection have the same URL",
        why: "Two URLs that differ only in details such as the case of the host name identify the same page. Readers keep the page with the later `modified`, or the first one.",
        fix: "Write each page once.",
        wrong in "lines of all.scp":
            r#"{"url": "https://harbour.example/a", "title": "A", "description": "A.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A."}]}"#,
            r#"{"url": "https://HARBOUR.example/a", "title": "A", "description": "A.", "modified": "2026-05-02T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A."}]}"#,
        right: r#"{"url": "https://harbour.example/a", "title": "A", "description": "A.", "modified": "2026-05-02T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A."}]}"#,
    }
    STATE_MISMATCH = "SC059" "state-mismatch" (fatal, "D95") {
        title: "pages do not match the state that line 1 states",
        why: "The state is a checksum over all pages of the section. A reader whose pages have another state does not have the same pages as the publisher.",
        fix: "Download the newest snapshot. Publishers must write the collection again.",
        wrong: r#"Line 1 with `"pages": 17` and the state of 17 pages, followed by 16 pages."#,
        right: "Line 1 and pages written by the same build.",
    }
    CHAIN_MALFORMED = "SC060" "chain-malformed" (warning, "D95") {
        title: "`rutter` member is malformed and is ignored",
        why: "Readers ignore the removals and the state in this member, but use everything else.",
        fix: "Write the members `from`, `state`, `pages` and `removed` as docs/formats.md describes, or delete the `rutter` member.",
        wrong in "line 1 of all.scp": r#"{"id": "harbour-all", "rutter": "yes"}"#,
        right: r#"{"id": "harbour-all"}"#,
    }
    FROM_THE_FUTURE = "SC061" "generated-in-future" (warning, "SCP-166") {
        title: "`generated` is in the future",
        why: "Crawlers reject collections that are more than ten minutes ahead of their clock.",
        fix: "Correct the clock or the `generated` time.",
        wrong in "line 1 of all.scp": r#"{"generated": "2099-01-01T00:00:00Z"}"#,
        right: r#"{"generated": "2026-05-01T12:00:00Z"}"#,
    }
    FROM_THE_PAST = "SC062" "generated-long-ago" (hint, "SCP-166") {
        title: "collection is more than 400 days old",
        why: "Crawlers reject such collections, because an attacker could serve an old collection again.",
        fix: "Publish a new snapshot.",
        wrong in "line 1 of all.scp": r#"{"generated": "2019-01-01T00:00:00Z"}"#,
        right: r#"{"generated": "2026-05-01T12:00:00Z"}"#,
    }
    ADVERT_CONTRADICTS = "SC063" "advert-contradicts" (fatal, "D20") {
        title: "collection is not the one that the sitemap advertises",
        why: "Section, type or checksum differ, or the file is older or has fewer pages than advertised. The file is wrong, old or truncated.",
        fix: "Publish the sitemap together with the collections.",
        wrong: r#"`<scp:collection section="docs" type="snapshot" …/>` for a file with `"section": "blog"` in line 1."#,
        right: "Sitemap and collections of the same build.",
    }
    ADVERT_DIFFERS = "SC064" "advert-differs" (warning, "D20") {
        title: "sitemap states another time, size or page count than the collection",
        why: "Readers use the values of the collection. The values in the sitemap are inaccurate.",
        fix: "Publish the sitemap together with the collections.",
        wrong: r#"`<scp:collection … pages="16" …/>` for a file of 17 pages."#,
        right: r#"`<scp:collection … pages="17" …/>`."#,
    }
    ADVERT_MALFORMED = "SC067" "advert-malformed" (warning, "D19") {
        title: "`scp:` element of the sitemap is invalid",
        why: "Crawlers ignore an element with a missing or malformed attribute.",
        fix: "Write every attribute of the schema, counts without a sign, and times with a zone.",
        wrong in "advert in sitemap.xml": r#"<scp:collection section="docs" type="snapshot" url="https://harbour.example/docs.scp.zst" generated="2026-05-01" pages="many" size="9"/>"#,
        right: r#"<scp:collection section="docs" type="snapshot" url="https://harbour.example/docs.scp.zst" generated="2026-05-01T12:00:00Z" expires="2026-06-01T12:00:00Z" pages="17" size="16000"/>"#,
    }
    ADVERT_UNKNOWN = "SC068" "advert-unknown" (note, "SCP-109") {
        title: "`scp:` element of the sitemap is unknown",
        why: "Crawlers ignore elements that this version of the protocol does not define.",
        fix: "Check the name. Version 0.1 defines version, compression, section, collection and delta.",
        wrong in "advert in sitemap.xml": "<scp:parade/>",
        right: "<scp:version>0.1</scp:version>",
    }
    ADVERT_TWICE = "SC069" "advert-twice" (advice, "D17") {
        title: "collection is advertised twice",
        why: "Which of the two elements counts depends on the crawler.",
        fix: "Advertise each file once.",
        wrong in "advert in sitemap.xml":
            r#"<scp:collection section="docs" type="snapshot" url="https://harbour.example/docs.scp.zst" generated="2026-05-01T12:00:00Z" expires="2026-06-01T12:00:00Z" pages="17" size="16000"/>"#,
            r#"<scp:collection section="docs" type="snapshot" url="https://harbour.example/docs.scp.zst" generated="2026-05-01T12:00:00Z" expires="2026-06-01T12:00:00Z" pages="17" size="16000"/>"#,
        right: r#"<scp:collection section="docs" type="snapshot" url="https://harbour.example/docs.scp.zst" generated="2026-05-01T12:00:00Z" expires="2026-06-01T12:00:00Z" pages="17" size="16000"/>"#,
    }
    ADVERT_NAMESPACE = "SC070" "advert-namespace" (judge, "SCP-106") {
        title: "element resembles an `scp:` element but is in another namespace",
        why: "Readers recognise `scp:` elements by their namespace, so they ignore this element.",
        fix: "Write xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\" exactly.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:scp="http://scp-protocol.org/schemas/sitemap/1.0">"#,
            "  <scp:version>0.1</scp:version>",
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:scp="https://scp-protocol.org/schemas/sitemap/1.0">"#,
            "  <scp:version>0.1</scp:version>",
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    SINCE_AFTER_GENERATED = "SC066" "since-after-generated" (warning, "SCP-013") {
        title: "`since` of the delta is later than its `generated`",
        why: "The delta covers no time span, so no reader applies it. The two values are probably swapped.",
        fix: "Write the `generated` time of the older collection as `since`.",
        wrong in "line 1 of all.scp": r#"{"type": "delta", "since": "2026-05-02T00:00:00Z", "generated": "2026-05-01T12:00:00Z"}"#,
        right: r#"{"type": "delta", "since": "2026-04-30T12:00:00Z", "generated": "2026-05-01T12:00:00Z"}"#,
    }
    SCHEMA_DIFFERS = "SC065" "schema-date-differs" (hint, "SCP-048") {
        title: "page and its schema.org data give different dates",
        why: "Both may be correct, but usually one of them was not updated.",
        fix: "Write the same date in the page and in its schema.org data.",
        wrong in "page in all.scp": r#"{"modified": "2026-05-01T12:00:00Z", "schema": {"@type": "Article", "dateModified": "2025-12-24"}}"#,
        right: r#"{"modified": "2026-05-01T12:00:00Z", "schema": {"@type": "Article", "dateModified": "2026-05-01"}}"#,
    }
}
