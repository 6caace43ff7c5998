//! Extracts a page: decode, parse, survey, choose the region, convert it to blocks, assemble the
//! page.
//!
//! Input: bytes and [`Options`]. Output: an [`Extraction`] with the page, its facts and findings.
//! Rejects nothing: a page that exceeds its limits or needs scripts is reported as a finding.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rutter_finding::{Finding, Place, Rule};
use rutter_page::{Block, HttpUrl, LanguageTag, Object, Page, PageUrl, Raw, Str, Text, Timestamp};

use crate::address::Base;
use crate::arena::Cut;
use crate::blocks::Walk;
use crate::classify::{Decision, Forced, Landmark, PageType, Subject, classify};
use crate::coverage::Coverage;
use crate::description::{first_sentences, prose, shorten};
use crate::dom::Dom;
use crate::facts::{Annotated, Facts, PageLink};
use crate::headline::{self, Headline};
use crate::link_blocks::{self, PageLinks};
use crate::meta::Found;
use crate::region::{self, Region};
use crate::selector::Selector;
use crate::shell::{self, Embedded, EmbeddedPlace, TextSource};
use crate::space::{end_line, gap};
use crate::survey::Survey;
use crate::tag::Tag;
use crate::template::{Templates, VersionId};
use crate::verdict::gone;
use crate::whole::{Targets, Whole};
use crate::{Limits, charset, language, login, merge, rules, template_marks};
use rutter_page::Rich;

/// Options for the extraction of one page.
#[derive(Debug, Clone)]
pub struct Options {
    /// URL of the page, against which relative links are resolved.
    pub url: PageUrl<'static>,
    /// The last known change of the bytes; used as `modified` if the page declares no date.
    pub seen: Timestamp,
    /// The charset in the HTTP header of the page.
    pub charset: Option<String>,
    /// The language of the site, used for pages that declare none.
    pub language: Option<LanguageTag<'static>>,
    /// Selects the links that become separate blocks.
    pub links: LinkBlocks,
    /// Selects the template version.
    pub template: Use,
    /// Limits on the size of a page.
    pub limits: Limits,
    /// Whether to explain why each part was kept or dropped.
    pub explain: bool,
    /// Selectors of the site owner: main content, kept parts and dropped parts.
    pub control: Control,
}

/// Selectors by which the site owner controls the extraction of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// Selectors of the main content; nothing outside it is kept.
    pub main: Vec<Selector>,
    /// Selectors of elements that are always kept.
    pub keep: Vec<Selector>,
    /// Selectors of elements that are always dropped; they take precedence over `keep`.
    pub drop: Vec<Selector>,
}

impl Options {
    /// Creates options with default values for a page.
    pub fn new(url: PageUrl<'static>, seen: Timestamp) -> Self {
        Self {
            url,
            seen,
            charset: None,
            language: None,
            links: LinkBlocks::All,
            template: Use::Nothing,
            limits: Limits::USUAL,
            explain: false,
            control: Control::default(),
        }
    }
}

/// Selects the template version that a page is extracted with.
#[derive(Debug, Clone, Default)]
pub enum Use {
    /// No template.
    #[default]
    Nothing,
    /// The version that matches the layout of the page.
    Fitting(Arc<Templates>),
    /// A fixed version: the one of the previous extraction.
    Pinned(Arc<Templates>, VersionId),
}

/// Selects the links that become blocks (D45).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkBlocks {
    /// Links that are the only content of a paragraph.
    Lone,
    /// Also links inside other blocks, placed behind the block; each URL once.
    #[default]
    All,
}

/// The result of the extraction of one page.
#[derive(Debug, Clone)]
pub struct Extraction {
    /// The page, ready for a collection unless its content is empty.
    pub page: Page<'static>,
    /// Decoration of each block of the page, in the order of the blocks.
    pub rich: Vec<Rich>,
    /// The metadata of the page.
    pub facts: Facts,
    /// All links of the page, in document order.
    pub links: Vec<PageLink>,
    /// Elements with `data-ai-*` attributes, and the hidden elements and form fields inside them,
    /// in document order.
    pub annotated: Vec<Annotated>,
    /// The text of the body, one line per block, with collapsed white space; without scripts,
    /// styles, templates and drawings.
    pub visible_text: String,
    /// Ranges of `visible_text` that the page hides by attributes, ascending and not overlapping.
    pub hidden: Vec<Range<usize>>,
    /// Name of the encoding from which the page was decoded.
    pub charset: &'static str,
    /// Whether the first block is a headline that is not part of the main content.
    pub(crate) headline: Headline,
    /// Confidence in the choice of the main content, from 0 to 1.
    pub confidence: f32,
    /// The page type; `None` for Markdown and for pages that are too long to be classified.
    pub page_type: Option<PageType>,
    /// Share of the text in the main landmark that is kept. `None` for Markdown, for pages without
    /// a landmark or with a landmark of fewer than [`Coverage::FEWEST`] characters, and for pages
    /// that are too long to be classified.
    pub coverage: Option<Coverage>,
    /// The template version with which the page was read.
    pub template: Option<VersionId>,
    /// Whether the text of the page appears only after scripts run and the data of the page does
    /// not contain it. If so, `page` does not hold the content.
    pub needs_scripts: bool,
    /// The source of the text.
    pub text_from: TextSource,
    /// Findings about the page.
    pub findings: Vec<Finding>,
    /// The `keep` and `drop` selectors of the site owner that match an element of the page.
    pub matched: Vec<String>,
    /// Why each part was kept or dropped; empty unless [`Options::explain`] is set.
    pub why: Vec<Why>,
}

/// Number of bytes of text below which [`Extraction::is_short`] returns true.
const SHORT: usize = 600;

impl Extraction {
    /// Returns whether the page has so little text that it may exist for another purpose than
    /// reading.
    pub fn is_short(&self) -> bool {
        self.page.to_text().len() < SHORT
    }

    /// Returns whether the page only redirects to another page: it has a refresh target and little
    /// text.
    pub fn only_leads_on(&self) -> bool {
        let is_own = |to: &String| *to == self.page.url.as_str();
        self.facts.leads_to.as_ref().is_some_and(|to| !is_own(to)) && self.is_short()
    }

    /// Returns the page as Markdown with its links, emphasis and code.
    pub fn to_markdown(&self) -> String {
        self.page.to_rich_markdown(&self.rich)
    }

    /// Returns the text of the page without images, their alternative texts and captions, without
    /// link blocks that repeat a link, and without a headline that is not part of the main content.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let is_apart = self.headline == Headline::Restored
            && matches!(self.page.content.first(), Some(Block::Heading(_)));
        let n_apart = usize::from(is_apart);
        for (block, rich) in self.page.content.iter().zip(&self.rich).skip(n_apart) {
            if rich.is_caption || rich.is_repeat || matches!(block, Block::Image(_)) {
                continue;
            }
            let piece = block.to_text();
            let piece = piece.trim_end();
            if !piece.is_empty() {
                if !out.is_empty() {
                    out.push_str("\n\n");
                }
                out.push_str(piece);
            }
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    /// Returns the contents of the `meta` elements, and the title.
    pub fn meta_texts(&self) -> Vec<&str> {
        let metas = self.facts.metas.iter().map(|(_, content)| content.as_str());
        metas.chain([self.page.title.as_ref()]).collect()
    }

    /// Returns the visible text without the parts that the page hides. SPXI markers are searched in
    /// this text (D70).
    pub fn shown_text(&self) -> Cow<'_, str> {
        if self.hidden.iter().all(Range::is_empty) {
            return Cow::Borrowed(&self.visible_text);
        }
        let mut out = String::with_capacity(self.visible_text.len());
        let mut from = 0;
        for cut in &self.hidden {
            put(self.visible_text.get(from..cut.start).unwrap_or(""), &mut out);
            from = cut.end;
        }
        put(self.visible_text.get(from..).unwrap_or(""), &mut out);
        Cow::Owned(out)
    }

    /// Returns the text and the URL of each link inside a block. Link blocks are not included.
    pub fn inline_links(&self) -> impl Iterator<Item = (&str, &str)> {
        self.page.content.iter().zip(&self.rich).flat_map(|(block, rich)| {
            let parts =
                if rich.spans.is_empty() { Vec::new() } else { crate::blocks::parts(block) };
            rich.spans.iter().filter_map(move |span| {
                let text = parts.get(span.part as usize)?;
                let text = text.get(span.start as usize..span.end as usize)?;
                match &span.mark {
                    rutter_page::Mark::Link(url) => Some((text, &**url)),
                    _ => None,
                }
            })
        })
    }
}

/// Appends a piece of text. Where two spaces or two line ends meet, only one is kept.
fn put(piece: &str, out: &mut String) {
    let rest = piece.trim_start_matches([' ', '\n']);
    let lead = piece.get(..piece.len() - rest.len()).unwrap_or("");
    if lead.contains('\n') {
        end_line(out);
    } else if !lead.is_empty() {
        gap(out);
    }
    out.push_str(rest);
}

/// Why a part of a page was kept or dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The element and its ancestors, the innermost last.
    pub path: String,
    /// Why the part was kept or dropped; `main content` for parts that the classifier keeps.
    pub reason: String,
    /// Whether the part is content of the page.
    pub is_kept: bool,
    /// Number of characters in the part.
    pub chars: u32,
    /// The start of the text of the part.
    pub start: String,
}

/// Extracts an HTML page.
pub fn html(bytes: &[u8], options: &Options) -> Extraction {
    let decoded = charset::decode(bytes, options.charset.as_deref());
    let mut extraction = read_html(&decoded.text, options, decoded.findings(), Pass::First);
    extraction.charset = decoded.encoding.name();
    extraction
}

/// Attribute of the element that holds the embedded text of a shell.
const EMBEDDED_MARK: &str = "data-rutter-embedded";

/// The pass of an extraction. Only script shells need more than the first pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    First,
    /// The page is read like any other page, although it is a shell.
    Plain,
    /// The embedded text was appended to the page, in an element with the attribute
    /// [`EMBEDDED_MARK`].
    Appended,
    /// The text of the `noscript` element with this index is the content.
    Noscript(u32),
    /// The page is a shell whose embedded text cannot be read.
    Shell,
}

/// Extracts a shell whose text is in data of the page.
fn read_embedded(
    text: &str,
    options: &Options,
    findings: Vec<Finding>,
    Embedded { source, place }: Embedded,
) -> Extraction {
    let mut extraction = match place {
        EmbeddedPlace::Outside(html) => {
            let whole = format!("{text}\n<main {EMBEDDED_MARK}>{html}</main>");
            let appended = read_html(&whole, options, findings.clone(), Pass::Appended);
            if appended.needs_scripts {
                return read_html(text, options, findings, Pass::Shell);
            }
            appended
        }
        EmbeddedPlace::Element(at) => {
            // If the text of the `noscript` element is long, the normal extraction finds it.
            let plain = read_html(text, options, findings.clone(), Pass::Plain);
            if plain.is_short() {
                read_html(text, options, findings, Pass::Noscript(at))
            } else {
                plain
            }
        }
    };
    extraction.text_from = source;
    let finding = Finding::new(&rules::EMBEDDED_TEXT, Place::WHOLE, source.name().to_owned());
    extraction.findings.push(finding);
    extraction
}

/// Extracts a page from its decoded text.
fn read_html(text: &str, options: &Options, mut findings: Vec<Finding>, pass: Pass) -> Extraction {
    let mut dom = Dom::parse(text, &options.limits);
    let found = Found::of(&dom, options.limits.json);
    let mut shell = None;
    if matches!(pass, Pass::First | Pass::Shell) {
        let signals = shell::Signals::of(&dom, text.len(), found.title.as_deref());
        shell = Some(signals).filter(shell::Signals::is_shell);
    }
    if pass == Pass::First
        && shell.is_some()
        && let Some(embedded) = shell::find(&dom, &found, options.limits.json)
    {
        return read_embedded(text, options, findings, embedded);
    }
    let embedded = match pass {
        Pass::First | Pass::Plain | Pass::Shell => None,
        Pass::Appended => {
            (0..dom.len()).rev().find(|at| dom.attribute(*at, EMBEDDED_MARK).is_some())
        }
        Pass::Noscript(at) => {
            dom.items[at as usize].tag = Tag::Main;
            Some(at)
        }
    };
    if 0 < found.n_broken {
        let detail = format!("{} of them", found.n_broken);
        findings.push(Finding::new(&rules::BROKEN_JSON_LD, Place::WHOLE, detail));
    }
    let mut survey = Survey::of(&dom);
    let wanted = OwnerSelection::of(&dom, &options.control, &mut findings);
    let landmark = match wanted.main.or(embedded.map(|at| vec![at])) {
        Some(roots) => Landmark::named(roots),
        None => Landmark::of(&dom, &survey),
    };
    let mut marked = vec![None; dom.items.len()];
    let template = template_marks::mark(&dom, &survey, &options.template, &mut marked);
    let repeated = template_marks::take_back(&dom, &survey, &landmark, &mut marked);
    if template.is_some() {
        // Template text must not affect the decisions about other text.
        let mut is_gone = gone(&dom, &survey, &marked);
        for kept in wanted.forced.iter().filter(|forced| forced.is_kept) {
            is_gone.get_mut(survey.within(&dom, kept.at)).unwrap_or_default().fill(false);
        }
        survey.forget(&is_gone);
    }
    let rules = region::find(&dom, &survey, marked);
    let subject = Subject {
        dom: &dom,
        survey: &survey,
        found: &found,
        landmark: &landmark,
        repeated: &repeated,
        forced: &wanted.forced,
        is_home: matches!(
            options.url.as_str().splitn(4, '/').nth(3),
            None | Some("" | "index.html")
        ),
        explain: options.explain,
    };
    let Decision { region, page_type, coverage, why } = classify(&subject, rules);
    if let Some(lossy) = coverage.as_ref().filter(|it| it.is_lossy())
        && let Some(largest) = &lossy.largest
    {
        let lost = (1.0 - lossy.share()) * 100.0;
        let detail = format!("{lost:.0} % of it; the largest part is {largest}");
        findings.push(Finding::new(&rules::MAIN_TEXT_DROPPED, Place::WHOLE, detail));
    }
    if let Some(shell) = &shell {
        findings.push(Finding::new(&rules::SCRIPT_SHELL, Place::WHOLE, shell.shown()));
    }
    let mut extraction = walk(
        ParsedPage { dom, survey, region, found, is_bounded: landmark.is_declared },
        options,
        findings,
    );
    extraction.page_type = page_type;
    extraction.coverage = coverage;
    extraction.why = why;
    extraction.matched = wanted.matched;
    extraction.template = template;
    // If the page ends in an open comment or script, the appended text becomes part of it and is
    // not found.
    let is_swallowed = pass == Pass::Appended && embedded.is_none();
    extraction.needs_scripts = shell.is_some() || is_swallowed;
    extraction
}

/// Reads only the metadata of a page, for callers that already have its text. The bytes up to the
/// end of the head are sufficient.
pub fn facts(bytes: &[u8], options: &Options) -> Facts {
    let decoded = charset::decode(bytes, options.charset.as_deref());
    let dom = Dom::parse(&decoded.text, &options.limits);
    let found = Found::of(&dom, options.limits.json);
    let base = base_of(options, &found);
    let mut facts = found.facts(&base);
    found.give(&base, &mut facts);
    facts
}

/// A parsed and surveyed page, from HTML or Markdown.
pub(crate) struct ParsedPage {
    pub(crate) dom: Dom,
    pub(crate) survey: Survey,
    pub(crate) region: Region,
    pub(crate) found: Found,
    /// Whether the author or the site owner declares the content, so that nothing outside is kept.
    pub(crate) is_bounded: bool,
}

/// Converts the region to blocks and assembles the page.
pub(crate) fn walk(read: ParsedPage, options: &Options, mut findings: Vec<Finding>) -> Extraction {
    let ParsedPage { dom, survey, region, found, is_bounded } = read;
    let mut report = |rule, detail: String| findings.push(Finding::new(rule, Place::WHOLE, detail));
    report_cut(&dom, options, &mut report);
    let base = base_of(options, &found);
    let targets = Targets::of(&dom, &base);
    let mut walk = Walk::new(&dom, &survey, &region, &base, &targets);
    walk.most_blocks = options.limits.blocks;
    for &root in &region.roots {
        walk.element(root);
    }
    let (mut blocks, first_text) = (walk.out, walk.first_text);
    let title = found.title();
    let headline = if is_bounded {
        Headline::InText
    } else {
        let place = headline::Place { dom: &dom, survey: &survey, region: &region, first_text };
        place.restore(title.as_deref(), &mut blocks)
    };
    let whole = Whole::of(&dom, &survey, targets, &region, &base);
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
    let material = Material { found, content, rich, confidence, has_main };
    let mut extraction = assemble(material, whole, &base, options, findings);
    extraction.facts.asks_for_password = asks_for_password;
    extraction.headline = headline;
    extraction
}

/// Reports the parts of a page that were left out because of a limit.
fn report_cut(dom: &Dom, options: &Options, report: &mut dyn FnMut(&'static Rule, String)) {
    match dom.cut {
        Cut::Nothing => {}
        Cut::Depth => report(&rules::TOO_DEEP, format!("at most {}", options.limits.depth)),
        Cut::Nodes => report(&rules::TOO_MANY_NODES, format!("at most {}", options.limits.nodes)),
        Cut::Steps => report(&rules::TOO_MANY_STEPS, format!("at most {}", options.limits.steps)),
    }
    if 0 < dom.n_cut_tags {
        let most = options.limits.attributes;
        let detail = format!("{} tags have more than {most}", dom.n_cut_tags);
        report(&rules::TOO_MANY_ATTRIBUTES, detail);
    }
}

/// The elements that the selectors of the site owner match.
struct OwnerSelection<'c> {
    main: Option<Vec<u32>>,
    /// Elements to keep, followed by elements to drop.
    forced: Vec<Forced<'c>>,
    /// The `keep` and `drop` selectors that match an element.
    matched: Vec<String>,
}

impl<'c> OwnerSelection<'c> {
    fn of(dom: &Dom, control: &'c Control, findings: &mut Vec<Finding>) -> Self {
        let mut main: Vec<u32> =
            control.main.iter().flat_map(|selector| selector.find(dom)).collect();
        main.sort_unstable();
        main.dedup();
        if main.is_empty() && !control.main.is_empty() {
            let named: Vec<_> = control.main.iter().map(|it| format!("`{it}`")).collect();
            let detail = format!("main {}", named.join(", "));
            findings.push(Finding::new(&rules::SELECTOR_UNMATCHED, Place::WHOLE, detail));
        }
        let (mut forced, mut matched) = (Vec::new(), Vec::new());
        for (selectors, is_kept) in [(&control.keep, true), (&control.drop, false)] {
            for selector in selectors {
                let found = selector.find(dom);
                if !found.is_empty() {
                    matched.push(selector.as_str().to_owned());
                }
                forced.extend(found.into_iter().map(|at| Forced { at, is_kept, selector }));
            }
        }
        Self { main: (!main.is_empty()).then_some(main), forced, matched }
    }
}

fn base_of(options: &Options, found: &Found) -> Base {
    let base = Base::new(&options.url);
    match &found.base {
        Some(href) => base.rebase(href),
        None => base,
    }
}

/// Input of [`assemble`].
struct Material {
    found: Found,
    content: Vec<Block<'static>>,
    rich: Vec<Rich>,
    confidence: f32,
    /// Whether the author marks the main content.
    has_main: bool,
}

fn assemble(
    material: Material,
    whole: Whole,
    base: &Base,
    options: &Options,
    mut findings: Vec<Finding>,
) -> Extraction {
    let Material { found, mut content, mut rich, confidence, has_main } = material;
    let mut report = |rule, detail: String| findings.push(Finding::new(rule, Place::WHOLE, detail));
    let mut facts = found.facts(base);
    // A time beside the title that is in the future is the time of an event.
    if facts.published_by.as_deref() == Some("time element") && facts.published > Some(options.seen)
    {
        (facts.published, facts.published_by) = (None, None);
    }
    let is_said = |text: &String| text.chars().any(|c| !c.is_whitespace() && !c.is_control());
    let own_description = found.description().filter(is_said);
    let title = found.title().filter(is_said);
    if content.is_empty() {
        match own_description.clone().or_else(|| title.clone()) {
            Some(text) => {
                report(&rules::NO_TEXT, String::new());
                content.push(Block::Text(Text { text: text.into(), extra: Vec::new() }));
                rich.push(Rich::default());
            }
            None => report(&rules::EMPTY, String::new()),
        }
    } else if confidence < 0.3 && !has_main {
        report(&rules::UNSURE, format!("confidence {confidence:.2}"));
    }
    let language = found.language().or_else(|| options.language.clone());
    let language = language.unwrap_or_else(|| match language::detect(&start_of_prose(&content)) {
        Some(tag) => {
            report(&rules::GUESSED_LANGUAGE, tag.as_str().to_owned());
            tag
        }
        None => {
            report(&rules::NO_LANGUAGE, String::new());
            LanguageTag::UNDETERMINED
        }
    });
    let title = title.unwrap_or_else(|| {
        report(&rules::NO_TITLE, String::new());
        let mut first = content.iter().filter_map(prose).map(|text| shorten(text, 80));
        first.find(is_said).unwrap_or_else(|| options.url.as_str().to_owned())
    });
    let description = own_description.unwrap_or_else(|| {
        report(&rules::NO_DESCRIPTION, String::new());
        first_sentences(&content).filter(is_said).unwrap_or_else(|| title.clone())
    });
    let schema = found.schema().and_then(|schema| Object::new(Raw::parse(&schema).ok()?));
    let canonical = facts.canonical.clone().and_then(|url| HttpUrl::parse(url).ok());
    let page = Page {
        url: options.url.clone(),
        title: title.into(),
        description: description.into(),
        author: found.author().map(Str::from),
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
