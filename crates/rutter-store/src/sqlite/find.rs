//! Searches a full-text index. A query that no page matches is relaxed until pages match.
//!
//! Input: a [`SearchQuery`] and a [`SearchCorpus`]. Output: [`SearchResults`]. The first search is for
//! pages with all terms. If no page has them, unknown words are replaced by the most similar words
//! of the index. If still no page matches, pages with some of the terms are ranked by the number of
//! missing terms.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::columns::collect;
use crate::error::{PageLine, StorageError};
use crate::model::{MatchKind, SearchHit, SearchResults};
use crate::words::{QueryTerm, SearchQuery};

/// The FTS5 tokenizer, which ignores case and accents.
pub(super) const TOKENS: &str = "tokenize = 'unicode61 remove_diacritics 2'";
/// Number of words in a snippet.
const SNIPPET: u32 = 24;
/// Maximum number of pages with some of the terms that are ranked.
const CANDIDATES: usize = 100;
/// Maximum number of words of the index that an unknown word is compared with.
const COMPARED: u32 = 50_000;
/// A word that occurs in more than one third of the pages is ignored if the query has rarer words.
const COMMON: u64 = 3;

/// The pages of a full-text index.
pub(super) trait SearchCorpus {
    /// Returns the database connection that can read the index.
    fn connection(&self) -> &Connection;
    /// Returns the name of the FTS5 table of the index.
    fn index(&self) -> &'static str;
    /// Returns the approximate number of indexed pages.
    fn n_pages(&self) -> Result<u64, StorageError>;
    /// Returns the ids and ranks of at most `most` pages that match an FTS5 expression, best first.
    fn matching(&self, expression: &str, most: usize) -> Result<Vec<(i64, f64)>, StorageError>;
    /// Returns a page and its line; `None` if the page has no content.
    fn text(&self, id: i64) -> Result<Option<PageLine>, StorageError>;
}

/// Searches a corpus for at most `most` pages.
pub(super) fn find(
    corpus: &dyn SearchCorpus,
    query: &SearchQuery,
    most: usize,
) -> Result<SearchResults, StorageError> {
    let all = corpus.matching(&query.to_match(), most)?;
    if !all.is_empty() {
        let found = SearchResults { matched: MatchKind::All, ..SearchResults::default() };
        return fill(corpus, found, all, query, &query.to_match());
    }
    let vocabulary = Vocabulary::new(corpus)?;
    let corrections = vocabulary.corrections(query)?;
    let corrected = query.replace_terms(|part| corrections.get(&part.words).cloned());
    let found = SearchResults {
        corrections: corrections.into_iter().collect(),
        ..SearchResults::default()
    };
    if !found.corrections.is_empty() {
        let all = corpus.matching(&corrected.to_match(), most)?;
        if !all.is_empty() {
            let found = SearchResults { matched: MatchKind::Corrected, ..found };
            return fill(corpus, found, all, &corrected, &corrected.to_match());
        }
    }
    let Some(words) = vocabulary.selective_terms(&corrected, corpus.n_pages()?)? else {
        return Ok(SearchResults::default());
    };
    let some = corpus.matching(&words.to_match_any(), CANDIDATES)?;
    let apart = corrected.split_phrases(|_| true).unwrap_or(corrected);
    let found = SearchResults { matched: MatchKind::Some, ..found };
    let mut found = fill(corpus, found, some, &apart, &words.to_match_any())?;
    found
        .hits
        .sort_by(|a, b| a.missing.len().cmp(&b.missing.len()).then(a.rank.total_cmp(&b.rank)));
    found.hits.truncate(most);
    Ok(found)
}

/// Creates search hits from matching pages, each with a snippet and the missing terms. For that,
/// the texts of these pages are indexed in memory, with the tokenizer of the index.
fn fill(
    corpus: &dyn SearchCorpus,
    mut found: SearchResults,
    matches: Vec<(i64, f64)>,
    query: &SearchQuery,
    expression: &str,
) -> Result<SearchResults, StorageError> {
    let scratch = scratch()?;
    for (id, rank) in matches {
        match corpus.text(id)? {
            Some(Ok((page, line))) => {
                let (title, text) = super::search::texts(&line);
                scratch.execute(
                    "INSERT INTO texts (rowid, title, text) VALUES (?1, ?2, ?3)",
                    params![found.hits.len(), title, text],
                )?;
                found.hits.push(SearchHit {
                    page,
                    snippet: String::new(),
                    rank,
                    missing: Vec::new(),
                });
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
    if found.matched == MatchKind::Some {
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

pub(super) fn scratch() -> Result<Connection, StorageError> {
    let connection = Connection::open_in_memory()?;
    connection
        .execute_batch(&format!("CREATE VIRTUAL TABLE texts USING fts5 (title, text, {TOKENS})"))?;
    Ok(connection)
}

/// The words of a full-text index, with the number of pages of each.
struct Vocabulary<'c> {
    connection: &'c Connection,
}

impl<'c> Vocabulary<'c> {
    fn new(corpus: &'c dyn SearchCorpus) -> Result<Self, StorageError> {
        let (connection, index) = (corpus.connection(), corpus.index());
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary
                USING fts5vocab ('main', '{index}', 'row');"
        ))?;
        Ok(Self { connection })
    }

    /// Returns the number of pages that contain a token of the index.
    fn n_pages(&self, word: &str) -> Result<u64, StorageError> {
        let n_pages = self
            .connection
            .prepare_cached("SELECT doc FROM temp.vocabulary WHERE term = ?1")?
            .query_row([word], |row| row.get(0))
            .optional()?;
        Ok(n_pages.unwrap_or(0))
    }

    /// Returns, for each single word of the query that no page contains, the most similar word of
    /// the index.
    fn corrections(&self, query: &SearchQuery) -> Result<BTreeMap<String, String>, StorageError> {
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

    /// Returns the most similar word of the index with the same prefix. One letter may differ in
    /// words from four letters, two letters in words from eight.
    fn nearest(&self, word: &str) -> Result<Option<String>, StorageError> {
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

    /// Returns the prefixes of a query, and those of its words that occur in at most a third of the
    /// pages. If the query has neither, returns all of its words.
    fn selective_terms(
        &self,
        query: &SearchQuery,
        n_pages: u64,
    ) -> Result<Option<SearchQuery>, StorageError> {
        let mut useless = BTreeSet::new();
        for part in query.split_phrases(|_| true).iter().flat_map(SearchQuery::parts) {
            let mut with = u64::MAX;
            for token in tokens(&part.words)? {
                with = with.min(self.n_pages(&token)?);
            }
            if n_pages / COMMON < with || with == 0 {
                useless.insert(part.words.clone());
            }
        }
        let is_selective = |part: &QueryTerm| part.is_beginning || !useless.contains(&part.words);
        Ok(query.split_phrases(is_selective).or_else(|| query.split_phrases(|_| true)))
    }
}

/// Splits a text into tokens, as the index does.
fn tokens(text: &str) -> Result<Vec<String>, StorageError> {
    let scratch = scratch()?;
    scratch.execute("INSERT INTO texts (title) VALUES (?1)", [text])?;
    scratch.execute_batch(
        "CREATE VIRTUAL TABLE temp.tokens USING fts5vocab ('main', 'texts', 'instance');",
    )?;
    let mut statement = scratch.prepare("SELECT term FROM temp.tokens ORDER BY offset")?;
    collect(statement.query([])?, |row| Ok(row.get(0)?))
}
