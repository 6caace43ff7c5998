//! A table: the rules about the container, its metadata and its adverts.

rutter_finding::rules! {
    /// Nothing there.
    NO_COLLECTION_LINE = "SC001" "no-collection-line" (fatal, "SCP-007")
        "no collection line",
        "Line 1 of a collection is its metadata; this input has no line 1.",
        "Check that the file was written and downloaded completely.";
    /// The coded bytes cannot be decoded to their end.
    DECODE_FAILED = "SC002" "decode-failed" (fatal, "SCP-095")
        "decompression failed",
        "The file is cut, damaged or followed by foreign bytes; nothing of it may be used.",
        "Fetch or write the file again; use one gzip member or one zstd frame with a window of at most 8 MiB and no dictionary.";
    /// The decoded bytes are something else.
    NOT_TEXT = "SC003" "not-json-lines" (fatal, "SCP-007")
        "input is not JSON Lines",
        "The first line of a collection begins with `{`.",
        "Give the collection file itself; servers often send an error page under its name.";
    /// Compressed more often than anybody needs.
    TOO_MANY_CODINGS = "SC004" "too-many-codings" (fatal, "SCP-006")
        "input is compressed more than twice",
        "Two layers are undone, because servers sometimes compress a compressed file; more is a trap.",
        "Compress the finished file once.";
    /// A decompression bomb.
    RATIO = "SC005" "ratio-exceeded" (fatal, "SCP-098")
        "decompression ratio is above the limit",
        "A file that expands more than 100 times is treated as a bomb.",
        "Use a lower compression level, or publish plain `.scp`.";
    /// Too large, before or after decompression.
    TOO_LARGE = "SC006" "file-too-large" (fatal, "SCP-177")
        "file is larger than the limit",
        "Sizes are bounded so that nobody can fill a disk.",
        "Split the section, or raise the limit up to the ceilings of the specification.";
    /// Line 1 is not metadata.
    NOT_METADATA = "SC010" "not-a-collection" (fatal, "SCP-007")
        "line 1 is not an object with a `collection` object",
        "Without metadata nobody knows what the file is.",
        "Write the collection's metadata as line 1.";
    /// Metadata lacks a member.
    METADATA_MISSING = "SC011" "metadata-missing" (fatal, "SCP-086")
        "collection metadata lacks a required member",
        "id, section, type, generated and version are required, and since on a delta.",
        "Add the member.";
    /// Metadata has a bad member.
    METADATA_MALFORMED = "SC012" "metadata-malformed" (fatal, "SCP-085")
        "collection metadata has a malformed member",
        "Readers decide by these values what the file replaces.",
        "id and section are letters, digits, hyphen and underscore; type is snapshot or delta; times are RFC 3339.";
    /// Version is not a version.
    VERSION_MALFORMED = "SC013" "version-malformed" (fatal, "SCP-089")
        "version is not of the form MAJOR.MINOR",
        "Readers decide by it whether they can read the file.",
        "Write \"0.1\".";
    /// A version from the future.
    VERSION_UNSUPPORTED = "SC014" "version-unsupported" (fatal, "SCP-019")
        "major version is not supported",
        "A higher major version may mean something else by the same words.",
        "Read the file with a newer program.";
    /// A checksum that cannot be one.
    CHECKSUM_MALFORMED = "SC015" "checksum-malformed" (fatal, "SCP-088")
        "checksum is not sha256: and 64 hexadecimal digits",
        "A checksum nobody can compare protects nothing.",
        "Write sha256: followed by 64 lower-case hexadecimal digits.";
    /// The file is not what it was.
    CHECKSUM_MISMATCH = "SC016" "checksum-mismatch" (fatal, "SCP-029")
        "checksum does not match the content",
        "The file was damaged or changed after it was written; no page of it may be used.",
        "Fetch the file again; a publisher hashes the exact text with the checksum member absent from line 1.";
    /// A metadata member twice.
    METADATA_TWICE = "SC017" "metadata-twice" (fatal, "D02")
        "member of the metadata occurs twice",
        "Two readers could take two different values for the truth.",
        "Write each member of line 1 once.";
    /// The chain without the checksum that protects it.
    CHAIN_WITHOUT_CHECKSUM = "SC018" "chain-without-checksum" (fatal, "D95")
        "`rutter` member without checksum",
        "Removals are only believed when the checksum covers them.",
        "Write the checksum too.";
    /// Line 1 without end.
    METADATA_TOO_LARGE = "SC019" "metadata-too-large" (fatal, "SCP-183")
        "line 1 is longer than the limit",
        "Metadata is held in memory; it is bounded.",
        "List at most 10,000 removed pages; publish a snapshot instead.";
    /// A page line longer than allowed.
    PAGE_TOO_LARGE = "SC043" "page-too-large" (warning, "SCP-179")
        "page is larger than the limit",
        "The page is skipped without being held in memory.",
        "Split the page; the specification allows 100 MB.";
    /// A page that took too long.
    PAGE_TOO_SLOW = "SC044" "page-too-slow" (fatal, "SCP-182")
        "page took longer to read than allowed",
        "Two seconds and one more per megabyte are allowed; leaving the page out would look like its removal, so the file is refused.",
        "Read it again on a less busy machine, or make the page smaller.";
    /// A byte order mark.
    BYTE_ORDER_MARK = "SC050" "byte-order-mark" (warning, "SCP-002")
        "file begins with a byte order mark",
        "JSON text has none; strict parsers fail on it.",
        "Write UTF-8 without byte order mark.";
    /// Windows line ends.
    CARRIAGE_RETURN = "SC051" "crlf-line-ends" (warning, "SCP-002")
        "lines end with carriage return and line feed",
        "The hash covers them, and other parsers may not expect them.",
        "End lines with a line feed alone.";
    /// An empty line in the middle.
    BLANK_LINE = "SC052" "blank-line" (warning, "SCP-004")
        "blank line before line 1 or between pages",
        "Line 1 is the metadata and every other line is one page; readers ignore blank ones.",
        "Leave the line out.";
    /// A final newline the checksum does not know of.
    FINAL_NEWLINE = "SC053" "final-newline" (note, "D02")
        "checksum matches without the final line end",
        "An editor or upload added a line end after the checksum was computed.",
        "Nothing; readers accept it.";
    /// Another form of checksum.
    CHECKSUM_FORM = "SC054" "checksum-form" (note, "D02")
        "checksum matches in a form other than the usual one",
        "The usual form hashes the text with the checksum member absent.",
        "Nothing; readers that follow the decision table accept it.";
    /// No checksum at all.
    NO_CHECKSUM = "SC055" "no-checksum" (hint, "SCP-031")
        "collection has no checksum",
        "Without it a damaged file cannot be told from a good one.",
        "Write a checksum; `rutter scp pack` does.";
    /// A newer minor version.
    NEWER_MINOR = "SC056" "newer-minor-version" (advice, "SCP-020")
        "minor version is newer than this program",
        "What is unknown is ignored and kept.",
        "Nothing, or read the file with a newer program.";
    /// `since` on a snapshot.
    SINCE_ON_SNAPSHOT = "SC057" "since-on-snapshot" (warning, "SCP-014")
        "snapshot carries `since`",
        "A snapshot is the whole section; `since` is ignored.",
        "Leave `since` out, or write type delta.";
    /// The same page twice.
    DUPLICATE_PAGE = "SC058" "duplicate-page" (warning, "SCP-004")
        "two pages of one collection have the same address",
        "Addresses that a URL parser makes equal are one page; the later `modified` wins, then the first.",
        "Write each page once.";
    /// The content is not in the state line 1 names.
    STATE_MISMATCH = "SC059" "state-mismatch" (fatal, "D95")
        "pages do not add up to the state that line 1 names",
        "The state proves that a replica equals the publisher's section.",
        "Take the newest snapshot; a publisher rebuilds the collection.";
    /// The chain member is not readable.
    CHAIN_MALFORMED = "SC060" "chain-malformed" (warning, "D95")
        "`rutter` member is malformed and ignored",
        "Removals and states cannot be used; everything else can.",
        "Write from, state, pages and removed as the documentation shows.";
    /// Created in the future.
    FROM_THE_FUTURE = "SC061" "generated-in-future" (warning, "SCP-166")
        "collection claims to be generated in the future",
        "Crawlers refuse what is more than ten minutes ahead of their clock.",
        "Set the clock, or the `generated` time, right.";
    /// Created long ago.
    FROM_THE_PAST = "SC062" "generated-long-ago" (hint, "SCP-166")
        "collection is more than 400 days old",
        "Crawlers refuse such collections as replays.",
        "Publish a new snapshot.";
    /// The advert describes another file.
    ADVERT_CONTRADICTS = "SC063" "advert-contradicts" (fatal, "D20")
        "collection is not the one the sitemap advertises",
        "Another section, type, or fewer pages than announced: the file is wrong or cut.",
        "Publish the sitemap again with the collections.";
    /// The advert is imprecise.
    ADVERT_DIFFERS = "SC064" "advert-differs" (warning, "D20")
        "sitemap and collection differ in a detail",
        "Line 1 counts; times and sizes in the sitemap are off.",
        "Publish the sitemap again with the collections.";
    /// An advert nobody can use.
    ADVERT_MALFORMED = "SC067" "advert-malformed" (warning, "D19")
        "`scp:` element of the sitemap cannot be used",
        "Crawlers ignore an advert that lacks an attribute or has a bad one.",
        "Write every attribute of the schema, counts without sign, times with zone.";
    /// An advert of the future.
    ADVERT_UNKNOWN = "SC068" "advert-unknown" (note, "SCP-109")
        "`scp:` element of the sitemap is not known",
        "Crawlers ignore what this version of the protocol does not have.",
        "Check its name; version 0.1 knows version, compression, section, collection and delta.";
    /// A file on offer twice.
    ADVERT_TWICE = "SC069" "advert-twice" (advice, "D17")
        "collection is advertised twice",
        "Crawlers take one of the two, and nobody knows which.",
        "Advertise each file once.";
    /// An advert in another namespace.
    ADVERT_NAMESPACE = "SC070" "advert-namespace" (judge, "SCP-106")
        "element looks like an advert, but its namespace is not that of SCP",
        "Readers know adverts by their namespace, and ignore this one.",
        "Write xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\", letter for letter.";
    /// A delta that ends before it begins.
    SINCE_AFTER_GENERATED = "SC066" "since-after-generated" (warning, "SCP-013")
        "delta's `since` is later than its `generated`",
        "It covers no time at all, so no reader will apply it; old and new were probably swapped.",
        "Write the older collection's `generated` as `since`.";
    /// Schema.org data tells another date.
    SCHEMA_DIFFERS = "SC065" "schema-date-differs" (hint, "SCP-048")
        "page and its schema.org data give different dates",
        "Both may be right, but one of them is usually forgotten.",
        "Write the same date in both.";
}
