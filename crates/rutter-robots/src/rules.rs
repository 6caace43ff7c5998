//! Rules of layer RB: problems in robots.txt.

rutter_finding::rules! {
    /// Rule is not below a `User-agent` line.
    RULE_OUTSIDE_GROUP = "RB001" "rule-outside-group" (warning, "RFC 9309, 2.1")
        "rule is not below a `User-agent` line",
        "A rule belongs to the group above it. Crawlers ignore a rule outside any group.",
        "Write a `User-agent` line above the rule.";
    /// Directive of the line is unknown.
    UNKNOWN_DIRECTIVE = "RB002" "unknown-directive" (note, "RFC 9309, 2.2.4")
        "directive of the line is unknown",
        "Crawlers ignore the line. A misspelt Disallow line protects nothing.",
        "Check the spelling, or turn the line into a comment.";
    /// Group for an AI crawler lacks a Disallow rule that `*` has.
    AI_GROUP_LIFTS_RULES = "RB003" "ai-group-lifts-rules" (warning, "D79")
        "group for an AI crawler lacks a Disallow rule that `*` has",
        "A crawler that is named in a group ignores the group for `*`, so the Disallow rule does not apply to it.",
        "Repeat the Disallow lines of `*` in the group, or write an explicit Allow line.";
    /// User agent is not a valid product token.
    BAD_AGENT = "RB004" "bad-agent-name" (advice, "RFC 9309, 2.2.1")
        "user agent is not a valid product token",
        "A product token consists of letters, hyphens and underscores. Crawlers ignore the rest of the name or the whole line.",
        "Write only the product token of the crawler, without version and spaces.";
    /// Sitemap line is not an absolute http or https URL.
    RELATIVE_SITEMAP = "RB005" "relative-sitemap-line" (warning, "RFC 9309, 2.2.4")
        "Sitemap line is not an absolute http or https URL",
        "Crawlers do not resolve relative URLs in this line.",
        "Write the full URL, beginning with https://.";
    /// Robots.txt is larger than 512000 bytes.
    ROBOTS_TOO_LARGE = "RB006" "robots-too-large" (warning, "D81")
        "robots.txt is larger than 512000 bytes",
        "Crawlers may stop reading after 500 KiB and ignore all further rules.",
        "Combine rules with wildcards, and delete the groups of discontinued crawlers.";
    /// Crawl-delay is not a number of seconds.
    BAD_CRAWL_DELAY = "RB007" "bad-crawl-delay" (advice, "D81")
        "Crawl-delay is not a number of seconds",
        "Crawlers that support Crawl-delay ignore the line.",
        "Write a number of seconds such as 5 or 0.5.";
    /// File begins with a byte order mark.
    ROBOTS_BOM = "RB008" "robots-bom" (hint, "RFC 9309, 2.2")
        "file begins with a byte order mark",
        "Most crawlers skip the mark. A crawler that does not skip it ignores the first line.",
        "Save the file as UTF-8 without a byte order mark.";
    /// The same pattern is both allowed and disallowed for one user agent.
    CONFLICTING_RULES = "RB009" "conflicting-rules" (advice, "RFC 9309, 2.2.2")
        "the same pattern is both allowed and disallowed for one user agent",
        "When two rules are equally long, Allow wins, so the Disallow line has no effect.",
        "Delete one of the two lines.";
    /// Line has a known misspelling or no colon.
    MISSPELT_DIRECTIVE = "RB010" "misspelt-directive" (warning, "RFC 9309, 2.2")
        "line has a known misspelling or no colon",
        "Some crawlers accept the line, others ignore it.",
        "Write `User-agent:`, `Allow:`, `Disallow:` or `Sitemap:`.";
    /// Pattern begins with neither `/` nor `*`.
    BAD_PATTERN = "RB011" "pattern-without-slash" (advice, "RFC 9309, 2.2.2")
        "pattern begins with neither `/` nor `*`",
        "Paths begin with `/`, so the rule never matches.",
        "Write a leading `/`.";
    /// Line is not valid UTF-8.
    ROBOTS_NOT_TEXT = "RB012" "robots-not-utf-8" (advice, "RFC 9309, 2.2")
        "line is not valid UTF-8",
        "Crawlers may read the invalid bytes differently.",
        "Save the file as UTF-8.";
    /// Line is longer than 16664 bytes.
    ROBOTS_LINE_TOO_LONG = "RB013" "robots-line-too-long" (advice, "D89")
        "line is longer than 16664 bytes",
        "Crawlers cut the line, which can change the meaning of the rule.",
        "Split the line into several shorter lines.";
    /// Robots.txt is an HTML page.
    ROBOTS_IS_HTML = "RB014" "robots-is-html" (warning, "RFC 9309, 2.3")
        "robots.txt is an HTML page",
        "Crawlers find no rules in an HTML page.",
        "Configure the server to answer /robots.txt with the file or with status 404.";
    /// Group has no rules.
    EMPTY_GROUP = "RB015" "group-without-rules" (hint, "RFC 9309, 2.2.1")
        "group has no rules",
        "The named crawlers may fetch everything, because they ignore the group for `*`.",
        "If this is intended, write a `Disallow:` line without a path.";

}
