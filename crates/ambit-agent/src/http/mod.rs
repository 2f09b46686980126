//! What both engines that speak HTTP have in common: one request, streamed, and sent again where
//! that can help.
//!
//! Nothing of a turn is acted on before its stream has come to its end, so a request that broke
//! off in the middle is sent again as a whole; the listener is told that the text starts over.
//! How a provider writes its events is each engine's [`Assembly`].

mod answer;
mod endpoint;
mod fault;
mod pause;
mod stream;

pub(crate) use answer::said;
pub(crate) use endpoint::Endpoint;
pub(crate) use fault::Fault;
#[cfg(test)]
pub(crate) use stream::assemble;
pub(crate) use stream::{Assembly, Flow};

/// The most of everything that is taken from a provider.
pub(crate) mod limits {
    /// Bytes of an answer that is no stream.
    pub(crate) const ERROR_BYTES: usize = 64 << 10;
    /// Bytes of a stream.
    pub(crate) const STREAM_BYTES: usize = 64 << 20;
    /// Bytes between two events.
    pub(crate) const EVENT_BYTES: usize = 8 << 20;
    /// Bytes of one call's arguments.
    pub(crate) const ARGUMENT_BYTES: usize = 4 << 20;
    /// Calls of one turn.
    pub(crate) const CALLS: usize = 128;
    /// Blocks of one turn, calls included.
    pub(crate) const BLOCKS: usize = 1024;
}

#[cfg(test)]
mod tests;
