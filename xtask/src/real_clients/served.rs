//! `ambit serve` beside a client.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::run::{Failure, Result};

/// A server until dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
}

impl Served {
    /// Starts it, and waits until it has said where it listens.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let start = |source| Failure::Start {
            program: "ambit serve".to_owned(),
            source,
        };
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(start)?;
        let mut lines = BufReader::new(child.stdout.take().ok_or(Failure::Told)?).lines();
        let url = lines
            .by_ref()
            .map_while(std::result::Result::ok)
            .find_map(|line| {
                let after = line.split_once("http://")?.1;
                Some(format!("http://{}", after.split_whitespace().next()?))
            });
        match url {
            Some(url) => Ok(Served { child, url }),
            None => {
                let _ = child.wait();
                Err(Failure::Found("`ambit serve` says no address".to_owned()))
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // As a person would stop it, so that what it has recorded is on the disk.
        let told = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        if !told.is_ok_and(|it| it.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
