//! What can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use ambit_core::permission::Mode;
use ambit_gateway::style::Style;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::run::RunArgs;
use crate::takeover::ClientId;

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

/// For whom, and how freely.
#[derive(Debug, Default, Args)]
pub(crate) struct AgentArgs {
    /// The agent; may be left out when there is only one
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// How freely it may act, instead of what its config says
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    pub(crate) mode: Option<Mode>,
}

fn parse_mode(text: &str) -> Result<Mode, String> {
    text.parse()
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Ask every server again what it offers
    #[arg(long)]
    pub(crate) refresh: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// An id, such as local__files__read_file
    pub(crate) id: String,
}

/// What a turn is about.
#[derive(Debug, Default, Args)]
pub(crate) struct TurnArgs {
    /// The task, in words
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// A file that was touched, relative to the workspace; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) touched: Vec<String>,
    /// Something that was observed; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) evidence: Vec<String>,
    /// Most tokens, instead of what the config says
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What is needed, in words
    pub(crate) query: String,
    /// A server or pack whose tools should come first
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Most hits
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VisibleArgs {
    #[command(flatten)]
    pub(crate) turn: TurnArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Print the projection as a model's API takes it
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Say why each entry is visible, and why each other is not
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Function tools
    Openai,
    /// Messages with tools
    Anthropic,
    /// tools/list
    Mcp,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An id or a wire name
    pub(crate) id: String,
    /// A recorded session: an id, the beginning of one, or `last`
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Which of its turns; by default the last
    #[arg(long = "turn", value_name = "N", requires = "session")]
    pub(crate) turn_number: Option<u32>,
    #[command(flatten)]
    pub(crate) turn: TurnArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// An id, the beginning of one, or `last`
    pub(crate) session: String,
    /// The earlier turn
    pub(crate) before: u32,
    /// The later turn
    pub(crate) after: u32,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// An id or a wire name, such as files__read_file
    pub(crate) id: String,
    /// The arguments as JSON; `@FILE` reads a file, `-` standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) input: String,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Say yes to whatever would be asked in this run
    #[arg(long)]
    pub(crate) yes: bool,
}

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

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    /// The agent; may be left out when there is only one
    pub(crate) agent: Option<String>,
    /// Print it for another engine
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ResolveFormat>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ResolveFormat {
    /// An mcpServers object: each server behind Ambit, with what the agent may use of it
    McpServers,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TrustCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// List what has been accepted, and what waits, with what is different
    Ls,
    /// Accept tools of servers as they are defined now, or edits agents proposed
    Accept {
        /// Ids of tools, as `ambit trust ls` lists them
        #[arg(required_unless_present_any = ["server", "edit"])]
        ids: Vec<String>,
        /// Make the proposed edit of this number; may be repeated
        #[arg(long, value_name = "N")]
        edit: Vec<i64>,
        /// Everything that waits of this server; may be repeated
        #[arg(long, value_name = "NAME")]
        server: Vec<String>,
    },
    /// Forget an edit an agent proposed
    Drop {
        /// Its number
        number: i64,
    },
    /// Accept the edits that a running `ambit serve` holds back
    Reload,
    /// Take back what was accepted for a project file
    Revoke {
        /// The file; by default this project's
        path: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ApprovalsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Say yes to a pending call: once, unless told otherwise
    Allow {
        /// Its number
        number: i64,
        /// For how long
        #[arg(long = "for", value_name = "SCOPE", default_value = "once")]
        scope: ApprovalScope,
    },
    /// Say no to a pending call
    Deny {
        /// Its number
        number: i64,
    },
    /// Take back a standing approval
    Revoke {
        /// Its number
        number: i64,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ApprovalScope {
    /// Exactly this call, when it is tried again
    Once,
    /// This capability until its session ends
    Session,
    /// This capability as it is defined now
    Always,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// Issue a token for clients over HTTP, shown once; or take tokens back
    Token(TokenArgs),
    /// What an agent changed about itself: instructions, responsibilities, skills
    History {
        /// The agent
        name: String,
        /// This one in full: what it said before and after
        #[arg(value_name = "VERSION")]
        number: Option<i64>,
    },
    /// Take back what an agent changed about itself: the last change, or all after a version.
    /// Nothing is lost; undoing again brings it back
    Undo {
        /// The agent
        name: String,
        /// The version to go back to; 0 is before every change
        #[arg(long, value_name = "VERSION")]
        to: Option<i64>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The agent
    #[arg(required_unless_present = "operator")]
    pub(crate) name: Option<String>,
    /// A token that answers what waits for a person, for no agent
    #[arg(long, conflicts_with = "name")]
    pub(crate) operator: bool,
    /// Revoke its tokens, or the one with this number; it still needs one
    #[arg(long, value_name = "N", num_args = 0..=1)]
    pub(crate) revoke: Option<Option<i64>>,
    /// Forget that it ever had tokens: on loopback it is open again
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) forget: bool,
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

#[derive(Debug, Args)]
pub(crate) struct SecretsArgs {
    #[command(subcommand)]
    pub(crate) command: SecretsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Store a value, typed at a hidden prompt or piped in
    Set {
        /// The name
        name: String,
    },
    /// List names
    Ls,
    /// Remove one
    Rm {
        /// The name
        name: String,
    },
    /// List those that agents of this workspace ask for
    Requests,
    /// Show one, on a terminal only
    Get {
        /// The name
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) command: HistoryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Import transcripts: JSON or JSON Lines of messages, sessions of Claude Code, rollouts of Codex
    Import {
        /// The files; `-` for standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Whose history they become part of; may be left out when there is only one agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
    },
    /// List what was imported
    Ls,
    /// Forget an import
    Rm {
        /// Which, as `ls` names it
        thread: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    pub(crate) command: DataCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Write everything as JSON
    Export {
        /// Into this file, instead of standard output
        file: Option<PathBuf>,
    },
    /// Bring an export back; entries of the same key are replaced, others stay
    Import {
        /// The export; `-` for standard input
        file: PathBuf,
    },
    /// Say in which folder it is
    Where,
}

#[derive(Debug, Args)]
pub(crate) struct TriggersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TriggersCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TriggersCommand {
    /// List the triggers of every agent in this workspace
    Ls,
    /// Show how runs ended, newest first
    History {
        /// Only of this trigger
        id: Option<String>,
        /// Most runs to show
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Start what is due, in the foreground, until it is stopped
    Run,
    /// Remove a trigger, whichever agent made it
    Rm {
        /// The trigger
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NoticesArgs {
    /// Show those that were read before, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Leave them unread
    #[arg(long)]
    pub(crate) peek: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LogCommand>,
    /// Only this session: an id, the beginning of one, or `last`
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only events of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// At most so many, the newest
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Check every hash chain; names the first damaged event
    Verify,
    /// List sessions
    Sessions,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// An id, the beginning of one, or `last`
    pub(crate) session: String,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// A folder with tools.jsonl and queries.jsonl
    pub(crate) dir: PathBuf,
    /// A static embedding model to join in: a folder with tokenizer.json and model.safetensors
    #[arg(long, value_name = "DIR")]
    pub(crate) model: Option<PathBuf>,
    /// Show at most so many misses; 10 unless told, none with --json
    #[arg(long, value_name = "N")]
    pub(crate) misses: Option<usize>,
}
