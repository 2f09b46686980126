//! What can stand between a client and the echo server, Ambit among others.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;

/// Something that is called, and what its tool is called there.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) client: Client,
    pub(crate) tool: &'static str,
    /// Kept until the process is gone.
    _home: Option<TempDir>,
}

/// A program built beside this one.
pub(crate) fn beside(path: &str) -> Result<PathBuf, Box<dyn Error>> {
    let example = std::env::current_exe()?;
    let folder = example.parent().and_then(Path::parent);
    let program = folder.map(|it| it.join(path)).filter(|it| it.is_file());
    Ok(program.ok_or_else(|| {
        format!("there is no `{path}` beside this: `cargo xtask bench` builds it")
    })?)
}

/// All of them, connected. The proxies of others where their variables say where they are.
pub(crate) fn contenders() -> Result<Vec<Contender>, Box<dyn Error>> {
    let echo = beside("examples/bench_echo")?;
    let mut relay = Command::new(beside("examples/bench_relay")?);
    relay.arg(&echo);
    let mut contenders = vec![
        plain("direct", Command::new(&echo))?,
        plain(RELAY, relay)?,
        ambit(READS, "echo__echo", &echo)?,
        ambit("`ambit mcp`, writes", "echo__keep", &echo)?,
    ];
    if let Some(python) = std::env::var_os("AMBIT_FASTMCP") {
        let mut proxy = Command::new(python);
        proxy.args(["-c", FASTMCP]).arg(&echo);
        contenders.push(plain("a FastMCP proxy", proxy)?);
    }
    Ok(contenders)
}

pub(crate) const RELAY: &str = "a bare relay";
pub(crate) const READS: &str = "`ambit mcp`, reads";

const FASTMCP: &str = "
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
upstream = StdioTransport(command=sys.argv[1], args=[])
create_proxy(upstream, name='proxy').run(show_banner=False)
";

fn plain(name: &'static str, command: Command) -> Result<Contender, Box<dyn Error>> {
    let mut client = Client::start(command)?;
    client.hello()?;
    Ok(Contender {
        name,
        client,
        tool: "echo",
        _home: None,
    })
}

fn ambit(name: &'static str, tool: &'static str, echo: &Path) -> Result<Contender, Box<dyn Error>> {
    let home = home(&json!({
        "mcpServers": {"echo": {"command": echo}},
        "permissions": {"allow": ["mcp__echo__keep"]},
    }))?;
    let mut client = Client::start(serve(home.path())?)?;
    client.hello()?;
    Ok(Contender {
        name,
        client,
        tool,
        _home: Some(home),
    })
}

/// A home whose user wrote this config.
pub(crate) fn home(config: &Value) -> Result<TempDir, Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let folder = home.path().join(".config/ambit");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("ambit.json"), config.to_string())?;
    Ok(home)
}

/// `ambit mcp` in a home.
pub(crate) fn serve(home: &Path) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(beside("ambit")?);
    command.args(["mcp", "--style", "full"]).env_clear();
    command.env("HOME", home).current_dir(home);
    Ok(command)
}
