//! Only the gate makes a permitted call.
use ambit_core::gate::PermittedCall;
use ambit_core::intent::ValidatedIntent;
use ambit_core::permission::AllowReason;

fn around(validated: ValidatedIntent) -> PermittedCall {
    PermittedCall {
        digest: ambit_core::digest::Digest::ZERO,
        reason: AllowReason::Mode,
        validated,
    }
}

fn main() {}
