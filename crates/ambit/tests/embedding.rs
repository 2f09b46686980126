//! The programs in `docs/embedding.md` are true: the Rust is the example `embedding`, the Python is
//! run as it stands there, and both do what the page says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

use std::process::{Command, Output};

use ambit_testkit::{Home, Served, example};

const PAGE: &str = include_str!("../../../docs/embedding.md");
const EXAMPLE: &str = include_str!("../examples/embedding.rs");
/// Longer than this, nobody calls it short.
const LINES: usize = 36;

/// The text of the page's block in a language.
fn block(language: &str) -> &'static str {
    let fence = format!("```{language}\n");
    let (_, rest) = PAGE.split_once(&fence).unwrap();
    rest.split_once("```").unwrap().0
}

fn home() -> Home {
    let home = Home::new(env!("CARGO_BIN_EXE_ambit"));
    home.write("notes.txt", "buy milk\n");
    home
}

#[track_caller]
fn check(output: Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let turns = said.lines().filter(|it| it.starts_with("turn ")).count();
    assert!(turns == 2 && said.contains("buy milk"), "{said}");
}

#[test]
fn the_rust_is_the_example_and_runs() {
    let from = EXAMPLE.find("use ").unwrap();
    assert_eq!(block("rust"), &EXAMPLE[from..]);
    assert!(block("rust").lines().count() <= LINES);
    let home = home();
    let ambit = home.command(&[]);
    let mut command = Command::new(example("embedding"));
    command.current_dir(home.work()).env_clear();
    for (name, value) in ambit.get_envs() {
        command.env(name, value.unwrap());
    }
    check(command.output().unwrap());
    // It is on record like anything else.
    let sessions = home.run(&["log", "--json"]).exits(0);
    assert!(sessions.stdout.contains("\"default\""), "{sessions:?}");
}

#[test]
fn the_python_runs() {
    assert!(block("python").lines().count() <= LINES);
    let home = home();
    let served = Served::start(home.command(&["serve", "--listen", "127.0.0.1:0"]));
    let script = home.write("harness.py", block("python"));
    let output = Command::new("python3")
        .arg(script)
        .env("AMBIT_URL", served.url.trim_end_matches("/mcp"))
        .env_remove("AMBIT_TOKEN")
        .output();
    match output {
        Ok(output) => check(output),
        Err(error) => eprintln!("skipped: there is no python3: {error}"),
    }
}
