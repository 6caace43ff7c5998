//! Converts the main content of a parsed page to blocks, and assembles the page with its metadata.
//!
//! Input: a [`ParsedPage`] from HTML or Markdown. Output: an [`Extraction`]. A page that exceeds a
//! limit, or that has no text, title or language, is reported as a finding.

use rutter_finding::{Finding, Place, Rule};
use rutter_page::{
    Block, BlockMarkup, CowStr, HttpUrl, LanguageTag, Page, RawJson, RawObject, TextBlock,
};

use crate::address::BaseUrl;
use crate::arena::LimitReached;
use crate::blocks::BlockWalker;
use crate::description::{first_sentences, prose, shorten};
use crate::dom::Dom;
use crate::extraction::Extraction;
use crate::headline::{self, Headline};
use crate::link_blocks::{self, PageLinks};
use crate::meta::FoundMetadata;
use crate::options::{ExtractOptions, LinkBlocks};
use crate::region::MainRegion;
use crate::shell::TextSource;
use crate::survey::PageSurvey;
use crate::tag::Tag;
use crate::visible_page::{LinkTargets, VisiblePage};
use crate::{language, login, merge, rules};

/// A parsed and surveyed page, from HTML or Markdown.
pub(crate) struct ParsedPage {
    pub(crate) dom: Dom,
    pub(crate) survey: PageSurvey,
    pub(crate) region: MainRegion,
    pub(crate) found: FoundMetadata,
    /// Whether the author or the site owner declares the content, so that nothing outside is kept.
    pub(crate) is_bounded: bool,
}

/// Converts the region to blocks and assembles the page.
pub(crate) fn assemble_page(
    read: ParsedPage,
    options: &ExtractOptions,
    mut findings: Vec<Finding>,
) -> Extraction {
    let ParsedPage { dom, survey, region, found, is_bounded } = read;
    let mut report = |rule, detail: String| findings.push(Finding::new(rule, Place::WHOLE, detail));
    report_cut(&dom, options, &mut report);
    let base = base_of(options, &found);
    let targets = LinkTargets::of(&dom, &base);
    let mut walk = BlockWalker::new(&dom, &survey, &region, &base, &targets);
    walk.most_blocks = options.limits.blocks;
    for &root in &region.roots {
        walk.element(root);
    }
    let (mut blocks, first_text) = (walk.out, walk.first_text);
    let title = found.title();
    let headline = if is_bounded {
        Headline::InText
    } else {
        let place =
            headline::HeadlineSearch { dom: &dom, survey: &survey, region: &region, first_text };
        place.restore(title.as_deref(), &mut blocks)
    };
    let whole = VisiblePage::of(&dom, &survey, targets, &region, &base);
    let confidence = region.confidence;
    let asks_for_password = login::is_login(&dom, &survey);
    let has_main = dom.items.iter().any(|item| item.tag == Tag::Main);
    // Frees the tree of a long page early, because the following steps also need much memory.
    drop((region, survey, dom));
    let n_before = blocks.len();
    merge::merge(&mut blocks, options.limits.blocks);
    if blocks.len() < n_before {
        report(&rules::MERGED, format!("{n_before} became {}", blocks.len()));
    }
    if options.links == LinkBlocks::All {
        let here = rutter_page::to_uri(options.url.key());
        let links = PageLinks { all: &whole.links, here: &here };
        blocks = link_blocks::add(blocks, &links, options.limits.blocks);
    }
    let (content, rich) = blocks.into_iter().unzip();
    let material = AssemblyInput { found, content, rich, confidence, has_main };
    let mut extraction = assemble(material, whole, &base, options, findings);
    extraction.facts.asks_for_password = asks_for_password;
    extraction.headline = headline;
    extraction
}

/// Reports the parts of a page that were left out because of a limit.
fn report_cut(dom: &Dom, options: &ExtractOptions, report: &mut dyn FnMut(&'static Rule, String)) {
    match dom.cut {
        LimitReached::Nothing => {}
        LimitReached::Depth => {
            report(&rules::TOO_DEEP, format!("at most {}", options.limits.depth));
        }
        LimitReached::Nodes => {
            report(&rules::TOO_MANY_NODES, format!("at most {}", options.limits.nodes));
        }
        LimitReached::Steps => {
            report(&rules::TOO_MANY_STEPS, format!("at most {}", options.limits.steps));
        }
    }
    if 0 < dom.n_cut_tags {
        let most = options.limits.attributes;
        let detail = format!("{} tags have more than {most}", dom.n_cut_tags);
        report(&rules::TOO_MANY_ATTRIBUTES, detail);
    }
}

/// Returns the URL against which relative URLs of the page are resolved.
pub(crate) fn base_of(options: &ExtractOptions, found: &FoundMetadata) -> BaseUrl {
    let base = BaseUrl::new(&options.url);
    match &found.base {
        Some(href) => base.rebase(href),
        None => base,
    }
}

/// The parts of a page that [`assemble`] puts together.
struct AssemblyInput {
    found: FoundMetadata,
    content: Vec<Block<'static>>,
    rich: Vec<BlockMarkup>,
    confidence: f32,
    /// Whether the author marks the main content.
    has_main: bool,
}

fn assemble(
    material: AssemblyInput,
    whole: VisiblePage,
    base: &BaseUrl,
    options: &ExtractOptions,
    mut findings: Vec<Finding>,
) -> Extraction {
    let AssemblyInput { found, mut content, mut rich, confidence, has_main } = material;
    let mut report = |rule, detail: String| findings.push(Finding::new(rule, Place::WHOLE, detail));
    let mut facts = found.facts(base);
    // A time beside the title that is in the future is the time of an event.
    if facts.published_by.as_deref() == Some("time element") && facts.published > Some(options.seen)
    {
        (facts.published, facts.published_by) = (None, None);
    }
    if content.is_empty() {
        let text = own_description(&found).or_else(|| own_title(&found));
        report(if text.is_some() { &rules::NO_TEXT } else { &rules::EMPTY }, String::new());
        if let Some(text) = text {
            content.push(Block::Text(TextBlock { text: text.into(), extra: Vec::new() }));
            rich.push(BlockMarkup::default());
        }
    } else if confidence < 0.3 && !has_main {
        report(&rules::UNSURE, format!("confidence {confidence:.2}"));
    }
    let PageTexts { title, description, language } =
        PageTexts::of(&found, &content, options, &mut report);
    let schema = found.schema().and_then(|schema| RawObject::new(RawJson::parse(&schema).ok()?));
    let canonical = facts.canonical.clone().and_then(|url| HttpUrl::parse(url).ok());
    let page = Page {
        url: options.url.clone(),
        title: title.into(),
        description: description.into(),
        author: found.author().map(CowStr::from),
        published: facts.published,
        modified: facts.modified.unwrap_or(options.seen),
        language,
        canonical,
        schema,
        content,
        extra: Vec::new(),
    };
    found.give(base, &mut facts);
    let mut extraction = Extraction {
        page,
        rich,
        facts,
        links: whole.links,
        annotated: whole.annotated,
        visible_text: whole.text,
        hidden: whole.hidden,
        charset: "UTF-8",
        headline: Headline::InText,
        confidence,
        page_type: None,
        coverage: None,
        template: None,
        needs_scripts: false,
        text_from: TextSource::Elements,
        findings,
        matched: Vec::new(),
        why: Vec::new(),
    };
    // Findings about text, language and description do not apply to a page that only redirects.
    if extraction.only_leads_on() {
        extraction.findings.retain(|finding| !OF_READABLE_PAGES.contains(&finding.rule));
    }
    extraction
}

/// Returns whether a text has visible characters.
#[expect(clippy::ptr_arg, reason = "a predicate for Option<String>::filter")]
fn is_visible(text: &String) -> bool {
    text.chars().any(|c| !c.is_whitespace() && !c.is_control())
}

fn own_title(found: &FoundMetadata) -> Option<String> {
    found.title().filter(is_visible)
}

fn own_description(found: &FoundMetadata) -> Option<String> {
    found.description().filter(is_visible)
}

/// Title, description and language of a page: as stated, or else derived from its content.
struct PageTexts {
    title: String,
    description: String,
    language: LanguageTag<'static>,
}

impl PageTexts {
    fn of(
        found: &FoundMetadata,
        content: &[Block<'static>],
        options: &ExtractOptions,
        report: &mut dyn FnMut(&'static Rule, String),
    ) -> Self {
        let language = found.language().or_else(|| options.language.clone());
        let language =
            language.unwrap_or_else(|| match language::detect(&start_of_prose(content)) {
                Some(tag) => {
                    report(&rules::GUESSED_LANGUAGE, tag.as_str().to_owned());
                    tag
                }
                None => {
                    report(&rules::NO_LANGUAGE, String::new());
                    LanguageTag::UNDETERMINED
                }
            });
        let title = own_title(found).unwrap_or_else(|| {
            report(&rules::NO_TITLE, String::new());
            let mut first = content.iter().filter_map(prose).map(|text| shorten(text, 80));
            first.find(is_visible).unwrap_or_else(|| options.url.as_str().to_owned())
        });
        let description = own_description(found).unwrap_or_else(|| {
            report(&rules::NO_DESCRIPTION, String::new());
            first_sentences(content).filter(is_visible).unwrap_or_else(|| title.clone())
        });
        Self { title, description, language }
    }
}

/// Rules that apply only to pages with content for readers.
static OF_READABLE_PAGES: [&Rule; 8] = [
    &rules::NO_LANGUAGE,
    &rules::GUESSED_LANGUAGE,
    &rules::SCRIPT_SHELL,
    &rules::NO_TEXT,
    &rules::EMPTY,
    &rules::UNSURE,
    &rules::NO_DESCRIPTION,
    &rules::NO_TITLE,
];

/// Returns the start of the prose, for language detection.
fn start_of_prose(content: &[Block<'_>]) -> String {
    let mut start = String::new();
    for text in content.iter().filter_map(prose).take(12) {
        if language::MOST < start.len() {
            break;
        }
        let mut end = text.len().min(language::MOST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        start.push_str(&text[..end]);
        start.push(' ');
    }
    start
}
