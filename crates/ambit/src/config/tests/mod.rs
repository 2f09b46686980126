//! Whole files in, what holds or what is wrong out.

mod change;
mod holds;
mod refused;
mod widening;

use std::fs;
use std::path::PathBuf;

use miette::GraphicalTheme;

use super::*;
use crate::places::Places;
use crate::secrets::SecretValue;
use crate::trust::ProjectTrust;

/// A home with a user's file, a project below it, and a working directory inside that.
struct World {
    root: tempfile::TempDir,
    trust: ProjectTrust,
}

impl World {
    fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("project/src")).unwrap();
        fs::create_dir_all(root.path().join(".config/ambit")).unwrap();
        World {
            root,
            trust: ProjectTrust::Trusted,
        }
    }

    fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    fn user(self, text: impl AsRef<[u8]>) -> World {
        fs::write(self.root().join(".config/ambit/ambit.json"), text).unwrap();
        self
    }

    fn project(self, text: impl AsRef<[u8]>) -> World {
        fs::write(self.root().join("project/ambit.json"), text).unwrap();
        self
    }

    fn trust(self, trust: ProjectTrust) -> World {
        World { trust, ..self }
    }

    fn load(&self) -> Result<Loaded, Vec<Problem>> {
        let home = self.root();
        let places = Places::new(&|name| (name == "HOME").then(|| home.clone().into())).unwrap();
        load(&Inputs {
            instead: None,
            places: &places,
            directory: &home.join("project/src"),
            trust: &|_, _| self.trust.clone(),
            variable: &|name| (name == "TOKEN").then(|| "t0k3n".into()),
            secret: &|name| {
                Ok(["gh", "github"]
                    .contains(&name)
                    .then(|| SecretValue::new("s3cr3t")))
            },
        })
    }

    fn shown(&self, problems: &[Problem]) -> String {
        let rendered = problems.iter().map(|it| it.render(GraphicalTheme::none()));
        let home = self.root().to_string_lossy().into_owned();
        rendered.collect::<Vec<_>>().join("\n").replace(&home, "~")
    }
}

/// Each problem on a line: place, code, message, hint.
fn lines(problems: &[Problem]) -> String {
    let mut out = String::new();
    for it in problems {
        let at = it
            .at
            .as_ref()
            .map_or(String::new(), |at| format!("{}:{} ", at.line, at.column));
        let hint = it
            .hint
            .as_ref()
            .map_or(String::new(), |hint| format!(" ({hint})"));
        out += &format!("{at}{}: {}{hint}\n", it.code, it.message);
    }
    out
}
