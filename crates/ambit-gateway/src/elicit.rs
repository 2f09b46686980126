//! Asking the person through the client. Where the client cannot ask, there is nobody to ask here,
//! and whoever holds this approver leaves the question elsewhere.

use std::sync::OnceLock;

use ambit_core::permission::{Answer, StandingApproval};
use ambit_core::printable::printable;
use ambit_runtime::CancellationToken;
use ambit_runtime::approver::{ApprovalReply, ApprovalRequest, Approver};
use async_trait::async_trait;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, EnumSchema, PrimitiveSchemaDefinition, ServerRequest,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::Value;

/// The field of the form.
const FIELD: &str = "answer";
/// What can be answered, and what that means.
const ANSWERS: [(&str, Answer); 4] = [
    ("once", Answer::Once),
    ("session", Answer::Session),
    ("always", Answer::Always),
    ("deny", Answer::Deny),
];

/// Asks through MCP elicitation. It remembers nothing: what is always allowed is for the approver
/// around it to keep.
#[derive(Default)]
pub struct ElicitationApprover {
    client: OnceLock<Peer<RoleServer>>,
    hung_up: CancellationToken,
}

impl ElicitationApprover {
    /// Ends when the client does; then nobody is left to be asked.
    pub(crate) fn hung_up(&self) -> &CancellationToken {
        &self.hung_up
    }

    /// From now on a client is there; it is asked if it said that it shows forms.
    pub(crate) fn connect(&self, client: &Peer<RoleServer>, can: &ClientCapabilities) {
        let shows_forms = can
            .elicitation
            .as_ref()
            .is_some_and(|it| it.form.is_some() || it.url.is_none());
        if shows_forms {
            // One client per connection: the first is the only one.
            let _ = self.client.set(client.clone());
        }
    }
}

#[async_trait]
impl Approver for ElicitationApprover {
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalReply {
        let nobody = || ApprovalReply::NobodyToAsk {
            how: "use a client that can ask its user (elicitation), or allow it by a rule"
                .to_owned(),
        };
        let (Some(client), Some(form)) = (self.client.get(), form(request)) else {
            return nobody();
        };
        let question = ServerRequest::ElicitRequest(ElicitRequest::new(form));
        let reply = tokio::select! {
            reply = client.send_request(question) => reply,
            () = self.hung_up.cancelled() => return nobody(),
        };
        match reply {
            Ok(ClientResult::ElicitResult(result)) => ApprovalReply::Answered(answer(&result)),
            Ok(_) | Err(_) => nobody(),
        }
    }

    fn standing(&self, _: &str) -> Vec<StandingApproval> {
        Vec::new()
    }
}

/// What a person chose. Anything unclear is a no.
fn answer(result: &ElicitResult) -> Answer {
    let chosen = match (&result.action, &result.content) {
        (ElicitationAction::Accept, Some(content)) => content.get(FIELD).and_then(Value::as_str),
        _ => None,
    };
    ANSWERS
        .iter()
        .find(|(word, _)| Some(*word) == chosen)
        .map_or(Answer::Deny, |(_, answer)| *answer)
}

fn form(request: &ApprovalRequest) -> Option<ElicitRequestParams> {
    let words = ANSWERS.iter().map(|(word, _)| (*word).to_owned()).collect();
    let choice = EnumSchema::builder(words)
        .untitled()
        .title("Allow it?")
        .description("once: this call; session: until this session ends; always: as it is defined now; deny: no")
        .build();
    let schema = ElicitationSchema::builder()
        .required_property(FIELD, PrimitiveSchemaDefinition::Enum(choice))
        .build()
        .ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question(request),
        requested_schema: schema,
    })
}

/// What is about to run, and why it is asked about.
fn question(request: &ApprovalRequest) -> String {
    let arguments = serde_json::to_string_pretty(&request.arguments).unwrap_or_default();
    let lines = [
        format!("{} wants to run {}", request.agent, request.id),
        format!("{}; effects: {}", request.title, request.effects),
        format!("asked because {}", request.reason),
    ];
    let lines = lines.iter().map(String::as_str).chain(arguments.lines());
    lines.map(printable).collect::<Vec<_>>().join("\n")
}
