//! Patterns and what they do to texts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::fixture::{structured, text};

#[test]
fn matches_have_places_and_groups() {
    let find = |text: &str, pattern: &str| {
        structured(
            "regex_find",
            json!({ "text": text, "pattern": pattern, "limit": 2 }),
        )
    };
    for (of, pattern, expected) in [
        (
            "äb ab",
            "b",
            json!({ "matches": [{ "match": "b", "start": 1, "end": 2 }, { "match": "b", "start": 4, "end": 5 }], "more": false }),
        ),
        (
            "a1 b2 c3",
            r"(?<letter>\pL)(\d)(x)?",
            json!({ "matches": [
            { "match": "a1", "start": 0, "end": 2, "groups": ["a", "1", null], "named": { "letter": "a" } },
            { "match": "b2", "start": 3, "end": 5, "groups": ["b", "2", null], "named": { "letter": "b" } },
        ], "more": true }),
        ),
        ("x", "y", json!({ "matches": [], "more": false })),
        (
            "",
            "",
            json!({ "matches": [{ "match": "", "start": 0, "end": 0 }], "more": false }),
        ),
    ] {
        assert_eq!(find(of, pattern), expected, "{pattern}");
    }
}

#[test]
fn matches_are_replaced_and_cut_at() {
    let replace = |limit: Option<u32>| {
        let mut arguments = json!({ "text": "k1=v1;k2=v2", "pattern": r"(\w+)=(?<v>\w+)", "replacement": "${v}=$1$$" });
        if let Some(limit) = limit {
            arguments["limit"] = limit.into();
        }
        structured("regex_replace", arguments)
    };
    assert_eq!(
        replace(None),
        json!({ "text": "v1=k1$;v2=k2$", "replaced": 2 })
    );
    assert_eq!(
        replace(Some(1)),
        json!({ "text": "v1=k1$;k2=v2", "replaced": 1 })
    );
    for (of, pattern, limit, expected) in [
        ("a, b ,c", r"\s*,\s*", 100, json!(["a", "b", "c"])),
        ("a,b,c", ",", 2, json!(["a", "b,c"])),
        ("a,b", ",", 1, json!(["a,b"])),
        (",", ",", 9, json!(["", ""])),
        ("", ",", 9, json!([""])),
    ] {
        let found = structured(
            "regex_split",
            json!({ "text": of, "pattern": pattern, "limit": limit }),
        );
        assert_eq!(found, json!({ "parts": expected }), "{of} {pattern}");
    }
}

#[test]
fn patterns_that_cannot_be_used_say_why() {
    let nested = format!("{}a{}", "(".repeat(60), ")".repeat(60));
    for (pattern, expected) in [
        ("(", "refused: the pattern cannot be read: unclosed group"),
        (
            "(?=a)",
            "refused: the pattern cannot be read: look-around, including look-ahead and look-behind, is not supported",
        ),
        (
            r"(a)\1",
            "refused: the pattern cannot be read: backreferences are not supported",
        ),
        (
            r"(\w{100}){100}",
            "refused: the pattern is too large when its repetitions are written out: use smaller counts",
        ),
        (
            &nested,
            "refused: the pattern cannot be read: exceed the maximum number of nested parentheses/brackets (50)",
        ),
    ] {
        for (tool, more) in [
            ("regex_find", None),
            ("regex_split", None),
            ("regex_replace", Some("x")),
        ] {
            let mut arguments = json!({ "text": "a", "pattern": pattern });
            if let Some(more) = more {
                arguments["replacement"] = more.into();
            }
            assert_eq!(text(tool, arguments), expected, "{pattern}");
        }
    }
}

#[test]
fn results_that_would_be_huge_are_refused() {
    let replace = |of: &str, pattern: &str, replacement: &str| {
        text(
            "regex_replace",
            json!({ "text": of, "pattern": pattern, "replacement": replacement }),
        )
    };
    let all = "a".repeat(200_000);
    assert!(replace(&all, "a{100}", &"x".repeat(5000)).contains("larger than 4 MiB"));
    assert!(replace(&all, ".*", &"$0".repeat(5000)).contains("too much work"));
    // Each search may look at all that is left, as with `.*[^a]|a`.
    let found = replace(&all, "a", "b");
    assert_eq!(
        found,
        "refused: this is too much work for one call: make it smaller or simpler"
    );
}

proptest! {
    #[test]
    fn parts_joined_are_the_text(parts in proptest::collection::vec("[a-c ]{0,5}", 1..20)) {
        let whole = parts.join(",");
        let found = structured("regex_split", json!({ "text": whole, "pattern": "," }));
        prop_assert_eq!(found, json!({ "parts": parts }));
    }

    #[test]
    fn places_are_places(of in "[abä]{0,30}", pattern in proptest::sample::select(vec!["a+", "b|ä", "(a)(b)?", "^.", ""])) {
        let chars: Vec<char> = of.chars().collect();
        let found = structured("regex_find", json!({ "text": of, "pattern": pattern }));
        for it in found["matches"].as_array().unwrap() {
            let at = |name: &str| it[name].as_u64().unwrap() as usize;
            let there: String = chars[at("start")..at("end")].iter().collect();
            prop_assert_eq!(Value::from(there), it["match"].clone());
        }
    }
}
