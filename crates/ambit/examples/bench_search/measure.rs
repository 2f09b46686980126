//! One size, measured.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use ambit::core::id::CapabilityId;
use ambit::core::search::{Gate, SearchDocument, SearchIndex, SearchRequest};
use serde_json::{Value, json};

use super::corpus::Corpus;
use super::made_up::{PER_SOURCE, repeated};

/// Least number of tools indexed to measure memory, so that pages do not matter.
const ENOUGH_FOR_MEMORY: usize = 100_000;
const REPEATS: usize = 21;
const SEARCHES: usize = 3_000;

type Sources = Vec<(String, Vec<SearchDocument>)>;

pub(crate) fn measure(corpus: &Corpus, tools: usize) -> Value {
    let sources = sources(corpus, tools);
    let text: usize = sources.iter().flat_map(|it| &it.1).map(text_bytes).sum();
    let allowed: HashSet<CapabilityId> = sources
        .iter()
        .flat_map(|it| &it.1)
        .step_by(2)
        .map(|it| it.id.clone())
        .collect();
    let extra = sources.last().map(|it| it.1.clone()).unwrap_or_default();

    let given = sources.clone();
    let started = Instant::now();
    let index = SearchIndex::default().with_sources(given);
    let build = started.elapsed();
    let memory = bytes_per_tool(&sources, tools);
    drop(sources);

    let add = median(REPEATS, |at| {
        let extra = extra.clone();
        let started = Instant::now();
        let more = index.with_source(&format!("new{at}"), extra);
        let took = started.elapsed();
        drop(black_box(more));
        took
    });
    let gate = median(REPEATS, |_| {
        let started = Instant::now();
        black_box(index.gate(|id| allowed.contains(id)));
        started.elapsed()
    });
    let open = index.gate(|_| true);
    let half = index.gate(|id| allowed.contains(id));
    json!({
        "tools": tools,
        "queries": SEARCHES,
        "textBytesPerTool": text / tools.max(1),
        "indexBytesPerTool": memory,
        "buildMs": tenths(build.as_secs_f64() * 1e3),
        "addMs": tenths(add.as_secs_f64() * 1e3),
        "gateUs": tenths(gate.as_secs_f64() * 1e6),
        "searchUs": searches(&index, &open, corpus),
        "searchHalfGatedUs": searches(&index, &half, corpus),
    })
}

/// The corpus as often as needed, each time under other names.
fn sources(corpus: &Corpus, tools: usize) -> Sources {
    let documents = repeated(&corpus.documents, tools);
    let sources = documents.chunks(PER_SOURCE).zip(0_usize..);
    sources
        .map(|(it, at)| (format!("s{at:06}"), it.to_vec()))
        .collect()
}

fn text_bytes(document: &SearchDocument) -> usize {
    let parameters = document.parameters.iter();
    let parameters = parameters.map(|it| it.name.len() + it.description.len());
    document.own_words().len() + document.pack_summary.len() + parameters.sum::<usize>()
}

/// What an index holds, by what the process grows when more of the same are built.
fn bytes_per_tool(sources: &Sources, tools: usize) -> Option<usize> {
    let copies = ENOUGH_FOR_MEMORY.div_ceil(tools.max(1));
    let before = resident()?;
    let more: Vec<SearchIndex> = (0..copies)
        .map(|_| SearchIndex::default().with_sources(sources.clone()))
        .collect();
    let grown = resident()?.saturating_sub(before);
    drop(black_box(more));
    Some(grown / copies / tools.max(1))
}

/// Resident memory, where the system tells.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn searches(index: &SearchIndex, gate: &Gate, corpus: &Corpus) -> Value {
    let requests: Vec<SearchRequest> = corpus
        .requests
        .iter()
        .cycle()
        .take(SEARCHES)
        .map(|it| SearchRequest::new(it.as_str()))
        .collect();
    let mut times: Vec<Duration> = requests
        .iter()
        .map(|request| {
            let started = Instant::now();
            black_box(index.search(request, gate));
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied();
    let us = |percent| tenths(at(percent).unwrap_or_default().as_secs_f64() * 1e6);
    json!({"p50": us(50), "p99": us(99)})
}

fn median(times: usize, once: impl FnMut(usize) -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..times).map(once).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
