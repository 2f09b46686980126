//! What an agent's `capabilities` bring it, and what they do not: the outer bound of a session.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::grant::GrantProblem;
use ambit_core::permission::Mode;
use ambit_runtime::injection::INJECTION_SOURCE;
use ambit_runtime::registry::{RegisterError, Skipped, UnknownCapabilities};
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use ambit_runtime::session::Session;
use ambit_testkit::{Behaviour, Bench, FixtureResolver, call, fixture_tool};
use async_trait::async_trait;
use proptest::prelude::*;
use serde_json::{Value, json};

const TOOLS: [&str; 3] = ["read", "write", "list"];

fn kit() -> Arc<FixtureResolver> {
    let lines: Vec<_> = TOOLS
        .iter()
        .map(|it| format!("local__kit__{it} reads"))
        .collect();
    Arc::new(FixtureResolver::lines(
        "kit",
        &lines.join("\n"),
        &Behaviour::Echo,
    ))
}

/// Both keys, of which `dud` resolves to nothing.
fn bench() -> Bench {
    let dud = FixtureResolver::nothing("dud", &["local__dud__send reads"], "no callback to send");
    Bench::default()
        .with(kit(), json!({}))
        .with(Arc::new(dud), json!({}))
}

async fn open(
    bench: &Bench,
    capabilities: Value,
    unknown: UnknownCapabilities,
) -> Result<Session, Vec<GrantProblem>> {
    let mut spec = bench.spec(Mode::Ask);
    spec.capabilities = capabilities;
    spec.unknown = unknown;
    let session = bench.market().open_session(spec).await?;
    session.begin_turn(&Default::default());
    Ok(session)
}

/// The names a model sees, without the runtime's own.
fn seen(session: &Session) -> Vec<String> {
    let visible = session.visible();
    let ids = visible.entries().iter().map(|it| it.id.as_str().to_owned());
    ids.filter(|it| !it.starts_with("local__ambit__")).collect()
}

#[tokio::test]
async fn what_is_listed_is_there_and_nothing_else() {
    for (capabilities, expected) in [
        (json!({}), ""),
        (json!([]), ""),
        (json!(["kit"]), "kit__list kit__read kit__write"),
        (json!({"kit": {}}), "kit__list kit__read kit__write"),
        (
            json!({"kit": {"level": 3}}),
            "kit__list kit__read kit__write",
        ),
        (json!({"kit": {"tools": []}}), ""),
        (json!({"kit": {"tools": ["read"]}}), "kit__read"),
        (
            json!({"kit": {"tools": ["write", "read", "read"]}}),
            "kit__read kit__write",
        ),
    ] {
        let bench = bench();
        let session = open(&bench, capabilities.clone(), UnknownCapabilities::Error)
            .await
            .unwrap();
        let expected: Vec<_> = expected
            .split_whitespace()
            .map(|it| format!("local__{it}"))
            .collect();
        assert_eq!(seen(&session), expected, "{capabilities}");
        for tool in TOOLS {
            let id = format!("local__kit__{tool}");
            let answer = call(&session, &id, json!({})).await.observation;
            let granted = expected.contains(&id);
            let code = (!granted).then_some(Code::NotVisible);
            assert_eq!(answer.code(), code, "{capabilities} {tool}");
        }
    }
}

#[tokio::test]
async fn every_problem_has_its_place_and_remedy() {
    for (capabilities, expected) in [
        (json!({"kti": {}}), "/kti: unknown capability `kti` [kit]"),
        (
            json!(["kit", "zzzzz"]),
            "/zzzzz: unknown capability `zzzzz` []",
        ),
        (
            json!(["kit", "kit"]),
            "/kit: capability `kit` is listed twice []",
        ),
        (
            json!("kit"),
            ": `capabilities` must be an object, or a list of keys []",
        ),
        (
            json!({"kit": true}),
            "/kit: the config of `kit` must be an object []",
        ),
        (
            json!({"kit": {"tools": ["read", "raed"]}}),
            "/kit/tools/1: `kit` has no tool `raed` [read]",
        ),
        (
            json!({"kit": {"tools": ["*"]}}),
            "/kit/tools/0: `kit` has no tool `*` [list read write]",
        ),
        (
            json!({"kit": {"tools": "read"}}),
            "/kit/tools: `tools` of `kit` must be a list of tool names []",
        ),
        (
            json!({"dud": {"tools": ["x"]}, "kti": {}}),
            "/dud/tools/0: `dud` has no tool `x` [send] | /kti: unknown capability `kti` [kit]",
        ),
    ] {
        let bench = bench();
        let problems = open(&bench, capabilities.clone(), UnknownCapabilities::Error).await;
        let lines: Vec<_> = problems
            .err()
            .unwrap_or_default()
            .iter()
            .map(|it| {
                let near = it.suggestions().join(" ");
                format!("{}: {it} [{near}]", it.pointer())
            })
            .collect();
        assert_eq!(lines.join(" | "), expected, "{capabilities}");
    }
}

#[tokio::test]
async fn an_unknown_key_may_be_skipped_and_is_remembered() {
    let bench = bench();
    let session = open(&bench, json!(["kit", "kti"]), UnknownCapabilities::Skip)
        .await
        .unwrap();
    let skipped = [Skipped {
        key: "kti".to_owned(),
        reason: "no capability `kti` is known here".to_owned(),
    }];
    assert_eq!(session.skipped(), skipped);
    assert_eq!(seen(&session).len(), 3);
    // Skipping forgives a missing key, not a mistake about a known one.
    let wrong = json!({"kti": {}, "kit": {"tools": ["raed"]}});
    let problems = open(&bench, wrong, UnknownCapabilities::Skip).await.err();
    assert_eq!(problems.unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_that_resolves_to_nothing_takes_its_tools_along() {
    let bench = bench();
    let session = open(&bench, json!(["kit", "dud"]), UnknownCapabilities::Error)
        .await
        .unwrap();
    assert_eq!(session.skipped()[0].key, "dud");
    assert_eq!(session.skipped()[0].reason, "no callback to send");
    assert!(!seen(&session).iter().any(|it| it.contains("dud")));
    let answer = call(&session, "local__dud__send", json!({})).await;
    assert_eq!(answer.observation.code(), Some(Code::NotVisible));
    let answer = call(&session, "kit__read", json!({})).await;
    assert_eq!(answer.observation.code(), None, "the others go on");
}

/// Fails when resolved, and must not be where nobody is granted it.
struct Touchy;

#[async_trait]
impl CapabilityResolver for Touchy {
    fn key(&self) -> &str {
        "touchy"
    }
    fn summary(&self) -> &str {
        "Fails."
    }
    fn offer(&self) -> Offer {
        Offer::Declared(vec![fixture_tool("local__touchy__poke reads")])
    }
    fn config_schema(&self) -> Value {
        json!({"type": "object", "properties": {"port": {"type": "integer", "maximum": 9}}, "additionalProperties": false})
    }
    async fn resolve(
        &self,
        config: &Value,
        _: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        assert_eq!(config, &json!({"port": 1}), "only what fits the schema");
        Err(ResolveError {
            key: "touchy".to_owned(),
            message: "port 1 is taken".to_owned(),
        })
    }
}

#[tokio::test]
async fn a_config_is_checked_before_its_resolver_sees_it() {
    let bench = Bench::default().with(Arc::new(Touchy), json!({}));
    for (config, at) in [
        (json!({"port": "1"}), "/touchy/port"),
        (json!({"port": 10}), "/touchy/port"),
        (json!({"prot": 1}), "/touchy"),
    ] {
        let capabilities = json!({"touchy": config});
        let problems = open(&bench, capabilities, UnknownCapabilities::Error).await;
        assert_eq!(problems.err().unwrap()[0].pointer(), at);
    }
    let capabilities = json!({"touchy": {"port": 1, "tools": ["poke"]}});
    let session = open(&bench, capabilities, UnknownCapabilities::Error)
        .await
        .unwrap();
    assert_eq!(session.skipped()[0].reason, "port 1 is taken");
    assert!(seen(&session).is_empty());
}

#[tokio::test]
async fn asking_what_is_known_starts_nothing() {
    // `Touchy` panics when resolved with this config.
    let market = Bench::default()
        .with(Arc::new(Touchy), json!({}))
        .with(kit(), json!({}))
        .market();
    let known = market.registry().known_capabilities();
    let keys: Vec<_> = known.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["kit", "touchy"]);
    assert_eq!(known[0].tools.len(), 3);
    assert_eq!(known[1].config_schema["properties"]["port"]["maximum"], 9);
    let theirs = market.catalog();
    let theirs = theirs.iter().filter(|it| it.source != INJECTION_SOURCE);
    assert_eq!(theirs.count(), 4);
}

#[tokio::test]
async fn a_key_registered_while_running_can_be_granted() {
    let bench = Bench::default();
    let market = bench.market();
    let mut spec = bench.spec(Mode::Ask);
    spec.capabilities = json!(["kit"]);
    let problems = market.open_session(spec.clone()).await.err().unwrap();
    assert_eq!(problems[0].to_string(), "unknown capability `kit`");

    market.registry().register(kit()).unwrap();
    assert_eq!(
        market.registry().register(kit()),
        Err(RegisterError::Taken("kit".to_owned()))
    );
    market.refresh();
    let session = market.open_session(spec).await.unwrap();
    session.begin_turn(&Default::default());
    let answer = call(&session, "kit__read", json!({})).await;
    assert_eq!(answer.observation.code(), None);
    for bad in ["", "a__b", "a b", "_a"] {
        let resolver = Arc::new(FixtureResolver::new(bad, Vec::new()));
        assert_eq!(
            market.registry().register(resolver),
            Err(RegisterError::BadKey(bad.to_owned()))
        );
    }
}

/// Two keys declare one id. Whose definition is in the catalog, their executor runs it; the other
/// does not get calls that were judged by somebody else's word.
#[tokio::test]
async fn one_id_has_one_provider() {
    let first = Arc::new(FixtureResolver::lines(
        "aaa",
        "local__kit__write reads",
        &Behaviour::Echo,
    ));
    let second = Arc::new(FixtureResolver::lines(
        "kit",
        "local__kit__write writes",
        &Behaviour::Echo,
    ));
    let bench = Bench::default()
        .with(first.clone(), json!({}))
        .with(second.clone(), json!({}));
    let session = bench.session(Mode::ReadOnly).await;
    call(&session, "kit__write", json!({})).await;
    assert_eq!((first.executed(), second.executed()), (1, 0));
    // And alone, the one whose definition was not let in has nothing.
    let session = open(&bench, json!(["kit"]), UnknownCapabilities::Error)
        .await
        .unwrap();
    assert!(seen(&session).is_empty());
    call(&session, "local__kit__write", json!({})).await;
    assert_eq!((first.executed(), second.executed()), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// A `tools` list is a bound: never more is visible than it names, whatever the mode.
    #[test]
    fn grants_bound_what_is_visible(
        names in prop::collection::vec(prop::sample::select(TOOLS.to_vec()), 0..5),
        mode in prop::sample::select(Mode::ALL.to_vec()),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::default().with(kit(), json!({"tools": names}));
            let session = bench.session(mode).await;
            let expected: BTreeSet<_> = names.iter().map(|it| format!("local__kit__{it}")).collect();
            assert_eq!(seen(&session), expected.into_iter().collect::<Vec<_>>());
        });
    }
}
