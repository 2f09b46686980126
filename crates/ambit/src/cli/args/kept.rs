//! What happened, and what is kept.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
