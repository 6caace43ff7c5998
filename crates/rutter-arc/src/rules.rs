//! Rules of layer AR: problems in ARC sitemaps, policies and annotations.

rutter_finding::rules! {
    NOT_JSON = "AR001" "arc-not-json" (fatal, "ARC-006") {
        title: "file is not a single JSON document",
        why: "The file is damaged, so readers cannot trust any statement in it. A guess could turn a restriction into permission.",
        fix: "Write the file with a JSON library, with nothing after the last brace.",
        wrong in "arc-sitemap.json": r#"{"arc_sitemap_version": "2.1", "pages": [],}"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": []}"#,
    }
    NOT_AN_OBJECT = "AR002" "arc-not-an-object" (fatal, "ARC-042") {
        title: "document is not a JSON object",
        why: "Version, site and pages must be members of one object.",
        fix: "Write the pages as the member `pages` of an object.",
        wrong in "arc-sitemap.json": r#"[{"url": "https://harbour.example/", "ai_indexable": true}]"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": [{"url": "https://harbour.example/", "ai_indexable": true}]}"#,
    }
    NOT_UTF8 = "AR003" "arc-not-utf-8" (fatal, "ARC-006") {
        title: "file is not UTF-8",
        why: "JSON must be UTF-8. Any other encoding would be a guess.",
        fix: "Save the file as UTF-8.",
        wrong: "A summary with the byte E9 (`é` in Latin-1).",
        right: "The same summary in UTF-8.",
    }
    TOO_LARGE = "AR004" "arc-too-large" (fatal, "D89") {
        title: "file is larger than the limit",
        why: "Readers must limit what they read, and a partly read sitemap may lack an entry that restricts a page.",
        fix: "Publish dated deltas, and omit the snapshots from the full sitemap.",
        wrong: "A sitemap of several gigabytes with snapshots of all pages.",
        right: "A full sitemap without snapshots, and dated deltas.",
    }
    TRUNCATED = "AR005" "arc-truncated" (fatal, "ARC-006") {
        title: "file ends before the document is complete",
        why: "The missing part may restrict pages of the part that is present, so readers use no part of the file.",
        fix: "Publish the file again. Write it to a temporary file first, then rename it.",
        wrong in "arc-sitemap.json": r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "pages": [{"url": "https://harb"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": []}"#,
    }
    TOO_DEEP = "AR006" "arc-too-deep" (fatal, "D89") {
        title: "value is nested too deeply",
        why: "Readers limit the nesting to protect their memory. No snapshot of a page needs so many levels.",
        fix: "Flatten or omit the snapshot.",
        wrong: "A snapshot with hundreds of nested sections.",
        right: "Page, section, group, field: four levels.",
    }
    VERSION_UNKNOWN = "AR007" "arc-version-unknown" (fatal, "D61") {
        title: "major version is not 2, or the version is not a number",
        why: "The same member names may have another meaning in another major version.",
        fix: "Write `\"arc_sitemap_version\": \"2.1\"`.",
        wrong in "top of arc-sitemap.json": r#"{"arc_sitemap_version": "3.0"}"#,
        right: r#"{"arc_sitemap_version": "2.1"}"#,
    }
    VERSION_MISSING = "AR008" "arc-version-missing" (warning, "ARC-038") {
        title: "member `arc_sitemap_version` is missing",
        why: "The version tells readers which rules apply to the file.",
        fix: "Write `\"arc_sitemap_version\": \"2.1\"` at the top of the document.",
        wrong in "top of arc-sitemap.json": r#"{"site": "https://harbour.example"}"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example"}"#,
    }
    VERSION_FORM = "AR009" "arc-version-form" (warning, "ARC-043") {
        title: "version is not a string of the form `2.1`",
        why: "The schema requires a string.",
        fix: "Write the version in quotes: `\"2.1\"`.",
        wrong in "top of arc-sitemap.json": r#"{"arc_sitemap_version": 2.1}"#,
        right: r#"{"arc_sitemap_version": "2.1"}"#,
    }
    SITE_MISSING = "AR010" "arc-site-missing" (warning, "ARC-042") {
        title: "member `site` is missing",
        why: "Without `site`, readers cannot check whether the pages belong to the site.",
        fix: "Write the URL of the site, for example `\"https://example.com\"`.",
        wrong in "top of arc-sitemap.json": r#"{"arc_sitemap_version": "2.1"}"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example"}"#,
    }
    SITE_FORM = "AR011" "arc-site-form" (warning, "ARC-044") {
        title: "`site` is not an absolute http or https URL",
        why: "Readers compare the page URLs with `site` and do not trust pages that they cannot compare.",
        fix: "Write the URL of the site, for example `\"https://example.com\"`.",
        wrong in "top of arc-sitemap.json": r#"{"site": "harbour.example"}"#,
        right: r#"{"site": "https://harbour.example"}"#,
    }
    GENERATED_MISSING = "AR012" "arc-generated-missing" (warning, "ARC-042") {
        title: "member `generated_at` is missing",
        why: "Readers cannot determine the age of the file.",
        fix: "Write the time at which the file was generated, for example `\"2026-05-01T12:00:00Z\"`.",
        wrong in "top of arc-sitemap.json": r#"{"site": "https://harbour.example"}"#,
        right: r#"{"site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z"}"#,
    }
    GENERATED_FORM = "AR013" "arc-generated-form" (warning, "ARC-045") {
        title: "`generated_at` is not an RFC 3339 date-time",
        why: "Readers that validate with the schema reject the file.",
        fix: "Write a date-time with a time zone, for example `\"2026-05-01T12:00:00Z\"`.",
        wrong in "top of arc-sitemap.json": r#"{"generated_at": "2026-05-01"}"#,
        right: r#"{"generated_at": "2026-05-01T12:00:00Z"}"#,
    }
    PAGES_MISSING = "AR014" "arc-pages-missing" (warning, "ARC-042") {
        title: "member `pages` is missing",
        why: "Without `pages` it is unclear whether the site has no pages or the list was lost.",
        fix: "Write `\"pages\": []` if there are no pages.",
        wrong in "top of arc-sitemap.json": r#"{"site": "https://harbour.example"}"#,
        right: r#"{"site": "https://harbour.example", "pages": []}"#,
    }
    PAGES_FORM = "AR015" "arc-pages-not-an-array" (fatal, "ARC-046") {
        title: "`pages` is not an array",
        why: "Readers cannot separate the entries.",
        fix: "Write `pages` as an array of objects.",
        wrong in "top of arc-sitemap.json": r#"{"pages": {"https://harbour.example/": {"ai_indexable": true}}}"#,
        right: r#"{"pages": [{"url": "https://harbour.example/", "ai_indexable": true}]}"#,
    }
    HEAD_TWICE = "AR016" "arc-member-twice" (warning, "D63") {
        title: "member occurs twice in the document",
        why: "JSON parsers disagree on which value counts, so different readers get different documents.",
        fix: "Delete one of the two members.",
        wrong in "arc-sitemap.json": r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "site": "https://port.example", "generated_at": "2026-05-01T12:00:00Z", "pages": []}"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": []}"#,
    }
    PAGES_TWICE = "AR017" "arc-pages-twice" (fatal, "D63") {
        title: "`pages` occurs twice in the document",
        why: "JSON parsers disagree on which list counts. The other list may restrict a page that this list allows.",
        fix: "Merge the two lists.",
        wrong in "arc-sitemap.json": r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": [], "pages": []}"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": []}"#,
    }
    CRAWL_RATE_FORM = "AR018" "arc-crawl-rate" (advice, "D52") {
        title: "`crawl_rate` is not a number followed by a slash and s, m, min, h or d",
        why: "Crawlers ignore a rate that they cannot parse and use their default rate.",
        fix: "Write a rate such as `\"1/s\"` or `\"30/min\"`.",
        wrong in "top of arc-sitemap.json": r#"{"crawl_rate": "slowly"}"#,
        right: r#"{"crawl_rate": "1/s"}"#,
    }
    HEAD_ALIAS = "AR019" "arc-member-spelling" (advice, "D52") {
        title: "member name is spelt differently in the specification",
        why: "Readers that know only the specified name do not find the member.",
        fix: "Write `crawl_rate` with an underscore and `ai-crawl-contact` with hyphens.",
        wrong in "top of arc-sitemap.json": r#"{"crawl-rate": "1/s"}"#,
        right: r#"{"crawl_rate": "1/s"}"#,
    }
    HEAD_FORM = "AR020" "arc-head-form" (advice, "D60") {
        title: "member of the document has the wrong type or format",
        why: "Readers ignore the member.",
        fix: "Use the type that the specification describes, or omit the member.",
        wrong in "top of arc-sitemap.json": r#"{"deltas": "daily"}"#,
        right: r#"{"deltas": {"template": "https://harbour.example/arc-sitemap-deltas/YYYY-MM-DD.json", "from": "2026-04-02", "to": "2026-05-02"}}"#,
    }
    TOO_MANY_PAGES = "AR021" "arc-too-many-pages" (fatal, "D89") {
        title: "sitemap has more pages than the limit",
        why: "Readers must limit what they read, and an entry after the limit may restrict a page.",
        fix: "Split the site, or omit pages that are not meant for readers.",
        wrong: "One sitemap with tens of millions of entries.",
        right: "One sitemap per host or part of the site.",
    }
    BOM = "AR022" "arc-bom" (advice, "ARC-006") {
        title: "file begins with a byte order mark",
        why: "Most JSON parsers reject the byte order mark.",
        fix: "Save the file as UTF-8 without a byte order mark.",
        wrong: "The bytes EF BB BF before the first `{`.",
        right: "A file that begins with `{`.",
    }
    TOO_LONG = "AR023" "arc-value-too-long" (fatal, "D89") {
        title: "an entry or member is longer than the limit",
        why: "Readers hold one entry in memory at a time, and this entry needs too much memory.",
        fix: "Shorten or omit the snapshot.",
        wrong: "An entry with a snapshot of hundreds of megabytes.",
        right: "A snapshot of sections, labels and fields, without the text of the page.",
    }
    GZIP_DAMAGED = "AR024" "arc-gzip-damaged" (fatal, "ARC-023") {
        title: "compressed data is damaged",
        why: "The missing part may restrict pages of the part that is present, so readers use no part of the file.",
        fix: "Compress the file again.",
        wrong: "An `arc-sitemap.json.gz` that was truncated during the upload.",
        right: "The complete file, compressed once, uploaded under a temporary name and renamed.",
    }
    FROM_THE_FUTURE = "AR025" "arc-from-the-future" (advice, "D50") {
        title: "time is more than a day in the future",
        why: "Readers that compare times do not fetch the page again before the stated time.",
        fix: "Correct the clock of the machine that writes the file.",
        wrong in "top of arc-sitemap.json": r#"{"generated_at": "2099-01-01T00:00:00Z"}"#,
        right: r#"{"generated_at": "2026-05-01T12:00:00Z"}"#,
    }

    TOO_MANY_MEMBERS = "AR026" "arc-too-many-members" (advice, "D89") {
        title: "entry or document has more than 256 members that ARC does not define; the rest is ignored",
        why: "Unknown members are kept in memory. So many of them are a mistake or an attack.",
        fix: "Put custom data into a single member.",
        wrong: "Three hundred custom members in one entry.",
        right: "One custom member that contains an object.",
    }
    URL_CHARACTERS = "AR027" "arc-url-characters" (warning, "ARC-047") {
        title: "URL contains characters that must be percent-encoded",
        why: "The schema requires a URI. Readers that validate with the schema reject the file.",
        fix: "Percent-encode all characters that RFC 3986 does not allow.",
        wrong in "entry of arc-sitemap.json": r#"{"url": "https://harbour.example/häfen"}"#,
        right: r#"{"url": "https://harbour.example/h%C3%A4fen"}"#,
    }

    ENTRY_NOT_OBJECT = "AR030" "arc-entry-not-an-object" (warning, "ARC-046") {
        title: "entry is not an object and is skipped",
        why: "A URL alone does not state whether the page may be used.",
        fix: "Write `{\"url\": …, \"ai_indexable\": …}`.",
        wrong in "top of arc-sitemap.json": r#"{"pages": ["https://harbour.example/tides"]}"#,
        right: r#"{"pages": [{"url": "https://harbour.example/tides", "ai_indexable": true}]}"#,
    }
    URL_MISSING = "AR031" "arc-url-missing" (warning, "ARC-010") {
        title: "entry has no `url` and is skipped",
        why: "Readers cannot determine the page that the entry describes.",
        fix: "Write the canonical URL of the page.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": true}"#,
        right: r#"{"url": "https://harbour.example/tides", "ai_indexable": true}"#,
    }
    URL_FORM = "AR032" "arc-url-form" (warning, "ARC-047") {
        title: "`url` is not an absolute URL; the entry is skipped",
        why: "Readers cannot determine the page that the entry describes.",
        fix: "Write the full URL, beginning with https://.",
        wrong in "entry of arc-sitemap.json": r#"{"url": "/tides"}"#,
        right: r#"{"url": "https://harbour.example/tides"}"#,
    }
    URL_NOT_A_PAGE = "AR033" "arc-url-not-a-page" (warning, "ARC-010") {
        title: "`url` is not an http or https URL of a page; the entry is skipped",
        why: "URLs with other schemes, or with a password, do not identify a public page.",
        fix: "Write the canonical http or https URL of the page, without user name and password.",
        wrong in "entry of arc-sitemap.json": r#"{"url": "ftp://harbour.example/tides"}"#,
        right: r#"{"url": "https://harbour.example/tides"}"#,
    }
    OTHER_HOST = "AR034" "arc-other-host" (advice, "D88") {
        title: "page belongs to another site; the entry is skipped",
        why: "A site can make statements only about its own pages. `www.example.com` and `example.com` are different hosts.",
        fix: "List the page in the sitemap of its own site.",
        wrong in "entry of arc-sitemap.json": r#"{"url": "https://www.harbour.example/tides"}"#,
        right: r#"{"url": "https://harbour.example/tides"}"#,
    }
    URL_TWICE = "AR035" "arc-url-twice" (warning, "ARC-010") {
        title: "page has more than one entry",
        why: "Readers disagree on which entry counts. Rutter uses the most restrictive one.",
        fix: "Keep one entry per page.",
        wrong in "top of arc-sitemap.json": r#"{"pages": [{"url": "https://harbour.example/tides", "ai_indexable": true}, {"url": "https://harbour.example/tides", "ai_indexable": false}]}"#,
        right: r#"{"pages": [{"url": "https://harbour.example/tides", "ai_indexable": false}]}"#,
    }
    INDEXABLE_MISSING = "AR036" "arc-indexable-missing" (warning, "ARC-012") {
        title: "entry has no `ai_indexable`, which is read as false",
        why: "A missing statement is not consent.",
        fix: "Write true or false.",
        wrong in "entry of arc-sitemap.json": r#"{"url": "https://harbour.example/tides"}"#,
        right: r#"{"url": "https://harbour.example/tides", "ai_indexable": true}"#,
    }
    INDEXABLE_FORM = "AR037" "arc-indexable-not-boolean" (warning, "ARC-048") {
        title: "`ai_indexable` is not a boolean and is read as false",
        why: "Some programs treat the string \"false\" as true. Only the value true counts as consent.",
        fix: "Write true or false without quotes.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": "false"}"#,
        right: r#"{"ai_indexable": false}"#,
    }
    NULL_MEMBER = "AR038" "arc-null" (warning, "ARC-049") {
        title: "member is null and is treated as missing",
        why: "The schema does not allow null.",
        fix: "Omit the member.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": true, "ai_summary": null}"#,
        right: r#"{"ai_indexable": true}"#,
    }
    MEMBER_FORM = "AR039" "arc-member-type" (warning, "ARC-049") {
        title: "member has the wrong type and is ignored",
        why: "Readers cannot use the member. Readers that validate with the schema reject the file.",
        fix: "Use the type that the specification describes.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_summary": 7}"#,
        right: r#"{"ai_summary": "When the water is high."}"#,
    }
    RESTRICTION_FORM = "AR040" "arc-restriction-type" (warning, "ARC-048") {
        title: "member that may restrict the page has the wrong type; the page is treated as restricted",
        why: "The member shows that a restriction was intended. An unclear statement is not consent.",
        fix: "Write `auth_required` as true or false, and `robots_directive` as a string.",
        wrong in "entry of arc-sitemap.json": r#"{"auth_required": "no"}"#,
        right: r#"{"auth_required": false}"#,
    }
    LASTMOD_FORM = "AR041" "arc-lastmod-form" (warning, "ARC-047") {
        title: "`lastmod` is not an RFC 3339 date-time",
        why: "Readers cannot determine whether the page changed.",
        fix: "Write a date-time with a time zone, for example `\"2026-05-01T12:00:00Z\"`.",
        wrong in "entry of arc-sitemap.json": r#"{"lastmod": "yesterday"}"#,
        right: r#"{"lastmod": "2026-05-01T06:00:00Z"}"#,
    }
    LASTMOD_MISSING = "AR042" "arc-lastmod-missing" (hint, "ARC-011") {
        title: "entry has no `lastmod`",
        why: "Readers must fetch the page again to find out whether it changed.",
        fix: "Write the time at which the page changed.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": true}"#,
        right: r#"{"ai_indexable": true, "lastmod": "2026-05-01T06:00:00Z"}"#,
    }
    PRIORITY_RANGE = "AR043" "arc-priority-range" (warning, "ARC-051") {
        title: "`crawl_priority` is not between 0 and 1 and is ignored",
        why: "Readers compare the priorities of a site on this scale.",
        fix: "Write a number from 0 to 1.",
        wrong in "entry of arc-sitemap.json": r#"{"crawl_priority": 8}"#,
        right: r#"{"crawl_priority": 0.8}"#,
    }
    CHECKSUM_FORM = "AR044" "arc-checksum-form" (advice, "D51") {
        title: "checksum does not consist of an algorithm, a colon and the right number of hexadecimal digits",
        why: "Readers cannot compare the checksum.",
        fix: "Write `sha256:` and 64 hexadecimal digits.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_checksum": "c0ffee"}"#,
        right: r#"{"ai_checksum": "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"}"#,
    }
    TOO_MANY_TAGS = "AR045" "arc-too-many-tags" (advice, "D89") {
        title: "entry has more than 1000 tags; the rest is ignored",
        why: "Tags are used for filtering. So many tags do not distinguish pages.",
        fix: "Keep only the tags that distinguish the page from other pages.",
        wrong: "An entry that has every word of the page as a tag.",
        right: r#"A few tags: `["tides", "harbour"]`."#,
    }
    TAG_FORM = "AR046" "arc-tag-type" (warning, "ARC-050") {
        title: "tag is not a string and is ignored",
        why: "Readers compare tags as text.",
        fix: "Write tags in quotes.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_tags": ["tides", 2026]}"#,
        right: r#"{"ai_tags": ["tides", "2026"]}"#,
    }
    DIRECTIVE_UNKNOWN = "AR047" "arc-directive-unknown" (hint, "D58") {
        title: "robots directive is unknown",
        why: "Crawlers ignore the directive. A misspelt noindex restricts nothing.",
        fix: "Write noindex, nofollow, none, noarchive, nosnippet, noai or noimageai.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": false, "robots_directive": "no-index"}"#,
        right: r#"{"ai_indexable": false, "robots_directive": "noindex"}"#,
    }
    MEMBER_TWICE = "AR048" "arc-entry-member-twice" (warning, "D63") {
        title: "member occurs twice in the entry",
        why: "JSON parsers disagree on which value counts. Rutter uses the more restrictive value.",
        fix: "Delete one of the two members.",
        wrong in "arc-sitemap.json": r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": [{"url": "https://harbour.example/tides", "ai_indexable": true, "ai_indexable": false}]}"#,
        right: r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example", "generated_at": "2026-05-01T12:00:00Z", "pages": [{"url": "https://harbour.example/tides", "ai_indexable": false}]}"#,
    }
    RESTRICTED_CONTENT = "AR049" "arc-restricted-content" (advice, "D56") {
        title: "entry forbids indexing but contains content of the page",
        why: "Readers of the sitemap get this content although the page may not be indexed.",
        fix: "Omit summary, tags, checksum and snapshot.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": false, "ai_summary": "When the water is high."}"#,
        right: r#"{"ai_indexable": false}"#,
    }
    PRIVATE_CONTENT = "AR050" "arc-private-content" (warning, "ARC-025") {
        title: "page requires a login but its entry contains content of the page",
        why: "The sitemap is public, the content of the page is not.",
        fix: "Omit summary, tags, checksum and snapshot, and deliver them to partners only.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": true, "auth_required": true, "ai_summary": "Names and berths of all members."}"#,
        right: r#"{"ai_indexable": true, "auth_required": true}"#,
    }
    SENSITIVE_SNAPSHOT = "AR051" "arc-sensitive-snapshot" (warning, "ARC-025") {
        title: "snapshot is marked sensitive in a public entry",
        why: "A public sitemap must not contain sensitive snapshots.",
        fix: "Mark the page as `auth_required` and omit the snapshot.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_snapshot": {"page": "signup", "ai_context": ["sensitive"]}}"#,
        right: r#"{"ai_snapshot": {"page": "signup", "ai_context": ["form"]}}"#,
    }
    FIELD_VALUE = "AR052" "arc-field-value" (warning, "D59") {
        title: "snapshot contains the value of a form field",
        why: "The value may be personal data that a visitor entered.",
        fix: "Omit the value. The name and the label of the field are sufficient.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_snapshot": {"page": "signup", "fields": [{"field": "name", "value": "Jo Holm"}]}}"#,
        right: r#"{"ai_snapshot": {"page": "signup", "fields": [{"field": "name"}]}}"#,
    }
    SNAPSHOT_PAGE = "AR053" "arc-snapshot-page" (advice, "D62") {
        title: "snapshot has no `page`",
        why: "Appendix D of ARC requires the identity of the page.",
        fix: "Copy the value of `data-ai-page` to `page`.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_snapshot": {"title": "Join"}}"#,
        right: r#"{"ai_snapshot": {"page": "signup", "title": "Join"}}"#,
    }
    SUMMARY_MISSING = "AR054" "arc-summary-missing" (hint, "ARC-013") {
        title: "entry has no `ai_summary`",
        why: "Readers use the summary to choose pages.",
        fix: "Write one or two sentences.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": true}"#,
        right: r#"{"ai_indexable": true, "ai_summary": "When the water is high."}"#,
    }
    SUMMARY_LONG = "AR055" "arc-summary-long" (hint, "ARC-013") {
        title: "summary is longer than 1000 characters",
        why: "A summary should be short. The page contains the details.",
        fix: "Write one or two sentences.",
        wrong: "An `ai_summary` with the full text of the page.",
        right: "One or two sentences.",
    }
    SECRET = "AR056" "arc-secret" (warning, "ARC-063") {
        title: "entry contains a secret",
        why: "Everyone who reads the file can use the secret. Treat it as compromised.",
        fix: "Revoke the secret, then delete it from the page.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_summary": "Sign in with AKIAQ3EGRT7WZ5KLM2NP."}"#,
        right: r#"{"ai_summary": "Sign in with the key you were sent."}"#,
    }
    PERSONAL_DATA = "AR057" "arc-personal-data" (advice, "ARC-063") {
        title: "entry contains personal data",
        why: "Programs that harvest e-mail addresses and telephone numbers read machine-readable files first.",
        fix: "Delete the data from the summary, or mark the page as `auth_required`.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_summary": "Ask jo.holm@port-selk.org."}"#,
        right: r#"{"ai_summary": "Ask the harbour office."}"#,
    }
    CONTRADICTION = "AR058" "arc-contradiction" (advice, "D58") {
        title: "`ai_indexable` is true but the robots directive forbids indexing",
        why: "The more restrictive statement counts, so the page is not indexed.",
        fix: "Make both statements agree.",
        wrong in "entry of arc-sitemap.json": r#"{"ai_indexable": true, "robots_directive": "noindex"}"#,
        right: r#"{"ai_indexable": false, "robots_directive": "noindex"}"#,
    }
    TOMBSTONE = "AR059" "arc-tombstone" (warning, "D60") {
        title: "entry of a removed page lacks `ai_indexable` false or the directive noindex",
        why: "Readers that do not know `removed` keep the page.",
        fix: "Write `\"ai_indexable\": false, \"robots_directive\": \"noindex\", \"removed\": true`.",
        wrong in "top of arc-sitemap-deltas/2026-05-01.json": r#"{"pages": [{"url": "https://harbour.example/old", "removed": true, "ai_indexable": true}]}"#,
        right: r#"{"pages": [{"url": "https://harbour.example/old", "removed": true, "ai_indexable": false, "robots_directive": "noindex"}]}"#,
    }

    TOMBSTONE_PLACE = "AR060" "arc-tombstone-place" (advice, "D60") {
        title: "removed page is listed in a full sitemap",
        why: "A full sitemap lists only existing pages. Removals belong in the dated deltas.",
        fix: "Delete the entry.",
        wrong in "top of arc-sitemap.json": r#"{"pages": [{"url": "https://harbour.example/old", "removed": true, "ai_indexable": false, "robots_directive": "noindex"}]}"#,
        right: r#"{"pages": []}"#,
    }
    DAY_NAME = "AR061" "arc-delta-name" (advice, "ARC-039") {
        title: "file name of the delta is not a date",
        why: "Readers request `/arc-sitemap-deltas/YYYY-MM-DD.json`.",
        fix: "Name the file after the day (UTC) of its changes.",
        wrong: "`/arc-sitemap-deltas/may-1.json`",
        right: "`/arc-sitemap-deltas/2026-05-01.json`",
    }
    DAY_WINDOW = "AR062" "arc-delta-window" (advice, "ARC-040") {
        title: "delta has no `since` or no `until`",
        why: "Without the covered time span readers cannot determine whether a change is missing.",
        fix: "Write `since` and `until`.",
        wrong in "top of arc-sitemap-deltas/2026-05-01.json": r#"{"generated_at": "2026-05-02T00:00:00Z"}"#,
        right: r#"{"generated_at": "2026-05-02T00:00:00Z", "since": "2026-05-01T00:00:00Z", "until": "2026-05-02T00:00:00Z"}"#,
    }
    DAY_ORDER = "AR063" "arc-delta-order" (warning, "ARC-040") {
        title: "`since` is later than `until`",
        why: "A time span cannot end before it begins.",
        fix: "Correct the two times. They are probably swapped.",
        wrong in "top of arc-sitemap-deltas/2026-05-01.json": r#"{"since": "2026-05-01T18:00:00Z", "until": "2026-05-01T00:00:00Z"}"#,
        right: r#"{"since": "2026-05-01T00:00:00Z", "until": "2026-05-01T18:00:00Z"}"#,
    }
    DAY_OTHER = "AR064" "arc-delta-other-day" (advice, "D60") {
        title: "delta covers another day than its file name says",
        why: "Readers that request a day get the changes of another day.",
        fix: "Name the file after the day (UTC) of its changes.",
        wrong in "top of arc-sitemap-deltas/2026-05-01.json": r#"{"since": "2026-04-11T00:00:00Z", "until": "2026-04-12T00:00:00Z"}"#,
        right: r#"{"since": "2026-05-01T00:00:00Z", "until": "2026-05-02T00:00:00Z"}"#,
    }

    YAML_FORM = "AR070" "arc-yaml" (fatal, "D63") {
        title: "file is not a single YAML document of plain lists and mappings",
        why: "The file is damaged, so readers cannot trust any statement in it. A guess could turn a restriction into permission.",
        fix: "Use quoted strings, true and false, lists and mappings only.",
        wrong in "arc-sitemap.yaml":
            r#"arc_sitemap_version: "2.1""#,
            r#"	site: "https://harbour.example""#,
        right:
            r#"arc_sitemap_version: "2.1""#,
            r#"site: "https://harbour.example""#,
            r#"generated_at: "2026-05-01T12:00:00Z""#,
            "pages: []",
    }
    YAML_FORBIDDEN = "AR071" "arc-yaml-forbidden" (fatal, "D63") {
        title: "YAML contains anchors, aliases, tags or directives",
        why: "These features can expand a small file without limit or create arbitrary objects in a program.",
        fix: "Write each value where it is used, without anchors, aliases, tags and directives.",
        wrong in "arc-sitemap.yaml":
            r#"arc_sitemap_version: "2.1""#,
            r#"site: &home "https://harbour.example""#,
            r#"generated_at: "2026-05-01T12:00:00Z""#,
            "pages: []",
        right:
            r#"arc_sitemap_version: "2.1""#,
            r#"site: "https://harbour.example""#,
            r#"generated_at: "2026-05-01T12:00:00Z""#,
            "pages: []",
    }
    YAML_TOO_LARGE = "AR072" "arc-yaml-too-large" (fatal, "D63") {
        title: "YAML file is larger than 8 MiB",
        why: "A YAML file must be loaded into memory as a whole.",
        fix: "Publish only the JSON file.",
        wrong: "An `arc-sitemap.yaml` of 20 MB.",
        right: "Only `arc-sitemap.json`, with the same pages.",
    }
    YAML_TWICE = "AR073" "arc-yaml-key-twice" (fatal, "D63") {
        title: "key occurs twice in a mapping",
        why: "YAML forbids duplicate keys, and parsers disagree on which value counts.",
        fix: "Delete one of the two keys.",
        wrong in "arc-sitemap.yaml":
            r#"arc_sitemap_version: "2.1""#,
            r#"site: "https://harbour.example""#,
            r#"site: "https://port.example""#,
            r#"generated_at: "2026-05-01T12:00:00Z""#,
            "pages: []",
        right:
            r#"arc_sitemap_version: "2.1""#,
            r#"site: "https://harbour.example""#,
            r#"generated_at: "2026-05-01T12:00:00Z""#,
            "pages: []",
    }
    POINTER_FORM = "AR074" "arc-pointer" (warning, "ARC-007") {
        title: "JSON-LD file does not reference an ARC sitemap",
        why: "The JSON-LD file leads readers to the sitemap. Readers look for a Dataset with the name `ARC Sitemap` or with a JSON download.",
        fix: "Write a Dataset with `name`, `url` and a DataDownload.",
        wrong in "arc-sitemap.jsonld": r#"{"@context": "https://schema.org", "@type": "WebSite", "name": "Port Selk"}"#,
        right: r#"{"@context": "https://schema.org", "@type": "Dataset", "name": "ARC Sitemap", "url": "https://harbour.example/arc-sitemap.json", "distribution": [{"@type": "DataDownload", "encodingFormat": "application/json", "contentUrl": "https://harbour.example/arc-sitemap.json"}]}"#,
    }
    POINTER_URL = "AR075" "arc-pointer-url" (advice, "D53") {
        title: "DataDownload has no `contentUrl`",
        why: "Readers use the `url` of the Dataset instead.",
        fix: "Write the URL of the sitemap as `contentUrl`.",
        wrong in "arc-sitemap.jsonld": r#"{"@context": "https://schema.org", "@type": "Dataset", "name": "ARC Sitemap", "url": "https://harbour.example/arc-sitemap.json", "distribution": [{"@type": "DataDownload", "encodingFormat": "application/json"}]}"#,
        right: r#"{"@context": "https://schema.org", "@type": "Dataset", "name": "ARC Sitemap", "url": "https://harbour.example/arc-sitemap.json", "distribution": [{"@type": "DataDownload", "encodingFormat": "application/json", "contentUrl": "https://harbour.example/arc-sitemap.json"}]}"#,
    }

    POLICY_FORM = "AR080" "arc-policy" (warning, "ARC-028") {
        title: "policy is not a JSON object of at most 256 KB",
        why: "Readers treat an unreadable policy as missing, never as permission.",
        fix: "Write a single JSON object.",
        wrong in "arc-policy.json": "No training, please.",
        right: r#"{"retention": {"max_days": 90}, "access": {"default": "deny"}, "approved_consumers": []}"#,
    }
    POLICY_MEMBER = "AR081" "arc-policy-member" (advice, "D55") {
        title: "member of the policy has the wrong type or format",
        why: "Readers ignore the member. It grants no permission.",
        fix: "Use the type that the specification describes, or omit the member.",
        wrong in "top of arc-policy.json": r#"{"retention": {"max_days": "ninety"}}"#,
        right: r#"{"retention": {"max_days": 90}}"#,
    }
    POLICY_AREA = "AR082" "arc-policy-area" (advice, "ARC-028") {
        title: "policy does not state retention, access or approved consumers",
        why: "A policy must cover all three. Readers do not take a missing statement as permission.",
        fix: "Add the missing member. An empty list of consumers means that no consumer is approved.",
        wrong in "top of arc-policy.json": r#"{"retention": {"max_days": 90}}"#,
        right: r#"{"retention": {"max_days": 90}, "access": {"default": "deny"}, "approved_consumers": []}"#,
    }
    POLICY_ALIAS = "AR083" "arc-policy-spelling" (hint, "D55") {
        title: "member of the policy has a nonstandard name",
        why: "Readers that know only the standard name do not find the member.",
        fix: "Write `retention`, `access` and `approved_consumers`.",
        wrong in "top of arc-policy.json": r#"{"data_retention": {"max_days": 90}}"#,
        right: r#"{"retention": {"max_days": 90}}"#,
    }

    SECOND_PAGE = "AR090" "annotation-second-page" (warning, "ARC 2.1") {
        title: "more than one element has `data-ai-page`",
        why: "A document is one page. Readers use the first element.",
        fix: "Use `data-ai-section` for the parts of the page.",
        wrong in "page.html":
            r#"<div data-ai-page="tides">…</div>"#,
            r#"<div data-ai-page="berths">…</div>"#,
        right:
            r#"<main data-ai-page="harbour">"#,
            r#"  <section data-ai-section="tides">…</section>"#,
            r#"  <section data-ai-section="berths">…</section>"#,
            "</main>",
    }
    GROUP_OUTSIDE = "AR091" "annotation-group-outside" (advice, "ARC 2.1") {
        title: "group is outside a section, or subgroup is outside a group",
        why: "Readers put such a group or subgroup into a part without a name.",
        fix: "Move the group into an element with `data-ai-section`, or the subgroup into an element with `data-ai-group`.",
        wrong in "page.html": r#"<main data-ai-page="harbour"><div data-ai-group="today">…</div></main>"#,
        right: r#"<main data-ai-page="harbour"><section data-ai-section="tides"><div data-ai-group="today">…</div></section></main>"#,
    }
    NESTED_DEEP = "AR092" "annotation-nested-deep" (hint, "ARC 2.1") {
        title: "annotated elements are nested more than three levels deep",
        why: "Deeply nested annotations are hard to read and rarely carry information.",
        fix: "Remove annotations from the levels in between.",
        wrong in "page.html": r#"<section data-ai-section="a"><div data-ai-group="b"><div data-ai-subgroup="c"><div data-ai-block="d">…</div></div></div></section>"#,
        right: r#"<section data-ai-section="a"><div data-ai-group="b"><div data-ai-block="d">…</div></div></section>"#,
    }
    UNKNOWN_ATTRIBUTE = "AR093" "annotation-unknown" (advice, "ARC 2.1") {
        title: "element has an unknown `data-ai-*` attribute",
        why: "ARC 2.1 defines 32 attributes. Readers ignore all others.",
        fix: "Check the spelling.",
        wrong in "page.html": r#"<section data-ai-sektion="tides">…</section>"#,
        right: r#"<section data-ai-section="tides">…</section>"#,
    }
    NO_NAME = "AR094" "annotation-no-name" (advice, "ARC 2.1") {
        title: "annotated page, part or field has no name",
        why: "The value is the name of the page, section, group, block or field. Readers cannot refer to a part without a name.",
        fix: "Write a short name such as `registration_form`.",
        wrong in "page.html": "<form data-ai-section>…</form>",
        right: r#"<form data-ai-section="registration_form">…</form>"#,
    }
    NO_TYPE = "AR095" "annotation-section-type" (hint, "ARC 2.1") {
        title: "section has no `data-ai-type`",
        why: "The type tells readers what the section shows.",
        fix: "Write a type such as `Product` or `Article`.",
        wrong in "page.html": r#"<section data-ai-section="tides" data-ai-purpose="information">…</section>"#,
        right: r#"<section data-ai-section="tides" data-ai-type="Article" data-ai-purpose="information">…</section>"#,
    }
    NO_PURPOSE = "AR096" "annotation-section-purpose" (hint, "ARC 2.1") {
        title: "section has neither `data-ai-purpose` nor `data-ai-intent`",
        why: "The purpose tells readers what the section is used for.",
        fix: "Write a purpose such as `onboarding`.",
        wrong in "page.html": r#"<section data-ai-section="tides" data-ai-type="Article">…</section>"#,
        right: r#"<section data-ai-section="tides" data-ai-type="Article" data-ai-purpose="information">…</section>"#,
    }
    NO_CONTEXT = "AR097" "annotation-field-context" (advice, "ARC-027") {
        title: "neither the field nor an element around it has `data-ai-context`",
        why: "The context tells readers which data needs special care.",
        fix: "Write `personal`, `sensitive`, `financial`, or another value if none of these applies.",
        wrong in "page.html": r#"<input name="mail" data-ai-field="mail">"#,
        right: r#"<input name="mail" data-ai-field="mail" data-ai-context="personal">"#,
    }
    LINK_NOWHERE = "AR098" "annotation-link-nowhere" (hint, "ARC 2.1") {
        title: "target of `data-ai-link` does not exist on the page",
        why: "Readers cannot follow the link.",
        fix: "Use the name of a `data-ai-ref`, section, group or block of the page.",
        wrong in "page.html": r#"<a data-ai-link="berth">Berths</a> <section data-ai-section="berths">…</section>"#,
        right: r#"<a data-ai-link="berths">Berths</a> <section data-ai-section="berths">…</section>"#,
    }
    WITHHELD = "AR099" "annotation-withheld" (note, "D59") {
        title: "text was removed from the snapshot because its context is sensitive",
        why: "Rutter never publishes text that is marked personal, sensitive or financial.",
        fix: "No action is needed if the context is correct. Otherwise correct `data-ai-context`.",
        wrong in "page.html": r#"<section data-ai-section="prices" data-ai-context="financial">Prices for everybody</section>"#,
        right: r#"<section data-ai-section="prices">Prices for everybody</section>"#,
    }
}
