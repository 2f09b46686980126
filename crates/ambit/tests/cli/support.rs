//! What the families share: homes with a config, and calls read back as one line.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::LazyLock;

use ambit_testkit::{Home, Run};
use serde_json::Value;

/// What the first command in a home finds out about the built-in capabilities. Counting their
/// tokens takes a moment that not every test has to wait for.
static CATALOG: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let home = fresh();
    home.run(&["ls"]).exits(0);
    std::fs::read(home.data().join("catalog.db")).unwrap()
});

/// A home that nothing has run in.
pub(crate) fn fresh() -> Home {
    Home::new(env!("CARGO_BIN_EXE_ambit"))
}

/// A home with nothing in it but the cached catalog.
pub(crate) fn home() -> Home {
    let home = fresh();
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(home.data()).unwrap();
    std::fs::write(home.data().join("catalog.db"), &*CATALOG).unwrap();
    home
}

/// A home whose user wrote this config.
pub(crate) fn configured(config: impl ToString) -> Home {
    let home = home();
    home.user_config(&config.to_string());
    home
}

/// `ambit call ID --input INPUT --json`, and more arguments.
pub(crate) fn call(home: &Home, id: &str, input: impl ToString, more: &[&str]) -> Run {
    let input = input.to_string();
    let mut arguments = vec!["call", id, "--input", &input, "--json"];
    arguments.extend(more);
    home.run(&arguments)
}

/// Calls as processes that all run at the same time: what to call, with what, as which agent.
pub(crate) fn at_once<'a>(
    home: &Home,
    calls: impl IntoIterator<Item = (&'a str, Value, &'a str)>,
) -> Vec<Run> {
    std::thread::scope(|scope| {
        let running: Vec<_> = calls
            .into_iter()
            .map(|(id, input, agent)| {
                scope.spawn(move || call(home, id, input, &["--agent", agent]))
            })
            .collect();
        running.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

/// How a call ended, on one line: `completed`, or the status and the code.
#[track_caller]
pub(crate) fn ended(run: &Run) -> String {
    let report = run.json();
    let status = report["status"]
        .as_str()
        .unwrap_or_else(|| panic!("{run:?}"));
    assert_eq!(run.code, i32::from(status != "completed"), "{run:?}");
    match report["code"].as_str() {
        Some(code) => format!("{status} {code}"),
        None => status.to_owned(),
    }
}

/// The text of a result, block after block.
#[track_caller]
pub(crate) fn text(run: &Run) -> String {
    let report = run.json();
    let blocks = report["content"].as_array().unwrap().iter();
    blocks.filter_map(|it| it["text"].as_str()).collect()
}

/// Why a call did not complete.
#[track_caller]
pub(crate) fn reason(run: &Run) -> String {
    let report = run.json();
    report["reason"]
        .as_str()
        .unwrap_or_else(|| panic!("{run:?}"))
        .to_owned()
}

/// The events of the journal, as `ambit log --json` prints them.
#[track_caller]
pub(crate) fn events(home: &Home, filter: &[&str]) -> Vec<Value> {
    let run = home.run(&[&["log", "--json"], filter].concat()).exits(0);
    let lines = run.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every file below a folder that holds these bytes.
pub(crate) fn holding(folder: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, needle));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(needle.len()).any(|it| it == needle) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Says that a test could not be run here, and why.
pub(crate) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
