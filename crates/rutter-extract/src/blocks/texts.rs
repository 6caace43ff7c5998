//! Texts of blocks: the parts that spans refer to, and shifted spans.

use rutter_page::{Block, HttpUrl, InlineMark, InlineSpan};

/// Shifts spans by the length of a text that is inserted before their text.
pub(crate) fn shift(from: Vec<InlineSpan>, by: usize, to: &mut Vec<InlineSpan>) {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    to.extend(from.into_iter().map(|span| InlineSpan {
        start: span.start.saturating_add(by),
        end: span.end.saturating_add(by),
        ..span
    }));
}

/// Replaces line breaks by spaces. The number of bytes does not change, so spans stay valid.
pub(crate) fn one_line(text: String) -> String {
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}

/// Returns the URL of a paragraph whose text is one link.
pub(super) fn lone_link(text: &str, spans: &[InlineSpan]) -> Option<HttpUrl<'static>> {
    let whole = spans.iter().find(|span| matches!(span.mark, InlineMark::Link(_)))?;
    if whole.start != 0 || (whole.end as usize) < text.len() {
        return None;
    }
    let InlineMark::Link(url) = &whole.mark else { return None };
    HttpUrl::parse(url.to_string()).ok()
}

/// Returns the strings of a block that the spans of the block refer to.
pub(crate) fn parts<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    match block {
        Block::Text(block) => vec![&block.text],
        Block::Heading(block) => vec![&block.text],
        Block::Quote(block) => vec![&block.text],
        Block::List(block) => block.items.iter().map(|item| &**item).collect(),
        Block::Table(block) => block.rows.iter().flatten().map(|cell| &**cell).collect(),
        _ => Vec::new(),
    }
}
