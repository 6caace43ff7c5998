//! Search queries: words, phrases and prefixes of words.
//!
//! Input: text that a person typed, or a whole sentence. Output: an FTS5 expression in which every
//! word is quoted, so no query is a syntax error and none costs more than [`Query::MOST_PARTS`] terms.

/// A query: a page must have all of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    parts: Vec<Part>,
    is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) words: String,
    pub(crate) is_beginning: bool,
}

impl Part {
    /// The part in the language of FTS5.
    pub(crate) fn to_match(&self) -> String {
        // A NUL would end the text for the database.
        let words = self.words.replace(['"', '\0'], " ");
        format!("\"{words}\"{}", if self.is_beginning { "*" } else { "" })
    }
}

impl Query {
    /// Most parts of a query; later ones are ignored.
    pub const MOST_PARTS: usize = 32;
    /// Most characters of a part; a longer one is cut.
    pub const LONGEST_PART: usize = 200;
    /// Most bytes of a text that are read.
    const LONGEST_TEXT: usize = 64 << 10;

    /// Reads words, `"phrases in quotes"` and `begin*`; `None` where there is
    /// nothing to look for. Words that are repeated count once.
    ///
    /// ```
    /// # use rutter_store::Query;
    /// let query = Query::parse("tide \"slack water\" harb* Tide").unwrap();
    /// assert_eq!(query.to_match(), "\"tide\" \"slack water\" \"harb\"*");
    /// assert_eq!(Query::parse("  - \"\" "), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.floor_char_boundary(Self::LONGEST_TEXT);
        let is_long = end < text.len();
        let text = text.get(..end).unwrap_or_default();
        let mut parts = Parts::default();
        // Every second piece stood between quotes.
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
        let Parts { kept, is_cut } = parts;
        (!kept.is_empty()).then_some(Self { parts: kept, is_cut: is_cut || is_long })
    }

    /// Whether words were ignored because there were too many of them.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The query in the language of FTS5: all parts.
    pub fn to_match(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Part::to_match).collect();
        parts.join(" ")
    }

    /// The query in the language of FTS5: any of its parts.
    pub(crate) fn to_match_any(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Part::to_match).collect();
        parts.join(" OR ")
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The same query with each phrase taken apart, and only the parts that are wanted.
    pub(crate) fn taken_apart(&self, is_wanted: impl Fn(&Part) -> bool) -> Option<Self> {
        let mut parts = Parts::default();
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

    /// The same query with some words replaced.
    pub(crate) fn replaced(&self, by: impl Fn(&Part) -> Option<String>) -> Self {
        let parts = self.parts.iter().map(|part| match by(part) {
            Some(words) => Part { words, is_beginning: part.is_beginning },
            None => part.clone(),
        });
        Self { parts: parts.collect(), is_cut: self.is_cut }
    }
}

/// Distinct parts, up to a number.
#[derive(Default)]
struct Parts {
    kept: Vec<Part>,
    is_cut: bool,
}

impl Parts {
    fn push(&mut self, words: &str, is_beginning: bool) {
        // What has no letter or digit is no token to the database either.
        if !words.chars().any(char::is_alphanumeric) {
            return;
        }
        let words: String = words.chars().take(Query::LONGEST_PART).collect();
        let folded = words.to_lowercase();
        let is_known = self
            .kept
            .iter()
            .any(|part| part.is_beginning == is_beginning && part.words.to_lowercase() == folded);
        if is_known {
            return;
        }
        if self.kept.len() < Query::MOST_PARTS {
            self.kept.push(Part { words, is_beginning });
        } else {
            self.is_cut = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_operators_are_words() {
        let query = Query::parse("NOT (a OR b) NEAR title:x ^y").unwrap();
        assert_eq!(query.to_match(), "\"NOT\" \"(a\" \"OR\" \"b)\" \"NEAR\" \"title:x\" \"^y\"");
        assert_eq!(Query::parse("a\0b").unwrap().to_match(), "\"a b\"");
    }

    #[test]
    fn a_query_has_few_distinct_parts_however_long_it_is() {
        let query = Query::parse(&"tide ".repeat(2_000)).unwrap();
        assert_eq!((query.to_match().as_str(), query.is_cut()), ("\"tide\"", false));
        let many: Vec<String> = (0..2_000).map(|n| format!("w{n}")).collect();
        let query = Query::parse(&many.join(" ")).unwrap();
        assert_eq!((query.parts().len(), query.is_cut()), (Query::MOST_PARTS, true));
        let query = Query::parse(&format!("\"{}\"", "tide ".repeat(2_000))).unwrap();
        assert!(query.to_match().len() <= Query::LONGEST_PART + 2);
        let apart = query.taken_apart(|_| true).unwrap();
        assert_eq!(apart.to_match(), "\"tide\"");
        assert!(Query::parse(&"x".repeat(10 << 20)).is_some_and(|query| query.is_cut()));
    }
}
