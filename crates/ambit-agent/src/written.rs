//! Calls as they are being written: pieces of arguments, until a call is whole.

use crate::engine::{Listener, ModelNews};
use crate::http::{Fault, limits};
use crate::message::{Arguments, ToolCall};

/// A call whose arguments are still coming.
#[derive(Debug, Default)]
pub(crate) struct WrittenCall {
    pub(crate) id: String,
    pub(crate) name: String,
    arguments: String,
}

impl WrittenCall {
    /// A call that begins.
    pub(crate) fn begun(id: &str, name: &str, listener: &dyn Listener) -> Self {
        if !name.is_empty() {
            listener.hear(ModelNews::Calling(name));
        }
        WrittenCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
        }
    }

    /// More of its arguments.
    pub(crate) fn push(&mut self, piece: &str) -> Result<(), Fault> {
        let limit = limits::ARGUMENT_BYTES;
        if self.arguments.len() + piece.len() > limit {
            return Err(Fault::TooLarge {
                what: "what a call is made with",
                limit,
            });
        }
        self.arguments.push_str(piece);
        Ok(())
    }

    /// Whether nothing of its arguments has come.
    pub(crate) fn is_bare(&self) -> bool {
        self.arguments.is_empty()
    }

    /// The whole call. One that was given no id gets one by its place.
    pub(crate) fn whole(self, place: usize) -> ToolCall {
        ToolCall {
            id: match self.id.is_empty() {
                true => format!("call_{}", place + 1),
                false => self.id,
            },
            name: self.name,
            arguments: Arguments::read(&self.arguments),
        }
    }
}

/// Refuses one more than there may be.
pub(crate) fn room_for_one_more(
    count: usize,
    what: &'static str,
    limit: usize,
) -> Result<(), Fault> {
    match count < limit {
        true => Ok(()),
        false => Err(Fault::TooLarge { what, limit }),
    }
}
