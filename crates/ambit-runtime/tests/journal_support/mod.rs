//! Events and journals for the journal's tests.
#![allow(clippy::unwrap_used, dead_code)]

use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use ambit_core::effects::Effects;
use ambit_core::event::{EventBody, ObservationRecord};
use ambit_core::intent::CallId;
use ambit_core::permission::Mode;
use ambit_runtime::journal::{
    Durability, Event, EventFilter, Journal, JournalReader, NewEvent, SessionId,
};

pub(crate) fn session(name: &str) -> SessionId {
    name.parse().unwrap()
}

pub(crate) fn begun(agent: &str) -> EventBody {
    EventBody::SessionStarted {
        agent: agent.to_owned(),
        mode: Mode::Ask,
        workspace: "/work".to_owned(),
        front: None,
        version: "0.1.0".to_owned(),
    }
}

pub(crate) fn started(call: &str) -> EventBody {
    EventBody::ToolStarted {
        call: CallId(call.to_owned()),
        id: "local__files__write_file".parse().unwrap(),
        digest: Digest::of_bytes(call.as_bytes()),
        effects: Effects::WRITES,
    }
}

pub(crate) fn observed(call: &str) -> EventBody {
    EventBody::ToolObservation(ObservationRecord {
        call: CallId(call.to_owned()),
        status: "completed".to_owned(),
        code: None,
        reason: None,
        bytes: 2,
        digest: Digest::of_bytes(b"ok"),
        excerpt: "ok".to_owned(),
        result_ref: None,
        untrusted: false,
        duration_ms: 3,
    })
}

pub(crate) fn open(path: &Path) -> Journal {
    let (journal, report) = Journal::open(path).unwrap();
    assert_eq!(report.repaired, None);
    journal
}

pub(crate) fn put(journal: &Journal, name: &str, body: EventBody) -> (u64, u64) {
    let receipt = journal.append(
        &session(name),
        vec![NewEvent::from(body)],
        Vec::new(),
        Durability::Written,
    );
    wait(receipt.written()).unwrap()
}

pub(crate) fn wait<T>(it: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(it)
}

pub(crate) fn all(reader: &JournalReader) -> Vec<Event> {
    reader.events(&EventFilter::default()).unwrap()
}

/// Two sessions taking turns: odd events in `a`, even ones in `b`, calls begun and ended.
pub(crate) fn fill(journal: &Journal, events: u64) {
    for n in 1..=events {
        let name = if n % 2 == 1 { "a" } else { "b" };
        let call = format!("c{}", (n - 1) / 4);
        let body = match n {
            1 | 2 => begun("writer"),
            _ if (n - 1) / 2 % 2 == 1 => started(&call),
            _ => observed(&format!("c{}", (n - 1) / 4 - 1)),
        };
        put(journal, name, body);
    }
}

/// The file with what belongs to it, copied elsewhere.
pub(crate) fn copy(from: &Path, to: &Path) -> PathBuf {
    let target = to.join(from.file_name().unwrap());
    for suffix in ["", "-wal"] {
        let with = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        let _ = std::fs::remove_file(with(&target));
        if with(from).exists() {
            std::fs::copy(with(from), with(&target)).unwrap();
        }
    }
    let _ = std::fs::remove_file(format!("{}-shm", target.display()));
    target
}

/// A small file system of its own, where the tests may make one.
pub(crate) struct Disk(PathBuf);

impl Disk {
    pub(crate) fn mount(at: &Path, options: &str) -> Option<Disk> {
        mount(at, &["-t", "tmpfs", "-o", options, "tmpfs"]).then(|| Disk(at.to_owned()))
    }

    pub(crate) fn change(&self, options: &str) {
        assert!(mount(&self.0, &["-o", &format!("remount,{options}")]));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg("-l")
            .arg(&self.0)
            .status();
    }
}

fn mount(at: &Path, arguments: &[&str]) -> bool {
    std::process::Command::new("mount")
        .args(arguments)
        .arg(at)
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
}
