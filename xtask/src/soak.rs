//! `cargo xtask soak`: tests that are worth more the longer they run.

use std::path::Path;

use crate::run::{Failure, Result, cargo, show};

struct Campaign {
    name: &'static str,
    package: &'static str,
    /// Which of the package's tests.
    filter: &'static str,
    environment: &'static [(&'static str, &'static str)],
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "crash",
        package: "ambit-runtime",
        filter: "crash",
        environment: &[("AMBIT_CRASH_ROUNDS", "500")],
    },
    Campaign {
        name: "faults",
        package: "ambit-mcp",
        filter: "faults_end",
        environment: &[("AMBIT_FAULTS", "500")],
    },
];

/// Runs the campaign of that name, or all.
pub(crate) fn run(root: &Path, name: Option<&str>) -> Result {
    let chosen: Vec<_> = CAMPAIGNS
        .iter()
        .filter(|it| name.is_none_or(|name| it.name == name))
        .collect();
    if chosen.is_empty() {
        let known: Vec<_> = CAMPAIGNS
            .iter()
            .map(|it| format!("`{}`", it.name))
            .collect();
        return Err(Failure::Found(format!(
            "no such campaign; there are {}",
            known.join(", ")
        )));
    }
    for campaign in chosen {
        let settings: Vec<_> = campaign
            .environment
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        println!("{}: {}", campaign.name, settings.join(" "));
        let mut command = cargo(root);
        command.args([
            "test",
            "--release",
            "--package",
            campaign.package,
            "--",
            campaign.filter,
        ]);
        command.envs(campaign.environment.iter().copied());
        show(command)?;
    }
    Ok(())
}
