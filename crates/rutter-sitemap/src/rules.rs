//! Rules of layer SM: problems in sitemaps.

rutter_finding::rules! {
    /// Input is not a sitemap.
    NOT_A_SITEMAP = "SM001" "not-a-sitemap" (fatal, "SPX-039")
        "input is not a sitemap",
        "A sitemap is XML with the root element `urlset` or `sitemapindex`, or a text file with one URL per line.",
        "Pass the sitemap itself. Servers often send an error page at the URL of a missing sitemap.";
    /// Sitemap contains a DOCTYPE.
    DOCTYPE = "SM002" "doctype-not-allowed" (fatal, "D15")
        "sitemap contains a DOCTYPE",
        "Sitemaps need no DOCTYPE. Entities declared in it can exhaust memory or read local files.",
        "Delete the DOCTYPE. Write characters directly, or as &amp; and &lt;.";
    /// Sitemap is not well-formed XML.
    MALFORMED_XML = "SM003" "malformed-xml" (fatal, "SPX-039")
        "sitemap is not well-formed XML",
        "Crawlers stop at the first syntax error and do not read the rest.",
        "Escape `&` as `&amp;` and `<` as `&lt;`, and close every element.";
    /// Elements are nested too deeply.
    TOO_DEEP = "SM004" "xml-too-deep" (fatal, "D89")
        "elements are nested too deeply",
        "A sitemap needs four levels. Deeper nesting can be an attack on the reader's memory.",
        "Write entries directly below the root element.";
    /// A tag or the root element is larger than the limit.
    TOO_LONG = "SM005" "xml-part-too-long" (fatal, "D89")
        "a tag or the root element is larger than the limit",
        "Readers limit the size of tags to protect their memory. An element cannot be read without its start tag.",
        "Shorten the tag.";
    /// Sitemap ends before the root element is closed.
    TRUNCATED = "SM006" "sitemap-cut-off" (warning, "SPX-039")
        "sitemap ends before the root element is closed",
        "The file was truncated while it was written or sent, so entries are missing.",
        "Write or download the file again. Do not delete pages because they are missing in a truncated sitemap.";
    /// Sitemap has more than 50000 entries.
    TOO_MANY_URLS = "SM007" "too-many-urls" (warning, "D17")
        "sitemap has more than 50000 entries",
        "Crawlers stop reading after 50000 entries.",
        "Split the sitemap and write a sitemap index.";
    /// Sitemap is larger than 52428800 bytes uncompressed.
    SITEMAP_TOO_LARGE = "SM008" "sitemap-too-large" (warning, "D17")
        "sitemap is larger than 52428800 bytes uncompressed",
        "Crawlers stop reading after 52428800 bytes.",
        "Split the sitemap and write a sitemap index.";
    /// Root element is not in the sitemaps 0.9 namespace.
    NAMESPACE = "SM009" "sitemap-namespace" (warning, "SPX-039")
        "root element is not in the sitemaps 0.9 namespace",
        "Readers that check the namespace do not recognise the file.",
        "Write xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\", with http and without a trailing slash.";
    /// Sitemap is not UTF-8.
    NOT_UTF8 = "SM010" "sitemap-not-utf-8" (warning, "SPX-039")
        "sitemap is not UTF-8",
        "Sitemaps must be UTF-8. Some readers guess another encoding, others misread the file.",
        "Save the file as UTF-8.";
    /// White space precedes `<?xml`.
    SPACE_BEFORE_XML = "SM011" "space-before-declaration" (warning, "SPX-039")
        "white space precedes `<?xml`",
        "The XML declaration must be at the very beginning. Strict readers reject the file.",
        "Delete the empty lines at the beginning of the file.";
    /// Entry has no `loc`.
    LOC_MISSING = "SM012" "loc-missing" (warning, "SPX-039")
        "entry has no `loc`",
        "Readers skip an entry without a URL.",
        "Write the URL of the page as `loc`.";
    /// `loc` is not an absolute http or https URL.
    LOC_BAD = "SM013" "loc-not-an-address" (warning, "SPX-039")
        "`loc` is not an absolute http or https URL",
        "Crawlers skip the entry.",
        "Write the full URL, with spaces and other special characters percent-encoded.";
    /// `loc` is longer than 2048 characters.
    LOC_TOO_LONG = "SM014" "loc-too-long" (warning, "SPX-039")
        "`loc` is longer than 2048 characters",
        "The sitemap schema allows at most 2048 characters. Readers skip the entry.",
        "Give the page a shorter URL.";
    /// `lastmod` is not a valid date.
    LASTMOD_BAD = "SM015" "bad-lastmod" (warning, "D91")
        "`lastmod` is not a valid date",
        "Readers treat the modification time as unknown.",
        "Write a date such as 2026-05-01 or 2026-05-01T12:00:00Z.";
    /// `lastmod` has a time without a time zone.
    LASTMOD_NO_ZONE = "SM016" "lastmod-without-zone" (advice, "D19")
        "`lastmod` has a time without a time zone",
        "Readers assume UTC, which may differ from the intended time by hours.",
        "Append Z or an offset such as +02:00.";
    /// `changefreq` is not one of the seven allowed values.
    CHANGEFREQ_BAD = "SM017" "bad-changefreq" (warning, "D91")
        "`changefreq` is not one of the seven allowed values",
        "Readers ignore the value.",
        "Write always, hourly, daily, weekly, monthly, yearly or never.";
    /// `priority` is not a number from 0.0 to 1.0.
    PRIORITY_BAD = "SM018" "bad-priority" (warning, "SPX-039")
        "`priority` is not a number from 0.0 to 1.0",
        "Readers ignore the value.",
        "Write a number such as 0.8.";
    /// Element of another namespace follows the first entry.
    FOREIGN_LATE = "SM019" "foreign-after-entries" (advice, "D14")
        "element of another namespace follows the first entry",
        "The schema requires such elements before all entries. Strict readers reject the file.",
        "Write such elements directly after the start tag of the root element.";
    /// Sitemap has no entries.
    NO_URL = "SM020" "no-entries" (advice, "D14")
        "sitemap has no entries",
        "The schema requires at least one entry. Crawlers that rely on the sitemap find no pages.",
        "List the pages of the site.";
    /// Entry has another host than the first entry.
    OTHER_HOST = "SM021" "other-host" (advice, "D88")
        "entry has another host than the first entry",
        "Crawlers ignore entries of hosts that the sitemap is not responsible for.",
        "List the page in the sitemap of its own host.";
    /// URL is listed twice.
    DUPLICATE_LOC = "SM022" "duplicate-loc" (advice, "SPX-039")
        "URL is listed twice",
        "Which of the two entries counts depends on the reader.",
        "List each page once.";
    /// Element does not exist in sitemaps 0.9.
    UNKNOWN_ELEMENT = "SM023" "unknown-sitemap-element" (warning, "SPX-040")
        "element does not exist in sitemaps 0.9",
        "Strict readers reject the file, others skip the element.",
        "Delete the element, or put it into its own namespace.";
    /// Entry has the same element twice.
    ELEMENT_TWICE = "SM024" "element-twice" (warning, "SPX-039")
        "entry has the same element twice",
        "Readers use the first of the two elements.",
        "Delete the second element.";
    /// `loc` has a fragment.
    LOC_FRAGMENT = "SM025" "loc-with-fragment" (warning, "SPX-047")
        "`loc` has a fragment",
        "A fragment does not identify a page. Crawlers fetch the same page several times.",
        "Write the URL without `#` and the part after it.";
    /// Alternate link has no usable `href`.
    ALTERNATE_BAD = "SM026" "bad-alternate-link" (advice, "SPX-042")
        "alternate link has no usable `href`",
        "Readers skip the link.",
        "Write an absolute URL as `href`.";
    /// Line of the URL list is not an absolute http or https URL.
    LINE_BAD = "SM027" "line-not-an-address" (warning, "SPX-039")
        "line of the URL list is not an absolute http or https URL",
        "Readers skip the line.",
        "Write one URL per line and nothing else.";
    /// URL list contains a comment.
    LINE_COMMENT = "SM028" "comment-in-list" (note, "SPX-039")
        "URL list contains a comment",
        "The format has no comments. Some readers parse the line as a URL.",
        "Delete the line.";
    /// Input is an RSS or Atom feed.
    IS_FEED = "SM029" "feed-as-sitemap" (advice, "SPX-039")
        "input is an RSS or Atom feed",
        "Some crawlers accept feeds, but a feed lists only the newest pages.",
        "Write a sitemap of all pages.";
    /// Elements of an entry are in the wrong order.
    ELEMENT_ORDER = "SM030" "element-order" (judge, "SPX-039")
        "elements of an entry are in the wrong order",
        "The schema requires loc, lastmod, changefreq, priority, then elements of other namespaces.",
        "Write the elements in that order.";
    /// Compressed sitemap is damaged.
    GZIP_DAMAGED = "SM031" "sitemap-gzip-damaged" (warning, "SPX-039")
        "compressed sitemap is damaged",
        "Readers use the part that can be decompressed. The other entries are missing.",
        "Compress and upload the file again.";

    /// Part of an entry is larger than the limit.
    ENTRY_TOO_LARGE = "SM032" "sitemap-entry-too-large" (warning, "D89")
        "part of an entry is larger than the limit",
        "Readers drop this part and read the rest of the entry and of the file.",
        "Write at most 1,000 images and 1,000 alternate links per page, and texts shorter than 1 MiB.";

}
