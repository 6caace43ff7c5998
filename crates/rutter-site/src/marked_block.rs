//! Reads and replaces Rutter's block in a file of the site owner.
//!
//! Input: the text of the file. Output: the text with the block, the text without the block, or the
//! block alone. Only the lines between the two marker lines change; all other bytes are unchanged
//! (D81).

/// Mark at the end of sitemaps and text files that consist only of Rutter's output. It identifies the file if the state
/// is lost.
pub const WHOLE_FILE: &str = "<!-- rutter:whole -->";

/// The two marker lines around Rutter's block.
#[derive(Debug, Clone, Copy)]
pub struct BlockMarkers {
    begin: &'static str,
    end: &'static str,
}

/// Marker lines for Markdown and HTML.
pub const MARKDOWN: BlockMarkers =
    BlockMarkers { begin: "<!-- rutter:begin -->", end: "<!-- rutter:end -->" };
/// Marker lines for files in which comments start with `#`.
pub const HASH: BlockMarkers = BlockMarkers { begin: "# rutter:begin", end: "# rutter:end" };

/// Returns the text with Rutter's block replaced, or with the block at the end if the text has
/// none.
pub fn with_block(existing: &str, content: &str, marks: &BlockMarkers) -> String {
    let block = format!("{}\n{}\n{}\n", marks.begin, content.trim_end(), marks.end);
    match find_block(existing, marks) {
        Some((start, end)) => {
            let before = existing.get(..start).unwrap_or_default();
            let after = existing.get(end..).unwrap_or_default();
            format!("{before}{block}{after}")
        }
        None if existing.is_empty() || existing.ends_with("\n\n") => format!("{existing}{block}"),
        None if existing.ends_with('\n') => format!("{existing}\n{block}"),
        None => format!("{existing}\n\n{block}"),
    }
}

/// Returns the text without Rutter's block.
pub fn without_block(text: &str, marks: &BlockMarkers) -> String {
    match find_block(text, marks) {
        Some((start, end)) => {
            format!(
                "{}{}",
                text.get(..start).unwrap_or_default(),
                text.get(end..).unwrap_or_default()
            )
        }
        None => text.to_owned(),
    }
}

/// Returns the text between the two marker lines, or `None` if the file has no block.
pub fn block_of<'t>(text: &'t str, marks: &BlockMarkers) -> Option<&'t str> {
    let (start, end) = find_block(text, marks)?;
    let block = text.get(start + marks.begin.len()..end)?;
    block.get(..block.rfind(marks.end)?)
}

/// Returns the byte range of Rutter's block, including the line break after it.
fn find_block(text: &str, marks: &BlockMarkers) -> Option<(usize, usize)> {
    let start = text.find(marks.begin)?;
    let len = text.get(start..)?.find(marks.end)?;
    let mut end = start + len + marks.end.len();
    if text.as_bytes().get(end) == Some(&b'\n') {
        end += 1;
    }
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D81
    fn replaces_only_its_own_block() {
        let first = with_block("# Ours\n\nWords.\n", "## A\n", &MARKDOWN);
        assert_eq!(first, "# Ours\n\nWords.\n\n<!-- rutter:begin -->\n## A\n<!-- rutter:end -->\n");
        assert_eq!(with_block(&first, "## A\n", &MARKDOWN), first);
        let moved = format!("{first}More.\n");
        assert_eq!(with_block(&moved, "## B", &MARKDOWN), moved.replace("## A", "## B"));
        assert_eq!(with_block("x", "y", &HASH), "x\n\n# rutter:begin\ny\n# rutter:end\n");
        assert_eq!(without_block(&moved, &MARKDOWN), "# Ours\n\nWords.\n\nMore.\n");
    }
}
