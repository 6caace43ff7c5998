//! The page reader never panics; an accepted page can be written, read as a perfect page, and
//! rendered; and writing it again gives the same bytes.
#![no_main]

use rutter_page::{PageHead, PageReader, PageLimits, nesting_depth};

libfuzzer_sys::fuzz_target!(|line: &str| {
    // The reader cuts lines; a judge never sees two.
    if line.contains('\n') {
        return;
    }
    let mut findings = Vec::new();
    let Ok(Some(page)) = PageReader::new(PageLimits::SPEC).read(line, 2, &mut findings) else { return };
    assert!(nesting_depth(line) <= PageReader::DEEPEST);
    let written = page.to_line();
    assert!(!written.contains('\n'));
    let mut again = Vec::new();
    let second = PageReader::new(PageLimits::SPEC).read(&written, 2, &mut again);
    let second = second.expect("what was accepted is accepted").expect("and not skipped");
    assert_eq!(second.to_line(), written);
    let head = PageHead::of_line(&written).expect("an accepted page has a head");
    assert_eq!((head.url.key(), head.modified), (page.url.key(), page.modified));
    let markdown = page.to_markdown();
    assert!(!markdown.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
    assert!(!page.to_text().chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
});
