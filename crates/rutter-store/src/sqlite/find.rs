//! Searches a full-text index so that a sentence finds something.
//!
//! Input: a [`Query`] and a [`Corpus`]. Output: [`Found`]. Pages with all parts come first; if
//! there are none, words that no page has are replaced by the nearest known one; if there are
//! still none, pages with some of the words are ranked by how many they lack.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::read::collect;
use crate::error::{PageLine, Storage};
use crate::model::{Found, Hit, Matched};
use crate::words::{Part, Query};

/// How text is cut into words: case and accents do not count.
pub(super) const TOKENS: &str = "tokenize = 'unicode61 remove_diacritics 2'";
/// Words in a snippet.
const SNIPPET: u32 = 24;
/// Pages with some of the words that are compared.
const CANDIDATES: usize = 100;
/// Words of the index that are compared with one unknown word.
const COMPARED: u32 = 50_000;
/// A word that more than this share of the pages have tells nothing where others do.
const COMMON: u64 = 3;

/// Pages in a full-text index.
pub(super) trait Corpus {
    /// The connection that has the index.
    fn connection(&self) -> &Connection;
    /// Name of the index.
    fn index(&self) -> &'static str;
    /// Pages of the corpus, roughly.
    fn n_pages(&self) -> Result<u64, Storage>;
    /// Pages that match an FTS5 expression, best first.
    fn matching(&self, expression: &str, most: usize) -> Result<Vec<(i64, f64)>, Storage>;
    /// A page and its line.
    fn text(&self, id: i64) -> Result<Option<PageLine>, Storage>;
}

/// Searches a corpus.
pub(super) fn find(corpus: &dyn Corpus, query: &Query, most: usize) -> Result<Found, Storage> {
    let all = corpus.matching(&query.to_match(), most)?;
    if !all.is_empty() {
        let found = Found { matched: Matched::All, ..Found::default() };
        return fill(corpus, found, all, query, &query.to_match());
    }
    let vocabulary = Vocabulary::new(corpus)?;
    let corrections = vocabulary.corrections(query)?;
    let corrected = query.replaced(|part| corrections.get(&part.words).cloned());
    let found = Found { corrections: corrections.into_iter().collect(), ..Found::default() };
    if !found.corrections.is_empty() {
        let all = corpus.matching(&corrected.to_match(), most)?;
        if !all.is_empty() {
            let found = Found { matched: Matched::Corrected, ..found };
            return fill(corpus, found, all, &corrected, &corrected.to_match());
        }
    }
    let Some(words) = vocabulary.telling(&corrected, corpus.n_pages()?)? else {
        return Ok(Found::default());
    };
    let some = corpus.matching(&words.to_match_any(), CANDIDATES)?;
    let apart = corrected.taken_apart(|_| true).unwrap_or(corrected);
    let found = Found { matched: Matched::Some, ..found };
    let mut found = fill(corpus, found, some, &apart, &words.to_match_any())?;
    found
        .hits
        .sort_by(|a, b| a.missing.len().cmp(&b.missing.len()).then(a.rank.total_cmp(&b.rank)));
    found.hits.truncate(most);
    Ok(found)
}

/// Makes hits of matches: a snippet with the same rules the index was made by, and the parts of
/// the query that each page lacks. The texts are indexed once more, in memory.
fn fill(
    corpus: &dyn Corpus,
    mut found: Found,
    matches: Vec<(i64, f64)>,
    query: &Query,
    expression: &str,
) -> Result<Found, Storage> {
    let scratch = scratch()?;
    for (id, rank) in matches {
        match corpus.text(id)? {
            Some(Ok((page, line))) => {
                let (title, text) = super::search::texts(&line);
                scratch.execute(
                    "INSERT INTO texts (rowid, title, text) VALUES (?1, ?2, ?3)",
                    params![found.hits.len(), title, text],
                )?;
                found.hits.push(Hit { page, snippet: String::new(), rank, missing: Vec::new() });
            }
            Some(Err(damaged)) => found.damaged.push(damaged),
            None => {}
        }
    }
    let mut snippet = scratch.prepare(
        "SELECT snippet(texts, -1, '[', ']', '…', ?1) FROM texts
         WHERE texts MATCH ?2 AND rowid = ?3",
    )?;
    for (at, hit) in found.hits.iter_mut().enumerate() {
        let text: Option<String> =
            snippet.query_row(params![SNIPPET, expression, at], |row| row.get(0)).optional()?;
        let text = text.unwrap_or_default();
        hit.snippet = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if found.matched == Matched::Some {
        let mut having = scratch.prepare("SELECT rowid FROM texts WHERE texts MATCH ?1")?;
        for part in query.parts() {
            let rows = having.query([part.to_match()])?;
            let with: BTreeSet<usize> = collect(rows, |row| Ok(row.get(0)?))?.into_iter().collect();
            for (at, hit) in found.hits.iter_mut().enumerate() {
                if !with.contains(&at) {
                    hit.missing.push(part.words.clone());
                }
            }
        }
    }
    Ok(found)
}

pub(super) fn scratch() -> Result<Connection, Storage> {
    let connection = Connection::open_in_memory()?;
    connection
        .execute_batch(&format!("CREATE VIRTUAL TABLE texts USING fts5 (title, text, {TOKENS})"))?;
    Ok(connection)
}

/// The words of an index.
struct Vocabulary<'c> {
    connection: &'c Connection,
}

impl<'c> Vocabulary<'c> {
    fn new(corpus: &'c dyn Corpus) -> Result<Self, Storage> {
        let (connection, index) = (corpus.connection(), corpus.index());
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary
                USING fts5vocab ('main', '{index}', 'row');"
        ))?;
        Ok(Self { connection })
    }

    /// Pages that have a word as the index writes it.
    fn n_pages(&self, word: &str) -> Result<u64, Storage> {
        let n_pages = self
            .connection
            .prepare_cached("SELECT doc FROM temp.vocabulary WHERE term = ?1")?
            .query_row([word], |row| row.get(0))
            .optional()?;
        Ok(n_pages.unwrap_or(0))
    }

    /// For single words that no page has: the nearest word that pages have.
    fn corrections(&self, query: &Query) -> Result<BTreeMap<String, String>, Storage> {
        let mut corrections = BTreeMap::new();
        for part in query.parts().iter().filter(|part| !part.is_beginning) {
            let tokens = tokens(&part.words)?;
            let [word] = tokens.as_slice() else { continue };
            if 0 < self.n_pages(word)? {
                continue;
            }
            if let Some(nearest) = self.nearest(word)? {
                corrections.insert(part.words.clone(), nearest);
            }
        }
        Ok(corrections)
    }

    /// The nearest word with the same beginning: one letter may be wrong in four, two in eight.
    fn nearest(&self, word: &str) -> Result<Option<String>, Storage> {
        let n_letters = word.chars().count();
        let most = match n_letters {
            0..4 => return Ok(None),
            4..8 => 1,
            _ => 2,
        };
        for n_kept in [2, 1] {
            let from: String = word.chars().take(n_kept).collect();
            let to = format!("{from}\u{10ffff}");
            let mut statement = self.connection.prepare_cached(
                "SELECT term, doc FROM temp.vocabulary WHERE ?1 <= term AND term < ?2 LIMIT ?3",
            )?;
            let mut rows = statement.query(params![from, to, COMPARED])?;
            let mut best: Option<(usize, u64, String)> = None;
            while let Some(row) = rows.next()? {
                let (term, n_pages): (String, u64) = (row.get(0)?, row.get(1)?);
                if most < term.chars().count().abs_diff(n_letters) {
                    continue;
                }
                let distance = strsim::osa_distance(word, &term);
                let is_better = best.as_ref().is_none_or(|(least, with, _)| {
                    distance < *least || (distance == *least && *with < n_pages)
                });
                if distance <= most && is_better {
                    best = Some((distance, n_pages, term));
                }
            }
            if let Some((_, _, term)) = best {
                return Ok(Some(term));
            }
        }
        Ok(None)
    }

    /// The words of a query that some pages have and not nearly all; common ones where there are
    /// no others.
    fn telling(&self, query: &Query, n_pages: u64) -> Result<Option<Query>, Storage> {
        let mut useless = BTreeSet::new();
        for part in query.taken_apart(|_| true).iter().flat_map(Query::parts) {
            let mut with = u64::MAX;
            for token in tokens(&part.words)? {
                with = with.min(self.n_pages(&token)?);
            }
            if n_pages / COMMON < with || with == 0 {
                useless.insert(part.words.clone());
            }
        }
        let is_telling = |part: &Part| part.is_beginning || !useless.contains(&part.words);
        Ok(query.taken_apart(is_telling).or_else(|| query.taken_apart(|_| true)))
    }
}

/// The words of a text as an index writes them.
fn tokens(text: &str) -> Result<Vec<String>, Storage> {
    let scratch = scratch()?;
    scratch.execute("INSERT INTO texts (title) VALUES (?1)", [text])?;
    scratch.execute_batch(
        "CREATE VIRTUAL TABLE temp.tokens USING fts5vocab ('main', 'texts', 'instance');",
    )?;
    let mut statement = scratch.prepare("SELECT term FROM temp.tokens ORDER BY offset")?;
    collect(statement.query([])?, |row| Ok(row.get(0)?))
}
