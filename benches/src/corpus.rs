//! A seeded collection in the shape of a documentation site.
//!
//! The block mix is that of the Django 3.2 documentation (692 pages, Debian's
//! python-django-doc), counted in November 2026: share of blocks and average
//! length of each kind. Text is made of invented words, frequent ones often,
//! and of repeated phrases, as in manuals.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Share of blocks (per mille) and average characters, by kind.
pub(crate) const MIX: [(&str, u64, usize); 6] = [
    ("text", 617, 113),
    ("heading", 236, 21),
    ("code", 91, 776),
    ("list", 52, 489),
    ("table", 3, 1237),
    ("image", 1, 33),
];

/// A random number generator: the same seed gives the same numbers.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Words and phrases to build text from.
pub(crate) struct Language {
    words: Vec<String>,
    phrases: Vec<String>,
}

impl Language {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        const SYLLABLES: [&str; 40] = [
            "ka", "ro", "mi", "ten", "sel", "dor", "va", "li", "men", "tra", "con", "pre", "sta",
            "ble", "ing", "ed", "er", "al", "ture", "for", "im", "per", "des", "tin", "qua", "lo",
            "gen", "us", "nor", "fa", "be", "ter", "ran", "ge", "mo", "du", "le", "in", "ar", "ss",
        ];
        let mut words = Vec::new();
        for _ in 0..12_000 {
            let n = 1 + rng.below(4);
            let mut word: String = (0..n).map(|_| SYLLABLES[rng.below(40) as usize]).collect();
            // Five bytes in a thousand of the real text are not ASCII.
            if rng.below(60) == 0 {
                word.push('é');
            }
            words.push(word);
        }
        let mut language = Self { words, phrases: Vec::new() };
        for _ in 0..6_000 {
            let n = 3 + rng.below(8);
            let phrase: Vec<String> = (0..n).map(|_| language.word(rng).to_owned()).collect();
            language.phrases.push(phrase.join(" "));
        }
        language
    }

    /// Returns a word; squaring a uniform number makes early words frequent.
    fn word(&self, rng: &mut Rng) -> &str {
        let n = self.words.len() as u64;
        let at = rng.below(n) * rng.below(n) / n;
        &self.words[at as usize]
    }

    fn text(&self, rng: &mut Rng, length: usize, out: &mut String) {
        let end = out.len() + length / 2 + rng.below(length as u64 + 1) as usize;
        while out.len() < end {
            if rng.below(100) < 50 {
                out.push_str(&self.phrases[rng.below(self.phrases.len() as u64) as usize]);
            } else {
                out.push_str(self.word(rng));
            }
            out.push_str(if rng.below(12) == 0 { ", " } else { " " });
        }
        out.pop();
    }
}

/// Writes the line of page number `n` in version `version`.
pub(crate) fn page(language: &Language, n: u64, version: u64, out: &mut String) {
    let mut rng = Rng::new(n * 1_000_003 + version);
    out.clear();
    let mut title = String::new();
    language.text(&mut rng, 30, &mut title);
    let mut description = String::new();
    language.text(&mut rng, 100, &mut description);
    let (day, hour) = (1 + n % 28, n % 24);
    write!(
        out,
        "{{\"url\":\"https://docs.example/reference/{:03}/{n:07}.html\",\"title\":\"{title}\",\
         \"description\":\"{description}\",\"modified\":\"2026-0{}-{day:02}T{hour:02}:00:00Z\",\
         \"language\":\"en\",\"content\":[",
        n / 1000,
        1 + version
    )
    .expect("a string takes everything");
    let n_blocks = 14 + rng.below(26);
    for block_idx in 0..n_blocks {
        if block_idx != 0 {
            out.push(',');
        }
        block(language, &mut rng, out);
    }
    out.push_str("]}");
}

fn block(language: &Language, rng: &mut Rng, out: &mut String) {
    let mut dice = rng.below(1000);
    let mut kind = MIX[0];
    for candidate in MIX {
        kind = candidate;
        if dice < candidate.1 {
            break;
        }
        dice -= candidate.1;
    }
    let (name, _, length) = kind;
    write!(out, "{{\"type\":\"{name}\",").expect("a string takes everything");
    match name {
        "text" => quoted(language, rng, "text", length, out),
        "heading" => {
            write!(out, "\"level\":{},", 1 + rng.below(4)).expect("a string takes everything");
            quoted(language, rng, "text", length, out);
        }
        "code" => {
            out.push_str("\"language\":\"python\",\"code\":\"");
            let end = out.len() + length / 2 + rng.below(length as u64) as usize;
            while out.len() < end {
                let indent = "    ".repeat(rng.below(3) as usize);
                write!(out, "{indent}{}(", language.word(rng)).expect("a string takes everything");
                write!(out, "\\\"{}\\\", ", language.word(rng)).expect("a string takes everything");
                language.text(rng, 24, out);
                out.push_str(")\\n");
            }
            out.push('"');
        }
        "list" => {
            out.push_str("\"ordered\":false,\"items\":[");
            for item in 0..4 {
                out.push_str(if item == 0 { "\"" } else { ",\"" });
                language.text(rng, length / 4, out);
                out.push('"');
            }
            out.push(']');
        }
        "table" => {
            out.push_str("\"rows\":[");
            for row in 0..6 {
                out.push_str(if row == 0 { "[\"" } else { ",[\"" });
                for cell in 0..3 {
                    out.push_str(if cell == 0 { "" } else { "\",\"" });
                    language.text(rng, length / 18, out);
                }
                out.push_str("\"]");
            }
            out.push(']');
        }
        _ => {
            let number = rng.below(10_000);
            write!(out, "\"url\":\"https://docs.example/images/{number}.png\",")
                .expect("a string takes everything");
            quoted(language, rng, "alt", length, out);
        }
    }
    out.push('}');
}

fn quoted(language: &Language, rng: &mut Rng, key: &str, length: usize, out: &mut String) {
    write!(out, "\"{key}\":\"").expect("a string takes everything");
    language.text(rng, length, out);
    out.push('"');
}

/// Which version of a page each of the two snapshots holds: one page in 20 is
/// changed in the second, one in 100 is missing in either.
pub(crate) fn version(n: u64, is_second: bool) -> Option<u64> {
    match (n % 100, is_second) {
        (99, false) | (98, true) => None,
        (at, true) if at % 20 == 0 => Some(1),
        _ => Some(0),
    }
}

/// Writes the page lines of a snapshot.
pub(crate) fn lines(n_pages: u64, is_second: bool, out: &mut dyn Write) -> io::Result<()> {
    let language = Language::new(&mut Rng::new(42));
    let mut line = String::new();
    for n in 0..n_pages {
        if let Some(version) = version(n, is_second) {
            page(&language, n, version, &mut line);
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}
