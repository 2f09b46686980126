//! What can stand between a client and the echo server, Ambit among others.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Calls, Client};
use super::cost::Cost;
use super::http::{HttpClient, free_port};

/// Something that is called, and what its tool is called there.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    front: Front,
    tool: &'static str,
    /// Kept until the process is gone.
    _home: Option<TempDir>,
}

/// How it is spoken to.
enum Front {
    Stdio(Client),
    Http(HttpClient),
}

impl Contender {
    /// Calls the echo for some time, so many calls at once.
    pub(crate) fn calls(
        &mut self,
        at_once: usize,
        time: Duration,
    ) -> Result<Calls, Box<dyn Error>> {
        match &mut self.front {
            Front::Stdio(client) => client.calls(self.tool, at_once, time),
            Front::Http(client) => client.calls(self.tool, at_once, time),
        }
    }

    /// What its process has cost so far, where it is spoken to directly.
    pub(crate) fn cost(&self) -> Cost {
        match &self.front {
            Front::Stdio(client) => Cost::of(client.process()),
            Front::Http(_) => Cost::default(),
        }
    }
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
    if let Some(program) = std::env::var_os("AMBIT_PYPI_MCP_PROXY") {
        let port = free_port()?;
        let mut proxy = Command::new(program);
        proxy.args(["--port", &port.to_string()]).arg(&echo);
        contenders.push(over_http("PyPI `mcp-proxy` (HTTP)", proxy, port)?);
    }
    if let Some(program) = std::env::var_os("AMBIT_NPM_MCP_PROXY") {
        let port = free_port()?;
        let mut proxy = Command::new(program);
        proxy.args([
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--server",
            "stream",
        ]);
        proxy.arg("--").arg(&echo);
        contenders.push(over_http("npm `mcp-proxy` (HTTP)", proxy, port)?);
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
        front: Front::Stdio(client),
        tool: "echo",
        _home: None,
    })
}

fn over_http(name: &'static str, command: Command, port: u16) -> Result<Contender, Box<dyn Error>> {
    Ok(Contender {
        name,
        front: Front::Http(HttpClient::start(command, port)?),
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
        front: Front::Stdio(client),
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
