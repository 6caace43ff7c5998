//! Rules of layer LL: problems in llms.txt.

rutter_finding::rules! {
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
