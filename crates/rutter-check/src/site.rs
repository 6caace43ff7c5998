//! A whole site, judged: one inventory joins what every layer says of each
//! page, and the rules of `cross` compare.
//!
//! Files come from a folder, or from a live site that was fetched into one.
//! Machine files are read first, then pages, in parallel; of a page only
//! numbers and short texts are kept. Findings go to a book, by file.
//!
//! Refuses: to leave the folder, to hold a page in memory longer than it takes
//! to look at it, and to look without end.

mod book;
mod files;
mod home;
mod known;
mod machine;
mod page;
mod page_links;
mod pages;
mod rows;
mod spxi;
mod told;
mod words;

use std::io::{self, Read as _};
use std::path::Path;

use rutter_finding::{Finding, Place, quoted};

pub(crate) use book::{Book, SITE};
pub(crate) use files::{FileKind, Files, LARGEST_PAGE, OneFile};
pub use home::Home;
pub use known::Known;
pub(crate) use machine::{Advertised, Held, Machine, stem};
pub(crate) use page_links::TargetKind;
pub use rows::Closed;
pub(crate) use rows::{Row, Rows};
pub(crate) use words::runs;

use crate::{Judgement, Judging, rules};

/// How a site is judged.
#[derive(Debug, Clone, Default)]
pub struct SiteJudging {
    /// How each file is judged.
    pub judging: Judging,
    /// Threads that read pages; at least one.
    pub threads: usize,
    /// Names of own types of entities that are documented somewhere (D66).
    pub types: Vec<String>,
}

/// What came of judging a site.
#[derive(Debug)]
pub struct SiteOutcome {
    /// Every file that was judged or has a finding, in the order of names; the
    /// site as a whole is called `.`.
    pub judgements: Vec<Judgement>,
    /// The address that was assumed.
    pub home: Option<Home>,
    /// Pages that were looked at.
    pub pages: u64,
    /// Pages that the sitemaps name.
    pub listed: u64,
    /// Pages whose bytes the build knew.
    pub known: u64,
    /// Files of the site.
    pub files: u64,
}

/// Everything there is to compare.
pub(crate) struct View<'v> {
    pub(crate) files: &'v Files,
    pub(crate) home: Option<&'v Home>,
    pub(crate) judging: &'v SiteJudging,
    pub(crate) rows: Rows,
    pub(crate) machine: Machine,
    pub(crate) known: Vec<Known>,
    pub(crate) book: Book<'v>,
}

/// Judges a published folder. `known` is what the build remembers of its
/// pages, in the order of addresses; it may be empty.
///
/// An error is a folder that cannot be read at all.
pub fn check_folder(
    dir: &Path,
    home: Option<Home>,
    known: Vec<Known>,
    judging: &SiteJudging,
) -> Result<SiteOutcome, io::Error> {
    let mut found = Vec::new();
    let files = Files::walk(dir, &mut found)?;
    let home = home.or_else(|| home_of(&files));
    Ok(check_files(&files, home, known, judging, found))
}

/// Judges files, wherever they came from.
pub(crate) fn check_files(
    files: &Files,
    home: Option<Home>,
    known: Vec<Known>,
    judging: &SiteJudging,
    found: Vec<(String, Finding)>,
) -> SiteOutcome {
    // Pages can be looked at wherever they are; no layer speaks of this place.
    let nowhere = Home::placeholder();
    let place = home.as_ref().or(nowhere.as_ref());
    let rows = place.map_or_else(Rows::default, |place| Rows::of(files, place));
    let mut view = View {
        files,
        home: place,
        judging,
        rows,
        machine: Machine::default(),
        known,
        book: Book::new(files, &judging.judging),
    };
    for (name, finding) in found {
        let judgement = view.book.named(&name, crate::signpost::kind_by_path(&name));
        rutter_finding::FindingSink::report(&mut judgement.report, finding);
    }
    match &home {
        None => view.book.site(&rules::ADDRESS_UNKNOWN, ""),
        Some(home) if home.is_plain_http() => {
            view.book.site(&rules::NOT_HTTPS, quoted(home.as_str()));
        }
        Some(_) => {}
    }
    view.read_layers();
    let (pages, known) = view.read_pages();
    view.judge_spxi();
    view.judge_rest();
    crate::cross::compare(&mut view);
    let listed = view.machine.listed.len() as u64;
    let judgements = view.book.close();
    SiteOutcome { judgements, home, pages, listed, known, files: files.len() as u64 }
}

/// The address that the index or the ARC sitemap of a folder names.
fn home_of(files: &Files) -> Option<Home> {
    let read = |name: &str| files.read(files.find(name)?, 64 << 20).ok().flatten();
    let index = read(rutter_spxi::INDEX).and_then(|it| rutter_spxi::read_index(&it, &mut ()).ok());
    index.and_then(|index| Home::of_index(&index)).or_else(|| {
        let text = String::from_utf8(read("arc-sitemap.json")?).ok()?;
        let (_, rest) = text.split_once("\"site\"")?;
        let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        Home::parse(rest.split('"').next()?)
    })
}

impl View<'_> {
    /// Judges the machine files that no layer led to, and copies that are
    /// compressed.
    fn judge_rest(&mut self) {
        let all: Vec<(u32, String)> =
            self.files.iter().map(|(at, file)| (at, file.path.to_string())).collect();
        for (at, path) in all {
            if let Some(plain) = path.strip_suffix(".gz")
                && !path.ends_with(".scp.gz")
            {
                if let Some(other) = self.files.find(plain)
                    && self.files.get(other).kind == FileKind::Other
                {
                    self.compare_compressed(at, other);
                }
                continue;
            }
            let is_policy = path.ends_with(".well-known/arc-policy.json");
            if is_policy || path.ends_with("arc-sitemap.jsonld") {
                self.judge(at);
            }
        }
    }

    /// Whether two files have the same bytes.
    pub(crate) fn are_same(&self, one: u32, other: u32) -> bool {
        match (self.files.open(one), self.files.open(other)) {
            (Ok((one, _)), Ok((other, _))) => are_same(one, other),
            _ => false,
        }
    }

    /// What is compressed must be what lies beside it.
    fn compare_compressed(&mut self, at: u32, plain: u32) {
        let Ok((packed, _)) = self.files.open(at) else { return };
        let Ok((plain, _)) = self.files.open(plain) else { return };
        let unpacked = flate2::read::MultiGzDecoder::new(packed);
        if !are_same(unpacked, plain) {
            self.book.say(at, Finding::new(&rules::CODINGS_DIFFER, Place::WHOLE, ""));
        }
    }
}

/// Whether two inputs are the same; one that fails is not.
pub(crate) fn are_same(mut one: impl io::Read, mut other: impl io::Read) -> bool {
    let fill = |input: &mut dyn io::Read, buffer: &mut Vec<u8>| -> Option<()> {
        buffer.clear();
        input.take(64 << 10).read_to_end(buffer).ok().map(|_| ())
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        if fill(&mut one, &mut ours).is_none() || fill(&mut other, &mut theirs).is_none() {
            return false;
        }
        if ours != theirs {
            return false;
        }
        if ours.is_empty() {
            return true;
        }
    }
}
