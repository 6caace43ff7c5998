//! A table: the rules about sites as they are built.

rutter_finding::rules! {
    /// A file that could not be read.
    UNREADABLE = "BD001" "unreadable-file" (warning, "D85")
        "file cannot be read",
        "Its page keeps what was published of it before, or is missing.",
        "Make the file readable for whoever runs the build.";
    /// Two files that would be one page.
    TWO_FILES = "BD002" "two-files-one-address" (warning, "D30")
        "two files have the same address",
        "Only the first can be published; servers may show the other.",
        "Remove or rename one of them.";
    /// A file that somebody else wrote where ours should be.
    NOT_OURS = "BD003" "not-our-file" (advice, "D81")
        "a file that Rutter did not write is in the way; it stays as it is",
        "What would have been written there is missing or has another name.",
        "Give --force, or name the file under `replace` in rutter.toml.";
    /// A name that cannot become an address.
    ODD_NAME = "BD004" "odd-file-name" (advice, "D30")
        "file name cannot be part of an address",
        "Its page is left out.",
        "Rename the file; UTF-8 names of ordinary characters are safe.";
    /// A secret in the text of a page.
    SECRET = "BD005" "secret" (fatal, "SCP-201")
        "page shows what looks like a secret",
        "Collections are copied by many and cannot be called back.",
        "Take it off the page and revoke it; if it is none, put the line's mark into the file named by `privacy.acknowledged`.";
    /// Personal data in the text of a page.
    PERSONAL = "BD006" "personal-data" (note, "SCP-172")
        "page shows an e-mail address or a telephone number",
        "It will be part of every copy.",
        "Take it off the page if it should not be; `privacy.strict` makes the build stop here.";
    /// The site does not live at the root of its host.
    UNDER_A_PATH = "BD007" "site-under-a-path" (advice, "D92")
        "the site lives under a path of its host",
        "robots.txt and what belongs into .well-known count only at the root of the host, and crawlers look for sitemap.xml and llms.txt there.",
        "Add the lines of our robots.txt to the one at the root; the pages' head links (--inject) work wherever they are.";
    /// A page of more blocks than the format allows.
    OVERSIZE = "BD008" "oversize-page" (warning, "D36")
        "page has more blocks than a collection may hold",
        "Readers must refuse such a page, and `oversize` is `stop`, so the build stops.",
        "Split the page, or set `oversize` to `merge`; after an update from a version that left such pages out, build with `--reread` once.";
    /// Collections that compress too well.
    RATIO = "BD009" "too-well-compressed" (advice, "SCP-180")
        "pages are so alike that readers would take the compressed file for a bomb; it is published plain",
        "Readers refuse files that grow more than a hundredfold.",
        "Nothing must be done; other text on the pages would help.";
    /// A page without a head to put links into.
    NO_HEAD = "BD010" "no-head" (advice, "D83")
        "page has no `</head>` to put links before",
        "Agents that read this page alone do not learn of the other artefacts.",
        "Write the head of the page out.";
    /// JSON Lines that are no page.
    BAD_LINE = "BD011" "bad-page-line" (warning, "SCP-004")
        "line of the source breaks a rule for pages",
        "A line that is no page is left out; other faults are corrected or dropped as the detail says.",
        "Correct what the detail names; `rutter scp pack` says more.";
    /// An address that is not below the base address.
    OUTSIDE = "BD012" "outside-the-site" (warning, "D88")
        "page's address is not below the site's address",
        "It is left out.",
        "Correct the address, or the base address.";
    /// A file of the owner that is a link to another.
    LINKED = "BD013" "linked-file" (advice, "D81")
        "file is a link to another; nothing is put into it",
        "Writing there would change the other file, or turn the link into a file of its own.",
        "Put what is wanted into the file it leads to, or give --out DIR.";
    /// A sitemap that is too large for YAML.
    NO_YAML = "BD014" "no-yaml" (note, "D63")
        "the ARC sitemap is not written as YAML",
        "Readers take at most 8 MiB of YAML, because it is read as a whole.",
        "Nothing must be done; the JSON has the same pages.";
    /// An entity whose page is not there.
    ENTITY_PAGE = "BD015" "entity-without-page" (warning, "SPX-064")
        "page of an entity is not a public page of the site; the entity is left out of the index",
        "An index must not name addresses that cannot be reached, nor pages that are not meant to be read.",
        "Correct `page` of the entity, or publish the page.";
    /// An index that is larger than it should be.
    INDEX_SIZE = "BD016" "large-index" (note, "D69")
        "the semantic index is larger than 100,000 bytes, so its pages are told of more briefly",
        "Crawlers read the index in one answer, and every page of the site stands in it.",
        "Nothing must be done.";
    /// A marker that people do not see.
    MARKER = "BD017" "marker-not-seen" (warning, "SPX-066")
        "marker of an entity does not stand in the visible text of its page",
        "A phrase that is not on the page cannot survive anything; crawlers read what people read.",
        "Put the phrase into the text, in one paragraph and letter for letter, or declare another.";
}
