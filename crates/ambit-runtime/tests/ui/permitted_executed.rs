//! A permitted call is not executable before its start is on record.
use ambit_core::gate::PermittedCall;
use ambit_runtime::executor::CapabilityExecutor;

async fn unrecorded(executor: &dyn CapabilityExecutor, call: PermittedCall) {
    let _ = executor.execute(call).await;
}

fn main() {}
