//! What holds for every function, whatever it is given: it ends, it does not panic, its result
//! fits its schema, and the same arguments give the same bytes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ambit_core::schema::CompiledSchema;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::TABLE;
use super::fixture::call;

/// Texts that mean something to some function, so that arguments reach beyond its first check.
const WORDS: &[&str] = &[
    "",
    "0.1+0.2",
    "9^9^9",
    "sqrt(x)/(1-1)",
    "50% * 3!",
    "km",
    "mile",
    "°F",
    "mpg",
    "L/100km",
    "2026-03-29T02:30",
    "2026-10-25T02:30[Europe/Berlin]",
    "@-1.5",
    "-9999-01-01",
    "Europe/Berlin",
    "+02:00",
    "P1Y2M",
    "-36h 5m",
    "9999 years",
    "$..*",
    "$..[?@.a==1||!@..b]",
    "$[?match(@,'a.*')]",
    "$[-1,::2,'a']",
    "/a/0",
    "/-",
    "",
    "a\nb\nc\n",
    "b\r\nc",
    r"(\w+)\s*",
    "(?<n>a|b)*?",
    "(((",
    "$1${n}$$",
    "aGk=",
    "_-8",
    "ff00",
    "{\"a\":[1,{\"b\":null}]}",
    "[1,2,3",
    "1e300",
    "-0.000001",
];

static INPUTS: LazyLock<BTreeMap<&str, CompiledSchema>> = LazyLock::new(|| {
    let compiled = |schema: fn() -> Value| CompiledSchema::compile(&schema()).unwrap();
    TABLE
        .iter()
        .map(|it| (it.name, compiled(it.input)))
        .collect()
});

fn text() -> BoxedStrategy<String> {
    prop_oneof![
        proptest::sample::select(WORDS).prop_map(str::to_owned),
        "\\PC{0,12}",
        "[0-9a-f.+*/()^ -]{0,12}",
    ]
    .boxed()
}

fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[ab/~]{0,2}", inner, 0..4)
                .prop_map(|it| it.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
    .boxed()
}

/// Values that fit a schema, as far as this file has to know schemas.
fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(choices) = schema["enum"].as_array() {
        return proptest::sample::select(choices.clone()).boxed();
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.clone()],
        Value::Array(kinds) => kinds
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect(),
        _ => return any_json(),
    };
    let bound = |name: &str, default: i64| schema[name].as_i64().unwrap_or(default);
    let (least, most) = (bound("minimum", -1000), bound("maximum", 1000));
    let schema = schema.clone();
    let of = move |kind: String| match kind.as_str() {
        "string" => text().prop_map(Value::from).boxed(),
        "integer" => (least..=most).prop_map(Value::from).boxed(),
        "number" => prop_oneof![
            (least..=most).prop_map(Value::from),
            (least as f64..=most as f64).prop_map(|it| json!(it)),
        ]
        .boxed(),
        "array" => proptest::collection::vec(fitting(&schema["items"]), 0..6)
            .prop_map(Value::from)
            .boxed(),
        "object" if schema["properties"].is_object() => members(&schema),
        "object" => proptest::collection::btree_map(
            "[a-z]{1,3}",
            fitting(&schema["additionalProperties"]),
            0..3,
        )
        .prop_map(|it| it.into_iter().collect::<Map<_, _>>().into())
        .boxed(),
        other => panic!("{other}"),
    };
    proptest::sample::select(kinds).prop_flat_map(of).boxed()
}

fn members(schema: &Value) -> BoxedStrategy<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let each: Vec<BoxedStrategy<Option<(String, Value)>>> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| {
            let named = |name: String| move |value| (name.clone(), value);
            let member = fitting(schema).prop_map(named(name.clone()));
            if required.iter().any(|it| it == name) {
                member.prop_map(Some).boxed()
            } else {
                proptest::option::of(member).boxed()
            }
        })
        .collect();
    each.prop_map(|it| it.into_iter().flatten().collect::<Map<_, _>>().into())
        .boxed()
}

fn calls() -> BoxedStrategy<(&'static str, Value)> {
    let each = TABLE.iter().map(|it| {
        fitting(&(it.input)())
            .prop_map(|arguments| (it.name(), arguments))
            .boxed()
    });
    proptest::strategy::Union::new(each).boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_same_arguments_give_the_same_bytes((name, arguments) in calls()) {
        prop_assume!(INPUTS[name].check(&arguments).is_ok());
        let said = |it: Result<_, _>| match it {
            Ok(output) => serde_json::to_string(&output).unwrap(),
            Err(failure) => serde_json::to_string(&failure).unwrap(),
        };
        prop_assert_eq!(said(call(name, arguments.clone())), said(call(name, arguments)));
    }

    #[test]
    fn arguments_of_any_shape_are_refused_or_answered(name in proptest::sample::select(TABLE.iter().map(|it| it.name()).collect::<Vec<_>>()), arguments in any_json()) {
        let _ = call(name, arguments);
    }
}
