//! Parses and matches selectors, with which the site owner names elements of a page.
//!
//! Input: a subset of CSS: `tag`, `.class`, `#id`, `[attribute]`, `[attribute=value]`, descendants
//! (a space) and alternatives (a comma). Output: the matching elements of a tree.
//! Rejects all other syntax, and names of custom elements, which the tree does not store.

use std::fmt;
use std::str::FromStr;

use html5ever::{LocalName, local_name};

use crate::dom::Dom;
use crate::tag::Tag;

/// A selector for elements of a page.
#[derive(Clone, PartialEq, Eq)]
pub struct Selector {
    source: String,
    /// Alternatives; each is a chain of compound selectors, the outermost first.
    chains: Vec<Vec<CompoundSelector>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct CompoundSelector {
    tag: Option<Tag>,
    conditions: Vec<SelectorCondition>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SelectorCondition {
    Class(String),
    Id(String),
    Has(String),
    Is(String, String),
}

/// An error of parsing a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    selector: String,
    /// The part that does not parse; empty if the selector ends too early.
    rest: String,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { selector, rest } = self;
        match rest.as_str() {
            "" => write!(f, "`{selector}` is not a selector: it ends too early"),
            rest => write!(f, "`{selector}` is not a selector: cannot read it from `{rest}` on"),
        }
    }
}

impl std::error::Error for SelectorError {}

impl Selector {
    /// Description of the supported syntax, for messages.
    pub const SUPPORTED: &'static str = "HTML elements, `.class`, `#id`, `[attribute]` and \
        `[attribute=value]`; a space for descendants, a comma for alternatives";

    /// Returns the selector in its original form.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl fmt::Debug for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Selector").field(&self.source).finish()
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(source: &str) -> Result<Self, SelectorError> {
        let fail = |place| SelectorError {
            selector: source.to_owned(),
            rest: source.get(place..).unwrap_or_default().trim_end().to_owned(),
        };
        let mut chains = Vec::new();
        let mut first = 0;
        for alternative in source.split(',') {
            let mut chain = Vec::new();
            let mut place = first;
            for part in alternative.split_inclusive(char::is_whitespace) {
                let compound = part.trim();
                if !compound.is_empty() {
                    chain.push(parse(compound).map_err(|at| fail(place + at))?);
                }
                place += part.len();
            }
            if chain.is_empty() {
                return Err(fail(first));
            }
            chains.push(chain);
            first += alternative.len() + 1;
        }
        Ok(Self { source: source.to_owned(), chains })
    }
}

/// Parses one compound selector; an error is the position of the first unexpected character.
fn parse(text: &str) -> Result<CompoundSelector, usize> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii();
    let name_at = |at: usize| {
        let rest = text.get(at..).unwrap_or("");
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if end == 0 { Err(at) } else { Ok(rest.get(..end).unwrap_or("")) }
    };
    let mut compound = CompoundSelector::default();
    let mut at = 0;
    while let Some(sign) = text.get(at..).and_then(|rest| rest.chars().next()) {
        match sign {
            '.' | '#' => {
                let name = name_at(at + 1)?;
                at += 1 + name.len();
                let name = name.to_owned();
                compound.conditions.push(if sign == '.' {
                    SelectorCondition::Class(name)
                } else {
                    SelectorCondition::Id(name)
                });
            }
            '[' => {
                let inner = text.get(at + 1..).and_then(|rest| rest.split_once(']')).ok_or(at)?.0;
                let (name, value) = match inner.split_once('=') {
                    Some((name, value)) => (name, Some(value.trim_matches(['"', '\'']))),
                    None => (inner, None),
                };
                if name.is_empty() || !name.chars().all(is_name) {
                    return Err(at + 1);
                }
                let name = name.to_ascii_lowercase();
                compound.conditions.push(match value {
                    Some(value) => SelectorCondition::Is(name, value.to_owned()),
                    None => SelectorCondition::Has(name),
                });
                at += inner.len() + 2;
            }
            _ if at == 0 => {
                let name = name_at(0)?;
                compound.tag = Some(tag(name).ok_or(0_usize)?);
                at += name.len();
            }
            _ => return Err(at),
        }
    }
    Ok(compound)
}

/// Returns the tag of an element name; `None` for names that the tree does not store.
fn tag(name: &str) -> Option<Tag> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "svg" => Some(Tag::Svg),
        "math" => Some(Tag::Math),
        _ => Some(Tag::of(&LocalName::from(name))).filter(|tag| *tag != Tag::Custom),
    }
}

impl CompoundSelector {
    fn matches(&self, dom: &Dom, at: u32) -> bool {
        let item = dom.item(at);
        if item.tag == Tag::Text || self.tag.is_some_and(|tag| tag != item.tag) {
            return false;
        }
        self.conditions.iter().all(|condition| match condition {
            SelectorCondition::Class(name) => dom
                .attr(at, &local_name!("class"))
                .is_some_and(|class| class.split_ascii_whitespace().any(|token| token == name)),
            SelectorCondition::Id(name) => dom.attr(at, &local_name!("id")) == Some(name),
            SelectorCondition::Has(name) => dom.attribute(at, name).is_some(),
            SelectorCondition::Is(name, value) => dom.attribute(at, name) == Some(value),
        })
    }
}

impl Selector {
    fn matches(&self, dom: &Dom, at: u32) -> bool {
        self.chains.iter().any(|chain| {
            let Some((last, outer)) = chain.split_last() else { return false };
            if !last.matches(dom, at) {
                return false;
            }
            let mut ancestors = dom.ancestors(at).skip(1);
            outer.iter().rev().all(|compound| ancestors.any(|up| compound.matches(dom, up)))
        })
    }

    /// Returns the outermost elements that match, in document order.
    pub(crate) fn find(&self, dom: &Dom) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = dom.body.unwrap_or(0);
        while at < dom.len() {
            if self.matches(dom, at) {
                found.push(at);
                at = dom.item(at).end;
            } else {
                at += 1;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn selectors_find_tags_classes_ids_and_attributes() {
        let html =
            "<body><div id=a class='x y'><p>1<p data-k=v>2</div><section class=x><p>3</section>";
        let dom = Dom::parse(html, &Limits::USUAL);
        let n = |selector: &str| selector.parse::<Selector>().unwrap().find(&dom).len();
        assert_eq!(n("p"), 3);
        assert_eq!(n(".x"), 2);
        assert_eq!(n("div.x.y"), 1);
        assert_eq!(n("#a p"), 2);
        assert_eq!(n(".x p[data-k]"), 1);
        assert_eq!(n("p[data-k=\"v\"], section"), 2);
        assert_eq!(n("section #a"), 0);
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for text in
            ["", "a,", "a > b", "a:hover", ".", "[", "[=x]", "a[b]c", "a,,b", "my-menu", "custom"]
        {
            assert!(text.parse::<Selector>().is_err(), "{text}");
        }
        let said = |text: &str| text.parse::<Selector>().unwrap_err().to_string();
        assert_eq!(said("a > b"), "`a > b` is not a selector: cannot read it from `> b` on");
        assert_eq!(said("p, "), "`p, ` is not a selector: it ends too early");
    }
}
