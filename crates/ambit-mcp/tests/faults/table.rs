//! Every fault, and how a call of a server that has it ends. `examples/faulty_server.rs` acts
//! them out.

use ambit_core::code::Code;

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Well: the fault is one to get over.
    Completed,
    /// At its deadline, which is therefore a short one.
    AtDeadline,
    /// Before its deadline, with this code.
    Failed(Code),
}

use Ending::{AtDeadline, Completed, Failed};

impl Ending {
    /// What the journal says.
    pub(crate) fn code(self) -> Option<Code> {
        match self {
            Completed => None,
            AtDeadline => Some(Code::DeadlineExceeded),
            Failed(code) => Some(code),
        }
    }
}

pub(crate) const ENORMOUS: &str = "an enormous result";

pub(crate) const FAULTS: [(&str, Ending); 23] = [
    ("none", Completed),
    ("hangs", AtDeadline),
    ("ignores cancellation", AtDeadline),
    ("answers after cancellation", AtDeadline),
    ("crashes", Failed(Code::ProviderUnreachable)),
    ("leaves a child behind", Failed(Code::ProviderUnreachable)),
    ("hangs up and stays", Failed(Code::ProviderUnreachable)),
    ("floods", AtDeadline),
    ("floods with garbage", AtDeadline),
    ("floods with requests", AtDeadline),
    ("floods stderr", Completed),
    ("garbage first", Completed),
    ("garbage alone", AtDeadline),
    ("half a message", AtDeadline),
    (
        "half a message, then the end",
        Failed(Code::ProviderUnreachable),
    ),
    (ENORMOUS, Failed(Code::ProviderUnreachable)),
    ("wrong ids", AtDeadline),
    ("answers twice", Completed),
    ("lists without end", Failed(Code::ProviderUnreachable)),
    ("changes its tools", Failed(Code::Refused)),
    ("breaks its output schema", Failed(Code::OutputInvalid)),
    ("never answers initialize", AtDeadline),
    ("never lists", AtDeadline),
];
