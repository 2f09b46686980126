//! What can be typed.

mod catalog;
mod decide;
mod fronts;
mod kept;
mod servers;

use clap::{Parser, Subcommand};

use crate::cli::run::RunArgs;

pub(crate) use catalog::*;
pub(crate) use decide::*;
pub(crate) use fronts::*;
pub(crate) use kept::*;
pub(crate) use servers::*;

/// The capability runtime between agents and the model.
#[derive(Debug, Parser)]
#[command(
    name = "ambit",
    version,
    arg_required_else_help = true,
    propagate_version = true
)]
pub(crate) struct Cli {
    /// Print one JSON document (or one per line) instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Trust the project's ambit.json for this run
    #[arg(long, global = true)]
    pub(crate) trust_project: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take over the servers your MCP clients have, or give them back
    Init(InitArgs),
    /// Add a server to ambit.json
    Add(AddArgs),
    /// Remove a server from ambit.json
    Remove(RemoveArgs),
    /// Validate the configuration and every agent's capabilities
    Check,
    /// List the catalog, or what an agent is granted
    Ls(LsArgs),
    /// Show one capability in full
    Show(ShowArgs),
    /// Search what an agent could have visible, best first
    Search(SearchArgs),
    /// Show what a model would see this turn, and why
    Visible(VisibleArgs),
    /// Say why a capability is visible or not, now or in a recorded turn
    Explain(ExplainArgs),
    /// Show what changed between two turns of a session
    Diff(DiffArgs),
    /// Call one capability through the pipeline
    Call(CallArgs),
    /// Run an agent until it has done what it is told
    Run(RunArgs),
    /// Play the whole chain, offline, in a temporary folder
    Demo,
    /// The stand-in for a server that the demo uses
    #[command(hide = true)]
    DemoServer,
    /// Print an agent's resolved capabilities
    Resolve(ResolveArgs),
    /// Accept the project's ambit.json as it is now, or manage what was accepted and what waits
    Trust(TrustArgs),
    /// List calls that wait for a person, and decide about them
    Approvals(ApprovalsArgs),
    /// List agents, or issue a token for one
    Agents(AgentsArgs),
    /// Log in to a remote server
    Login(LoginArgs),
    /// Forget the login to a remote server
    Logout(LogoutArgs),
    /// Keep secrets, encrypted, for use as ${secret:NAME}
    Secrets(SecretsArgs),
    /// Export what built-in capabilities keep for this workspace, or bring it back
    Data(DataArgs),
    /// Bring in conversations had elsewhere, for `history` to find
    History(HistoryArgs),
    /// List triggers and their runs, or remove one
    Triggers(TriggersArgs),
    /// Read what agents said in the background
    Notices(NoticesArgs),
    /// Show the journal, or verify it
    Log(LogArgs),
    /// Recompute a session's recorded decisions and compare; nothing is executed
    Replay(ReplayArgs),
    /// Measure search on labelled requests, and tell what came before what was wanted
    Eval(EvalArgs),
    /// Print the JSON Schema of ambit.json
    Schema,
    /// Check this installation and say what to mend
    Doctor,
    /// Print a shell completion script
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Serve one MCP client on standard input and output
    Mcp(McpArgs),
    /// End what another Ambit started once that is gone; it starts this by itself
    #[command(hide = true)]
    Watchdog,
    /// Serve MCP clients over HTTP
    Serve(ServeArgs),
}
