//! What built-in capabilities keep, out of a workspace and back into it.

use std::fs;

use serde_json::json;

use crate::support::{call, configured, ended, reason};

#[test]
fn data_goes_out_and_comes_back() {
    let home =
        configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {"secrets": {}}}}}));
    let ask = |name: &str| {
        let input = json!({"name": name, "reason": "why"});
        assert_eq!(
            ended(&call(&home, "secrets__request_secret", input, &[])),
            "completed"
        );
    };
    ask("ONE");
    home.run(&["data", "export", "out.json"]).exits(0);
    let exported = home.run(&["data", "export"]).exits(0).json();
    assert_eq!(
        exported["data"]["secrets"]["tables"]["secret_requests"][0]["name"],
        "ONE"
    );
    let folder = home.run(&["data", "where", "--json"]).exits(0).json();
    let database = folder["database"].as_str().unwrap().to_owned();
    fs::remove_dir_all(folder["folder"].as_str().unwrap()).unwrap();
    ask("TWO");
    home.run(&["data", "import", "out.json"]).exits(0);
    let all = home.run(&["secrets", "requests", "--json"]).exits(0).json();
    assert_eq!(all["requests"].as_array().unwrap().len(), 2);

    for (content, code, exit) in [
        ("{", "not_an_export", 2),
        (
            r#"{"schemaVersion": 9, "workspace": "", "exportedAt": "", "data": {}}"#,
            "not_an_export",
            2,
        ),
        (
            r#"{"schemaVersion": 1, "workspace": "", "exportedAt": "", "data": {"x": {"version": 1, "tables": {}}}}"#,
            "import_refused",
            1,
        ),
    ] {
        let run = home
            .run_with(&["data", "import", "-", "--json"], content)
            .exits(exit);
        assert_eq!(run.json()["error"]["code"], code);
    }
    fs::write(&database, "this is no database any more, whatever it was").unwrap();
    let run = home.run(&["data", "export", "--json"]).exits(1);
    assert_eq!(run.json()["error"]["code"], "data_damaged");
    let input = json!({"name": "THREE", "reason": "why"});
    let failed = call(&home, "secrets__request_secret", input, &[]);
    assert!(reason(&failed).contains("a copy is at"), "{failed:?}");
    assert!(
        fs::read_to_string(&database)
            .unwrap()
            .starts_with("this is no")
    );
}
