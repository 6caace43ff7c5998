//! Reads the navigation of a page: its links in order, with the titles of their groups.
//!
//! Input: the HTML of a page. Output: the links of its `nav` elements (or, without any, of its
//! `header` and `aside` elements) in document order. A group is a nested list with its label, or
//! the links behind a heading. Rejects breadcrumbs, pagination, links to a fragment of the same
//! page, and links beyond the first [`MOST_LINKS`].

use html5ever::local_name;
use rutter_page::PageUrl;

use crate::address::BaseUrl;
use crate::dom::Dom;
use crate::tag::Tag;
use crate::{Limits, charset};

/// Maximum number of links that are read.
const MOST_LINKS: usize = 5000;
/// Maximum number of characters of a label; longer text is not a label.
const LONGEST_LABEL: usize = 80;

/// A link of the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NavLink {
    /// The target: an absolute URL without a fragment.
    pub href: String,
    /// Text of the link; empty if it has none, or if it is longer than a label.
    pub text: String,
    /// Title of the outermost group that contains the link.
    pub group: Option<String>,
}

/// Returns the links of a page's navigation, in order.
///
/// ```
/// use rutter_extract::navigation;
/// use rutter_page::PageUrl;
///
/// let url = PageUrl::parse("https://harbour.example/").unwrap();
/// let page = b"<nav><a href=/>Home</a><ul><li>Tides<ul><li><a href=/tides/>Today</a></ul></ul></nav>";
/// let links = navigation(page, &url);
/// assert_eq!(links[1].href, "https://harbour.example/tides/");
/// assert_eq!(links[1].group.as_deref(), Some("Tides"));
/// ```
pub fn navigation(bytes: &[u8], url: &PageUrl<'_>) -> Vec<NavLink> {
    let dom = Dom::parse(&charset::decode(bytes, None).text, &Limits::USUAL);
    let base = BaseUrl::new(url);
    let href = dom.items.iter().position(|item| item.tag == Tag::Base);
    let href = href.and_then(|at| dom.attr(u32::try_from(at).ok()?, &local_name!("href")));
    let here = base.here().to_owned();
    let base = match href {
        Some(href) => base.rebase(href),
        None => base,
    };
    let is_nav = |at: u32| {
        dom.item(at).tag == Tag::Nav
            || dom.attr(at, &local_name!("role")).is_some_and(|role| role == "navigation")
    };
    let mut links = Vec::new();
    for root in roots(&dom, &is_nav) {
        read(&dom, (&base, &here), root, &mut links);
    }
    if links.is_empty() {
        let is_frame = |at: u32| matches!(dom.item(at).tag, Tag::Header | Tag::Aside);
        for root in roots(&dom, &is_frame) {
            read(&dom, (&base, &here), root, &mut links);
        }
    }
    links.truncate(MOST_LINKS);
    links
}

/// Returns the outermost elements of a kind, without breadcrumbs and pagination.
fn roots(dom: &Dom, is_root: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < dom.len() {
        if dom.item(at).tag == Tag::Text || !is_root(at) {
            at += 1;
            continue;
        }
        let marks = [local_name!("class"), local_name!("aria-label"), local_name!("id")];
        let marks = marks.iter().filter_map(|name| dom.attr(at, name));
        let is_other = |text: &str| {
            let text = text.to_ascii_lowercase();
            ["breadcrumb", "paginat", "pager"].iter().any(|kind| text.contains(kind))
        };
        if !marks.into_iter().any(is_other) {
            found.push(at);
        }
        at = dom.item(at).end;
    }
    found
}

/// A range of items under one title.
struct TitledRange {
    from: u32,
    end: u32,
    title: String,
}

fn read(dom: &Dom, (base, here): (&BaseUrl, &str), root: u32, out: &mut Vec<NavLink>) {
    let mut groups = groups(dom, root);
    groups.sort_by(|one, other| one.from.cmp(&other.from).then(other.end.cmp(&one.end)));
    let mut groups = groups.into_iter().peekable();
    let mut group: Option<TitledRange> = None;
    let first = out.len();
    for at in dom.subtree(root) {
        while groups.peek().is_some_and(|next| next.from <= at) {
            let next = groups.next();
            // Groups inside another group are ignored.
            if group.as_ref().is_none_or(|open| open.end <= at) {
                group = next;
            }
        }
        if dom.item(at).tag != Tag::A || MOST_LINKS <= out.len() {
            continue;
        }
        let Some(href) = dom.attr(at, &local_name!("href")) else { continue };
        let Some(href) = base.resolve(href) else { continue };
        let (page, fragment) = match href.split_once('#') {
            Some((page, fragment)) => (page, Some(fragment)),
            None => (href.as_str(), None),
        };
        if fragment.is_some() && page == here {
            continue;
        }
        let title = group.as_ref().filter(|open| at < open.end).map(|open| open.title.clone());
        let text = label(dom, at).unwrap_or_default();
        out.push(NavLink { href: page.to_owned(), text, group: title });
    }
    // If all links have the same title, it is the title of the whole navigation and not of a group.
    let read = out.get_mut(first..).unwrap_or_default();
    let title = read.first().and_then(|link| link.group.clone());
    if title.is_some() && read.iter().all(|link| link.group == title) {
        for link in read {
            link.group = None;
        }
    }
}

fn groups(dom: &Dom, root: u32) -> Vec<TitledRange> {
    let mut groups = Vec::new();
    // The next link after each item, found in one pass from the end.
    let mut next_link = dom.item(root).end;
    let mut headings = Vec::new();
    for at in dom.subtree(root).rev() {
        match dom.item(at).tag {
            Tag::A => next_link = at,
            Tag::Ul | Tag::Ol | Tag::Menu => groups.extend(of_list(dom, root, at)),
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 | Tag::Summary => {
                headings.push((at, next_link));
            }
            Tag::Text => {}
            _ => {
                if dom.attr(at, &local_name!("role")).is_some_and(|role| role == "heading") {
                    headings.push((at, next_link));
                }
            }
        }
    }
    // The group of a heading ends at the next heading, and at the end of the element that holds its
    // first link.
    let mut until = dom.item(root).end;
    for (at, link) in headings {
        let up = |at: &u32| root <= *at;
        let is_linked = dom.ancestors(at).take_while(up).any(|it| dom.item(it).tag == Tag::A);
        let Some(title) = label(dom, at).filter(|_| !is_linked && link < until) else { continue };
        let holder = dom.ancestors(at).take_while(up).find(|it| link < dom.item(*it).end);
        let end = holder.map_or(until, |holder| dom.item(holder).end.min(until));
        groups.push(TitledRange { from: at, end, title });
        until = at;
    }
    groups
}

/// Returns the group of a list. The title of a nested list is the text before it in the item around
/// it; the title of any other list is the label directly before it.
fn of_list(dom: &Dom, root: u32, list: u32) -> Option<TitledRange> {
    let end = dom.item(list).end;
    let item = dom
        .ancestors(list)
        .skip(1)
        .take_while(|at| root < *at)
        .find(|at| matches!(dom.item(*at).tag, Tag::Li | Tag::Ul | Tag::Ol | Tag::Menu));
    if let Some(item) = item.filter(|at| dom.item(*at).tag == Tag::Li) {
        let is_said = |at: &u32| dom.item(*at).tag == Tag::Text && !dom.text(*at).trim().is_empty();
        let first = (item..list).take(64).find(is_said)?;
        let parent = dom.item(first).parent;
        let title = if parent == item { own_text(dom, first) } else { label(dom, parent) }?;
        return Some(TitledRange { from: item, end, title });
    }
    let before = dom.preceding(list).find(|at| dom.item(*at).tag != Tag::Text)?;
    let is_plain = matches!(
        dom.item(before).tag,
        Tag::P | Tag::Div | Tag::Span | Tag::Label | Tag::Button | Tag::Strong | Tag::B
    );
    let has_link = dom.subtree(before).any(|at| dom.item(at).tag == Tag::A);
    let title = label(dom, before).filter(|_| is_plain && !has_link)?;
    Some(TitledRange { from: before, end, title })
}

/// Returns the text of an element if it is short enough for a label.
fn label(dom: &Dom, at: u32) -> Option<String> {
    let mut out = String::new();
    for at in dom.subtree(at) {
        if dom.item(at).tag == Tag::Text && !is_unseen(dom, at) {
            dom.append(at, &mut out);
        }
        if LONGEST_LABEL * 4 < out.len() {
            return None;
        }
    }
    shortened(&out)
}

fn own_text(dom: &Dom, at: u32) -> Option<String> {
    let mut out = String::new();
    dom.append(at, &mut out);
    shortened(&out)
}

fn shortened(text: &str) -> Option<String> {
    // Removes signs that mark heading anchors and menus that open.
    let text = text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '¶' | '▾' | '▸' | '›' | '»' | '+')
    });
    (!text.is_empty() && text.chars().count() <= LONGEST_LABEL).then(|| text.to_owned())
}

fn is_unseen(dom: &Dom, text: u32) -> bool {
    let parent = dom.item(text).parent;
    dom.items.get(parent as usize).is_some_and(|item| {
        matches!(item.tag, Tag::Script | Tag::Style | Tag::Template | Tag::Svg | Tag::Noscript)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(page: &str) -> Vec<(String, String, Option<String>)> {
        let url = PageUrl::parse("https://h.example/").unwrap();
        let path = |href: &str| href.trim_start_matches("https://h.example").to_owned();
        let links = navigation(page.as_bytes(), &url).into_iter();
        links.map(|link| (path(&link.href), link.text, link.group)).collect()
    }

    #[test]
    fn reads_groups_in_the_shapes_of_generators() {
        for (name, page) in [
            (
                "nested list",
                "<nav><a href=/x>X</a><ul><li><span>One</span><ul><li><a href=/a>A</a></ul><li><a href=/b>Two</a><ul><li><a href=/c>C</a></ul></ul></nav>",
            ),
            (
                "headings",
                "<nav><a href=/x>X</a><h3>One</h3><ul><li><a href=/a>A</a></ul><h3>Two</h3><ul><li><a href=/b>Two</a><li><a href=/c>C</a></ul></nav>",
            ),
            (
                "details",
                "<nav><a href=/x>X</a><details><summary><span>One</span><svg><path/></svg></summary><ul><li><a href=/a>A</a></ul></details><details><summary>Two</summary><ul><li><a href=/b>Two</a><li><a href=/c>C</a></ul></details></nav>",
            ),
            (
                "divisions",
                "<aside><nav><a href=/x>X</a><section><div><h2>One</h2></div><div><a href=/a>A</a></div></section><section><div><h2>Two</h2></div><div><a href=/b>Two</a><a href=/c>C</a></div></section></nav></aside>",
            ),
            (
                "captions",
                "<aside><a href=/x>X</a><p class=caption role=heading><span>One</span></p><ul><li><a href=/a>A</a></ul><p class=caption role=heading>Two</p><ul><li><a href=/b>Two</a><li><a href=/c>C</a></ul></aside>",
            ),
            (
                "labels",
                "<nav><ul><li><a href=/x>X</a><li><input type=checkbox><label>One<span></span></label><nav><label>One</label><ul><li><a href=/a>A</a></ul></nav><li><label>Two</label><nav><ul><li><a href=/b>Two</a><li><a href=/c>C</a></ul></nav></ul></nav>",
            ),
        ] {
            let link = |path: &str, text: &str, group: Option<&str>| {
                (path.to_owned(), text.to_owned(), group.map(str::to_owned))
            };
            let wanted = [
                link("/x", "X", None),
                link("/a", "A", Some("One")),
                link("/b", "Two", Some("Two")),
                link("/c", "C", Some("Two")),
            ];
            assert_eq!(of(page), wanted, "{name}");
        }
    }

    #[test]
    fn leaves_out_breadcrumbs_fragments_and_the_name_of_the_navigation() {
        let page = "<nav class=breadcrumb><a href=/u>Up</a></nav>\
                    <nav><h2>Main menu</h2><ul><li><a href=#top>Top</a><li><a href=/a#b>A</a>\
                    <li><a href=mailto:x@h.example>Mail</a></ul></nav>";
        assert_eq!(of(page), [("/a".to_owned(), "A".to_owned(), None)]);
    }
}
