//! Executing a started call spends it.
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};

async fn twice(executor: &dyn CapabilityExecutor, call: StartedCall) {
    let _ = executor.execute(call).await;
    let _ = executor.execute(call).await;
}

fn main() {}
