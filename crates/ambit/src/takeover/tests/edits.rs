//! Edits of JSON leave the rest alone, whatever it is.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::scan;
use super::*;

fn parse(text: &str) -> Value {
    scan::parse(Syntax::Json, text).unwrap()
}

#[test]
fn a_member_is_added_and_removed() {
    for text in [
        "",
        "{}\n",
        "{ }",
        "{\"a\": 1}",
        "// c\n{\n  // d\n  \"mcpServers\": {}, // e\n}\n",
        "{\"mcpServers\": {\"b\": {}, /* f */}}",
    ] {
        let entry = vec![
            ("command".to_owned(), json!("a \"b\" \\ \n é")),
            ("args".to_owned(), json!(["x"])),
        ];
        let added = insert_members(text, &["mcpServers"], &[("new".to_owned(), entry)]).unwrap();
        let value = parse(&added);
        assert_eq!(
            value["mcpServers"]["new"],
            json!({"command": "a \"b\" \\ \n é", "args": ["x"]}),
            "{added}"
        );
        for comment in ["// c", "// d", "// e", "/* f */"] {
            assert_eq!(text.contains(comment), added.contains(comment), "{added}");
        }
        let removed = remove_member(&added, &["mcpServers"], "new")
            .unwrap()
            .unwrap();
        assert_eq!(parse(&removed).get("a"), parse(text).get("a"));
        assert_eq!(parse(&removed)["mcpServers"].get("new"), None);
        assert_eq!(
            remove_member(&removed, &["mcpServers"], "new").unwrap(),
            None
        );
    }
    assert_eq!(
        insert_members("[]", &["mcpServers"], &[]),
        Err(EditError::Layout)
    );
    assert_eq!(
        insert_members("{\"mcpServers\": 1}", &["mcpServers"], &[]),
        Err(EditError::Layout)
    );
    assert_eq!(
        insert_members("{", &["mcpServers"], &[]),
        Err(EditError::Malformed)
    );
}

proptest! {
    // Each case is on disk for good several times over.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_config_goes_there_and_back(
        before in "[a-zé ]{0,8}", names in prop::collection::btree_set("[a-z]{1,6}", 1..4),
        pretty in any::<bool>(), secret in "[ -~]{1,12}",
    ) {
        let servers: BTreeMap<&String, Value> = names.iter().map(|it| (it, json!({"command": "npx", "env": {"TOKEN": secret}}))).collect();
        let value = json!({"a": before, "mcpServers": servers, "z": [1, {"b": before}]});
        let text = match pretty {
            true => serde_json::to_string_pretty(&value).unwrap(),
            false => value.to_string(),
        };
        let mut machine = Machine::new(Platform::Linux);
        let path = machine.write(ClientId::ClaudeDesktop, Scope::User, &text);
        let plan = machine.settle();
        apply(&plan.rewires[0], &machine.backups()).unwrap();
        let now = parse(&fs::read_to_string(&path).unwrap());
        prop_assert_eq!(&now["a"], &value["a"]);
        prop_assert_eq!(&now["z"], &value["z"]);
        prop_assert_eq!(now["mcpServers"].as_object().unwrap().len(), 1);
        machine.backups().undo(&[]).unwrap();
        prop_assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
