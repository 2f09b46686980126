//! `cargo xtask exposure [DIR]`: what a model has to read of a catalog, measured by the examples
//! `exposure` and `chain_cost` of `ambit` and written to `docs/exposure.md`.

use std::fs;
use std::path::Path;

use crate::run::{Failure, Result, capture, cargo, show};

const PAGE: &str = "docs/exposure.md";
/// Which tools unless told.
const TOOLS: &str = "../shared/data/mcp-registries";

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result {
    let dir = match arguments {
        [] => TOOLS,
        [dir] => *dir,
        _ => {
            let usage = "usage: cargo xtask exposure [DIR]";
            return Err(Failure::Found(usage.to_owned()));
        }
    };
    let example = |verb: &str, name: &str| {
        let mut command = cargo(root);
        command.args([verb, "--release", "--package", "ambit"]);
        command.args(["--example", name]);
        command
    };
    let mut text = String::new();
    for name in ["exposure", "chain_cost"] {
        show(example("build", name))?;
        let mut measure = example("run", name);
        measure.args(["--quiet", "--"]).arg(root.join(dir));
        text += &capture(measure)?;
    }
    let path = root.join(PAGE);
    fs::write(&path, text).map_err(Failure::file(&path))?;
    println!("wrote {PAGE}");
    Ok(())
}
