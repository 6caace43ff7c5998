//! Table of words in class names, ids, roles and item properties, with the kind of region they
//! suggest.
//!
//! Input: a class or id. Output: [`ElementHints`]. A hint is evidence for the rules and the classifier; a
//! hint alone does not decide.

use std::sync::LazyLock;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Input, MatchKind};

/// A set of hints about the kind of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ElementHints(u32);

macro_rules! hints {
    ($( $name:ident $bit:literal ),* $(,)?) => {
        impl ElementHints { $( pub(crate) const $name: Self = Self(1 << $bit); )* }
    };
}

hints! {
    CONTENT 0, NAV 1, SIDE 2, COMMENT 3, SHARE 4, RELATED 5, AD 6, NOTICE 7, FOOT 8, HEAD 9,
    META 10, PAGER 11, TOC 12, HIDDEN 13, SEARCH 14, AUTHOR 15, TAGS 16, CAPTION 17, STRONG 18,
    TEASER 19, ADMONITION 20, NUMBERS 21, BUTTONS 22, WIDGET 23, APPEAL 24, SLIDES 25,
    LEAD 26, CREDIT 27, LIST 28, PRODUCT 29, FORUM 30, TITLE 31,
}

impl ElementHints {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Returns the set as bits, in the order of the constants.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

/// Words and their hints. A longer word takes precedence over a shorter one at the same position.
const WORDS: &[(&str, ElementHints)] = &[
    // Main content.
    ("articlebody", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("article-body", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("article_body", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("article__body", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("article-content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("article__content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("article_content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("article-text", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("articletext", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("articlecontent", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("entry-content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("entry__content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("entry-text", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("post-content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("post_content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("post-body", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("post-text", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("postcontent", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("story-body", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("storybody", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("story-content", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("bodytext", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("body-text", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("markdown-body", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("mw-parser-output", ElementHints::CONTENT.with(ElementHints::STRONG)),
    ("hentry", ElementHints::CONTENT),
    ("article", ElementHints::CONTENT),
    ("content", ElementHints::CONTENT),
    ("entry", ElementHints::CONTENT),
    ("story", ElementHints::CONTENT),
    ("post", ElementHints::CONTENT),
    ("main", ElementHints::CONTENT),
    ("body", ElementHints::CONTENT),
    ("text", ElementHints::CONTENT),
    // Navigation.
    ("breadcrumb", ElementHints::NAV.with(ElementHints::STRONG)),
    ("crumbs", ElementHints::NAV.with(ElementHints::STRONG)),
    ("navigation", ElementHints::NAV),
    ("navbar", ElementHints::NAV.with(ElementHints::STRONG)),
    ("navheader", ElementHints::NAV.with(ElementHints::STRONG)),
    ("navfooter", ElementHints::NAV.with(ElementHints::STRONG)),
    ("navlinks", ElementHints::NAV.with(ElementHints::STRONG)),
    ("mainnav", ElementHints::NAV.with(ElementHints::STRONG)),
    ("subnav", ElementHints::NAV.with(ElementHints::STRONG)),
    ("topnav", ElementHints::NAV.with(ElementHints::STRONG)),
    ("navi", ElementHints::NAV),
    ("nav", ElementHints::NAV),
    ("menu", ElementHints::NAV),
    ("skip-link", ElementHints::NAV.with(ElementHints::STRONG)),
    ("skiplink", ElementHints::NAV.with(ElementHints::STRONG)),
    ("sitemap", ElementHints::NAV),
    ("pagination", ElementHints::PAGER.with(ElementHints::STRONG)),
    ("pager", ElementHints::PAGER),
    ("prev-next", ElementHints::PAGER.with(ElementHints::STRONG)),
    ("prevnext", ElementHints::PAGER.with(ElementHints::STRONG)),
    ("table-of-contents", ElementHints::TOC.with(ElementHints::STRONG)),
    ("tableofcontents", ElementHints::TOC.with(ElementHints::STRONG)),
    ("toc", ElementHints::TOC),
    // Side bars.
    ("sidebar", ElementHints::SIDE.with(ElementHints::STRONG)),
    ("side-bar", ElementHints::SIDE.with(ElementHints::STRONG)),
    ("sidebarblock", ElementHints::NONE),
    ("seitenleiste", ElementHints::SIDE.with(ElementHints::STRONG)),
    ("aside", ElementHints::SIDE),
    ("widget", ElementHints::WIDGET),
    // Comments of readers.
    ("comments", ElementHints::COMMENT.with(ElementHints::STRONG)),
    ("comment", ElementHints::COMMENT),
    ("deprecation-comment", ElementHints::NONE),
    ("kommentar", ElementHints::COMMENT),
    ("comentario", ElementHints::COMMENT),
    ("commentaire", ElementHints::COMMENT),
    ("komentar", ElementHints::COMMENT),
    ("disqus", ElementHints::COMMENT.with(ElementHints::STRONG)),
    ("respond", ElementHints::COMMENT),
    ("discussion", ElementHints::COMMENT),
    ("responsive", ElementHints::NONE),
    // Links for sharing the page.
    ("social", ElementHints::SHARE),
    ("share", ElementHints::SHARE),
    ("sharing", ElementHints::SHARE),
    ("shared", ElementHints::NONE),
    ("shariff", ElementHints::SHARE.with(ElementHints::STRONG)),
    ("addtoany", ElementHints::SHARE.with(ElementHints::STRONG)),
    ("jp-relatedposts", ElementHints::RELATED.with(ElementHints::STRONG)),
    // Links to other pages.
    ("related", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("unrelated", ElementHints::NONE),
    ("nextread", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("readnext", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("read-next", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("weiterlesen", ElementHints::RELATED),
    ("recommend", ElementHints::RELATED),
    ("similar", ElementHints::RELATED),
    ("outbrain", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("taboola", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("yarpp", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("most-read", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("mostread", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("most-popular", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("read-more", ElementHints::RELATED),
    ("readmore", ElementHints::RELATED),
    ("read-also", ElementHints::RELATED),
    ("also-read", ElementHints::RELATED),
    ("more-news", ElementHints::RELATED),
    ("morenews", ElementHints::RELATED),
    ("upsell", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("cross-sell", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("crosssell", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("teaser", ElementHints::TEASER),
    ("latest", ElementHints::RELATED),
    ("trending", ElementHints::RELATED.with(ElementHints::STRONG)),
    // Advertisements.
    ("advert", ElementHints::AD),
    ("adsense", ElementHints::AD.with(ElementHints::STRONG)),
    ("adslot", ElementHints::AD.with(ElementHints::STRONG)),
    ("ad-slot", ElementHints::AD.with(ElementHints::STRONG)),
    ("ad-container", ElementHints::AD.with(ElementHints::STRONG)),
    ("anzeige", ElementHints::AD),
    ("werbung", ElementHints::AD),
    ("banner", ElementHints::AD),
    ("sponsor", ElementHints::AD),
    ("promo", ElementHints::AD),
    ("promote", ElementHints::AD),
    ("call-to-action", ElementHints::APPEAL),
    ("calltoaction", ElementHints::APPEAL),
    ("cta", ElementHints::APPEAL),
    ("donat", ElementHints::APPEAL),
    ("spenden", ElementHints::APPEAL),
    ("reward", ElementHints::APPEAL),
    ("affiliate", ElementHints::APPEAL),
    ("disclaimer", ElementHints::APPEAL),
    ("disclosure", ElementHints::APPEAL),
    ("backlink", ElementHints::PAGER),
    ("back-link", ElementHints::PAGER),
    ("sns", ElementHints::SHARE),
    ("likes", ElementHints::SHARE),
    ("teilen", ElementHints::SHARE),
    ("fixed-bottom", ElementHints::NOTICE),
    ("sticky-footer", ElementHints::NOTICE),
    ("carousel", ElementHints::SLIDES),
    ("swiper", ElementHints::SLIDES),
    ("slider", ElementHints::SLIDES),
    ("slick", ElementHints::SLIDES),
    // Notices and dialogs over the content.
    ("cookie", ElementHints::NOTICE.with(ElementHints::STRONG)),
    ("consent", ElementHints::NOTICE.with(ElementHints::STRONG)),
    ("gdpr", ElementHints::NOTICE.with(ElementHints::STRONG)),
    ("dsgvo", ElementHints::NOTICE.with(ElementHints::STRONG)),
    ("modal", ElementHints::NOTICE),
    ("popup", ElementHints::NOTICE),
    ("pop-up", ElementHints::NOTICE),
    ("overlay", ElementHints::NOTICE),
    ("newsletter", ElementHints::NOTICE),
    ("subscribe", ElementHints::NOTICE),
    ("subscription", ElementHints::NOTICE),
    ("signup", ElementHints::NOTICE),
    ("sign-up", ElementHints::NOTICE),
    ("login", ElementHints::NOTICE),
    ("paywall", ElementHints::NOTICE),
    ("offcanvas", ElementHints::NOTICE),
    ("off-canvas", ElementHints::NOTICE),
    ("search", ElementHints::SEARCH),
    ("suche", ElementHints::SEARCH),
    // Headers and footers.
    ("footer", ElementHints::FOOT),
    ("copyright", ElementHints::FOOT),
    ("imprint", ElementHints::FOOT),
    ("impressum", ElementHints::FOOT),
    ("footnote", ElementHints::CONTENT),
    ("header", ElementHints::HEAD),
    ("masthead", ElementHints::HEAD),
    ("standfirst", ElementHints::LEAD),
    ("excerpt", ElementHints::LEAD),
    ("subtitle", ElementHints::LEAD),
    ("subline", ElementHints::LEAD),
    ("vorspann", ElementHints::LEAD),
    ("intro", ElementHints::LEAD),
    ("chapo", ElementHints::LEAD),
    ("lead", ElementHints::LEAD),
    ("lede", ElementHints::LEAD),
    ("dek", ElementHints::LEAD),
    // Information about the text.
    ("byline", ElementHints::META),
    ("meta", ElementHints::META),
    ("dateline", ElementHints::META),
    ("author", ElementHints::AUTHOR),
    ("authoriz", ElementHints::NONE),
    ("authoris", ElementHints::NONE),
    ("authorit", ElementHints::NONE),
    ("subscriber", ElementHints::NONE),
    ("similarit", ElementHints::NONE),
    ("autor", ElementHints::AUTHOR),
    ("biography", ElementHints::AUTHOR),
    ("tags", ElementHints::TAGS),
    ("taglist", ElementHints::TAGS),
    ("tag-list", ElementHints::TAGS),
    ("tagcloud", ElementHints::TAGS.with(ElementHints::STRONG)),
    ("tag-cloud", ElementHints::TAGS.with(ElementHints::STRONG)),
    ("categories", ElementHints::TAGS),
    ("keywords", ElementHints::TAGS),
    ("caption", ElementHints::CAPTION),
    ("bildunterschrift", ElementHints::CAPTION),
    ("credit", ElementHints::CREDIT),
    ("photographer", ElementHints::CREDIT),
    ("image-source", ElementHints::CREDIT),
    ("caption--source", ElementHints::CREDIT),
    // Text that is hidden from view.
    ("visually-hidden", ElementHints::HIDDEN),
    ("visuallyhidden", ElementHints::HIDDEN),
    ("screen-reader", ElementHints::HIDDEN),
    ("screenreader", ElementHints::HIDDEN),
    ("sr-only", ElementHints::HIDDEN),
    ("d-none", ElementHints::HIDDEN),
    ("hidden", ElementHints::HIDDEN),
    ("overflow-hidden", ElementHints::NONE),
    ("has-hidden", ElementHints::NONE),
    ("label-hidden", ElementHints::NONE),
    ("hidden-xs", ElementHints::NONE),
    ("hidden-print", ElementHints::WIDGET),
    ("noprint", ElementHints::WIDGET),
    ("nosearch", ElementHints::WIDGET),
    ("no-search", ElementHints::WIDGET),
    ("noindex", ElementHints::WIDGET),
    ("no-print", ElementHints::WIDGET),
    // Parts of documentation pages.
    ("admonition", ElementHints::ADMONITION),
    ("callout", ElementHints::ADMONITION),
    ("editsection", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("edit-this-page", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("edit-link", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("headerlink", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("copybtn", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("copy-button", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("clipboard", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("toolbar", ElementHints::BUTTONS),
    ("hideme", ElementHints::HIDDEN),
    ("tooltip", ElementHints::HIDDEN),
    ("mw-editsection", ElementHints::BUTTONS.with(ElementHints::STRONG)),
    ("rich-link", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("richlink", ElementHints::RELATED.with(ElementHints::STRONG)),
    ("sitenotice", ElementHints::NOTICE),
    ("navbox", ElementHints::NAV.with(ElementHints::STRONG)),
    ("lineno", ElementHints::NUMBERS),
    ("line-number", ElementHints::NUMBERS),
    ("linenumber", ElementHints::NUMBERS),
    ("gutter", ElementHints::NUMBERS),
    // Words that indicate the type of the page; no rule drops an element because of them.
    ("list", ElementHints::LIST),
    ("listing", ElementHints::LIST),
    ("results", ElementHints::LIST),
    ("grid", ElementHints::LIST),
    ("feed", ElementHints::LIST),
    ("archive", ElementHints::LIST),
    ("items", ElementHints::LIST),
    ("item", ElementHints::LIST),
    ("card", ElementHints::LIST),
    ("cards", ElementHints::LIST),
    ("tile", ElementHints::LIST),
    ("catalog", ElementHints::LIST),
    ("collection", ElementHints::LIST),
    ("product", ElementHints::PRODUCT),
    ("price", ElementHints::PRODUCT),
    ("sku", ElementHints::PRODUCT),
    ("cart", ElementHints::PRODUCT),
    ("shop", ElementHints::PRODUCT),
    ("rating", ElementHints::PRODUCT),
    ("review", ElementHints::PRODUCT),
    ("specs", ElementHints::PRODUCT),
    ("specification", ElementHints::PRODUCT),
    ("thread", ElementHints::FORUM),
    ("topic", ElementHints::FORUM),
    ("message", ElementHints::FORUM),
    ("answer", ElementHints::FORUM),
    ("question", ElementHints::FORUM),
    ("reply", ElementHints::FORUM),
    ("replies", ElementHints::FORUM),
    ("forum", ElementHints::FORUM),
    ("title", ElementHints::TITLE),
    ("headline", ElementHints::TITLE),
    ("heading", ElementHints::TITLE),
];

/// Length of the shortest word, in bytes.
const SHORTEST: usize = 3;

static MACHINE: LazyLock<DFA> = LazyLock::new(|| {
    DFA::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .ascii_case_insensitive(true)
        .build(WORDS.iter().map(|(word, _)| word))
        .expect("a fixed list of words is a valid automaton")
});

/// A cache of the hints of recent names, because many elements of a page have the same names.
#[derive(Debug, Default)]
pub(crate) struct HintCache<'d>([(&'d str, ElementHints); 32]);

impl<'d> HintCache<'d> {
    /// Returns the hints in a class or id, from the cache if possible.
    pub(crate) fn of_names(&mut self, names: &'d str) -> ElementHints {
        // The cache key uses the length, the first, the middle and the last byte of the names.
        let byte = |at: usize| names.as_bytes().get(at).map_or(0, |byte| usize::from(*byte));
        let n = names.len();
        let key = n + byte(0) + 3 * byte(n / 2) + 5 * byte(n.wrapping_sub(1));
        let known = &mut self.0[key % 32];
        if known.0 != names {
            *known = (names, of_names(names));
        }
        known.1
    }
}

/// Returns the hints in a class or id.
pub(crate) fn of_names(names: &str) -> ElementHints {
    let mut found = ElementHints::NONE;
    // No word is shorter than `SHORTEST`; many classes inside code blocks are.
    if names.len() < SHORTEST {
        return found;
    }
    let hits = MACHINE.try_find_iter(Input::new(names));
    for hit in hits.expect("the machine searches from anywhere") {
        let (word, hints) = WORDS[hit.pattern().as_usize()];
        // A word must not begin inside another word: `search` does not match `research`, but
        // `related` matches `RelatedPosts`. A short word must also end there: `toc` does not match
        // `tocqueville`.
        let bytes = names.as_bytes();
        let before = hit.start().checked_sub(1).and_then(|at| bytes.get(at));
        let (first, after) = (bytes.get(hit.start()), bytes.get(hit.end()));
        let is_hump = first.is_some_and(u8::is_ascii_uppercase);
        let goes_on = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_lowercase);
        if (goes_on(before) && !is_hump) || (word.len() <= 4 && goes_on(after)) {
            continue;
        }
        found = found.with(hints);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_word_has_the_declared_length() {
        assert_eq!(WORDS.iter().map(|(word, _)| word.len()).min(), Some(SHORTEST));
    }

    #[test]
    fn finds_words_inside_names() {
        assert!(of_names("site-sidebar left").has(ElementHints::SIDE));
        assert!(of_names("RelatedPosts").has(ElementHints::RELATED));
        assert!(of_names("entry-content clearfix").has(ElementHints::STRONG));
        assert_eq!(of_names("stock"), ElementHints::NONE);
        assert!(of_names("toc local").has(ElementHints::TOC));
        assert!(!of_names("footnotes").has(ElementHints::FOOT));
        assert_eq!(of_names("responsive"), ElementHints::NONE);
    }
}
