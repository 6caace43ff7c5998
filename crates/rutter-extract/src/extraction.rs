//! The way of a page: bytes, text, tree, survey, region, blocks, page.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rutter_finding::{Finding, Place, Rule};
use rutter_page::{Block, HttpUrl, LanguageTag, Object, Page, PageUrl, Raw, Str, Text, Timestamp};

use crate::address::Base;
use crate::arena::Cut;
use crate::blocks::Walk;
use crate::classify::{Decision, Landmark, PageType, Subject, classify};
use crate::dom::Dom;
use crate::facts::{Annotated, Facts, PageLink};
use crate::meta::Found;
use crate::region::{self, Region};
use crate::selector::Selector;
use crate::space::{end_line, gap};
use crate::survey::Survey;
use crate::tag::Tag;
use crate::template::{self, Sketch, Templates, VersionId};
use crate::verdict::gone;
use crate::whole::{Targets, Whole};
use crate::{Limits, charset, language, login, merge, rules};
use rutter_page::Rich;

/// Longest description made from the text, in characters.
const LONGEST_DESCRIPTION: usize = 200;

/// How a page is read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its address; relative links start from here.
    pub url: PageUrl<'static>,
    /// When its bytes were last known to change: `modified`, unless the page
    /// names a date itself.
    pub seen: Timestamp,
    /// The charset of its HTTP header.
    pub charset: Option<String>,
    /// The language of the site, for pages that declare none.
    pub language: Option<LanguageTag<'static>>,
    /// Whether links of paragraphs become blocks of their own.
    pub links: LinkBlocks,
    /// What the site's pages have in common.
    pub template: Use,
    /// What to stop at.
    pub limits: Limits,
    /// Whether to say why each part was kept or dropped.
    pub explain: bool,
    /// What the owner of the site wants kept and dropped.
    pub control: Control,
}

/// Parts of a page that its owner names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// Elements that are the main content; nothing outside is kept.
    pub main: Vec<Selector>,
    /// Elements that are kept wherever they are.
    pub keep: Vec<Selector>,
    /// Elements that are dropped wherever they are; stronger than `keep`.
    pub drop: Vec<Selector>,
}

impl Options {
    /// The usual way to read a page.
    pub fn new(url: PageUrl<'static>, seen: Timestamp) -> Self {
        Self {
            url,
            seen,
            charset: None,
            language: None,
            links: LinkBlocks::Lone,
            template: Use::Nothing,
            limits: Limits::USUAL,
            explain: false,
            control: Control::default(),
        }
    }
}

/// How a site's templates are used.
#[derive(Debug, Clone, Default)]
pub enum Use {
    /// Not: the page alone decides.
    #[default]
    Nothing,
    /// The version that fits.
    Fitting(Arc<Templates>),
    /// This version, which the page was read with before.
    Pinned(Arc<Templates>, VersionId),
}

/// Which links become blocks (D45).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkBlocks {
    /// Those that are a paragraph of their own.
    #[default]
    Lone,
    /// All: those of a paragraph follow it.
    All,
}

/// What a page turned out to be.
#[derive(Debug, Clone)]
pub struct Extraction {
    /// The page, ready for a collection unless its content is empty.
    pub page: Page<'static>,
    /// Decoration of each block of the page, in the same order.
    pub rich: Vec<Rich>,
    /// What it says about itself.
    pub facts: Facts,
    /// All its links, in document order.
    pub links: Vec<PageLink>,
    /// Its elements with `data-ai-*` attributes, in document order, and what
    /// in them is hidden or filled in.
    pub annotated: Vec<Annotated>,
    /// Everything the body of the page says, one line for each block, white
    /// space collapsed; scripts, styles, templates and drawings left out.
    pub visible_text: String,
    /// What of it the page hides by its own attributes, in order and apart.
    pub hidden: Vec<Range<usize>>,
    /// The encoding it was read in.
    pub charset: &'static str,
    /// From 0 to 1: how sure it is that the main content is the main content.
    pub confidence: f32,
    /// What kind of page it is; none for Markdown and for pages that are too
    /// long to be classified.
    pub page_type: Option<PageType>,
    /// The template version it was read with.
    pub template: Option<VersionId>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Why each part was kept or dropped, where asked for.
    pub why: Vec<Why>,
}

/// Bytes below which a page is short, for whoever asks whether it is one.
const SHORT: usize = 600;

impl Extraction {
    /// Whether there is so little on it that it may be there for something else
    /// than to be read.
    pub fn is_short(&self) -> bool {
        self.page.to_text().len() < SHORT
    }

    /// Whether it is there to send readers elsewhere.
    pub fn only_leads_on(&self) -> bool {
        let is_own = |to: &String| *to == self.page.url.as_str();
        self.facts.leads_to.as_ref().is_some_and(|to| !is_own(to)) && self.is_short()
    }

    /// The page as Markdown, with its links, emphasis and code.
    pub fn to_markdown(&self) -> String {
        self.page.to_rich_markdown(&self.rich)
    }

    /// The page as one would read it aloud: its words without the pictures,
    /// what stands for them and what is written below them.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (block, rich) in self.page.content.iter().zip(&self.rich) {
            if rich.is_caption || matches!(block, Block::Image(_)) {
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

    /// The visible text without what the page hides: what SPXI markers are
    /// looked for in (D70).
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

    /// The links inside the blocks: what they say and where they lead. Blocks
    /// that are links themselves are not among them.
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

/// Appends a piece; of two spaces that meet, or two line ends, one remains.
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
    /// The reason, in words; for what was kept, `main content`.
    pub reason: String,
    /// Whether it is part of the page's content.
    pub is_kept: bool,
    /// Characters in it.
    pub chars: u32,
    /// How its text begins.
    pub start: String,
}

/// Reads a page of HTML.
pub fn html(bytes: &[u8], options: &Options) -> Extraction {
    let decoded = charset::decode(bytes, options.charset.as_deref());
    let mut findings = decoded.findings();
    let dom = Dom::parse(&decoded.text, &options.limits);
    let found = Found::of(&dom, options.limits.json);
    if 0 < found.n_broken {
        let detail = format!("{} of them", found.n_broken);
        findings.push(Finding::new(&rules::BROKEN_JSON_LD, Place::WHOLE, detail));
    }
    let mut survey = Survey::of(&dom);
    let wanted = Wanted::of(&dom, &options.control, &mut findings);
    let landmark = match wanted.main {
        Some(roots) => Landmark::named(roots),
        None => Landmark::of(&dom, &survey),
    };
    let mut marked = vec![None; dom.items.len()];
    let template = mark(&dom, &survey, &options.template, &mut marked);
    let repeated = unmark_landmark(&dom, &landmark, &mut marked);
    if template.is_some() {
        // What the site's pages share decides nothing about the rest.
        survey.forget(&gone(&dom, &survey, &marked));
    }
    let rules = region::find(&dom, &survey, marked);
    let subject = Subject {
        dom: &dom,
        survey: &survey,
        found: &found,
        landmark: &landmark,
        repeated: &repeated,
        forced: &wanted.forced,
        explain: options.explain,
    };
    let Decision { region, page_type, loss, why } = classify(&subject, rules);
    if let Some(loss) = loss {
        let detail = format!(
            "{:.0} % of it; the largest part is {}: \"{}\"",
            loss.share * 100.0,
            loss.place,
            loss.start
        );
        findings.push(Finding::new(&rules::MAIN_TEXT_DROPPED, Place::WHOLE, detail));
    }
    let mut extraction = walk(Read { dom, survey, region, found }, options, findings);
    extraction.page_type = page_type;
    extraction.why = why;
    extraction.template = template;
    extraction.charset = decoded.encoding.name();
    extraction
}

/// Reads only what a page says about itself, for whoever knows its text
/// already; the beginning of a page up to the end of its head is enough.
pub fn facts(bytes: &[u8], options: &Options) -> Facts {
    let decoded = charset::decode(bytes, options.charset.as_deref());
    let dom = Dom::parse(&decoded.text, &options.limits);
    let found = Found::of(&dom, options.limits.json);
    let base = base_of(options, &found);
    let mut facts = found.facts(&base);
    found.give(&base, &mut facts);
    facts
}

/// A page that was looked over, whichever road it came.
pub(crate) struct Read {
    pub(crate) dom: Dom,
    pub(crate) survey: Survey,
    pub(crate) region: Region,
    pub(crate) found: Found,
}

/// Makes blocks of the region, and the page of them.
pub(crate) fn walk(read: Read, options: &Options, mut findings: Vec<Finding>) -> Extraction {
    let Read { dom, survey, region, found } = read;
    let mut report = |rule, detail: String| findings.push(Finding::new(rule, Place::WHOLE, detail));
    report_cut(&dom, options, &mut report);
    let base = base_of(options, &found);
    let targets = Targets::of(&dom, &base);
    let mut walk = Walk::new(&dom, &survey, &region, &base, &targets);
    walk.most_blocks = options.limits.blocks;
    for &root in &region.roots {
        walk.element(root);
    }
    let mut blocks = walk.out;
    if options.links == LinkBlocks::All {
        blocks = crate::link_blocks::with_links(blocks);
    }
    let whole = Whole::of(&dom, &survey, targets, &region, &base);
    let (confidence, is_script) = (region.confidence, dom.has_scripts);
    let asks_for_password = login::is_login(&dom, &survey);
    let has_main = dom.items.iter().any(|item| item.tag == Tag::Main);
    // The tree of a long page is large, and so is what is made of it.
    drop((region, survey, dom));
    let n_before = blocks.len();
    merge::merge(&mut blocks, options.limits.blocks);
    if blocks.len() < n_before {
        report(&rules::MERGED, format!("{n_before} became {}", blocks.len()));
    }
    let (content, rich) = blocks.into_iter().unzip();
    let material = Material { found, content, rich, confidence, is_script, has_main };
    let mut extraction = assemble(material, whole, &base, options, findings);
    extraction.facts.asks_for_password = asks_for_password;
    extraction
}

/// Says what was left out of a hostile page.
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

/// What the owner's selectors match.
struct Wanted {
    main: Option<Vec<u32>>,
    /// Elements to keep, then elements to drop.
    forced: Vec<(u32, bool)>,
}

impl Wanted {
    fn of(dom: &Dom, control: &Control, findings: &mut Vec<Finding>) -> Self {
        let mut find = |selector: &Selector| {
            let found = selector.find(dom);
            if found.is_empty() {
                let detail = format!("`{selector}`");
                findings.push(Finding::new(&rules::SELECTOR_UNMATCHED, Place::WHOLE, detail));
            }
            found
        };
        let mut main: Vec<u32> = control.main.iter().flat_map(&mut find).collect();
        main.sort_unstable();
        main.dedup();
        let mut forced = Vec::new();
        for (selectors, is_kept) in [(&control.keep, true), (&control.drop, false)] {
            let found = selectors.iter().flat_map(&mut find);
            forced.extend(found.map(|at| (at, is_kept)));
        }
        Self { main: (!main.is_empty()).then_some(main), forced }
    }
}

/// Takes back the template's marks inside the landmark: what repeats there is
/// content unless the classifier doubts it. Returns the elements.
fn unmark_landmark(
    dom: &Dom,
    landmark: &Landmark,
    marked: &mut [Option<crate::verdict::Reason>],
) -> Vec<u32> {
    let mut repeated = Vec::new();
    for root in &landmark.roots {
        let range = dom.subtree(*root);
        for (at, reason) in range.clone().zip(marked.iter_mut().skip(range.start as usize)) {
            if reason.take().is_some() {
                repeated.push(at);
            }
        }
    }
    repeated
}

/// Marks what the template says; names the version that said it.
fn mark(
    dom: &Dom,
    survey: &Survey,
    how: &Use,
    marked: &mut [Option<crate::verdict::Reason>],
) -> Option<VersionId> {
    let (templates, pinned) = match how {
        Use::Nothing => return None,
        Use::Fitting(templates) => (templates, None),
        Use::Pinned(templates, id) => (templates, Some(*id)),
    };
    let lines = template::lines(dom, survey);
    let id = pinned.or_else(|| templates.fit(&Sketch::of(dom, survey, &lines)))?;
    templates.get(id)?.mark(dom, survey, &lines, marked);
    Some(id)
}

fn base_of(options: &Options, found: &Found) -> Base {
    let base = Base::new(&options.url);
    match &found.base {
        Some(href) => base.rebase(href),
        None => base,
    }
}

/// What a page is put together from.
struct Material {
    found: Found,
    content: Vec<Block<'static>>,
    rich: Vec<Rich>,
    confidence: f32,
    is_script: bool,
    /// Whether the author marked the main content.
    has_main: bool,
}

fn assemble(
    material: Material,
    whole: Whole,
    base: &Base,
    options: &Options,
    mut findings: Vec<Finding>,
) -> Extraction {
    let Material { found, mut content, mut rich, confidence, is_script, has_main } = material;
    let mut report = |rule, detail: String| findings.push(Finding::new(rule, Place::WHOLE, detail));
    let mut facts = found.facts(base);
    // A time beside the title that is still to come is that of an event.
    if facts.published_by.as_deref() == Some("time element") && facts.published > Some(options.seen)
    {
        (facts.published, facts.published_by) = (None, None);
    }
    let is_said = |text: &String| text.chars().any(|c| !c.is_whitespace() && !c.is_control());
    let own_description = found.description().filter(is_said);
    let title = found.title().filter(is_said);
    if content.is_empty() {
        if is_script && whole.text.len() < 200 {
            report(&rules::SCRIPT_SHELL, String::new());
        }
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
        confidence,
        page_type: None,
        template: None,
        findings,
        why: Vec::new(),
    };
    // Nobody reads a page that only leads to another one, so its text, language and
    // description do not matter.
    if extraction.only_leads_on() {
        extraction.findings.retain(|finding| !OF_READABLE_PAGES.contains(&finding.rule));
    }
    extraction
}

/// Rules about what a page says to its readers.
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

fn prose<'b>(block: &'b Block<'_>) -> Option<&'b str> {
    match block {
        Block::Text(block) => Some(&block.text),
        Block::Quote(block) => Some(&block.text),
        Block::Heading(block) => Some(&block.text),
        Block::List(block) => block.items.first().map(|item| &**item),
        _ => None,
    }
}

/// The first lines of prose: as much as tells a language.
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

/// The first sentences of the text, up to 200 characters.
fn first_sentences(content: &[Block<'_>]) -> Option<String> {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text(block) => Some(&*block.text),
        Block::Quote(block) => Some(&*block.text),
        _ => None,
    });
    // A line is no sentence; take one only where there is nothing else.
    let mut first = None;
    for text in texts {
        let is_prose = text.chars().nth(39).is_some();
        if is_prose {
            return Some(shorten(text, LONGEST_DESCRIPTION));
        }
        first = first.or_else(|| Some(shorten(text, LONGEST_DESCRIPTION)));
    }
    first.or_else(|| content.iter().find_map(prose).map(|text| shorten(text, LONGEST_DESCRIPTION)))
}

/// At most `most` characters: whole sentences, else whole words and an ellipsis.
fn shorten(text: &str, most: usize) -> String {
    let mut head = String::new();
    let mut words = text.split_whitespace();
    // A character takes at most four bytes; behind that nothing matters.
    while head.len() <= 4 * most
        && let Some(word) = words.next()
    {
        if !head.is_empty() {
            head.push(' ');
        }
        head.push_str(word);
    }
    let text = head;
    if text.chars().count() <= most {
        return text;
    }
    let cut: String = text.chars().take(most).collect();
    let mut ends = cut.match_indices(['.', '!', '?', '\u{3002}']).map(|(at, stop)| at + stop.len());
    let sentence = ends.rfind(|end| {
        let after = text.get(*end..).and_then(|rest| rest.chars().next());
        after.is_none_or(|c| c.is_whitespace() || !c.is_ascii())
    });
    if let Some(end) = sentence.filter(|end| most / 3 < *end) {
        return cut.get(..end).unwrap_or(&cut).to_owned();
    }
    let short: String = cut.chars().take(most - 1).collect();
    let end = short.rfind(' ').filter(|end| most / 2 < *end).unwrap_or(short.len());
    format!("{}\u{2026}", short.get(..end).unwrap_or(&short).trim_end_matches([',', ';', ':', ' ']))
}
