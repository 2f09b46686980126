//! The command line: parse, dispatch, print, exit.

mod add;
mod agents;
pub(crate) mod args;
pub(crate) mod ask;
mod call;
mod catalog;
pub(crate) mod check;
mod configured;
mod data;
mod decide;
mod definitions;
mod demo;
mod discover;
mod doctor;
mod edit;
mod eval;
mod explain;
pub(crate) mod fail;
mod history;
mod init;
mod listing;
mod login;
mod mcp;
mod notices;
mod own;
mod printer;
mod proposals;
mod run;
mod secrets;
mod serve;
pub(crate) mod setup;
mod transcripts;
mod triggers;
mod unresolved;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use ambit_runtime::watchdog;
use clap::{CommandFactory, Parser};

use crate::config::Problem;
use args::{Cli, Command};
use fail::{Exit, Fail};
use printer::Printer;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if matches!(cli.command, Command::Watchdog) {
        watchdog::guard(std::io::stdin().lock());
        return ExitCode::SUCCESS;
    }
    keep_watchdog();
    let printer = Printer::new(cli.json);
    let outcome = catch_unwind(AssertUnwindSafe(|| dispatch(cli, &printer))).unwrap_or_else(|_| {
        // The panic itself has said where; this says what it means.
        let problem = Problem::error("bug", "this is a bug in Ambit")
            .hint("what was recorded is safe; `ambit log verify` says so. Please report what is printed above");
        Err(Fail { exit: Exit::Bug, problems: vec![problem] })
    });
    match outcome {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(fail) => {
            printer.failure(&fail);
            ExitCode::from(fail.exit as u8)
        }
    }
}

/// Whatever this process starts ends with it, however it ends.
fn keep_watchdog() {
    if let Ok(own) = std::env::current_exe() {
        let mut command = std::process::Command::new(own);
        command.arg("watchdog");
        watchdog::keep(command);
    }
}

fn dispatch(cli: Cli, printer: &Printer) -> Result<Exit, Fail> {
    let setup = || setup::Setup::load(cli.trust_project, printer);
    match cli.command {
        Command::Init(args) => init::init(&args, printer),
        Command::Add(args) => add::add(args, printer),
        Command::Remove(args) => add::remove(&args, printer),
        Command::Check => check::check(cli.trust_project, printer),
        Command::Ls(args) => catalog::ls(&setup()?, &args, printer),
        Command::Show(args) => catalog::show(&setup()?, &args, printer),
        Command::Call(args) => call::call(&setup()?, args, printer),
        Command::Resolve(args) => catalog::resolve(&setup()?, &args, printer),
        Command::Trust(args) => decide::trust(args.command, printer),
        Command::Approvals(args) => decide::approvals(args.command, printer),
        Command::Agents(args) => agents::agents(setup, args.command, printer),
        Command::Login(args) => login::login(setup()?, &args, printer),
        Command::Logout(args) => login::logout(&setup()?, &args, printer),
        Command::Secrets(args) => secrets::secrets(setup, args.command, printer),
        Command::Data(args) => data::data(&setup()?, &args.command, printer),
        Command::History(args) => transcripts::transcripts(&setup()?, args.command, printer),
        Command::Triggers(args) => triggers::triggers(setup()?, args.command, printer),
        Command::Notices(args) => notices::notices(&setup()?, &args, printer),
        Command::Log(args) => history::log(args, printer),
        Command::Replay(args) => history::replay(&args, printer),
        Command::Search(args) => discover::search(&setup()?, &args, printer),
        Command::Visible(args) => discover::visible(&setup()?, &args, printer),
        Command::Explain(args) => explain::explain(setup, &args, printer),
        Command::Diff(args) => explain::diff(&args, printer),
        Command::Eval(args) => eval::eval(&args, printer),
        // It was seen to before anything else.
        Command::Watchdog => Ok(Exit::Done),
        Command::Schema => {
            printer.json_line(&crate::config::json_schema());
            Ok(Exit::Done)
        }
        Command::Doctor => doctor::doctor(cli.trust_project, printer),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "ambit", &mut script);
            printer.raw(&String::from_utf8_lossy(&script));
            Ok(Exit::Done)
        }
        Command::Run(args) => run::run(setup()?, args, printer),
        Command::Demo => demo::demo(printer),
        Command::DemoServer => demo::serve(),
        Command::Mcp(args) => mcp::mcp(setup()?, &args, printer),
        Command::Serve(args) => serve::serve(setup()?, args, printer),
    }
}

/// Help and version are answers; anything else that does not parse is a usage error, in the shape
/// the caller asked for.
fn usage(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|it| it == "--json");
    if !error.use_stderr() || !wants_json {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() {
            Exit::Usage as u8
        } else {
            Exit::Done as u8
        });
    }
    let text = error.to_string();
    // Up to the first blank line: what is missing stands in lines of its own below the first.
    let said: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|it| !it.is_empty())
        .collect();
    let said = said.join(" ");
    let message = said.trim_start_matches("error: ");
    let problem = Problem::error("usage", message).hint("see `ambit --help`");
    Printer::new(true).failure(&Fail::usage(problem));
    ExitCode::from(Exit::Usage as u8)
}

/// The command line as clap knows it, for the reference.
pub fn command() -> clap::Command {
    Cli::command()
}
