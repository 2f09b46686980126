//! What happens when the file is not what was written, or cannot be written.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr)]

mod journal_support;

use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use ambit_runtime::journal::{Durability, Event, Journal, JournalError, NewEvent};
use journal_support::{Disk, all, begun, copy, fill, open, put, session, started, wait};

/// A closed journal of twelve events in two sessions; see `fill`.
fn written(dir: &Path) -> PathBuf {
    let path = dir.join("journal.db");
    let journal = open(&path);
    fill(&journal, 12);
    let objects = vec![(Digest::ZERO, "{}".to_owned())];
    wait(
        journal
            .append(&session("a"), vec![], objects, Durability::Synced)
            .written(),
    )
    .unwrap();
    path
}

#[test]
fn the_first_changed_event_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = written(dir.path());
    let changed = tempfile::tempdir().unwrap();
    let check = |sql: &str, expected: &str| {
        let path = copy(&path, changed.path());
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let report = Journal::open_read_only(&path).unwrap().verify().unwrap();
        let damage = report.damage.map_or("none".to_owned(), |it| it.to_string());
        assert!(damage.starts_with(expected), "{sql}\n{damage}");
    };
    check("", "none");
    check(
        "UPDATE events SET body = replace(body, 'write_file', 'read_file') WHERE seq = 7",
        "event 7 of session `a`: it does not match its hash",
    );
    check(
        "UPDATE events SET at = at + 1 WHERE seq = 4",
        "event 4 of session `b`: it does not match",
    );
    check(
        "UPDATE events SET cause = 1 WHERE seq = 5",
        "event 5 of session `a`: it does not match",
    );
    check(
        "UPDATE events SET correlation = 'x' WHERE seq = 8",
        "event 8 of session `b`: it does not match",
    );
    check(
        "UPDATE events SET type = 'x' WHERE seq = 8",
        "event 8 of session `b`: it does not match",
    );
    check(
        "UPDATE events SET hash = zeroblob(32) WHERE seq = 8",
        "event 8 of session `b`: it does not match",
    );
    check(
        "UPDATE events SET hash = x'00' WHERE seq = 8",
        "event 8: the file cannot be read",
    );
    check(
        "DELETE FROM events WHERE seq = 5",
        "event 5 of session `a`: it is missing",
    );
    check(
        "DELETE FROM events WHERE seq IN (5, 6, 9)",
        "event 5 of session `a`: it and others before event 7 are missing",
    );
    check(
        "DELETE FROM events WHERE seq = 11",
        "event 11 of session `a`: it is missing",
    );
    check(
        "DELETE FROM events WHERE seq = 12",
        "event 12 of session `b`: it and all after it are missing at the end",
    );
    check("DELETE FROM events WHERE seq > 9", "event 10 of session");
    check("DELETE FROM events", "event 1 of session");
    check(
        "UPDATE events SET seq = -seq WHERE seq IN (5, 7);
         UPDATE events SET seq = 12 + seq WHERE seq < 0",
        "event 5 of session `a`: it does not match",
    );
    check(
        "UPDATE events SET session = 2 WHERE seq = 9",
        "event 9 of session `b`: it does not match",
    );
    check(
        "UPDATE events SET session = 9 WHERE seq = 9",
        "event 9: the session it belongs to is missing",
    );
    check(
        "UPDATE sessions SET id = 'other' WHERE id = 'b'",
        "event 2 of session `other`: it does not match",
    );
    check(
        "DELETE FROM sessions WHERE id = 'b'",
        "event 2: the session it belongs to is missing",
    );
    check(
        "UPDATE sessions SET hash = zeroblob(32) WHERE id = 'a'",
        "event 11 of session `a`: the end of its session",
    );
    check(
        "UPDATE sessions SET events = 1 WHERE id = 'a'",
        "event 11 of session `a`: the end",
    );
    check(
        "UPDATE head SET last = 20",
        "event 13: the journal's end is recorded as event 20",
    );
    check("DELETE FROM head", "the file cannot be read any further");
    check("UPDATE objects SET json = '[]'", "the object `sha256:0000");
    check(
        "DELETE FROM events WHERE seq > 10; DELETE FROM sessions WHERE id = 'b'",
        "event 2: the session it belongs to is missing",
    );
}

#[test]
fn an_event_that_cannot_be_read_is_not_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = written(dir.path());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("UPDATE events SET body = '{' WHERE seq = 6")
        .unwrap();
    drop(connection);
    let reader = Journal::open_read_only(&path).unwrap();
    let error = reader.events(&Default::default()).unwrap_err().to_string();
    assert!(error.contains("event 6 of session `b`"), "{error}");
}

/// Whatever byte changes: it is reported, or nothing that can be read has changed.
#[test]
fn no_flipped_byte_changes_the_record_unnoticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = written(dir.path());
    let good = all(&Journal::open_read_only(&path).unwrap());
    let bytes = std::fs::read(&path).unwrap();
    let flipped = tempfile::tempdir().unwrap();
    let target = flipped.path().join("journal.db");
    let read = || -> Result<Vec<Event>, JournalError> {
        let reader = Journal::open_read_only(&target)?;
        let report = reader.verify()?;
        match report.damage {
            None => reader.events(&Default::default()),
            Some(damage) => Err(JournalError::Damaged {
                path: target.clone(),
                damage,
            }),
        }
    };
    let mut noticed = 0;
    for at in (0..bytes.len()).step_by(53) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x15;
        std::fs::write(&target, &changed).unwrap();
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", target.display()));
        }
        match read() {
            Ok(events) => assert_eq!(events, good, "byte {at}"),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed > 50, "{noticed}");
    let needle = b"writer";
    let body = bytes.windows(needle.len()).position(|it| it == needle);
    let mut changed = bytes.clone();
    changed[body.unwrap()] ^= 0x20;
    std::fs::write(&target, &changed).unwrap();
    let report = read().unwrap_err().to_string();
    assert!(report.contains("does not match its hash"), "{report}");
}

/// A journal whose writes are all still in the log, and how long the log was after each.
fn with_log(dir: &Path) -> (Journal, PathBuf, Vec<u64>) {
    let path = dir.join("journal.db");
    let journal = open(&path);
    let wal = dir.join("journal.db-wal");
    let lengths = (0..6)
        .map(|n| {
            let events = (0..=n * 4)
                .map(|it| NewEvent::from(started(&format!("{n}-{it}"))))
                .collect();
            let receipt = journal.append(&session("a"), events, vec![], Durability::Synced);
            wait(receipt.written()).unwrap();
            std::fs::metadata(&wal).unwrap().len()
        })
        .collect();
    (journal, path, lengths)
}

#[test]
fn a_torn_tail_is_dropped_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (_journal, path, ends) = with_log(dir.path());
    let whole = all(&Journal::open_read_only(&path).unwrap());
    let torn = tempfile::tempdir().unwrap();
    let check = |length: u64| {
        let path = copy(&path, torn.path());
        let wal = torn.path().join("journal.db-wal");
        let file = std::fs::File::options().write(true).open(&wal).unwrap();
        file.set_len(length).unwrap();
        let torn = Journal::open_read_only(&path).unwrap().verify().unwrap();
        let (journal, report) = Journal::open(&path).unwrap();
        let reader = journal.reader().unwrap();
        let kept = ends.iter().take_while(|end| **end <= length).count();
        let expected: usize = (0..kept).map(|n| n * 4 + 1).sum();
        assert_eq!(all(&reader), whole[..expected], "cut at {length}");
        assert_eq!(reader.verify().unwrap().damage, None, "cut at {length}");
        let clean = length == 0 || ends.contains(&length);
        assert_eq!(
            (torn.torn == 0, torn.damage),
            (clean, None),
            "cut at {length}"
        );
        assert_eq!(
            report.repaired.is_none(),
            clean,
            "cut at {length}: {report:?}"
        );
        // It goes on from there, and does not report the same again.
        put(&journal, "a", started("next"));
        drop(reader);
        drop(journal);
        let journal = open(&path);
        let report = journal.reader().unwrap().verify().unwrap();
        assert_eq!((report.events, report.damage), (expected as u64 + 1, None));
    };
    let frame = 24 + 4096;
    for end in [0, 32].iter().chain(&ends) {
        for more in [
            0,
            1,
            7,
            8,
            15,
            16,
            23,
            24,
            25,
            2000,
            frame - 1,
            frame,
            frame + 1,
        ] {
            if *end == 32 && more == 0 {
                // A log that was only begun holds nothing, finished or not.
                continue;
            }
            if end + more <= *ends.last().unwrap() {
                check(end + more);
            }
        }
    }
}

#[test]
fn a_damaged_log_is_reported_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (_journal, path, ends) = with_log(dir.path());
    let whole = all(&Journal::open_read_only(&path).unwrap());
    let damaged = tempfile::tempdir().unwrap();
    let path = copy(&path, damaged.path());
    let wal = damaged.path().join("journal.db-wal");
    let mut bytes = std::fs::read(&wal).unwrap();
    bytes[usize::try_from(ends[2]).unwrap() + 100] ^= 1;
    std::fs::write(&wal, &bytes).unwrap();
    let report = Journal::open_read_only(&path).unwrap().verify().unwrap();
    let damage = report.damage.unwrap().to_string();
    assert!(
        damage.starts_with("event 16: it and all after it"),
        "{damage}"
    );
    let (journal, report) = Journal::open(&path).unwrap();
    let repaired = report.repaired.unwrap();
    let (_, copy) = repaired.split_once("a copy is in `").unwrap();
    assert_eq!(std::fs::read(copy.trim_end_matches('`')).unwrap(), bytes);
    let reader = journal.reader().unwrap();
    assert_eq!(all(&reader), whole[..1 + 5 + 9]);
    assert_eq!(reader.verify().unwrap().damage, None);
}

#[test]
fn a_write_under_way_is_not_damage() {
    let dir = tempfile::tempdir().unwrap();
    let (_journal, path, _) = with_log(dir.path());
    // As if a frame were half written just now.
    let wal = dir.path().join("journal.db-wal");
    let mut file = std::fs::File::options().append(true).open(wal).unwrap();
    std::io::Write::write_all(&mut file, &[7; 100]).unwrap();
    let (_second, report) = Journal::open(&path).unwrap();
    assert_eq!(report.repaired, None);
}

#[test]
fn a_newer_journal_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = written(dir.path());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    // Once with the number still in the log, once in the file itself.
    for _ in 0..2 {
        let newer = tempfile::tempdir().unwrap();
        let path = copy(&path, newer.path());
        let before = std::fs::read(&path).unwrap();
        for opened in [
            Journal::open(&path).map(drop),
            Journal::open_read_only(&path).map(drop),
        ] {
            assert!(matches!(
                opened,
                Err(JournalError::Newer {
                    found: 7,
                    known: 1,
                    ..
                })
            ));
        }
        assert!(std::fs::read(&path).unwrap() == before);
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
    }
}

#[test]
fn something_else_is_not_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "not a database, whatever its name is".repeat(100)).unwrap();
    let other = dir.path().join("other.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(connection);
    for path in [text, other] {
        let before = std::fs::read(&path).unwrap();
        for opened in [
            Journal::open(&path).map(drop),
            Journal::open_read_only(&path).map(drop),
        ] {
            assert!(
                matches!(opened, Err(JournalError::NotAJournal { .. })),
                "{opened:?}"
            );
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    assert!(matches!(
        Journal::open(dir.path()),
        Err(JournalError::NotAJournal { .. })
    ));
    let missing = dir.path().join("none.db");
    assert!(matches!(
        Journal::open_read_only(&missing),
        Err(JournalError::Missing { .. })
    ));
    assert!(!missing.exists());
    assert!(matches!(
        Journal::open(&dir.path().join("no/folder.db")),
        Err(JournalError::Missing { .. })
    ));
}

#[test]
fn a_read_only_journal_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::mount(dir.path(), "size=4m");
    let path = written(dir.path());
    match &disk {
        Some(disk) => disk.change("ro"),
        None => {
            // Not root, so permissions mean something.
            use std::os::unix::fs::PermissionsExt;
            let set = |path: &Path, mode| {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            };
            set(&path, 0o400);
            set(dir.path(), 0o500);
        }
    }
    assert!(matches!(
        Journal::open(&path),
        Err(JournalError::ReadOnly { .. })
    ));
    assert!(matches!(
        Journal::open(&dir.path().join("new.db")),
        Err(JournalError::ReadOnly { .. })
    ));
    let reader = Journal::open_read_only(&path).unwrap();
    assert_eq!(all(&reader).len(), 12);
    assert_eq!(reader.verify().unwrap().damage, None);
}

/// A crash left a log, and then the disk became read-only.
#[test]
fn a_read_only_log_is_read_or_said_to_be_unreadable() {
    let dir = tempfile::tempdir().unwrap();
    let (_journal, path, _) = with_log(dir.path());
    let fixed = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(fixed.path(), "size=4m") else {
        eprintln!("skipped: a read-only disk can only be mounted by root");
        return;
    };
    let check = |with_index: bool| {
        disk.change("rw");
        let path = copy(&path, fixed.path());
        if with_index {
            let name = "journal.db-shm";
            std::fs::copy(dir.path().join(name), fixed.path().join(name)).unwrap();
        }
        disk.change("ro");
        Journal::open_read_only(&path).map(|reader| all(&reader).len())
    };
    assert!(matches!(check(true), Ok(66)), "{:?}", check(true));
    assert!(
        matches!(check(false), Err(JournalError::ReadOnly { .. })),
        "{:?}",
        check(false)
    );
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(dir.path(), "size=1m") else {
        eprintln!("skipped: a small disk can only be mounted by root");
        return;
    };
    let path = dir.path().join("journal.db");
    let journal = open(&path);
    let append = |n: usize| {
        let events = (0..20)
            .map(|it| NewEvent::from(started(&format!("{n}-{it}"))))
            .collect();
        let receipt = journal.append(&session("a"), events, vec![], Durability::Synced);
        wait(receipt.written())
    };
    let mut acknowledged = 0;
    let error = (0..10_000)
        .find_map(|n| match append(n) {
            Ok((_, last)) => {
                acknowledged = last;
                None
            }
            Err(error) => Some(error),
        })
        .unwrap();
    assert!(matches!(error, JournalError::DiskFull { .. }), "{error:?}");
    assert!(acknowledged > 0);
    let reader = journal.reader().unwrap();
    let report = reader.verify().unwrap();
    assert_eq!((report.events, report.damage), (acknowledged, None));
    drop(reader);
    disk.change("size=8m");
    assert_eq!(append(0).unwrap(), (acknowledged + 1, acknowledged + 20));
    drop(journal);
    let reader = Journal::open_read_only(&path).unwrap();
    assert_eq!(reader.verify().unwrap().damage, None);
    put(&open(&path), "b", begun("x"));
}
