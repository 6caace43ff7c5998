//! Coverage: the share of the main text that is kept, for a page and for a site.
//!
//! Input: the coverage of pages. Output: [`CoverageTally`] with the mean and the worst pages.
//! Landmarks with fewer than [`Coverage::FEWEST`] characters have no coverage.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Share of the text in the main landmark of a page that is kept.
///
/// The landmark is the main content that [`html`](crate::html) assumes: the elements that the
/// author or the site owner declares, else the only `<main>`, else the only
/// `itemprop="articleBody"`, else the only `<article>`. Only characters that are not white space
/// count. The following text does not count: hidden text, segments of which more than half is
/// links, elements that never hold content (`<nav>`, forms, buttons), and elements that the site
/// owner drops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Number of characters that are kept.
    pub kept: u32,
    /// Number of characters in the landmark; at least [`Coverage::FEWEST`].
    pub total: u32,
    /// The largest part of the landmark that is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<DroppedPart>,
}

/// Text of the main landmark that is dropped in one piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedPart {
    /// The element in which the dropped text begins, such as `div.comments`.
    pub place: String,
    /// The start of the dropped text.
    pub start: String,
}

impl fmt::Display for DroppedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: \"{}\"", self.place, self.start)
    }
}

impl Coverage {
    /// Minimum number of characters of a landmark that has a coverage. In a shorter landmark, a
    /// single line would decide the share.
    pub const FEWEST: u32 = 200;

    /// Returns the kept share of the landmark, from 0 to 1.
    pub fn share(&self) -> f32 {
        self.kept as f32 / self.total.max(1) as f32
    }
}

/// A page with its coverage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCoverage {
    /// File or URL of the page.
    pub page: String,
    /// The coverage of the page.
    pub coverage: Coverage,
}

/// The coverage of the pages of a site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoverageTally {
    sum: f64,
    pages: u64,
    worst: Vec<PageCoverage>,
}

impl CoverageTally {
    /// Maximum number of pages that [`CoverageTally::worst`] names.
    pub const NAMED: usize = 5;

    /// Coverage below which a page is named.
    pub const LOW: f32 = 0.95;

    /// Adds the coverage of a page.
    pub fn add(&mut self, page: &str, coverage: &Coverage) {
        self.sum += f64::from(coverage.share());
        self.pages += 1;
        if coverage.share() < Self::LOW {
            self.name(PageCoverage { page: page.to_owned(), coverage: coverage.clone() });
        }
    }

    /// Adds the pages of another site.
    pub fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.pages += other.pages;
        for page in &other.worst {
            self.name(page.clone());
        }
    }

    fn name(&mut self, page: PageCoverage) {
        let share = page.coverage.share();
        let at = self.worst.partition_point(|other| {
            let order = other.coverage.share().total_cmp(&share);
            order.then_with(|| other.page.cmp(&page.page)).is_lt()
        });
        if at < Self::NAMED {
            self.worst.insert(at, page);
            self.worst.truncate(Self::NAMED);
        }
    }

    /// Returns the number of pages whose coverage is known.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the mean coverage of the pages; `None` without pages.
    pub fn mean(&self) -> Option<f64> {
        (self.pages != 0).then(|| self.sum / self.pages as f64)
    }

    /// Returns the pages with the lowest coverage below [`CoverageTally::LOW`], the lowest first.
    pub fn worst(&self) -> &[PageCoverage] {
        &self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tally_names_the_lowest_pages_whatever_order_they_come_in() {
        let coverage = |kept| Coverage { kept, total: 1000, largest: None };
        let mut pages: Vec<(String, u32)> =
            (0..20).map(|n| (format!("{n:02}.html"), 1000 - n * 10)).collect();
        pages.push(("00b.html".into(), 810));
        let names = |pages: &[(String, u32)]| {
            let mut tally = CoverageTally::default();
            for (page, kept) in pages {
                tally.add(page, &coverage(*kept));
            }
            let worst = tally.worst().iter().map(|page| page.page.clone());
            (worst.collect::<Vec<_>>(), tally.pages())
        };
        let forth = names(&pages);
        assert_eq!(forth.0, ["00b.html", "19.html", "18.html", "17.html", "16.html"]);
        pages.reverse();
        assert_eq!(names(&pages), forth);
        assert_eq!(CoverageTally::default().mean(), None);
        let mut tally = CoverageTally::default();
        tally.add("a", &coverage(950));
        tally.add("b", &coverage(1000));
        assert!((tally.mean().unwrap() - 0.975).abs() < 1e-6 && tally.worst().is_empty());
    }
}
