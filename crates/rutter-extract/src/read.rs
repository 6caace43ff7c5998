//! Extracts an HTML page: decode, parse, survey, choose the main content, convert it to blocks.
//!
//! Input: bytes and [`ExtractOptions`]. Output: an [`Extraction`] with the page, its facts and findings.
//! Rejects nothing: a page that exceeds its limits or needs scripts is reported as a finding.

use rutter_finding::{Finding, Place};

use crate::assemble::{ParsedPage, assemble_page, base_of};
use crate::classify::{ClassifierInput, MainLandmark, PageDecision, classify};
use crate::coverage::Coverage;
use crate::dom::Dom;
use crate::extraction::Extraction;
use crate::facts::PageStatements;
use crate::meta::FoundMetadata;
use crate::options::{ExtractOptions, TemplateChoice};
use crate::owner::OwnerSelection;
use crate::region;
use crate::shell::{self, EmbeddedPlace, EmbeddedText, ShellSignals};
use crate::survey::PageSurvey;
use crate::tag::Tag;
use crate::template::TemplateVersionId;
use crate::verdict::{DropReason, gone};
use crate::{charset, rules, template_marks};

/// Extracts an HTML page.
pub fn html(bytes: &[u8], options: &ExtractOptions) -> Extraction {
    let decoded = charset::decode(bytes, options.charset.as_deref());
    let mut extraction =
        read_html(&decoded.text, options, decoded.findings(), ExtractionPass::First);
    extraction.charset = decoded.encoding.name();
    extraction
}

/// Attribute of the element that holds the embedded text of a shell.
const EMBEDDED_MARK: &str = "data-rutter-embedded";

/// The pass of an extraction. Only script shells need more than the first pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExtractionPass {
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
    options: &ExtractOptions,
    findings: Vec<Finding>,
    EmbeddedText { source, place }: EmbeddedText,
) -> Extraction {
    let mut extraction = match place {
        EmbeddedPlace::Outside(html) => {
            let whole = format!("{text}\n<main {EMBEDDED_MARK}>{html}</main>");
            let appended = read_html(&whole, options, findings.clone(), ExtractionPass::Appended);
            if appended.needs_scripts {
                return read_html(text, options, findings, ExtractionPass::Shell);
            }
            appended
        }
        EmbeddedPlace::Element(at) => {
            // If the text of the `noscript` element is long, the normal extraction finds it.
            let plain = read_html(text, options, findings.clone(), ExtractionPass::Plain);
            if plain.is_short() {
                read_html(text, options, findings, ExtractionPass::Noscript(at))
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
fn read_html(
    text: &str,
    options: &ExtractOptions,
    mut findings: Vec<Finding>,
    pass: ExtractionPass,
) -> Extraction {
    let mut dom = Dom::parse(text, &options.limits);
    let found = FoundMetadata::of(&dom, options.limits.json);
    let shell = find_shell(&dom, text, &found, pass);
    if pass == ExtractionPass::First
        && shell.is_some()
        && let Some(embedded) = shell::find(&dom, &found, options.limits.json)
    {
        return read_embedded(text, options, findings, embedded);
    }
    let embedded = mark_embedded(&mut dom, pass);
    if 0 < found.n_broken {
        let detail = format!("{} of them", found.n_broken);
        findings.push(Finding::new(&rules::BROKEN_JSON_LD, Place::WHOLE, detail));
    }
    let mut survey = PageSurvey::of(&dom);
    let mut wanted = OwnerSelection::of(&dom, &options.control, &mut findings);
    let landmark = match wanted.main.take().or(embedded.map(|at| vec![at])) {
        Some(roots) => MainLandmark::named(roots),
        None => MainLandmark::of(&dom, &survey),
    };
    let TemplateMarks { marked, repeated, version } =
        apply_template(&dom, &mut survey, &landmark, &wanted, &options.template);
    let rules = region::find(&dom, &survey, marked);
    let subject = ClassifierInput {
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
    let PageDecision { region, page_type, coverage, why } = classify(&subject, rules);
    findings.extend(coverage.as_ref().and_then(lost_text));
    if let Some(shell) = &shell {
        findings.push(Finding::new(&rules::SCRIPT_SHELL, Place::WHOLE, shell.shown()));
    }
    let mut extraction = assemble_page(
        ParsedPage { dom, survey, region, found, is_bounded: landmark.is_declared },
        options,
        findings,
    );
    extraction.page_type = page_type;
    extraction.coverage = coverage;
    extraction.why = why;
    extraction.matched = wanted.matched;
    extraction.template = version;
    // If the page ends in an open comment or script, the appended text becomes part of it and is
    // not found.
    let is_swallowed = pass == ExtractionPass::Appended && embedded.is_none();
    extraction.needs_scripts = shell.is_some() || is_swallowed;
    extraction
}

/// Returns the signals of a shell if the page is one and this pass looks for shells.
fn find_shell(
    dom: &Dom,
    text: &str,
    found: &FoundMetadata,
    pass: ExtractionPass,
) -> Option<ShellSignals> {
    if !matches!(pass, ExtractionPass::First | ExtractionPass::Shell) {
        return None;
    }
    let signals = ShellSignals::of(dom, text.len(), found.title.as_deref());
    signals.is_shell().then_some(signals)
}

/// Returns the element that holds the embedded text of a shell, if this pass reads such a text. A
/// `noscript` element becomes a `main` element.
fn mark_embedded(dom: &mut Dom, pass: ExtractionPass) -> Option<u32> {
    match pass {
        ExtractionPass::First | ExtractionPass::Plain | ExtractionPass::Shell => None,
        ExtractionPass::Appended => {
            (0..dom.len()).rev().find(|at| dom.attribute(*at, EMBEDDED_MARK).is_some())
        }
        ExtractionPass::Noscript(at) => {
            dom.items[at as usize].tag = Tag::Main;
            Some(at)
        }
    }
}

/// What a template says about a page.
struct TemplateMarks {
    /// For each node, why it is dropped.
    marked: Vec<Option<DropReason>>,
    /// The nodes inside the landmark that the template marked, and that are not template text.
    repeated: Vec<u32>,
    /// The template version that was used.
    version: Option<TemplateVersionId>,
}

/// Marks the nodes that belong to the template, and removes their text from the survey, so that it
/// does not affect the decisions about other text.
fn apply_template(
    dom: &Dom,
    survey: &mut PageSurvey,
    landmark: &MainLandmark,
    owner: &OwnerSelection<'_>,
    template: &TemplateChoice,
) -> TemplateMarks {
    let mut marked = vec![None; dom.items.len()];
    let version = template_marks::mark(dom, survey, template, &mut marked);
    let repeated = template_marks::take_back(dom, survey, landmark, &mut marked);
    if version.is_some() {
        let mut is_gone = gone(dom, survey, &marked);
        for kept in owner.forced.iter().filter(|forced| forced.is_kept) {
            is_gone.get_mut(survey.within(dom, kept.at)).unwrap_or_default().fill(false);
        }
        survey.forget(&is_gone);
    }
    TemplateMarks { marked, repeated, version }
}

/// Returns the finding about a landmark of which too much text is dropped.
fn lost_text(coverage: &Coverage) -> Option<Finding> {
    let largest = coverage.largest.as_ref().filter(|_| coverage.is_lossy())?;
    let lost = (1.0 - coverage.share()) * 100.0;
    let detail = format!("{lost:.0} % of it; the largest part is {largest}");
    Some(Finding::new(&rules::MAIN_TEXT_DROPPED, Place::WHOLE, detail))
}

/// Reads only the metadata of a page, for callers that already have its text. The bytes up to the
/// end of the head are sufficient.
pub fn facts(bytes: &[u8], options: &ExtractOptions) -> PageStatements {
    let decoded = charset::decode(bytes, options.charset.as_deref());
    let dom = Dom::parse(&decoded.text, &options.limits);
    let found = FoundMetadata::of(&dom, options.limits.json);
    let base = base_of(options, &found);
    let mut facts = found.facts(&base);
    found.give(&base, &mut facts);
    facts
}
