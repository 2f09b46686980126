//! Asking the person behind the client whether a call may run. Where the client cannot ask, there
//! is nobody to ask here, and whoever holds this approver leaves the question elsewhere.

use ambit_core::permission::{Answer, StandingApproval};
use ambit_core::printable::printable;
use ambit_runtime::approver::{ApprovalReply, ApprovalRequest, Approver};
use ambit_runtime::conversation::{Question, QuestionKind, Questions};
use async_trait::async_trait;
use serde_json::{Value, json};

/// The question's key among others.
const KEY: &str = "ambit/approval";
/// The field of the form.
const FIELD: &str = "answer";
/// What can be answered, and what that means.
const ANSWERS: [(&str, Answer); 4] = [
    ("once", Answer::Once),
    ("session", Answer::Session),
    ("always", Answer::Always),
    ("deny", Answer::Deny),
];

/// Asks whoever called, by a form. It remembers nothing: what is always allowed is for the
/// approver around it to keep.
#[derive(Clone, Copy, Debug, Default)]
pub struct ElicitationApprover;

#[async_trait]
impl Approver for ElicitationApprover {
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalReply {
        let nobody = || ApprovalReply::NobodyToAsk {
            how: "use a client that can ask its user (elicitation), or allow it by a rule"
                .to_owned(),
        };
        if !shows_forms(request) {
            return nobody();
        }
        let question = Question {
            kind: QuestionKind::Elicitation,
            params: form(request),
        };
        let asked = Questions::from([(KEY.to_owned(), question)]);
        match request.caller.ask(asked).await {
            Ok(answers) => ApprovalReply::Answered(answer(answers.get(KEY))),
            Err(_) => nobody(),
        }
    }

    fn standing(&self, _: &str) -> Vec<StandingApproval> {
        Vec::new()
    }
}

/// A client that only opens addresses cannot show a form; one that says nothing more can.
fn shows_forms(request: &ApprovalRequest) -> bool {
    let abilities = request.caller.abilities();
    let elicitation = abilities.get(QuestionKind::Elicitation.ability());
    elicitation.is_some_and(|it| it.get("form").is_some() || it.get("url").is_none())
}

/// What a person chose. Anything unclear is a no.
fn answer(result: Option<&Value>) -> Answer {
    let accepted = result.filter(|it| it.get("action") == Some(&json!("accept")));
    let chosen = accepted.and_then(|it| it.get("content")?.get(FIELD)?.as_str());
    ANSWERS
        .iter()
        .find(|(word, _)| Some(*word) == chosen)
        .map_or(Answer::Deny, |(_, answer)| *answer)
}

fn form(request: &ApprovalRequest) -> Value {
    // Where a yes is to this call alone, there is nothing longer to choose.
    let reaches = |answer: Answer| request.reason.bounded(answer) == answer;
    let words = ANSWERS.iter().filter(|(_, answer)| reaches(*answer));
    let words: Vec<&str> = words.map(|(word, _)| *word).collect();
    json!({
        "mode": "form",
        "message": question(request),
        "requestedSchema": {
            "type": "object",
            "properties": {
                FIELD: {
                    "type": "string",
                    "title": "Allow it?",
                    "description": "once: this call; session: until this session ends; always: as it is defined now; deny: no",
                    "enum": words,
                },
            },
            "required": [FIELD],
        },
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
