//! `list_triggers`.

use ambit_core::observation::{Failure, Output};
use serde_json::{Value, json};

use super::{LOOKS, Triggers, show};
use crate::declare::object;
use crate::pack::Tool;

pub(super) const LIST: Tool<Triggers> = Tool {
    name: "list_triggers",
    title: "List triggers",
    description: "Your triggers: when each starts you next, what it tells you, and how its last \
        run ended. A run that was interrupted is not started again.",
    input: || object(&[], json!({})),
    run: list,
    ..LOOKS
};

fn list(triggers: &Triggers, _: Value) -> Result<Output, Failure> {
    let listed = triggers.read(|roster| {
        let own = roster.all(Some(&triggers.agent))?;
        own.into_iter()
            .map(|it| {
                let last = roster.history(Some(&it.id), 1)?.pop();
                Ok((it, last))
            })
            .collect::<Result<Vec<_>, _>>()
    })?;
    let now = (triggers.clock)();
    let mut lines: Vec<String> = listed
        .iter()
        .map(|(trigger, last)| show::line(trigger, last.as_ref(), now))
        .collect();
    if lines.is_empty() {
        lines.push("you have no triggers".to_owned());
    }
    let data: Vec<Value> = listed
        .iter()
        .map(|(trigger, last)| show::data(trigger, last.as_ref(), now))
        .collect();
    let text = format!("{}{}", lines.join("\n"), triggers.warning());
    Ok(Output::text(text).with_structured(json!({ "triggers": data })))
}
