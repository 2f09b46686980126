//! Queries and what they find.

use serde_json::{Value, json};

use super::super::fixture::{structured, text};

const STORE: &str = r#"{
    "store": {
        "book": [
            { "title": "Sayings", "price": 8.95, "isbn": null },
            { "title": "Sword", "price": 12.99 },
            { "title": "Moby Dick", "price": 8.99, "isbn": "0-553" },
            { "title": "Rings", "price": 22.99, "isbn": "0-395" }
        ],
        "bicycle": { "color": "red", "price": 399 }
    },
    "o'": [[1, 2], [3]]
}"#;

fn found(query: &str) -> (Vec<String>, Value) {
    let answer = structured("json_query", json!({ "json": STORE, "query": query }));
    let part = |name: &str| {
        answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it[name].clone())
            .collect::<Vec<_>>()
    };
    let paths = part("path")
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect();
    (paths, part("value").into())
}

#[test]
fn values_are_found_in_order() {
    for (query, values) in [
        (
            "$.store.book[*].title",
            json!(["Sayings", "Sword", "Moby Dick", "Rings"]),
        ),
        ("$..price", json!([399, 8.95, 12.99, 8.99, 22.99])),
        (
            "$.store.book[-1]['title', 'price']",
            json!(["Rings", 22.99]),
        ),
        ("$.store.book[0:3:2].price", json!([8.95, 8.99])),
        (
            "$.store.book[::-1].price",
            json!([22.99, 8.99, 12.99, 8.95]),
        ),
        (
            "$.store.book[?@.price < 10 && @.isbn].title",
            json!(["Sayings", "Moby Dick"]),
        ),
        (
            "$.store.book[?@.isbn == null || !(@.price <= 20)].title",
            json!(["Sayings", "Rings"]),
        ),
        (
            "$.store.book[?match(@.isbn, '0-[35]+.*')].title",
            json!(["Moby Dick", "Rings"]),
        ),
        (
            "$.store.book[?search(@.title, 'y')].title",
            json!(["Sayings", "Moby Dick"]),
        ),
        (
            "$.store.book[?length(@.title) == 5].title",
            json!(["Sword", "Rings"]),
        ),
        ("$.store[?count(@.*) > 3][0].title", json!(["Sayings"])),
        ("$..[?value(@..color) == 'red'].bicycle.price", json!([399])),
        (
            "$.store.book[?@.price > $.store.book[0].price].price",
            json!([12.99, 8.99, 22.99]),
        ),
        (r#"$["o'"][*][0]"#, json!([1, 3])),
        ("$.nothing", json!([])),
    ] {
        assert_eq!(found(query).1, values, "{query}");
    }
    assert_eq!(
        found("$..[1]").0,
        ["$['o\\''][1]", "$['o\\''][0][1]", "$['store']['book'][1]"]
    );
}

#[test]
fn results_beyond_the_limit_are_counted() {
    let answer = structured(
        "json_query",
        json!({ "json": [1, 2, 3], "query": "$[*]", "limit": 1 }),
    );
    assert_eq!(
        answer,
        json!({ "count": 3, "results": [{ "path": "$[0]", "value": 1 }] })
    );
}

#[test]
fn what_is_no_query_says_where() {
    for (query, why) in [
        (
            ".a",
            "1: a query begins with `$`, such as `$.items[*].name`",
        ),
        (
            "$.",
            "3: a name or `*` is missing; quote other names: `['a b']`",
        ),
        ("$.a b", "4: `.name`, `[…]` or the end is wanted here"),
        (
            "$[a]",
            "3: a quoted name, an index, a slice, `*` or `?` is wanted",
        ),
        ("$[01]", "3: an integer without leading zeros is wanted"),
        ("$['a'", "6: `,` or `]` is missing"),
        ("$['a", "5: the closing quote is missing"),
        (
            "$[?@.a==]",
            "9: `@…`, `$…`, a function or a literal is wanted",
        ),
        (
            "$[?@.*==1]",
            "9: a query in a comparison finds one node at most: only names and indexes, or `count(…)` around it",
        ),
        (
            "$[?lenght(@)==1]",
            "11: `lenght` is no function; did you mean `length`?",
        ),
        (
            "$[?length(@)]",
            "13: a comparison such as `== 1` is missing",
        ),
        (
            "$[?!@.a==1]",
            "5: `!` before a comparison wants parentheses around it",
        ),
        (
            "$[?match(@.a,'x')==true]",
            "20: `match` and `search` are not compared: they hold or not",
        ),
    ] {
        let found = text("json_query", json!({ "json": {}, "query": query }));
        assert_eq!(
            found,
            format!("refused: the query cannot be read at character {why}"),
            "{query}"
        );
    }
    let deep = format!("${}{}", "[?@".repeat(20), "]".repeat(20));
    let found = text("json_query", json!({ "json": {}, "query": deep }));
    assert!(found.ends_with("nested deeper than 32 levels"), "{found}");
}

#[test]
fn queries_that_never_seem_to_end_are_refused() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep, deep_leaf(), deep_leaf()]);
    }
    let wide: Vec<_> = (0..3000).map(|it| json!({ "a": it.to_string() })).collect();
    for (document, query) in [
        (&deep, "$..*..*..*..*..*"),
        (&Value::from(wide.clone()), "$[?$[?$[?@.a]]]"),
        (
            &Value::from(wide.clone()),
            "$[?search('aaaaaaaaaaaaaaaaaaaaaaaa', @.a)]",
        ),
    ] {
        let found = text("json_query", json!({ "json": document, "query": query }));
        assert!(found.starts_with("refused: "), "{query}: {found}");
    }
}

fn deep_leaf() -> Value {
    json!([0, 0])
}

#[test]
fn the_path_of_a_result_finds_it_alone() {
    for query in ["$..*", "$..[0]", "$..[?@.price]", "$..[::2]"] {
        let (paths, values) = found(query);
        for (path, value) in paths.iter().zip(values.as_array().unwrap()) {
            assert_eq!(found(path), (vec![path.clone()], json!([value])));
        }
    }
}
