//! What somebody looks for: words, phrases and beginnings of words.
//!
//! The database has a language of its own for this; foreign text never
//! reaches it as such, so no query is a syntax error.

/// A query. All its parts must be in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    words: String,
    is_beginning: bool,
}

impl Query {
    /// Reads words, `"phrases in quotes"` and `begin*`; `None` where there is
    /// nothing to look for.
    ///
    /// ```
    /// # use rutter_store::Query;
    /// let query = Query::parse("tide \"slack water\" harb*").unwrap();
    /// assert_eq!(query.to_match(), "\"tide\" \"slack water\" \"harb\"*");
    /// assert_eq!(Query::parse("  - \"\" "), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        // Every second piece stood between quotes.
        for (at, piece) in text.split('"').enumerate() {
            if at % 2 == 1 {
                parts.push(Part { words: piece.to_owned(), is_beginning: false });
                continue;
            }
            for word in piece.split_whitespace() {
                let bare = word.trim_end_matches('*');
                parts.push(Part { words: bare.to_owned(), is_beginning: bare != word });
            }
        }
        // What has no letter or digit is no token to the database either.
        parts.retain(|part| part.words.chars().any(char::is_alphanumeric));
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// The query in the language of FTS5.
    pub fn to_match(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            if !out.is_empty() {
                out.push(' ');
            }
            // A NUL would end the text for the database.
            let words = part.words.replace(['"', '\0'], " ");
            out.push('"');
            out.push_str(&words);
            out.push('"');
            if part.is_beginning {
                out.push('*');
            }
        }
        out
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
}
