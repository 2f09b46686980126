//! What goes wrong between an engine and its provider, on a clock that stands still unless
//! somebody waits.

mod support;

use ambit_agent::config::Provider;
use ambit_agent::engine::{ModelNews, Unheard};
use ambit_agent::error::EngineError;
use ambit_agent::message::Message;
use ambit_runtime::CancellationToken;
use ambit_testkit::{Mishap, ModelEndpoint};
use serde_json::json;

use support::{Heard, KEY, LONG, PROVIDERS, ask, engine, one_turn, talk};

/// These mishaps, then this: what was said, or the error; and how many requests that took.
async fn check(mishaps: &[Mishap], requests: usize, expected: &str) {
    for provider in PROVIDERS {
        let endpoint = ModelEndpoint::start_here(&one_turn()).await;
        endpoint.fails(mishaps.iter().cloned());
        let engine = engine(provider, &endpoint);
        let heard = Heard::default();
        let said = tokio::time::timeout(LONG, talk(&*engine, &heard)).await;
        let said = match said.unwrap_or(Err(EngineError::Cancelled)) {
            Ok(lines) => lines.join(" "),
            Err(error) => {
                assert!(error.hint().is_some(), "{error}");
                error.to_string()
            }
        };
        let context = format!("{provider:?} {mishaps:?} {:?}", heard.lines());
        assert!(said.contains(expected), "{said}\n{context}");
        assert!(!said.contains(KEY), "{said}");
        assert_eq!(endpoint.requests().len(), requests, "{context}");
        assert_eq!(heard.pauses(), requests - 1, "{context}");
    }
}

const SAID: &str = "Answered \"Grüße aus dem Süden 🌞, und noch etwas mehr davon.\"";

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again() {
    for mishap in [
        Mishap::busy(429, "7"),
        Mishap::busy(503, "Sun, 06 Nov 1994 08:49:37 GMT"),
        Mishap::status(500, "api_error", "oops"),
        Mishap::status(529, "overloaded_error", "Overloaded"),
        Mishap::Disconnect,
        Mishap::Truncate,
        Mishap::ErrorEvent("overloaded_error".to_owned()),
        Mishap::Hang,
    ] {
        check(&[mishap], 2, SAID).await;
    }
    let many = [
        Mishap::busy(429, "1"),
        Mishap::Disconnect,
        Mishap::status(502, "", ""),
        Mishap::Truncate,
    ];
    check(&many, 5, SAID).await;
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pass_is_said() {
    check(
        &vec![Mishap::status(500, "", "oops"); 5],
        5,
        "(5 tries): oops (500)",
    )
    .await;
    check(&vec![Mishap::Hang; 5], 5, "has said nothing for 300 s").await;
    check(&vec![Mishap::Disconnect; 5], 5, "cannot be reached").await;
    check(&[Mishap::busy(429, "3600")], 1, "(1 try): status 429").await;
    let denied = Mishap::status(401, "authentication_error", &format!("no such key: {KEY}"));
    check(
        &[denied],
        1,
        "does not accept the key (401): no such key: ***",
    )
    .await;
    let long = Mishap::status(400, "invalid_request_error", "prompt is too long");
    check(&[long], 1, "is too long for `claude-opus-5`").await;
    let error = Mishap::ErrorEvent("invalid_request_error".to_owned());
    check(&[error], 1, "refused the request").await;
    let quota = Mishap::status(429, "insufficient_quota", "pay");
    check(&[quota], 1, "refused the request (429): pay").await;
    check(
        &[Mishap::Status(
            302,
            vec![("location".to_owned(), "/elsewhere".to_owned())],
            String::new(),
        )],
        1,
        "refused the request (302)",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_api_is_said() {
    let raw = |text: &str| [Mishap::Raw(text.to_owned())];
    check(&raw("data: {nope\n\n"), 1, "an event is not JSON").await;
    check(&raw("<html>\n"), 1, "not a stream of events").await;
    let page = Mishap::Status(200, Vec::new(), "{}".to_owned());
    check(&[page], 1, "not with a stream").await;
    let endless = format!("data: \"{}\"\n\n", "x".repeat(9 << 20));
    check(
        &raw(&endless),
        1,
        "one event of the answer is larger than 8388608",
    )
    .await;
}

#[tokio::test]
async fn there_may_be_too_much_of_everything() {
    let calls: Vec<_> = (0..200)
        .map(|_| json!({"tool": "grep", "input": {}}))
        .collect();
    let many = json!({"turns": [{"calls": calls}]});
    let large = "x".repeat(5 << 20);
    let large = json!({"turns": [{"calls": [{"tool": "grep", "input": {"text": large}}]}]});
    for (script, expected) in [
        (many, "the number of calls is larger than 128"),
        (large, "what a call is made with is larger than 4194304"),
    ] {
        for provider in PROVIDERS {
            let endpoint = ModelEndpoint::start(&script);
            endpoint.cuts(ambit_testkit::Cut::Whole);
            let said = talk(&*engine(provider, &endpoint), &Unheard).await;
            assert_eq!(said.unwrap_err().to_string(), expected, "{provider:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_listener_hears_that_it_starts_over() {
    let endpoint = ModelEndpoint::start_here(&json!({"turns": [{"say": "One two three."}]})).await;
    endpoint.fails([Mishap::busy(429, "7")]);
    let heard = Heard::default();
    let engine = engine(Provider::Anthropic, &endpoint);
    talk(&*engine, &heard).await.unwrap();
    let lines = heard.lines();
    let first = lines.first().unwrap();
    assert!(first.starts_with("again after 7 s: `http://127"), "{first}");
    assert_eq!(lines[1..], ["thinking Hm.", "text One two", "text  three."]);
}

/// Wherever it waits, it ends at once when it is cancelled.
#[tokio::test]
async fn it_can_be_cancelled_wherever_it_waits() {
    for provider in PROVIDERS {
        for mishap in [Mishap::Hang, Mishap::busy(429, "50")] {
            let endpoint = ModelEndpoint::start(&one_turn());
            endpoint.fails([mishap.clone()]);
            let engine = engine(provider, &endpoint);
            let cancel = CancellationToken::new();
            let end = cancel.clone();
            let listener = move |news: ModelNews<'_>| match news {
                ModelNews::Text(_) | ModelNews::StartsOver { .. } => end.cancel(),
                ModelNews::Thinking(_) | ModelNews::Calling(_) => {}
            };
            let turn = ask(
                &*engine,
                &[Message::user("go")],
                &["grep"],
                &listener,
                &cancel,
            )
            .await;
            assert!(matches!(turn, Err(EngineError::Cancelled)), "{mishap:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_there_is_said_with_the_address() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let mut gone = ModelEndpoint::start(&one_turn());
    gone.url.clone_from(&url);
    for provider in PROVIDERS {
        let error = talk(&*engine(provider, &gone), &Unheard).await.unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with(&format!("`{url}")) && said.contains("refused"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn keys_are_sent_where_they_belong_and_shown_nowhere() {
    for (provider, header) in [
        (Provider::OpenAi, format!("authorization: Bearer {KEY}")),
        (Provider::Anthropic, format!("x-api-key: {KEY}")),
    ] {
        let endpoint = ModelEndpoint::start(&one_turn());
        talk(&*engine(provider, &endpoint), &Unheard).await.unwrap();
        let head = endpoint.heads().remove(0);
        assert!(head.contains(&header), "{head}");
    }
}
