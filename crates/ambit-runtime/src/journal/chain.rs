//! What an event's hash covers: everything stored about it, and its predecessor's hash.

use ambit_core::digest::Digest;

/// An event as it is hashed. The body is the bytes as stored, so that checking never depends
/// on how JSON is written.
pub(super) struct Link<'a> {
    /// The hash before it in its session; [`Digest::ZERO`] for the first.
    pub(super) previous: &'a Digest,
    pub(super) seq: u64,
    pub(super) session: &'a str,
    /// Microseconds since 1970.
    pub(super) at: i64,
    pub(super) cause: Option<u64>,
    pub(super) kind: &'a str,
    pub(super) correlation: Option<&'a str>,
    pub(super) body: &'a str,
}

impl Link<'_> {
    pub(super) fn hash(&self) -> Digest {
        let seq = self.seq.to_le_bytes();
        let at = self.at.to_le_bytes();
        // No event has the number 0.
        let cause = self.cause.unwrap_or(0).to_le_bytes();
        let always = [
            self.previous.as_bytes().as_slice(),
            &seq,
            self.session.as_bytes(),
            &at,
            &cause,
            self.kind.as_bytes(),
            self.body.as_bytes(),
        ];
        let correlation = self.correlation.map(str::as_bytes);
        Digest::of_fields(always.into_iter().chain(correlation))
    }
}
