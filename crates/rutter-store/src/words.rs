//! Search queries: words, phrases and prefixes of words.
//!
//! Input: text that a user typed. Output: an FTS5 expression in which every word is quoted, so that
//! no query causes a syntax error. Terms after the first [`SearchQuery::MOST_PARTS`] are ignored.

/// A search query: words, phrases and prefixes that a page must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    parts: Vec<QueryTerm>,
    is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) words: String,
    pub(crate) is_beginning: bool,
}

impl QueryTerm {
    /// Returns the term as an FTS5 expression.
    pub(crate) fn to_match(&self) -> String {
        // SQLite would end the text at a NUL, and a quotation mark would end the phrase.
        let words = self.words.replace(['"', '\0'], " ");
        format!("\"{words}\"{}", if self.is_beginning { "*" } else { "" })
    }
}

impl SearchQuery {
    /// Maximum number of terms; later terms are ignored.
    pub const MOST_PARTS: usize = 32;
    /// Maximum number of characters of a term; longer terms are truncated.
    pub const LONGEST_PART: usize = 200;
    /// Maximum number of bytes of a query that are read.
    const LONGEST_TEXT: usize = 64 << 10;

    /// Parses words, `"quoted phrases"` and prefixes (`begin*`). A repeated term is used once.
    /// Returns `None` if the text contains no term.
    ///
    /// ```
    /// # use rutter_store::SearchQuery;
    /// let query = SearchQuery::parse("tide \"slack water\" harb* Tide").unwrap();
    /// assert_eq!(query.to_match(), "\"tide\" \"slack water\" \"harb\"*");
    /// assert_eq!(SearchQuery::parse("  - \"\" "), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.floor_char_boundary(Self::LONGEST_TEXT);
        let is_long = end < text.len();
        let text = text.get(..end).unwrap_or_default();
        let mut parts = QueryTerms::default();
        // Between quotation marks, every second piece is a phrase.
        for (at, piece) in text.split('"').enumerate() {
            if at % 2 == 1 {
                parts.push(piece, false);
                continue;
            }
            for word in piece.split_whitespace() {
                let bare = word.trim_end_matches('*');
                parts.push(bare, bare != word);
            }
        }
        let QueryTerms { kept, is_cut } = parts;
        (!kept.is_empty()).then_some(Self { parts: kept, is_cut: is_cut || is_long })
    }

    /// Returns whether terms were ignored because the query had too many.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the FTS5 expression that matches all terms.
    pub fn to_match(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(QueryTerm::to_match).collect();
        parts.join(" ")
    }

    /// Returns the FTS5 expression that matches any term.
    pub(crate) fn to_match_any(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(QueryTerm::to_match).collect();
        parts.join(" OR ")
    }

    pub(crate) fn parts(&self) -> &[QueryTerm] {
        &self.parts
    }

    /// Splits phrases into words, and keeps only the words for which `is_wanted` returns `true`.
    pub(crate) fn split_phrases(&self, is_wanted: impl Fn(&QueryTerm) -> bool) -> Option<Self> {
        let mut parts = QueryTerms::default();
        for part in &self.parts {
            let mut words = part.words.split_whitespace().peekable();
            while let Some(word) = words.next() {
                parts.push(word, part.is_beginning && words.peek().is_none());
            }
        }
        let mut kept = parts.kept;
        kept.retain(is_wanted);
        (!kept.is_empty()).then_some(Self { parts: kept, is_cut: self.is_cut })
    }

    /// Returns the query, with each term replaced for which `by` returns another text.
    pub(crate) fn replace_terms(&self, by: impl Fn(&QueryTerm) -> Option<String>) -> Self {
        let parts = self.parts.iter().map(|part| match by(part) {
            Some(words) => QueryTerm { words, is_beginning: part.is_beginning },
            None => part.clone(),
        });
        Self { parts: parts.collect(), is_cut: self.is_cut }
    }
}

/// Collects distinct terms up to the maximum number.
#[derive(Default)]
struct QueryTerms {
    kept: Vec<QueryTerm>,
    is_cut: bool,
}

impl QueryTerms {
    fn push(&mut self, words: &str, is_beginning: bool) {
        // Text without a letter or digit has no token in the index.
        if !words.chars().any(char::is_alphanumeric) {
            return;
        }
        let words: String = words.chars().take(SearchQuery::LONGEST_PART).collect();
        let folded = words.to_lowercase();
        let is_known = self
            .kept
            .iter()
            .any(|part| part.is_beginning == is_beginning && part.words.to_lowercase() == folded);
        if is_known {
            return;
        }
        if self.kept.len() < SearchQuery::MOST_PARTS {
            self.kept.push(QueryTerm { words, is_beginning });
        } else {
            self.is_cut = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treats_operators_as_words() {
        let query = SearchQuery::parse("NOT (a OR b) NEAR title:x ^y").unwrap();
        assert_eq!(query.to_match(), "\"NOT\" \"(a\" \"OR\" \"b)\" \"NEAR\" \"title:x\" \"^y\"");
        assert_eq!(SearchQuery::parse("a\0b").unwrap().to_match(), "\"a b\"");
    }

    #[test]
    fn a_query_has_few_distinct_parts_however_long_it_is() {
        let query = SearchQuery::parse(&"tide ".repeat(2_000)).unwrap();
        assert_eq!((query.to_match().as_str(), query.is_cut()), ("\"tide\"", false));
        let many: Vec<String> = (0..2_000).map(|n| format!("w{n}")).collect();
        let query = SearchQuery::parse(&many.join(" ")).unwrap();
        assert_eq!((query.parts().len(), query.is_cut()), (SearchQuery::MOST_PARTS, true));
        let query = SearchQuery::parse(&format!("\"{}\"", "tide ".repeat(2_000))).unwrap();
        assert!(query.to_match().len() <= SearchQuery::LONGEST_PART + 2);
        let apart = query.split_phrases(|_| true).unwrap();
        assert_eq!(apart.to_match(), "\"tide\"");
        assert!(SearchQuery::parse(&"x".repeat(10 << 20)).is_some_and(|query| query.is_cut()));
    }
}
