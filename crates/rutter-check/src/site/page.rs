//! A page as its own file has it: what other layers are compared with.
//!
//! Bytes that the build read before are not read again as a page; only their
//! head is looked at.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rutter_extract::{Extraction, Facts, Options, Refusal, Wishes, honesty, html, is_text};
use rutter_finding::{Finding, Place, quoted};
use rutter_page::{Block, Digest, LineDigest, PageUrl, Timestamp, order_to_models};
use rutter_spxi::INDEX;

use super::known::{Known, unmarked};
use super::page_links::BrokenTarget;
use super::rows::{Closed, Delivered, short};
use super::words::{self, Piece, Share, paragraphs};
use crate::rules;

/// Most pieces of a closed page that are looked for elsewhere.
const MOST_PIECES: usize = 24;
/// How far a head may reach, in bytes.
const LONGEST_HEAD: usize = 256 << 10;
/// Words a page must have before a share of them says something.
const FEW_WORDS: usize = 150;

/// Name of the robot whose directives count beside those for all robots.
const TOKEN: &str = "rutter";

/// Words of a block that is a paragraph and no label.
const FEW_IN_PROSE: usize = 12;

/// What is kept of a page.
#[derive(Debug, Default)]
pub(crate) struct PageSeen {
    pub(crate) title: Box<str>,
    pub(crate) language: Option<Box<str>>,
    pub(crate) canonical: Option<Box<str>>,
    pub(crate) closed: Option<Closed>,
    pub(crate) refresh: Option<Box<str>>,
    pub(crate) links_index: bool,
    /// A Markdown form that its head names.
    pub(crate) twin_link: Option<Box<str>>,
    /// Whether no collection may hold it for its size.
    pub(crate) is_oversize: bool,
    /// Whether its bytes are those the build read; `None` where nobody knows.
    pub(crate) is_as_built: Option<bool>,
    /// Digest of its bytes, and of its text where that is another.
    pub(crate) digests: [Option<Digest>; 2],
    /// Links and images that lead to no file of the site.
    pub(crate) broken: Vec<BrokenTarget>,
    /// Text that must not be found elsewhere, where the page is closed.
    pub(crate) pieces: Vec<Piece>,
}

/// What came of looking at a page and its twin.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) seen: PageSeen,
    pub(crate) of_page: Vec<Finding>,
    pub(crate) of_twin: Vec<Finding>,
    /// Findings about the collection: block and rule.
    pub(crate) of_scp: Vec<Finding>,
}

/// What a page is looked at with.
pub(crate) struct Job<'j> {
    pub(crate) url: &'j str,
    pub(crate) bytes: &'j [u8],
    pub(crate) twin: Option<&'j [u8]>,
    pub(crate) scp: Option<&'j Delivered>,
    pub(crate) known: Option<&'j Known>,
    /// Why the ARC sitemap says that it is not for everybody.
    pub(crate) closed: Option<Closed>,
    pub(crate) now: Timestamp,
}

/// Looks at a page.
pub(crate) fn look(job: &Job<'_>) -> Looked {
    let mut looked = Looked::default();
    let source = unmarked(job.bytes);
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
    let extraction = html(job.bytes, &Options::new(url, job.now));
    facts(&extraction, &mut looked.seen);
    looked.seen.closed = closed_of(&extraction, job.now);
    // How well a page reads matters where it is read.
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
            compare_twin(twin, &extraction, &own, &mut looked);
        }
    }
    if looked.seen.closed.max(job.closed).is_some() {
        looked.seen.pieces = own.into_iter().map(|own| own.piece).take(MOST_PIECES).collect();
    }
    looked
}

/// What the head of a page says, where the rest is known.
fn of_head(job: &Job<'_>, known: &Known, looked: &mut Looked) {
    static END: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("</head"));
    let end = END.find(job.bytes).unwrap_or(LONGEST_HEAD);
    let head = job.bytes.get(..end.min(LONGEST_HEAD)).unwrap_or(job.bytes);
    if leads_elsewhere(head)
        && let Ok(url) = PageUrl::parse(job.url.to_owned())
    {
        links(&rutter_extract::facts(head, &Options::new(url, job.now)), &mut looked.seen);
    }
    // What collections say of its language is as it was built.
    looked.seen.title = known.title.clone();
    looked.of_page.extend(known.findings.iter().cloned());
    looked.seen.is_oversize = known.line.is_none();
}

/// Whether a head may hold a link or a redirect at all: most of what is built
/// before it is checked has none, and a tree is dear. An escape may hide one,
/// and so may characters of two bytes.
fn leads_elsewhere(head: &[u8]) -> bool {
    static WORDS: LazyLock<[Finder<'_>; 5]> =
        LazyLock::new(|| ["canonical", "alternate", "refresh", "&#", "\0"].map(Finder::new));
    let head = head.to_ascii_lowercase();
    WORDS.iter().any(|word| word.find(&head).is_some())
}

/// What a page says of itself.
fn facts(extraction: &Extraction, seen: &mut PageSeen) {
    let facts = &extraction.facts;
    seen.title = short(&extraction.page.title);
    seen.language = facts.language.as_ref().map(|tag| tag.canonical().as_str().into());
    links(facts, seen);
}

/// Where a page leads, other than by its text.
fn links(facts: &Facts, seen: &mut PageSeen) {
    seen.canonical = facts.canonical.as_deref().map(Box::from);
    seen.refresh = facts.refresh.as_deref().map(Box::from);
    let path = |href: &str| href.split(['?', '#']).next().unwrap_or_default().to_owned();
    for link in facts.head_links.iter().filter(|link| link.has("alternate")) {
        match link.media_type.as_deref() {
            Some("application/ld+json") if path(&link.href).ends_with(&format!("/{INDEX}")) => {
                seen.links_index = true;
            }
            Some("text/markdown") => seen.twin_link = Some(link.href.as_str().into()),
            _ => {}
        }
    }
}

/// Why a page is closed, by its own statements (D58) and its own form (D85).
///
/// The build and the sync ask the same functions.
fn closed_of(extraction: &Extraction, now: Timestamp) -> Option<Closed> {
    let wishes = Wishes::of(extraction, TOKEN);
    let said = wishes.refusal(now).map(|refusal| match refusal {
        Refusal::Login => Closed::Login,
        Refusal::NoIndex | Refusal::Expired => Closed::NoIndex,
        // `noarchive` and `nosnippet` withhold the content as `noai` does.
        _ => Closed::NoAi,
    });
    let facts = &extraction.facts;
    let is_draft = facts.metas.iter().any(|(name, value)| name == "draft" && value == "true");
    let is_later = extraction.page.published.is_some_and(|published| now < published);
    let is_empty = extraction.page.content.is_empty() || extraction.only_leads_on();
    let away = (is_draft || is_later || is_empty).then_some(Closed::Away);
    let asks = (facts.asks_for_password && !wishes.is_open).then_some(Closed::Login);
    said.max(away).max(asks)
}

/// A block of the page as we read it.
struct Own {
    piece: Piece,
    n_words: usize,
    is_prose: bool,
}

fn own_blocks(extraction: &Extraction) -> Vec<Own> {
    let blocks = (0..).zip(&extraction.page.content);
    let own = |(at, block): (u32, &Block<'_>)| {
        let texts = texts_of(block);
        let (_, n_words) = words::whole(&texts);
        let is_prose = matches!(block, Block::Text(_) | Block::Quote(_)) && FEW_IN_PROSE <= n_words;
        words::piece(at, &texts).map(|piece| Own { piece, n_words, is_prose })
    };
    blocks.filter_map(own).collect()
}

/// The numbers of all that the page says itself.
fn wholes_of(own: &[Own]) -> HashSet<u64> {
    own.iter().map(|own| own.piece.whole).collect()
}

/// The texts of a block that a page shows, apart where they stand apart.
pub(crate) fn texts_of<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    match block {
        Block::Text(block) => vec![&block.text],
        Block::Heading(block) => vec![&block.text],
        Block::Link(block) => vec![&block.text],
        Block::Quote(block) => vec![&block.text],
        Block::Code(block) => vec![&block.code],
        Block::List(block) => block.items.iter().map(|item| &**item).collect(),
        Block::Table(block) => block.rows.iter().flatten().map(|cell| &**cell).collect(),
        // What stands for pictures and films is not part of the shown text.
        Block::Image(_) | Block::Video(_) | Block::Audio(_) | Block::Unknown(_) => Vec::new(),
        _ => Vec::new(),
    }
}

/// Compares a delivered page with the page that is shown.
fn compare(
    scp: &Delivered,
    url: &str,
    extraction: &Extraction,
    own: &[Own],
    found: &mut Vec<Finding>,
) {
    let wholes = wholes_of(own);
    let is_own = |piece: &&Piece| wholes.contains(&piece.whole);
    let pieces: Vec<Piece> = scp.pieces.iter().filter(|it| !is_own(it)).cloned().collect();
    let page = &extraction.page;
    let texts: [&str; 3] = [&extraction.visible_text, &page.title, &page.description];
    let shares = words::look(&pieces, &texts);
    let place = |piece: &Piece| Place::pointer(scp.line, format!("/content/{}", piece.at));
    let mut is_told = false;
    for (piece, share) in pieces.iter().zip(shares) {
        match share {
            Share::All => {}
            Share::Nothing => {
                found.push(Finding::new(&rules::MACHINE_ONLY, place(piece), quoted(url)));
            }
            // Once is enough: the page is to be built again.
            Share::Part if !is_told => {
                is_told = true;
                found.push(Finding::new(&rules::DELIVERED_STALE, place(piece), quoted(url)));
            }
            Share::Part => {}
        }
    }
    // Lists and tables may be what all pages of the site have.
    let prose = own.iter().filter(|own| own.is_prose);
    let n_own: usize = prose.map(|own| own.n_words).sum();
    if FEW_WORDS <= n_own && (scp.n_words as usize) * 2 < n_own {
        let detail = format!("{}: {} of about {n_own} words", quoted(url), scp.n_words);
        found.push(Finding::new(&rules::DELIVERED_SHORT, Place::line(scp.line), detail));
    }
}

/// Compares a Markdown twin with the page that is shown.
fn compare_twin(twin: &[u8], extraction: &Extraction, own: &[Own], looked: &mut Looked) {
    let text = String::from_utf8_lossy(twin);
    let (front, body) = front_matter(&text);
    let page = &extraction.page;
    let title = front.and_then(|front| member(front, "title"));
    let heading = body.lines().find_map(|line| line.strip_prefix("# ")).map(str::to_owned);
    if let Some(title) = title.or(heading) {
        let is_same =
            [&*page.title, &extraction.visible_text].iter().any(|shown| words::has(shown, &title));
        if !is_same {
            let detail = format!("{}, the page has {}", quoted(&title), quoted(&page.title));
            looked.of_twin.push(Finding::new(&rules::TWIN_TITLE, Place::WHOLE, detail));
        }
    }
    if let (Some(language), Some(own)) =
        (front.and_then(|front| member(front, "language")), &looked.seen.language)
        && !language.eq_ignore_ascii_case(own)
        && language != "und"
    {
        let detail = format!("{language}, the page says {own}");
        looked.of_twin.push(Finding::new(&rules::LANGUAGE_DIFFERS, Place::WHOLE, detail));
    }
    // Whoever writes about orders in plain sight is not blamed.
    let orders_are_shown = LazyCell::new(|| order_to_models(&extraction.shown_text()).is_some());
    for paragraph in paragraphs(body) {
        if let Some(order) = order_to_models(&paragraph)
            && !*orders_are_shown
        {
            let detail = quoted(order);
            looked.of_twin.push(Finding::new(&rules::ORDER, Place::WHOLE, detail));
        }
    }
    let mut pieces = pieces_of(body);
    let wholes = wholes_of(own);
    pieces.retain(|piece| !wholes.contains(&piece.whole));
    // Films and sounds are told of in JSON-LD.
    let mut texts: Vec<&str> = vec![&extraction.visible_text, &page.title, &page.description];
    texts.extend(extraction.facts.json_ld.iter().map(String::as_str));
    let shares = words::look(&pieces, &texts);
    let mut doubtful: Vec<(Piece, Share)> =
        pieces.into_iter().zip(shares).filter(|(_, share)| *share != Share::All).collect();
    if doubtful.is_empty() {
        return;
    }
    // What we would write ourselves is right, whatever it is made of.
    let ours = extraction.to_markdown();
    let ours = pieces_of(front_matter(&ours).1);
    let ours: HashSet<u64> = ours.iter().map(|piece| piece.whole).collect();
    doubtful.retain(|(piece, _)| !ours.contains(&piece.whole));
    let mut is_told = false;
    for (_, share) in doubtful {
        let rule = match share {
            Share::All => continue,
            Share::Nothing => &rules::TWIN_ONLY,
            Share::Part if !is_told => {
                is_told = true;
                &rules::TWIN_STALE
            }
            Share::Part => continue,
        };
        looked.of_twin.push(Finding::new(rule, Place::WHOLE, ""));
    }
}

/// The paragraphs of a Markdown text, as pieces.
fn pieces_of(markdown: &str) -> Vec<Piece> {
    let all = (0..).zip(paragraphs(markdown));
    all.filter_map(|(at, paragraph)| words::piece(at, &lines_of(&paragraph))).collect()
}

/// The lines of a paragraph without marks; cells of a table stand apart.
fn lines_of(paragraph: &str) -> Vec<&str> {
    let cells = |line| -> Box<dyn Iterator<Item = &str>> {
        let line: &str = without_mark(line);
        match line.strip_prefix('|') {
            Some(row) => Box::new(row.split('|')),
            None => Box::new(std::iter::once(line)),
        }
    };
    paragraph.lines().flat_map(cells).collect()
}

/// A line of Markdown without the mark of its list item.
fn without_mark(line: &str) -> &str {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.strip_prefix(". ").filter(|_| digits.len() < line.len()).unwrap_or(line)
}

/// What stands above a Markdown text, and the text.
pub(crate) fn front_matter(text: &str) -> (Option<&str>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (None, text) };
    match rest.split_once("\n---\n") {
        Some((front, body)) => (Some(front), body),
        None => (None, text),
    }
}

/// A member of a front matter; quotes around it are taken off.
pub(crate) fn member(front: &str, name: &str) -> Option<String> {
    let lines = front.lines();
    let value = lines.filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name)?.1;
    let value = value.trim();
    if value.starts_with('"') {
        return serde_json::from_str(value).ok();
    }
    Some(value.to_owned())
}
