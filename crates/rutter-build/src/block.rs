//! Our block in a file of the owner: only what lies between two marks is
//! replaced, everything else stays byte for byte (D81).

/// How a block begins and ends.
pub(crate) struct Marks {
    begin: &'static str,
    end: &'static str,
}

/// For Markdown and HTML.
pub(crate) const MARKDOWN: Marks =
    Marks { begin: "<!-- rutter:begin -->", end: "<!-- rutter:end -->" };
/// For files whose comments begin with a hash sign.
pub(crate) const HASH: Marks = Marks { begin: "# rutter:begin", end: "# rutter:end" };

/// The owner's file with our block in it, where it was or else at the end.
pub(crate) fn merged(existing: &str, ours: &str, marks: &Marks) -> String {
    let block = format!("{}\n{}\n{}\n", marks.begin, ours.trim_end(), marks.end);
    match place(existing, marks) {
        Some((start, end)) => {
            let before = existing.get(..start).unwrap_or_default();
            let behind = existing.get(end..).unwrap_or_default();
            format!("{before}{block}{behind}")
        }
        None if existing.is_empty() || existing.ends_with("\n\n") => format!("{existing}{block}"),
        None if existing.ends_with('\n') => format!("{existing}\n{block}"),
        None => format!("{existing}\n\n{block}"),
    }
}

/// The file as its owner wrote it.
pub(crate) fn without(text: &str, marks: &Marks) -> String {
    match place(text, marks) {
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

/// Our block, marks left out; `None` where there is none.
pub(crate) fn within<'t>(text: &'t str, marks: &Marks) -> Option<&'t str> {
    let (start, end) = place(text, marks)?;
    let block = text.get(start + marks.begin.len()..end)?;
    block.get(..block.rfind(marks.end)?)
}

/// Where the block lies, with the line break behind it.
fn place(text: &str, marks: &Marks) -> Option<(usize, usize)> {
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
    fn ours_the_owners_words_stay() {
        let first = merged("# Ours\n\nWords.\n", "## A\n", &MARKDOWN);
        assert_eq!(first, "# Ours\n\nWords.\n\n<!-- rutter:begin -->\n## A\n<!-- rutter:end -->\n");
        assert_eq!(merged(&first, "## A\n", &MARKDOWN), first);
        let moved = format!("{first}More.\n");
        assert_eq!(merged(&moved, "## B", &MARKDOWN), moved.replace("## A", "## B"));
        assert_eq!(merged("x", "y", &HASH), "x\n\n# rutter:begin\ny\n# rutter:end\n");
        assert_eq!(without(&moved, &MARKDOWN), "# Ours\n\nWords.\n\nMore.\n");
    }
}
