//! Every code a call can end with.

use ambit_core::code::Code;

use crate::cell;

const TOP: &str = "\
# Codes

How a call ends when it does not end well. One stable word serves the model, the operator and
programs: it is the `code` of `ambit call --json` and of `tool.observation` events.

| code | meaning |
| --- | --- |
";

pub(crate) fn reference() -> String {
    let mut text = TOP.to_owned();
    for code in Code::ALL {
        text.push_str(&format!(
            "| `{}` | {} |\n",
            code.as_str(),
            cell(code.meaning())
        ));
    }
    text
}
