//! Labelled sets: documents, and requests with what would answer them, from lines of JSON.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::document::SearchDocument;
use crate::id::{CapabilityId, IdError, Source, is_owner};

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
    /// What the set itself calls each document.
    pub names: HashMap<CapabilityId, String>,
}

/// One of the two files of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelFile {
    /// What can be found.
    Tools,
    /// What is asked.
    Queries,
}

impl LabelFile {
    /// What the file is called.
    pub fn name(self) -> &'static str {
        match self {
            LabelFile::Tools => "tools.jsonl",
            LabelFile::Queries => "queries.jsonl",
        }
    }
}

impl fmt::Display for LabelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a labelled set cannot be read, and where.
#[derive(Debug, Error)]
#[error("{file} line {line}: {reason}")]
pub struct LabelError {
    /// In which file.
    pub file: LabelFile,
    /// In which line, from one.
    pub line: usize,
    /// What is wrong with it.
    pub reason: LabelReason,
}

/// What is wrong with a line of a labelled set.
#[derive(Debug, Error)]
pub enum LabelReason {
    /// Not the JSON object it should be.
    #[error("not a valid entry: {0}")]
    Entry(#[source] serde_json::Error),
    /// Two tools have one id.
    #[error("`{0}` is there already")]
    Twice(String),
    /// A tool cannot be given an id of ours.
    #[error("`{id}` cannot be named: {source}")]
    Name {
        /// The tool's id.
        id: String,
        /// Why not.
        source: IdError,
    },
    /// A query wants a tool that is not there.
    #[error("no tool `{0}`")]
    Unknown(String),
    /// A query wants nothing.
    #[error("nothing is relevant")]
    NoNeed,
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
        for entry in lines::<ToolLine>(LabelFile::Tools, tools_jsonl) {
            let (line, tool) = entry?;
            let wrong = |reason| LabelError {
                file: LabelFile::Tools,
                line,
                reason,
            };
            if ids.contains_key(&tool.id) {
                return Err(wrong(LabelReason::Twice(tool.id)));
            }
            let id = capability_id(&tool, |id| set.names.contains_key(id)).map_err(|source| {
                wrong(LabelReason::Name {
                    id: tool.id.clone(),
                    source,
                })
            })?;
            ids.insert(tool.id.clone(), id.clone());
            set.names.insert(id.clone(), tool.id);
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
        for entry in lines::<QueryLine>(LabelFile::Queries, queries_jsonl) {
            let (line, query) = entry?;
            let relevant = needs(&ids, query.relevant).map_err(|reason| LabelError {
                file: LabelFile::Queries,
                line,
                reason,
            })?;
            set.queries.push(LabelledQuery {
                query: query.query,
                relevant,
            });
        }
        Ok(set)
    }
}

/// The needs of a query by our ids.
fn needs(
    ids: &HashMap<String, CapabilityId>,
    relevant: Vec<Vec<String>>,
) -> Result<Vec<Vec<CapabilityId>>, LabelReason> {
    if relevant.is_empty() || relevant.iter().any(Vec::is_empty) {
        return Err(LabelReason::NoNeed);
    }
    let find = |id: String| ids.get(&id).cloned().ok_or(LabelReason::Unknown(id));
    let needs = relevant.into_iter();
    needs
        .map(|need| need.into_iter().map(find).collect())
        .collect()
}

/// The entries of a file of lines, with their numbers; empty lines are skipped.
fn lines<'a, T: Deserialize<'a>>(
    file: LabelFile,
    text: &'a str,
) -> impl Iterator<Item = Result<(usize, T), LabelError>> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, it)| !it.trim().is_empty());
    lines.map(move |(line, it)| match serde_json::from_str(it) {
        Ok(entry) => Ok((line, entry)),
        Err(source) => Err(LabelError {
            file,
            line,
            reason: LabelReason::Entry(source),
        }),
    })
}

/// An id for a row of any data: the server as far as an owner can hold it, the tool's name,
/// and the row's own id where that would not be unique.
fn capability_id(
    tool: &ToolLine,
    is_taken: impl Fn(&CapabilityId) -> bool,
) -> Result<CapabilityId, IdError> {
    let server = tool.server.as_deref().unwrap_or("none");
    let owner: String = server
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(64)
        .collect();
    let owner = owner.trim_matches('-');
    let owner = if is_owner(owner) { owner } else { "other" };
    let id = CapabilityId::foreign_tool(Source::Mcp, owner, &tool.name)?;
    if !is_taken(&id) {
        return Ok(id);
    }
    // Not an alphabet of ours, so it is told apart by its hash.
    CapabilityId::foreign_tool(Source::Mcp, owner, &format!("{} {}", tool.name, tool.id))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
        assert_eq!(set.names[&set.documents[1].id], "b");
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
        check(
            "\n{",
            "",
            "tools.jsonl line 2: not a valid entry: EOF while parsing an object at line 1 column 1",
        );
        check(
            &format!("{TOOLS}\n{TOOLS}"),
            "",
            "tools.jsonl line 7: `a` is there already",
        );
        check(
            TOOLS,
            "[]",
            "queries.jsonl line 1: not a valid entry: invalid length 0, expected struct QueryLine with 2 elements at line 1 column 2",
        );
        check(
            TOOLS,
            r#"{"query": "x", "relevant": [["z"]]}"#,
            "queries.jsonl line 1: no tool `z`",
        );
        check(
            TOOLS,
            r#"{"query": "x", "relevant": [[]]}"#,
            "queries.jsonl line 1: nothing is relevant",
        );
    }
}
