//! Homes with a client's file in it, on every platform: planned, applied, applied again, undone.

mod clients;
mod edits;
mod fixtures;
mod merging;
mod words;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::places::Places;
use crate::secrets::SecretValue;

/// A machine with a home and a project.
struct Machine {
    folder: TempDir,
    platform: Platform,
    config: Option<String>,
    secrets: BTreeMap<String, SecretValue>,
    variables: BTreeMap<String, String>,
    scopes: Vec<Scope>,
    clients: Vec<ClientId>,
}

impl Machine {
    fn new(platform: Platform) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        for it in ["home", "work"] {
            fs::create_dir(folder.path().join(it)).unwrap();
        }
        Machine {
            folder,
            platform,
            config: None,
            secrets: BTreeMap::new(),
            variables: BTreeMap::new(),
            scopes: vec![Scope::User],
            clients: Vec::new(),
        }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).map(OsString::from)
    }

    fn files(&self) -> Vec<ClientFile> {
        files(&Surroundings {
            platform: self.platform,
            home: &self.home(),
            project: &self.work(),
            variable: &|name| self.variable(name),
        })
    }

    /// Where a client keeps its servers first.
    fn path(&self, client: ClientId, scope: Scope) -> PathBuf {
        let mut files = self.files().into_iter();
        let found = files.find(|it| it.client == client && it.scope == scope);
        found.unwrap().path
    }

    fn write(&self, client: ClientId, scope: Scope, text: &str) -> PathBuf {
        let path = self.path(client, scope);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn plan(&self) -> Plan {
        plan(
            &scan(self.files()),
            &World {
                scopes: &self.scopes,
                clients: &self.clients,
                config: self.config.as_deref(),
                reserved: &["files", "shell", "skills"],
                binary: Path::new("/opt/bin/ambit"),
                variable: &|name| self.variable(name),
                secret: &|name| self.secrets.get(name).cloned(),
                on_path: &|program| program != "gone",
            },
        )
        .unwrap()
    }

    /// Plans, and takes in what would be written besides clients' files.
    fn settle(&mut self) -> Plan {
        let plan = self.plan();
        for it in &plan.secrets {
            self.secrets.insert(it.name.clone(), it.value.clone());
        }
        if let Some(text) = &plan.config {
            self.config = Some(text.clone());
        }
        plan
    }

    fn backups(&self) -> Backups {
        let home = self.home();
        let places = Places::new(&|name| (name == "HOME").then(|| home.clone().into()));
        Backups::open(&places.unwrap())
    }
}
