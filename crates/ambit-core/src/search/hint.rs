//! The server a request expects its answer from: preferred, not required.

use super::text::{Analyzer, Term};

/// A server's name as a request gives it, in the two ways it can be read: its parts, and as
/// one word, since `GitHub` may be `github` or `git-hub` to the server.
#[derive(Debug, Default)]
pub(crate) struct ServerHint([Box<[Term]>; 2]);

impl ServerHint {
    pub(crate) fn new(analyzer: &mut Analyzer, text: &str) -> ServerHint {
        let parts = super::segment::distinct_terms(analyzer, text);
        let lower = super::segment::distinct_terms(analyzer, &text.to_lowercase());
        ServerHint([parts, lower])
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|it| it.is_empty())
    }

    /// What belonging to a server with this name adds to the rest of a score: up to half, as
    /// far as the name has the words of the hint.
    pub(crate) fn share(&self, pack: &[Term], rest: u32) -> u32 {
        let shares = self.0.iter().filter(|it| !it.is_empty()).map(|words| {
            let shared = words.iter().filter(|it| pack.binary_search(it).is_ok());
            let shared = shared.count() as u64 * u64::from(rest / 2);
            (shared / words.len() as u64) as u32
        });
        shares.max().unwrap_or_default()
    }

    /// The most it can add.
    pub(crate) fn most(&self, rest: u32) -> u32 {
        if self.is_empty() { 0 } else { rest / 2 }
    }
}
