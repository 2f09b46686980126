//! Only recording a start makes a started call.
use ambit_runtime::executor::StartedCall;

fn main() {
    let _ = StartedCall {
        id: "local__files__write_file".parse().unwrap(),
        arguments: serde_json::Value::Null,
    };
}
