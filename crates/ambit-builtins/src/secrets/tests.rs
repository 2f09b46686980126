use std::sync::Arc;

use ambit_core::observation::Observation;
use ambit_core::permission::{Answer, Mode};
use ambit_core::visible::VisibleSet;
use ambit_runtime::session::Session;
use ambit_testkit::{Answers, Behaviour, Bench, FixtureResolver, call, events};
use serde_json::{Value, json};

use super::*;
use crate::Builtins;
use crate::shell::ShellResolver;

const VALUE: &str = "canary-5d1c0e";

struct Fixed;

impl Vault for Fixed {
    fn has(&self, name: &str) -> Result<bool, String> {
        Ok(matches!(name, "TOKEN" | "SHORT" | "ELSEWHERE"))
    }

    fn value(&self, name: &str) -> Result<Option<String>, String> {
        Ok(match name {
            "SHORT" => Some("abc".to_owned()),
            _ => Some(VALUE.to_owned()),
        })
    }
}

/// Its key is missing.
struct Locked;

impl Vault for Locked {
    fn has(&self, _: &str) -> Result<bool, String> {
        Err("the key to `secrets.age` is missing".to_owned())
    }

    fn value(&self, name: &str) -> Result<Option<String>, String> {
        self.has(name).map(|_| None)
    }
}

/// Secrets, a shell, and a tool that answers with its arguments.
fn bench(vault: impl Vault + 'static) -> Bench {
    let bench = Bench::default();
    let mut builtins = Builtins::new(Store::at(&bench.folder.path().join("store")));
    builtins.vault = Some(Arc::new(vault));
    let secrets = builtins.resolvers().into_iter().find(|it| it.key() == KEY);
    let shell = "local__shell__run_command";
    bench
        .asking(Arc::new(Answers::new([Answer::Once; 8])))
        .with(
            secrets.unwrap(),
            json!({"bind": {
                "TOKEN": {"for": [shell], "description": "opens the door"},
                "SHORT": {"for": [shell]},
                "ELSEWHERE": {"for": ["mcp__web__fetch"]},
                "UNSET": {"for": [shell]},
            }}),
        )
        .with(Arc::new(ShellResolver), json!({"allow": ["sh"]}))
        .with(
            Arc::new(FixtureResolver::lines(
                "echo",
                "local__echo__say reads",
                &Behaviour::Echo,
            )),
            json!({}),
        )
}

fn said(observation: &Observation) -> String {
    match observation {
        Observation::Completed(it) => it
            .output
            .content
            .iter()
            .filter_map(|it| it.as_text())
            .collect(),
        Observation::Denied(it) => format!("denied: {}", it.reason),
        Observation::Failed(it) => format!("failed: {}", it.message),
    }
}

async fn ask(session: &Session, tool: &str, arguments: Value) -> String {
    said(
        &call(session, &format!("local__secrets__{tool}"), arguments)
            .await
            .observation,
    )
}

async fn run(session: &Session, script: &str, env: Value) -> String {
    let arguments = json!({"command": ["sh", "-c", script], "env": env});
    said(
        &call(session, "local__shell__run_command", arguments)
            .await
            .observation,
    )
}

#[tokio::test]
async fn each_tool_answers() {
    let bench = bench(Fixed);
    let session = bench.session(Mode::Ask).await;
    for (tool, arguments, expected) in [
        ("list_secrets", json!({}), "TOKEN: opens the door"),
        (
            "describe_secret",
            json!({"name": "TOKEN"}),
            "is set\nfor: opens the door\ncan be used with: `local__shell__run_command`",
        ),
        (
            "describe_secret",
            json!({"name": "UNSET"}),
            "is not set yet",
        ),
        (
            "describe_secret",
            json!({"name": "TOKN"}),
            "did you mean `TOKEN`?",
        ),
        ("describe_secret", json!({"name": "../x"}), "denied"),
        (
            "request_secret",
            json!({"name": "NEW", "reason": "to post"}),
            "ambit secrets set NEW",
        ),
        (
            "request_secret",
            json!({"name": "TOKEN", "reason": "x"}),
            "is set already",
        ),
        (
            "request_secret",
            json!({"name": "NEW", "reason": "x".repeat(501)}),
            "denied",
        ),
        ("use_secret", json!({"name": "UNSET"}), "request_secret"),
        (
            "use_secret",
            json!({"name": "UNBOUND"}),
            "no secret `UNBOUND` may be used here",
        ),
    ] {
        let said = ask(&session, tool, arguments.clone()).await;
        assert!(said.contains(expected), "{tool} {arguments}: {said}");
    }
}

#[tokio::test]
async fn a_vault_that_does_not_open_is_told() {
    let bench = bench(Locked);
    let session = bench.session(Mode::Ask).await;
    for (tool, arguments) in [
        ("list_secrets", json!({})),
        ("use_secret", json!({"name": "TOKEN"})),
    ] {
        let said = ask(&session, tool, arguments).await;
        assert!(
            said.contains("secrets cannot be read: the key to"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn the_value_reaches_the_child_and_nobody_else() {
    let bench = bench(Fixed);
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Ask).await;
    let placeholder = ask(&session, "use_secret", json!({"name": "TOKEN"})).await;
    assert_eq!(
        ask(&session, "use_secret", json!({"name": "TOKEN"})).await,
        placeholder
    );
    let env = json!({"TOKEN": placeholder});
    let length = run(&session, "printf %s \"$TOKEN\" | wc -c", env.clone()).await;
    assert!(length.contains("\n13\n"), "{length}");
    let shown = run(&session, "echo it is $TOKEN", env).await;
    assert!(shown.contains("it is [redacted]"), "{shown}");
    let echoed = call(&session, "local__echo__say", json!({"text": placeholder})).await;
    assert!(said(&echoed.observation).contains(&placeholder));
    let written = serde_json::to_string(&events(&market, &session).await).unwrap();
    assert!(written.contains("local__shell__run_command") && !written.contains(VALUE));
}

#[tokio::test]
async fn a_placeholder_is_filled_only_where_it_belongs() {
    let bench = bench(Fixed);
    let session = bench.session(Mode::Ask).await;
    let get = async |name: &str| ask(&session, "use_secret", json!({"name": name})).await;
    let (token, short, elsewhere) = (
        get("TOKEN").await,
        get("SHORT").await,
        get("ELSEWHERE").await,
    );
    let foreign = placeholder(&"a".repeat(WORD));
    for (env, expected) in [
        (json!({"OTHER": token}), "must be called `TOKEN`"),
        (
            json!({"ELSEWHERE": elsewhere}),
            "is not bound to `local__shell__run_command`",
        ),
        (json!({"TOKEN": foreign}), "get one with use_secret"),
        (json!({"SHORT": short}), "too short"),
        (json!({"TOKEN": "plain"}), "denied"),
        (json!({"LD_PRELOAD": "x.so"}), "denied"),
    ] {
        let said = run(&session, "env", env.clone()).await;
        assert!(
            said.contains(expected) && !said.contains(VALUE),
            "{env}: {said}"
        );
    }
    // In an argument it stays what it is.
    let said = run(&session, &format!("echo {token}"), json!({})).await;
    assert!(said.contains(&token), "{said}");
}

#[tokio::test]
async fn read_only_shows_no_tool_that_writes() {
    let bench = bench(Fixed);
    let session = bench.session(Mode::ReadOnly).await;
    let visible: Arc<VisibleSet> = session.visible();
    let names: Vec<_> = visible
        .entries()
        .iter()
        .map(|it| it.id.to_string())
        .collect();
    for (tool, expected) in [
        ("list_secrets", true),
        ("describe_secret", true),
        ("use_secret", true),
        ("request_secret", false),
    ] {
        let id = format!("local__secrets__{tool}");
        assert_eq!(names.contains(&id), expected, "{tool}: {names:?}");
    }
}

#[test]
fn requests_wait_until_they_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let at = jiff::Timestamp::UNIX_EPOCH;
    for n in 0..50 {
        requests::keep(&store, "a", &format!("N{n}"), "why", at).unwrap();
    }
    requests::keep(&store, "a", "N1", "a better reason", at).unwrap();
    let full = requests::keep(&store, "a", "ONE_MORE", "why", at).unwrap_err();
    assert!(full.message.contains("wait already"));
    assert_eq!(SecretRequest::answered(&store, "N0").unwrap(), 1);
    let left = SecretRequest::all(&store).unwrap();
    assert_eq!(
        (left.len(), left[0].reason.as_str()),
        (49, "a better reason")
    );
}
