//! How good search is, measured on labelled requests.
//!
//! A request has needs, and each need is met by any of its ids. Recall counts needs met within
//! the first k; NDCG gives one gain per need, at the rank where it is first met.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::document::SearchDocument;
use super::hit::Hit;
use super::index::SearchIndex;
use super::query::SearchRequest;
use crate::id::{CapabilityId, Source, is_owner};

/// The depths at which recall is measured.
pub const DEPTHS: [usize; 4] = [1, 3, 5, 10];
/// How deep a ranking is read for the rank of what was missed.
const READ_TO: usize = 100;

/// A request and what would answer it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledQuery {
    /// The request.
    pub query: String,
    /// Needs, each met by any of its ids.
    pub relevant: Vec<Vec<CapabilityId>>,
}

/// Documents and labelled requests over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelledSet {
    /// What can be found.
    pub documents: Vec<SearchDocument>,
    /// What is asked.
    pub queries: Vec<LabelledQuery>,
}

/// Why a labelled set cannot be read.
#[derive(Debug, Error)]
pub enum LabelError {
    /// A line is not the JSON object it should be.
    #[error("{file} line {line}: not a valid entry")]
    Line {
        /// `tools` or `queries`.
        file: &'static str,
        /// Counted from one.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// Two tools have one id.
    #[error("tools line {line}: `{id}` is there already")]
    Twice {
        /// Counted from one.
        line: usize,
        /// The id.
        id: String,
    },
    /// A tool cannot be given an id of ours.
    #[error("tools line {line}: `{id}` cannot be named")]
    Name {
        /// Counted from one.
        line: usize,
        /// The tool's id.
        id: String,
        /// What is wrong with it.
        #[source]
        source: crate::id::IdError,
    },
    /// A query wants a tool that is not there.
    #[error("queries line {line}: no tool `{id}`")]
    Unknown {
        /// Counted from one.
        line: usize,
        /// The id wanted.
        id: String,
    },
    /// A query wants nothing.
    #[error("queries line {line}: nothing is relevant")]
    NoNeed {
        /// Counted from one.
        line: usize,
    },
}

#[derive(Deserialize)]
struct ToolLine {
    id: String,
    #[serde(default)]
    server: Option<String>,
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    server_description: Option<String>,
    #[serde(default)]
    input_schema: Value,
}

#[derive(Deserialize)]
struct QueryLine {
    query: String,
    relevant: Vec<Vec<String>>,
}

impl LabelledSet {
    /// Reads one JSON object per line: `{id, name, server?, description?,
    /// server_description?, input_schema?}` and `{query, relevant: [[id, …], …]}`.
    pub fn parse(tools_jsonl: &str, queries_jsonl: &str) -> Result<LabelledSet, LabelError> {
        let mut set = LabelledSet::default();
        let mut ids: HashMap<String, CapabilityId> = HashMap::new();
        let mut taken: HashSet<CapabilityId> = HashSet::new();
        for (line, tool) in lines::<ToolLine>("tools", tools_jsonl) {
            let tool = tool?;
            if ids.contains_key(&tool.id) {
                return Err(LabelError::Twice { line, id: tool.id });
            }
            let id = capability_id(&tool, &taken).map_err(|source| LabelError::Name {
                line,
                id: tool.id.clone(),
                source,
            })?;
            taken.insert(id.clone());
            ids.insert(tool.id, id.clone());
            let document = SearchDocument {
                name: tool.name,
                description: tool.description.unwrap_or_default(),
                pack: tool.server.unwrap_or_default(),
                pack_summary: tool.server_description.unwrap_or_default(),
                ..SearchDocument::new(id)
            };
            set.documents
                .push(document.with_input_schema(&tool.input_schema));
        }
        for (line, query) in lines::<QueryLine>("queries", queries_jsonl) {
            let query = query?;
            let find = |id: &String| {
                let known = ids.get(id).cloned();
                known.ok_or_else(|| LabelError::Unknown {
                    line,
                    id: id.clone(),
                })
            };
            let needs = query.relevant.iter();
            let relevant = needs
                .map(|need| need.iter().map(find).collect())
                .collect::<Result<Vec<Vec<_>>, _>>()?;
            if relevant.is_empty() || relevant.iter().any(Vec::is_empty) {
                return Err(LabelError::NoNeed { line });
            }
            set.queries.push(LabelledQuery {
                query: query.query,
                relevant,
            });
        }
        Ok(set)
    }

    /// Builds an index of the documents and measures it.
    pub fn evaluate(&self) -> Evaluation {
        let index = SearchIndex::default().with_source("labelled", self.documents.clone());
        evaluate(&index, &self.queries)
    }
}

/// The entries of a file of lines, with their numbers; empty lines are skipped.
fn lines<'a, T: Deserialize<'a>>(
    file: &'static str,
    text: &'a str,
) -> impl Iterator<Item = (usize, Result<T, LabelError>)> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, it)| !it.trim().is_empty())
        .map(move |(at, it)| {
            let line = at + 1;
            let entry = serde_json::from_str(it);
            (
                line,
                entry.map_err(|source| LabelError::Line { file, line, source }),
            )
        })
}

/// An id for a row of any data: the server as far as an owner can hold it, the tool's name,
/// and the row's own id where that would not be unique.
fn capability_id(
    tool: &ToolLine,
    taken: &HashSet<CapabilityId>,
) -> Result<CapabilityId, crate::id::IdError> {
    let server = tool.server.as_deref().unwrap_or("none");
    let owner: String = server
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(64)
        .collect();
    let owner = owner.trim_matches('-');
    let owner = if is_owner(owner) { owner } else { "other" };
    let id = CapabilityId::foreign_tool(Source::Mcp, owner, &tool.name)?;
    if !taken.contains(&id) {
        return Ok(id);
    }
    // Not an alphabet of ours, so it is told apart by its hash.
    CapabilityId::foreign_tool(Source::Mcp, owner, &format!("{} {}", tool.name, tool.id))
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// How many requests.
    pub queries: usize,
    /// Needs met within the first 1, 3, 5 and 10, averaged over requests.
    pub recall: [f64; DEPTHS.len()],
    /// Discounted gain of the first ten against the best possible.
    pub ndcg: f64,
    /// One over the rank of the first need met, averaged.
    pub mrr: f64,
    /// Needs not met within the first ten.
    pub misses: Vec<Miss>,
}

/// A need not met within the first ten.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Miss {
    /// The request.
    pub query: String,
    /// What would have met the need.
    pub wanted: Vec<CapabilityId>,
    /// Where it came, from one, if it came at all.
    pub rank: Option<usize>,
    /// What came first instead, with why.
    pub above: Vec<Hit>,
}

/// Measures an index on labelled requests.
pub fn evaluate(index: &SearchIndex, queries: &[LabelledQuery]) -> Evaluation {
    let mut sum = Evaluation::default();
    for labelled in queries {
        let request = SearchRequest {
            limit: READ_TO,
            ..SearchRequest::new(labelled.query.as_str())
        };
        let hits = index.search(&request, |_| true);
        sum.add(labelled, &hits);
    }
    sum.averaged(queries.len())
}

impl Evaluation {
    fn add(&mut self, labelled: &LabelledQuery, hits: &[Hit]) {
        let ranks: Vec<Option<usize>> = labelled
            .relevant
            .iter()
            .map(|need| hits.iter().position(|hit| need.contains(&hit.id)))
            .collect();
        let needs = ranks.len() as f64;
        for (recall, depth) in self.recall.iter_mut().zip(DEPTHS) {
            let met = ranks.iter().flatten().filter(|rank| **rank < depth);
            *recall += met.count() as f64 / needs;
        }
        let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let met = ranks.iter().flatten().copied();
        let gain: f64 = met.clone().filter(|it| *it < 10).map(discount).sum();
        let ideal: f64 = (0..ranks.len().min(10)).map(discount).sum();
        self.ndcg += (gain / ideal).min(1.0);
        self.mrr += met.min().map_or(0.0, |it| 1.0 / (it as f64 + 1.0));
        for (need, rank) in labelled.relevant.iter().zip(ranks) {
            if rank.is_none_or(|it| it >= 10) {
                self.misses.push(Miss {
                    query: labelled.query.clone(),
                    wanted: need.clone(),
                    rank: rank.map(|it| it + 1),
                    above: hits.iter().take(3).cloned().collect(),
                });
            }
        }
    }

    fn averaged(mut self, queries: usize) -> Evaluation {
        let count = queries.max(1) as f64;
        self.queries = queries;
        self.recall = self.recall.map(|it| it / count);
        self.ndcg /= count;
        self.mrr /= count;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &str = r#"
{"id": "a", "server": "Mail Box", "name": "send mail", "description": "Send mail"}
{"id": "b", "server": "Mail Box", "name": "send mail", "description": "Send mail later"}
{"id": "c", "name": "weather", "description": null, "input_schema": {"properties": {"city": {}}}}
"#;

    #[test]
    fn every_row_has_an_id_of_its_own() {
        let set = LabelledSet::parse(TOOLS, "").unwrap();
        let ids: HashSet<&CapabilityId> = set.documents.iter().map(|it| &it.id).collect();
        assert_eq!(ids.len(), 3);
        assert_eq!(set.documents[0].id.owner(), "Mail-Box");
        assert_eq!(set.documents[2].id.as_str(), "mcp__none__weather");
        assert_eq!(set.documents[2].parameters[0].name, "city");
    }

    #[test]
    fn errors_name_the_line() {
        let check = |tools: &str, queries: &str, expected: &str| {
            let error = LabelledSet::parse(tools, queries).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        check("\n{", "", "tools line 2: not a valid entry");
        check(
            &format!("{TOOLS}\n{TOOLS}"),
            "",
            "tools line 7: `a` is there already",
        );
        check(TOOLS, "[]", "queries line 1: not a valid entry");
        check(
            TOOLS,
            r#"{"query": "x", "relevant": [["z"]]}"#,
            "queries line 1: no tool `z`",
        );
        check(
            TOOLS,
            r#"{"query": "x", "relevant": [[]]}"#,
            "queries line 1: nothing is relevant",
        );
    }

    #[test]
    fn measures_are_as_defined() {
        let queries = r#"
{"query": "weather", "relevant": [["c"]]}
{"query": "mail in any weather", "relevant": [["a", "b"], ["c"]]}
{"query": "nothing at all", "relevant": [["c"]]}"#;
        let measured = LabelledSet::parse(TOOLS, queries).unwrap().evaluate();
        assert_eq!(measured.queries, 3);
        // First request: met at once. Second: one need of two at the first place, both by
        // the third. Third: not at all.
        assert_eq!(measured.recall[0], (1.0 + 0.5) / 3.0);
        assert_eq!(measured.recall[1], 2.0 / 3.0);
        assert_eq!(measured.mrr, 2.0 / 3.0);
        assert!(measured.ndcg > 0.6 && measured.ndcg <= 2.0 / 3.0);
        assert_eq!(measured.misses.len(), 1);
        assert_eq!(measured.misses[0].rank, None);
    }
}
