//! Search as a whole: decision tables and the properties that hold for any input.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::id::CapabilityId;

/// One document a line: `owner name | description | parameters`.
const TOOLS: &str = "
github search_issues | Search for issues in a repository | query, state
github create_issue | Open a new issue | title, body
github get_pull_request | Read one pull request | number
jira search | Search tickets with JQL | jql
slack post_message | Send a message to a channel | channel, text
weather getForecast | Weather forecast for a city | city, days
files read_file | Read a text file | path
finance stock_price | Latest price of a stock | symbol
shop price_list | Prices of everything in stock | page
mail send_email | Send an e-mail | to, subject";

fn documents(text: &str) -> Vec<SearchDocument> {
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines
        .map(|line| {
            let mut parts = line.split('|').map(str::trim);
            let (owner, name) = parts.next().unwrap().split_once(' ').unwrap();
            let id = CapabilityId::tool(crate::id::Source::Mcp, owner, name).unwrap();
            let mut document = SearchDocument::new(id);
            document.description = parts.next().unwrap_or_default().to_owned();
            let parameters = parts.next().unwrap_or_default().split(", ");
            document.parameters = parameters
                .map(|name| Parameter {
                    name: name.to_owned(),
                    ..Parameter::default()
                })
                .collect();
            document
        })
        .collect()
}

fn index() -> SearchIndex {
    SearchIndex::default().with_source("all", documents(TOOLS))
}

/// Searches with everything let through.
fn find(index: &SearchIndex, request: &SearchRequest) -> Vec<Hit> {
    index.search(request, &index.gate(|_| true))
}

fn names(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|it| it.id.name()).collect()
}

#[track_caller]
fn check(query: &str, first: &str) {
    let hits = find(&index(), &SearchRequest::new(query));
    assert_eq!(names(&hits).first(), Some(&first), "{query}: {hits:#?}");
}

#[test]
fn words_find_what_they_mean() {
    check("search for issues", "search_issues");
    check("searching an ISSUE", "search_issues");
    check("open a new issue please", "create_issue");
    check("forecast", "getForecast");
    check("what will the weather be like in Oslo", "getForecast");
    check("jql", "search");
    check("I want to send a message", "post_message");
}

#[test]
fn words_side_by_side_beat_words_apart() {
    check("stock price", "stock_price");
    check("price list", "price_list");
}

#[test]
fn a_name_wins() {
    check("search", "search");
    check("mcp__jira__search", "search");
    check("jira__search", "search");
    check("READ_FILE", "read_file");
    check("getforecast", "getForecast");
    check(
        "please use search_issues to read a text file",
        "search_issues",
    );
    let hits = find(&index(), &SearchRequest::new("mcp__jira__search"));
    assert!(matches!(hits[0].why[0], MatchReason::ExactName { .. }));
}

#[test]
fn a_near_miss_is_taken_for_the_name() {
    check("serach_isues", "search_issues");
    check("get_pull_reqeust", "get_pull_request");
    check("forcast", "getForecast");
    let hits = find(&index(), &SearchRequest::new("forcast"));
    assert_eq!(
        hits[0].why[0].to_string().split(" +").next(),
        Some("`forcast` taken for `forecast` in name")
    );
}

#[test]
fn each_need_of_a_request_finds_its_own() {
    let request = SearchRequest::new(
        "Check the weather forecast in Oslo, then open an issue and post a message",
    );
    let hits = find(&index(), &request);
    let mut first = names(&hits[..3]);
    first.sort_unstable();
    assert_eq!(first, ["create_issue", "getForecast", "post_message"]);
}

#[test]
fn a_server_hint_prefers_and_does_not_filter() {
    let mut request = SearchRequest::new("searching");
    let hits = find(&index(), &request);
    assert_eq!(names(&hits), ["search", "search_issues"]);
    request.server = Some("GitHub".into());
    let hits = find(&index(), &request);
    assert_eq!(names(&hits), ["search_issues", "search"]);
    let is_server = |it: &MatchReason| matches!(it, MatchReason::Server { .. });
    assert!(hits[0].why.iter().any(is_server));
}

#[test]
fn what_fails_the_gate_is_not_there() {
    let index = index();
    let gate = index.gate(|id| id.owner() != "github");
    assert_eq!(gate.passing(), index.len() - 3);
    for query in [
        "search_issues",
        "mcp__github__search_issues",
        "issue",
        "serach_isues",
    ] {
        let hits = index.search(&SearchRequest::new(query), &gate);
        assert!(hits.iter().all(|it| it.id.owner() != "github"), "{query}");
    }
}

#[test]
fn a_gate_of_another_index_passes_nothing() {
    let index = index();
    let gate = index.gate(|_| true);
    let request = SearchRequest::new("issue");
    assert!(!index.clone().search(&request, &gate).is_empty());
    let same_documents = index.with_source("all", documents(TOOLS));
    let more = index.with_source("more", documents("a only | one issue |"));
    let fewer = more.without_source("all");
    for other in [same_documents, more, fewer, SearchIndex::default()] {
        assert!(other.search(&request, &gate).is_empty(), "{other:?}");
    }
}

#[test]
fn a_gate_is_asked_about_each_document_once() {
    for count in [0, 1, 63, 64, 65, 128, 200] {
        let lines = (0..count).map(|at| format!("a tool_{at} | thing |\n"));
        let index = SearchIndex::default().with_source("s", documents(&lines.collect::<String>()));
        let asked = std::cell::RefCell::new(Vec::new());
        let gate = index.gate(|id| {
            asked.borrow_mut().push(id.clone());
            id.name().ends_with('3')
        });
        let mut asked = asked.into_inner();
        assert!(asked.is_sorted(), "in the order of the documents");
        asked.dedup();
        assert_eq!(asked.len(), count);
        let request = SearchRequest {
            limit: 1000,
            ..SearchRequest::new("thing")
        };
        let hits = index.search(&request, &gate);
        assert_eq!(hits.len(), gate.passing());
        assert!(hits.iter().all(|it| it.id.name().ends_with('3')));
    }
}

#[test]
fn a_body_is_searched() {
    let mut skill = SearchDocument::new(CapabilityId::skill("release").unwrap());
    skill.body = "Bump the changelog, tag, publish the crates.".into();
    let index = index().with_source("skills", vec![skill]);
    for query in ["publish a crate", "skill__release"] {
        let hits = find(&index, &SearchRequest::new(query));
        assert_eq!(names(&hits), ["release"]);
    }
}

#[test]
fn parameters_come_from_the_schema_two_levels_down() {
    let schema = json!({"properties": {
        "filter": {"type": "object", "description": "Which ones", "properties": {"assignee": {"description": "Who"}}},
        "labels": {"type": "array", "items": {"properties": {"colour": true}}},
    }});
    let id: CapabilityId = "mcp__a__b".parse().unwrap();
    let document = SearchDocument::new(id).with_input_schema(&schema);
    let found: Vec<&str> = document
        .parameters
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(found, ["filter", "labels", "assignee", "colour"]);
    assert_eq!(document.parameters[0].description, "Which ones");
}

#[test]
fn odd_requests_are_answered() {
    let index = index();
    let hits = |query: &str| find(&index, &SearchRequest::new(query)).len();
    for nothing in [
        "",
        "   ",
        "the of and",
        "?!,.",
        "\u{202e}\u{200b}\0",
        "zzzzqqqq",
        "___",
    ] {
        assert_eq!(hits(nothing), 0, "{nothing:?}");
    }
    assert!(hits("\u{202e}issues\u{0}\u{200f}search") > 0);
    assert!(hits(&"issue search ".repeat(80_000)) > 0);
    assert!(hits(&"x".repeat(1_000_000)) == 0);
    let none = SearchRequest {
        limit: 0,
        ..SearchRequest::new("issue")
    };
    assert!(find(&index, &none).is_empty());
    assert!(find(&SearchIndex::default(), &SearchRequest::new("issue")).is_empty());
}

#[test]
fn huge_documents_are_bounded() {
    let properties: serde_json::Map<_, _> = (0..1000)
        .map(|at| {
            (
                format!("parameter{at}"),
                json!({"description": "some words here"}),
            )
        })
        .collect();
    let id: CapabilityId = "mcp__big__tool".parse().unwrap();
    let mut document =
        SearchDocument::new(id).with_input_schema(&json!({"properties": properties}));
    assert_eq!(document.parameters.len(), 256);
    document.description = "word".repeat(12) + &" lorem ipsum".repeat(5000);
    let index = index().with_source("big", vec![document]);
    let hits = find(&index, &SearchRequest::new("lorem"));
    assert_eq!(names(&hits), ["tool"]);
}

#[test]
fn a_source_comes_and_goes() {
    let index = index();
    let changed = index.with_source("all", documents("a only | one thing |"));
    assert_eq!((index.len(), changed.len()), (10, 1));
    assert!(changed.without_source("all").is_empty());
    assert_eq!(changed.without_source("other").len(), 1);
    assert!(find(&changed, &SearchRequest::new("issue")).is_empty());
}

/// Means something by the first letter only.
struct FirstLetter;

impl Embedder for FirstLetter {
    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let letter = text.chars().next()?.to_ascii_lowercase() as usize;
        Some(
            (0..128)
                .map(|at| if at == letter { 1.0 } else { 0.0 })
                .collect(),
        )
    }
}

#[test]
fn meaning_joins_words() {
    let index = SearchIndex::with_embedder(std::sync::Arc::new(FirstLetter));
    let index = index.with_source("all", documents(TOOLS));
    let hits = find(&index, &SearchRequest::new("rummage"));
    assert_eq!(hits[0].id.name(), "read_file");
    assert!(matches!(hits[0].why[..], [MatchReason::Meaning { .. }]));
    assert_eq!(names(&hits), ["read_file"], "what is farthest is no answer");
    let gate = index.gate(|id| id.owner() != "files");
    let gated = index.search(&SearchRequest::new("rummage"), &gate);
    assert!(gated.iter().all(|it| it.id.owner() != "files"));
}

const WORDS: [&str; 12] = [
    "search", "issue", "file", "weather", "stock", "price", "get", "list", "message", "Oslo",
    "and", "42",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8).prop_map(|it| it.join(" "))
}

fn corpus() -> impl Strategy<Value = Vec<SearchDocument>> {
    let one = (
        "[abc]",
        "(get|search)_(issue|file|stock)[1-9]",
        text(),
        text(),
    );
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let made = all
            .into_iter()
            .map(|(owner, name, description, parameter)| {
                let id = CapabilityId::tool(crate::id::Source::Mcp, &owner, &name).unwrap();
                let mut document = SearchDocument::new(id);
                document.description = description;
                document.parameters = vec![Parameter {
                    name: "it".into(),
                    description: parameter,
                }];
                document
            });
        let by_id: std::collections::BTreeMap<_, _> = made.map(|it| (it.id.clone(), it)).collect();
        by_id.into_values().collect()
    })
}

fn by_owner(documents: &[SearchDocument], owner: &str) -> Vec<SearchDocument> {
    documents
        .iter()
        .filter(|it| it.id.owner() == owner)
        .cloned()
        .collect()
}

proptest! {
    #[test]
    fn the_order_documents_come_in_never_matters(corpus in corpus(), query in text()) {
        let request = SearchRequest::new(query);
        let there = SearchIndex::default().with_source("s", corpus.clone());
        let back = SearchIndex::default().with_source("s", corpus.into_iter().rev().collect());
        prop_assert_eq!(find(&there, &request), find(&back, &request));
    }

    #[test]
    fn step_by_step_is_the_same_as_at_once(corpus in corpus(), query in text()) {
        let request = SearchRequest::new(query);
        let split = |owner| (owner, by_owner(&corpus, owner));
        let once = SearchIndex::default().with_sources(["a", "b", "c"].map(split));
        let steps = SearchIndex::default()
            .with_source("c", by_owner(&corpus, "c"))
            .with_source("b", by_owner(&corpus, "a"))
            .with_source("d", by_owner(&corpus, "b"))
            .with_source("a", by_owner(&corpus, "a"))
            .without_source("d")
            .with_source("b", by_owner(&corpus, "b"));
        let whole = SearchIndex::default().with_source("x", corpus.clone());
        let hits = find(&once, &request);
        prop_assert_eq!(&find(&steps, &request), &hits);
        prop_assert_eq!(&find(&whole, &request), &hits);
    }

    #[test]
    fn the_gate_never_leaks(corpus in corpus(), query in "[a-z_ ]{0,20}|get_issue1|mcp__a__get_issue1") {
        let index = SearchIndex::default().with_source("s", corpus);
        let allows = |id: &CapabilityId| id.owner() == "b";
        let hits = index.search(&SearchRequest::new(query), &index.gate(allows));
        prop_assert!(hits.iter().all(|it| allows(&it.id)));
    }

    #[test]
    fn hits_are_in_total_order_and_explained(corpus in corpus(), query in text(), hint in "[abc]?") {
        let index = SearchIndex::default().with_source("s", corpus);
        let mut request = SearchRequest { limit: 100, ..SearchRequest::new(query) };
        request.server = Some(hint);
        let hits = find(&index, &request);
        prop_assert!(hits.is_sorted_by(|a, b| (b.score, &a.id) < (a.score, &b.id)));
        for hit in &hits {
            let sum: u32 = hit.why.iter().map(MatchReason::weight).sum();
            prop_assert_eq!(Score(sum), hit.score);
        }
        request.limit = 3;
        prop_assert_eq!(&find(&index, &request)[..], &hits[..hits.len().min(3)]);
    }

    #[test]
    fn no_request_panics(query in any::<String>(), server in any::<Option<String>>()) {
        let request = SearchRequest { query, server, limit: 5 };
        find(&index(), &request);
    }
}
