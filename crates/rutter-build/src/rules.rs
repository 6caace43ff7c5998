//! Rules of layer BD: problems that a build finds in its input and output folder.

rutter_finding::rules! {
    /// File cannot be read.
    UNREADABLE = "BD001" "unreadable-file" (warning, "D85")
        "file cannot be read",
        "The previous version of its page remains published, or the page is missing.",
        "Make the file readable for the user that runs the build.";
    /// Two files have the same URL.
    TWO_FILES = "BD002" "two-files-one-address" (warning, "D30")
        "two files have the same URL",
        "Rutter publishes only the first file. A web server may deliver the other one.",
        "Remove or rename one of them.";
    /// Existing file was not written by Rutter and is kept.
    FOREIGN_FILE = "BD003" "not-our-file" (advice, "D81")
        "existing file was not written by Rutter and is kept",
        "The output that belongs here is missing or has another name.",
        "Add the file to `replace` in rutter.toml, or delete it.";
    /// File name cannot be part of a URL.
    ODD_NAME = "BD004" "odd-file-name" (advice, "D30")
        "file name cannot be part of a URL",
        "The page is excluded.",
        "Rename the file with a valid UTF-8 name.";
    /// Page contains a probable secret.
    SECRET = "BD005" "secret" (fatal, "SCP-201")
        "page contains a probable secret",
        "Collections are copied and cannot be recalled.",
        "Delete the secret from the page and revoke it. If it is not a secret, add the mark in the detail to the file named by `privacy.acknowledged`.";
    /// Page contains an e-mail address or a telephone number.
    PERSONAL = "BD006" "personal-data" (note, "SCP-172")
        "page contains an e-mail address or a telephone number",
        "It becomes part of every copy of the page.",
        "Delete it from the page if it should not be published. With `privacy.strict` the build fails instead.";
    /// Site is published below a path of its host.
    UNDER_A_PATH = "BD007" "site-under-a-path" (advice, "D92")
        "site is published below a path of its host",
        "robots.txt and files in .well-known are valid only at the root of the host, and crawlers look for sitemap.xml and llms.txt there.",
        "Add the lines of the generated robots.txt to the robots.txt at the root of the host. The links that `inject` writes into the page heads work at any path.";
    /// Page has more blocks than a collection may hold.
    OVERSIZE = "BD008" "oversize-page" (warning, "D36")
        "page has more blocks than a collection may hold",
        "Readers reject such a page. The build fails because `oversize` is `stop`.",
        "Split the page, or set `oversize` to `merge`.";
    /// Compression ratio is so high that readers would reject the file; it is published
    /// uncompressed.
    RATIO = "BD009" "too-well-compressed" (advice, "SCP-180")
        "compression ratio is so high that readers would reject the file; it is published uncompressed",
        "Readers reject files that expand more than 100 times.",
        "Nothing. More varied text on the pages lowers the ratio.";
    /// Page has no `</head>`, so links cannot be inserted.
    NO_HEAD = "BD010" "no-head" (advice, "D83")
        "page has no `</head>`, so links cannot be inserted",
        "Agents that read only this page do not find the other layers.",
        "Write the `<head>` element with its end tag.";
    /// Line of the JSON Lines source is not a valid page.
    BAD_LINE = "BD011" "bad-page-line" (warning, "SCP-004")
        "line of the JSON Lines source is not a valid page",
        "Invalid lines are skipped. Smaller problems are corrected or dropped, as the detail says.",
        "Correct the problem in the detail. `rutter scp pack` shows more.";
    /// URL of the page is not below the base URL of the site.
    OUTSIDE = "BD012" "outside-the-site" (warning, "D88")
        "URL of the page is not below the base URL of the site",
        "The page is excluded.",
        "Correct the URL of the page or the base URL.";
    /// File is a symbolic link and is not changed.
    SYMLINK = "BD013" "linked-file" (advice, "D81")
        "file is a symbolic link and is not changed",
        "Writing would change the target of the link, or replace the link with a file.",
        "Make the change in the target file, or choose another output folder with `out`.";
    /// ARC sitemap is not written as YAML.
    NO_YAML = "BD014" "no-yaml" (note, "D63")
        "ARC sitemap is not written as YAML",
        "Readers accept at most 8 MiB of YAML, because they must load it as a whole.",
        "Nothing. The JSON file lists the same pages.";
    /// Entity was excluded from the index because its page is not public.
    ENTITY_PAGE = "BD015" "entity-without-page" (warning, "SPX-064")
        "entity was excluded from the index because its page is not public",
        "An index must not contain URLs that are unreachable or restricted.",
        "Correct `page` of the entity, or publish the page.";
    /// Semantic index is larger than 100,000 bytes, so page descriptions are shortened.
    INDEX_SIZE = "BD016" "large-index" (note, "D69")
        "semantic index is larger than 100,000 bytes, so page descriptions are shortened",
        "Crawlers read the index in one response, and the index lists every page of the site.",
        "Nothing.";
    /// Marker of an entity is not in the visible text of its page.
    MARKER = "BD017" "marker-not-seen" (warning, "SPX-066")
        "marker of an entity is not in the visible text of its page",
        "A phrase that is not on the page cannot survive in a summary. Crawlers read the visible text.",
        "Add the exact phrase to one paragraph of the text, or declare another marker.";
}
