//! A table: the rules about robots.txt, sitemaps and llms.txt.

rutter_finding::rules! {
    /// An Allow or Disallow line that nobody obeys.
    RULE_OUTSIDE_GROUP = "RB001" "rule-outside-group" (warning, "RFC 9309, 2.1")
        "rule stands before any `User-agent` line",
        "A rule belongs to the group above it; without one, every crawler ignores it.",
        "Write a `User-agent` line above it.";
    /// A word crawlers do not know.
    UNKNOWN_DIRECTIVE = "RB002" "unknown-directive" (note, "RFC 9309, 2.2.4")
        "unknown directive",
        "Crawlers ignore it; a Disallow that is spelt wrongly protects nothing.",
        "Check the spelling, or make it a comment.";
    /// A named group cancels the general rules.
    AI_GROUP_LIFTS_RULES = "RB003" "ai-group-lifts-rules" (warning, "D79")
        "group for an AI crawler lacks a Disallow rule that `*` has",
        "A crawler with a group of its own ignores the group for `*`, so the rule is lifted for exactly this crawler.",
        "Repeat the Disallow lines of `*` in the group, or write an Allow line where it is meant.";
    /// A name no crawler can have.
    BAD_AGENT = "RB004" "bad-agent-name" (advice, "RFC 9309, 2.2.1")
        "user agent is not a product token",
        "A product token has only letters, hyphens and underscores; crawlers cut the rest off or ignore the line.",
        "Write the crawler's product token alone, without version and spaces.";
    /// A Sitemap line without host.
    RELATIVE_SITEMAP = "RB005" "relative-sitemap-line" (warning, "RFC 9309, 2.2.4")
        "Sitemap line is not an absolute http or https address",
        "Crawlers do not resolve it against the site.",
        "Write the whole address, beginning with https://.";
    /// More than crawlers read.
    ROBOTS_TOO_LARGE = "RB006" "robots-too-large" (warning, "D81")
        "robots.txt has more than 512000 bytes",
        "Crawlers need not read further than 500 KiB; rules beyond are not obeyed.",
        "Join rules with wildcards, drop groups of crawlers that are gone.";
    /// A delay that is no number.
    BAD_CRAWL_DELAY = "RB007" "bad-crawl-delay" (advice, "D81")
        "Crawl-delay is not a number of seconds",
        "Crawlers that know the line ignore it.",
        "Write a number such as 5 or 0.5.";
    /// A byte order mark.
    ROBOTS_BOM = "RB008" "robots-bom" (hint, "RFC 9309, 2.2")
        "file begins with a byte order mark",
        "Most crawlers skip it; one that does not loses the first line.",
        "Save the file as UTF-8 without a byte order mark.";
    /// Allowed and forbidden at once.
    CONFLICTING_RULES = "RB009" "conflicting-rules" (advice, "RFC 9309, 2.2.2")
        "same pattern is both allowed and forbidden for one agent",
        "Where two rules are equally long, Allow wins, so the Disallow line does nothing.",
        "Delete one of the two.";
    /// A habit of crawlers, not of the standard.
    MISSPELT_DIRECTIVE = "RB010" "misspelt-directive" (warning, "RFC 9309, 2.2")
        "line is understood only by guessing",
        "Some crawlers guess a missing colon or a known misspelling, others ignore the line.",
        "Write `User-agent:`, `Allow:`, `Disallow:` or `Sitemap:`.";
    /// A pattern that matches nothing.
    BAD_PATTERN = "RB011" "pattern-without-slash" (advice, "RFC 9309, 2.2.2")
        "pattern begins with neither `/` nor `*`",
        "Paths begin with `/`, so the rule never matches.",
        "Write a leading `/`.";
    /// Bytes that are no text.
    ROBOTS_NOT_TEXT = "RB012" "robots-not-utf-8" (advice, "RFC 9309, 2.2")
        "line has bytes that are not UTF-8 text",
        "Crawlers may read them differently.",
        "Save the file as UTF-8.";
    /// A line that is cut.
    ROBOTS_LINE_TOO_LONG = "RB013" "robots-line-too-long" (advice, "D89")
        "line has more than 16664 bytes",
        "Crawlers cut it; what remains may mean something else.",
        "Write several shorter lines.";
    /// An error page under the name of robots.txt.
    ROBOTS_IS_HTML = "RB014" "robots-is-html" (warning, "RFC 9309, 2.3")
        "file is an HTML page",
        "A server that answers with a page instead of robots.txt has no rules at all.",
        "Let the server answer /robots.txt with the file, or with status 404.";
    /// Agents with no rule.
    EMPTY_GROUP = "RB015" "group-without-rules" (hint, "RFC 9309, 2.2.1")
        "group has no rule",
        "These crawlers may fetch everything, whatever the group for `*` says.",
        "Write `Disallow:` with nothing behind it where that is meant.";

    /// Something else.
    NOT_A_SITEMAP = "SM001" "not-a-sitemap" (fatal, "SPX-039")
        "input is not a sitemap",
        "Wanted is XML with the root `urlset` or `sitemapindex`, or a plain list of addresses.",
        "Give the sitemap itself; servers often send an error page under its name.";
    /// A document type declaration.
    DOCTYPE = "SM002" "doctype-not-allowed" (fatal, "D15")
        "DOCTYPE not allowed",
        "Sitemaps have none, and entities declared there are a way to fill memory or read files.",
        "Delete the DOCTYPE; write characters as they are, or as &amp; and &lt;.";
    /// Not XML.
    MALFORMED_XML = "SM003" "malformed-xml" (fatal, "SPX-039")
        "XML is not well-formed",
        "Crawlers stop at the first such fault and never see what follows.",
        "Escape `&` as `&amp;` and `<` as `&lt;`; close what is opened.";
    /// Elements in elements in elements.
    TOO_DEEP = "SM004" "xml-too-deep" (fatal, "D89")
        "elements are nested too deeply",
        "A sitemap needs four levels; many more are a trap.",
        "Write entries directly under the root.";
    /// One tag or text fills memory.
    TOO_LONG = "SM005" "xml-part-too-long" (fatal, "D89")
        "one tag, or the root, is larger than the limit",
        "Tags are bounded to protect the memory of readers; without its start tag an element cannot be read.",
        "Shorten the tag.";
    /// The end is missing.
    TRUNCATED = "SM006" "sitemap-cut-off" (warning, "SPX-039")
        "sitemap ends before its root is closed",
        "It was cut while it was written or sent; entries are missing.",
        "Write or fetch it again; never delete anything because of it.";
    /// Over 50,000.
    TOO_MANY_URLS = "SM007" "too-many-urls" (warning, "D17")
        "sitemap has more than 50000 entries",
        "Crawlers stop reading there.",
        "Split it and write a sitemap index.";
    /// Over 50 MB.
    SITEMAP_TOO_LARGE = "SM008" "sitemap-too-large" (warning, "D17")
        "sitemap has more than 52428800 bytes uncompressed",
        "Crawlers stop reading there.",
        "Split it and write a sitemap index.";
    /// Not the namespace of sitemaps.org 0.9.
    NAMESPACE = "SM009" "sitemap-namespace" (warning, "SPX-039")
        "root is not in the namespace of sitemaps 0.9",
        "Strict readers do not recognise the file.",
        "Write xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\", with http and without a final slash.";
    /// Another encoding.
    NOT_UTF8 = "SM010" "sitemap-not-utf-8" (warning, "SPX-039")
        "sitemap is not UTF-8",
        "Sitemaps must be UTF-8; other encodings are guessed by some readers and misread by others.",
        "Save the file as UTF-8.";
    /// White space before the declaration.
    SPACE_BEFORE_XML = "SM011" "space-before-declaration" (warning, "SPX-039")
        "white space stands before `<?xml`",
        "The declaration must be the very first thing; strict readers refuse the file.",
        "Delete the empty lines at its beginning.";
    /// No address.
    LOC_MISSING = "SM012" "loc-missing" (warning, "SPX-039")
        "entry has no `loc`",
        "Without an address there is nothing to fetch; the entry is skipped.",
        "Write the page's address as `loc`.";
    /// A bad address.
    LOC_BAD = "SM013" "loc-not-an-address" (warning, "SPX-039")
        "`loc` is not an absolute http or https address",
        "Crawlers skip the entry.",
        "Write the whole address, with spaces and other characters percent-encoded.";
    /// A long address.
    LOC_TOO_LONG = "SM014" "loc-too-long" (warning, "SPX-039")
        "`loc` has more than 2048 characters",
        "The schema of sitemaps ends there; the entry is skipped.",
        "Give the page a shorter address.";
    /// A date that is none.
    LASTMOD_BAD = "SM015" "bad-lastmod" (warning, "D91")
        "`lastmod` is not a date",
        "Readers treat the time of change as unknown.",
        "Write a date such as 2026-05-01 or 2026-05-01T12:00:00Z.";
    /// A time of nowhere.
    LASTMOD_NO_ZONE = "SM016" "lastmod-without-zone" (advice, "D19")
        "`lastmod` has a time but no zone",
        "It is read as UTC, which may be off by hours.",
        "Append Z, or the offset such as +02:00.";
    /// An unknown frequency.
    CHANGEFREQ_BAD = "SM017" "bad-changefreq" (warning, "D91")
        "`changefreq` is not one of the seven words",
        "Readers ignore it.",
        "Write always, hourly, daily, weekly, monthly, yearly or never.";
    /// Not between 0 and 1.
    PRIORITY_BAD = "SM018" "bad-priority" (warning, "SPX-039")
        "`priority` is not a number from 0.0 to 1.0",
        "Readers ignore it.",
        "Write a number such as 0.8.";
    /// Foreign elements in the wrong place.
    FOREIGN_LATE = "SM019" "foreign-after-entries" (advice, "D14")
        "element of another namespace stands behind the first entry",
        "The schema wants such elements before all entries; strict readers refuse the file.",
        "Write them right behind the root's start tag.";
    /// No entry.
    NO_URL = "SM020" "no-entries" (advice, "D14")
        "sitemap has no entry",
        "The schema wants at least one, and crawlers that know nothing else find nothing.",
        "List the pages of the site.";
    /// Somebody else's page.
    OTHER_HOST = "SM021" "other-host" (advice, "D88")
        "entry belongs to another host than the first",
        "Crawlers ignore entries of hosts the sitemap does not speak for.",
        "List the page in the sitemap of its own host.";
    /// An address twice.
    DUPLICATE_LOC = "SM022" "duplicate-loc" (advice, "SPX-039")
        "address is listed twice",
        "Readers take one of the entries, and nobody knows which.",
        "List each page once.";
    /// An element sitemaps do not have.
    UNKNOWN_ELEMENT = "SM023" "unknown-sitemap-element" (warning, "SPX-040")
        "element does not exist in sitemaps 0.9",
        "Strict readers refuse the file, others skip the element.",
        "Delete it, or put it into a namespace of its own.";
    /// The same thing twice.
    ELEMENT_TWICE = "SM024" "element-twice" (warning, "SPX-039")
        "entry has the same element twice",
        "The first counts.",
        "Keep one of them.";
    /// A fragment.
    LOC_FRAGMENT = "SM025" "loc-with-fragment" (warning, "SPX-047")
        "`loc` has a fragment",
        "A fragment is no page of its own; crawlers fetch the same page again and again.",
        "Write the address up to the `#`.";
    /// A link to nowhere.
    ALTERNATE_BAD = "SM026" "bad-alternate-link" (advice, "SPX-042")
        "alternate link has no usable `href`",
        "Readers skip it.",
        "Write an absolute address as href.";
    /// A line that is no address.
    LINE_BAD = "SM027" "line-not-an-address" (warning, "SPX-039")
        "line of the list is not an absolute http or https address",
        "Readers skip the line.",
        "Write one address per line and nothing else.";
    /// A comment.
    LINE_COMMENT = "SM028" "comment-in-list" (note, "SPX-039")
        "list of addresses has a comment",
        "The format knows none; some readers take the line for an address.",
        "Delete the line.";
    /// A news feed.
    IS_FEED = "SM029" "feed-as-sitemap" (advice, "SPX-039")
        "input is an RSS or Atom feed",
        "Some crawlers accept it, but a feed names the newest pages only.",
        "Write a sitemap of all pages.";
    /// Out of order.
    ELEMENT_ORDER = "SM030" "element-order" (judge, "SPX-039")
        "elements of an entry are out of order",
        "The schema wants loc, lastmod, changefreq, priority, then elements of other namespaces.",
        "Write them in that order.";
    /// Compressed, but broken.
    GZIP_DAMAGED = "SM031" "sitemap-gzip-damaged" (warning, "SPX-039")
        "compressed sitemap is damaged",
        "What could be decompressed is read; entries are missing.",
        "Compress and upload the file again.";

    /// An entry beyond a limit.
    ENTRY_TOO_LARGE = "SM032" "sitemap-entry-too-large" (warning, "D89")
        "part of an entry is larger than the limit",
        "That part is left out; the rest of the entry and of the file is read.",
        "Write at most 1,000 images and 1,000 alternate links per page, and texts below 1 MiB.";

    /// No heading.
    LLMS_NO_TITLE = "LL001" "llms-without-title" (warning, "D82")
        "file has no heading of the first level",
        "It is the only part the format demands, and names the site.",
        "Begin with `# Name of the site`.";
    /// No block quote.
    LLMS_NO_SUMMARY = "LL002" "llms-without-summary" (note, "D82")
        "file has no summary",
        "A quoted line below the title tells a reader whether to go on.",
        "Write `> ` and one sentence below the title.";
    /// An item that leads nowhere.
    LLMS_NO_LINK = "LL003" "llms-item-without-link" (advice, "D82")
        "list item has no link",
        "Sections are lists of links; readers skip other items.",
        "Write `- [title](https://…): note`.";
    /// An HTML page.
    LLMS_IS_HTML = "LL004" "llms-is-html" (warning, "D82")
        "file is an HTML page",
        "Servers that answer every address with a page hide that there is no llms.txt.",
        "Let the server answer with the file, or with status 404.";
    /// Too large to be read at once.
    LLMS_TOO_LARGE = "LL005" "llms-too-large" (advice, "D89")
        "file has more than 1000000 bytes",
        "It is an index; readers stop early, or leave it.",
        "Link to pages or to section files instead of holding them.";
    /// Not the first thing.
    LLMS_LATE_TITLE = "LL006" "llms-text-before-title" (advice, "D82")
        "text stands before the title",
        "Readers look for the title at the beginning.",
        "Move the text below the title.";
    /// An address that is none.
    LLMS_BAD_LINK = "LL007" "llms-bad-link" (advice, "D82")
        "link is neither an http or https address nor a path of the site",
        "Readers cannot follow it.",
        "Write an absolute address, or a path that begins with `/`.";
}
