//! What is counted, in Prometheus' text format. By hand: it is a page of numbers with few labels,
//! and none of them comes from a client.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ambit_core::observation::Observation;

/// Upper bounds of the buckets of a call's duration, in seconds.
const BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0,
];

/// How calls end.
const OUTCOMES: [&str; 3] = ["completed", "denied", "failed"];

/// Calls by how they ended and how long they took.
#[derive(Default)]
pub(crate) struct CallCounts {
    outcomes: [AtomicU64; OUTCOMES.len()],
    /// One more than there are bounds: what is beyond the last.
    buckets: [AtomicU64; BUCKETS.len() + 1],
    microseconds: AtomicU64,
}

impl CallCounts {
    /// Counts one that has ended.
    pub(crate) fn ended(&self, observation: &Observation, took: Duration) {
        let outcome = OUTCOMES.iter().position(|it| *it == observation.status());
        let seconds = took.as_secs_f64();
        let bucket = BUCKETS.partition_point(|bound| *bound < seconds);
        let outcome = outcome.and_then(|it| self.outcomes.get(it));
        for counter in outcome.into_iter().chain(self.buckets.get(bucket)) {
            counter.fetch_add(1, Relaxed);
        }
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Relaxed);
    }
}

/// Requests by how they were answered.
#[derive(Default)]
pub(crate) struct RequestCounts {
    pub(crate) served: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) turned_away: AtomicU64,
}

/// What there is at the moment.
pub(crate) struct Now {
    pub(crate) connections: usize,
    pub(crate) sessions: usize,
    /// Those of the turn API that are in memory.
    pub(crate) turn_sessions: usize,
    pub(crate) running: usize,
    pub(crate) generation: u64,
    /// Servers behind, and where each stands.
    pub(crate) upstreams: Vec<(String, &'static str)>,
}

/// The page.
pub(crate) fn render(calls: &CallCounts, requests: &RequestCounts, now: &Now) -> String {
    let mut page = Page(String::new());
    page.family("ambit_calls_total", "counter", "Calls by how they ended.");
    for (outcome, count) in OUTCOMES.iter().zip(&calls.outcomes) {
        page.line(
            "ambit_calls_total",
            &[("outcome", outcome)],
            count.load(Relaxed),
        );
    }
    let name = "ambit_call_duration_seconds";
    page.family(name, "histogram", "How long calls took.");
    let mut below = 0;
    let bounds = BUCKETS
        .iter()
        .map(ToString::to_string)
        .chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(&calls.buckets) {
        below += count.load(Relaxed);
        page.line(&format!("{name}_bucket"), &[("le", &bound)], below);
    }
    let seconds = Duration::from_micros(calls.microseconds.load(Relaxed)).as_secs_f64();
    page.line(&format!("{name}_sum"), &[], seconds);
    page.line(&format!("{name}_count"), &[], below);
    let name = "ambit_http_requests_total";
    page.family(name, "counter", "Requests by how they were answered.");
    for (answer, count) in [
        ("served", &requests.served),
        ("refused", &requests.refused),
        ("turned_away", &requests.turned_away),
    ] {
        page.line(name, &[("answer", answer)], count.load(Relaxed));
    }
    for (name, help, value) in [
        (
            "ambit_http_connections",
            "Open connections.",
            now.connections as u64,
        ),
        (
            "ambit_sessions",
            "Sessions of clients.",
            now.sessions as u64,
        ),
        (
            "ambit_turn_sessions",
            "Sessions of the turn API in memory.",
            now.turn_sessions as u64,
        ),
        (
            "ambit_requests_running",
            "Requests at work.",
            now.running as u64,
        ),
        (
            "ambit_config_generation",
            "How often the configuration was taken in.",
            now.generation,
        ),
    ] {
        page.family(name, "gauge", help);
        page.line(name, &[], value);
    }
    let name = "ambit_upstream_state";
    page.family(name, "gauge", "Where each server behind stands.");
    for (server, state) in &now.upstreams {
        page.line(name, &[("server", server), ("state", state)], 1);
    }
    page.0
}

struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Labels are names of agents and servers, checked where they are read, and words from here.
    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, it)| format!("{key}=\"{it}\""))
            .collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ambit_core::observation::Failure;

    #[test]
    fn counts_add_up() {
        let calls = CallCounts::default();
        let failed = Observation::Failed(Failure::provider(""));
        for milliseconds in [1, 2, 40, 200_000] {
            calls.ended(&failed, Duration::from_millis(milliseconds));
        }
        let now = Now {
            connections: 3,
            sessions: 2,
            turn_sessions: 4,
            running: 1,
            generation: 1,
            upstreams: vec![("memory".to_owned(), "connected")],
        };
        let page = render(&calls, &RequestCounts::default(), &now);
        for line in [
            "ambit_calls_total{outcome=\"failed\"} 4",
            "ambit_calls_total{outcome=\"completed\"} 0",
            "ambit_call_duration_seconds_bucket{le=\"0.001\"} 1",
            "ambit_call_duration_seconds_bucket{le=\"0.05\"} 3",
            "ambit_call_duration_seconds_bucket{le=\"120\"} 3",
            "ambit_call_duration_seconds_bucket{le=\"+Inf\"} 4",
            "ambit_call_duration_seconds_sum 200.043",
            "ambit_call_duration_seconds_count 4",
            "ambit_http_connections 3",
            "ambit_upstream_state{server=\"memory\",state=\"connected\"} 1",
        ] {
            assert!(page.lines().any(|it| it == line), "{line}\n{page}");
        }
    }
}
