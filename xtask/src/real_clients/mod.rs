//! `cargo xtask real-clients`: the agents people use, each with a model that is played by
//! [`model`], complete a tool call through Ambit, as a child and over HTTP.
//!
//! No part of `cargo xtask test`: the programs are large and change every few days. What they say
//! of themselves proves nothing; the proof is the call in Ambit's journal.

mod agent;
mod home;
mod model;
mod served;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::peers;
use crate::run::{Failure, Result, Step, capture, cargo};
use agent::{AGENTS, Agent, Reach};
use home::Home;
use model::Model;
use served::Served;

/// The tool the model wants, and what is in the file it reads.
const TOOL: &str = "files__read_file";
const FILE: &str = "note.txt";
const CONTENT: &str = "forty-two apples";

pub(crate) fn run(root: &Path) -> Result {
    println!("real clients");
    let programs = peers::clients()?;
    let step = Step::start("build ambit");
    let ambit = build(root)?;
    step.end("ready");

    let mut rows = vec![Row::head()];
    let mut failures = Vec::new();
    for agent in AGENTS {
        let (_, program) = programs
            .iter()
            .find(|(variable, _)| *variable == agent.variable)
            .ok_or_else(|| Failure::Found(format!("`{}` is not set", agent.variable)))?;
        for over in [Over::Stdio, Over::Http] {
            let name = format!("{} over {}", agent.name, over.name());
            let step = Step::start(&name);
            let begun = Instant::now();
            let case = Case {
                agent,
                program,
                ambit: &ambit,
                over,
            };
            match case.run() {
                Ok(asked) => {
                    step.end("completed");
                    let seconds = format!("{:.1} s", begun.elapsed().as_secs_f64());
                    rows.push(Row::new(agent, over, &asked, "completed", &seconds));
                }
                Err(failure) => {
                    step.end("FAILED");
                    rows.push(Row::new(agent, over, "", "FAILED", ""));
                    failures.push(format!("{name}: {failure}"));
                }
            }
        }
    }
    let step = Step::start("taken over and given back");
    match taking_over(root, &programs) {
        Ok(()) => step.end("as before"),
        Err(failure) => {
            step.end("FAILED");
            failures.push(failure.to_string());
        }
    }
    println!("\n{}", table(&rows));
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::Found(failures.join("\n"))),
    }
}

/// The tests of `ambit init` that need a client.
fn taking_over(root: &Path, programs: &[(&str, PathBuf)]) -> Result {
    let mut test = cargo(root);
    test.args(["test", "--package", "ambit", "--test", "cli", "--"]);
    test.arg("goes_there_and_back");
    test.envs(
        programs
            .iter()
            .map(|(variable, program)| (variable, program)),
    );
    capture(test).map(drop)
}

/// The binary, and where cargo put it.
fn build(root: &Path) -> Result<PathBuf> {
    let mut build = cargo(root);
    build.args(["build", "--package", "ambit", "--bin", "ambit"]);
    build.args(["--message-format", "json-render-diagnostics"]);
    let said = capture(build)?;
    let mut built = said.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let executable = message.get("executable")?.as_str()?;
        Some(PathBuf::from(executable))
    });
    built
        .next_back()
        .ok_or_else(|| Failure::Found("cargo does not say where `ambit` is".to_owned()))
}

/// The way to Ambit.
#[derive(Clone, Copy)]
enum Over {
    Stdio,
    Http,
}

impl Over {
    fn name(self) -> &'static str {
        match self {
            Over::Stdio => "stdio",
            Over::Http => "HTTP",
        }
    }
}

/// One client on one way to Ambit.
struct Case<'a> {
    agent: &'a Agent,
    program: &'a Path,
    ambit: &'a Path,
    over: Over,
}

impl Case<'_> {
    /// Which tool the model asked for, if the call is in the journal.
    fn run(&self) -> Result<String> {
        let home = Home::new()?;
        home.write(FILE, CONTENT)?;
        let model = Model::start()?;
        let mut served = None;
        let reach = match self.over {
            Over::Http => {
                let server =
                    Served::start(self.ambit(&home, &["serve", "--listen", "127.0.0.1:0"]))?;
                let url = server.url.clone();
                served = Some(server);
                Reach::Url(url)
            }
            Over::Stdio => Reach::Child(self.ambit.to_owned()),
        };
        let mut client = Command::new(self.program);
        home.confine(&mut client);
        (self.agent.prepare)(&mut client, &home, &model.url, &reach)?;
        let said = home.run(client);
        // It writes down the last of what happened when it is told to stop.
        drop(served);
        let said = said?;
        let turns = model.turns();
        let what = format!("model: {turns:?}\n{said}");
        if !turns.result_arrived {
            return Err(Failure::Found(format!(
                "no result reached the model; {what}"
            )));
        }
        match self.is_recorded(&home)? {
            true => Ok(turns.asked.unwrap_or_default()),
            false => Err(Failure::Found(format!(
                "the journal has no such call; {what}"
            ))),
        }
    }

    fn ambit(&self, home: &Home, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.ambit);
        command.args(arguments);
        home.confine(&mut command);
        command
    }

    /// Whether the journal has the call, completed.
    fn is_recorded(&self, home: &Home) -> Result<bool> {
        let log = capture(self.ambit(home, &["log", "--json"]))?;
        let events: Vec<Value> = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let is = |event: &Value, key: &str, value: &str| {
            event.get(key).and_then(Value::as_str) == Some(value)
        };
        let intent = events
            .iter()
            .find(|it| is(it, "type", "tool.intent") && is(it, "target", TOOL));
        let call = intent.and_then(|it| it.get("call"));
        Ok(call.is_some()
            && events.iter().any(|it| {
                is(it, "type", "tool.observation")
                    && is(it, "status", "completed")
                    && it.get("call") == call
            }))
    }
}

/// A line of the table.
struct Row([String; 5]);

impl Row {
    fn head() -> Self {
        Row([
            "client",
            "over",
            "the model asked for",
            "in the journal",
            "time",
        ]
        .map(str::to_owned))
    }

    fn new(agent: &Agent, over: Over, asked: &str, journal: &str, seconds: &str) -> Self {
        Row([agent.name, over.name(), asked, journal, seconds].map(str::to_owned))
    }
}

fn table(rows: &[Row]) -> String {
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let cells = rows.iter().filter_map(|row| row.0.get(column));
        cells.map(String::len).max().unwrap_or(0)
    });
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        if number == 1 {
            let rule = widths.map(|width| "-".repeat(width));
            text.push_str(&format!("| {} |\n", rule.join(" | ")));
        }
        let cells: Vec<String> = row
            .0
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}
