//! A disk that is full or read-only. Both need a small file system of their own, which only root
//! can make; elsewhere permissions stand in where they can.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_testkit::Home;
use serde_json::json;

use crate::support::{call, configured, ended, events, skipped};

/// A small file system, gone when dropped.
struct Disk(PathBuf);

impl Disk {
    /// Mounts one, or says why not.
    fn mount(path: &Path) -> Option<Disk> {
        std::fs::create_dir_all(path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"])
            .arg(path)
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Disk(path.to_owned())),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                skipped(&format!("no small disk can be mounted: {why}"));
                None
            }
            Err(error) => {
                skipped(&format!("no small disk can be mounted: {error}"));
                None
            }
        }
    }

    fn remount(&self, option: &str) {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,{option}")])
            .arg(&self.0)
            .status();
        assert!(status.unwrap().success());
    }

    /// Takes all the room that is left.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        for size in [4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn write(home: &Home, path: &str) -> ambit_testkit::Run {
    call(
        home,
        "files__write_file",
        json!({"path": path, "content": "x"}),
        &[],
    )
}

#[test]
fn on_a_full_disk_nothing_runs_unrecorded_and_nothing_is_lost() {
    let home = configured(json!({"mode": "auto"}));
    let Some(disk) = Disk::mount(&home.state()) else {
        return;
    };
    assert_eq!(ended(&write(&home, "before")), "completed");
    let recorded = events(&home, &[]).len();
    let filler = disk.fill();
    let run = write(&home, "during");
    let report = run.json();
    let code = report["error"]["code"]
        .as_str()
        .or(report["code"].as_str())
        .unwrap();
    assert!(
        ["journal", "journal_unavailable", "trust_store"].contains(&code),
        "{report}"
    );
    assert!(report.to_string().contains("full"), "{report}");
    assert!([1, 2].contains(&run.code));
    assert!(!home.work().join("during").exists());
    std::fs::remove_file(filler).unwrap();
    let report = home.run(&["log", "verify", "--json"]).exits(0).json();
    assert!(report["events"].as_u64().unwrap() >= recorded as u64);
    assert_eq!(ended(&write(&home, "after")), "completed");
}

#[test]
fn a_read_only_journal_is_read_and_nothing_is_written() {
    let home = configured(json!({"mode": "auto"}));
    let Some(disk) = Disk::mount(&home.state()) else {
        return;
    };
    assert_eq!(ended(&write(&home, "before")), "completed");
    let recorded = events(&home, &[]);
    disk.remount("ro");
    let run = write(&home, "during").exits(2);
    let error = run.json()["error"].clone();
    assert!(
        ["journal", "trust_store"].contains(&error["code"].as_str().unwrap()),
        "{error}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("read") && message.contains(".db"),
        "{message}"
    );
    assert_ne!(error["hints"], json!([]));
    assert!(!home.work().join("during").exists());
    assert_eq!(events(&home, &[]), recorded);
    home.run(&["log", "verify"]).exits(0);
    home.run(&["replay", "last"]).exits(0);
    home.run(&["ls"]).exits(0);
    disk.remount("rw");
    assert_eq!(ended(&write(&home, "after")), "completed");
}
