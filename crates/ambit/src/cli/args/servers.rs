//! Servers and clients: taking over, adding, logging in.

use clap::Args;

use crate::takeover::ClientId;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Print what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Point the clients at Ambit, after a backup of their files
    #[arg(long)]
    pub(crate) apply: bool,
    /// Only this client; may be repeated
    #[arg(long = "client", value_name = "NAME", value_parser = parse_client)]
    pub(crate) clients: Vec<ClientId>,
    /// Take over what is configured for this folder, into its ambit.json
    #[arg(long)]
    pub(crate) project: bool,
    /// Connect the servers, to say what their tools cost
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) look: bool,
    /// Give the clients their files back as they were
    #[arg(long, conflicts_with_all = ["dry_run", "apply", "project", "look"])]
    pub(crate) undo: bool,
    /// Only write a commented ambit.json here
    #[arg(long, conflicts_with_all = ["dry_run", "apply", "clients", "project", "look", "undo"])]
    pub(crate) starter: bool,
}

fn parse_client(text: &str) -> Result<ClientId, String> {
    text.parse()
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What it is to be called
    pub(crate) name: String,
    /// Its address, for streamable HTTP
    pub(crate) url: Option<String>,
    /// A header to send along; may be repeated
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) headers: Vec<(String, String)>,
    /// A variable of its environment; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) env: Vec<(String, String)>,
    /// Edit this project's file instead of your own
    #[arg(long)]
    pub(crate) project: bool,
    /// The program that is started, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// What it is called
    pub(crate) name: String,
    /// Edit this project's file instead of your own
    #[arg(long)]
    pub(crate) project: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The server, as mcpServers names it
    pub(crate) server: String,
    /// Print the address to go to, and open nothing
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Scopes to ask for besides those of the last login, in one or more words; may be repeated
    #[arg(long = "scope", value_name = "SCOPES")]
    pub(crate) scopes: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// The server, as mcpServers names it
    pub(crate) server: String,
}
