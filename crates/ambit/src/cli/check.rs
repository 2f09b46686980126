//! `check`: everything that is wrong with the configuration, with its place and a hint.

use ambit_core::grant::GrantProblem;
use ambit_core::suggest::did_you_mean;
use ambit_skills::problem::Severity as SkillSeverity;
use serde_json::json;

use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{GOOD, Printer, styled};
use crate::cli::setup::Setup;
use crate::config::{Agent, Problem, Severity, Spot};

pub(crate) fn check(trust_project: bool, printer: &Printer) -> Result<Exit, Fail> {
    let (problems, setup) = match Setup::read(trust_project) {
        Ok(setup) => (everything(&setup)?, Some(setup)),
        Err(fail) => (fail.problems, None),
    };
    let wrong = problems.iter().any(|it| it.severity == Severity::Error);
    if printer.is_json() {
        let listed: Vec<_> = problems
            .iter()
            .map(|it| {
                let mut json = it.to_json();
                if let Some(map) = json.as_object_mut() {
                    let severity = if it.severity == Severity::Error {
                        "error"
                    } else {
                        "warning"
                    };
                    map.insert("severity".to_owned(), severity.into());
                }
                json
            })
            .collect();
        printer.document(json!({"ok": !wrong, "problems": listed}));
    } else {
        problems.iter().for_each(|it| printer.problem(it));
        if let (false, Some(setup)) = (wrong, &setup) {
            let files: Vec<String> = setup
                .loaded
                .files()
                .map(|it| it.display().to_string())
                .collect();
            let files = if files.is_empty() {
                "no configuration files; defaults hold".to_owned()
            } else {
                files.join(", ")
            };
            let agents: Vec<&str> = setup
                .loaded
                .config
                .agents
                .keys()
                .map(String::as_str)
                .collect();
            printer.line(format!(
                "{} {files}; agents: {}",
                styled(GOOD, "ok"),
                agents.join(", ")
            ));
        }
    }
    Ok(if wrong { Exit::Usage } else { Exit::Done })
}

/// A model that is named and not there. That none is named is for whoever runs the agent.
fn model_problem(setup: &Setup, name: &str, agent: &Agent) -> Option<Problem> {
    let found = setup.loaded.config.model_of(agent, None);
    let problem = found.err().filter(|it| it.code == "unknown_model")?;
    let pointer = match agent.model {
        Some(_) => format!("/agents/{name}/model"),
        None => "/defaultModel".to_owned(),
    };
    Some(problem.at(setup.loaded.place(&pointer, Spot::Value)))
}

/// Warnings of the files, and what agents are granted that nobody offers.
fn everything(setup: &Setup) -> Result<Vec<Problem>, Fail> {
    let cache = setup.cache()?;
    let servers = setup.servers(&cache);
    let registry = setup.registry(&servers);
    let config = &setup.loaded.config;
    let mut problems = setup.loaded.warnings.clone();
    problems.extend(skill_problems(setup));
    for (name, agent) in &config.agents {
        problems.extend(model_problem(setup, name, agent));
        match registry.check(
            &agent.capabilities.to_value(),
            config.unknown_capabilities_of(agent),
        ) {
            Ok(checked) => problems.extend(checked.skipped.iter().map(|it| {
                let place = setup.loaded.place(
                    &format!("/agents/{name}/capabilities/{}", it.key),
                    Spot::Key,
                );
                Problem::warning(
                    "capability_skipped",
                    format!("agent `{name}`: `{}` is skipped: {}", it.key, it.reason),
                )
                .at(place)
            })),
            Err(found) => {
                problems.extend(found.iter().map(|it| grant_problem(setup, name, it)));
            }
        }
    }
    Ok(problems)
}

/// Broken skills, which are left out, and skills another hides.
fn skill_problems(setup: &Setup) -> Vec<Problem> {
    let found = setup.skills();
    let broken = found.problems.iter().map(|it| {
        let message = format!("skill `{}`: {}", it.path.display(), it.problem);
        let problem = match it.problem.severity() {
            SkillSeverity::Error => Problem::error("skill_broken", message),
            SkillSeverity::Warning => Problem::warning("skill_odd", message),
        };
        match it.problem.hint() {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    });
    let shadowed = found.shadowed.iter().map(|it| {
        let message = format!(
            "skill `{}` at `{}` is hidden by `{}`",
            it.name,
            it.path.display(),
            it.by.display()
        );
        Problem::warning("skill_shadowed", message)
    });
    broken.chain(shadowed).collect()
}

/// A grant that cannot be, at its place in the file.
pub(crate) fn grant_problem(setup: &Setup, agent: &str, problem: &GrantProblem) -> Problem {
    let (code, spot) = match problem {
        GrantProblem::UnknownCapability { .. } => ("unknown_capability", Spot::Key),
        GrantProblem::UnknownTool { .. } => ("unknown_tool", Spot::Value),
        GrantProblem::BadConfig { .. } => ("bad_capability_config", Spot::Value),
        _ => ("bad_capabilities", Spot::Value),
    };
    let base = format!("/agents/{agent}/capabilities");
    let place = setup
        .loaded
        .place(&format!("{base}{}", problem.pointer()), spot)
        .or_else(|| setup.loaded.place(&base, Spot::Value));
    let found = Problem::error(code, format!("agent `{agent}`: {problem}")).at(place);
    match (problem, did_you_mean(problem.suggestions())) {
        (_, Some(hint)) => found.hint(hint),
        (GrantProblem::UnknownCapability { .. }, None) => {
            found.hint("`ambit ls` lists what can be granted")
        }
        (_, None) => found,
    }
}
