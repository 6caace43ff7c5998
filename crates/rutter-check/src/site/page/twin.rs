//! Compares the Markdown twin of a page with the page.

use std::cell::LazyCell;
use std::collections::HashSet;

use rutter_extract::Extraction;
use rutter_finding::{Finding, Place, quoted};
use rutter_page::find_model_instruction;

use super::{PageBlock, PageResult, wholes_of};
use crate::rules;
use crate::site::text_match::{self, FoundShare, TextPiece, paragraphs};

rutter_finding::rules! {
    TWIN_STALE = "XL062" "twin-stale" (advice, "D84") {
        title: "text of the Markdown twin differs from the page",
        why: "Agents that read Markdown use outdated content.",
        fix: "Build the site again.",
        wrong: r#""Open until 18:00" in `hours.md`, "Open until 20:00" in `hours.html`."#,
        right: "`rutter build` after every change.",
    }
    TWIN_TITLE = "XL063" "twin-title-differs" (advice, "D84") {
        title: "title of the Markdown twin differs from the page",
        why: "The page is quoted with a title that it does not have.",
        fix: "Build the site again.",
        wrong: "`# Port Selk` in `tides.md`, `<title>Tides</title>` in `tides.html`.",
        right: "`# Tides` in `tides.md`",
    }
    TWIN_ONLY = "SE014" "twin-only-text" (warning, "D82") {
        title: "Markdown twin contains text that the page does not show",
        why: "The twin tells programs something that people cannot see.",
        fix: "Build the site again. If the text remains, find out where it comes from.",
        wrong: "A paragraph in `tides.md` that does not occur in `tides.html`.",
        right: "A twin that `rutter build` generated from the page.",
    }
}

/// Compares the Markdown twin of a page with the page.
pub(super) fn compare_twin(
    twin: &[u8],
    extraction: &Extraction,
    own: &[PageBlock],
    looked: &mut PageResult,
) {
    let text = String::from_utf8_lossy(twin);
    let (front, body) = front_matter(&text);
    let page = &extraction.page;
    let title = front.and_then(|front| member(front, "title"));
    let heading = body.lines().find_map(|line| line.strip_prefix("# ")).map(str::to_owned);
    if let Some(title) = title.or(heading) {
        let is_same = [&*page.title, &extraction.visible_text]
            .iter()
            .any(|shown| text_match::has(shown, &title));
        if !is_same {
            let detail = format!("{}, the page has {}", quoted(&title), quoted(&page.title));
            looked.of_twin.push(Finding::new(&TWIN_TITLE, Place::WHOLE, detail));
        }
    }
    if let (Some(language), Some(own)) =
        (front.and_then(|front| member(front, "language")), &looked.seen.language)
        && !language.eq_ignore_ascii_case(own)
        && language != "und"
    {
        let detail = format!("{language}, the page says {own}");
        looked.of_twin.push(Finding::new(&rules::LANGUAGE_DIFFERS, Place::WHOLE, detail));
    }
    // Instructions to language models that the page itself shows are not reported.
    let orders_are_shown =
        LazyCell::new(|| find_model_instruction(&extraction.shown_text()).is_some());
    for paragraph in paragraphs(body) {
        if let Some(order) = find_model_instruction(&paragraph)
            && !*orders_are_shown
        {
            let detail = quoted(order);
            looked.of_twin.push(Finding::new(&rules::ORDER, Place::WHOLE, detail));
        }
    }
    let mut pieces = pieces_of(body);
    let wholes = wholes_of(own);
    pieces.retain(|piece| !wholes.contains(&piece.whole));
    // JSON-LD may contain the descriptions of videos and audio files.
    let mut texts: Vec<&str> = vec![&extraction.visible_text, &page.title, &page.description];
    texts.extend(extraction.facts.json_ld.iter().map(String::as_str));
    let shares = text_match::look(&pieces, &texts);
    let mut doubtful: Vec<(TextPiece, FoundShare)> =
        pieces.into_iter().zip(shares).filter(|(_, share)| *share != FoundShare::All).collect();
    if doubtful.is_empty() {
        return;
    }
    // A text that Rutter itself would generate for the twin is correct.
    let ours = extraction.to_markdown();
    let ours = pieces_of(front_matter(&ours).1);
    let ours: HashSet<u64> = ours.iter().map(|piece| piece.whole).collect();
    doubtful.retain(|(piece, _)| !ours.contains(&piece.whole));
    let mut is_told = false;
    for (_, share) in doubtful {
        let rule = match share {
            FoundShare::All => continue,
            FoundShare::Nothing => &TWIN_ONLY,
            FoundShare::Part if !is_told => {
                is_told = true;
                &TWIN_STALE
            }
            FoundShare::Part => continue,
        };
        looked.of_twin.push(Finding::new(rule, Place::WHOLE, ""));
    }
}

/// Splits a Markdown text into pieces, one per paragraph.
fn pieces_of(markdown: &str) -> Vec<TextPiece> {
    let all = (0..).zip(paragraphs(markdown));
    all.filter_map(|(at, paragraph)| text_match::piece(at, &lines_of(&paragraph))).collect()
}

/// Returns the lines of a paragraph without list markers, and table cells separately.
fn lines_of(paragraph: &str) -> Vec<&str> {
    let cells = |line| -> Box<dyn Iterator<Item = &str>> {
        let line: &str = without_mark(line);
        match line.strip_prefix('|') {
            Some(row) => Box::new(row.split('|')),
            None => Box::new(std::iter::once(line)),
        }
    };
    paragraph.lines().flat_map(cells).collect()
}

/// Removes the list marker of a Markdown line.
fn without_mark(line: &str) -> &str {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.strip_prefix(". ").filter(|_| digits.len() < line.len()).unwrap_or(line)
}

/// Splits a Markdown file into front matter and text.
pub(crate) fn front_matter(text: &str) -> (Option<&str>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (None, text) };
    match rest.split_once("\n---\n") {
        Some((front, body)) => (Some(front), body),
        None => (None, text),
    }
}

/// Returns the value of a member of the front matter without quotes.
pub(crate) fn member(front: &str, name: &str) -> Option<String> {
    let lines = front.lines();
    let value = lines.filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name)?.1;
    let value = value.trim();
    if value.starts_with('"') {
        return serde_json::from_str(value).ok();
    }
    Some(value.to_owned())
}
