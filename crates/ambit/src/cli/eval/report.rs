//! What was measured, for a person and for a program.

use std::time::Duration;

use ambit_core::id::CapabilityId;
use ambit_core::search::Hit;
use ambit_core::search::evaluate::{DEPTHS, Miss};
use ambit_core::search::labelled::LabelledSet;
use serde_json::{Map, Value, json};

use super::measure::Measured;
use crate::cli::printer::{BOLD, DIM, GOOD, Printer, columns, fit, styled};
use crate::config::presentable;

/// Misses a person is shown without asking.
const USUAL_MISSES: usize = 10;
/// Ids of one need, and reasons of one hit, that a person is shown.
const MOST_LISTED: usize = 6;
const WIDTH: usize = 100;

/// The measures as fractions, by name.
fn measures(measured: &Measured) -> Vec<(String, f64)> {
    let it = &measured.evaluation;
    let recall = DEPTHS.iter().zip(it.recall);
    recall
        .map(|(depth, value)| (format!("recall@{depth}"), value))
        .chain([("ndcg@10".to_owned(), it.ndcg), ("mrr".to_owned(), it.mrr)])
        .collect()
}

pub(super) fn document(set: &LabelledSet, measured: &Measured, misses: Option<usize>) -> Value {
    let mut document: Map<String, Value> = measures(measured)
        .into_iter()
        .map(|(name, value)| (name, json!(value)))
        .collect();
    let mut add = |name: &str, value: Value| document.insert(name.to_owned(), value);
    add("tools", json!(set.documents.len()));
    add("queries", json!(set.queries.len()));
    add("indexMs", json!(tenths(milliseconds(measured.index))));
    let us = |percent| json!(tenths(microseconds(measured.percentile(percent))));
    add("queryUs", json!({"p50": us(50), "p99": us(99)}));
    if let Some(most) = misses {
        let listed = measured.evaluation.misses.iter().take(most);
        add("misses", listed.map(|it| miss_json(set, it)).collect());
    }
    Value::Object(document)
}

fn miss_json(set: &LabelledSet, miss: &Miss) -> Value {
    let hit = |it: &Hit| json!({"id": name(set, &it.id), "score": it.score, "why": it.why});
    let wanted: Vec<&str> = miss.wanted.iter().map(|it| name(set, it)).collect();
    let found = miss.found.as_ref().map(|it| {
        let mut json = hit(&it.hit);
        if let Some(map) = json.as_object_mut() {
            map.insert("rank".to_owned(), json!(it.rank));
        }
        json
    });
    let above: Vec<Value> = miss.above.iter().map(hit).collect();
    json!({"query": miss.query, "wanted": wanted, "found": found, "above": above})
}

pub(super) fn print(
    set: &LabelledSet,
    measured: &Measured,
    misses: Option<usize>,
    printer: &Printer,
) {
    let rows: Vec<Vec<String>> = measures(measured)
        .into_iter()
        .map(|(name, value)| vec![name, format!("{value:.3}")])
        .collect();
    columns(&rows).iter().for_each(|it| printer.line(it));

    let all = &measured.evaluation.misses;
    let most = misses.unwrap_or(USUAL_MISSES);
    for miss in all.iter().take(most) {
        print_miss(set, miss, printer);
    }
    printer.note("");
    let shown = all.len().min(most);
    let told = match all.len() - shown {
        0 => String::new(),
        more => format!("; {more} of them not shown, `--misses N` shows more"),
    };
    printer.note(match all.len() {
        0 => styled(GOOD, "every need is met within the first ten"),
        1 => format!("1 need is not met within the first ten{told}"),
        many => format!("{many} needs are not met within the first ten{told}"),
    });
    let took = format!(
        "{} tools, indexed in {:.1} ms; {} queries, {:.1} µs at p50, {:.1} µs at p99",
        set.documents.len(),
        milliseconds(measured.index),
        set.queries.len(),
        microseconds(measured.percentile(50)),
        microseconds(measured.percentile(99)),
    );
    printer.note(styled(DIM, took));
}

fn print_miss(set: &LabelledSet, miss: &Miss, printer: &Printer) {
    printer.line("");
    let query = presentable(&miss.query);
    let query = match query.trim() {
        "" => "(nothing is asked)".to_owned(),
        query => fit(query, WIDTH),
    };
    printer.line(styled(BOLD, query));
    let mut wanted: Vec<&str> = miss.wanted.iter().map(|it| name(set, it)).collect();
    let more = wanted.len().saturating_sub(MOST_LISTED);
    wanted.truncate(MOST_LISTED);
    let mut wanted = presentable(&wanted.join(" or "));
    if more > 0 {
        wanted = format!("{wanted} or {more} others");
    }
    match &miss.found {
        None => printer.line(format!("  wanted {wanted}, not found")),
        Some(found) => {
            printer.line(format!("  wanted {wanted}"));
            print_hit(set, found.rank, &found.hit, printer);
        }
    }
    if miss.above.is_empty() {
        printer.line("  nothing was found");
        return;
    }
    printer.line("  but first came");
    for (rank, hit) in (1..).zip(&miss.above) {
        print_hit(set, rank, hit, printer);
    }
}

fn print_hit(set: &LabelledSet, rank: usize, hit: &Hit, printer: &Printer) {
    let why: Vec<String> = hit
        .why
        .iter()
        .take(MOST_LISTED)
        .map(|it| it.to_string())
        .collect();
    let more = match hit.why.len() - why.len() {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    let id = presentable(name(set, &hit.id));
    printer.line(format!("  {rank:>4}  {id}  {}", hit.score));
    let why = presentable(&why.join("; "));
    printer.line(styled(DIM, format!("        {why}{more}")));
}

/// What the set calls it, so that it can be found there.
fn name<'a>(set: &'a LabelledSet, id: &'a CapabilityId) -> &'a str {
    set.names.get(id).map_or(id.as_str(), String::as_str)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Times are not known better than this.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
