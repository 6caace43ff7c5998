//! Defines the features of a segment.
//!
//! A feature is a number with a name. The model stores its index, so the order of the table is
//! part of the model format. Append new features, and raise [`FEATURES_VERSION`] when a definition
//! changes: `cargo xtask features` writes the version, and the model records it.

/// Version of the feature definitions. A model can only be used with the version it was trained
/// with.
pub const FEATURES_VERSION: u32 = 1;

/// A feature: one number that describes a segment.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// Name of the feature in dumps and explanations.
    pub name: &'static str,
    /// Description of the measured value.
    pub doc: &'static str,
}

/// The values of all features of one segment. A row has 256 entries, so that every byte is a valid
/// index.
pub(crate) type Row = [f32; 256];

macro_rules! features {
    ($( $id:ident $name:literal $doc:literal; )*) => {
        /// All features, in the order of their columns in the model.
        pub static FEATURES: &[Feature] = &[$( Feature { name: $name, doc: $doc } ),*];

        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "indices, written as constants")]
        enum Index { $( $id ),* }

        /// Column numbers of the features.
        #[expect(dead_code, reason = "some are only filled as part of a slice")]
        pub(crate) mod id {
            $( #[doc = $doc] pub(crate) const $id: usize = super::Index::$id as usize; )*
        }
    };
}

features! {
    CHARS "own.chars" "Logarithm of the characters of the segment.";
    WORDS "own.words" "Words.";
    STOPS "own.stops" "Punctuation marks outside links.";
    STOP_RATE "own.stop_rate" "Punctuation marks per word.";
    LINK_SHARE "own.link_share" "Share of the characters inside links.";
    LINKS "own.links" "Links.";
    PLAIN "own.plain" "Logarithm of the characters outside links.";
    PROSE "own.prose" "1 if the segment reads like a sentence.";
    DIGITS "own.digits" "Share of digits in the first 96 bytes.";
    UPPER "own.upper" "Share of upper-case ASCII letters in the first 96 bytes.";
    CAPITALISED "own.capitalised" "Share of words of the first 96 bytes that start in upper case.";
    END "own.end" "Last character: 0 other, 1 colon, 2 end of a sentence.";
    STARTS_LOWER "own.starts_lower" "1 if the first letter is a lower-case ASCII letter.";
    WORD_LENGTH "own.word_length" "Characters per word.";
    TAG "own.tag" "Kind of the block element (see `tag_code`).";
    DEPTH "own.depth" "Number of ancestors.";
    HEADING "own.heading" "Heading level, 0 for none.";
    ITEM "own.item" "1 inside a list item.";
    CELL "own.cell" "1 inside a table cell.";
    PRE "own.pre" "1 inside `pre`.";
    CAPTION "own.caption" "1 inside a caption.";
    QUOTE "own.quote" "1 inside a quotation.";
    PARAGRAPH "own.paragraph" "1 inside `p`.";
    INLINE_STRONG "own.strong" "1 if the segment has `b` or `strong`.";
    INLINE_CODE "own.code" "1 if the segment has `code`, `kbd` or `samp`.";
    INLINE_TIME "own.time" "1 if the segment has `time`.";
    INLINE_SMALL "own.small" "1 if the segment has `small`.";
    INLINE_IMAGE "own.image" "1 if the segment has `img`.";
    INLINE_BUTTON "own.button" "1 if the segment has `button`, `label` or `input`.";
    IS_WHOLE_BLOCK "own.whole" "1 if the segment is all the text of its block.";
    ELSEWHERE "phrase.elsewhere" "1 if a short segment starts like a pointer to other pages.";
    APPEAL "phrase.appeal" "1 if a short segment starts like an appeal.";
    CREDIT "phrase.credit" "1 if a short segment starts like a picture credit.";
    DATE_LINE "phrase.date" "1 if a short segment is a date line.";
    RIGHTS "phrase.rights" "1 if a short segment names a copyright.";
    BYLINE "phrase.byline" "1 if a short segment starts like a byline.";
    TITLE_OVERLAP "overlap.title" "Share of words of the first 96 bytes that are in the title.";
    TITLE_COVER "overlap.cover" "Words shared with the title per word of the title.";
    DESCRIPTION_OVERLAP "overlap.description" "Share of words that are in the description.";
    UP_ARTICLE "up.article" "Levels up to `article`, 99 for none.";
    UP_MAIN "up.main" "Levels up to `main` or role `main`, 99 for none.";
    UP_NAV "up.nav" "Levels up to `nav` or role `navigation`, 99 for none.";
    UP_ASIDE "up.aside" "Levels up to `aside`, 99 for none.";
    UP_FOOTER "up.footer" "Levels up to `footer`, 99 for none.";
    UP_HEADER "up.header" "Levels up to `header`, 99 for none.";
    UP_FORM "up.form" "Levels up to `form`, 99 for none.";
    UP_TABLE "up.table" "Levels up to `table`, 99 for none.";
    UP_LIST "up.list" "Levels up to `ul`, `ol` or `menu`, 99 for none.";
    UP_DL "up.dl" "Levels up to `dl`, 99 for none.";
    UP_FIGURE "up.figure" "Levels up to `figure`, 99 for none.";
    UP_BLOCKQUOTE "up.blockquote" "Levels up to `blockquote`, 99 for none.";
    UP_SECTION "up.section" "Levels up to `section`, 99 for none.";
    UP_DETAILS "up.details" "Levels up to `details` or `dialog`, 99 for none.";
    NEAR_CONTENT "near.content" "Hint content on the block (4), its parent (2), its grandparent (1).";
    NEAR_NAV "near.nav" "Hint nav on the block (4), its parent (2), its grandparent (1).";
    NEAR_SIDE "near.side" "Hint side on the block (4), its parent (2), its grandparent (1).";
    NEAR_COMMENT "near.comment" "Hint comment on the block (4), its parent (2), its grandparent (1).";
    NEAR_SHARE "near.share" "Hint share on the block (4), its parent (2), its grandparent (1).";
    NEAR_RELATED "near.related" "Hint related on the block (4), its parent (2), its grandparent (1).";
    NEAR_AD "near.ad" "Hint ad on the block (4), its parent (2), its grandparent (1).";
    NEAR_NOTICE "near.notice" "Hint notice on the block (4), its parent (2), its grandparent (1).";
    NEAR_FOOT "near.foot" "Hint foot on the block (4), its parent (2), its grandparent (1).";
    NEAR_HEAD "near.head" "Hint head on the block (4), its parent (2), its grandparent (1).";
    NEAR_META "near.meta" "Hint meta on the block (4), its parent (2), its grandparent (1).";
    NEAR_PAGER "near.pager" "Hint pager on the block (4), its parent (2), its grandparent (1).";
    NEAR_TOC "near.toc" "Hint toc on the block (4), its parent (2), its grandparent (1).";
    NEAR_HIDDEN "near.hidden" "Hint hidden on the block (4), its parent (2), its grandparent (1).";
    NEAR_SEARCH "near.search" "Hint search on the block (4), its parent (2), its grandparent (1).";
    NEAR_AUTHOR "near.author" "Hint author on the block (4), its parent (2), its grandparent (1).";
    NEAR_TAGS "near.tags" "Hint tags on the block (4), its parent (2), its grandparent (1).";
    NEAR_CAPTION "near.caption" "Hint caption on the block (4), its parent (2), its grandparent (1).";
    NEAR_STRONG "near.strong" "Hint strong on the block (4), its parent (2), its grandparent (1).";
    NEAR_TEASER "near.teaser" "Hint teaser on the block (4), its parent (2), its grandparent (1).";
    NEAR_ADMONITION "near.admonition" "Hint admonition on the block (4), its parent (2), its grandparent (1).";
    NEAR_NUMBERS "near.numbers" "Hint numbers on the block (4), its parent (2), its grandparent (1).";
    NEAR_BUTTONS "near.buttons" "Hint buttons on the block (4), its parent (2), its grandparent (1).";
    NEAR_WIDGET "near.widget" "Hint widget on the block (4), its parent (2), its grandparent (1).";
    NEAR_APPEAL "near.appeal" "Hint appeal on the block (4), its parent (2), its grandparent (1).";
    NEAR_SLIDES "near.slides" "Hint slides on the block (4), its parent (2), its grandparent (1).";
    NEAR_LEAD "near.lead" "Hint lead on the block (4), its parent (2), its grandparent (1).";
    NEAR_CREDIT "near.credit" "Hint credit on the block (4), its parent (2), its grandparent (1).";
    NEAR_LIST "near.list" "Hint list on the block (4), its parent (2), its grandparent (1).";
    NEAR_PRODUCT "near.product" "Hint product on the block (4), its parent (2), its grandparent (1).";
    NEAR_FORUM "near.forum" "Hint forum on the block (4), its parent (2), its grandparent (1).";
    NEAR_TITLE "near.title" "Hint title on the block (4), its parent (2), its grandparent (1).";
    ABOVE_CONTENT "above.content" "Hint content within 4 levels (2), on any ancestor (1).";
    ABOVE_NAV "above.nav" "Hint nav within 4 levels (2), on any ancestor (1).";
    ABOVE_SIDE "above.side" "Hint side within 4 levels (2), on any ancestor (1).";
    ABOVE_COMMENT "above.comment" "Hint comment within 4 levels (2), on any ancestor (1).";
    ABOVE_SHARE "above.share" "Hint share within 4 levels (2), on any ancestor (1).";
    ABOVE_RELATED "above.related" "Hint related within 4 levels (2), on any ancestor (1).";
    ABOVE_AD "above.ad" "Hint ad within 4 levels (2), on any ancestor (1).";
    ABOVE_NOTICE "above.notice" "Hint notice within 4 levels (2), on any ancestor (1).";
    ABOVE_FOOT "above.foot" "Hint foot within 4 levels (2), on any ancestor (1).";
    ABOVE_HEAD "above.head" "Hint head within 4 levels (2), on any ancestor (1).";
    ABOVE_META "above.meta" "Hint meta within 4 levels (2), on any ancestor (1).";
    ABOVE_PAGER "above.pager" "Hint pager within 4 levels (2), on any ancestor (1).";
    ABOVE_TOC "above.toc" "Hint toc within 4 levels (2), on any ancestor (1).";
    ABOVE_HIDDEN "above.hidden" "Hint hidden within 4 levels (2), on any ancestor (1).";
    ABOVE_SEARCH "above.search" "Hint search within 4 levels (2), on any ancestor (1).";
    ABOVE_AUTHOR "above.author" "Hint author within 4 levels (2), on any ancestor (1).";
    ABOVE_TAGS "above.tags" "Hint tags within 4 levels (2), on any ancestor (1).";
    ABOVE_CAPTION "above.caption" "Hint caption within 4 levels (2), on any ancestor (1).";
    ABOVE_STRONG "above.strong" "Hint strong within 4 levels (2), on any ancestor (1).";
    ABOVE_TEASER "above.teaser" "Hint teaser within 4 levels (2), on any ancestor (1).";
    ABOVE_ADMONITION "above.admonition" "Hint admonition within 4 levels (2), on any ancestor (1).";
    ABOVE_NUMBERS "above.numbers" "Hint numbers within 4 levels (2), on any ancestor (1).";
    ABOVE_BUTTONS "above.buttons" "Hint buttons within 4 levels (2), on any ancestor (1).";
    ABOVE_WIDGET "above.widget" "Hint widget within 4 levels (2), on any ancestor (1).";
    ABOVE_APPEAL "above.appeal" "Hint appeal within 4 levels (2), on any ancestor (1).";
    ABOVE_SLIDES "above.slides" "Hint slides within 4 levels (2), on any ancestor (1).";
    ABOVE_LEAD "above.lead" "Hint lead within 4 levels (2), on any ancestor (1).";
    ABOVE_CREDIT "above.credit" "Hint credit within 4 levels (2), on any ancestor (1).";
    ABOVE_LIST "above.list" "Hint list within 4 levels (2), on any ancestor (1).";
    ABOVE_PRODUCT "above.product" "Hint product within 4 levels (2), on any ancestor (1).";
    ABOVE_FORUM "above.forum" "Hint forum within 4 levels (2), on any ancestor (1).";
    ABOVE_TITLE "above.title" "Hint title within 4 levels (2), on any ancestor (1).";
    INDEX "place.index" "Index of the segment per segments of the page.";
    BEFORE "place.before" "Share of the characters of the page before it.";
    FROM_H1 "place.from_h1" "Segments after the first `h1` (-200 to 200; -999 without one).";
    SINCE_HEADING "place.since_heading" "Segments since the last heading, at most 50.";
    HEADING_PHRASE "place.heading_phrase" "Last heading: 1 elsewhere, 2 appeal, 0 other.";
    COPIES "place.copies" "Segments of the page with the same text.";
    IN_REGION "region.inside" "1 inside the heaviest element or its lead.";
    DROPPED_BY "region.dropped_by" "Why the rules would drop it: code of the reason, 0 for none.";
    DROPPED "region.dropped" "1 if the rules would drop it.";
    IN_HULL "region.hull" "1 between the first and the last segment of the region.";
    REGION_PLACE "region.place" "Place between the ends of the region, 0 to 1 inside.";
    FROM_PROSE "region.from_prose" "Segments after the first prose of the region.";
    TO_PROSE "region.to_prose" "Segments before the last prose of the region.";
    REGION_UP "region.up" "Levels up to an ancestor of the region or to the region.";
    REGION_DOWN "region.down" "Levels from the segment's block up to the region, 99 outside.";
    L1_CHARS "level1.chars" "Logarithm of the characters in ancestor 1.";
    L1_LINKS "level1.links" "Share of link characters in ancestor 1.";
    L1_PROSE "level1.prose" "Share of prose in ancestor 1.";
    L1_SEGMENTS "level1.segments" "Logarithm of the segments in ancestor 1.";
    L1_SHARE "level1.share" "Share of the page's prose in ancestor 1.";
    L2_CHARS "level2.chars" "Logarithm of the characters in ancestor 2.";
    L2_LINKS "level2.links" "Share of link characters in ancestor 2.";
    L2_PROSE "level2.prose" "Share of prose in ancestor 2.";
    L2_SEGMENTS "level2.segments" "Logarithm of the segments in ancestor 2.";
    L2_SHARE "level2.share" "Share of the page's prose in ancestor 2.";
    L3_CHARS "level3.chars" "Logarithm of the characters in ancestor 3.";
    L3_LINKS "level3.links" "Share of link characters in ancestor 3.";
    L3_PROSE "level3.prose" "Share of prose in ancestor 3.";
    L3_SEGMENTS "level3.segments" "Logarithm of the segments in ancestor 3.";
    L3_SHARE "level3.share" "Share of the page's prose in ancestor 3.";
    L4_CHARS "level4.chars" "Logarithm of the characters in ancestor 4.";
    L4_LINKS "level4.links" "Share of link characters in ancestor 4.";
    L4_PROSE "level4.prose" "Share of prose in ancestor 4.";
    L4_SEGMENTS "level4.segments" "Logarithm of the segments in ancestor 4.";
    L4_SHARE "level4.share" "Share of the page's prose in ancestor 4.";
    L5_CHARS "level5.chars" "Logarithm of the characters in ancestor 5.";
    L5_LINKS "level5.links" "Share of link characters in ancestor 5.";
    L5_PROSE "level5.prose" "Share of prose in ancestor 5.";
    L5_SEGMENTS "level5.segments" "Logarithm of the segments in ancestor 5.";
    L5_SHARE "level5.share" "Share of the page's prose in ancestor 5.";
    LM_CHARS "landmark.chars" "Logarithm of the characters in the nearest `article` or `main`.";
    LM_LINKS "landmark.links" "Share of link characters in it.";
    LM_SHARE "landmark.share" "Share of the page's prose in it.";
    GROUP_SIZE "group.size" "Logarithm of the segments with the same tags and classes.";
    GROUP_CHARS "group.chars" "Logarithm of their mean characters.";
    GROUP_LINKS "group.links" "Their mean share of links.";
    GROUP_PROSE "group.prose" "Their share of prose.";
    B2_CHARS "b2.chars" "Logarithm of the characters of the segment 2 before, -1 for none.";
    B2_LINKS "b2.links" "Link share of the segment 2 before.";
    B2_PROSE "b2.prose" "1 if the segment 2 before is prose.";
    B2_TAG "b2.tag" "Kind of the block of the segment 2 before.";
    B2_SAME "b2.same" "1 if the segment 2 before has the same tags and classes, 2 with the same parent.";
    B1_CHARS "b1.chars" "Logarithm of the characters of the segment before, -1 for none.";
    B1_LINKS "b1.links" "Link share of the segment before.";
    B1_PROSE "b1.prose" "1 if the segment before is prose.";
    B1_TAG "b1.tag" "Kind of the block of the segment before.";
    B1_SAME "b1.same" "1 if the segment before has the same tags and classes, 2 with the same parent.";
    A1_CHARS "a1.chars" "Logarithm of the characters of the segment after, -1 for none.";
    A1_LINKS "a1.links" "Link share of the segment after.";
    A1_PROSE "a1.prose" "1 if the segment after is prose.";
    A1_TAG "a1.tag" "Kind of the block of the segment after.";
    A1_SAME "a1.same" "1 if the segment after has the same tags and classes, 2 with the same parent.";
    A2_CHARS "a2.chars" "Logarithm of the characters of the segment 2 after, -1 for none.";
    A2_LINKS "a2.links" "Link share of the segment 2 after.";
    A2_PROSE "a2.prose" "1 if the segment 2 after is prose.";
    A2_TAG "a2.tag" "Kind of the block of the segment 2 after.";
    A2_SAME "a2.same" "1 if the segment 2 after has the same tags and classes, 2 with the same parent.";
    W5_PROSE_BEFORE "window5.before" "Hundreds of prose characters in the 5 segments before.";
    W5_PROSE_AFTER "window5.after" "Hundreds of prose characters in the 5 segments after.";
    W5_LINKS "window5.links" "Share of link characters from 5 before to 5 after.";
    W15_PROSE_BEFORE "window15.before" "Hundreds of prose characters in the 15 segments before.";
    W15_PROSE_AFTER "window15.after" "Hundreds of prose characters in the 15 segments after.";
    W15_LINKS "window15.links" "Share of link characters from 15 before to 15 after.";
    PAGE_CHARS "page.chars" "Logarithm of the characters of the page.";
    PAGE_PROSE "page.prose" "Logarithm of its prose.";
    PAGE_PROSE_SHARE "page.prose_share" "Share of prose.";
    PAGE_LINK_SHARE "page.link_share" "Share of link characters.";
    PAGE_SEGMENTS "page.segments" "Logarithm of its segments.";
    PAGE_ARTICLES "page.articles" "`article` elements.";
    PAGE_MAINS "page.mains" "`main` elements.";
    PAGE_H1 "page.h1" "`h1` elements.";
    PAGE_HEADINGS "page.headings" "Headings per segment.";
    PAGE_OG_ARTICLE "page.og_article" "1 if `og:type` is article.";
    PAGE_LD_ARTICLE "page.ld_article" "1 if JSON-LD has an article or posting.";
    PAGE_LD_PRODUCT "page.ld_product" "1 if JSON-LD has a product.";
    PAGE_LD_FORUM "page.ld_forum" "1 if JSON-LD has a question or a forum posting.";
    PAGE_LD_LIST "page.ld_list" "1 if JSON-LD has a list or collection.";
    PAGE_OG_PRODUCT "page.og_product" "1 if `og:type` is product.";
    PAGE_PRE "page.pre" "`pre` and `code` elements per segment.";
    PAGE_FORMS "page.forms" "`form` elements.";
    PAGE_TABLES "page.tables" "`table` elements.";
    PAGE_PARAGRAPHS "page.paragraphs" "`p` elements per segment.";
    PAGE_ITEMS "page.items" "`li` elements per segment.";
    PAGE_IMAGES "page.images" "`img` elements per segment.";
    PAGE_BUTTONS "page.buttons" "`button` and `input` elements per segment.";
    PAGE_TIMES "page.times" "`time` elements per segment.";
    PAGE_REGION_CHARS "page.region_chars" "Share of the characters in the region.";
    PAGE_REGION_PROSE "page.region_prose" "Share of the prose in the region.";
    PAGE_REGION_DROPPED "page.region_dropped" "Share of the characters of the region the rules would drop.";
    PAGE_CONFIDENCE "page.confidence" "Confidence of the rules.";
    PAGE_MEAN_PROSE "page.mean_prose" "Logarithm of the mean characters of a prose segment.";
    PAGE_HINT_PRODUCT "page.hint_product" "Share of the segments below a product hint.";
    PAGE_HINT_FORUM "page.hint_forum" "Share of the segments below a forum hint.";
    PAGE_HINT_COMMENT "page.hint_comment" "Share of the segments below a comment hint.";
    PAGE_HINT_LIST "page.hint_list" "Share of the segments below a list hint.";
    PAGE_HINT_TEASER "page.hint_teaser" "Share of the segments below a teaser hint.";
    PAGE_GROUP "page.group" "Share of the segments in the largest group with the same tags and classes.";
    PAGE_GENERATOR "page.generator" "1 if the generator is a documentation tool, 2 a blog, 3 a shop, 4 a forum.";
    PAGE_PRICES "page.prices" "Segments with a price per segment.";
}

/// Column of the first feature that describes the whole page; these features are the last in the
/// table.
pub(crate) const FIRST_PAGE: usize = id::PAGE_CHARS;
/// Number of features.
pub(crate) const N: usize = FEATURES.len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_fit_a_byte() {
        let names: std::collections::BTreeSet<_> = FEATURES.iter().map(|f| f.name).collect();
        assert_eq!(names.len(), N);
        const { assert!(N < 256) };
        assert!(FEATURES[FIRST_PAGE..].iter().all(|f| f.name.starts_with("page.")));
    }
}
