//! What a person decides, issues and keeps to themselves.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
