//! What stands between client and server: a bare relay, Ambit, and where they are installed what
//! others offer.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Outcome;
use crate::mcp::contenders::{beside, home};

/// How long others may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const DIRECT: &str = "direct";
pub(crate) const RELAY: &str = "a bare relay";
pub(crate) const AMBIT: &str = "`ambit serve`";

/// A program that listens, until dropped.
pub(crate) struct Listening {
    pub(crate) name: &'static str,
    pub(crate) url: String,
    /// What the echo is called there.
    pub(crate) tool: &'static str,
    child: Child,
    _home: Option<TempDir>,
}

/// How the server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upstream {
    Stdio,
    Http,
}

impl Upstream {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Upstream::Stdio => "HTTP→stdio",
            Upstream::Http => "HTTP→HTTP",
        }
    }
}

/// The server itself, at an address.
pub(crate) fn direct() -> Outcome<Listening> {
    let mut echo = Command::new(beside("examples/bench_echo")?);
    echo.arg("--http");
    Listening::that_says_where(DIRECT, "echo", echo, None)
}

/// The relay and Ambit, and others that work with such a server.
pub(crate) fn between(upstream: Upstream, server: &str) -> Outcome<Vec<Listening>> {
    let echo = beside("examples/bench_echo")?;
    let to = match upstream {
        Upstream::Stdio => echo.clone().into_os_string(),
        Upstream::Http => OsString::from(server),
    };
    let entry = match upstream {
        Upstream::Stdio => json!({"command": echo}),
        Upstream::Http => json!({"url": server}),
    };
    let mut relay = Command::new(beside("examples/bench_relay")?);
    relay.arg("--http").arg(&to);
    let mut all = vec![
        Listening::that_says_where(RELAY, "echo", relay, None)?,
        ambit(&json!({"mcpServers": {"echo": entry}}))?,
    ];
    all.extend(others(upstream, &to)?);
    Ok(all)
}

/// `ambit serve` with a config of its own.
pub(crate) fn ambit(config: &Value) -> Outcome<Listening> {
    let home = home(config)?;
    let mut serve = Command::new(beside("ambit")?);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--style", "full"]);
    serve.env_clear().env("HOME", home.path());
    serve.current_dir(home.path());
    Listening::that_says_where(AMBIT, "echo__echo", serve, Some(home))
}

/// What others offer, where a variable says where it is.
fn others(upstream: Upstream, to: &OsString) -> Outcome<Vec<Listening>> {
    let mut all = Vec::new();
    let installed = |variable: &str| std::env::var_os(variable).map(Command::new);
    if upstream == Upstream::Stdio {
        if let Some(mut proxy) = installed("AMBIT_PYPI_MCP_PROXY") {
            let port = free_port()?;
            proxy.args(["--port", &port.to_string()]).arg(to);
            all.push(Listening::at("PyPI `mcp-proxy`", proxy, port)?);
        }
        if let Some(mut proxy) = installed("AMBIT_NPM_MCP_PROXY") {
            let port = free_port()?;
            proxy.args(["--host", "127.0.0.1", "--server", "stream"]);
            proxy.args(["--port", &port.to_string(), "--"]).arg(to);
            all.push(Listening::at("npm `mcp-proxy`", proxy, port)?);
        }
        if let Some(mut proxy) = installed("AMBIT_SUPERGATEWAY") {
            let port = free_port()?;
            proxy.args(["--outputTransport", "streamableHttp", "--stateful"]);
            proxy.args(["--port", &port.to_string(), "--stdio"]).arg(to);
            all.push(Listening::at("`supergateway`", proxy, port)?);
        }
    }
    if let Some(mut proxy) = installed("AMBIT_FASTMCP") {
        let port = free_port()?;
        proxy.args(["-c", FASTMCP]).arg(to).arg(port.to_string());
        all.push(Listening::at("a FastMCP proxy", proxy, port)?);
    }
    Ok(all)
}

const FASTMCP: &str = "
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
to, port = sys.argv[1], int(sys.argv[2])
upstream = to if to.startswith('http') else StdioTransport(command=to, args=[])
create_proxy(upstream, name='proxy').run(transport='http', host='127.0.0.1', port=port, show_banner=False)
";

/// A port nobody listens on.
fn free_port() -> Outcome<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

impl Listening {
    /// Starts a program that says where it listens.
    fn that_says_where(
        name: &'static str,
        tool: &'static str,
        mut command: Command,
        home: Option<TempDir>,
    ) -> Outcome<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no output to read")?);
        let mut lines = stdout.lines().map_while(Result::ok);
        let url = lines.find_map(|line| {
            let mut words = line.split_whitespace();
            Some(words.find(|it| it.starts_with("http://"))?.to_owned())
        });
        Ok(Listening {
            name,
            url: url.ok_or_else(|| format!("{name} does not say where it listens"))?,
            tool,
            child,
            _home: home,
        })
    }

    /// Starts a program that was told where to listen.
    fn at(name: &'static str, mut command: Command, port: u16) -> Outcome<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let listening = Listening {
            name,
            url: format!("http://127.0.0.1:{port}/mcp"),
            tool: "echo",
            child: command.stderr(Stdio::null()).spawn()?,
            _home: None,
        };
        let begun = Instant::now();
        while let Err(error) = std::net::TcpStream::connect(("127.0.0.1", port)) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{name} does not listen: {error}").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(listening)
    }

    /// The memory it has resident, in megabytes.
    pub(crate) fn resident(&self) -> Outcome<f64> {
        let status = Path::new("/proc").join(self.child.id().to_string());
        let status = std::fs::read_to_string(status.join("status"))?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<f64>().ok());
        let kilobytes = kilobytes.ok_or("this system does not tell what memory a process has")?;
        Ok(kilobytes * 1024.0 / 1e6)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
