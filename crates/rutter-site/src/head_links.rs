//! Inserts links to the artifacts into the heads of HTML pages.
//!
//! Input: the bytes of a page. Output: the page with the links between two marker comments, or the
//! page without these links. All other bytes of the page are unchanged (D81, D83). A page without a
//! `</head>` tag gets no links.

use std::borrow::Cow;

use memchr::memmem;

const BEGIN: &[u8] = b"<!-- rutter:begin -->";
const END: &[u8] = b"<!-- rutter:end -->";

/// Returns a page without the links that Rutter inserted.
pub fn remove_links(page: &[u8]) -> Cow<'_, [u8]> {
    let Some(start) = memmem::find(page, BEGIN) else { return Cow::Borrowed(page) };
    let rest = page.get(start..).unwrap_or_default();
    let Some(len) = memmem::find(rest, END) else { return Cow::Borrowed(page) };
    let mut end = start + len + END.len();
    // The line break after the end comment was inserted together with the links.
    if page.get(end) == Some(&b'\n') {
        end += 1;
    }
    let mut out = page.get(..start).unwrap_or_default().to_vec();
    out.extend_from_slice(page.get(end..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the page with these lines before its `</head>` tag, or `None` if the page has no such
/// tag.
pub fn insert_links(page: &[u8], lines: &[String]) -> Option<Vec<u8>> {
    let page = remove_links(page);
    let at = head_end(&page)?;
    let mut out = Vec::with_capacity(page.len() + 256);
    out.extend_from_slice(page.get(..at)?);
    out.extend_from_slice(BEGIN);
    for line in lines {
        out.extend_from_slice(line.as_bytes());
    }
    out.extend_from_slice(END);
    out.push(b'\n');
    out.extend_from_slice(page.get(at..)?);
    Some(out)
}

/// Returns the offset of the `</head>` tag, ignoring the content of comments, scripts, styles and
/// titles.
fn head_end(page: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', page.get(at..)?) {
        at += found;
        let rest = page.get(at..)?;
        let starts =
            |tag: &[u8]| rest.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
        let skip_to = |end: &[u8]| {
            memchr::memchr_iter(b'<', rest).skip(1).find(|at| {
                let tag = rest.get(*at..at + end.len());
                tag.is_some_and(|tag| tag.eq_ignore_ascii_case(end))
            })
        };
        let is_head = !rest.get(6).is_some_and(u8::is_ascii_alphanumeric);
        if starts(b"</head") && is_head {
            return Some(at);
        }
        if starts(b"<body") {
            return None;
        }
        at += if starts(b"<!--") {
            memmem::find(rest, b"-->")?
        } else if starts(b"<script") {
            skip_to(b"</script")?
        } else if starts(b"<style") {
            skip_to(b"</style")?
        } else if starts(b"<title") {
            skip_to(b"</title")?
        } else {
            1
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn finds_head_end_after_comments_scripts_and_titles() {
        let page = b"<html><head><!-- </head> --><script>'</head>'</script><title></head></title></HEAD><body>";
        let out = insert_links(page, &["<link>".to_owned()]).unwrap();
        let text = String::from_utf8(out.clone()).unwrap();
        assert!(
            text.contains("</title><!-- rutter:begin --><link><!-- rutter:end -->\n</HEAD>"),
            "{text}"
        );
        assert_eq!(&*remove_links(&out), page);
        assert_eq!(insert_links(&out, &["<link>".to_owned()]).unwrap(), out);
        assert_eq!(insert_links(b"<p>no head", &[]), None);
        assert_eq!(insert_links(b"<body></head>", &[]), None);
        assert_eq!(insert_links(b"<header></header><p>", &[]), None);
    }

    proptest! {
        #[test] // D81
        fn removing_inserted_links_restores_the_page(before in "[a-z<>! \\-\n]{0,40}", behind in "[a-z<>\n]{0,40}") {
            let page = format!("{before}</head>{behind}");
            if let Some(out) = insert_links(page.as_bytes(), &["<link rel=x>".to_owned()]) {
                prop_assert_eq!(&*remove_links(&out), page.as_bytes());
                prop_assert_eq!(insert_links(&out, &["<link rel=x>".to_owned()]).unwrap(), out);
            }
        }
    }
}
