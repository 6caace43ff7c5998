//! A table: the rules about ARC sitemaps, policies and annotations.

rutter_finding::rules! {
    /// Something else, or broken.
    NOT_JSON = "AR001" "arc-not-json" (fatal, "ARC-006")
        "file is not one JSON document",
        "A reader that guesses what was meant could take a broken flag for consent.",
        "Write the file with a JSON library, and nothing behind the last brace.";
    /// A list, a number, a text.
    NOT_AN_OBJECT = "AR002" "arc-not-an-object" (fatal, "ARC-042")
        "document is not an object",
        "Version, site and pages are members of one object.",
        "Put the pages into the member `pages` of an object.";
    /// Bytes that are no text.
    NOT_UTF8 = "AR003" "arc-not-utf-8" (fatal, "ARC-006")
        "file is not UTF-8",
        "JSON on the web is UTF-8; any other reading of the bytes is a guess.",
        "Save the file as UTF-8.";
    /// More than we take.
    TOO_LARGE = "AR004" "arc-too-large" (fatal, "D89")
        "file is larger than the limit",
        "A reader has to stop somewhere, and half a sitemap may lack the entry that forbids something.",
        "Publish dated deltas, and leave snapshots out of the full sitemap.";
    /// The end is missing.
    TRUNCATED = "AR005" "arc-truncated" (fatal, "ARC-006")
        "file ends in the middle of the document",
        "What is missing may forbid what is there, so nothing of it may be used.",
        "Publish the file again, by writing it beside its place and renaming it.";
    /// Brackets in brackets.
    TOO_DEEP = "AR006" "arc-too-deep" (fatal, "D89")
        "value is nested too deeply",
        "Nesting costs readers memory; no snapshot of a page needs that much.",
        "Flatten the snapshot, or leave it out.";
    /// A version nobody here knows.
    VERSION_UNKNOWN = "AR007" "arc-version-unknown" (fatal, "D61")
        "major version is not 2, or the version is no number",
        "Another major version may mean something else by the same names.",
        "Write `\"arc_sitemap_version\": \"2.1\"`.";
    /// No version.
    VERSION_MISSING = "AR008" "arc-version-missing" (warning, "ARC-038")
        "member `arc_sitemap_version` is missing",
        "The version tells readers which rules the file follows.",
        "Write `\"arc_sitemap_version\": \"2.1\"` at the top.";
    /// A version that is a number.
    VERSION_FORM = "AR009" "arc-version-form" (warning, "ARC-043")
        "version is not a string of the form 2.1",
        "The schema asks for a string.",
        "Write `\"2.1\"` in quotes.";
    /// No site.
    SITE_MISSING = "AR010" "arc-site-missing" (warning, "ARC-042")
        "member `site` is missing",
        "Without it no reader can tell whether the pages belong to the site.",
        "Write the address of the site, such as `\"https://example.com\"`.";
    /// A site that is no address.
    SITE_FORM = "AR011" "arc-site-form" (warning, "ARC-044")
        "site is not an absolute http or https address",
        "Entries are compared with it; what cannot be compared is not trusted.",
        "Write the address of the site, such as `\"https://example.com\"`.";
    /// No time.
    GENERATED_MISSING = "AR012" "arc-generated-missing" (warning, "ARC-042")
        "member `generated_at` is missing",
        "Readers cannot tell how fresh the file is.",
        "Write when the file was made, such as `\"2026-05-01T12:00:00Z\"`.";
    /// A time that is none.
    GENERATED_FORM = "AR013" "arc-generated-form" (warning, "ARC-045")
        "`generated_at` is not an RFC 3339 date-time",
        "Readers of the schema refuse the file.",
        "Write a full time with zone, such as `\"2026-05-01T12:00:00Z\"`.";
    /// No pages.
    PAGES_MISSING = "AR014" "arc-pages-missing" (warning, "ARC-042")
        "member `pages` is missing",
        "A sitemap without pages says nothing; an empty list says there are none.",
        "Write `\"pages\": []` where there are none.";
    /// Pages that are no list.
    PAGES_FORM = "AR015" "arc-pages-not-an-array" (fatal, "ARC-046")
        "`pages` is not an array",
        "Entries cannot be told apart.",
        "Write `pages` as an array of objects.";
    /// Twice the same name at the top.
    HEAD_TWICE = "AR016" "arc-member-twice" (warning, "D63")
        "member stands twice in the document",
        "Readers differ in which of the two they take, so two readers see two files.",
        "Keep one of the two.";
    /// Two lists of pages.
    PAGES_TWICE = "AR017" "arc-pages-twice" (fatal, "D63")
        "`pages` stands twice in the document",
        "Readers differ in which list they take; the other may forbid what this one allows.",
        "Join the two lists.";
    /// A rate that is none.
    CRAWL_RATE_FORM = "AR018" "arc-crawl-rate" (advice, "D52")
        "`crawl_rate` is not a number, a slash and s, m, h or d",
        "Crawlers ignore a rate they cannot read and go at their own.",
        "Write a rate such as `\"1/s\"` or `\"30/min\"`.";
    /// A spelling that not all readers know.
    HEAD_ALIAS = "AR019" "arc-member-spelling" (advice, "D52")
        "member is spelt otherwise in the specification",
        "Readers that know only the written name do not see it.",
        "Write `crawl_rate` with an underscore and `ai-crawl-contact` with hyphens.";
    /// Optional members at the top with a wrong form.
    HEAD_FORM = "AR020" "arc-head-form" (advice, "D60")
        "member of the document has a wrong type or form",
        "Readers ignore it.",
        "See the description of the member; leave it out where there is nothing to say.";
    /// More than we take.
    TOO_MANY_PAGES = "AR021" "arc-too-many-pages" (fatal, "D89")
        "there are more pages than the limit",
        "A reader has to stop somewhere, and an entry behind that may forbid something.",
        "Divide the site, or leave pages out that nobody should read.";
    /// A byte order mark.
    BOM = "AR022" "arc-bom" (advice, "ARC-006")
        "file begins with a byte order mark",
        "Most JSON readers refuse it.",
        "Save the file as UTF-8 without a byte order mark.";
    /// One thing that is too long.
    TOO_LONG = "AR023" "arc-value-too-long" (fatal, "D89")
        "an entry or member is longer than the limit",
        "Readers hold one entry in memory at a time; this one asks for too much.",
        "Shorten the snapshot, or leave it out.";
    /// Broken compression.
    GZIP_DAMAGED = "AR024" "arc-gzip-damaged" (fatal, "ARC-023")
        "compression is broken",
        "What is missing may forbid what is there, so nothing of it may be used.",
        "Compress the file again.";
    /// A date that has not come.
    FROM_THE_FUTURE = "AR025" "arc-from-the-future" (advice, "D50")
        "time is more than a day in the future",
        "Readers that go by time will not look at the page again until then.",
        "Set the clock of the machine that writes the file.";

    /// More members than anybody writes.
    TOO_MANY_MEMBERS = "AR026" "arc-too-many-members" (advice, "D89")
        "there are more than 256 unknown members; the others are ignored",
        "Unknown members are kept in memory; so many are a mistake or an attack.",
        "Put your own data into one member.";
    /// Characters an address must escape.
    URL_CHARACTERS = "AR027" "arc-url-characters" (warning, "ARC-047")
        "address has characters that must be escaped",
        "The schema asks for a URI; readers of the schema refuse the file.",
        "Write other characters than those of RFC 3986 as % and two digits.";

    /// An entry that is none.
    ENTRY_NOT_OBJECT = "AR030" "arc-entry-not-an-object" (warning, "ARC-046")
        "entry is not an object; it is skipped",
        "An address alone says nothing about consent.",
        "Write `{\"url\": …, \"ai_indexable\": …}`.";
    /// No address.
    URL_MISSING = "AR031" "arc-url-missing" (warning, "ARC-010")
        "entry has no `url`; it is skipped",
        "Nobody can tell which page is meant.",
        "Write the canonical address of the page.";
    /// An address that is none.
    URL_FORM = "AR032" "arc-url-form" (warning, "ARC-047")
        "`url` is not an absolute address; the entry is skipped",
        "Nobody can tell which page is meant.",
        "Write the whole address, beginning with https://.";
    /// An address a page cannot have.
    URL_NOT_A_PAGE = "AR033" "arc-url-not-a-page" (warning, "ARC-010")
        "`url` is not the http or https address of a page; the entry is skipped",
        "Other schemes, and addresses that carry a password, are no addresses of public pages.",
        "Write the canonical http or https address of the page, without user name.";
    /// Somebody else's page.
    OTHER_HOST = "AR034" "arc-other-host" (advice, "D88")
        "page belongs to another site; the entry is skipped",
        "A site can speak for its own pages only, and `www` is another host.",
        "List the page in the sitemap of its own site.";
    /// Two entries for one page.
    URL_TWICE = "AR035" "arc-url-twice" (warning, "ARC-010")
        "page has more than one entry",
        "Readers differ in which of the two they take; the most restrictive counts.",
        "Keep one entry for each page.";
    /// No word about consent.
    INDEXABLE_MISSING = "AR036" "arc-indexable-missing" (warning, "ARC-012")
        "entry has no `ai_indexable`; it is read as false",
        "What is not said is not consent.",
        "Write true or false.";
    /// A word about consent that is none.
    INDEXABLE_FORM = "AR037" "arc-indexable-not-boolean" (warning, "ARC-048")
        "`ai_indexable` is not a boolean; it is read as false",
        "A text such as \"false\" is true to some programs; what is not clearly true is not consent.",
        "Write true or false without quotes.";
    /// A null.
    NULL_MEMBER = "AR038" "arc-null" (warning, "ARC-049")
        "member is null; it is read as absent",
        "The schema refuses null; what is absent is left out.",
        "Leave the member out.";
    /// A wrong type.
    MEMBER_FORM = "AR039" "arc-member-type" (warning, "ARC-049")
        "member has a wrong type; it is ignored",
        "Readers cannot use it, and readers of the schema refuse the file.",
        "Give it the type that the specification names.";
    /// A restriction that cannot be read.
    RESTRICTION_FORM = "AR040" "arc-restriction-type" (warning, "ARC-048")
        "member that may restrict the page has a wrong type; the page is read as forbidden",
        "Whoever wrote it wanted to restrict something; what is unclear is not consent.",
        "Write `auth_required` as true or false and `robots_directive` as text.";
    /// A time that is none.
    LASTMOD_FORM = "AR041" "arc-lastmod-form" (warning, "ARC-047")
        "`lastmod` is not an RFC 3339 date-time",
        "Readers cannot tell whether the page changed.",
        "Write a full time with zone, such as `\"2026-05-01T12:00:00Z\"`.";
    /// No time.
    LASTMOD_MISSING = "AR042" "arc-lastmod-missing" (hint, "ARC-011")
        "entry has no `lastmod`",
        "Readers fetch the page again to see whether it changed.",
        "Write when the page changed.";
    /// A priority outside.
    PRIORITY_RANGE = "AR043" "arc-priority-range" (warning, "ARC-051")
        "`crawl_priority` is not between 0 and 1; it is ignored",
        "Priorities of a site are compared on that scale.",
        "Write a number from 0 to 1.";
    /// A checksum that is none.
    CHECKSUM_FORM = "AR044" "arc-checksum-form" (advice, "D51")
        "checksum is not an algorithm, a colon and as many digits as it gives",
        "It cannot be compared with anything.",
        "Write `sha256:` and 64 hexadecimal digits.";
    /// More tags than anybody filters by.
    TOO_MANY_TAGS = "AR045" "arc-too-many-tags" (advice, "D89")
        "entry has more than 1000 tags; the others are ignored",
        "Tags are for filtering; so many say nothing.",
        "Keep the tags that tell the page from others.";
    /// A tag that is none.
    TAG_FORM = "AR046" "arc-tag-type" (warning, "ARC-050")
        "tag is not a string; it is ignored",
        "Tags are compared as text.",
        "Write tags in quotes.";
    /// A word crawlers do not know.
    DIRECTIVE_UNKNOWN = "AR047" "arc-directive-unknown" (hint, "D58")
        "robots directive is unknown",
        "Crawlers ignore it; a noindex that is spelt wrongly forbids nothing.",
        "Write noindex, nofollow, none, noarchive, nosnippet, noai or noimageai.";
    /// Twice the same name.
    MEMBER_TWICE = "AR048" "arc-entry-member-twice" (warning, "D63")
        "member stands twice in the entry",
        "Readers differ in which of the two they take; of restrictions the stronger counts.",
        "Keep one of the two.";
    /// More than a bare entry.
    RESTRICTED_CONTENT = "AR049" "arc-restricted-content" (advice, "D56")
        "entry forbids indexing and yet carries what was made from the page",
        "Whoever reads the sitemap has read the page's content already.",
        "Leave summary, tags, checksum and snapshot out.";
    /// More than a bare entry behind a login.
    PRIVATE_CONTENT = "AR050" "arc-private-content" (warning, "ARC-025")
        "page needs a login and yet its entry carries what was made from the page",
        "The sitemap is public; what stands behind a login is not.",
        "Leave summary, tags, checksum and snapshot out, and give them to partners only.";
    /// Sensitive and public.
    SENSITIVE_SNAPSHOT = "AR051" "arc-sensitive-snapshot" (warning, "ARC-025")
        "snapshot is marked sensitive in a public entry",
        "Sensitive snapshots do not belong into a public sitemap.",
        "Mark the page `auth_required` and leave the snapshot out.";
    /// What somebody typed.
    FIELD_VALUE = "AR052" "arc-field-value" (warning, "D59")
        "snapshot carries the value of a form field",
        "What people enter is theirs.",
        "Leave the value out; the field's name and label are enough.";
    /// A snapshot of nothing.
    SNAPSHOT_PAGE = "AR053" "arc-snapshot-page" (advice, "D62")
        "snapshot has no `page`",
        "Appendix D of ARC asks for the identity of the page.",
        "Write the value of `data-ai-page` into `page`.";
    /// No summary.
    SUMMARY_MISSING = "AR054" "arc-summary-missing" (hint, "ARC-013")
        "entry has no `ai_summary`",
        "Readers choose pages by their summary.",
        "Write one or two sentences.";
    /// A summary that is none.
    SUMMARY_LONG = "AR055" "arc-summary-long" (hint, "ARC-013")
        "summary has more than 1000 characters",
        "A summary is short; the page itself has the rest.",
        "Write one or two sentences.";
    /// A key in the open.
    SECRET = "AR056" "arc-secret" (warning, "ARC-063")
        "entry carries a secret",
        "Whoever finds it can use it; it must be taken for lost.",
        "Withdraw the secret, then take it out of the page.";
    /// Personal data in the open.
    PERSONAL_DATA = "AR057" "arc-personal-data" (advice, "ARC-063")
        "entry carries personal data",
        "Addresses and numbers of people are collected from machine-readable files first.",
        "Take them out of the summary, or mark the page `auth_required`.";
    /// Allowed and forbidden.
    CONTRADICTION = "AR058" "arc-contradiction" (advice, "D58")
        "`ai_indexable` is true and the robots directive forbids indexing",
        "The stronger restriction counts: the page is not indexed.",
        "Say the same in both.";
    /// A removal that not every reader obeys.
    TOMBSTONE = "AR059" "arc-tombstone" (warning, "D60")
        "removed page is not also `ai_indexable` false with the directive noindex",
        "Readers that do not know `removed` would keep the page.",
        "Write `\"ai_indexable\": false, \"robots_directive\": \"noindex\", \"removed\": true`.";

    /// A removal in the full list.
    TOMBSTONE_PLACE = "AR060" "arc-tombstone-place" (advice, "D60")
        "removed page stands in a full sitemap",
        "A page that is gone is not listed; removals belong into the dated deltas.",
        "Leave the entry out.";
    /// A name that is no day.
    DAY_NAME = "AR061" "arc-delta-name" (advice, "ARC-039")
        "delta is not named by a day",
        "Readers ask for `/arc-sitemap-deltas/YYYY-MM-DD.json`.",
        "Name the file by the day (UTC) of its changes.";
    /// No window.
    DAY_WINDOW = "AR062" "arc-delta-window" (advice, "ARC-040")
        "delta does not say from when to when it tells of changes",
        "Without `since` and `until` no reader knows whether a change is missing.",
        "Write `since` and `until`.";
    /// A window that cannot be.
    DAY_ORDER = "AR063" "arc-delta-order" (warning, "ARC-040")
        "`since` is later than `until`",
        "There is no such span of time.",
        "Exchange the two.";
    /// A window of another day.
    DAY_OTHER = "AR064" "arc-delta-other-day" (advice, "D60")
        "delta tells of another day than its name",
        "Readers who ask for the day get the changes of another.",
        "Name the file by the day (UTC) of its changes.";

    /// YAML that is none.
    YAML_FORM = "AR070" "arc-yaml" (fatal, "D63")
        "file is not one YAML document of plain lists and mappings",
        "A reader that guesses what was meant could take a broken flag for consent.",
        "Write quoted strings, true and false, lists and mappings.";
    /// What makes YAML dangerous.
    YAML_FORBIDDEN = "AR071" "arc-yaml-forbidden" (fatal, "D63")
        "YAML with anchors, aliases, tags or directives",
        "They make small files grow without end, or name objects of a program.",
        "Write every value where it stands.";
    /// More than we take.
    YAML_TOO_LARGE = "AR072" "arc-yaml-too-large" (fatal, "D63")
        "YAML file has more than 8 MiB",
        "YAML cannot be read piece by piece.",
        "Publish the JSON file alone.";
    /// Twice the same name.
    YAML_TWICE = "AR073" "arc-yaml-key-twice" (fatal, "D63")
        "key stands twice in a mapping",
        "YAML forbids it, and readers differ in which of the two they take.",
        "Keep one of the two.";
    /// A pointer to nothing.
    POINTER_FORM = "AR074" "arc-pointer" (warning, "ARC-007")
        "JSON-LD names no ARC sitemap",
        "Readers look for a Dataset that is named `ARC Sitemap`, or a download of JSON.",
        "Write a Dataset with `name`, `url` and a DataDownload.";
    /// A pointer that must be guessed.
    POINTER_URL = "AR075" "arc-pointer-url" (advice, "D53")
        "download has no `contentUrl`",
        "Readers fall back to the `url` of the Dataset.",
        "Write the address of the sitemap into `contentUrl`.";

    /// A policy that cannot be read.
    POLICY_FORM = "AR080" "arc-policy" (warning, "ARC-028")
        "policy is not a JSON object of at most 256 KB",
        "An unreadable policy is no policy, and never permission.",
        "Write one JSON object.";
    /// A part that cannot be read.
    POLICY_MEMBER = "AR081" "arc-policy-member" (advice, "D55")
        "member of the policy has a wrong type or form",
        "Readers ignore it; it permits nothing.",
        "See the description of the policy; leave it out where there is nothing to say.";
    /// A part that is missing.
    POLICY_AREA = "AR082" "arc-policy-area" (advice, "ARC-028")
        "policy says nothing about one of its areas",
        "A policy tells of retention, access and approved consumers.",
        "Add the area; an empty list of consumers says that there is none.";
    /// Another spelling.
    POLICY_ALIAS = "AR083" "arc-policy-spelling" (hint, "D55")
        "member of the policy is known under another name",
        "Readers that know only the usual name do not see it.",
        "Write `retention`, `access` and `approved_consumers`.";

    /// Two pages on one page.
    SECOND_PAGE = "AR090" "annotation-second-page" (warning, "vocabulary 1.3")
        "`data-ai-page` stands on more than one element",
        "A document is one page; the first counts.",
        "Use `data-ai-section` for its parts.";
    /// A group that belongs nowhere.
    GROUP_OUTSIDE = "AR091" "annotation-group-outside" (advice, "vocabulary 1.3")
        "group stands outside a section, or a subgroup outside a group",
        "Readers put it into a part without name.",
        "Put it into an element with `data-ai-section` or `data-ai-group`.";
    /// Too deep.
    NESTED_DEEP = "AR092" "annotation-nested-deep" (hint, "vocabulary 1")
        "annotated parts are nested deeper than 3",
        "Deep nesting is hard to follow and rarely means anything.",
        "Leave annotations out on the levels between.";
    /// A word of nobody.
    UNKNOWN_ATTRIBUTE = "AR093" "annotation-unknown" (advice, "vocabulary 1")
        "unknown `data-ai-*` attribute",
        "ARC 2.1 knows 32 names; readers ignore others.",
        "Check the spelling.";
    /// A part without name.
    NO_NAME = "AR094" "annotation-no-name" (advice, "vocabulary 1")
        "annotation of a part or field has no value",
        "The value is its name; without it nobody can speak of it.",
        "Write a short word such as `registration_form`.";
    /// A section without type.
    NO_TYPE = "AR095" "annotation-section-type" (hint, "vocabulary 1.3")
        "section has no `data-ai-type`",
        "The type tells readers what kind of thing the section shows.",
        "Write a type such as `Product` or `Article`.";
    /// A section without purpose.
    NO_PURPOSE = "AR096" "annotation-section-purpose" (hint, "vocabulary 1.3")
        "section has neither `data-ai-purpose` nor `data-ai-intent`",
        "The purpose tells readers what the section is for.",
        "Write a purpose such as `onboarding`.";
    /// A field without context.
    NO_CONTEXT = "AR097" "annotation-field-context" (advice, "ARC-027")
        "field has no `data-ai-context`, nor has anything around it",
        "The context tells readers what must be treated with care.",
        "Write `personal`, `sensitive`, `financial`, or another word where none of these fits.";
    /// A link to nothing.
    LINK_NOWHERE = "AR098" "annotation-link-nowhere" (hint, "vocabulary 1.3")
        "`data-ai-link` names nothing on the page",
        "Readers cannot follow it.",
        "Name a `data-ai-ref`, section, group or block of the page.";
    /// What was kept back.
    WITHHELD = "AR099" "annotation-withheld" (note, "D59")
        "text is kept out of the snapshot because its context is sensitive",
        "What is marked personal, sensitive or financial does not leave the page.",
        "Nothing, if the context is right.";
}
