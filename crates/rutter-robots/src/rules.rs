//! Rules of layer RB: problems in robots.txt.

rutter_finding::rules! {
    RULE_OUTSIDE_GROUP = "RB001" "rule-outside-group" (warning, "RFC 9309, 2.1") {
        title: "rule is not below a `User-agent` line",
        why: "A rule belongs to the group above it. Crawlers ignore a rule outside any group.",
        fix: "Write a `User-agent` line above the rule.",
        wrong in "robots.txt":
            "Disallow: /drafts/",
            "User-agent: *",
            "Allow: /",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
    }
    UNKNOWN_DIRECTIVE = "RB002" "unknown-directive" (note, "RFC 9309, 2.2.4") {
        title: "directive of the line is unknown",
        why: "Crawlers ignore the line. A misspelt Disallow line protects nothing.",
        fix: "Check the spelling, or turn the line into a comment.",
        wrong in "robots.txt":
            "User-agent: *",
            "Dont-crawl: /drafts/",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
    }
    AI_GROUP_LIFTS_RULES = "RB003" "ai-group-lifts-rules" (warning, "D79") {
        title: "group for an AI crawler lacks a Disallow rule of the group for `*`",
        why: "A crawler that is named in a group ignores the group for `*`, so the Disallow rule does not apply to it.",
        fix: "Repeat the Disallow lines of the group for `*`. If the crawler may fetch these paths, write Allow lines for them.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow: /members/",
            "",
            "User-agent: GPTBot",
            "Crawl-delay: 5",
            "Disallow: /search",
        right:
            "User-agent: *",
            "Disallow: /members/",
            "",
            "User-agent: GPTBot",
            "Crawl-delay: 5",
            "Disallow: /search",
            "Disallow: /members/",
    }
    BAD_AGENT = "RB004" "bad-agent-name" (advice, "RFC 9309, 2.2.1") {
        title: "user agent is not a valid product token",
        why: "A product token consists of letters, hyphens and underscores. Crawlers ignore the rest of the name or the whole line.",
        fix: "Write only the product token of the crawler, without version and spaces.",
        wrong in "robots.txt":
            "User-agent: GPTBot/1.2 (+https://openai.com)",
            "Disallow: /drafts/",
        right:
            "User-agent: GPTBot",
            "Disallow: /drafts/",
    }
    RELATIVE_SITEMAP = "RB005" "relative-sitemap-line" (warning, "RFC 9309, 2.2.4") {
        title: "Sitemap line is not an absolute http or https URL",
        why: "Crawlers do not resolve relative URLs in this line.",
        fix: "Write the full URL, beginning with https://.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow:",
            "Sitemap: /sitemap.xml",
        right:
            "User-agent: *",
            "Disallow:",
            "Sitemap: https://harbour.example/sitemap.xml",
    }
    ROBOTS_TOO_LARGE = "RB006" "robots-too-large" (warning, "RFC 9309, 2.5") {
        title: "robots.txt is larger than 512000 bytes",
        why: "Crawlers may stop reading after 500 KiB and ignore all further rules.",
        fix: "Combine rules with wildcards, and delete the groups of discontinued crawlers.",
        wrong: "A robots.txt of 600 kB with one Disallow line per page.",
        right: "One rule for all these pages, such as `Disallow: /archive/`.",
    }
    BAD_CRAWL_DELAY = "RB007" "bad-crawl-delay" (advice, "D52") {
        title: "Crawl-delay is not a number of seconds",
        why: "Crawlers that support Crawl-delay ignore the line.",
        fix: "Write a number of seconds such as 5 or 0.5.",
        wrong in "robots.txt":
            "User-agent: *",
            "Crawl-delay: five",
        right:
            "User-agent: *",
            "Crawl-delay: 5",
    }
    ROBOTS_BOM = "RB008" "robots-bom" (hint, "RFC 9309, 2.2") {
        title: "file begins with a byte order mark",
        why: "Most crawlers skip the mark. A crawler that does not skip it ignores the first line.",
        fix: "Save the file as UTF-8 without a byte order mark.",
        wrong: "The bytes EF BB BF before the first `User-agent`.",
        right: "A file that begins with `User-agent`.",
    }
    CONFLICTING_RULES = "RB009" "conflicting-rules" (advice, "RFC 9309, 2.2.2") {
        title: "the same pattern is both allowed and disallowed for one user agent",
        why: "When two rules are equally long, Allow wins, so the Disallow line has no effect.",
        fix: "Delete one of the two lines.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow: /tides",
            "Allow: /tides",
        right:
            "User-agent: *",
            "Disallow: /tides",
    }
    MISSPELT_DIRECTIVE = "RB010" "misspelt-directive" (warning, "RFC 9309, 2.2") {
        title: "line has a known misspelling or no colon",
        why: "Some crawlers accept the line, others ignore it.",
        fix: "Write `User-agent:`, `Allow:`, `Disallow:` or `Sitemap:`.",
        wrong in "robots.txt":
            "User-agent: *",
            "Dissallow: /drafts/",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
    }
    BAD_PATTERN = "RB011" "pattern-without-slash" (advice, "RFC 9309, 2.2.2") {
        title: "pattern begins with neither `/` nor `*`",
        why: "Paths begin with `/`, so the rule never matches.",
        fix: "Write a leading `/`.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow: drafts/",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
    }
    ROBOTS_NOT_TEXT = "RB012" "robots-not-utf-8" (advice, "RFC 9309, 2.2") {
        title: "line is not valid UTF-8",
        why: "Crawlers may read the invalid bytes differently.",
        fix: "Save the file as UTF-8.",
        wrong: "`Disallow: /Häfen/` saved as Latin-1.",
        right: "The same line saved as UTF-8, or `Disallow: /H%C3%A4fen/`.",
    }
    ROBOTS_LINE_TOO_LONG = "RB013" "robots-line-too-long" (advice, "D89") {
        title: "line is longer than 16664 bytes",
        why: "Crawlers cut the line, which can change the meaning of the rule.",
        fix: "Split the line into several shorter lines.",
        wrong: "A `Disallow` line of 20,000 characters.",
        right: "Several lines, each with a path of ordinary length.",
    }
    ROBOTS_IS_HTML = "RB014" "robots-is-html" (warning, "RFC 9309, 2.3") {
        title: "robots.txt is an HTML page",
        why: "Crawlers find no rules in an HTML page.",
        fix: "Configure the server to answer /robots.txt with the file or with status 404.",
        wrong in "robots.txt":
            "<!doctype html>",
            "<title>Not found</title>",
        right:
            "User-agent: *",
            "Disallow:",
    }
    EMPTY_GROUP = "RB015" "group-without-rules" (hint, "RFC 9309, 2.2.1") {
        title: "group has no rules",
        why: "The named crawlers may fetch everything, because they ignore the group for `*`.",
        fix: "Write rules below the `User-agent` line. If the crawlers may fetch everything, write a `Disallow:` line without a path.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow: /drafts/",
            "",
            "User-agent: GPTBot",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
            "",
            "User-agent: GPTBot",
            "Disallow: /drafts/",
    }

}
