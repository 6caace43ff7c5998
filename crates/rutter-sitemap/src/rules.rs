//! Rules of layer SM: problems in sitemaps.

rutter_finding::rules! {
    NOT_A_SITEMAP = "SM001" "not-a-sitemap" (fatal, "SPX-039") {
        title: "input is not a sitemap",
        why: "A sitemap is XML with the root element `urlset` or `sitemapindex`, or a text file with one URL per line.",
        fix: "Check the URL or path. Servers often send an error page at the URL of a missing sitemap.",
        wrong in "sitemap.xml": "<html><body>Not found</body></html>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    DOCTYPE = "SM002" "doctype-not-allowed" (fatal, "D15") {
        title: "sitemap contains a DOCTYPE",
        why: "Sitemaps need no DOCTYPE. Entities declared in it can exhaust memory or read local files.",
        fix: "Delete the DOCTYPE. Write characters directly, or as &amp; and &lt;.",
        wrong in "sitemap.xml":
            r#"<!DOCTYPE urlset [<!ENTITY home "https://harbour.example/">]>"#,
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>&home;</loc></url>",
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    MALFORMED_XML = "SM003" "malformed-xml" (fatal, "SPX-039") {
        title: "sitemap is not well-formed XML",
        why: "Crawlers stop at the first syntax error and do not read the rest.",
        fix: "Escape `&` as `&amp;` and `<` as `&lt;`, and close every element.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/?a=1&b=2</loc></url>",
        right: "<url><loc>https://harbour.example/?a=1&amp;b=2</loc></url>",
    }
    TOO_DEEP = "SM004" "xml-too-deep" (fatal, "D89") {
        title: "elements are nested too deeply",
        why: "A sitemap needs four levels. Deeper nesting can be an attack on the reader's memory.",
        fix: "Write entries directly below the root element.",
        wrong: "Hundreds of nested elements.",
        right: "`url` directly inside `urlset`, and its fields directly inside `url`.",
    }
    TOO_LONG = "SM005" "xml-part-too-long" (fatal, "D89") {
        title: "tag is too long, or has too many attributes or namespaces",
        why: "Readers limit the size of a tag to protect their memory. Without this tag, readers cannot determine the structure of the file, so they stop.",
        fix: "Shorten the attributes, or remove attributes and namespace declarations. A missing closing quotation mark also makes a tag too long.",
        wrong: "A start tag with an attribute of several megabytes.",
        right: "Tags of a few hundred bytes.",
    }
    TRUNCATED = "SM006" "sitemap-cut-off" (warning, "SPX-039") {
        title: "sitemap ends before the root element is closed",
        why: "The file was truncated while it was written or sent, so entries are missing.",
        fix: "Write or download the file again. Do not delete pages because they are missing in a truncated sitemap.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "  <url><loc>https://harbour.example/ti",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "  <url><loc>https://harbour.example/tides.html</loc></url>",
            "</urlset>",
    }
    TOO_MANY_URLS = "SM007" "too-many-urls" (warning, "D17") {
        title: "sitemap has more than 50000 entries",
        why: "Crawlers stop reading after 50000 entries.",
        fix: "Split the sitemap and write a sitemap index.",
        wrong: "One sitemap with 80,000 entries.",
        right: "Two sitemaps with 40,000 entries each, and a `sitemapindex` that lists both.",
    }
    SITEMAP_TOO_LARGE = "SM008" "sitemap-too-large" (warning, "D17") {
        title: "sitemap is larger than 52428800 bytes uncompressed",
        why: "Crawlers stop reading after 52428800 bytes.",
        fix: "Split the sitemap and write a sitemap index.",
        wrong: "One sitemap of 70 MB.",
        right: "Two sitemaps of 35 MB, and a `sitemapindex` that lists both.",
    }
    NAMESPACE = "SM009" "sitemap-namespace" (warning, "SPX-039") {
        title: "root element is not in the sitemaps 0.9 namespace",
        why: "Readers that check the namespace do not recognise the file.",
        fix: "Write xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\", with http and without a trailing slash.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9/">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    NOT_UTF8 = "SM010" "sitemap-not-utf-8" (warning, "SPX-039") {
        title: "sitemap is not UTF-8",
        why: "Sitemaps must be UTF-8. Some readers guess another encoding, others misread the file.",
        fix: "Save the file as UTF-8.",
        wrong: r#"`<?xml version="1.0" encoding="ISO-8859-1"?>` and a file in that encoding."#,
        right: r#"`<?xml version="1.0" encoding="UTF-8"?>` and a file saved as UTF-8."#,
    }
    SPACE_BEFORE_XML = "SM011" "space-before-declaration" (warning, "SPX-039") {
        title: "white space precedes `<?xml`",
        why: "The XML declaration must be at the very beginning. Strict readers reject the file.",
        fix: "Delete the empty lines at the beginning of the file.",
        wrong in "sitemap.xml":
            r#" <?xml version="1.0" encoding="UTF-8"?>"#,
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
        right:
            r#"<?xml version="1.0" encoding="UTF-8"?>"#,
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    LOC_MISSING = "SM012" "loc-missing" (warning, "SPX-039") {
        title: "entry has no `loc`",
        why: "Readers skip an entry without a URL.",
        fix: "Write the URL of the page as `loc`.",
        wrong in "entry of sitemap.xml": "<url><lastmod>2026-05-01</lastmod></url>",
        right: "<url><loc>https://harbour.example/tides.html</loc><lastmod>2026-05-01</lastmod></url>",
    }
    LOC_BAD = "SM013" "loc-not-an-address" (warning, "SPX-039") {
        title: "`loc` is not an absolute http or https URL",
        why: "Crawlers skip the entry.",
        fix: "Write the full URL, with spaces and other special characters percent-encoded.",
        wrong in "entry of sitemap.xml": "<url><loc>/tides.html</loc></url>",
        right: "<url><loc>https://harbour.example/tides.html</loc></url>",
    }
    LOC_TOO_LONG = "SM014" "loc-too-long" (warning, "SPX-039") {
        title: "`loc` is longer than 2048 characters",
        why: "The sitemap schema allows at most 2048 characters. Readers skip the entry.",
        fix: "Give the page a shorter URL.",
        wrong: "A `loc` of 3,000 characters, most of them query parameters.",
        right: "The canonical URL of the page, without tracking parameters.",
    }
    LASTMOD_BAD = "SM015" "bad-lastmod" (warning, "D91") {
        title: "`lastmod` is not a valid date",
        why: "Readers treat the modification time as unknown.",
        fix: "Write a date such as 2026-05-01 or 2026-05-01T12:00:00Z.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/</loc><lastmod>1 May 2026</lastmod></url>",
        right: "<url><loc>https://harbour.example/</loc><lastmod>2026-05-01</lastmod></url>",
    }
    LASTMOD_NO_ZONE = "SM016" "lastmod-without-zone" (advice, "D19") {
        title: "`lastmod` has a time without a time zone",
        why: "Readers assume UTC, which may differ from the intended time by hours.",
        fix: "Append Z or an offset such as +02:00.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/</loc><lastmod>2026-05-01T12:00:00</lastmod></url>",
        right: "<url><loc>https://harbour.example/</loc><lastmod>2026-05-01T12:00:00+02:00</lastmod></url>",
    }
    CHANGEFREQ_BAD = "SM017" "bad-changefreq" (warning, "D91") {
        title: "`changefreq` is not one of the seven allowed values",
        why: "Readers ignore the value.",
        fix: "Write always, hourly, daily, weekly, monthly, yearly or never.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/</loc><changefreq>often</changefreq></url>",
        right: "<url><loc>https://harbour.example/</loc><changefreq>daily</changefreq></url>",
    }
    PRIORITY_BAD = "SM018" "bad-priority" (warning, "SPX-039") {
        title: "`priority` is not a number from 0.0 to 1.0",
        why: "Readers ignore the value.",
        fix: "Write a number such as 0.8.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/</loc><priority>8</priority></url>",
        right: "<url><loc>https://harbour.example/</loc><priority>0.8</priority></url>",
    }
    FOREIGN_LATE = "SM019" "foreign-after-entries" (advice, "D14") {
        title: "element of another namespace follows the first entry",
        why: "The schema requires such elements before all entries. Strict readers reject the file.",
        fix: "Write such elements directly after the start tag of the root element.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:scp="https://scp-protocol.org/schemas/sitemap/1.0">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "  <scp:version>0.1</scp:version>",
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:scp="https://scp-protocol.org/schemas/sitemap/1.0">"#,
            "  <scp:version>0.1</scp:version>",
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    NO_URL = "SM020" "no-entries" (advice, "D14") {
        title: "sitemap has no entries",
        why: "The schema requires at least one entry. Crawlers that rely on the sitemap find no pages.",
        fix: "List the pages of the site.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    OTHER_HOST = "SM021" "other-host" (advice, "D88") {
        title: "entry has another host than the first entry",
        why: "Crawlers ignore entries of hosts that the sitemap is not responsible for.",
        fix: "List the page in the sitemap of its own host.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "  <url><loc>https://www.harbour.example/tides.html</loc></url>",
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "  <url><loc>https://harbour.example/tides.html</loc></url>",
            "</urlset>",
    }
    DUPLICATE_LOC = "SM022" "duplicate-loc" (advice, "SPX-039") {
        title: "URL is listed twice",
        why: "Which of the two entries counts depends on the reader.",
        fix: "List each page once.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    UNKNOWN_ELEMENT = "SM023" "unknown-sitemap-element" (warning, "SPX-040") {
        title: "element is not defined in sitemaps 0.9",
        why: "Strict readers reject the file, others skip the element.",
        fix: "Delete the element. Elements of an extension need the namespace of the extension.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/</loc><title>Port Selk</title></url>",
        right: "<url><loc>https://harbour.example/</loc></url>",
    }
    ELEMENT_TWICE = "SM024" "element-twice" (warning, "SPX-039") {
        title: "entry has the same element twice",
        why: "Readers use the first of the two elements.",
        fix: "Keep only the element with the correct value.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/</loc><lastmod>2026-05-01</lastmod><lastmod>2026-05-02</lastmod></url>",
        right: "<url><loc>https://harbour.example/</loc><lastmod>2026-05-02</lastmod></url>",
    }
    LOC_FRAGMENT = "SM025" "loc-with-fragment" (warning, "SPX-047") {
        title: "`loc` has a fragment",
        why: "A fragment does not identify a page. Crawlers fetch the same page several times.",
        fix: "Write the URL without `#` and the part after it.",
        wrong in "entry of sitemap.xml": "<url><loc>https://harbour.example/tides.html#today</loc></url>",
        right: "<url><loc>https://harbour.example/tides.html</loc></url>",
    }
    ALTERNATE_BAD = "SM026" "bad-alternate-link" (advice, "SPX-042") {
        title: "alternate link has no usable `href`",
        why: "Readers skip the link.",
        fix: "Write an absolute URL as `href`.",
        wrong in "sitemap.xml":
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">"#,
            r#"  <url><loc>https://harbour.example/</loc><xhtml:link rel="alternate" hreflang="de"/></url>"#,
            "</urlset>",
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">"#,
            r#"  <url><loc>https://harbour.example/</loc><xhtml:link rel="alternate" hreflang="de" href="https://harbour.example/de/"/></url>"#,
            "</urlset>",
    }
    LINE_BAD = "SM027" "line-not-an-address" (warning, "SPX-039") {
        title: "line of the URL list is not an absolute http or https URL",
        why: "Readers skip the line.",
        fix: "Write one URL per line and nothing else.",
        wrong in "sitemap.txt":
            "https://harbour.example/",
            "tides.html",
        right:
            "https://harbour.example/",
            "https://harbour.example/tides.html",
    }
    LINE_COMMENT = "SM028" "comment-in-list" (note, "SPX-039") {
        title: "URL list contains a comment",
        why: "The format has no comments. Some readers parse the line as a URL.",
        fix: "Delete the line.",
        wrong in "sitemap.txt":
            "https://harbour.example/",
            "# tides",
            "https://harbour.example/tides.html",
        right:
            "https://harbour.example/",
            "https://harbour.example/tides.html",
    }
    IS_FEED = "SM029" "feed-as-sitemap" (advice, "SPX-039") {
        title: "input is an RSS or Atom feed",
        why: "Some crawlers accept feeds, but a feed lists only the newest pages.",
        fix: "Write a sitemap of all pages.",
        wrong in "sitemap.xml": r#"<rss version="2.0"><channel><item><link>https://harbour.example/</link></item></channel></rss>"#,
        right:
            r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
            "  <url><loc>https://harbour.example/</loc></url>",
            "</urlset>",
    }
    ELEMENT_ORDER = "SM030" "element-order" (judge, "SPX-039") {
        title: "elements of an entry are in the wrong order",
        why: "The schema requires loc, lastmod, changefreq, priority, then elements of other namespaces.",
        fix: "Write the elements in that order.",
        wrong in "entry of sitemap.xml": "<url><lastmod>2026-05-01</lastmod><loc>https://harbour.example/</loc></url>",
        right: "<url><loc>https://harbour.example/</loc><lastmod>2026-05-01</lastmod></url>",
    }
    GZIP_DAMAGED = "SM031" "sitemap-gzip-damaged" (warning, "SPX-039") {
        title: "compressed sitemap is damaged",
        why: "Readers use the part that can be decompressed. The other entries are missing.",
        fix: "Compress and upload the file again.",
        wrong: "A `sitemap.xml.gz` that was truncated during the upload.",
        right: "The complete file, compressed once, uploaded under a temporary name and renamed.",
    }

    ENTRY_TOO_LARGE = "SM032" "sitemap-entry-too-large" (warning, "D89") {
        title: "text, list or tag in an entry is larger than the limit",
        why: "Readers drop this part and read the rest of the entry and of the file.",
        fix: "Write at most 1,000 images and 1,000 alternate links per page, and texts shorter than 1 MiB.",
        wrong: "One `url` with 20,000 `image:image` elements.",
        right: "At most 1,000 images per page, as the image extension asks.",
    }

}
