//! What is different between a task and the same task after: the words of its history. Made from
//! the two, so that no change can be kept without being told.

use super::task::{Resource, Step, Task};

/// How much of a text is quoted.
const QUOTED: usize = 200;

/// One line for each difference.
pub(super) fn between(before: &Task, after: &Task) -> Vec<String> {
    let mut lines = Vec::new();
    let mut differs = |what: &str, was: &str, is: &str| {
        if was != is {
            lines.push(format!("{what} was {}, now {}", quote(was), quote(is)));
        }
    };
    differs("title", &before.title, &after.title);
    differs("description", &before.description, &after.description);
    differs("owner", &before.owner.to_string(), &after.owner.to_string());
    differs("state", before.state.as_str(), after.state.as_str());
    if let Some(outcome) = after
        .outcome
        .as_ref()
        .filter(|_| before.outcome != after.outcome)
    {
        lines.push(format!("outcome: {}", quote(outcome)));
    }
    lines.extend(steps(&before.steps, &after.steps));
    lines.extend(resources(&before.resources, &after.resources));
    lines
}

fn steps(before: &[Step], after: &[Step]) -> Vec<String> {
    let mut lines = Vec::new();
    for step in after {
        let state = step.state.as_str();
        match before.iter().find(|it| it.text == step.text) {
            None => lines.push(format!("step added, {state}: {}", quote(&step.text))),
            Some(was) if was.state != step.state => lines.push(format!(
                "step {} was {}, now {state}",
                quote(&step.text),
                was.state.as_str()
            )),
            Some(_) => {}
        }
    }
    let gone = |it: &&Step| !after.iter().any(|step| step.text == it.text);
    let removed = before.iter().filter(gone);
    lines.extend(removed.map(|it| format!("step removed: {}", quote(&it.text))));
    if lines.is_empty() && before != after {
        lines.push("steps in another order".to_owned());
    }
    lines
}

fn resources(before: &[Resource], after: &[Resource]) -> Vec<String> {
    let added = after.iter().filter(|it| !before.contains(it));
    let gone = |it: &&Resource| !after.iter().any(|now| now.resource == it.resource);
    let removed = before.iter().filter(gone);
    let added = added.map(|it| match it.note.as_str() {
        "" => format!("resource {}", quote(&it.resource)),
        note => format!("resource {}: {}", quote(&it.resource), quote(note)),
    });
    let removed = removed.map(|it| format!("resource removed: {}", quote(&it.resource)));
    added.chain(removed).collect()
}

fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::state::State;
    use super::super::task::{Party, StepState};
    use super::*;

    fn step(text: &str, state: StepState) -> Step {
        Step {
            text: text.to_owned(),
            state,
        }
    }

    fn resource(resource: &str, note: &str) -> Resource {
        Resource {
            resource: resource.to_owned(),
            note: note.to_owned(),
        }
    }

    #[test]
    fn every_difference_is_told() {
        let before = Task {
            id: "t-a".to_owned(),
            parent: None,
            title: "old".to_owned(),
            description: String::new(),
            owner: Party::User,
            state: State::Open,
            steps: vec![step("a", StepState::Todo), step("b", StepState::Todo)],
            resources: vec![resource("x.md", ""), resource("y.md", "")],
            outcome: None,
            created_by: Party::User,
            created: Timestamp::UNIX_EPOCH,
            changed: Timestamp::UNIX_EPOCH,
            version: 1,
        };
        let mut after = before.clone();
        assert!(between(&before, &after).is_empty());
        after.steps.reverse();
        assert_eq!(between(&before, &after), ["steps in another order"]);
        after = Task {
            title: "new".to_owned(),
            description: "é".repeat(201),
            owner: Party::Agent("a".to_owned()),
            state: State::Done,
            steps: vec![step("b", StepState::Done), step("c", StepState::Doing)],
            resources: vec![resource("x.md", "why"), resource("z.md", "")],
            outcome: Some("fine".to_owned()),
            ..before.clone()
        };
        let long = format!("`{}…`", "é".repeat(200));
        assert_eq!(
            between(&before, &after),
            [
                "title was `old`, now `new`",
                &format!("description was ``, now {long}"),
                "owner was `user`, now `agent:a`",
                "state was `open`, now `done`",
                "outcome: `fine`",
                "step `b` was todo, now done",
                "step added, doing: `c`",
                "step removed: `a`",
                "resource `x.md`: `why`",
                "resource `z.md`",
                "resource removed: `y.md`",
            ]
        );
    }
}
