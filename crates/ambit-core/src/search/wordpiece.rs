//! The WordPiece vocabulary of a `tokenizer.json`: the longest known piece first.

use std::collections::HashMap;

use serde::Deserialize;

use super::static_model::ModelError;

/// Longer words are unknown, as the tokenizers themselves have it.
const MAX_WORD: usize = 100;

/// A vocabulary of word pieces.
#[derive(Debug)]
pub(crate) struct WordPiece {
    vocabulary: HashMap<String, u32>,
    /// What marks a piece that continues a word.
    prefix: String,
}

#[derive(Deserialize)]
struct File {
    model: Kind,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    // Other kinds have lists here; they are refused by kind, not by shape.
    vocab: serde_json::Value,
}

impl WordPiece {
    pub(crate) fn parse(json: &[u8]) -> Result<WordPiece, ModelError> {
        let file: File = serde_json::from_slice(json).map_err(ModelError::Tokenizer)?;
        if let Some(kind) = file.model.kind.filter(|it| it != "WordPiece") {
            return Err(ModelError::TokenizerKind(kind));
        }
        let vocabulary = HashMap::deserialize(file.model.vocab).map_err(ModelError::Tokenizer)?;
        let prefix = file.model.continuing_subword_prefix;
        Ok(WordPiece {
            vocabulary,
            prefix: prefix.unwrap_or_else(|| "##".to_owned()),
        })
    }

    /// The piece with the highest number.
    pub(crate) fn last(&self) -> Option<(&str, u32)> {
        let pieces = self.vocabulary.iter();
        let last = pieces.max_by_key(|(piece, number)| (**number, *piece))?;
        Some((last.0, *last.1))
    }

    /// Calls `each` with the pieces of a lower-case word. A word that is not wholly known has
    /// none: half a word means something else.
    pub(crate) fn split(&self, word: &str, each: &mut impl FnMut(u32)) {
        if word.len() > MAX_WORD {
            return;
        }
        let mut pieces = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let Some((piece, length)) = self.longest(rest, pieces.is_empty()) else {
                return;
            };
            pieces.push(piece);
            rest = rest.get(length..).unwrap_or_default();
        }
        pieces.into_iter().for_each(each);
    }

    /// The longest piece a text begins with.
    fn longest(&self, text: &str, is_first: bool) -> Option<(u32, usize)> {
        let starts = text.char_indices().skip(1).map(|(at, _)| at);
        let mut ends: Vec<usize> = starts.chain([text.len()]).collect();
        ends.reverse();
        let prefix = if is_first { "" } else { self.prefix.as_str() };
        let mut key = String::with_capacity(prefix.len() + text.len());
        ends.into_iter().find_map(|end| {
            key.clear();
            key.push_str(prefix);
            key.push_str(text.get(..end)?);
            Some((*self.vocabulary.get(&key)?, end))
        })
    }
}
