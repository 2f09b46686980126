//! Arguments that are too large, too deep or not JSON: a clear error, quickly, and nothing runs.

use ambit_testkit::Home;
use serde_json::json;

use crate::support::{call, configured, ended, home};

fn piped(home: &Home, input: impl AsRef<[u8]>) -> (i32, String) {
    let run = home.run_with(
        &["call", "files__read_file", "--input", "-", "--json"],
        input,
    );
    let report = run.json();
    let code = report["error"]["code"].as_str().or(report["code"].as_str());
    (run.code, code.unwrap_or("completed").to_owned())
}

#[test]
fn input_is_bounded_before_it_is_read_whole() {
    let home = home();
    home.write("a.txt", "one");
    let check = |input: &[u8], exit: i32, code: &str| {
        let head = String::from_utf8_lossy(&input[..input.len().min(40)]).into_owned();
        assert_eq!(piped(&home, input), (exit, code.to_owned()), "{head}");
    };
    check(br#"{"path": "a.txt"}"#, 0, "completed");
    check(&vec![b'a'; 100 << 20], 1, "input_too_large");
    check(&vec![b'['; 200_000], 2, "input_not_json");
    check(
        br#"{"path": "a.txt", "path": "b.txt"}"#,
        2,
        "input_not_json",
    );
    check(
        br#"{"path": "a.txt", "x": {"y": 1, "y": 2}}"#,
        2,
        "input_not_json",
    );
    check(b"{\"path\": \"\xff\"}", 2, "input_not_utf8");
    check(br#"{"path": "a.txt"} {}"#, 2, "input_not_json");
    check(br#"{"path": "\ud800"}"#, 2, "input_not_json");
    check(br#"{"path": 1e999}"#, 2, "input_not_json");
    check(b"", 2, "input_not_json");
    check(b"[]", 1, "input_invalid");
    check(b"null", 1, "input_invalid");
    check(br#"{"path": "a.txt", "extra": 1}"#, 1, "input_invalid");
    check(br#"{"path": ""}"#, 1, "input_invalid");
    let deep = format!(r#"{{"path": {}1{}}}"#, "[".repeat(100), "]".repeat(100));
    let (exit, code) = piped(&home, deep);
    assert!(
        exit == 1 && ["input_invalid", "input_too_large"].contains(&&*code),
        "{code}"
    );
}

#[test]
fn input_comes_from_the_line_a_file_or_a_pipe() {
    let home = home();
    home.write("a.txt", "one");
    home.write("in.json", r#"{"path": "a.txt"}"#);
    for input in [r#"{"path":"a.txt"}"#, "@in.json"] {
        assert_eq!(
            ended(&call(&home, "files__read_file", input, &[])),
            "completed"
        );
    }
    let error = call(&home, "files__read_file", "@nope.json", &[])
        .exits(2)
        .json();
    assert_eq!(error["error"]["code"], "input_unreadable");
    let error = call(&home, "files__read_file", "{path}", &[])
        .exits(2)
        .json();
    assert_eq!(error["error"]["code"], "input_not_json");
    assert!(
        error["error"]["hints"][0]
            .as_str()
            .unwrap()
            .contains("@FILE")
    );
}

#[test]
fn the_limit_can_be_set() {
    let home = configured(json!({"mode": "auto", "limits": {"inputBytes": 100}}));
    let write = |length: usize| {
        let input = json!({"path": "a", "content": "x".repeat(length)});
        call(&home, "files__write_file", input, &[])
    };
    assert_eq!(ended(&write(20)), "completed");
    let error = write(200).exits(1).json();
    assert_eq!(error["error"]["code"], "input_too_large");
    assert_eq!(std::fs::read(home.work().join("a")).unwrap().len(), 20);
}

#[test]
fn names_of_capabilities_are_checked_like_anything_else() {
    let home = home();
    for id in [
        "read_file",
        "files",
        "",
        "local__files",
        "x".repeat(10_000).as_str(),
        "../x",
        "ünï__x",
    ] {
        assert_eq!(
            ended(&call(&home, id, json!({}), &[])),
            "denied not_visible",
            "{id}"
        );
    }
    home.run(&["log", "verify"]).exits(0);
}
