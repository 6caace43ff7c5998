//! Table of words in class names, ids, roles and item properties, with the kind of region they
//! suggest.
//!
//! Input: a class or id. Output: [`Hints`]. A hint is evidence for the rules and the classifier; a
//! hint alone does not decide.

use std::sync::LazyLock;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Input, MatchKind};

/// A set of hints about the kind of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hints(u32);

macro_rules! hints {
    ($( $name:ident $bit:literal ),* $(,)?) => {
        impl Hints { $( pub(crate) const $name: Self = Self(1 << $bit); )* }
    };
}

hints! {
    CONTENT 0, NAV 1, SIDE 2, COMMENT 3, SHARE 4, RELATED 5, AD 6, NOTICE 7, FOOT 8, HEAD 9,
    META 10, PAGER 11, TOC 12, HIDDEN 13, SEARCH 14, AUTHOR 15, TAGS 16, CAPTION 17, STRONG 18,
    TEASER 19, ADMONITION 20, NUMBERS 21, BUTTONS 22, WIDGET 23, APPEAL 24, SLIDES 25,
    LEAD 26, CREDIT 27, LIST 28, PRODUCT 29, FORUM 30, TITLE 31,
}

impl Hints {
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
const WORDS: &[(&str, Hints)] = &[
    // Main content.
    ("articlebody", Hints::CONTENT.with(Hints::STRONG)),
    ("article-body", Hints::CONTENT.with(Hints::STRONG)),
    ("article_body", Hints::CONTENT.with(Hints::STRONG)),
    ("article__body", Hints::CONTENT.with(Hints::STRONG)),
    ("article-content", Hints::CONTENT.with(Hints::STRONG)),
    ("article__content", Hints::CONTENT.with(Hints::STRONG)),
    ("article_content", Hints::CONTENT.with(Hints::STRONG)),
    ("article-text", Hints::CONTENT.with(Hints::STRONG)),
    ("articletext", Hints::CONTENT.with(Hints::STRONG)),
    ("articlecontent", Hints::CONTENT.with(Hints::STRONG)),
    ("entry-content", Hints::CONTENT.with(Hints::STRONG)),
    ("entry__content", Hints::CONTENT.with(Hints::STRONG)),
    ("entry-text", Hints::CONTENT.with(Hints::STRONG)),
    ("post-content", Hints::CONTENT.with(Hints::STRONG)),
    ("post_content", Hints::CONTENT.with(Hints::STRONG)),
    ("post-body", Hints::CONTENT.with(Hints::STRONG)),
    ("post-text", Hints::CONTENT.with(Hints::STRONG)),
    ("postcontent", Hints::CONTENT.with(Hints::STRONG)),
    ("story-body", Hints::CONTENT.with(Hints::STRONG)),
    ("storybody", Hints::CONTENT.with(Hints::STRONG)),
    ("story-content", Hints::CONTENT.with(Hints::STRONG)),
    ("bodytext", Hints::CONTENT.with(Hints::STRONG)),
    ("body-text", Hints::CONTENT.with(Hints::STRONG)),
    ("markdown-body", Hints::CONTENT.with(Hints::STRONG)),
    ("mw-parser-output", Hints::CONTENT.with(Hints::STRONG)),
    ("hentry", Hints::CONTENT),
    ("article", Hints::CONTENT),
    ("content", Hints::CONTENT),
    ("entry", Hints::CONTENT),
    ("story", Hints::CONTENT),
    ("post", Hints::CONTENT),
    ("main", Hints::CONTENT),
    ("body", Hints::CONTENT),
    ("text", Hints::CONTENT),
    // Navigation.
    ("breadcrumb", Hints::NAV.with(Hints::STRONG)),
    ("crumbs", Hints::NAV.with(Hints::STRONG)),
    ("navigation", Hints::NAV),
    ("navbar", Hints::NAV.with(Hints::STRONG)),
    ("navheader", Hints::NAV.with(Hints::STRONG)),
    ("navfooter", Hints::NAV.with(Hints::STRONG)),
    ("navlinks", Hints::NAV.with(Hints::STRONG)),
    ("mainnav", Hints::NAV.with(Hints::STRONG)),
    ("subnav", Hints::NAV.with(Hints::STRONG)),
    ("topnav", Hints::NAV.with(Hints::STRONG)),
    ("navi", Hints::NAV),
    ("nav", Hints::NAV),
    ("menu", Hints::NAV),
    ("skip-link", Hints::NAV.with(Hints::STRONG)),
    ("skiplink", Hints::NAV.with(Hints::STRONG)),
    ("sitemap", Hints::NAV),
    ("pagination", Hints::PAGER.with(Hints::STRONG)),
    ("pager", Hints::PAGER),
    ("prev-next", Hints::PAGER.with(Hints::STRONG)),
    ("prevnext", Hints::PAGER.with(Hints::STRONG)),
    ("table-of-contents", Hints::TOC.with(Hints::STRONG)),
    ("tableofcontents", Hints::TOC.with(Hints::STRONG)),
    ("toc", Hints::TOC),
    // Side bars.
    ("sidebar", Hints::SIDE.with(Hints::STRONG)),
    ("side-bar", Hints::SIDE.with(Hints::STRONG)),
    ("sidebarblock", Hints::NONE),
    ("seitenleiste", Hints::SIDE.with(Hints::STRONG)),
    ("aside", Hints::SIDE),
    ("widget", Hints::WIDGET),
    // Comments of readers.
    ("comments", Hints::COMMENT.with(Hints::STRONG)),
    ("comment", Hints::COMMENT),
    ("deprecation-comment", Hints::NONE),
    ("kommentar", Hints::COMMENT),
    ("comentario", Hints::COMMENT),
    ("commentaire", Hints::COMMENT),
    ("komentar", Hints::COMMENT),
    ("disqus", Hints::COMMENT.with(Hints::STRONG)),
    ("respond", Hints::COMMENT),
    ("discussion", Hints::COMMENT),
    ("responsive", Hints::NONE),
    // Links for sharing the page.
    ("social", Hints::SHARE),
    ("share", Hints::SHARE),
    ("sharing", Hints::SHARE),
    ("shared", Hints::NONE),
    ("shariff", Hints::SHARE.with(Hints::STRONG)),
    ("addtoany", Hints::SHARE.with(Hints::STRONG)),
    ("jp-relatedposts", Hints::RELATED.with(Hints::STRONG)),
    // Links to other pages.
    ("related", Hints::RELATED.with(Hints::STRONG)),
    ("unrelated", Hints::NONE),
    ("nextread", Hints::RELATED.with(Hints::STRONG)),
    ("readnext", Hints::RELATED.with(Hints::STRONG)),
    ("read-next", Hints::RELATED.with(Hints::STRONG)),
    ("weiterlesen", Hints::RELATED),
    ("recommend", Hints::RELATED),
    ("similar", Hints::RELATED),
    ("outbrain", Hints::RELATED.with(Hints::STRONG)),
    ("taboola", Hints::RELATED.with(Hints::STRONG)),
    ("yarpp", Hints::RELATED.with(Hints::STRONG)),
    ("most-read", Hints::RELATED.with(Hints::STRONG)),
    ("mostread", Hints::RELATED.with(Hints::STRONG)),
    ("most-popular", Hints::RELATED.with(Hints::STRONG)),
    ("read-more", Hints::RELATED),
    ("readmore", Hints::RELATED),
    ("read-also", Hints::RELATED),
    ("also-read", Hints::RELATED),
    ("more-news", Hints::RELATED),
    ("morenews", Hints::RELATED),
    ("upsell", Hints::RELATED.with(Hints::STRONG)),
    ("cross-sell", Hints::RELATED.with(Hints::STRONG)),
    ("crosssell", Hints::RELATED.with(Hints::STRONG)),
    ("teaser", Hints::TEASER),
    ("latest", Hints::RELATED),
    ("trending", Hints::RELATED.with(Hints::STRONG)),
    // Advertisements.
    ("advert", Hints::AD),
    ("adsense", Hints::AD.with(Hints::STRONG)),
    ("adslot", Hints::AD.with(Hints::STRONG)),
    ("ad-slot", Hints::AD.with(Hints::STRONG)),
    ("ad-container", Hints::AD.with(Hints::STRONG)),
    ("anzeige", Hints::AD),
    ("werbung", Hints::AD),
    ("banner", Hints::AD),
    ("sponsor", Hints::AD),
    ("promo", Hints::AD),
    ("promote", Hints::AD),
    ("call-to-action", Hints::APPEAL),
    ("calltoaction", Hints::APPEAL),
    ("cta", Hints::APPEAL),
    ("donat", Hints::APPEAL),
    ("spenden", Hints::APPEAL),
    ("reward", Hints::APPEAL),
    ("affiliate", Hints::APPEAL),
    ("disclaimer", Hints::APPEAL),
    ("disclosure", Hints::APPEAL),
    ("backlink", Hints::PAGER),
    ("back-link", Hints::PAGER),
    ("sns", Hints::SHARE),
    ("likes", Hints::SHARE),
    ("teilen", Hints::SHARE),
    ("fixed-bottom", Hints::NOTICE),
    ("sticky-footer", Hints::NOTICE),
    ("carousel", Hints::SLIDES),
    ("swiper", Hints::SLIDES),
    ("slider", Hints::SLIDES),
    ("slick", Hints::SLIDES),
    // Notices and dialogs over the content.
    ("cookie", Hints::NOTICE.with(Hints::STRONG)),
    ("consent", Hints::NOTICE.with(Hints::STRONG)),
    ("gdpr", Hints::NOTICE.with(Hints::STRONG)),
    ("dsgvo", Hints::NOTICE.with(Hints::STRONG)),
    ("modal", Hints::NOTICE),
    ("popup", Hints::NOTICE),
    ("pop-up", Hints::NOTICE),
    ("overlay", Hints::NOTICE),
    ("newsletter", Hints::NOTICE),
    ("subscribe", Hints::NOTICE),
    ("subscription", Hints::NOTICE),
    ("signup", Hints::NOTICE),
    ("sign-up", Hints::NOTICE),
    ("login", Hints::NOTICE),
    ("paywall", Hints::NOTICE),
    ("offcanvas", Hints::NOTICE),
    ("off-canvas", Hints::NOTICE),
    ("search", Hints::SEARCH),
    ("suche", Hints::SEARCH),
    // Headers and footers.
    ("footer", Hints::FOOT),
    ("copyright", Hints::FOOT),
    ("imprint", Hints::FOOT),
    ("impressum", Hints::FOOT),
    ("footnote", Hints::CONTENT),
    ("header", Hints::HEAD),
    ("masthead", Hints::HEAD),
    ("standfirst", Hints::LEAD),
    ("excerpt", Hints::LEAD),
    ("subtitle", Hints::LEAD),
    ("subline", Hints::LEAD),
    ("vorspann", Hints::LEAD),
    ("intro", Hints::LEAD),
    ("chapo", Hints::LEAD),
    ("lead", Hints::LEAD),
    ("lede", Hints::LEAD),
    ("dek", Hints::LEAD),
    // Information about the text.
    ("byline", Hints::META),
    ("meta", Hints::META),
    ("dateline", Hints::META),
    ("author", Hints::AUTHOR),
    ("authoriz", Hints::NONE),
    ("authoris", Hints::NONE),
    ("authorit", Hints::NONE),
    ("subscriber", Hints::NONE),
    ("similarit", Hints::NONE),
    ("autor", Hints::AUTHOR),
    ("biography", Hints::AUTHOR),
    ("tags", Hints::TAGS),
    ("taglist", Hints::TAGS),
    ("tag-list", Hints::TAGS),
    ("tagcloud", Hints::TAGS.with(Hints::STRONG)),
    ("tag-cloud", Hints::TAGS.with(Hints::STRONG)),
    ("categories", Hints::TAGS),
    ("keywords", Hints::TAGS),
    ("caption", Hints::CAPTION),
    ("bildunterschrift", Hints::CAPTION),
    ("credit", Hints::CREDIT),
    ("photographer", Hints::CREDIT),
    ("image-source", Hints::CREDIT),
    ("caption--source", Hints::CREDIT),
    // Text that is hidden from view.
    ("visually-hidden", Hints::HIDDEN),
    ("visuallyhidden", Hints::HIDDEN),
    ("screen-reader", Hints::HIDDEN),
    ("screenreader", Hints::HIDDEN),
    ("sr-only", Hints::HIDDEN),
    ("d-none", Hints::HIDDEN),
    ("hidden", Hints::HIDDEN),
    ("overflow-hidden", Hints::NONE),
    ("has-hidden", Hints::NONE),
    ("label-hidden", Hints::NONE),
    ("hidden-xs", Hints::NONE),
    ("hidden-print", Hints::WIDGET),
    ("noprint", Hints::WIDGET),
    ("nosearch", Hints::WIDGET),
    ("no-search", Hints::WIDGET),
    ("noindex", Hints::WIDGET),
    ("no-print", Hints::WIDGET),
    // Parts of documentation pages.
    ("admonition", Hints::ADMONITION),
    ("callout", Hints::ADMONITION),
    ("editsection", Hints::BUTTONS.with(Hints::STRONG)),
    ("edit-this-page", Hints::BUTTONS.with(Hints::STRONG)),
    ("edit-link", Hints::BUTTONS.with(Hints::STRONG)),
    ("headerlink", Hints::BUTTONS.with(Hints::STRONG)),
    ("copybtn", Hints::BUTTONS.with(Hints::STRONG)),
    ("copy-button", Hints::BUTTONS.with(Hints::STRONG)),
    ("clipboard", Hints::BUTTONS.with(Hints::STRONG)),
    ("toolbar", Hints::BUTTONS),
    ("hideme", Hints::HIDDEN),
    ("tooltip", Hints::HIDDEN),
    ("mw-editsection", Hints::BUTTONS.with(Hints::STRONG)),
    ("rich-link", Hints::RELATED.with(Hints::STRONG)),
    ("richlink", Hints::RELATED.with(Hints::STRONG)),
    ("sitenotice", Hints::NOTICE),
    ("navbox", Hints::NAV.with(Hints::STRONG)),
    ("lineno", Hints::NUMBERS),
    ("line-number", Hints::NUMBERS),
    ("linenumber", Hints::NUMBERS),
    ("gutter", Hints::NUMBERS),
    // Words that indicate the type of the page; no rule drops an element because of them.
    ("list", Hints::LIST),
    ("listing", Hints::LIST),
    ("results", Hints::LIST),
    ("grid", Hints::LIST),
    ("feed", Hints::LIST),
    ("archive", Hints::LIST),
    ("items", Hints::LIST),
    ("item", Hints::LIST),
    ("card", Hints::LIST),
    ("cards", Hints::LIST),
    ("tile", Hints::LIST),
    ("catalog", Hints::LIST),
    ("collection", Hints::LIST),
    ("product", Hints::PRODUCT),
    ("price", Hints::PRODUCT),
    ("sku", Hints::PRODUCT),
    ("cart", Hints::PRODUCT),
    ("shop", Hints::PRODUCT),
    ("rating", Hints::PRODUCT),
    ("review", Hints::PRODUCT),
    ("specs", Hints::PRODUCT),
    ("specification", Hints::PRODUCT),
    ("thread", Hints::FORUM),
    ("topic", Hints::FORUM),
    ("message", Hints::FORUM),
    ("answer", Hints::FORUM),
    ("question", Hints::FORUM),
    ("reply", Hints::FORUM),
    ("replies", Hints::FORUM),
    ("forum", Hints::FORUM),
    ("title", Hints::TITLE),
    ("headline", Hints::TITLE),
    ("heading", Hints::TITLE),
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
pub(crate) struct Memo<'d>([(&'d str, Hints); 32]);

impl<'d> Memo<'d> {
    /// Returns the hints in a class or id, from the cache if possible.
    pub(crate) fn of_names(&mut self, names: &'d str) -> Hints {
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
pub(crate) fn of_names(names: &str) -> Hints {
    let mut found = Hints::NONE;
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
        assert!(of_names("site-sidebar left").has(Hints::SIDE));
        assert!(of_names("RelatedPosts").has(Hints::RELATED));
        assert!(of_names("entry-content clearfix").has(Hints::STRONG));
        assert_eq!(of_names("stock"), Hints::NONE);
        assert!(of_names("toc local").has(Hints::TOC));
        assert!(!of_names("footnotes").has(Hints::FOOT));
        assert_eq!(of_names("responsive"), Hints::NONE);
    }
}
