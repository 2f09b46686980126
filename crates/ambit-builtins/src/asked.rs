//! What somebody asks for, as queries of SQLite's full-text index.
//!
//! A model writes sentences, quotes and operators as it pleases. Only the words of it are used,
//! each quoted, so no text is a malformed query and none has a meaning of its own.

/// Words that say nothing about what is looked for.
const EMPTY_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for",
    "from", "had", "has", "have", "how", "i", "in", "is", "it", "its", "me", "my", "of", "on",
    "or", "our", "that", "the", "their", "there", "they", "this", "to", "was", "we", "were",
    "what", "when", "where", "which", "who", "why", "will", "with", "you", "your",
];

/// As many words as are looked for; a longer request is a text, not a question.
const MOST_WORDS: usize = 32;

/// The words of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    words: Vec<String>,
}

impl Asked {
    pub(crate) fn of(request: &str) -> Self {
        let mut all: Vec<String> = Vec::new();
        let words = request.split(|it: char| !it.is_alphanumeric());
        for word in words.filter(|it| !it.is_empty()) {
            let word = word.to_lowercase();
            if !all.contains(&word) {
                all.push(word);
            }
            if all.len() == MOST_WORDS {
                break;
            }
        }
        let telling = |it: &&String| !EMPTY_WORDS.contains(&it.as_str());
        let words: Vec<String> = all.iter().filter(telling).cloned().collect();
        Asked {
            // "The Who" is better looked for as it is than not at all.
            words: if words.is_empty() { all } else { words },
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words, as they are looked for.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Queries, the narrowest first: all of the words, any of them, words that begin like them.
    pub(crate) fn queries(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let quoted = |suffix: &str| -> Vec<String> {
            let words = self.words.iter();
            words.map(|it| format!("\"{it}\"{suffix}")).collect()
        };
        let mut queries = vec![quoted("").join(" AND ")];
        if self.words.len() > 1 {
            queries.push(quoted("").join(" OR "));
        }
        queries.push(quoted("*").join(" OR "));
        queries
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn requests_become_words() {
        for (request, words) in [
            ("what is the database password?", "database password"),
            ("Database DATABASE database", "database"),
            (
                "port AND (NOT host) NEAR(a b) col:x -y \"z",
                "port not host near b col x y z",
            ),
            ("the who", "the who"),
            ("Größe 東京", "größe 東京"),
            ("  ?!*\"' ", ""),
        ] {
            assert_eq!(Asked::of(request).words().join(" "), words, "{request}");
        }
        assert_eq!(Asked::of(&"x1 y2 ".repeat(99)).words().len(), 2);
    }

    proptest! {
        #[test]
        fn no_request_is_a_malformed_query(request in "\\PC{0,40}|[a-z\"*():^+ -]{0,40}|[\\x00-\\x7f]{0,20}") {
            let index = Connection::open_in_memory().unwrap();
            index.execute_batch("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')").unwrap();
            for query in Asked::of(&request).queries() {
                let found = index.query_row("SELECT count(*) FROM t WHERE t MATCH ?1", [&query], |it| it.get::<_, i64>(0));
                prop_assert_eq!(found.map_err(|it| it.to_string()), Ok(0), "{}", query);
            }
        }
    }
}
