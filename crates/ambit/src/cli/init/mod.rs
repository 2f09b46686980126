//! `init`: what the clients on this machine have configured becomes one `ambit.json`, the clients
//! are pointed at Ambit, and all of it can be taken back.

mod cost;
mod report;
mod starter;

use std::path::Path;

use ambit_skills::root::{SkillRoot, standard_roots};
use serde_json::json;

use self::cost::{Cost, Looking};
use self::report::{Outcome, Report, shown};
use crate::cli::args::InitArgs;
use crate::cli::edit::{Editing, Whose};
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{GOOD, Printer, WARN, styled};
use crate::cli::setup::working_directory;
use crate::config::Problem;
use crate::keys;
use crate::places::Places;
use crate::secrets::SecretStore;
use crate::takeover::{
    Backups, Plan, Platform, Scope, Surroundings, UndoneHow, World, apply, files, plan, scan,
    skill_folders,
};

pub(crate) fn init(args: &InitArgs, printer: &Printer) -> Result<Exit, Fail> {
    if args.starter {
        return starter::write(printer);
    }
    let places = Places::from_process()?;
    if args.undo {
        return undo(args, &places, printer);
    }
    take_over(args, &places, printer)
}

fn take_over(args: &InitArgs, places: &Places, printer: &Printer) -> Result<Exit, Fail> {
    let directory = working_directory()?;
    let home = places.home().ok_or_else(|| {
        Problem::error("no_home", "`HOME` is not an absolute path").hint("set HOME to a directory")
    })?;
    let (whose, scopes): (Whose, &[Scope]) = match args.project {
        true => (Whose::Project, &[Scope::Local, Scope::Project]),
        false => (Whose::User, &[Scope::User]),
    };
    let variable = |name: &str| std::env::var_os(name);
    let scanned = scan(files(&Surroundings {
        platform: Platform::current(),
        home,
        project: &directory,
        variable: &variable,
    }));
    let editing = Editing::open(places, whose, &directory)?;
    let store = SecretStore::open(places);
    store.names()?;
    let reserved = keys::reserved();
    let reserved: Vec<&str> = reserved.iter().map(String::as_str).collect();
    let binary = std::env::current_exe()?;
    let plan = plan(
        &scanned,
        &World {
            scopes,
            clients: &args.clients,
            config: editing.text.as_deref(),
            reserved: &reserved,
            binary: &binary,
            variable: &variable,
            secret: &|name| store.get(name).ok().flatten(),
            on_path: &|program| is_on_path(program, &directory),
        },
    )
    .map_err(|error| editing.unusable(error))?;
    if !args.dry_run {
        for secret in &plan.secrets {
            store.set(&secret.name, secret.value.clone())?;
        }
        if let Some(text) = &plan.config {
            editing.write(text)?;
        }
    }
    let outcomes = match args.apply && !args.dry_run {
        true => applied(&plan, places),
        false => plan.rewires.iter().map(|_| Outcome::Planned).collect(),
    };
    let looking = match args.look {
        true => Looking::Connect,
        false => Looking::Known,
    };
    let cost = match args.dry_run || plan.servers.is_empty() {
        true => None,
        false => cost_of(looking, printer),
    };
    let report = Report {
        args,
        scanned: &scanned,
        config: &editing.path,
        home,
        skills: skills(places, home, &directory),
        cost,
        outcomes,
        plan,
    };
    match printer.is_json() {
        true => printer.document(report.to_json()),
        false => report.print(printer),
    }
    Ok(match report.is_refused() {
        true => Exit::No,
        false => Exit::Done,
    })
}

fn applied(plan: &Plan, places: &Places) -> Vec<Outcome> {
    let backups = Backups::open(places);
    let rewires = plan.rewires.iter();
    rewires
        .map(|it| match apply(it, &backups) {
            Ok(applied) => Outcome::Applied(applied),
            Err(reason) => Outcome::Refused(reason.to_string()),
        })
        .collect()
}

/// What was written is right whatever this says; it may only be unknown.
fn cost_of(looking: Looking, printer: &Printer) -> Option<Cost> {
    match cost::cost(looking) {
        Ok(cost) => Some(cost),
        Err(fail) => {
            fail.problems.iter().for_each(|it| printer.problem(it));
            None
        }
    }
}

fn skills(places: &Places, home: &Path, project: &Path) -> Vec<crate::takeover::SkillFolder> {
    let config_home = places.config_file().parent().and_then(Path::parent);
    let roots = config_home.map(|it| standard_roots(home, it, project));
    let roots = roots.unwrap_or_default();
    let read: Vec<&Path> = roots.iter().map(SkillRoot::path).collect();
    skill_folders(home, project, &read)
}

/// Whether a program can be started: by its path, or by its name along `PATH`.
fn is_on_path(program: &str, directory: &Path) -> bool {
    // What a variable stands for is not known here.
    if program.contains("${") {
        return true;
    }
    if program.contains('/') {
        return directory.join(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(program).is_file())
}

fn undo(args: &InitArgs, places: &Places, printer: &Printer) -> Result<Exit, Fail> {
    let undone = Backups::open(places).undo(&args.clients)?;
    let left = undone.iter().any(|it| !it.how.is_done());
    if printer.is_json() {
        let files: Vec<_> = undone
            .iter()
            .map(|it| {
                let mut file =
                    json!({"client": it.client, "path": it.path, "state": it.how.as_str()});
                if let (
                    UndoneHow::Edited { backup } | UndoneHow::Failed { backup, .. },
                    Some(map),
                ) = (&it.how, file.as_object_mut())
                {
                    map.insert("backup".to_owned(), json!(backup));
                }
                file
            })
            .collect();
        printer.document(json!({"undone": files}));
    } else if undone.is_empty() {
        printer.line("no client was pointed at Ambit by `ambit init --apply`");
    } else {
        let home = places.home().unwrap_or(Path::new("/"));
        for it in &undone {
            let (word, what) = match &it.how {
                UndoneHow::Restored => (styled(GOOD, "ok"), "as it was".to_owned()),
                UndoneHow::Already => (styled(GOOD, "ok"), "already as it was".to_owned()),
                UndoneHow::PutBack => (
                    styled(GOOD, "ok"),
                    "its servers are back; it was edited since, and those edits are kept"
                        .to_owned(),
                ),
                UndoneHow::Edited { backup } => (
                    styled(WARN, "no"),
                    format!(
                        "left alone: its servers were edited since; as it was: {}",
                        backup.display()
                    ),
                ),
                UndoneHow::Failed { backup, why } => (
                    styled(WARN, "no"),
                    format!("{why}; as it was: {}", backup.display()),
                ),
            };
            let path = shown(&it.path, home);
            printer.line(format!("{word} {} {path}: {what}", it.client));
        }
        printer.note("your ambit.json and the secrets in the store are still there");
    }
    Ok(match left {
        true => Exit::No,
        false => Exit::Done,
    })
}
