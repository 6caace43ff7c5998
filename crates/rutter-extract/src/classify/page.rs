//! Computes the features of the whole page and defines the page types.
//!
//! Input: the segments and metadata of a page. Output: the page columns of a row of features.

use crate::hint::ElementHints;
use crate::json_ld;
use crate::meta::FoundMetadata;
use crate::region::MainRegion;
use crate::tag::Tag;

use super::collect::FeatureCollector;
use super::features::{FIRST_PAGE, N, id};
use super::frame::log;
use super::segment_states::INSIDE;
use super::text::flag;

/// The type of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageType {
    /// One text, such as a news article, a post or an essay.
    Article,
    /// A page of a manual, a reference or a guide.
    Documentation,
    /// A thread of questions, answers or replies.
    Forum,
    /// A page about one product for sale.
    Product,
    /// A list of titles and summaries of other pages.
    Listing,
    /// A collection of many things, each with an image and a few words.
    Collection,
    /// An offer of an organisation, such as services, plans or prices.
    Service,
    /// The first page of a site.
    Home,
}

impl PageType {
    /// The page types that the model distinguishes, in the order of its scores.
    pub(crate) const LEARNED: [Self; 7] = [
        Self::Article,
        Self::Documentation,
        Self::Forum,
        Self::Product,
        Self::Listing,
        Self::Collection,
        Self::Service,
    ];

    /// Returns the name of the page type, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Documentation => "documentation",
            Self::Forum => "forum",
            Self::Product => "product",
            Self::Listing => "listing",
            Self::Collection => "collection",
            Self::Service => "service",
            Self::Home => "home",
        }
    }
}

/// Names of generators by kind: documentation tools, blogs, shops, forums.
const GENERATORS: [&[&str]; 4] = [
    &[
        "sphinx",
        "docusaurus",
        "mkdocs",
        "vitepress",
        "asciidoc",
        "gitbook",
        "starlight",
        "docbook",
        "javadoc",
        "mdbook",
        "doxygen",
        "antora",
        "mediawiki",
    ],
    &["wordpress", "ghost", "blogger", "jekyll", "hugo", "drupal", "typo3", "joomla"],
    &["woocommerce", "shopify", "prestashop", "magento", "shopware", "bigcommerce"],
    &["discourse", "phpbb", "vbulletin", "xenforo", "mybb", "flarum", "nodebb"],
];

/// Numbers of elements of a page, by kind.
#[derive(Default)]
struct ElementCounts {
    article: u32,
    main: u32,
    h1: u32,
    headings: u32,
    code: u32,
    forms: u32,
    tables: u32,
    paragraphs: u32,
    items: u32,
    images: u32,
    buttons: u32,
    times: u32,
}

impl ElementCounts {
    fn of(collector: &FeatureCollector<'_>) -> Self {
        let mut counts = Self::default();
        for item in &collector.dom.items {
            match item.tag {
                Tag::Text => {}
                Tag::P => counts.paragraphs += 1,
                Tag::Li => counts.items += 1,
                Tag::Img => counts.images += 1,
                Tag::Article => counts.article += 1,
                Tag::Main => counts.main += 1,
                Tag::H1 => {
                    counts.h1 += 1;
                    counts.headings += 1;
                }
                Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => counts.headings += 1,
                Tag::Pre | Tag::Code => counts.code += 1,
                Tag::Form => counts.forms += 1,
                Tag::Table => counts.tables += 1,
                Tag::Button | Tag::Input => counts.buttons += 1,
                Tag::Time => counts.times += 1,
                _ => {}
            }
        }
        counts
    }
}

/// Sums over all segments of a page.
#[derive(Default)]
struct PageSums {
    region_chars: u32,
    region_prose: u32,
    region_dropped: u32,
    n_prose: u32,
    n_prices: u32,
    hints: [u32; 5],
}

const COUNTED: [ElementHints; 5] = [
    ElementHints::PRODUCT,
    ElementHints::FORUM,
    ElementHints::COMMENT,
    ElementHints::LIST,
    ElementHints::TEASER,
];

impl PageSums {
    fn of(collector: &FeatureCollector<'_>) -> Self {
        let mut sums = Self::default();
        let known = collector.survey.segments.iter().zip(&collector.rules).zip(&collector.known);
        for ((segment, rule), known) in known {
            let prose = if segment.is_prose() { segment.plain() } else { 0 };
            sums.n_prose += u32::from(prose != 0);
            if rule & INSIDE != 0 {
                sums.region_chars += segment.chars;
                sums.region_prose += prose;
                if *rule != INSIDE {
                    sums.region_dropped += segment.chars;
                }
            }
            sums.n_prices += u32::from(known.text.has(flag::PRICE));
            for (count, hint) in sums.hints.iter_mut().zip(COUNTED) {
                *count += u32::from(known.above & hint.bits() != 0);
            }
        }
        sums
    }
}

/// Returns the features that are the same for all segments of a page.
pub(crate) fn features(
    collector: &FeatureCollector<'_>,
    found: &FoundMetadata,
    region: &MainRegion,
) -> [f32; N - FIRST_PAGE] {
    let mut page = [0.0; N - FIRST_PAGE];
    let mut set = |id: usize, value: f32| {
        if let Some(slot) = page.get_mut(id - FIRST_PAGE) {
            *slot = value;
        }
    };
    let (total, n) = (collector.total, collector.survey.segments.len().max(1) as f32);
    let chars = total.chars.max(1) as f32;
    let counts = ElementCounts::of(collector);
    let sums = PageSums::of(collector);
    set(id::PAGE_CHARS, log(total.chars));
    set(id::PAGE_PROSE, log(total.prose));
    set(id::PAGE_PROSE_SHARE, total.prose as f32 / chars);
    set(id::PAGE_LINK_SHARE, total.link_share());
    set(id::PAGE_SEGMENTS, log(total.segments));
    set(id::PAGE_ARTICLES, counts.article as f32);
    set(id::PAGE_MAINS, counts.main as f32);
    set(id::PAGE_H1, counts.h1 as f32);
    set(id::PAGE_HEADINGS, counts.headings as f32 / n);
    let og_type = found.first(&["og:type"]).unwrap_or("");
    set(id::PAGE_OG_ARTICLE, super::collect::truth(og_type.eq_ignore_ascii_case("article")));
    set(id::PAGE_OG_PRODUCT, super::collect::truth(og_type.contains("product")));
    let has = |is_wanted: &dyn Fn(&str) -> bool| {
        super::collect::truth(json_ld::has_type(&found.json_ld, is_wanted))
    };
    set(id::PAGE_LD_ARTICLE, has(&|kind| kind.ends_with("Article") || kind == "BlogPosting"));
    set(id::PAGE_LD_PRODUCT, has(&|kind| kind == "Product" || kind == "ProductGroup"));
    set(id::PAGE_LD_FORUM, has(&|kind| kind == "QAPage" || kind.starts_with("DiscussionForum")));
    set(id::PAGE_LD_LIST, has(&|kind| kind == "ItemList" || kind == "CollectionPage"));
    set(id::PAGE_PRE, counts.code as f32 / n);
    set(id::PAGE_FORMS, counts.forms as f32);
    set(id::PAGE_TABLES, counts.tables as f32);
    set(id::PAGE_PARAGRAPHS, counts.paragraphs as f32 / n);
    set(id::PAGE_ITEMS, counts.items as f32 / n);
    set(id::PAGE_IMAGES, counts.images as f32 / n);
    set(id::PAGE_BUTTONS, counts.buttons as f32 / n);
    set(id::PAGE_TIMES, counts.times as f32 / n);
    set(id::PAGE_REGION_CHARS, sums.region_chars as f32 / chars);
    set(id::PAGE_REGION_PROSE, sums.region_prose as f32 / total.prose.max(1) as f32);
    set(id::PAGE_REGION_DROPPED, sums.region_dropped as f32 / sums.region_chars.max(1) as f32);
    set(id::PAGE_CONFIDENCE, region.confidence);
    set(id::PAGE_MEAN_PROSE, log(total.prose / sums.n_prose.max(1)));
    for (slot, count) in (id::PAGE_HINT_PRODUCT..).zip(sums.hints) {
        set(slot, count as f32 / n);
    }
    let largest = collector.groups.iter().map(|group| group.size).max().unwrap_or(0);
    set(id::PAGE_GROUP, largest as f32 / n);
    set(id::PAGE_PRICES, sums.n_prices as f32 / n);
    if let Some(name) = found.first(&["generator"]) {
        let name = name.to_ascii_lowercase();
        let kind = GENERATORS.iter().position(|names| names.iter().any(|one| name.contains(one)));
        set(id::PAGE_GENERATOR, kind.map_or(0.0, |kind| kind as f32 + 1.0));
    }
    page
}
