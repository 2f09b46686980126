//! A static embedding model: one vector per word piece, a text the weighted mean of its own.
//!
//! Small and fast enough to run in the index, with no code of its own to run: a table. It is
//! read from bytes the caller has; nothing is ever fetched. Pieces are weighted by how rare
//! they are in the corpus, and stop words and punctuation are left out: without both, such
//! vectors say little.

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use super::embed::Embedder;
use super::safetensors::{self, Table};
use super::text::words;
use super::wordpiece::WordPiece;
use super::words::is_stop_word;

/// Why bytes are not a model.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The tokenizer is not JSON, or not of the expected shape.
    #[error("the tokenizer cannot be read")]
    Tokenizer(#[source] serde_json::Error),
    /// The tokenizer is of another kind.
    #[error("the tokenizer is `{0}`; only `WordPiece` is supported")]
    TokenizerKind(String),
    /// The tensors are cut short or their header is not what it should be.
    #[error("the tensors cannot be read: {0}")]
    Tensors(String),
    /// There is no table of embeddings.
    #[error("no tensor `embeddings`; there is {0}")]
    NoEmbeddings(String),
    /// A piece has no row.
    #[error("piece `{piece}` is number {number}, but there are only {rows} vectors")]
    TooFewRows {
        /// The piece.
        piece: String,
        /// Its number in the vocabulary.
        number: u32,
        /// Rows of the table.
        rows: usize,
    },
}

/// A static embedding model.
#[derive(Debug)]
pub struct StaticModel {
    pieces: WordPiece,
    table: Table,
    /// What a piece is worth; pieces the corpus does not have are worth the most.
    weights: HashMap<u32, f32>,
    unseen: f32,
}

impl StaticModel {
    /// Reads a model from its `tokenizer.json` and `model.safetensors`.
    pub fn from_parts(tokenizer_json: &[u8], safetensors: &[u8]) -> Result<Self, ModelError> {
        let pieces = WordPiece::parse(tokenizer_json)?;
        let table = safetensors::embeddings(safetensors)?;
        if let Some((piece, number)) = pieces.last()
            && number as usize >= table.rows()
        {
            return Err(ModelError::TooFewRows {
                piece: piece.to_owned(),
                number,
                rows: table.rows(),
            });
        }
        Ok(StaticModel {
            pieces,
            table,
            weights: HashMap::new(),
            unseen: 1.0,
        })
    }

    /// The same model, weighing each piece by how rare it is among these texts.
    #[must_use]
    pub fn weighted_by<T: AsRef<str>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        let mut all = 0_u32;
        for text in texts {
            all = all.saturating_add(1);
            let mut seen = HashSet::new();
            self.each_piece(text.as_ref(), |piece| {
                seen.insert(piece);
            });
            for piece in seen {
                *counts.entry(piece).or_default() += 1;
            }
        }
        let rarity = |count: u32| (1.0 + all as f32 / (count as f32 + 1.0)).ln();
        self.unseen = rarity(0);
        self.weights = counts
            .into_iter()
            .map(|(piece, n)| (piece, rarity(n)))
            .collect();
        self
    }

    fn each_piece(&self, text: &str, mut each: impl FnMut(u32)) {
        // Joined forms are for exact words; here the parts carry the meaning.
        words(text, |word, shape| {
            if shape == super::text::Shape::Part && !is_stop_word(word) {
                self.pieces.split(word, &mut each);
            }
        });
    }
}

impl Embedder for StaticModel {
    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0; self.table.width()];
        let mut total = 0.0;
        self.each_piece(text, |piece| {
            let weight = self.weights.get(&piece).copied().unwrap_or(self.unseen);
            for (to, from) in sum.iter_mut().zip(self.table.row(piece)) {
                *to += weight * from;
            }
            total += weight;
        });
        if total <= 0.0 {
            return None;
        }
        for it in &mut sum {
            *it /= total;
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENIZER: &str = r###"{"model": {"type": "WordPiece", "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "vocab": {"[UNK]": 0, "rain": 1, "##fall": 2, "money": 3, "weather": 4}}}"###;

    fn file(dtype: &str, shape: [usize; 2], data: &[u8]) -> Vec<u8> {
        let header = format!(
            r#"{{"__metadata__":{{"a":"b"}},"embeddings":{{"dtype":"{dtype}","shape":[{},{}],"data_offsets":[0,{}]}}}}"#,
            shape[0],
            shape[1],
            data.len()
        );
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(data);
        file
    }

    fn model() -> StaticModel {
        let rows: [f32; 10] = [0.0, 0.0, 1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 0.9, 0.1];
        let data: Vec<u8> = rows.iter().flat_map(|it| it.to_le_bytes()).collect();
        StaticModel::from_parts(TOKENIZER.as_bytes(), &file("F32", [5, 2], &data)).unwrap()
    }

    #[test]
    fn a_text_is_the_mean_of_its_pieces() {
        let model = model();
        assert_eq!(model.embed("the Rain!"), Some(vec![1.0, 0.0]));
        assert_eq!(model.embed("rainfall"), Some(vec![0.75, 0.25]));
        assert_eq!(model.embed("rain money"), Some(vec![0.5, 0.5]));
        assert_eq!(model.embed("the of, unknown"), None);
        assert_eq!(model.embed(""), None);
    }

    #[test]
    fn common_pieces_weigh_less() {
        let model = model().weighted_by(["rain", "rain", "rain money"]);
        let vector = model.embed("rain money").unwrap();
        assert!(vector[0] < vector[1], "{vector:?}");
    }

    #[test]
    fn all_number_types_are_read() {
        for (dtype, data) in [
            ("F16", vec![0x00, 0x3c, 0x00, 0x38]),
            ("I8", vec![2, 1]),
            (
                "F32",
                [1.0_f32, 0.5]
                    .iter()
                    .flat_map(|it| it.to_le_bytes())
                    .collect(),
            ),
            ("BF16", vec![0x80, 0x3f, 0x00, 0x3f]),
        ] {
            let table = safetensors::embeddings(&file(dtype, [1, 2], &data)).unwrap();
            let row: Vec<f32> = table.row(0).to_vec();
            assert_eq!(row[0], row[1] * 2.0, "{dtype}");
        }
    }

    #[test]
    fn what_is_not_a_model_is_refused() {
        let good = file("I8", [5, 1], &[0; 5]);
        let check = |tokenizer: &str, tensors: &[u8], says: &str| {
            let error = StaticModel::from_parts(tokenizer.as_bytes(), tensors).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        };
        check("{", &good, "tokenizer cannot be read");
        check(r#"{"model": {"type": "BPE", "vocab": {}}}"#, &good, "`BPE`");
        check(TOKENIZER, &[], "tensors cannot be read");
        check(TOKENIZER, &[255; 8], "tensors cannot be read");
        check(TOKENIZER, &good[..good.len() - 1], "tensors cannot be read");
        check(
            TOKENIZER,
            &file("I8", [5, 2], &[0; 5]),
            "tensors cannot be read",
        );
        check(TOKENIZER, &file("Q4", [5, 1], &[0; 5]), "`Q4`");
        check(
            TOKENIZER,
            &file("I8", [usize::MAX, 2], &[0; 5]),
            "tensors cannot be read",
        );
        check(TOKENIZER, &file("I8", [2, 1], &[0; 2]), "only 2 vectors");
        let other = String::from_utf8(good.clone())
            .unwrap()
            .replace("embeddings", "embeddingz");
        check(TOKENIZER, other.as_bytes(), "`embeddingz`");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(tensors in proptest::collection::vec(0_u8.., 0..200), tokenizer in ".{0,50}") {
            let _ = StaticModel::from_parts(tokenizer.as_bytes(), &tensors);
            let _ = StaticModel::from_parts(TOKENIZER.as_bytes(), &tensors);
        }
    }
}
