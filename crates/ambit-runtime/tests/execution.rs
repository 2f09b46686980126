//! What happens while a call runs and to what it brings: deadlines, cancellation, panics, output
//! schemas, cutting and paging, and secrets.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::event::EventBody;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Completed, Content, Failure, Observation, Output};
use ambit_core::permission::Mode;
use ambit_core::pipeline::CallLimits;
use ambit_runtime::journal::{Event, Journal};
use ambit_runtime::session::Session;
use ambit_runtime::{CallRequest, CancellationToken};
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call, events, fixture_tool};
use proptest::prelude::*;
use serde_json::{Value, json};

fn one(line: &str, behaviour: Behaviour) -> Arc<FixtureResolver> {
    resolver(fixture_tool(line), behaviour)
}

fn resolver(tool: CapabilityManifest, behaviour: Behaviour) -> Arc<FixtureResolver> {
    Arc::new(FixtureResolver::new("kit", vec![(tool, behaviour)]))
}

fn limits(change: impl FnOnce(&mut CallLimits)) -> CallLimits {
    let mut limits = CallLimits::default();
    change(&mut limits);
    limits
}

fn completed(observation: Observation) -> Completed {
    match observation {
        Observation::Completed(it) => it,
        other => panic!("{other:?}"),
    }
}

/// The code and reason of the last observation on record.
fn ended(events: &[Event]) -> (Option<Code>, String) {
    let record = events.iter().rev().find_map(|it| match &it.body {
        EventBody::ToolObservation(record) => Some(record.clone()),
        _ => None,
    });
    let record = record.unwrap();
    (record.code, record.reason.unwrap_or_default())
}

#[tokio::test]
async fn a_call_that_runs_too_long_is_stopped() {
    let kit = one("local__kit__slow reads", Behaviour::Hangs);
    let bench = Bench::default()
        .with(kit, json!({}))
        .limited(limits(|it| it.call = Duration::from_millis(20)));
    let answer = bench.call(Mode::Auto, "kit__slow", json!({})).await;
    assert!(
        matches!(&answer, Observation::Failed(it) if it.code == Code::DeadlineExceeded && it.retryable),
        "{answer:?}"
    );
}

#[tokio::test]
async fn whoever_asked_can_call_it_off() {
    for line in ["local__kit__slow reads", "local__kit__slow writes"] {
        let kit = one(line, Behaviour::Hangs);
        let bench = Bench::default().with(kit.clone(), json!({}));
        let market = bench.market();
        let session = bench.session_on(&market, Mode::Auto).await;
        let cancel = CancellationToken::new();
        let (report, ()) = tokio::join!(session.call(request("kit__slow"), &cancel), async {
            kit.until_executing(1).await;
            cancel.cancel();
        });
        assert_eq!(report.observation.code(), Some(Code::Cancelled), "{line}");
        let events = events(&market, &session).await;
        assert_eq!(ended(&events).0, Some(Code::Cancelled), "{line}");
    }
}

#[tokio::test]
async fn what_is_called_off_before_it_begins_never_runs() {
    let kit = one("local__kit__read reads", Behaviour::Echo);
    let session = Bench::default()
        .with(kit.clone(), json!({}))
        .session(Mode::Auto)
        .await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    for _ in 0..20 {
        let report = session.call(request("kit__read"), &cancel).await;
        assert_eq!(report.observation.code(), Some(Code::Cancelled));
    }
    assert_eq!(kit.executed(), 0);
}

/// A caller that goes away without a word leaves an end on record all the same.
#[tokio::test]
async fn a_dropped_call_ends_on_record() {
    for line in ["local__kit__slow reads", "local__kit__slow writes"] {
        let kit = one(line, Behaviour::Hangs);
        let bench = Bench::default().with(kit.clone(), json!({}));
        let market = bench.market();
        let session = bench.session_on(&market, Mode::Auto).await;
        let cancel = CancellationToken::new();
        tokio::select! {
            _ = session.call(request("kit__slow"), &cancel) => panic!("it hangs"),
            () = kit.until_executing(1) => {}
        }
        let events = events(&market, &session).await;
        let (code, reason) = ended(&events);
        assert_eq!(code, Some(Code::Cancelled), "{line}");
        assert_eq!(reason, "whoever asked went away");
        let [.., start, end] = &events[..] else {
            panic!()
        };
        assert_eq!(start.body.type_name(), "tool.started");
        assert_eq!(end.cause, Some(start.seq));
    }
}

#[tokio::test]
async fn a_panic_hurts_only_its_call() {
    let kit = Arc::new(FixtureResolver::new(
        "kit",
        vec![
            (fixture_tool("local__kit__bad reads"), Behaviour::Panics),
            (fixture_tool("local__kit__good reads"), Behaviour::Echo),
        ],
    ));
    let session = Bench::default()
        .with(kit, json!({}))
        .session(Mode::Auto)
        .await;
    let bad = call(&session, "kit__bad", json!({})).await.observation;
    let good = call(&session, "kit__good", json!({})).await.observation;
    assert_eq!(
        (bad.code(), good.code()),
        (Some(Code::Internal), None),
        "{bad:?} {good:?}"
    );
}

/// A promised structured result must be there and fit; what was not promised is not looked at.
#[tokio::test]
async fn outputs_keep_their_promise() {
    let promised = Some(
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}),
    );
    let plain = || Output::text("x");
    for (schema, output, fits) in [
        (&promised, plain().with_structured(json!({"n": 1})), true),
        (&promised, plain().with_structured(json!({"n": "1"})), false),
        (&promised, plain().with_structured(json!([])), false),
        (&promised, plain(), false),
        (&None, plain(), true),
        (&None, plain().with_structured(json!({"n": "1"})), true),
    ] {
        let mut tool = fixture_tool("local__kit__read reads");
        tool.output_schema.clone_from(schema);
        let kit = resolver(tool, Behaviour::Returns(output.clone()));
        let bench = Bench::default().with(kit, json!({}));
        let answer = bench.call(Mode::Auto, "kit__read", json!({})).await;
        let code = (!fits).then_some(Code::OutputInvalid);
        assert_eq!(answer.code(), code, "{output:?}");
    }
}

/// Reads a cut result page by page through the pipeline, as a model would.
async fn read_on(session: &Session, cut: &Completed, limit: Option<u64>) -> String {
    let reference = &cut.result_ref.as_ref().unwrap().0;
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let mut arguments = json!({"ref": reference, "offset": offset});
        if let Some(limit) = limit {
            arguments["limit"] = limit.into();
        }
        let page = completed(call(session, "read_result", arguments).await.observation);
        assert_eq!(page.result_ref, None, "a page is never cut itself");
        let [Content::Text(text), Content::Text(more)] = &page.output.content[..] else {
            panic!("{page:?}")
        };
        whole.push_str(&text.text);
        match more.text.split_once("starts at offset ") {
            Some((_, next)) => offset = next.trim_end_matches(']').parse().unwrap(),
            None => return whole,
        }
    }
}

#[tokio::test]
async fn a_cut_result_can_be_read_to_its_end() {
    let text: String = (0..900).map(|n| format!("{n}: größe\n")).collect();
    for (result_bytes, limit) in [(1000, None), (1000, Some(7)), (5000, Some(65536))] {
        let bench = Bench::default()
            .with(
                one("local__kit__read reads", Behaviour::says(&text)),
                json!({}),
            )
            .limited(limits(|it| it.result_bytes = result_bytes));
        let session = bench.session(Mode::Auto).await;
        let cut = completed(call(&session, "kit__read", json!({})).await.observation);
        let given = cut.output.content[0].as_text().unwrap();
        assert!(given.len() <= result_bytes && text.starts_with(given));
        assert!(
            given.len() + 4 > result_bytes,
            "no more is cut than must be"
        );
        assert_eq!(read_on(&session, &cut, limit).await, format!("{text}\n"));
    }
}

#[tokio::test]
async fn a_result_belongs_to_its_agent() {
    let bench = Bench::default()
        .with(
            one("local__kit__read reads", Behaviour::says("x".repeat(5000))),
            json!({}),
        )
        .limited(limits(|it| it.result_bytes = 1000));
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Auto).await;
    let cut = completed(call(&session, "kit__read", json!({})).await.observation);
    let reference = cut.result_ref.unwrap().0;
    let mut spec = bench.spec(Mode::Auto);
    spec.agent = "other".to_owned();
    let other = market.open_session(spec).await.unwrap();
    other.begin_turn(&Default::default());
    for reference in [
        reference.as_str(),
        &format!("../tester/{reference}"),
        "r-../tester",
        "",
    ] {
        let answer = call(&other, "read_result", json!({"ref": reference})).await;
        assert_eq!(
            answer.observation.code(),
            Some(Code::Refused),
            "{reference}"
        );
    }
}

/// Where the whole cannot be kept, a silent cut would be worse than none.
#[tokio::test]
async fn a_result_that_cannot_be_stored_is_withheld() {
    let bench = Bench::default()
        .with(
            one("local__kit__read reads", Behaviour::says("x".repeat(5000))),
            json!({}),
        )
        .limited(limits(|it| it.result_bytes = 1000));
    std::fs::write(bench.folder.path().join("results"), "not a folder").unwrap();
    let answer = bench.call(Mode::Auto, "kit__read", json!({})).await;
    assert_eq!(answer.code(), Some(Code::JournalUnavailable), "{answer:?}");
}

const CANARY: &str = "canary-7f3a9e51c2";

/// A known secret, wherever a caller or a provider puts it, is in nothing that leaves: neither
/// the observation nor any file below the folder, journal and stored results included.
#[tokio::test]
async fn a_known_secret_leaves_in_no_direction() {
    let mut strict = fixture_tool("local__kit__strict reads");
    strict.input_schema = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let mut promised = fixture_tool("local__kit__promised reads");
    promised.output_schema = Some(
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}),
    );
    let structured = Output {
        content: vec![
            Content::text(format!("key={CANARY}")),
            Content::Block(json!({"type": "resource", "uri": format!("x://{CANARY}"), CANARY: 1})),
        ],
        structured: Some(json!({"n": 1, "more": [CANARY], CANARY: true})),
        meta: Some(json!({"key": CANARY})),
        from_outside: false,
    };
    let broken = Output::text("x").with_structured(json!({"n": CANARY}));
    let tools = vec![
        (fixture_tool("local__kit__echo reads"), Behaviour::Echo),
        (fixture_tool("local__kit__echo2 writes"), Behaviour::Echo),
        (
            fixture_tool("local__kit__big reads"),
            Behaviour::says(format!("{CANARY}\n").repeat(500)),
        ),
        (
            fixture_tool("ext__kit__whole reads"),
            Behaviour::Returns(structured),
        ),
        (
            fixture_tool("ext__kit__fails reads"),
            Behaviour::Fails(Failure::provider(format!("401 for {CANARY}"))),
        ),
        (promised, Behaviour::Returns(broken)),
        (strict, Behaviour::Echo),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(&folder.path().join("journal.db")).unwrap();
    let bench = Bench::default()
        .with(Arc::new(FixtureResolver::new("kit", tools)), json!({}))
        .secret(CANARY)
        .journal(journal)
        .limited(limits(|it| it.result_bytes = 1000));
    let market = bench.market();
    let session = bench.session_on(&market, Mode::Auto).await;
    let deep = json!({"a": [CANARY, {CANARY: CANARY}], "b": format!("x{CANARY}x")});
    for (target, arguments) in [
        ("local__kit__echo", deep.clone()),
        ("local__kit__echo2", deep.clone()),
        ("local__kit__big", json!({})),
        ("ext__kit__whole", json!({})),
        ("ext__kit__fails", json!({})),
        ("local__kit__promised", json!({})),
        ("local__kit__strict", json!({CANARY: 1, "x": [CANARY]})),
        (&format!("local__kit__{CANARY}"), deep),
        ("read_result", json!({"ref": CANARY})),
    ] {
        let report = call(&session, target, arguments).await;
        let shown = format!("{:?}", report.observation);
        assert!(!shown.contains(CANARY), "{target}: {shown}");
        if let Observation::Completed(it) = report.observation
            && it.result_ref.is_some()
        {
            let whole = read_on(&session, &it, None).await;
            assert!(whole.contains("[redacted]") && !whole.contains(CANARY));
        }
    }
    let events = format!("{:?}", events(&market, &session).await);
    assert!(
        events.contains("[redacted]") && !events.contains(CANARY),
        "{events}"
    );
    drop((session, market));
    for place in [folder.path(), bench.folder.path()] {
        search(place);
    }
}

/// No file below holds the canary.
fn search(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(CANARY.len())
                .any(|it| it == CANARY.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

fn request(target: &str) -> CallRequest {
    CallRequest {
        target: target.to_owned(),
        arguments: Value::Object(Default::default()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever the text, the limit and the page: nothing is lost and nothing is cut twice.
    #[test]
    fn pages_always_join_to_the_whole(
        text in "(?s).{0,400}",
        result_bytes in 150usize..400,
        limit in prop::option::of(4u64..500),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::default()
                .with(one("local__kit__read reads", Behaviour::says(&text)), json!({}))
                .limited(limits(|it| it.result_bytes = result_bytes));
            let session = bench.session(Mode::Auto).await;
            let given = completed(call(&session, "kit__read", json!({})).await.observation);
            if text.len() <= result_bytes {
                assert_eq!(given.output, Output::text(text));
            } else {
                assert_eq!(read_on(&session, &given, limit).await, format!("{text}\n"));
            }
        });
    }
}
