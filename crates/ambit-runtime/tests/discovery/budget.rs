//! What a model is given costs what the budget says at most, counted on the very bytes, in every
//! format, whatever providers write into their definitions.

use std::sync::Arc;

use ambit_core::manifest::CapabilityManifest;
use ambit_core::permission::Mode;
use ambit_core::projection::{Projection, ToolFormat};
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::tokens::count;
use ambit_testkit::{Behaviour, Bench, FixtureResolver, fixture_tool};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What the entries add to a projection of nothing.
fn cost(projection: &Projection) -> u32 {
    let nothing = Projection {
        tools: vec![],
        skills: vec![],
        resources: Vec::new(),
        deferred: vec![],
    };
    count(&projection.to_json().to_string()) - count(&nothing.to_json().to_string())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}( [a-z]{1,8}){0,30}\\.",
        "[A-Z][a-z]{1,8}( [a-z]{1,8}){0,5}\\. [A-Z][a-z ]{0,60}",
        "(\"|\\\\|\n|\t|'|<|>|\\{|\\}|`){0,40}",
        "(数据|ünï|🙂|\u{202e}|é){0,20}",
        Just(String::new()),
    ]
}

fn tool() -> impl Strategy<Value = CapabilityManifest> {
    let parameters = prop::collection::btree_map("[a-zA-Z_]{1,12}", text(), 0..8);
    let output = prop::option::of(prop::collection::btree_map("[a-z_]{1,12}", text(), 0..8));
    (any::<bool>(), text(), text(), parameters, output).prop_map(
        |(skill, title, description, parameters, output)| {
            let properties = |it: std::collections::BTreeMap<String, String>| -> Value {
                it.into_iter()
                    .map(|(name, text)| (name, json!({"type": "string", "description": text})))
                    .collect()
            };
            CapabilityManifest {
                title,
                description,
                input_schema: json!({"type": "object", "properties": properties(parameters)}),
                output_schema: output
                    .map(|it| json!({"type": "object", "properties": properties(it)})),
                ..fixture_tool(if skill {
                    "skill__it reads"
                } else {
                    "mcp__gh__it reads"
                })
            }
        },
    )
}

/// A server and a folder of skills, each entry with a name of its own.
fn bench(tools: &[CapabilityManifest]) -> Bench {
    let mut packs = (Vec::new(), Vec::new());
    for (n, tool) in tools.iter().enumerate() {
        let mut tool = tool.clone();
        let is_skill = tool.id.as_str().starts_with("skill__");
        let name = if is_skill {
            format!("skill__it-{n}")
        } else {
            format!("mcp__gh__do_it_{n}")
        };
        tool.id = name.parse().unwrap();
        let pack = if is_skill { &mut packs.0 } else { &mut packs.1 };
        pack.push((tool, Behaviour::Echo));
    }
    Bench::default()
        .with(Arc::new(FixtureResolver::new("skills", packs.0)), json!({}))
        .with(Arc::new(FixtureResolver::new("gh", packs.1)), json!({}))
}

fn check(tools: &[CapabilityManifest], budget: u32, goal: &str) -> Result<(), TestCaseError> {
    within(&bench(tools), budget, goal)
}

fn within(bench: &Bench, budget: u32, goal: &str) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let session = runtime.block_on(bench.session(Mode::Auto));
    let visible = session.begin_turn(&TurnRequest {
        goal: goal.to_owned(),
        budget: Some(budget),
        ..TurnRequest::default()
    });
    prop_assert!(visible.tokens() <= budget);
    for format in [ToolFormat::OpenAi, ToolFormat::Anthropic, ToolFormat::Mcp] {
        let projection = session.projection(format);
        let cost = cost(&projection);
        prop_assert!(
            cost <= visible.tokens(),
            "{format:?}: {cost} of {}: {:#}",
            visible.tokens(),
            projection.to_json()
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_budget_holds_on_the_bytes(
        tools in prop::collection::vec(tool(), 0..12),
        budget in prop_oneof![0..120_u32, 0..3_000_u32],
        goal in prop_oneof![Just(String::new()), text()],
    ) {
        check(&tools, budget, &goal)?;
    }
}

/// `tool_search` tells what is behind it, and that counts, too.
#[test]
fn many_packs_are_paid_for() {
    let packs = (0..40).map(|n| {
        let key = format!("k8s-x{n}q7-eu{n}z");
        let tool = fixture_tool(&format!("mcp__{key}__get reads"));
        Arc::new(FixtureResolver::new(&key, vec![(tool, Behaviour::Echo)]))
    });
    let bench = packs.fold(Bench::default(), |bench, pack| bench.with(pack, json!({})));
    for budget in (0..700).step_by(35) {
        within(&bench, budget, "write a poem").unwrap();
    }
}

#[test]
fn enormous_definitions_fit_or_stay_out() {
    let mut long = fixture_tool("mcp__gh__it reads");
    long.description = "word ".repeat(10_000);
    let mut dense = fixture_tool("mcp__gh__it reads");
    dense.description = "x".repeat(50_000);
    let mut wide = fixture_tool("mcp__gh__it reads");
    let parameters: Value = (0..1_000)
        .map(|n| (format!("parameter_{n}"), json!({"type": "string"})))
        .collect();
    wide.input_schema = json!({"type": "object", "properties": parameters});
    // What is counted in part must not be taken for less than it is.
    let mut sly = fixture_tool("mcp__gh__it reads");
    sly.description = format!("{}{}", " ".repeat(70_000), "數ŧ據".repeat(20_000));
    for budget in [0, 50, 1_000, 8_000, 40_000, 100_000] {
        check(
            &[long.clone(), dense.clone(), wide.clone(), sly.clone()],
            budget,
            "",
        )
        .unwrap();
    }
}
