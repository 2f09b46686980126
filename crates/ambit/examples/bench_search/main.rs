//! What search costs as the catalog grows: building, adding a source, gating, asking, memory.
//!
//! `bench_search [--json] [--tools N] [--data DIR]` measures and prints; without `--tools`, at
//! 1,000, 10,000 and 100,000. The tools are made up, always the same, unless a folder with
//! labelled sets is named. It asserts nothing: a busy machine is slow, and only a person can tell
//! that from a slow program.

mod corpus;
#[path = "../support/made_up.rs"]
mod made_up;
mod measure;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use corpus::Corpus;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

#[derive(Default)]
struct Options {
    json: bool,
    tools: Option<usize>,
    data: Option<PathBuf>,
}

impl Options {
    fn read() -> Result<Options, Box<dyn Error>> {
        let mut options = Options::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument}: what?"));
            match argument.as_str() {
                "--json" => options.json = true,
                "--tools" => options.tools = Some(value()?.parse()?),
                "--data" => options.data = Some(value()?.into()),
                other => return Err(format!("no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let sizes = match options.tools {
        Some(tools) => {
            let corpus = match &options.data {
                Some(dir) => Corpus::read(dir)?,
                None => Corpus::made_up(),
            };
            vec![measure::measure(&corpus, tools)]
        }
        None => SIZES
            .iter()
            .map(|tools| apart(*tools, &options))
            .collect::<Result<_, _>>()?,
    };
    let mut out = io::stdout();
    if options.json {
        writeln!(out, "{}", json!({"schemaVersion": 1, "sizes": sizes}))?;
    } else {
        write!(out, "{}", table(&sizes))?;
    }
    Ok(())
}

/// Measures in a process of its own: memory that one size gave back would make the next look
/// smaller.
fn apart(tools: usize, options: &Options) -> Result<Value, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--json", "--tools", &tools.to_string()]);
    if let Some(dir) = &options.data {
        command.arg("--data").arg(dir);
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let size = document.pointer("/sizes/0").cloned();
    size.ok_or_else(|| "no size was measured".into())
}

/// One row per figure, one column per size.
fn table(sizes: &[Value]) -> String {
    const ROWS: [(&str, &str); 11] = [
        ("tools", "/tools"),
        ("text, bytes per tool", "/textBytesPerTool"),
        ("index, bytes per tool", "/indexBytesPerTool"),
        ("build, ms", "/buildMs"),
        ("add 50 tools, ms", "/addMs"),
        ("gate, µs", "/gateUs"),
        ("search p50, µs", "/searchUs/p50"),
        ("search p99, µs", "/searchUs/p99"),
        ("search half gated p50, µs", "/searchHalfGatedUs/p50"),
        ("search half gated p99, µs", "/searchHalfGatedUs/p99"),
        ("queries", "/queries"),
    ];
    let mut out = String::new();
    for (name, pointer) in ROWS {
        out += &format!("{name:<28}");
        for size in sizes {
            let value = size.pointer(pointer).filter(|it| !it.is_null());
            out += &format!("{:>12}", value.map_or("–".to_owned(), Value::to_string));
        }
        out.push('\n');
    }
    out
}
