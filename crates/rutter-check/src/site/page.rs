//! Reads an HTML page and compares it with its collection entry and its Markdown twin.
//!
//! Input: a page and the data that other layers have about it. Output: a summary of the page and
//! findings. Only the head of a page is read if the page is unchanged since the build.

pub(crate) mod twin;

use std::collections::HashSet;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rutter_extract::{
    Coverage, ExtractOptions, Extraction, OwnerSelectors, PageStatements, UsageSignals, UseRefusal,
    honesty, html, is_text,
};
use rutter_finding::{Finding, Place, quoted};
use rutter_page::{Block, Digest, LineDigest, PageUrl, Timestamp};
use rutter_spxi::INDEX_FILE;

use super::built_page::BuiltPage;
use super::page_links::BrokenTarget;
use super::page_rows::{DeliveredPage, RestrictionReason, short};
use super::text_match::{self, FoundShare, TextPiece};

rutter_finding::rules! {
    DELIVERED_STALE = "XL023" "delivered-page-stale" (advice, "D84") {
        title: "text of the page in the collection differs from the page",
        why: "Readers use outdated content.",
        fix: "Build the site again.",
        wrong: r#""Open until 18:00" in the collection, "Open until 20:00" on the page."#,
        right: "Run `rutter build` after every change.",
    }
    DELIVERED_SHORT = "XL025" "delivered-page-short" (advice, "SCP-051") {
        title: "collection contains less than half of the text of the page",
        why: "Readers of the collection miss content that people can read.",
        fix: "Build the site again. `rutter extract` explains which text was dropped.",
        wrong: "A page of 3,000 words, of which the collection contains 900.",
        right: "The text is in `<main>`, where Rutter extracts it.",
    }
    MACHINE_ONLY = "SE013" "machine-only-text" (warning, "SCP-051") {
        title: "collection contains text that the page does not show",
        why: "The collection tells programs something that people cannot see. Readers treat such collections as hostile.",
        fix: "Build the site again. If the text remains, find out where it comes from.",
        wrong: "A text block in `all.scp.zst` that does not occur on its page.",
        right: "Blocks that `rutter build` extracted from the page.",
    }
}

/// The maximum number of text pieces of a restricted page for which other files are searched.
const MOST_PIECES: usize = 24;
/// The maximum size of the head of a page in bytes.
const LONGEST_HEAD: usize = 256 << 10;
/// The minimum number of words of a page for which a share of missing text is meaningful.
const FEW_WORDS: usize = 150;

/// The agent name whose robots directives count in addition to the directives for all agents.
const TOKEN: &str = "rutter";

/// The minimum number of words of a paragraph; a shorter text is a label.
const FEW_IN_PROSE: usize = 12;

/// The data of a page that is stored for comparisons.
#[derive(Debug, Default)]
pub(crate) struct PageSummary {
    pub(crate) title: Box<str>,
    pub(crate) language: Option<Box<str>>,
    pub(crate) closed: Option<RestrictionReason>,
    pub(crate) head: HeadLinks,
    /// Whether the page is too large for a collection.
    pub(crate) is_oversize: bool,
    /// Whether the page is unchanged since the build; `None` if unknown.
    pub(crate) is_as_built: Option<bool>,
    /// The digest of the bytes of the page, and of its decoded text if that differs.
    pub(crate) digests: [Option<Digest>; 2],
    /// Links and images of the page whose target does not exist.
    pub(crate) broken: Vec<BrokenTarget>,
    /// The extracted share of the main text of the page; `None` if unknown.
    pub(crate) coverage: Option<Coverage>,
    /// Texts of a restricted page, which other files must not contain.
    pub(crate) pieces: Vec<TextPiece>,
}

/// The links in the head of a page.
#[derive(Debug, Default)]
pub(crate) struct HeadLinks {
    pub(crate) canonical: Option<Box<str>>,
    /// The target of `<meta http-equiv="refresh">`.
    pub(crate) refresh: Option<Box<str>>,
    /// The URL of the Markdown version of the page.
    pub(crate) twin: Option<Box<str>>,
    /// Whether the page links to the semantic index.
    pub(crate) links_index: bool,
}

/// The result of reading a page and its twin.
#[derive(Debug, Default)]
pub(crate) struct PageResult {
    pub(crate) seen: PageSummary,
    pub(crate) of_page: Vec<Finding>,
    pub(crate) of_twin: Vec<Finding>,
    /// Findings about the entry of the page in a collection.
    pub(crate) of_scp: Vec<Finding>,
}

/// The input for reading a page.
pub(crate) struct PageJob<'j> {
    pub(crate) url: &'j str,
    pub(crate) bytes: &'j [u8],
    pub(crate) twin: Option<&'j [u8]>,
    pub(crate) scp: Option<&'j DeliveredPage>,
    pub(crate) known: Option<&'j BuiltPage>,
    /// The restriction of the page in the ARC sitemap.
    pub(crate) closed: Option<RestrictionReason>,
    pub(crate) now: Timestamp,
    /// The extraction selectors for this page.
    pub(crate) control: OwnerSelectors,
}

/// Reads a page and compares it with the other layers.
pub(crate) fn look(job: &PageJob<'_>) -> PageResult {
    let mut looked = PageResult::default();
    let source = rutter_site::head_links::remove_links(job.bytes);
    let digest = Digest::of(&source);
    let text_digest = std::str::from_utf8(&source)
        .is_err()
        .then(|| Digest::of(rutter_extract::decoded(&source).as_bytes()));
    looked.seen.digests = [Some(digest), text_digest];
    looked.seen.is_as_built = job.known.map(|known| known.source == digest.0);
    if let Some(known) = job.known.filter(|known| known.source == digest.0) {
        let is_same_line = job.scp.is_none_or(|scp| Some(scp.digest) == known.line);
        let is_same_twin = job.twin.is_none_or(|twin| Some(LineDigest::of(twin)) == known.twin);
        if is_same_line && is_same_twin && known.closed.or(job.closed).is_none() {
            of_head(job, known, &mut looked);
            return looked;
        }
    }
    if !is_text(job.bytes) {
        let finding = Finding::new(&rutter_extract::rules::NOT_TEXT, Place::WHOLE, "");
        looked.of_page.push(finding);
        return looked;
    }
    let Ok(url) = PageUrl::parse(job.url.to_owned()) else { return looked };
    let options =
        ExtractOptions { control: job.control.clone(), ..ExtractOptions::new(url, job.now) };
    let extraction = html(job.bytes, &options);
    facts(&extraction, &mut looked.seen);
    looked.seen.closed = closed_of(&extraction, job.now);
    // The quality of the extraction matters only for public pages.
    let is_open = looked.seen.closed.is_none();
    looked.of_page.extend(extraction.findings.iter().filter(|_| is_open).cloned());
    looked.of_page.extend(honesty(job.bytes, &extraction));
    let own = own_blocks(&extraction);
    if let Some(scp) = job.scp.filter(|scp| !scp.is_as_built) {
        compare(scp, job.url, &extraction, &own, &mut looked.of_scp);
    }
    if let Some(twin) = job.twin {
        let is_as_built = job.known.is_some_and(|known| {
            known.source == digest.0 && Some(LineDigest::of(twin)) == known.twin
        });
        if !is_as_built {
            twin::compare_twin(twin, &extraction, &own, &mut looked);
        }
    }
    if looked.seen.closed.max(job.closed).is_some() {
        looked.seen.pieces = own.into_iter().map(|own| own.piece).take(MOST_PIECES).collect();
    }
    looked
}

/// Reads only the head of an unchanged page.
fn of_head(job: &PageJob<'_>, known: &BuiltPage, looked: &mut PageResult) {
    static END: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("</head"));
    let end = END.find(job.bytes).unwrap_or(LONGEST_HEAD);
    let head = job.bytes.get(..end.min(LONGEST_HEAD)).unwrap_or(job.bytes);
    if leads_elsewhere(head)
        && let Ok(url) = PageUrl::parse(job.url.to_owned())
    {
        links(&rutter_extract::facts(head, &ExtractOptions::new(url, job.now)), &mut looked.seen);
    }
    // Collections contain the language that the build determined.
    looked.seen.title = known.title.clone();
    looked.seen.coverage.clone_from(&known.coverage);
    looked.of_page.extend(known.findings.iter().cloned());
    looked.seen.is_oversize = known.line.is_none();
}

/// Returns whether the head of a page may contain a relevant link or a redirect, without building a
/// tree. Escapes and two-byte encodings count as a possible link.
fn leads_elsewhere(head: &[u8]) -> bool {
    static WORDS: LazyLock<[Finder<'_>; 5]> =
        LazyLock::new(|| ["canonical", "alternate", "refresh", "&#", "\0"].map(Finder::new));
    let head = head.to_ascii_lowercase();
    WORDS.iter().any(|word| word.find(&head).is_some())
}

/// Stores the metadata of a page in its summary.
fn facts(extraction: &Extraction, seen: &mut PageSummary) {
    let facts = &extraction.facts;
    seen.title = short(&extraction.page.title);
    seen.coverage.clone_from(&extraction.coverage);
    seen.language = facts.language.as_ref().map(|tag| tag.canonical().as_str().into());
    links(facts, seen);
}

/// Stores in the summary of a page what the head of the page links to: canonical URL, refresh
/// target, SPXI index and Markdown twin.
fn links(facts: &PageStatements, seen: &mut PageSummary) {
    seen.head.canonical = facts.canonical.as_deref().map(Box::from);
    seen.head.refresh = facts.refresh.as_deref().map(Box::from);
    let path = |href: &str| href.split(['?', '#']).next().unwrap_or_default().to_owned();
    for link in facts.head_links.iter().filter(|link| link.has("alternate")) {
        match link.media_type.as_deref() {
            Some("application/ld+json")
                if path(&link.href).ends_with(&format!("/{INDEX_FILE}")) =>
            {
                seen.head.links_index = true;
            }
            Some("text/markdown") => seen.head.twin = Some(link.href.as_str().into()),
            _ => {}
        }
    }
}

/// Returns the restriction of a page by its own statements (D58) and its structure (D85). The build
/// and the sync use the same functions.
fn closed_of(extraction: &Extraction, now: Timestamp) -> Option<RestrictionReason> {
    let wishes = UsageSignals::of(extraction, TOKEN);
    let stated = wishes.refusal(now).map(|refusal| match refusal {
        UseRefusal::Login => RestrictionReason::Login,
        UseRefusal::NoIndex | UseRefusal::Expired => RestrictionReason::NoIndex,
        // `noarchive` and `nosnippet` withhold the content of a page as `noai` does.
        _ => RestrictionReason::NoAi,
    });
    let facts = &extraction.facts;
    let is_draft = facts.metas.iter().any(|(name, value)| name == "draft" && value == "true");
    let is_later = extraction.page.published.is_some_and(|published| now < published);
    let is_empty = extraction.page.content.is_empty() || extraction.only_leads_on();
    let away = (is_draft || is_later || is_empty).then_some(RestrictionReason::Away);
    let asks = (facts.asks_for_password && !wishes.is_open).then_some(RestrictionReason::Login);
    stated.max(away).max(asks)
}

/// A block of the extracted page, prepared for comparison.
struct PageBlock {
    piece: TextPiece,
    n_words: usize,
    is_prose: bool,
}

fn own_blocks(extraction: &Extraction) -> Vec<PageBlock> {
    let blocks = extraction.page.read_blocks();
    let own = |(at, block): (usize, &Block<'_>)| {
        let texts = texts_of(block);
        let (_, n_words) = text_match::whole(&texts);
        let is_prose = matches!(block, Block::Text(_) | Block::Quote(_)) && FEW_IN_PROSE <= n_words;
        text_match::piece(at.try_into().ok()?, &texts).map(|piece| PageBlock {
            piece,
            n_words,
            is_prose,
        })
    };
    blocks.filter_map(own).collect()
}

/// Returns a hash for each complete text of the page.
fn wholes_of(own: &[PageBlock]) -> HashSet<u64> {
    own.iter().map(|own| own.piece.whole).collect()
}

/// Returns the visible texts of a block, one per item or cell.
pub(crate) fn texts_of<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    match block {
        Block::Text(block) => vec![&block.text],
        Block::Heading(block) => vec![&block.text],
        Block::Link(block) => vec![&block.text],
        Block::Quote(block) => vec![&block.text],
        Block::Code(block) => vec![&block.code],
        Block::List(block) => block.items.iter().map(|item| &**item).collect(),
        Block::Table(block) => block.rows.iter().flatten().map(|cell| &**cell).collect(),
        // Alternative texts of media elements are not part of the visible text.
        Block::Image(_) | Block::Video(_) | Block::Audio(_) | Block::Unknown(_) => Vec::new(),
        _ => Vec::new(),
    }
}

/// Compares the collection entry of a page with the page.
fn compare(
    scp: &DeliveredPage,
    url: &str,
    extraction: &Extraction,
    own: &[PageBlock],
    found: &mut Vec<Finding>,
) {
    let wholes = wholes_of(own);
    let is_own = |piece: &&TextPiece| wholes.contains(&piece.whole);
    let pieces: Vec<TextPiece> = scp.pieces.iter().filter(|it| !is_own(it)).cloned().collect();
    let page = &extraction.page;
    let texts: [&str; 3] = [&extraction.visible_text, &page.title, &page.description];
    let shares = text_match::look(&pieces, &texts);
    let place = |piece: &TextPiece| Place::pointer(scp.line, format!("/content/{}", piece.at));
    let mut is_told = false;
    for (piece, share) in pieces.iter().zip(shares) {
        match share {
            FoundShare::All => {}
            FoundShare::Nothing => {
                found.push(Finding::new(&MACHINE_ONLY, place(piece), quoted(url)));
            }
            // One finding about missing text per page is enough.
            FoundShare::Part if !is_told => {
                is_told = true;
                found.push(Finding::new(&DELIVERED_STALE, place(piece), quoted(url)));
            }
            FoundShare::Part => {}
        }
    }
    // Lists and tables may be navigation that all pages share.
    let prose = own.iter().filter(|own| own.is_prose);
    let n_own: usize = prose.map(|own| own.n_words).sum();
    if FEW_WORDS <= n_own && (scp.n_words as usize) * 2 < n_own {
        let detail = format!("{}: {} of about {n_own} words", quoted(url), scp.n_words);
        found.push(Finding::new(&DELIVERED_SHORT, Place::line(scp.line), detail));
    }
}
