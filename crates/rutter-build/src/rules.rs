//! Rules of layer BD: problems that a build finds in its input and output folder.

rutter_finding::rules! {
    UNREADABLE = "BD001" "unreadable-file" (warning, "D85") {
        title: "file cannot be read",
        why: "If the page cache holds the last published version of the page, that version stays published; otherwise the build fails. A page that was never published is missing.",
        fix: "Make the file readable for the user that runs the build.",
        wrong: "A page that only another user can read (`chmod 600`).",
        right: "`chmod 644`, or a build by the owner of the files.",
    }
    TWO_FILES = "BD002" "two-files-one-address" (warning, "D30") {
        title: "two files have the same URL",
        why: "Rutter publishes only the first file. A web server may deliver the other one.",
        fix: "Remove or rename one of them.",
        wrong: "`tides.html` and `tides/index.html`, which many hosts deliver at the same URL `/tides`.",
        right: "Only one of the two files.",
    }
    FOREIGN_FILE = "BD003" "not-our-file" (advice, "D81") {
        title: "existing file was not written by Rutter and is kept",
        why: "Rutter does not overwrite such a file, so the output of Rutter is missing or has another name.",
        fix: "Add the file to `replace` in rutter.toml, or delete it.",
        wrong in "rutter.toml": "# The output folder contains a hand-written llms.txt.",
        right: r#"replace = ["llms.txt"]"#,
    }
    ODD_NAME = "BD004" "odd-file-name" (advice, "D30") {
        title: "file name cannot be part of a URL",
        why: "The page is excluded.",
        fix: "Rename the file with a valid UTF-8 name.",
        wrong: "A file name with bytes that are not UTF-8, or with a control character.",
        right: "`hafen-plan.html`",
    }
    SECRET = "BD005" "secret" (fatal, "SCP-201") {
        title: "page contains a probable secret",
        why: "Collections are copied and cannot be recalled.",
        fix: "Delete the secret from the page and revoke it. If it is not a secret, copy the mark at the end of the detail into the file that `privacy.acknowledged` names.",
        wrong in "page.html": "<pre>AWS_ACCESS_KEY_ID=AKIAQ3EGRT7WZ5KLM2NP</pre>",
        right: "<pre>AWS_ACCESS_KEY_ID=$YOUR_KEY</pre>",
    }
    PERSONAL = "BD006" "personal-data" (note, "SCP-172") {
        title: "page contains an e-mail address or a telephone number",
        why: "The address or number is part of every copy of the page, and copies cannot be recalled.",
        fix: "Delete the address or number from the page if it should not be published. With `privacy.strict`, the build fails instead of reporting it.",
        wrong in "page.html": "<p>Write to jo.holm@port-selk.org.</p>",
        right: r#"<p>Write to the <a href="/contact.html">harbour office</a>.</p>"#,
    }
    UNDER_A_PATH = "BD007" "site-under-a-path" (advice, "D92") {
        title: "site is published below a path of its host",
        why: "robots.txt and files in .well-known are valid only at the root of the host, and crawlers look for sitemap.xml and llms.txt there.",
        fix: "Add the lines of the generated robots.txt to the robots.txt at the root of the host. The links that `inject` writes into the page heads work at any path.",
        wrong: r#"`base-url = "https://people.example/~jo/"`: crawlers ignore a robots.txt below `/~jo/`."#,
        right: "The generated lines are copied to `https://people.example/robots.txt`, or `inject = true`.",
    }
    OVERSIZE = "BD008" "oversize-page" (warning, "D36") {
        title: "page has more blocks than a collection may hold",
        why: "Readers reject such a page. The build fails because `oversize` is `stop`.",
        fix: "Split the page, or set `oversize` to `merge`.",
        wrong: "A page with thousands of table rows, each of them a block.",
        right: r#"`oversize = "merge"`, or several smaller pages."#,
    }
    RATIO = "BD009" "too-well-compressed" (advice, "SCP-180") {
        title: "compression ratio is so high that readers would reject the file; it is published uncompressed",
        why: "Readers reject files that expand more than 100 times.",
        fix: "No action is needed. More varied text on the pages lowers the ratio.",
        wrong: "Ten thousand pages that differ only in a number.",
        right: "Pages with individual text. Until then Rutter publishes an uncompressed collection.",
    }
    NO_HEAD = "BD010" "no-head" (advice, "D83") {
        title: "page has no `</head>`, so links cannot be inserted",
        why: "Agents that read only this page do not find the other layers.",
        fix: "Write the `<head>` element with its end tag.",
        wrong in "page.html": "<!doctype html><title>Tides</title><p>High water at 06:12.",
        right: "<!doctype html><head><title>Tides</title></head><p>High water at 06:12.",
    }
    BAD_LINE = "BD011" "bad-page-line" (warning, "SCP-004") {
        title: "line of the JSON Lines source is not a valid page",
        why: "Invalid lines are skipped. Smaller problems are corrected or dropped, as the detail says.",
        fix: "Correct the problem that the detail names. `rutter scp pack` shows all problems of the file.",
        wrong in "pages.jsonl": r#"{"url": "https://harbour.example/", "title": "Port Selk"}"#,
        right: r#"{"url": "https://harbour.example/", "title": "Port Selk", "description": "A port.", "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{"type": "text", "text": "A port."}]}"#,
    }
    OUTSIDE = "BD012" "outside-the-site" (warning, "D88") {
        title: "URL of the page is not below the base URL of the site",
        why: "The page is excluded.",
        fix: "Correct the URL of the page or the base URL.",
        wrong: "`https://other.example/tides` among the pages of `https://harbour.example/`.",
        right: "`https://harbour.example/tides`",
    }
    SYMLINK = "BD013" "linked-file" (advice, "D81") {
        title: "file is a symbolic link and is not changed",
        why: "Writing would change the target of the link, or replace the link with a file.",
        fix: "Make the change in the target file, or choose another output folder with `out`.",
        wrong: "`robots.txt`, a symbolic link to `../shared/robots.txt`.",
        right: "A regular file, or another output folder.",
    }
    NO_YAML = "BD014" "no-yaml" (note, "D63") {
        title: "ARC sitemap is not written as YAML",
        why: "Readers accept at most 8 MiB of YAML, because they must load it as a whole.",
        fix: "No action is needed. The JSON file lists the same pages.",
        wrong: "An ARC sitemap that would have 20 MB as YAML.",
        right: "No change is necessary: the JSON file is complete.",
    }
    ENTITY_PAGE = "BD015" "entity-without-page" (warning, "SPX-064") {
        title: "entity was excluded from the index because its page is not public",
        why: "An index must not contain URLs that are unreachable or restricted.",
        fix: "Correct `page` of the entity, or publish the page.",
        wrong in "rutter.toml":
            "[[entities]]",
            r#"name = "Low Light""#,
            r#"page = "/drafts/low-light.html""#,
        right:
            "[[entities]]",
            r#"name = "Low Light""#,
            r#"page = "/museum/low-light.html""#,
    }
    INDEX_SIZE = "BD016" "large-index" (note, "D69") {
        title: "semantic index is larger than 100,000 bytes, so page descriptions are shortened",
        why: "Crawlers read the index in one response, and the index lists every page of the site.",
        fix: "No action is needed.",
        wrong: "A site with one entity and 5,000 pages, each of which is a surface of the index.",
        right: "No change is necessary: Rutter writes shorter surfaces.",
    }
    MARKER = "BD017" "marker-not-seen" (warning, "SPX-066") {
        title: "marker of an entity is not in the visible text of its page",
        why: "A phrase that is not on the page cannot survive in a summary. Crawlers read the visible text.",
        fix: "Add the exact phrase to one paragraph of the text, or declare another marker.",
        wrong in "page.html": "<p>The tower was <b>built</b> around <i>1890</i>.</p>",
        right: "<p>The tower was built in 1890.</p>",
    }
}
