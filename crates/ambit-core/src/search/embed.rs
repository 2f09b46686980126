//! Meaning: the port that turns text into vectors, and how they are kept and compared.

use super::document::SearchDocument;

/// Turns text into a vector whose direction is its meaning.
///
/// Must be a pure function of the text: the same text gives the same vector, always of the
/// same length. `None` where there is nothing to say of the text.
pub trait Embedder: Send + Sync {
    /// The vector of a text.
    fn embed(&self, text: &str) -> Option<Vec<f32>>;
}

/// One byte per dimension, in the direction of the vector it stands for.
type Quantised = Box<[i8]>;

/// The vectors of a segment's documents, in their order.
#[derive(Debug)]
pub(crate) struct Vectors(Vec<Option<Quantised>>);

impl Vectors {
    pub(crate) fn of(embedder: &dyn Embedder, documents: &[SearchDocument]) -> Vectors {
        let texts = documents.iter().map(SearchDocument::own_words);
        Vectors(texts.map(|it| quantised(embedder, &it)).collect())
    }

    /// The vector of each document, where it has one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&[i8]>> {
        self.0.iter().map(Option::as_deref)
    }
}

/// The direction of a text, as bytes; integers from here on.
pub(crate) fn quantised(embedder: &dyn Embedder, text: &str) -> Option<Quantised> {
    let vector = embedder.embed(text)?;
    let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
    let usable = length.is_finite() && length > 0.0;
    usable.then(|| {
        vector
            .iter()
            .map(|it| (it / length * 127.0).round() as i8)
            .collect()
    })
}

/// How near two directions are.
pub(crate) fn nearness(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| i32::from(*a) * i32::from(*b))
        .sum()
}
