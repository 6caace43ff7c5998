//! Every file in `fixtures` is a case: its snapshot shows the page as Markdown
//! and as JSON, what it says about itself, and the findings.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use rutter_extract::{Extraction, html, markdown};

use crate::{options, read};

#[test] // SCP-053 SCP-054 SCP-055 SCP-057 SCP-058 SCP-059 SCP-061 SCP-062 SCP-064 SCP-071
fn fixtures() {
    insta::glob!("../../fixtures", "*.{html,md}", |path| {
        let input = std::fs::read(path).unwrap();
        let options = options("https://harbour.example/docs/page.html");
        let is_markdown = path.extension().is_some_and(|ending| ending == "md");
        let extraction =
            if is_markdown { markdown(&input, &options) } else { html(&input, &options) };
        insta::assert_snapshot!(shown(&extraction));
    });
}

fn shown(extraction: &Extraction) -> String {
    let mut out = extraction.to_markdown();
    out.push_str("\n=== json\n");
    let page: serde_json::Value = serde_json::from_str(&extraction.page.to_line()).unwrap();
    for block in page["content"].as_array().unwrap() {
        writeln!(out, "{block}").unwrap();
    }
    if !page["schema"].is_null() {
        writeln!(out, "schema {}", page["schema"]).unwrap();
    }
    out.push_str("=== facts\n");
    let facts = &extraction.facts;
    for (name, value) in
        [("site", &facts.site_name), ("image", &facts.image), ("canonical", &facts.canonical)]
    {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}").unwrap();
        }
    }
    if !facts.keywords.is_empty() {
        writeln!(out, "keywords: {}", facts.keywords.join(", ")).unwrap();
    }
    for robots in &facts.robots {
        writeln!(out, "robots {}: {}", robots.agent, robots.directives.join(", ")).unwrap();
    }
    for other in &facts.alternates {
        writeln!(out, "alternate {:?}: {}", other.hreflang, other.href).unwrap();
    }
    for link in &extraction.links {
        let words = &extraction.visible_text[link.text.clone()];
        let place = if link.is_main { "main" } else { "else" };
        writeln!(out, "link ({place}): {words} -> {}", link.href).unwrap();
    }
    for found in &extraction.annotated {
        let words = &extraction.visible_text[found.text.clone()];
        writeln!(
            out,
            "annotated {}: {} {:?} {words:?}",
            found.depth, found.element, found.attributes
        )
        .unwrap();
    }
    // The number changes with every model.
    writeln!(out, "sure: {}", 0.5 <= extraction.confidence).unwrap();
    for finding in &extraction.findings {
        writeln!(out, "{} {}: {}", finding.rule.code, finding.rule.name, finding.detail).unwrap();
    }
    out
}

#[test]
fn decodes_declared_encoding() {
    let text = "<meta charset=windows-1251><title>Гавань</title><p>Вода уходит, и лодки ложатся на бок. Каждый день в гавани открывают ворота, и рыбаки выходят в море до самого вечера.";
    let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(text);
    let extraction = read(&bytes);
    assert_eq!(extraction.charset, "windows-1251");
    assert_eq!(&*extraction.page.title, "Гавань");
    assert_eq!(extraction.page.language.as_str(), "ru");
}

#[test]
fn explanation_covers_the_whole_page() {
    let page = "<nav><a href=/>Home</a></nav><main><h1>Gate</h1><p>The gate opens twice a day, at \
                half tide, and closes again at the next.</p><div class=share-buttons><a href=x>Share</a></div>\
                </main><footer>The end</footer>";
    let mut how = options("https://harbour.example/");
    how.explain = true;
    let extraction = html(page.as_bytes(), &how);
    // Numbers change with every model.
    assert!(extraction.why[0].reason.starts_with("page type "), "{:?}", extraction.why[0]);
    assert!(extraction.why.iter().all(|why| !why.reason.is_empty()));
    let why: Vec<_> = extraction
        .why
        .into_iter()
        .map(|why| format!("{} {}", if why.is_kept { "keep" } else { "drop" }, why.path))
        .collect();
    insta::assert_snapshot!(why.join("\n"));
}

#[test]
fn explanation_keeps_labels_with_their_panels() {
    let mut how = options("https://harbour.example/");
    how.explain = true;
    let page = include_bytes!("../../fixtures/structure/tabs-shared-panel.html");
    let why = html(page, &how).why;
    let labels = why.iter().find(|why| why.start.starts_with("Debian")).unwrap();
    assert!(labels.is_kept);
    assert_eq!(labels.reason, "kept as the label of its panel");
}

#[test]
fn every_rule_has_a_page_that_violates_it() {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut take = |extraction: &Extraction| {
        found.extend(extraction.findings.iter().map(|finding| finding.rule.code));
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let input = std::fs::read(&path).unwrap();
        let how = options("https://harbour.example/");
        let is_markdown = path.extension().is_some_and(|ending| ending == "md");
        take(&if is_markdown { markdown(&input, &how) } else { html(&input, &how) });
    }
    take(&read(b"<meta charset=utf-8><p>\xff\xfe broken bytes in the middle of it"));
    take(&read(
        "<p>The gate is opened twice a day, when the water stands high enough for the boats.",
    ));
    take(&read("<div>".repeat(1000)));
    take(&read("<p>A paragraph that is short but says enough to stand.</p>".repeat(1001)));
    take(&read("<pre>x</pre>".repeat(1001)));
    take(&read("<table><tr><td>1</td><td>2</td></tr></table>"));
    let mut how = options("https://harbour.example/");
    how.limits.nodes = 10;
    take(&html("<p>x".repeat(10_000).as_bytes(), &how));
    let mut how = options("https://harbour.example/");
    (how.limits.attributes, how.limits.steps) = (2, 100);
    take(&html(format!("<p a b c>{}", "<p>x".repeat(10_000)).as_bytes(), &how));
    let mut how = options("https://harbour.example/");
    how.control.main = vec![".absent".parse().unwrap()];
    let comment = "<div class=comment><p>Ada wrote: I liked this very much, thank you for the \
        long text about it. Reply</p></div>";
    let comments = format!("<div class=comments><h3>Comments</h3>{}</div>", comment.repeat(12));
    let text = "<p>The gate opens twice a day, at half tide, and closes again at the next.</p>";
    let page = format!("<main><article><h1>Gate</h1>{}</article>{comments}</main>", text.repeat(6));
    take(&html(page.as_bytes(), &how));
    take(&read("<ul><li><a href=/a>Berths</a><li><a href=/b>Tides</a></ul>"));
    // Callers that open files report this one.
    assert!(!rutter_extract::is_text(b"\x7fELF\0\0") && rutter_extract::is_text(b"<p>x"));
    found.insert(rutter_extract::rules::NOT_TEXT.code);
    for rule in rutter_extract::rules::ALL {
        assert!(found.contains(rule.code), "{} {}", rule.code, rule.name);
    }
}

#[test] // SCP-076 SCP-068 SCP-070
fn recordings_carry_the_captions_and_transcripts_of_their_page() {
    let figure = |kind: &str, media: &str| {
        format!(
            "<main><p>Hear and see the foghorn.</p><figure><{kind} src=/horn title=Horn>{media}\
             </{kind}><details class=transcript><summary>Transcript</summary>\
             <p>Two long blasts.</p><p>Then silence.</p></details></figure></main>"
        )
    };
    let tracks = "<track kind=captions src=/de.vtt srclang=de label=Deutsch>\
        <track src=/en.vtt srclang=en><track kind=chapters src=/c.vtt srclang=en>";
    for kind in ["video", "audio"] {
        let text = figure(kind, tracks);
        let page = html(text.as_bytes(), &options("https://harbour.example/docs/")).page;
        let block = page.content.iter().find(|block| block.kind() == kind).unwrap();
        let block = serde_json::to_value(block).unwrap();
        assert_eq!(block["transcript"], "Two long blasts. Then silence.", "{block}");
        if kind == "video" {
            let wanted = serde_json::json!([
                { "language": "de", "url": "https://harbour.example/de.vtt", "label": "Deutsch" },
                { "language": "en", "url": "https://harbour.example/en.vtt", "label": "en" },
            ]);
            assert_eq!(block["captions"], wanted);
        }
    }
}

#[test] // D37
fn page_that_swallows_its_embedded_text_is_a_shell() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/shell-next.html");
    let page = std::fs::read_to_string(fixture).unwrap();
    let page = page.split("</body>").next().unwrap();
    for end in ["<!-- open", "<script>let open", "<textarea>", "<style>"] {
        let extraction = read(format!("{page}{end}"));
        let codes: Vec<_> = extraction.findings.iter().map(|found| found.rule.code).collect();
        assert!(extraction.needs_scripts, "{end}");
        assert!(codes.contains(&"HT004") && !codes.contains(&"HT021"), "{end} {codes:?}");
    }
    assert!(!read(page).needs_scripts);
}
