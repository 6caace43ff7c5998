//! Rules of layers RB, SM and LL: problems in robots.txt, sitemaps and llms.txt.

rutter_finding::rules! {
    /// Rule is not below a `User-agent` line.
    RULE_OUTSIDE_GROUP = "RB001" "rule-outside-group" (warning, "RFC 9309, 2.1")
        "rule is not below a `User-agent` line",
        "A rule belongs to the group above it. Crawlers ignore a rule outside any group.",
        "Write a `User-agent` line above the rule.";
    /// Directive of the line is unknown.
    UNKNOWN_DIRECTIVE = "RB002" "unknown-directive" (note, "RFC 9309, 2.2.4")
        "directive of the line is unknown",
        "Crawlers ignore the line. A misspelt Disallow line protects nothing.",
        "Check the spelling, or turn the line into a comment.";
    /// Group for an AI crawler lacks a Disallow rule that `*` has.
    AI_GROUP_LIFTS_RULES = "RB003" "ai-group-lifts-rules" (warning, "D79")
        "group for an AI crawler lacks a Disallow rule that `*` has",
        "A crawler that is named in a group ignores the group for `*`, so the Disallow rule does not apply to it.",
        "Repeat the Disallow lines of `*` in the group, or write an explicit Allow line.";
    /// User agent is not a valid product token.
    BAD_AGENT = "RB004" "bad-agent-name" (advice, "RFC 9309, 2.2.1")
        "user agent is not a valid product token",
        "A product token consists of letters, hyphens and underscores. Crawlers ignore the rest of the name or the whole line.",
        "Write only the product token of the crawler, without version and spaces.";
    /// Sitemap line is not an absolute http or https URL.
    RELATIVE_SITEMAP = "RB005" "relative-sitemap-line" (warning, "RFC 9309, 2.2.4")
        "Sitemap line is not an absolute http or https URL",
        "Crawlers do not resolve relative URLs in this line.",
        "Write the full URL, beginning with https://.";
    /// Robots.txt is larger than 512000 bytes.
    ROBOTS_TOO_LARGE = "RB006" "robots-too-large" (warning, "D81")
        "robots.txt is larger than 512000 bytes",
        "Crawlers may stop reading after 500 KiB and ignore all further rules.",
        "Combine rules with wildcards, and delete the groups of discontinued crawlers.";
    /// Crawl-delay is not a number of seconds.
    BAD_CRAWL_DELAY = "RB007" "bad-crawl-delay" (advice, "D81")
        "Crawl-delay is not a number of seconds",
        "Crawlers that support Crawl-delay ignore the line.",
        "Write a number of seconds such as 5 or 0.5.";
    /// File begins with a byte order mark.
    ROBOTS_BOM = "RB008" "robots-bom" (hint, "RFC 9309, 2.2")
        "file begins with a byte order mark",
        "Most crawlers skip the mark. A crawler that does not skip it ignores the first line.",
        "Save the file as UTF-8 without a byte order mark.";
    /// The same pattern is both allowed and disallowed for one user agent.
    CONFLICTING_RULES = "RB009" "conflicting-rules" (advice, "RFC 9309, 2.2.2")
        "the same pattern is both allowed and disallowed for one user agent",
        "When two rules are equally long, Allow wins, so the Disallow line has no effect.",
        "Delete one of the two lines.";
    /// Line has a known misspelling or no colon.
    MISSPELT_DIRECTIVE = "RB010" "misspelt-directive" (warning, "RFC 9309, 2.2")
        "line has a known misspelling or no colon",
        "Some crawlers accept the line, others ignore it.",
        "Write `User-agent:`, `Allow:`, `Disallow:` or `Sitemap:`.";
    /// Pattern begins with neither `/` nor `*`.
    BAD_PATTERN = "RB011" "pattern-without-slash" (advice, "RFC 9309, 2.2.2")
        "pattern begins with neither `/` nor `*`",
        "Paths begin with `/`, so the rule never matches.",
        "Write a leading `/`.";
    /// Line is not valid UTF-8.
    ROBOTS_NOT_TEXT = "RB012" "robots-not-utf-8" (advice, "RFC 9309, 2.2")
        "line is not valid UTF-8",
        "Crawlers may read the invalid bytes differently.",
        "Save the file as UTF-8.";
    /// Line is longer than 16664 bytes.
    ROBOTS_LINE_TOO_LONG = "RB013" "robots-line-too-long" (advice, "D89")
        "line is longer than 16664 bytes",
        "Crawlers cut the line, which can change the meaning of the rule.",
        "Split the line into several shorter lines.";
    /// Robots.txt is an HTML page.
    ROBOTS_IS_HTML = "RB014" "robots-is-html" (warning, "RFC 9309, 2.3")
        "robots.txt is an HTML page",
        "Crawlers find no rules in an HTML page.",
        "Configure the server to answer /robots.txt with the file or with status 404.";
    /// Group has no rules.
    EMPTY_GROUP = "RB015" "group-without-rules" (hint, "RFC 9309, 2.2.1")
        "group has no rules",
        "The named crawlers may fetch everything, because they ignore the group for `*`.",
        "If this is intended, write a `Disallow:` line without a path.";

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

    /// File has no level-1 heading.
    LLMS_NO_TITLE = "LL001" "llms-without-title" (warning, "D82")
        "file has no level-1 heading",
        "The heading names the site. It is the only part that the format requires.",
        "Begin the file with `# Name of the site`.";
    /// File has no summary.
    LLMS_NO_SUMMARY = "LL002" "llms-without-summary" (note, "D82")
        "file has no summary",
        "A quoted line below the title tells readers what the site is about.",
        "Write a line with `> ` and one sentence below the title.";
    /// List item has no link.
    LLMS_NO_LINK = "LL003" "llms-item-without-link" (advice, "D82")
        "list item has no link",
        "Sections are lists of links. Readers skip items without a link.",
        "Write `- [title](https://…): note`.";
    /// Llms.txt is an HTML page.
    LLMS_IS_HTML = "LL004" "llms-is-html" (warning, "D82")
        "llms.txt is an HTML page",
        "A server that answers every request with an HTML page hides that llms.txt does not exist.",
        "Configure the server to answer with the file or with status 404.";
    /// File is larger than 1000000 bytes.
    LLMS_TOO_LARGE = "LL005" "llms-too-large" (advice, "D89")
        "file is larger than 1000000 bytes",
        "llms.txt is an index. Readers stop early or skip a file of this size.",
        "Link to pages or section files instead of including their text.";
    /// Text precedes the title.
    LLMS_LATE_TITLE = "LL006" "llms-text-before-title" (advice, "D82")
        "text precedes the title",
        "Readers expect the title at the beginning of the file.",
        "Move the text below the title.";
    /// Link is neither an http or https URL nor a path of the site.
    LLMS_BAD_LINK = "LL007" "llms-bad-link" (advice, "D82")
        "link is neither an http or https URL nor a path of the site",
        "Readers cannot follow the link.",
        "Write an absolute URL, or a path that begins with `/`.";
}
