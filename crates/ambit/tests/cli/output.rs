//! Data on stdout and the rest on stderr; colour for eyes only.

use serde_json::json;

use crate::support::{configured, home};

#[test]
fn a_pipe_gets_no_colour_and_only_data() {
    let mut home = configured(json!({"mode": "auto"}));
    home.set("TERM", "xterm-256color");
    home.write("a.txt", "one\n");
    home.write("ambit.json", "{}");
    for arguments in [
        &["ls"][..],
        &["show", "files__glob"],
        &["check"],
        &["resolve"],
        &["doctor"],
        &["trust", "ls"],
        &["call", "files__read_file", "--input", r#"{"path":"a.txt"}"#],
        &["call", "files__read_file", "--input", r#"{"path":"b.txt"}"#],
        &["log"],
        &["log", "verify"],
        &["replay", "last"],
        &["nope"],
        &["--help"],
    ] {
        let run = home.run(arguments);
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains('\u{1b}'), "{arguments:?}: {text:?}");
        }
    }
    let read = home.run(&["call", "files__read_file", "--input", r#"{"path":"a.txt"}"#]);
    assert_eq!(read.stdout, "one\n");
    assert!(read.stderr.contains("project_untrusted"), "{}", read.stderr);
    let denied = home
        .run(&["call", "files__read_file", "--input", r#"{"path":"b.txt"}"#])
        .exits(1);
    assert_eq!(denied.stdout, "");
    assert!(
        denied.stderr.contains("failed (provider_failed)"),
        "{}",
        denied.stderr
    );
    let usage = home.run(&["nope"]).exits(2);
    assert_eq!(usage.stdout, "");
    let help = home.run(&["--help"]).exits(0);
    assert!(help.stdout.contains("Usage: ambit") && help.stderr.is_empty());
    let version = home.run(&["--version"]).exits(0);
    assert_eq!(
        version.stdout,
        concat!("ambit ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn warnings_do_not_mix_with_json() {
    let home = home();
    home.write("ambit.json", "{}");
    let run = home.run(&["ls", "--json"]).exits(0);
    assert_eq!(run.json()["schemaVersion"], 1);
    assert_eq!(run.stdout.lines().count(), 1);
}

#[test]
fn a_command_without_a_home_says_so() {
    let home = home();
    let output = home
        .command(&["ls", "--json"])
        .env_remove("HOME")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""code":"no_home""#), "{text}");
}

#[test]
fn a_folder_that_is_gone_is_told() {
    let home = home();
    let gone = home.work().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let line = r#"rmdir "$PWD" && exec "$AMBIT" ls --json"#;
    let inner = home.command(&[]);
    let output = std::process::Command::new("sh")
        .args(["-c", line])
        .env("HOME", home.home())
        .env("AMBIT", inner.get_program())
        .current_dir(&gone)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("the working directory cannot be used"),
        "{text}"
    );
}
