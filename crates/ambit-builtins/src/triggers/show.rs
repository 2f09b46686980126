//! Triggers and runs as text and as data.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::trigger::{Run, Trigger};

/// How much of a prompt a line quotes.
const QUOTED: usize = 80;

/// When it is due next, if it is by the clock.
fn next(trigger: &Trigger, now: Timestamp) -> Option<Timestamp> {
    let next = || trigger.schedule.next_after(trigger.anchor, now);
    (!trigger.paused).then(next).flatten()
}

/// `g-k3j9x2ab  cron `0 9 * * *` in UTC, next 2026-01-01T09:00:00Z, last done …: prompt`.
pub(super) fn line(trigger: &Trigger, last: Option<&Run>, now: Timestamp) -> String {
    let next = match (trigger.paused, next(trigger, now)) {
        (true, _) => ", paused".to_owned(),
        (false, Some(next)) => format!(", next {next}"),
        (false, None) => String::new(),
    };
    let last = match last {
        Some(run) => format!(", last {} ({})", run.state, run.due),
        None => ", never run".to_owned(),
    };
    let prompt: String = trigger.prompt.chars().take(QUOTED).collect();
    let prompt = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}  {}{next}{last}: {prompt}", trigger.id, trigger.schedule)
}

/// Everything about a trigger but its token.
pub(super) fn data(trigger: &Trigger, last: Option<&Run>, now: Timestamp) -> Value {
    let (kind, written, timezone) = trigger.schedule.kept();
    json!({
        "id": trigger.id,
        "owner": trigger.owner,
        "kind": kind,
        "when": written,
        "timezone": timezone,
        "prompt": trigger.prompt,
        "missed": trigger.missed.to_string(),
        "paused": trigger.paused,
        "created": trigger.created.to_string(),
        "next": next(trigger, now).map(|it| it.to_string()),
        "lastRun": last.map(run),
    })
}

/// One run.
pub(super) fn run(it: &Run) -> Value {
    json!({
        "trigger": it.trigger,
        "due": it.due.to_string(),
        "reason": it.reason.as_str(),
        "state": it.state.as_str(),
        "missed": it.missed,
        "begun": it.begun.map(|it| it.to_string()),
        "ended": it.ended.map(|it| it.to_string()),
        "said": it.said,
    })
}

/// `2026-01-01T09:00:00Z  g-k3j9x2ab  done (due): what it said`.
pub(super) fn run_line(it: &Run) -> String {
    let missed = match it.missed {
        0 => String::new(),
        missed => format!(", for {missed} missed"),
    };
    let said: String = it
        .said
        .iter()
        .flat_map(|it| it.chars().take(QUOTED))
        .collect();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = if said.is_empty() {
        said
    } else {
        format!(": {said}")
    };
    format!(
        "{}  {}  {} ({}{missed}){said}",
        it.due,
        it.trigger,
        it.state,
        it.reason.as_str()
    )
}
