//! Finds the main landmark: the element that the author marks as main content.
//!
//! Input: the tree and the survey. Output: the roots of the landmark.
//! Rejects elements without text, and candidates that are not the only one of their kind.

use html5ever::local_name;

use crate::dom::Dom;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;

/// Maximum number of elements that a page can declare as content.
const MOST_DECLARED: usize = 256;

/// The elements that the author marks as the content of the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MainLandmark {
    /// The landmark elements in document order; no element is inside another.
    pub(crate) roots: Vec<u32>,
    /// Whether a declaration for this purpose (`data-pagefind-body`, an owner selector) names the
    /// elements.
    pub(crate) is_declared: bool,
}

impl MainLandmark {
    /// Finds the landmark: regions declared with `data-pagefind-body`, else the only `main` element
    /// or role `main`, else the only `itemprop="articleBody"`, else the only `article` element.
    /// Elements without text do not count.
    pub(crate) fn of(dom: &Dom, survey: &PageSurvey) -> Self {
        let Some(body) = dom.body else { return Self::default() };
        let has_text = |at: u32| {
            !survey.marks(at).has(InheritedMarks::UNSEEN) && survey.sum(dom, at).chars != 0
        };
        if dom.is_marked {
            let mut roots: Vec<u32> = Vec::new();
            for at in dom.subtree(body) {
                let is_inside = roots.last().is_some_and(|last| at < dom.item(*last).end);
                if !is_inside
                    && roots.len() < MOST_DECLARED
                    && dom.attribute(at, "data-pagefind-body").is_some()
                {
                    roots.push(at);
                }
            }
            if roots.iter().any(|at| has_text(*at)) {
                return Self { roots, is_declared: true };
            }
        }
        let (mut main, mut declared, mut article) =
            (UniqueElement::No, UniqueElement::No, UniqueElement::No);
        for at in dom.subtree(body) {
            match dom.item(at).tag {
                Tag::Text => {}
                Tag::Main => main.add(at, has_text(at)),
                Tag::Article => {
                    article.add(at, has_text(at));
                    if is_article_body(dom, at) {
                        declared.add(at, has_text(at));
                    }
                }
                Tag::Div | Tag::Section | Tag::Custom => {
                    if dom.attr(at, &local_name!("role")) == Some("main") {
                        main.add(at, has_text(at));
                    } else if is_article_body(dom, at) {
                        declared.add(at, has_text(at));
                    }
                }
                _ => {}
            }
        }
        let found = [main, declared, article].into_iter().find_map(UniqueElement::get);
        Self { roots: found.into_iter().collect(), is_declared: false }
    }

    /// Creates the landmark from elements that the site owner selects.
    pub(crate) fn named(roots: Vec<u32>) -> Self {
        Self { roots, is_declared: true }
    }

    /// Returns whether an item is inside the landmark.
    pub(crate) fn has(&self, dom: &Dom, at: u32) -> bool {
        self.roots.iter().any(|root| dom.subtree(*root).contains(&at))
    }
}

fn is_article_body(dom: &Dom, at: u32) -> bool {
    dom.attr(at, &local_name!("itemprop"))
        .is_some_and(|value| value.eq_ignore_ascii_case("articleBody"))
}

/// Result of the search for an element that is the only one of its kind.
enum UniqueElement {
    No,
    One(u32),
    Many,
}

impl UniqueElement {
    fn add(&mut self, at: u32, counts: bool) {
        if counts {
            *self = if matches!(self, Self::No) { Self::One(at) } else { Self::Many };
        }
    }

    fn get(self) -> Option<u32> {
        match self {
            Self::One(at) => Some(at),
            _ => None,
        }
    }
}
