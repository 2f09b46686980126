//! Edits of `ambit.json` while serving, and tokens issued or revoked meanwhile.
//!
//! Both files and the trust store are looked at once a second: portable, and nothing to go wrong.
//! A valid edit is taken in for whatever begins from then on; one that is not valid changes
//! nothing. An edit after which some agent may do more waits until a person has accepted the file
//! as it is, however it came about: a running server does not believe that whoever could write the
//! file was allowed to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use ambit_core::digest::Digest;
use ambit_gateway::http::HttpControl;
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::Journal;
use tokio::runtime::Handle;

use super::{Reach, door, served};
use crate::cli::args::ServeArgs;
use crate::cli::fail::Fail;
use crate::cli::setup::Setup;
use crate::cli::triggers::background::{Background, Following};
use crate::config::{Config, ConfigChange, compare};
use crate::trust::{ProjectTrust, TrustStore};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A file as it was read; [`Digest::ZERO`] if it is gone.
type Files = BTreeMap<PathBuf, Digest>;

/// What is served now, and what would change it.
pub(crate) struct Reload {
    pub(crate) args: Arc<ServeArgs>,
    pub(crate) reach: Reach,
    pub(crate) journal: Journal,
    pub(crate) control: HttpControl,
    pub(crate) following: Option<Arc<Following>>,
    pub(crate) runtime: Handle,
    pub(crate) trust: Arc<TrustStore>,
    /// What holds.
    config: Config,
    /// What it was read from.
    files: Files,
    /// The project's file whose edits are judged as if it were accepted: it was.
    project: Option<PathBuf>,
    held: Option<Files>,
}

/// What the files look like from outside.
#[derive(PartialEq, Eq)]
struct Look(Vec<(PathBuf, Option<(SystemTime, u64)>)>);

impl Reload {
    /// Begins with what `setup` has read.
    pub(crate) fn new(
        setup: &Setup,
        args: &Arc<ServeArgs>,
        reach: Reach,
        journal: Journal,
        control: HttpControl,
        following: Option<Arc<Following>>,
        runtime: Handle,
    ) -> Self {
        let files = files(setup, &Files::new());
        // What another run held back is taken in by this one, or is a question anew.
        release(&setup.trust, &files);
        Reload {
            args: Arc::clone(args),
            reach,
            journal,
            control,
            following,
            runtime,
            trust: Arc::clone(&setup.trust),
            config: setup.loaded.config.clone(),
            files,
            project: trusted_project(setup),
            held: None,
        }
    }

    /// Looks until told to stop, in a thread of its own: reading and connecting may take a while.
    pub(crate) fn start(mut self, stop: CancellationToken) {
        // The first look finds something new: files and tokens were read a moment before.
        let mut seen = None;
        let watching = thread::Builder::new().name("reload".to_owned());
        let started = watching.spawn(move || {
            while !stop.is_cancelled() {
                thread::sleep(LOOK);
                let now = Some((self.look(), self.trust.written_elsewhere().ok()));
                if now != seen {
                    self.guard();
                    self.reload();
                }
                seen = now;
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "edits of the configuration will not be noticed");
        }
    }

    fn look(&self) -> Look {
        let file = |path: &PathBuf| {
            let metadata = path.metadata().ok();
            let seen = metadata.and_then(|it| Some((it.modified().ok()?, it.len())));
            (path.clone(), seen)
        };
        // A file nearer by would be the project's, if somebody wrote one.
        let nearer = std::env::current_dir().ok();
        let nearer = nearer.iter().flat_map(|it| it.ancestors());
        let nearer = nearer.map(|it| it.join(crate::places::CONFIG_NAME));
        Look(
            self.files
                .keys()
                .cloned()
                .chain(nearer)
                .map(|it| file(&it))
                .collect(),
        )
    }

    /// Lets in whoever has a token now.
    fn guard(&self) {
        match self.trust.tokens() {
            Ok(tokens) => {
                let names: Vec<String> = self.agents();
                self.control
                    .guard(door(&self.config, &names, self.reach, &tokens));
            }
            // Nobody is let in or out by a store that does not answer.
            Err(error) => tracing::error!(%error, "tokens could not be read"),
        }
    }

    fn agents(&self) -> Vec<String> {
        match self.args.agents.is_empty() {
            true => self.config.agents.keys().cloned().collect(),
            false => self.args.agents.clone(),
        }
    }

    fn reload(&mut self) {
        let read = self.read();
        let setup = match read {
            Ok(setup) => setup,
            Err(fail) => return told(&fail),
        };
        let files = files(&setup, &self.files);
        match compare(&self.config, &setup.loaded.config) {
            ConfigChange::Unchanged => {
                self.release();
                self.files = files;
            }
            ConfigChange::Changed { what } => self.apply(setup, files, &what),
            ConfigChange::Widens { what } if self.is_accepted(&files) => {
                self.apply(setup, files, &what);
            }
            ConfigChange::Widens { what } => self.hold(files, &what),
        }
    }

    /// Reads both files. An edit of a project's file that had been accepted is read as if it were,
    /// so that it can be judged.
    fn read(&self) -> Result<Setup, Fail> {
        let accepted = |path: &Path, digest: &Digest| match self.project.as_deref() == Some(path) {
            true => ProjectTrust::Trusted,
            false => self
                .trust
                .project_trust(path, digest)
                .unwrap_or(ProjectTrust::Unknown),
        };
        let setup = Setup::read_with(&accepted)?;
        setup.adopt(self.runtime.clone());
        Ok(setup)
    }

    /// Whether each file is as it was, or as a person accepted it.
    fn is_accepted(&self, files: &Files) -> bool {
        files.iter().all(|(path, digest)| {
            let trust = self.trust.project_trust(path, digest);
            self.files.get(path) == Some(digest) || matches!(trust, Ok(ProjectTrust::Trusted))
        })
    }

    fn apply(&mut self, setup: Setup, files: Files, what: &[String]) {
        let offered = match served(&setup, &self.args, self.journal.clone()) {
            Ok(served) => served,
            Err(fail) => return told(&fail),
        };
        if let Some(following) = &self.following {
            match Background::new(&setup, self.args.mode, &offered.market) {
                Ok(background) => following.follow(background),
                Err(fail) => return told(&fail),
            }
        }
        self.release();
        self.project = trusted_project(&setup);
        self.config = setup.loaded.config.clone();
        self.files = files;
        self.control.offer(offered);
        self.guard();
        let what = what.join("; ");
        tracing::info!(what, "an edit of the configuration holds from now on");
    }

    fn hold(&mut self, files: Files, what: &[String]) {
        if self.held.as_ref() == Some(&files) {
            return;
        }
        let lines = what.join("\n");
        let edited = files
            .iter()
            .filter(|(path, digest)| self.files.get(*path) != Some(*digest));
        for (path, digest) in edited {
            if let Err(error) = self.trust.hold_edit(path, digest, &lines) {
                tracing::error!(%error, "a held edit could not be left for a person");
            }
        }
        let what = what.join("; ");
        tracing::warn!(
            what,
            "an edit of the configuration waits: accept it with `ambit trust reload`, or start again"
        );
        self.held = Some(files);
    }

    /// What was held back is no more.
    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            release(&self.trust, &held);
        }
    }
}

/// No edit of these files waits any more.
fn release(trust: &TrustStore, files: &Files) {
    for path in files.keys() {
        if let Err(error) = trust.release_edit(path) {
            tracing::error!(%error, "a held edit could not be taken back");
        }
    }
}

fn told(fail: &Fail) {
    for problem in &fail.problems {
        tracing::error!(%problem, "an edit of the configuration changes nothing: it is not valid");
    }
}

fn trusted_project(setup: &Setup) -> Option<PathBuf> {
    let project = setup.loaded.project.as_ref()?;
    project.is_trusted().then(|| project.path.clone())
}

/// What was read, and what was read before and is gone.
fn files(setup: &Setup, before: &Files) -> Files {
    let user = setup.places.config_file().to_owned();
    let paths = before.keys().cloned().chain([user]);
    let mut files: Files = paths.map(|it| (it, Digest::ZERO)).collect();
    files.extend(setup.loaded.digests());
    files
}
