//! What stays and serves.

use std::net::SocketAddr;
use std::path::PathBuf;

use ambit_core::permission::Mode;
use ambit_gateway::style::Style;
use clap::{Args, ValueEnum};

use super::catalog::{AgentArgs, parse_mode};

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// What the tool list is: full, dynamic or dispatch; by default what suits the client
    #[arg(long, value_name = "STYLE", value_parser = parse_style)]
    pub(crate) style: Option<Style>,
    /// Only this server of what the agent is granted; may be repeated
    #[arg(long = "server", value_name = "NAME")]
    pub(crate) servers: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen, instead of what the config says
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve only this agent; may be repeated
    #[arg(long = "agent", value_name = "NAME")]
    pub(crate) agents: Vec<String>,
    /// How freely agents may act, instead of what their config says
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    pub(crate) mode: Option<Mode>,
    /// What tool lists are: full, dynamic or dispatch; by default what suits each client
    #[arg(long, value_name = "STYLE", value_parser = parse_style)]
    pub(crate) style: Option<Style>,
    /// The certificate chain for TLS, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy in front does TLS; then every agent needs a token, on loopback too
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// How to write what happens, on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// How much of it: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: tracing::Level,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for a person
    Text,
    /// One JSON object per line
    Json,
}

fn parse_style(text: &str) -> Result<Style, String> {
    text.parse()
}
