//! Numbers, arguments and reasons in a few words.

use std::time::Duration;

use ambit_agent::runner::RunReport;
use ambit_core::id::Kind;
use ambit_core::printable::printable;
use ambit_core::run::RunEnd;
use ambit_core::visible::{Signal, VisibleEntry};
use ambit_core::wire::is_injection;
use ambit_runtime::turn::TurnReport;
use serde_json::Value;

use crate::cli::printer::{BOLD, DIM, GOOD, WARN, counted, fit, styled};

/// Arguments that say what a call is about.
const TELLING: [&str; 7] = ["path", "command", "query", "name", "uri", "url", "task"];
/// How much of a call's arguments is shown.
const ARGUMENTS: usize = 64;
/// How many new entries of a turn are named.
const NAMED: usize = 6;

/// `12,345`.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `3 ms`, `1.2 s`, `2 min 5 s`.
pub(super) fn time(duration: Duration) -> String {
    match duration.as_millis() {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..60_000 => format!("{:.1} s", ms as f64 / 1_000.0),
        ms => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// How far a call is.
pub(super) fn progress(progress: f64, total: Option<f64>, message: Option<&str>) -> String {
    let far = match total {
        Some(total) if total > 0.0 => format!("{:.0} %", progress / total * 100.0),
        _ => format!("{progress}"),
    };
    match message {
        Some(message) => format!("{far}, {}", printable(message)),
        None => far,
    }
}

/// What a call is called with, as far as a glance goes.
pub(super) fn arguments(arguments: &Value) -> String {
    let Some(map) = arguments.as_object() else {
        return String::new();
    };
    // What a call is about comes first, and says enough where it is there.
    let telling = TELLING.iter().find_map(|it| map.get(*it));
    let told: Vec<&Value> = telling.map_or_else(|| map.values().collect(), |it| vec![it]);
    let words: Vec<String> = told
        .into_iter()
        .map(|it| match it {
            Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Value::Array(items) => {
                let items = items.iter();
                let texts = items.map(|it| it.as_str().map_or(it.to_string(), str::to_owned));
                texts.collect::<Vec<_>>().join(" ")
            }
            other => other.to_string(),
        })
        .collect();
    styled(DIM, fit(&printable(&words.join(" · ")), ARGUMENTS))
}

/// What a turn made visible, and why.
pub(super) fn turn(turn: &TurnReport) -> Vec<String> {
    let tools = turn.visible.iter().filter(|it| it.id.kind() == Kind::Tool);
    let cost = format!(
        "{} visible, {} of {} tokens",
        counted(tools.count(), "tool", "tools"),
        number(turn.tokens.exposed.into()),
        number(turn.tokens.catalog.into()),
    );
    let head = format!(
        "{} {} {}",
        styled(GOOD, "●"),
        styled(BOLD, format!("turn {}", turn.turn)),
        styled(DIM, cost)
    );
    let name = |entry: &VisibleEntry| {
        let found = turn.visible.iter().find(|it| it.id == entry.id);
        match entry.id.kind() {
            Kind::Skill => format!("skill {}", entry.id.name()),
            _ => found.map_or_else(|| entry.id.to_string(), |it| it.name.clone()),
        }
    };
    // Those the runtime brings are always there.
    let added = turn.diff.added.iter().filter(|it| !is_injection(&it.id));
    // And these need no reason.
    let (at_hand, added): (Vec<&VisibleEntry>, Vec<&VisibleEntry>) =
        added.partition(|it| strongest(it) == Some(Signal::Base));
    let added: Vec<String> = added
        .into_iter()
        .map(|it| format!("{}{}", styled(GOOD, format!("+{}", name(it))), why(it)))
        .collect();
    let removed = turn.diff.removed.iter().map(|it| {
        let gone = styled(WARN, format!("-{}", it.id));
        match &it.why {
            Some(why) => format!("{gone} {}", styled(DIM, format!("({why})"))),
            None => gone,
        }
    });
    let mut changes: Vec<String> = added.into_iter().chain(removed).collect();
    let more = changes.len().saturating_sub(NAMED);
    if more > 0 {
        changes.truncate(NAMED);
        changes.push(styled(DIM, format!("and {more} more")));
    }
    if !at_hand.is_empty() {
        changes.push(styled(DIM, format!("{} at hand", at_hand.len())));
    }
    let mut lines = vec![head];
    if !changes.is_empty() {
        lines.push(format!("  {}", changes.join("  ")));
    }
    lines
}

/// The strongest thing that speaks for an entry.
fn strongest(entry: &VisibleEntry) -> Option<Signal> {
    let strongest = entry.reasons.iter().max_by_key(|it| it.weight);
    strongest.map(|it| it.signal)
}

/// The same in words.
fn why(entry: &VisibleEntry) -> String {
    let Some(strongest) = strongest(entry) else {
        return String::new();
    };
    let word = match strongest {
        Signal::Injected => "always there",
        Signal::Pinned => "pinned",
        Signal::Goal => "fits the task",
        Signal::Candidate => "found by search",
        Signal::Evidence => "mentioned by a result",
        Signal::Touched => "fits the files",
        Signal::Project => "fits the project",
        Signal::Called => "was called",
        Signal::Loaded => "was loaded",
        Signal::Stays => "was there",
        Signal::Base => "at hand",
        Signal::Failing => "failing",
    };
    format!(" {}", styled(DIM, format!("({word})")))
}

/// How it ended, and what it took.
pub(super) fn summary(report: &RunReport, took: Duration) -> Vec<String> {
    let style = match report.ended {
        RunEnd::Answered => GOOD,
        _ => WARN,
    };
    let calls = usize::try_from(report.calls).unwrap_or(usize::MAX);
    let turns = usize::try_from(report.turns).unwrap_or(usize::MAX);
    let mut lines = vec![format!(
        "{} {}, {}, {}",
        styled(style, format!("{}:", report.ended)),
        counted(turns, "turn", "turns"),
        counted(calls, "call", "calls"),
        time(took)
    )];
    let exposure = &report.exposure;
    let shown = exposure.shown.min(exposure.whole) * 100;
    if let Some(shown) = shown.checked_div(exposure.whole) {
        let less = 100 - shown;
        lines.push(styled(
            DIM,
            format!(
                "  {} tokens of tools were shown over all turns, {} with everything listed: {less} % less",
                number(exposure.shown),
                number(exposure.whole)
            ),
        ));
    }
    let usage = &report.usage;
    if usage.read() + usage.output > 0 {
        let cost = usage
            .cost
            .map_or(String::new(), |it| format!(", cost {it}"));
        lines.push(styled(
            DIM,
            format!(
                "  the model read {} tokens, {} of them cached, and wrote {}{cost}",
                number(usage.read()),
                number(usage.cached_input),
                number(usage.output)
            ),
        ));
    }
    let next = match report.ended {
        RunEnd::Answered => format!("ambit replay {}", report.session),
        _ => format!("ambit run --resume {}", report.session),
    };
    lines.push(styled(DIM, format!("  {next}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_short() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(number(n), text);
        }
        for (ms, text) in [(3, "3 ms"), (1_240, "1.2 s"), (125_000, "2 min 5 s")] {
            assert_eq!(time(Duration::from_millis(ms)), text);
        }
    }
}
