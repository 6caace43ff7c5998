//! What holds for any page at all.

use proptest::prelude::*;
use rutter_finding::Strictness;
use rutter_page::{Block, InlineMark, PageLimits, PageReader, RecordingUrls};

use crate::{options, read};

/// Pieces that pages are made of, good and bad.
fn piece() -> impl Strategy<Value = String> {
    let tags = [
        "p",
        "div",
        "h1",
        "h3",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "pre",
        "code",
        "a href='/x'",
        "a href='javascript:x'",
        "a href='http://[bad'",
        "a href='//h.example/é?q=1#f'",
        "img src='i.png' alt='ü'",
        "img data-src='http://' srcset='a 1x, b 2x'",
        "video src=v.mp4",
        "audio src='ftp://x'",
        "iframe src='https://x.example/embed/1'",
        "b",
        "i",
        "span class=sr-only",
        "blockquote",
        "cite",
        "dl",
        "dt",
        "dd",
        "section",
        "main",
        "nav",
        "aside class=note",
        "div class='admonition warning'",
        "p class=admonition-title",
        "figure",
        "figcaption",
        "details",
        "summary",
        "br",
        "hr",
        "math",
        "svg",
        "template",
        "form",
        "button",
        "div hidden",
        "div role=heading aria-level=99",
        "td colspan=3 rowspan=2",
        "ruby",
        "rt",
        "q",
        "base href='http://base.example/b/'",
        "title",
        "meta name=description content='d'",
        "link rel=canonical href='/c'",
        "html lang=xx-bad_tag",
        "meta property=article:published_time content='2020-02-30'",
        "script type=application/ld+json",
        "textarea",
        "select",
        "option",
    ];
    let text = prop_oneof![
        "[ a-zé漢.,!?\\n\\t\u{a0}]{0,40}",
        Just("A sentence that is long enough to count as prose, with a comma in it. ".to_owned()),
        Just("&amp;&lt;&#x0;&bogus;\u{0}".to_owned()),
        Just("{\"@type\":\"Article\",\"headline\":\"H\",\"author\":{\"name\":[1]}}".to_owned()),
    ];
    let open = prop::sample::select(tags.to_vec()).prop_map(|tag| format!("<{tag}>"));
    let close = prop::sample::select(tags.to_vec())
        .prop_map(|tag| format!("</{}>", tag.split(' ').next().unwrap_or("")));
    prop_oneof![3 => open, 2 => text, 2 => close]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test] // SCP-188 SCP-054
    fn every_page_satisfies_the_rules_of_the_format(
        pieces in prop::collection::vec(piece(), 0..120)
    ) {
        let html = pieces.concat();
        let extraction = read(&html);
        prop_assert_eq!(extraction.page.content.len(), extraction.rich.len());
        for (block, rich) in extraction.page.content.iter().zip(&extraction.rich) {
            let address = match block {
                Block::Link(block) => Some(block.url.as_str()),
                Block::Image(block) => Some(block.url.as_str()),
                Block::Video(block) => Some(block.url.first()),
                Block::Audio(block) => Some(block.url.first()),
                _ => None,
            };
            if let Some(address) = address {
                prop_assert!(address.starts_with("http://") || address.starts_with("https://"), "{}", address);
            }
            if let Block::Video(block) = block && let RecordingUrls::Many(links) = &block.url {
                prop_assert!(!links.is_empty());
            }
            for span in &rich.spans {
                let part = part(block, span.part);
                prop_assert!(part.is_some_and(|text| text.get(span.start as usize..span.end as usize).is_some()));
                if let InlineMark::Link(url) = &span.mark {
                    prop_assert!(url.starts_with("http://") || url.starts_with("https://"), "{}", url);
                }
            }
        }
        let line = extraction.page.to_line();
        if extraction.page.content.is_empty() {
            return Ok(());
        }
        // The strictest judge finds nothing but what the page lacks itself.
        let mut findings: Vec<rutter_finding::Finding> = Vec::new();
        let mut judge = PageReader::new(PageLimits::SPEC);
        let page = judge.read(&line, 1, &mut findings);
        prop_assert!(page.is_ok(), "{}", line);
        let grave: Vec<_> = findings
            .iter()
            .filter(|finding| finding.rule.severity(Strictness::Lenient).is_some())
            .filter(|finding| !matches!(finding.rule.name, "empty-title" | "empty-description"))
            .collect();
        prop_assert!(grave.is_empty(), "{:?} in {}", grave, line);
        // Markdown in every form it has.
        drop(extraction.to_markdown());
    }

    #[test]
    fn extracts_any_bytes_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        drop(read(&bytes));
        drop(rutter_extract::markdown(&bytes, &options("https://harbour.example/")));
    }

    #[test]
    fn page_with_text_in_its_body_is_not_empty(words in "[a-z]{3,9}( [a-z]{3,9}){3,30}\\.") {
        for wrap in ["p", "div", "td", "li", "nav", "aside", "footer", "div class=comment", "div class=sidebar", "form"] {
            let extraction = read(format!("<title>T</title><{wrap}>{words}"));
            prop_assert!(extraction.page.to_text().contains(&words), "{} {}", wrap, words);
        }
    }
}

fn part<'b>(block: &'b Block<'_>, part: u32) -> Option<&'b str> {
    match block {
        Block::Text(block) => Some(&block.text),
        Block::Heading(block) => Some(&block.text),
        Block::Quote(block) => Some(&block.text),
        Block::List(block) => block.items.get(part as usize).map(|item| &**item),
        Block::Table(block) => block.rows.iter().flatten().nth(part as usize).map(|cell| &**cell),
        _ => None,
    }
}

proptest! {
    #[test]
    fn an_edit_inside_kept_text_is_a_change(
        lengths in prop::collection::vec(3_usize..40, 1..12),
        chosen in any::<prop::sample::Index>(),
        shape in 0_usize..4,
    ) {
        let texts: Vec<String> = lengths
            .iter()
            .enumerate()
            .map(|(n, length)| format!("Pump {n}{} runs.", " quay".repeat(*length)))
            .collect();
        let page = |texts: &[String]| {
            let paragraphs: String = texts.iter().map(|text| format!("<p>{text}</p>")).collect();
            let items: String = texts.iter().map(|text| format!("<li>{text}</li>")).collect();
            match shape {
                0 => format!("<nav><a href=/>Home</a></nav><main><h1>Pumps</h1>{paragraphs}</main>"),
                1 => format!("<article><h1>Pumps</h1><ul>{items}</ul></article>"),
                2 => format!("<div class=content><h2>Pumps</h2>{paragraphs}</div><div id=footer>End</div>"),
                _ => format!("<div>{paragraphs}</div><div><ul>{items}</ul></div>"),
            }
        };
        let before = read(page(&texts));
        let chosen = chosen.index(texts.len());
        prop_assume!(before.page.to_text().contains(&texts[chosen]));
        let mut edited = texts;
        edited[chosen] = edited[chosen].replace("runs", "never runs");
        let after = read(page(&edited));
        prop_assert_ne!(before.page.to_line(), after.page.to_line());
        prop_assert!(after.page.to_text().contains("never runs"));
    }
}
