//! Search: which capabilities answer a request, best first, and why.
//!
//! Gate first, rank second: what does not pass the caller's [`Gate`] is never scored, so it is
//! not found even by its exact name. Then field-weighted BM25 over texts split and stemmed
//! alike, half the best clause of a request with several needs, and words that
//! stand side by side both in the request and in the text. With an [`Embedder`] the meaning
//! of the whole joins in. Order is total: score, then id; scores are integers throughout.
//!
//! Pure: an index is a value, built from documents and never changed.

mod best_clause;
mod board;
mod clause;
mod document;
mod embed;
pub mod evaluate;
mod exact;
mod field;
mod fuse;
mod gate;
mod hint;
mod hit;
mod index;
mod invert;
pub mod labelled;
mod near;
mod phrase;
mod query;
mod rank;
mod safetensors;
mod segment;
mod static_model;
mod text;
mod why;
mod wordpiece;
mod words;

pub use document::{Parameter, SearchDocument};
pub use embed::Embedder;
pub use field::{Field, FieldSet};
pub use gate::Gate;
pub use hit::{Hit, MatchReason, Score};
pub use index::SearchIndex;
pub use query::SearchRequest;
pub use static_model::{ModelError, StaticModel};

#[cfg(test)]
mod tests;
