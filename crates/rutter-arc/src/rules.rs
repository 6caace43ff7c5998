//! Rules of layer AR: problems in ARC sitemaps, policies and annotations.

rutter_finding::rules! {
    /// File is not a single JSON document.
    NOT_JSON = "AR001" "arc-not-json" (fatal, "ARC-006")
        "file is not a single JSON document",
        "Guessing the content of a broken file could turn a damaged flag into consent.",
        "Write the file with a JSON library, with nothing after the last brace.";
    /// Document is not a JSON object.
    NOT_AN_OBJECT = "AR002" "arc-not-an-object" (fatal, "ARC-042")
        "document is not a JSON object",
        "Version, site and pages must be members of one object.",
        "Write the pages as the member `pages` of an object.";
    /// File is not UTF-8.
    NOT_UTF8 = "AR003" "arc-not-utf-8" (fatal, "ARC-006")
        "file is not UTF-8",
        "JSON must be UTF-8. Any other encoding would be a guess.",
        "Save the file as UTF-8.";
    /// File is larger than the limit.
    TOO_LARGE = "AR004" "arc-too-large" (fatal, "D89")
        "file is larger than the limit",
        "Readers must limit what they read, and a partly read sitemap may lack an entry that restricts a page.",
        "Publish dated deltas, and omit the snapshots from the full sitemap.";
    /// File ends before the document is complete.
    TRUNCATED = "AR005" "arc-truncated" (fatal, "ARC-006")
        "file ends before the document is complete",
        "The missing part may restrict pages of the part that is present, so readers use no part of the file.",
        "Publish the file again. Write it to a temporary file first, then rename it.";
    /// Value is nested too deeply.
    TOO_DEEP = "AR006" "arc-too-deep" (fatal, "D89")
        "value is nested too deeply",
        "Deep nesting costs memory, and no page snapshot needs it.",
        "Flatten or omit the snapshot.";
    /// Major version is not 2, or the version is not a number.
    VERSION_UNKNOWN = "AR007" "arc-version-unknown" (fatal, "D61")
        "major version is not 2, or the version is not a number",
        "The same member names may have another meaning in another major version.",
        "Write `\"arc_sitemap_version\": \"2.1\"`.";
    /// Member `arc_sitemap_version` is missing.
    VERSION_MISSING = "AR008" "arc-version-missing" (warning, "ARC-038")
        "member `arc_sitemap_version` is missing",
        "The version tells readers which rules apply to the file.",
        "Write `\"arc_sitemap_version\": \"2.1\"` at the top of the document.";
    /// Version is not a string of the form `2.1`.
    VERSION_FORM = "AR009" "arc-version-form" (warning, "ARC-043")
        "version is not a string of the form `2.1`",
        "The schema requires a string.",
        "Write the version in quotes: `\"2.1\"`.";
    /// Member `site` is missing.
    SITE_MISSING = "AR010" "arc-site-missing" (warning, "ARC-042")
        "member `site` is missing",
        "Without `site`, readers cannot check whether the pages belong to the site.",
        "Write the URL of the site, for example `\"https://example.com\"`.";
    /// `site` is not an absolute http or https URL.
    SITE_FORM = "AR011" "arc-site-form" (warning, "ARC-044")
        "`site` is not an absolute http or https URL",
        "Readers compare the page URLs with `site` and do not trust pages that they cannot compare.",
        "Write the URL of the site, for example `\"https://example.com\"`.";
    /// Member `generated_at` is missing.
    GENERATED_MISSING = "AR012" "arc-generated-missing" (warning, "ARC-042")
        "member `generated_at` is missing",
        "Readers cannot determine the age of the file.",
        "Write the time at which the file was generated, for example `\"2026-05-01T12:00:00Z\"`.";
    /// `generated_at` is not an RFC 3339 date-time.
    GENERATED_FORM = "AR013" "arc-generated-form" (warning, "ARC-045")
        "`generated_at` is not an RFC 3339 date-time",
        "Readers that validate with the schema reject the file.",
        "Write a date-time with a time zone, for example `\"2026-05-01T12:00:00Z\"`.";
    /// Member `pages` is missing.
    PAGES_MISSING = "AR014" "arc-pages-missing" (warning, "ARC-042")
        "member `pages` is missing",
        "Without `pages` it is unclear whether the site has no pages or the list was lost.",
        "Write `\"pages\": []` if there are no pages.";
    /// `pages` is not an array.
    PAGES_FORM = "AR015" "arc-pages-not-an-array" (fatal, "ARC-046")
        "`pages` is not an array",
        "Readers cannot separate the entries.",
        "Write `pages` as an array of objects.";
    /// Member occurs twice in the document.
    HEAD_TWICE = "AR016" "arc-member-twice" (warning, "D63")
        "member occurs twice in the document",
        "JSON parsers disagree on which value counts, so different readers get different documents.",
        "Delete one of the two members.";
    /// `pages` occurs twice in the document.
    PAGES_TWICE = "AR017" "arc-pages-twice" (fatal, "D63")
        "`pages` occurs twice in the document",
        "JSON parsers disagree on which list counts. The other list may restrict a page that this list allows.",
        "Merge the two lists.";
    /// `crawl_rate` is not a number followed by a slash and s, m, min, h or d.
    CRAWL_RATE_FORM = "AR018" "arc-crawl-rate" (advice, "D52")
        "`crawl_rate` is not a number followed by a slash and s, m, min, h or d",
        "Crawlers ignore a rate that they cannot parse and use their default rate.",
        "Write a rate such as `\"1/s\"` or `\"30/min\"`.";
    /// Member name is spelt differently in the specification.
    HEAD_ALIAS = "AR019" "arc-member-spelling" (advice, "D52")
        "member name is spelt differently in the specification",
        "Readers that know only the specified name do not find the member.",
        "Write `crawl_rate` with an underscore and `ai-crawl-contact` with hyphens.";
    /// Member of the document has the wrong type or format.
    HEAD_FORM = "AR020" "arc-head-form" (advice, "D60")
        "member of the document has the wrong type or format",
        "Readers ignore the member.",
        "Use the type that the specification describes, or omit the member.";
    /// Sitemap has more pages than the limit.
    TOO_MANY_PAGES = "AR021" "arc-too-many-pages" (fatal, "D89")
        "sitemap has more pages than the limit",
        "Readers must limit what they read, and an entry after the limit may restrict a page.",
        "Split the site, or omit pages that are not meant for readers.";
    /// File begins with a byte order mark.
    BOM = "AR022" "arc-bom" (advice, "ARC-006")
        "file begins with a byte order mark",
        "Most JSON parsers reject the byte order mark.",
        "Save the file as UTF-8 without a byte order mark.";
    /// An entry or member is longer than the limit.
    TOO_LONG = "AR023" "arc-value-too-long" (fatal, "D89")
        "an entry or member is longer than the limit",
        "Readers hold one entry in memory at a time, and this entry needs too much memory.",
        "Shorten or omit the snapshot.";
    /// Compressed data is damaged.
    GZIP_DAMAGED = "AR024" "arc-gzip-damaged" (fatal, "ARC-023")
        "compressed data is damaged",
        "The missing part may restrict pages of the part that is present, so readers use no part of the file.",
        "Compress the file again.";
    /// Time is more than a day in the future.
    FROM_THE_FUTURE = "AR025" "arc-from-the-future" (advice, "D50")
        "time is more than a day in the future",
        "Readers that compare times do not fetch the page again before the stated time.",
        "Correct the clock of the machine that writes the file.";

    /// Document has more than 256 unknown members; the rest is ignored.
    TOO_MANY_MEMBERS = "AR026" "arc-too-many-members" (advice, "D89")
        "document has more than 256 unknown members; the rest is ignored",
        "Unknown members are kept in memory. So many of them are a mistake or an attack.",
        "Put custom data into a single member.";
    /// URL contains characters that must be percent-encoded.
    URL_CHARACTERS = "AR027" "arc-url-characters" (warning, "ARC-047")
        "URL contains characters that must be percent-encoded",
        "The schema requires a URI. Readers that validate with the schema reject the file.",
        "Percent-encode all characters that RFC 3986 does not allow.";

    /// Entry is not an object and is skipped.
    ENTRY_NOT_OBJECT = "AR030" "arc-entry-not-an-object" (warning, "ARC-046")
        "entry is not an object and is skipped",
        "A URL alone does not state whether the page may be used.",
        "Write `{\"url\": …, \"ai_indexable\": …}`.";
    /// Entry has no `url` and is skipped.
    URL_MISSING = "AR031" "arc-url-missing" (warning, "ARC-010")
        "entry has no `url` and is skipped",
        "Readers cannot determine the page that the entry describes.",
        "Write the canonical URL of the page.";
    /// `url` is not an absolute URL; the entry is skipped.
    URL_FORM = "AR032" "arc-url-form" (warning, "ARC-047")
        "`url` is not an absolute URL; the entry is skipped",
        "Readers cannot determine the page that the entry describes.",
        "Write the full URL, beginning with https://.";
    /// `url` is not an http or https URL of a page; the entry is skipped.
    URL_NOT_A_PAGE = "AR033" "arc-url-not-a-page" (warning, "ARC-010")
        "`url` is not an http or https URL of a page; the entry is skipped",
        "URLs with other schemes, or with a password, do not identify a public page.",
        "Write the canonical http or https URL of the page, without user name and password.";
    /// Page belongs to another site; the entry is skipped.
    OTHER_HOST = "AR034" "arc-other-host" (advice, "D88")
        "page belongs to another site; the entry is skipped",
        "A site can make statements only about its own pages. `www.example.com` and `example.com` are different hosts.",
        "List the page in the sitemap of its own site.";
    /// Page has more than one entry.
    URL_TWICE = "AR035" "arc-url-twice" (warning, "ARC-010")
        "page has more than one entry",
        "Readers disagree on which entry counts. Rutter uses the most restrictive one.",
        "Keep one entry per page.";
    /// Entry has no `ai_indexable`, which is read as false.
    INDEXABLE_MISSING = "AR036" "arc-indexable-missing" (warning, "ARC-012")
        "entry has no `ai_indexable`, which is read as false",
        "A missing statement is not consent.",
        "Write true or false.";
    /// `ai_indexable` is not a boolean and is read as false.
    INDEXABLE_FORM = "AR037" "arc-indexable-not-boolean" (warning, "ARC-048")
        "`ai_indexable` is not a boolean and is read as false",
        "Some programs treat the string \"false\" as true. Only the value true counts as consent.",
        "Write true or false without quotes.";
    /// Member is null and is treated as missing.
    NULL_MEMBER = "AR038" "arc-null" (warning, "ARC-049")
        "member is null and is treated as missing",
        "The schema does not allow null.",
        "Omit the member.";
    /// Member has the wrong type and is ignored.
    MEMBER_FORM = "AR039" "arc-member-type" (warning, "ARC-049")
        "member has the wrong type and is ignored",
        "Readers cannot use the member. Readers that validate with the schema reject the file.",
        "Use the type that the specification describes.";
    /// Member that may restrict the page has the wrong type; the page is treated as restricted.
    RESTRICTION_FORM = "AR040" "arc-restriction-type" (warning, "ARC-048")
        "member that may restrict the page has the wrong type; the page is treated as restricted",
        "The member shows that a restriction was intended. An unclear statement is not consent.",
        "Write `auth_required` as true or false, and `robots_directive` as a string.";
    /// `lastmod` is not an RFC 3339 date-time.
    LASTMOD_FORM = "AR041" "arc-lastmod-form" (warning, "ARC-047")
        "`lastmod` is not an RFC 3339 date-time",
        "Readers cannot determine whether the page changed.",
        "Write a date-time with a time zone, for example `\"2026-05-01T12:00:00Z\"`.";
    /// Entry has no `lastmod`.
    LASTMOD_MISSING = "AR042" "arc-lastmod-missing" (hint, "ARC-011")
        "entry has no `lastmod`",
        "Readers must fetch the page again to find out whether it changed.",
        "Write the time at which the page changed.";
    /// `crawl_priority` is not between 0 and 1 and is ignored.
    PRIORITY_RANGE = "AR043" "arc-priority-range" (warning, "ARC-051")
        "`crawl_priority` is not between 0 and 1 and is ignored",
        "Readers compare the priorities of a site on this scale.",
        "Write a number from 0 to 1.";
    /// Checksum does not consist of an algorithm, a colon and the right number of hexadecimal
    /// digits.
    CHECKSUM_FORM = "AR044" "arc-checksum-form" (advice, "D51")
        "checksum does not consist of an algorithm, a colon and the right number of hexadecimal digits",
        "Readers cannot compare the checksum.",
        "Write `sha256:` and 64 hexadecimal digits.";
    /// Entry has more than 1000 tags; the rest is ignored.
    TOO_MANY_TAGS = "AR045" "arc-too-many-tags" (advice, "D89")
        "entry has more than 1000 tags; the rest is ignored",
        "Tags are used for filtering. So many tags do not distinguish pages.",
        "Keep only the tags that distinguish the page from other pages.";
    /// Tag is not a string and is ignored.
    TAG_FORM = "AR046" "arc-tag-type" (warning, "ARC-050")
        "tag is not a string and is ignored",
        "Readers compare tags as text.",
        "Write tags in quotes.";
    /// Robots directive is unknown.
    DIRECTIVE_UNKNOWN = "AR047" "arc-directive-unknown" (hint, "D58")
        "robots directive is unknown",
        "Crawlers ignore the directive. A misspelt noindex restricts nothing.",
        "Write noindex, nofollow, none, noarchive, nosnippet, noai or noimageai.";
    /// Member occurs twice in the entry.
    MEMBER_TWICE = "AR048" "arc-entry-member-twice" (warning, "D63")
        "member occurs twice in the entry",
        "JSON parsers disagree on which value counts. Rutter uses the more restrictive value.",
        "Delete one of the two members.";
    /// Entry forbids indexing but contains content of the page.
    RESTRICTED_CONTENT = "AR049" "arc-restricted-content" (advice, "D56")
        "entry forbids indexing but contains content of the page",
        "Readers of the sitemap get this content although the page may not be indexed.",
        "Omit summary, tags, checksum and snapshot.";
    /// Page requires a login but its entry contains content of the page.
    PRIVATE_CONTENT = "AR050" "arc-private-content" (warning, "ARC-025")
        "page requires a login but its entry contains content of the page",
        "The sitemap is public, the content of the page is not.",
        "Omit summary, tags, checksum and snapshot, and deliver them to partners only.";
    /// Snapshot is marked sensitive in a public entry.
    SENSITIVE_SNAPSHOT = "AR051" "arc-sensitive-snapshot" (warning, "ARC-025")
        "snapshot is marked sensitive in a public entry",
        "A public sitemap must not contain sensitive snapshots.",
        "Mark the page as `auth_required` and omit the snapshot.";
    /// Snapshot contains the value of a form field.
    FIELD_VALUE = "AR052" "arc-field-value" (warning, "D59")
        "snapshot contains the value of a form field",
        "The value may be personal data that a visitor entered.",
        "Omit the value. The name and the label of the field are sufficient.";
    /// Snapshot has no `page`.
    SNAPSHOT_PAGE = "AR053" "arc-snapshot-page" (advice, "D62")
        "snapshot has no `page`",
        "Appendix D of ARC requires the identity of the page.",
        "Copy the value of `data-ai-page` to `page`.";
    /// Entry has no `ai_summary`.
    SUMMARY_MISSING = "AR054" "arc-summary-missing" (hint, "ARC-013")
        "entry has no `ai_summary`",
        "Readers use the summary to choose pages.",
        "Write one or two sentences.";
    /// Summary is longer than 1000 characters.
    SUMMARY_LONG = "AR055" "arc-summary-long" (hint, "ARC-013")
        "summary is longer than 1000 characters",
        "A summary should be short. The page contains the details.",
        "Write one or two sentences.";
    /// Entry contains a secret.
    SECRET = "AR056" "arc-secret" (warning, "ARC-063")
        "entry contains a secret",
        "Everyone who reads the file can use the secret. Treat it as compromised.",
        "Revoke the secret, then delete it from the page.";
    /// Entry contains personal data.
    PERSONAL_DATA = "AR057" "arc-personal-data" (advice, "ARC-063")
        "entry contains personal data",
        "Programs that harvest e-mail addresses and telephone numbers read machine-readable files first.",
        "Delete the data from the summary, or mark the page as `auth_required`.";
    /// `ai_indexable` is true but the robots directive forbids indexing.
    CONTRADICTION = "AR058" "arc-contradiction" (advice, "D58")
        "`ai_indexable` is true but the robots directive forbids indexing",
        "The more restrictive statement counts, so the page is not indexed.",
        "Make both statements agree.";
    /// Removed page lacks `ai_indexable` false or the directive noindex.
    TOMBSTONE = "AR059" "arc-tombstone" (warning, "D60")
        "removed page lacks `ai_indexable` false or the directive noindex",
        "Readers that do not know `removed` keep the page.",
        "Write `\"ai_indexable\": false, \"robots_directive\": \"noindex\", \"removed\": true`.";

    /// Removed page is listed in a full sitemap.
    TOMBSTONE_PLACE = "AR060" "arc-tombstone-place" (advice, "D60")
        "removed page is listed in a full sitemap",
        "A full sitemap lists only existing pages. Removals belong in the dated deltas.",
        "Delete the entry.";
    /// File name of the delta is not a date.
    DAY_NAME = "AR061" "arc-delta-name" (advice, "ARC-039")
        "file name of the delta is not a date",
        "Readers request `/arc-sitemap-deltas/YYYY-MM-DD.json`.",
        "Name the file after the day (UTC) of its changes.";
    /// Delta has no `since` or no `until`.
    DAY_WINDOW = "AR062" "arc-delta-window" (advice, "ARC-040")
        "delta has no `since` or no `until`",
        "Without the covered time span readers cannot determine whether a change is missing.",
        "Write `since` and `until`.";
    /// `since` is later than `until`.
    DAY_ORDER = "AR063" "arc-delta-order" (warning, "ARC-040")
        "`since` is later than `until`",
        "A time span cannot end before it begins.",
        "Swap the two values.";
    /// Delta covers another day than its file name.
    DAY_OTHER = "AR064" "arc-delta-other-day" (advice, "D60")
        "delta covers another day than its file name",
        "Readers that request a day get the changes of another day.",
        "Name the file after the day (UTC) of its changes.";

    /// File is not a single YAML document of plain lists and mappings.
    YAML_FORM = "AR070" "arc-yaml" (fatal, "D63")
        "file is not a single YAML document of plain lists and mappings",
        "Guessing the content of a broken file could turn a damaged flag into consent.",
        "Use quoted strings, true and false, lists and mappings only.";
    /// YAML contains anchors, aliases, tags or directives.
    YAML_FORBIDDEN = "AR071" "arc-yaml-forbidden" (fatal, "D63")
        "YAML contains anchors, aliases, tags or directives",
        "These features can expand a small file without limit or create arbitrary objects in a program.",
        "Write every value in place.";
    /// YAML file is larger than 8 MiB.
    YAML_TOO_LARGE = "AR072" "arc-yaml-too-large" (fatal, "D63")
        "YAML file is larger than 8 MiB",
        "A YAML file must be loaded into memory as a whole.",
        "Publish only the JSON file.";
    /// Key occurs twice in a mapping.
    YAML_TWICE = "AR073" "arc-yaml-key-twice" (fatal, "D63")
        "key occurs twice in a mapping",
        "YAML forbids duplicate keys, and parsers disagree on which value counts.",
        "Delete one of the two keys.";
    /// JSON-LD does not reference an ARC sitemap.
    POINTER_FORM = "AR074" "arc-pointer" (warning, "ARC-007")
        "JSON-LD does not reference an ARC sitemap",
        "Readers look for a Dataset with the name `ARC Sitemap` or with a JSON download.",
        "Write a Dataset with `name`, `url` and a DataDownload.";
    /// DataDownload has no `contentUrl`.
    POINTER_URL = "AR075" "arc-pointer-url" (advice, "D53")
        "DataDownload has no `contentUrl`",
        "Readers use the `url` of the Dataset instead.",
        "Write the URL of the sitemap as `contentUrl`.";

    /// Policy is not a JSON object of at most 256 KB.
    POLICY_FORM = "AR080" "arc-policy" (warning, "ARC-028")
        "policy is not a JSON object of at most 256 KB",
        "Readers treat an unreadable policy as missing, never as permission.",
        "Write a single JSON object.";
    /// Member of the policy has the wrong type or format.
    POLICY_MEMBER = "AR081" "arc-policy-member" (advice, "D55")
        "member of the policy has the wrong type or format",
        "Readers ignore the member. It grants no permission.",
        "Use the type that the specification describes, or omit the member.";
    /// Policy lacks one of its areas.
    POLICY_AREA = "AR082" "arc-policy-area" (advice, "ARC-028")
        "policy lacks one of its areas",
        "A policy must cover retention, access and approved consumers.",
        "Add the area. An empty list of consumers means that no consumer is approved.";
    /// Member of the policy has a less common name.
    POLICY_ALIAS = "AR083" "arc-policy-spelling" (hint, "D55")
        "member of the policy has a less common name",
        "Readers that know only the common name do not find the member.",
        "Write `retention`, `access` and `approved_consumers`.";

    /// More than one element has `data-ai-page`.
    SECOND_PAGE = "AR090" "annotation-second-page" (warning, "ARC 2.1")
        "more than one element has `data-ai-page`",
        "A document is one page. Readers use the first element.",
        "Use `data-ai-section` for the parts of the page.";
    /// Group is outside a section, or subgroup is outside a group.
    GROUP_OUTSIDE = "AR091" "annotation-group-outside" (advice, "ARC 2.1")
        "group is outside a section, or subgroup is outside a group",
        "Readers add such a group or subgroup to a part without name.",
        "Move the group into an element with `data-ai-section`, or the subgroup into an element with `data-ai-group`.";
    /// Annotated elements are nested more than three levels deep.
    NESTED_DEEP = "AR092" "annotation-nested-deep" (hint, "ARC 2.1")
        "annotated elements are nested more than three levels deep",
        "Deeply nested annotations are hard to read and rarely carry information.",
        "Omit annotations on the intermediate levels.";
    /// Element has an unknown `data-ai-*` attribute.
    UNKNOWN_ATTRIBUTE = "AR093" "annotation-unknown" (advice, "ARC 2.1")
        "element has an unknown `data-ai-*` attribute",
        "ARC 2.1 defines 32 attributes. Readers ignore all others.",
        "Check the spelling.";
    /// Annotation of a section, group or field has no value.
    NO_NAME = "AR094" "annotation-no-name" (advice, "ARC 2.1")
        "annotation of a section, group or field has no value",
        "The value is the name of the annotated part. Readers cannot refer to a part without name.",
        "Write a short name such as `registration_form`.";
    /// Section has no `data-ai-type`.
    NO_TYPE = "AR095" "annotation-section-type" (hint, "ARC 2.1")
        "section has no `data-ai-type`",
        "The type tells readers what the section shows.",
        "Write a type such as `Product` or `Article`.";
    /// Section has neither `data-ai-purpose` nor `data-ai-intent`.
    NO_PURPOSE = "AR096" "annotation-section-purpose" (hint, "ARC 2.1")
        "section has neither `data-ai-purpose` nor `data-ai-intent`",
        "The purpose tells readers what the section is used for.",
        "Write a purpose such as `onboarding`.";
    /// Neither the field nor an element around it has `data-ai-context`.
    NO_CONTEXT = "AR097" "annotation-field-context" (advice, "ARC-027")
        "neither the field nor an element around it has `data-ai-context`",
        "The context tells readers which data needs special care.",
        "Write `personal`, `sensitive`, `financial`, or another value if none of these applies.";
    /// Target of `data-ai-link` does not exist on the page.
    LINK_NOWHERE = "AR098" "annotation-link-nowhere" (hint, "ARC 2.1")
        "target of `data-ai-link` does not exist on the page",
        "Readers cannot follow the link.",
        "Use the name of a `data-ai-ref`, section, group or block of the page.";
    /// Text was removed from the snapshot because its context is sensitive.
    WITHHELD = "AR099" "annotation-withheld" (note, "D59")
        "text was removed from the snapshot because its context is sensitive",
        "Rutter never publishes text that is marked personal, sensitive or financial.",
        "No action is needed if the context is correct.";
}
