//! What was measured, as a table for a person or JSON for a program.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

/// One measured number, with what it is to be compared to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Figure {
    pub(crate) bench: &'static str,
    pub(crate) case: String,
    pub(crate) measured: Quantity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
    /// What the machine does without us, measured in the same run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) baselines: Vec<Baseline>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Baseline {
    pub(crate) what: &'static str,
    pub(crate) measured: Quantity,
}

/// A number and its unit.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Quantity {
    value: f64,
    unit: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Target {
    AtMost(Quantity),
    AtLeast(Quantity),
}

impl Quantity {
    pub(crate) fn new(value: f64, unit: &'static str) -> Self {
        Quantity { value, unit }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.value {
            ..0.1 => 3,
            ..10.0 => 2,
            ..100.0 => 1,
            _ => 0,
        };
        write!(f, "{:.digits$} {}", self.value, self.unit)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::AtMost(it) => write!(f, "≤ {it}"),
            Target::AtLeast(it) => write!(f, "≥ {it}"),
        }
    }
}

/// The fast end, the middle and the slow end of many measurements.
pub(crate) struct Spread {
    pub(crate) fastest: f64,
    pub(crate) median: f64,
    pub(crate) p99: f64,
}

impl Spread {
    pub(crate) fn of(mut measured: Vec<f64>) -> Self {
        measured.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let index = measured.len() * percent / 100;
            measured
                .get(index)
                .or(measured.last())
                .copied()
                .unwrap_or(f64::NAN)
        };
        Spread {
            fastest: at(0),
            median: at(50),
            p99: at(99),
        }
    }
}

/// As a Markdown table, so that it can be pasted.
pub(crate) fn table(figures: &[Figure]) -> String {
    let mut rows = vec![["bench", "case", "measured", "target", "this machine"].map(str::to_owned)];
    for figure in figures {
        let baselines: Vec<String> = figure
            .baselines
            .iter()
            .map(|it| format!("{}: {}", it.what, it.measured))
            .collect();
        rows.push([
            figure.bench.to_owned(),
            figure.case.clone(),
            figure.measured.to_string(),
            figure.target.map(|it| it.to_string()).unwrap_or_default(),
            baselines.join("; "),
        ]);
    }
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|it| it.chars().count()).max().unwrap_or(0)
    });
    let rule = widths.map(|width| "-".repeat(width));
    rows.insert(1, rule);
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// As one JSON document.
pub(crate) fn document(figures: &[Figure]) -> Value {
    json!({"schemaVersion": 1, "figures": figures})
}
