//! `tool_search` and `skill_search`: a governed request for more visibility. They return
//! candidates and grant nothing; what is forbidden is not found, not even by its exact name.

use std::sync::Arc;

use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::event::EventBody;
use ambit_core::id::Kind;
use ambit_core::observation::{Failure, Output};
use ambit_core::search::SearchRequest;
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::discovery::Exposure;
use crate::executor::{CapabilityExecutor, StartedCall};
use crate::session::SessionScope;

/// Most tokens one answer may cost.
const ANSWER_TOKENS: u32 = 1_000;
const DEFAULT_LIMIT: usize = 5;

pub(super) struct Search {
    scope: Arc<SessionScope>,
    kind: Kind,
}

impl Search {
    pub(super) fn new(scope: &Arc<SessionScope>, kind: Kind) -> Self {
        Search {
            scope: Arc::clone(scope),
            kind,
        }
    }

    /// What fits, within the limit and the answer's budget, best first.
    fn candidates(&self, request: &SearchRequest) -> Vec<Arc<CapabilityDescriptor>> {
        let catalog = self.scope.market.catalog();
        let mut room = ANSWER_TOKENS;
        self.scope
            .market
            .search_kind(&self.scope.bounds_now(), request, self.kind)
            .into_iter()
            .filter_map(|hit| catalog.get(&hit.id).cloned())
            .take_while(|it| {
                let fits = it.tokens.index <= room;
                room = room.saturating_sub(it.tokens.index);
                fits
            })
            .collect()
    }

    fn answer(&self, found: &[Arc<CapabilityDescriptor>]) -> Output {
        let visible = self.scope.turn().visible;
        let name = |it: &CapabilityDescriptor| match self.kind {
            Kind::Skill => it.id.name().to_owned(),
            _ => visible.name_of(&it.id),
        };
        let mut text = String::new();
        for it in found {
            // A person has to agree first: better to know now than when it is refused.
            let waits = if it.acceptance.is_needed() {
                " [a person has to accept it before its first use; `ambit approvals` settles that]"
            } else {
                ""
            };
            text.push_str(&format!("- {}: {}{waits}\n", name(it), it.summary));
        }
        text.push_str(match (found.is_empty(), self.kind) {
            (true, _) => "Nothing that you may use fits. Say it in other words, or go on without.",
            (false, Kind::Skill) => "Load the one that fits with load_skill.",
            (false, _) if self.scope.bounds().exposure == Exposure::Dispatched => {
                "describe_tool says what one of these takes; call_tool calls it."
            }
            (false, _) => "These can be called by name from the next turn on.",
        });
        let listed: Vec<Value> = found
            .iter()
            .map(|it| json!({"id": it.id, "name": name(it), "summary": it.summary}))
            .collect();
        Output::text(text).with_structured(json!({"candidates": listed}))
    }
}

#[async_trait]
impl CapabilityExecutor for Search {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let arguments = call.arguments();
        let query = arguments
            .get("query")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let server = arguments
            .get("server")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let asked = arguments
            .get("limit")
            .and_then(Value::as_u64)
            .and_then(|it| usize::try_from(it).ok());
        let request = SearchRequest {
            server,
            limit: asked.unwrap_or(DEFAULT_LIMIT),
            ..SearchRequest::new(query)
        };
        let found = self.candidates(&request);
        self.scope
            .heard
            .lock()
            .candidates
            .extend(found.iter().map(|it| it.id.clone()));
        self.scope.record(EventBody::SearchPerformed {
            call: call.call().clone(),
            query: self
                .scope
                .market
                .redactor()
                .written(query)
                .chars()
                .take(400)
                .collect(),
            candidates: found.iter().map(|it| it.id.clone()).collect(),
        });
        Ok(self.answer(&found))
    }
}
