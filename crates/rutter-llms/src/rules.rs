//! Rules of layer LL: problems in llms.txt.

rutter_finding::rules! {
    LLMS_NO_TITLE = "LL001" "llms-without-title" (warning, "D82") {
        title: "file has no level-1 heading",
        why: "The heading names the site. It is the only part that the format requires.",
        fix: "Begin the file with `# Name of the site`.",
        wrong in "llms.txt":
            "> Tides, berths and news of a small port.",
            "",
            "## Guides",
            "",
            "- [Tides](https://harbour.example/tides.html)",
        right:
            "# Port Selk",
            "",
            "> Tides, berths and news of a small port.",
            "",
            "## Guides",
            "",
            "- [Tides](https://harbour.example/tides.html)",
    }
    LLMS_NO_SUMMARY = "LL002" "llms-without-summary" (note, "D82") {
        title: "file has no summary",
        why: "A quoted line below the title tells readers what the site is about.",
        fix: "Write a line with `> ` and one sentence below the title.",
        wrong in "llms.txt":
            "# Port Selk",
            "",
            "## Guides",
            "",
            "- [Tides](https://harbour.example/tides.html)",
        right:
            "# Port Selk",
            "",
            "> Tides, berths and news of a small port.",
            "",
            "## Guides",
            "",
            "- [Tides](https://harbour.example/tides.html)",
    }
    LLMS_NO_LINK = "LL003" "llms-item-without-link" (advice, "D82") {
        title: "list item has no link",
        why: "Sections are lists of links. Readers skip items without a link.",
        fix: "Write `- [title](https://…): note`.",
        wrong in "llms.txt":
            "# Port Selk",
            "",
            "> Tides and berths.",
            "",
            "## Guides",
            "",
            "- Tides",
        right:
            "# Port Selk",
            "",
            "> Tides and berths.",
            "",
            "## Guides",
            "",
            "- [Tides](https://harbour.example/tides.html): high and low water",
    }
    LLMS_IS_HTML = "LL004" "llms-is-html" (warning, "D82") {
        title: "llms.txt is an HTML page",
        why: "A server that answers every request with an HTML page hides that llms.txt does not exist.",
        fix: "Configure the server to answer with the file or with status 404.",
        wrong in "llms.txt":
            "<!doctype html>",
            "<html><body><h1>Page not found</h1></body></html>",
        right:
            "# Port Selk",
            "",
            "> Tides and berths.",
    }
    LLMS_TOO_LARGE = "LL005" "llms-too-large" (advice, "D89") {
        title: "file is larger than 1000000 bytes",
        why: "llms.txt is an index. Readers stop early or skip a file of this size.",
        fix: "Link to pages or section files instead of including their text.",
        wrong: "An llms.txt of 3 MB with the text of every page.",
        right: "A list of links, with the text in `llms-full.txt` or in collections.",
    }
    LLMS_LATE_TITLE = "LL006" "llms-text-before-title" (advice, "D82") {
        title: "text precedes the title",
        why: "Readers expect the title at the beginning of the file.",
        fix: "Move the text below the title.",
        wrong in "llms.txt":
            "Welcome!",
            "",
            "# Port Selk",
            "",
            "> Tides and berths.",
        right:
            "# Port Selk",
            "",
            "> Tides and berths.",
            "",
            "Welcome!",
    }
    LLMS_BAD_LINK = "LL007" "llms-bad-link" (advice, "D82") {
        title: "link is neither an http or https URL nor a path of the site",
        why: "Readers cannot follow the link.",
        fix: "Write an absolute URL, or a path that begins with `/`.",
        wrong in "llms.txt":
            "# Port Selk",
            "",
            "> Tides and berths.",
            "",
            "## Guides",
            "",
            "- [Tides](javascript:tides)",
        right:
            "# Port Selk",
            "",
            "> Tides and berths.",
            "",
            "## Guides",
            "",
            "- [Tides](/tides.html)",
    }
}
