//! Rules of layer SC about collection files, their metadata and their `scp:` elements in sitemaps.

rutter_finding::rules! {
    /// Collection has no line 1.
    NO_COLLECTION_LINE = "SC001" "no-collection-line" (fatal, "SCP-007")
        "collection has no line 1",
        "Line 1 of a collection contains its metadata. This input has no line 1.",
        "Check that the file was written and downloaded completely.";
    /// Decompression failed.
    DECODE_FAILED = "SC002" "decode-failed" (fatal, "SCP-095")
        "decompression failed",
        "The file is truncated, damaged or followed by other bytes. Readers use no part of the file.",
        "Download or write the file again. Use one gzip member, or one zstd frame with a window of at most 8 MiB and no dictionary.";
    /// Input is not JSON Lines.
    NOT_TEXT = "SC003" "not-json-lines" (fatal, "SCP-007")
        "input is not JSON Lines",
        "The first line of a collection begins with `{`.",
        "Pass the collection file itself. Servers often send an error page at the URL of a missing file.";
    /// Input is compressed more than twice.
    TOO_MANY_CODINGS = "SC004" "too-many-codings" (fatal, "SCP-006")
        "input is compressed more than twice",
        "Rutter undoes two layers of compression, because servers sometimes compress a compressed file. More layers can be an attack.",
        "Compress the finished file once.";
    /// Decompression ratio is above the limit.
    RATIO = "SC005" "ratio-exceeded" (fatal, "SCP-098")
        "decompression ratio is above the limit",
        "Readers treat a file that expands more than 100 times as a decompression bomb.",
        "Use a lower compression level, or publish plain `.scp`.";
    /// File is larger than the limit.
    TOO_LARGE = "SC006" "file-too-large" (fatal, "SCP-177")
        "file is larger than the limit",
        "Limits prevent a publisher from filling the disk of a reader.",
        "Split the section, or raise the limit up to the ceilings of the specification.";
    /// Line 1 is not an object with a `collection` object.
    NOT_METADATA = "SC010" "not-a-collection" (fatal, "SCP-007")
        "line 1 is not an object with a `collection` object",
        "Without metadata readers cannot identify the file.",
        "Write the collection's metadata as line 1.";
    /// Collection metadata lacks a required member.
    METADATA_MISSING = "SC011" "metadata-missing" (fatal, "SCP-086")
        "collection metadata lacks a required member",
        "The members id, section, type, generated and version are required, and since in a delta.",
        "Add the member.";
    /// Collection metadata has a malformed member.
    METADATA_MALFORMED = "SC012" "metadata-malformed" (fatal, "SCP-085")
        "collection metadata has a malformed member",
        "Readers use the members of the metadata to decide which pages the file replaces.",
        "Use letters, digits, hyphens and underscores in id and section, snapshot or delta as type, and RFC 3339 date-times.";
    /// Version does not have the form MAJOR.MINOR.
    VERSION_MALFORMED = "SC013" "version-malformed" (fatal, "SCP-089")
        "version does not have the form MAJOR.MINOR",
        "Readers use the version to decide whether they can read the file.",
        "Write \"0.1\".";
    /// Major version is not supported.
    VERSION_UNSUPPORTED = "SC014" "version-unsupported" (fatal, "SCP-019")
        "major version is not supported",
        "The same names may have another meaning in another major version.",
        "Read the file with a newer program.";
    /// Checksum is not `sha256:` followed by 64 hexadecimal digits.
    CHECKSUM_MALFORMED = "SC015" "checksum-malformed" (fatal, "SCP-088")
        "checksum is not `sha256:` followed by 64 hexadecimal digits",
        "Readers cannot compare a malformed checksum, so it protects nothing.",
        "Write `sha256:` followed by 64 lower-case hexadecimal digits.";
    /// Checksum does not match the content.
    CHECKSUM_MISMATCH = "SC016" "checksum-mismatch" (fatal, "SCP-029")
        "checksum does not match the content",
        "The file was damaged or changed after it was written. Readers use no page of it.",
        "Download the file again. Publishers must compute the hash over the exact text with the checksum member absent from line 1.";
    /// Member of the metadata occurs twice.
    METADATA_TWICE = "SC017" "metadata-twice" (fatal, "D02")
        "member of the metadata occurs twice",
        "Two readers could use two different values.",
        "Write each member of line 1 once.";
    /// `rutter` member is present but the checksum is missing.
    CHAIN_WITHOUT_CHECKSUM = "SC018" "chain-without-checksum" (fatal, "D95")
        "`rutter` member is present but the checksum is missing",
        "Readers trust removals only when the checksum covers them.",
        "Write the checksum.";
    /// Line 1 is longer than the limit.
    METADATA_TOO_LARGE = "SC019" "metadata-too-large" (fatal, "SCP-183")
        "line 1 is longer than the limit",
        "Readers hold the metadata in memory, so its size is limited.",
        "List at most 10,000 removed pages, or publish a snapshot.";
    /// Page is larger than the limit.
    PAGE_TOO_LARGE = "SC043" "page-too-large" (warning, "SCP-179")
        "page is larger than the limit",
        "Readers skip the page without loading it into memory.",
        "Split the page. The specification allows 100 MB.";
    /// Page took longer to read than the time limit.
    PAGE_TOO_SLOW = "SC044" "page-too-slow" (fatal, "SCP-182")
        "page took longer to read than the time limit",
        "The limit is two seconds plus one second per megabyte. Skipping the page would look like a removal, so the file is rejected.",
        "Read the file again on a less busy machine, or make the page smaller.";
    /// File begins with a byte order mark.
    BYTE_ORDER_MARK = "SC050" "byte-order-mark" (warning, "SCP-002")
        "file begins with a byte order mark",
        "JSON text has no byte order mark, and strict parsers fail on it.",
        "Save the file as UTF-8 without a byte order mark.";
    /// Lines end with CRLF.
    CARRIAGE_RETURN = "SC051" "crlf-line-ends" (warning, "SCP-002")
        "lines end with CRLF",
        "The checksum covers the line ends, and other parsers may not accept CRLF.",
        "End each line with a line feed only.";
    /// Collection has a blank line before line 1 or between pages.
    BLANK_LINE = "SC052" "blank-line" (warning, "SCP-004")
        "collection has a blank line before line 1 or between pages",
        "Line 1 is the metadata and every other line is one page. Readers ignore blank lines.",
        "Delete the line.";
    /// Checksum matches only without the final line feed.
    FINAL_NEWLINE = "SC053" "final-newline" (note, "D02")
        "checksum matches only without the final line feed",
        "An editor or an upload added a line feed after the checksum was computed.",
        "No action is needed, because readers accept the file.";
    /// Checksum matches only if it is computed in a less common way.
    CHECKSUM_FORM = "SC054" "checksum-form" (note, "D02")
        "checksum matches only if it is computed in a less common way",
        "Usually the checksum is the hash of the text without the checksum member.",
        "No action is needed for readers that try all known ways. For all other readers, compute the checksum in the usual way.";
    /// Collection has no checksum.
    NO_CHECKSUM = "SC055" "no-checksum" (hint, "SCP-031")
        "collection has no checksum",
        "Without a checksum, readers cannot detect a damaged file.",
        "Write a checksum, as `rutter scp pack` does.";
    /// Minor version is newer than this program.
    NEWER_MINOR = "SC056" "newer-minor-version" (advice, "SCP-020")
        "minor version is newer than this program",
        "Readers ignore and keep unknown members.",
        "No action is needed. A newer program may understand more members of the file.";
    /// Snapshot has the member `since`.
    SINCE_ON_SNAPSHOT = "SC057" "since-on-snapshot" (warning, "SCP-014")
        "snapshot has the member `since`",
        "A snapshot contains the whole section, so readers ignore `since`.",
        "Delete `since`, or write the type delta.";
    /// Two pages of one collection have the same URL.
    DUPLICATE_PAGE = "SC058" "duplicate-page" (warning, "SCP-004")
        "two pages of one collection have the same URL",
        "URLs that a URL parser makes equal identify the same page. Readers keep the page with the later `modified`, or the first one.",
        "Write each page once.";
    /// Pages do not match the state in line 1.
    STATE_MISMATCH = "SC059" "state-mismatch" (fatal, "D95")
        "pages do not match the state in line 1",
        "The state proves that a replica equals the section of the publisher.",
        "Download the newest snapshot. Publishers must write the collection again.";
    /// `rutter` member is malformed and is ignored.
    CHAIN_MALFORMED = "SC060" "chain-malformed" (warning, "D95")
        "`rutter` member is malformed and is ignored",
        "Readers cannot use the removals and the state, but can use everything else.",
        "Write from, state, pages and removed as docs/formats.md describes.";
    /// `generated` is in the future.
    FROM_THE_FUTURE = "SC061" "generated-in-future" (warning, "SCP-166")
        "`generated` is in the future",
        "Crawlers reject collections that are more than ten minutes ahead of their clock.",
        "Correct the clock or the `generated` time.";
    /// Collection is more than 400 days old.
    FROM_THE_PAST = "SC062" "generated-long-ago" (hint, "SCP-166")
        "collection is more than 400 days old",
        "Crawlers reject such collections to prevent replays.",
        "Publish a new snapshot.";
    /// Collection differs from the one that the sitemap advertises.
    ADVERT_CONTRADICTS = "SC063" "advert-contradicts" (fatal, "D20")
        "collection differs from the one that the sitemap advertises",
        "The section or type differs, or the file has fewer pages than advertised. The file is wrong or truncated.",
        "Publish the sitemap together with the collections.";
    /// Sitemap and collection differ in a detail.
    ADVERT_DIFFERS = "SC064" "advert-differs" (warning, "D20")
        "sitemap and collection differ in a detail",
        "Readers use the values in line 1 of the collection. The times and sizes in the sitemap are inaccurate.",
        "Publish the sitemap together with the collections.";
    /// `scp:` element of the sitemap is invalid.
    ADVERT_MALFORMED = "SC067" "advert-malformed" (warning, "D19")
        "`scp:` element of the sitemap is invalid",
        "Crawlers ignore an element with a missing or malformed attribute.",
        "Write every attribute of the schema, counts without a sign, and times with a zone.";
    /// `scp:` element of the sitemap is unknown.
    ADVERT_UNKNOWN = "SC068" "advert-unknown" (note, "SCP-109")
        "`scp:` element of the sitemap is unknown",
        "Crawlers ignore elements that this version of the protocol does not define.",
        "Check the name. Version 0.1 defines version, compression, section, collection and delta.";
    /// Collection is advertised twice.
    ADVERT_TWICE = "SC069" "advert-twice" (advice, "D17")
        "collection is advertised twice",
        "Which of the two elements counts depends on the crawler.",
        "Advertise each file once.";
    /// Element resembles an `scp:` element but is in another namespace.
    ADVERT_NAMESPACE = "SC070" "advert-namespace" (judge, "SCP-106")
        "element resembles an `scp:` element but is in another namespace",
        "Readers recognise `scp:` elements by their namespace, so they ignore this element.",
        "Write xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\" exactly.";
    /// `since` of the delta is later than its `generated`.
    SINCE_AFTER_GENERATED = "SC066" "since-after-generated" (warning, "SCP-013")
        "`since` of the delta is later than its `generated`",
        "The delta covers no time span, so no reader applies it. The two values are probably swapped.",
        "Write the `generated` time of the older collection as `since`.";
    /// Page and its schema.org data give different dates.
    SCHEMA_DIFFERS = "SC065" "schema-date-differs" (hint, "SCP-048")
        "page and its schema.org data give different dates",
        "Both may be correct, but usually one of them was not updated.",
        "Write the same date in the page and in its schema.org data.";
}
