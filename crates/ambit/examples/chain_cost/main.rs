//! What the whole chain of `examples/test-fix` costs, all requests summed, beside the same chain
//! with every tool listed: `chain_cost [DIR]`, with the tools of a folder beside the example's
//! own. Prints a section of a page; the same data gives the same section.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_agent::runner::{
    AgentProfile, AgentRunner, NoAgents, RunLimits, RunReport, Task, Unheard,
};
use ambit_agent::scripted::{Expect, Script, ScriptedEngine};
use ambit_builtins::files::FilesResolver;
use ambit_builtins::shell::ShellResolver;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_core::permission::Mode;
use ambit_core::run::RunEnd;
use ambit_core::search::labelled::LabelledSet;
use ambit_runtime::CancellationToken;
use ambit_runtime::approver::SaysYes;
use ambit_runtime::discovery::{DiscoverySettings, Exposure};
use ambit_skills::resolver::SkillsResolver;
use ambit_skills::root::standard_roots;
use ambit_skills::scan::scan;
use ambit_testkit::{Behaviour, Bench, FixtureResolver, fixture_tool};
use serde::Deserialize;
use serde_json::{Value, json};

type Sources = BTreeMap<String, Vec<(CapabilityManifest, Behaviour)>>;

const GOAL: &str = "The tests fail. Make them pass.";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let runtime = tokio::runtime::Runtime::new()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "\n## A chain from the task to its end\n\n\
        The chain of [examples/test-fix](../examples/test-fix), run to its end: the tests run, the \
        pull request is read, the code fixed, the tests run again. All requests of it summed: \
        system prompt, tools and the conversation so far. What each request begins with exactly as \
        the one before it is counted apart, since providers charge less for it. The other row is \
        the same chain with everything that is granted listed in every request, and no search.\n\n\
        | tools granted | | requests | sent | of which cached | not cached | tools alone |\n\
        |---|---|---|---|---|---|---|"
    )?;
    let alone = Sources::new();
    let beside = folder.as_deref().map(read_tools).transpose()?;
    for sources in [Some(alone), beside].into_iter().flatten() {
        for (what, exposure) in [
            ("Ambit", Exposure::Selected),
            ("everything, every request", Exposure::Everything),
        ] {
            let (granted, report) = runtime.block_on(chain(&sources, exposure))?;
            let it = report.exposure;
            let [granted, sent, cached, rest, tools] = [
                granted as u64,
                it.requested,
                it.prefix,
                it.requested - it.prefix,
                it.shown,
            ]
            .map(thousands);
            writeln!(
                out,
                "| {granted} | {what} | {} | {sent} | {cached} | {rest} | {tools} |",
                report.turns
            )?;
        }
    }
    Ok(())
}

/// Runs the chain; how much was granted, and what it took.
async fn chain(
    sources: &Sources,
    exposure: Exposure,
) -> Result<(usize, RunReport), Box<dyn Error>> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/test-fix");
    let mut bench = Bench::default().asking(Arc::new(SaysYes));
    let work = bench.folder.path().join("workspace");
    copy(&example, &work)?;
    let home = bench.folder.path().join("home");
    let skills = scan(&standard_roots(&home, &home.join(".config"), &work));
    bench = bench
        .with(Arc::new(FilesResolver), json!({}))
        .with(
            Arc::new(ShellResolver),
            json!({"allow": ["sh tests/run.sh"]}),
        )
        .with(Arc::new(SkillsResolver::new(skills)), json!({}))
        .with(Arc::new(github(&example)?), json!({}));
    for (key, tools) in sources {
        let resolver = FixtureResolver::new(key, tools.clone());
        bench = bench.with(Arc::new(resolver), json!({}));
    }
    let market = bench.market();
    let mut spec = bench.spec(Mode::Ask);
    spec.exposure = exposure;
    spec.discovery = DiscoverySettings {
        budget: Some(8_000),
        limit: Some(60),
        ..DiscoverySettings::default()
    };
    let mut script = Script::read(&example.join("script.json"))?;
    if exposure == Exposure::Everything {
        for turn in &mut script.turns {
            turn.expect = Expect::default();
            turn.calls.retain(|it| it.tool != "tool_search");
        }
    }
    let granted = market.catalog().iter().count();
    let profile = AgentProfile {
        spec,
        // It reads whatever it is sent.
        engine: Arc::new(ScriptedEngine::new(script).with_window(u64::MAX / 200)),
        instructions: Vec::new(),
        project: Default::default(),
        limits: RunLimits::default(),
    };
    let runner = AgentRunner::new(market, Arc::new(NoAgents), Arc::new(Unheard));
    let task = Task::Begin(GOAL.to_owned());
    let report = runner.run(profile, task, &CancellationToken::new()).await;
    let report = report.map_err(|error| format!("{error:?}"))?;
    match report.ended {
        RunEnd::Answered => Ok((granted, report)),
        ended => Err(format!("{ended}: {:?}", report.error).into()),
    }
}

/// The example's stand-in, without a process.
#[derive(Deserialize)]
struct Github {
    tools: Vec<GithubTool>,
    /// By tool, then by number.
    answers: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GithubTool {
    name: String,
    title: String,
    description: String,
    input_schema: Value,
    annotations: Annotations,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    read_only_hint: bool,
}

fn github(example: &Path) -> Result<FixtureResolver, Box<dyn Error>> {
    let text = std::fs::read_to_string(example.join("github.json"))?;
    let Github { tools, mut answers } = serde_json::from_str(&text)?;
    let tools = tools.into_iter().map(|tool| {
        let effect = match tool.annotations.read_only_hint {
            true => "reads",
            false => "writes",
        };
        let answers = answers.remove(&tool.name).unwrap_or_default();
        let manifest = CapabilityManifest {
            title: tool.title,
            description: tool.description,
            input_schema: tool.input_schema,
            ..fixture_tool(&format!("mcp__github__{} {effect}", tool.name))
        };
        let behaviour = Behaviour::does(move |arguments| {
            let number = arguments.get("number").map(ToString::to_string);
            let answer = number.and_then(|it| answers.get(&it));
            answer
                .map(Output::text)
                .ok_or_else(|| Failure::provider("unknown"))
        });
        (manifest, behaviour)
    });
    Ok(FixtureResolver::new("github", tools.collect()))
}

/// The tools of a folder, by server; the example has a `github` of its own.
fn read_tools(folder: &Path) -> Result<Sources, Box<dyn Error>> {
    let path = folder.join("tools.jsonl");
    let text = std::fs::read_to_string(&path).map_err(|it| format!("{}: {it}", path.display()))?;
    let set = LabelledSet::parse(&text, "")?;
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    let mut sources = Sources::new();
    for (document, line) in set.documents.into_iter().zip(lines) {
        let owner = document.id.owner().to_owned();
        if ["github", "files", "shell", "skills"].contains(&owner.as_str()) {
            continue;
        }
        let mut line: Value = serde_json::from_str(line)?;
        let schema = line.get_mut("input_schema").map(Value::take);
        let manifest = CapabilityManifest {
            title: document.name.clone(),
            description: document.description,
            input_schema: schema
                .filter(Value::is_object)
                .unwrap_or(json!({"type": "object"})),
            pack_summary: document.pack_summary,
            ..fixture_tool(&format!("{} reads", document.id))
        };
        sources
            .entry(owner)
            .or_default()
            .push((manifest, Behaviour::Echo));
    }
    Ok(sources)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            false => std::fs::copy(entry.path(), &to).map(drop)?,
        }
    }
    Ok(())
}

fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1_000), number % 1_000),
    }
}
