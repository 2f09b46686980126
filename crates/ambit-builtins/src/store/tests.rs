use std::fs;
use std::thread;

use ambit_core::observation::Failure;
use serde_json::json;
use tempfile::TempDir;

use super::*;

const FIRST: Part = Part {
    name: "things",
    versions: &["CREATE TABLE things (name TEXT PRIMARY KEY, size INTEGER, raw BLOB) STRICT"],
    tables: &["things"],
};
const SECOND: Part = Part {
    versions: &[
        FIRST.versions[0],
        "ALTER TABLE things ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'",
    ],
    ..FIRST
};

fn add(store: &Store, name: &str) -> Result<(), StoreError> {
    store.write(|it| {
        it.execute(
            "INSERT INTO things (name, size, raw) VALUES (?1, 1, x'00ff')",
            [name],
        )?;
        Ok(())
    })
}

fn names(store: &Store) -> Vec<String> {
    store
        .read(|it| {
            let mut rows = it.prepare("SELECT name FROM things ORDER BY name")?;
            let rows = rows.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .unwrap()
}

#[test]
fn nothing_is_made_before_it_is_needed() {
    let folder = TempDir::new().unwrap();
    let store = Store::of(&folder.path().join("deep/er"), &[&FIRST]);
    store.check().unwrap();
    assert!(!folder.path().join("deep").exists());
    add(&store, "a").unwrap();
    assert_eq!(names(&store), ["a"]);
    store.check().unwrap();
}

#[test]
fn what_fails_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let store = Store::of(folder.path(), &[&FIRST]);
    add(&store, "a").unwrap();
    let failed = store.write(|it| -> Result<(), StoreError> {
        it.execute("DELETE FROM things", [])?;
        Err(Failure::refused("no").into())
    });
    assert_eq!(failed.unwrap_err().to_string(), "no");
    assert_eq!(names(&store), ["a"]);
}

#[test]
fn an_older_one_is_brought_up_and_a_newer_one_refused_untouched() {
    let folder = TempDir::new().unwrap();
    add(&Store::of(folder.path(), &[&FIRST]), "a").unwrap();
    let newer = Store::of(folder.path(), &[&SECOND]);
    add(&newer, "b").unwrap();
    assert_eq!(names(&newer), ["a", "b"]);
    drop(newer);
    let before = fs::read(folder.path().join(NAME)).unwrap();
    for (parts, said) in [
        (
            &[&FIRST as &Part][..],
            "`things` is at version 2, this one knows 1",
        ),
        (&[], "`things` is at version 2, this one knows 0"),
    ] {
        let parts: &'static [&'static Part] = parts;
        let error = add(&Store::of(folder.path(), parts), "c").unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    assert_eq!(fs::read(folder.path().join(NAME)).unwrap(), before);
}

#[test]
fn a_damaged_one_is_reported_and_copied_once() {
    let folder = TempDir::new().unwrap();
    let store = Store::of(folder.path(), &[&FIRST]);
    add(&store, "a").unwrap();
    drop(store);
    fs::write(
        folder.path().join(NAME),
        "not a database, but long enough to look at",
    )
    .unwrap();
    for _ in 0..2 {
        let error = add(&Store::of(folder.path(), &[&FIRST]), "b").unwrap_err();
        let StoreError::Damaged {
            copy: Some(copy), ..
        } = &error
        else {
            panic!("{error}");
        };
        assert!(error.to_string().contains("ambit data import"), "{error}");
        assert_eq!(
            fs::read(copy).unwrap(),
            fs::read(folder.path().join(NAME)).unwrap()
        );
    }
    let copies = fs::read_dir(folder.path())
        .unwrap()
        .filter(|it| {
            it.as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .contains("damaged")
        })
        .count();
    assert_eq!(copies, 1);
}

#[test]
fn a_damaged_page_is_found() {
    let folder = TempDir::new().unwrap();
    let store = Store::of(folder.path(), &[&FIRST]);
    let many = "INSERT INTO things WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
        WHERE i < 500) SELECT 'thing ' || i, i, zeroblob(900) FROM n";
    store.write(|it| Ok(it.execute(many, [])?)).unwrap();
    drop(store);
    let path = folder.path().join(NAME);
    let mut content = fs::read(&path).unwrap();
    let from = content.len() / 2;
    content[from..from + 4096].fill(0xab);
    fs::write(&path, content).unwrap();
    let error = Store::of(folder.path(), &[&FIRST]).check().unwrap_err();
    assert!(
        matches!(error, StoreError::Damaged { copy: Some(_), .. }),
        "{error}"
    );
}

#[test]
fn an_export_comes_back_whole() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let from = Store::of(here.path(), &[&SECOND]);
    add(&from, "a").unwrap();
    add(&from, "b").unwrap();
    let dump = from.export().unwrap();
    let text = serde_json::to_string(&dump).unwrap();
    let to = Store::of(there.path(), &[&SECOND]);
    add(&to, "b").unwrap();
    assert_eq!(to.import(&serde_json::from_str(&text).unwrap()).unwrap(), 2);
    assert_eq!(to.export().unwrap(), dump);
}

#[test]
fn an_export_that_does_not_fit_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let store = Store::of(folder.path(), &[&FIRST]);
    add(&store, "a").unwrap();
    let row = |row: serde_json::Value| json!({"things": {"version": 1, "tables": {"things": [{"name": "z"}, row]}}});
    for (dump, said) in [
        (
            json!({"other": {"version": 1, "tables": {}}}),
            "which this version of ambit does not keep",
        ),
        (
            json!({"things": {"version": 2, "tables": {}}}),
            "exported as version 2",
        ),
        (
            json!({"things": {"version": 1, "tables": {"x": []}}}),
            "has no table `x`",
        ),
        (row(json!({"weight": 1})), "has no column `weight`"),
        (
            row(json!({"name": [1]})),
            "`[1]` is not a value of a column",
        ),
        (
            row(json!({"name": "b", "size": "large"})),
            "a row of `things` does not fit",
        ),
    ] {
        let error = store
            .import(&serde_json::from_value(dump).unwrap())
            .unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(names(&store), ["a"]);
    }
}

#[test]
fn many_may_be_the_first() {
    for _ in 0..20 {
        let folder = TempDir::new().unwrap();
        thread::scope(|scope| {
            for writer in 0..8 {
                let folder = folder.path();
                scope.spawn(move || {
                    add(&Store::of(folder, &[&FIRST]), &format!("{writer}")).unwrap()
                });
            }
        });
        assert_eq!(names(&Store::of(folder.path(), &[&FIRST])).len(), 8);
    }
}

#[test]
fn many_writers_lose_nothing() {
    let folder = TempDir::new().unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                let store = Store::of(folder, &[&FIRST]);
                for n in 0..25 {
                    add(&store, &format!("{writer}-{n}")).unwrap();
                }
            });
        }
    });
    assert_eq!(names(&Store::of(folder.path(), &[&FIRST])).len(), 100);
}
