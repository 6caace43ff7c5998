//! Worst cases of JSON, JSON Lines, XML and YAML.

use crate::shape::{Case, halves, nest, repeat};

const START: &str = r#"{"url":"https://a.example/","title":"A","description":"B","modified":"2026-01-01T00:00:00Z","language":"en","#;
const CONTENT: &str = r#"{"url":"https://a.example/","title":"A","description":"B","modified":"2026-01-01T00:00:00Z","language":"en","content":["#;
const END: &str = r#"{"type":"text","text":"x"}]}"#;
const TEXT_START: &str = r#"{"url":"https://a.example/","title":"A","description":"B","modified":"2026-01-01T00:00:00Z","language":"en","content":[{"type":"text","text":""#;
const TEXT_END: &str = r#""}]}"#;

pub(crate) const PAGE_LINE: &[Case] = &[
    repeat("long text", TEXT_START, "word ", TEXT_END),
    repeat("escapes", TEXT_START, "\\n", TEXT_END),
    repeat("unicode escapes", TEXT_START, "\\u0041", TEXT_END),
    repeat("surrogates", TEXT_START, "\\ud83d\\ude00", TEXT_END),
    repeat("bidi characters", TEXT_START, "\u{202e}", TEXT_END),
    repeat("Markdown in text", TEXT_START, "*_`[", TEXT_END),
    repeat("backticks", TEXT_START, "` ``", TEXT_END),
    repeat("line breaks", TEXT_START, "a\\n\\n# ", TEXT_END),
    repeat("ampersands", TEXT_START, "&lt;<", TEXT_END),
    repeat("numbers at line starts", TEXT_START, "1. a\\n", TEXT_END),
    repeat("blocks", CONTENT, r#"{"type":"text","text":"a"},"#, END),
    repeat("unknown blocks", CONTENT, r#"{"type":"x{n}","y":[1]},"#, END),
    repeat("broken blocks", CONTENT, r#"{"type":"heading"},"#, END),
    repeat("unsafe links", CONTENT, r#"{"type":"link","url":"javascript:a","text":"b"},"#, END),
    repeat("items", CONTENT, r#"{"type":"list","ordered":false,"items":["a","b"]},"#, END),
    repeat(
        "rows",
        r#"{"url":"https://a.example/","title":"A","description":"B","modified":"2026-01-01T00:00:00Z","language":"en","content":[{"type":"table","rows":["#,
        r#"["a","b"],"#,
        r#"["c","d"]]}]}"#,
    ),
    repeat("members", START, "\"m{n}\":1,", "\"content\":[]}"),
    repeat("equal members", START, "\"m\":1,", "\"content\":[]}"),
    repeat("equal known members", START, "\"title\":\"a\",", "\"content\":[]}"),
    repeat("long member name", START, "a", ""),
    nest("arrays", [START, ",\"content\":[]}"], "[", "", "]"),
    nest("arrays in a member", [r#"{"url":"https://a.example/","x":"#, "}"], "[", "", "]"),
    nest("objects in a member", [r#"{"url":"https://a.example/","x":"#, "}"], "{\"a\":", "1", "}"),
    repeat("open arrays", r#"{"x":"#, "[", ""),
    repeat("open strings", "{", "\"", ""),
    repeat("digits", r#"{"x":"#, "1", "}"),
    repeat("white space", START, " ", "\"content\":[]}"),
    repeat("long URL", r#"{"url":"https://a.example/"#, "a/", r#"","content":[]}"#),
    repeat("tags", START, "\"tags\":[\"a{n}\"],", "\"content\":[]}"),
];

const META: &str = "{\"collection\":{\"id\":\"all\",\"section\":\"all\",\"type\":\"snapshot\",\"generated\":\"2026-01-01T00:00:00Z\",\"version\":\"0.1\"}}\n";

pub(crate) const COLLECTION: &[Case] = &[
    repeat(
        "pages",
        META,
        "{\"url\":\"https://a.example/{n}\",\"title\":\"A\",\"description\":\"B\",\"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}\n",
        "",
    ),
    repeat(
        "equal pages",
        META,
        "{\"url\":\"https://a.example/\",\"title\":\"A\",\"description\":\"B\",\"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}\n",
        "",
    ),
    repeat("empty lines", META, "\n", ""),
    repeat("white space before", "", "\n", META),
    repeat("objects", META, "{}\n", ""),
    repeat("broken lines", META, "{\n", ""),
    repeat("deletions", META, "{\"url\":\"https://a.example/{n}\",\"deleted\":true}\n", ""),
    repeat("one long line", META, "a", ""),
    repeat("long first line", "{\"collection\":{\"x\":\"", "a", "\"}}\n"),
    repeat("members of the first line", "{\"collection\":{", "\"m{n}\":1,", "\"id\":\"all\"}}\n"),
    nest("nested first line", ["{\"collection\":", "}\n"], "[", "", "]"),
    repeat("line ends", META, "\r", ""),
];

const XML: &str = "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:scp=\"https://scp-protocol.org/sitemap/0.1\">";
const XML_END: &str = "</urlset>";
const ENTRY: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://a.example/</loc>";
const ENTRY_END: &str = "</url></urlset>";

pub(crate) const SITEMAP: &[Case] = &[
    repeat("entries", XML, "<url><loc>https://a.example/{n}</loc></url>", XML_END),
    repeat("equal entries", XML, "<url><loc>https://a.example/</loc></url>", XML_END),
    repeat("relative entries", XML, "<url><loc>/{n}</loc></url>", XML_END),
    repeat("empty entries", XML, "<url/>", XML_END),
    repeat(
        "children",
        ENTRY,
        "<image:image><image:loc>https://a.example/i</image:loc></image:image>",
        ENTRY_END,
    ),
    repeat("unknown children", ENTRY, "<x/>", ENTRY_END),
    repeat("lastmods", ENTRY, "<lastmod>2026-01-01</lastmod>", ENTRY_END),
    repeat(
        "alternates",
        ENTRY,
        "<xhtml:link xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" rel=\"alternate\" hreflang=\"en\" href=\"https://a.example/{n}\"/>",
        ENTRY_END,
    ),
    nest("nesting", [XML, XML_END], "<a>", "x", "</a>"),
    nest("nesting in an entry", [ENTRY, ENTRY_END], "<a>", "x", "</a>"),
    nest("namespaces", [ENTRY, ENTRY_END], "<a xmlns=\"n\">", "x", "</a>"),
    repeat("open elements", XML, "<a>", ""),
    repeat("attributes", "<urlset", " a{n}=\"b\"", "><url/></urlset>"),
    repeat(
        "attributes of a child",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><x",
        " a{n}=\"b\"",
        "/></url></urlset>",
    ),
    repeat("namespace declarations", "<urlset", " xmlns:n{n}=\"u{n}\"", "><n1:a/></urlset>"),
    repeat("namespaces of children", ENTRY, "<n{n}:a xmlns:n{n}=\"u\"/>", ENTRY_END),
    repeat(
        "entities",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://a.example/",
        "&amp;",
        "</loc></url></urlset>",
    ),
    repeat(
        "unknown entities",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://a.example/",
        "&a;",
        "</loc></url></urlset>",
    ),
    repeat("open entity", "<urlset><url><loc>", "&", "</loc></url></urlset>"),
    repeat("entity declarations", "<!DOCTYPE a [", "<!ENTITY a{n} \"b\">", "]><urlset/>"),
    repeat("comments", XML, "<!--a-->", XML_END),
    repeat("open comments", XML, "<!--", ""),
    repeat(
        "comments in loc",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://a.example/",
        "a<!---->",
        "</loc></url></urlset>",
    ),
    repeat(
        "cdata",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://a.example/",
        "<![CDATA[a]]>",
        "</loc></url></urlset>",
    ),
    repeat("instructions", XML, "<?a?>", XML_END),
    repeat("white space", XML, "\n", XML_END),
    repeat("less than", XML, "<", ""),
    repeat("quotes", "<urlset a=", "\"", ""),
    repeat("long name", "<", "a", ">"),
    repeat("wrong end tags", XML, "</a>", XML_END),
    repeat(
        "adverts",
        XML,
        "<scp:collection section=\"s{n}\" type=\"snapshot\" url=\"https://a.example/s.scp\" generated=\"2026-01-01T00:00:00Z\"/>",
        XML_END,
    ),
    repeat(
        "index children",
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">",
        "<sitemap><loc>https://a.example/{n}</loc></sitemap>",
        "</sitemapindex>",
    ),
    repeat("URL list", "", "https://a.example/{n}\n", ""),
    repeat(
        "feed",
        "<rss><channel>",
        "<item><link>https://a.example/{n}</link></item>",
        "</channel></rss>",
    ),
];

const ARC: &str = r#"{"version":"1.0","site":"https://a.example","generated_at":"2026-01-01T00:00:00Z","pages":["#;
const ARC_END: &str = "]}";

pub(crate) const ARC_JSON: &[Case] = &[
    repeat(
        "pages",
        ARC,
        r#"{"url":"https://a.example/{n}","ai_indexable":true,"ai_summary":"s"},"#,
        r#"{"url":"https://a.example/"}]}"#,
    ),
    repeat(
        "equal pages",
        ARC,
        r#"{"url":"https://a.example/","ai_indexable":true},"#,
        r#"{"url":"https://a.example/"}]}"#,
    ),
    repeat(
        "removed pages",
        ARC,
        r#"{"url":"https://a.example/{n}","removed":true},"#,
        r#"{"url":"https://a.example/"}]}"#,
    ),
    repeat(
        "tags",
        r#"{"version":"1.0","site":"https://a.example","pages":[{"url":"https://a.example/","ai_tags":["#,
        "\"t{n}\",",
        r#""x"]}]}"#,
    ),
    repeat(
        "members of a page",
        r#"{"version":"1.0","pages":[{"#,
        "\"m{n}\":1,",
        r#""url":"https://a.example/"}]}"#,
    ),
    repeat(
        "equal members of a page",
        r#"{"version":"1.0","pages":[{"#,
        "\"url\":\"https://a.example/\",",
        r#""x":1}]}"#,
    ),
    repeat("members of the head", "{", "\"m{n}\":1,", r#""pages":[]}"#),
    repeat("equal members of the head", "{", "\"site\":\"https://a.example\",", r#""pages":[]}"#),
    repeat("lists of pages", "{", "\"pages\":[],", r#""version":"1.0"}"#),
    repeat(
        "long summary",
        r#"{"version":"1.0","pages":[{"url":"https://a.example/","ai_summary":""#,
        "word ",
        "\"}]}",
    ),
    repeat(
        "escapes",
        r#"{"version":"1.0","pages":[{"url":"https://a.example/","ai_summary":""#,
        "\\n",
        "\"}]}",
    ),
    nest("nested pages", [ARC, ARC_END], "[", "", "]"),
    nest(
        "nested member",
        [r#"{"version":"1.0","pages":[{"url":"https://a.example/","x":"#, "}]}"],
        "{\"a\":",
        "1",
        "}",
    ),
    nest("nested head", [r#"{"x":"#, ",\"pages\":[]}"], "[", "", "]"),
    repeat("open arrays", ARC, "[", ""),
    repeat("open objects", ARC, "{\"a\":", ""),
    repeat("open strings", ARC, "\"", ""),
    repeat("white space", ARC, " ", ARC_END),
    repeat("digits", r#"{"version":"#, "1", "}"),
    repeat("commas", ARC, ",", ARC_END),
    repeat("broken pages", ARC, "1,", "2]}"),
];

const YAML: &str = "version: \"1.0\"\nsite: https://a.example\npages:\n";

pub(crate) const ARC_YAML: &[Case] = &[
    repeat("pages", YAML, "  - url: https://a.example/{n}\n    ai_indexable: true\n", ""),
    repeat("anchors", YAML, "  - &a{n} {url: https://a.example/{n}}\n", ""),
    repeat("equal anchors", YAML, "  - &a {url: https://a.example/}\n", ""),
    repeat("aliases", "x: &a [1, 2, 3]\npages:\n", "  - *a\n", ""),
    halves("aliases of a long list", ["x: &a [", ""], "1,", "1]\npages:\n", "  - *a\n"),
    repeat("aliases of aliases", "a0: &a [1]\n", "a{n}: &a [*a, *a]\n", "pages: []\n"),
    repeat("merge keys", "x: &a {b: 1}\npages:\n", "  - {<<: *a, url: https://a.example/}\n", ""),
    repeat("flow nesting", "x: ", "[", ""),
    nest("flow lists", ["x: ", "\npages: []\n"], "[", "", "]"),
    nest("flow maps", ["x: ", "\npages: []\n"], "{a: ", "1", "}"),
    repeat("block nesting", "x:\n", "- ", "a"),
    repeat("keys", "", "k{n}: 1\n", "pages: []\n"),
    repeat("equal keys", "", "k: 1\n", "pages: []\n"),
    repeat("question marks", "", "? ", ""),
    repeat("documents", "", "---\n", ""),
    repeat("comments", "", "# a\n", "pages: []\n"),
    repeat("tags", YAML, "  - !!str a\n", ""),
    repeat("directives", "", "%TAG !a{n}! b\n", "---\npages: []\n"),
    repeat("quoted escapes", "x: \"", "\\n", "\"\npages: []\n"),
    repeat("single quotes", "x: '", "''", "'\npages: []\n"),
    repeat("block text", "x: |\n", "  a\n", "pages: []\n"),
    repeat("folded text", "x: >\n", "  a\n", "pages: []\n"),
    repeat("plain lines", "x: a\n", "  b\n", "pages: []\n"),
    repeat("blank lines", "x: a\n", "\n", "pages: []\n"),
    repeat("long plain text", "x: ", "a ", "\npages: []\n"),
    repeat("colons", "x", ":", "\n"),
    repeat("commas", "x: [", ",", "]\n"),
    repeat("spaces", "x:", " ", "a\npages: []\n"),
    repeat("tabs", "x:", "\t", "a\n"),
];

pub(crate) const ARC_POLICY: &[Case] = &[
    repeat(
        "consumers",
        r#"{"version":"1.0","consumers":["#,
        r#"{"name":"c{n}","access":"full"},"#,
        "{}]}",
    ),
    repeat(
        "endpoints",
        r#"{"version":"1.0","endpoints":["#,
        r#"{"path":"/{n}","methods":["GET"]},"#,
        "{}]}",
    ),
    repeat("members", "{", "\"m{n}\":1,", "\"version\":\"1.0\"}"),
    repeat("equal members", "{", "\"version\":\"1.0\",", "\"site\":\"https://a.example\"}"),
    repeat("access", r#"{"version":"1.0","access":{"#, "\"a{n}\":\"full\",", "\"b\":\"none\"}}"),
    repeat(
        "pointers",
        r#"{"@context":"https://schema.org","@graph":["#,
        r#"{"@type":"WebSite","url":"https://a.example/{n}"},"#,
        "{}]}",
    ),
    repeat("contexts", r#"{"@context":["#, "\"https://schema.org\",", "{}]}"),
    nest("nesting", [r#"{"x":"#, "}"], "[", "", "]"),
    nest("objects", [r#"{"x":"#, "}"], "{\"a\":", "1", "}"),
    repeat("open arrays", "", "[", ""),
    repeat("long text", "{\"version\":\"", "a", "\"}"),
    repeat("escapes", "{\"version\":\"", "\\u0041", "\"}"),
    repeat("white space", "{", "\n", "}"),
];
