//! What there is, what a model would see, and one call.

use std::path::PathBuf;

use ambit_core::permission::Mode;
use clap::{Args, ValueEnum};

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

pub(super) fn parse_mode(text: &str) -> Result<Mode, String> {
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
