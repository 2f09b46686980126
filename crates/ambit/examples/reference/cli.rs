//! Every command with its usage, arguments and options, as clap knows them.

use clap::{Arg, Command};

use crate::cell;

const TOP: &str = "\
# The command line

Data goes to standard output, everything else to standard error. With `--json` a command prints
one JSON document with a `schemaVersion`, or one event per line; errors are JSON then, too.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | the answer is no: denied, failed, or different |
| 2 | the command or the configuration is wrong |
| 3 | a provider could not be reached |
| 70 | a bug |
";

pub(crate) fn reference() -> String {
    let mut text = TOP.to_owned();
    let mut root = ambit::cli::command();
    root.build();
    text.push_str("\nEverywhere:\n\n");
    let everywhere: Vec<&Arg> = root
        .get_arguments()
        .filter(|it| it.is_global_set())
        .collect();
    text.push_str(&table("option", &everywhere));
    for command in root
        .get_subcommands()
        .filter(|it| it.get_name() != "help" && !it.is_hide_set())
    {
        section(command, &mut text);
    }
    text
}

fn section(command: &Command, text: &mut String) {
    // Built commands carry their whole path as their name for usage.
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    text.push_str(&format!(
        "\n## `{name}`\n\n{about}.\n\n```text\n{usage}\n```\n"
    ));
    let own = || {
        let generated = |it: &&Arg| matches!(it.get_id().as_str(), "help" | "version");
        command
            .get_arguments()
            .filter(move |it| !generated(it) && !it.is_global_set())
    };
    let (arguments, options): (Vec<&Arg>, Vec<&Arg>) = own().partition(|it| it.is_positional());
    for (title, of) in [("argument", arguments), ("option", options)] {
        if !of.is_empty() {
            text.push_str(&format!("\n{}", table(title, &of)));
        }
    }
    for below in command
        .get_subcommands()
        .filter(|it| it.get_name() != "help")
    {
        section(below, text);
    }
}

fn table(title: &str, arguments: &[&Arg]) -> String {
    let mut text = format!("| {title} | meaning |\n| --- | --- |\n");
    for argument in arguments {
        text.push_str(&format!(
            "| `{}` | {} |\n",
            cell(&spelled(argument)),
            cell(&meaning(argument))
        ));
    }
    text
}

fn spelled(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = values.first().map(ToString::to_string).unwrap_or_default();
    match argument.get_long() {
        Some(long) if argument.get_action().takes_values() => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None if argument.is_required_set() => value,
        None => format!("[{value}]"),
    }
}

fn meaning(argument: &Arg) -> String {
    let mut text = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .map(|it| format!("`{}`", it.get_name()))
        .collect();
    if !values.is_empty() && argument.get_action().takes_values() {
        text.push_str(&format!(": {}", values.join(", ")));
    }
    let defaults: Vec<_> = argument
        .get_default_values()
        .iter()
        .map(|it| it.to_string_lossy())
        .collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        text.push_str(&format!(" (default `{}`)", defaults.join(" ")));
    }
    text
}
