//! One start, one call.
use ambit_runtime::executor::StartedCall;

fn twice(call: &StartedCall) -> (StartedCall, StartedCall) {
    (StartedCall::clone(call), StartedCall::clone(call))
}

fn main() {}
