//! Asking the person at the terminal, and remembering what persons said elsewhere.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use ambit_core::permission::{Answer, StandingApproval};
use ambit_core::printable::printable;
use ambit_gateway::ElicitationApprover;
use ambit_runtime::approver::{ApprovalReply, ApprovalRequest, Approver};
use async_trait::async_trait;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::cli::printer::{BAD, BOLD, DIM, GOOD, WARN, styled};
use crate::cli::run::spinner;
use crate::trust::{NewRequest, OnceDecision, Scope, TrustStore, YesFor};

/// How often the store is looked at while somebody waits: the answer may come from another process.
const LOOK: Duration = Duration::from_millis(100);

/// Whether somebody can be asked here.
pub(crate) enum Person {
    /// Whoever started this said yes to everything.
    SaidYes,
    /// Sits at the terminal.
    AtTerminal,
    /// May sit before an MCP client.
    AtClient,
    /// Is elsewhere.
    Elsewhere,
}

impl Person {
    /// Who can be asked by this process.
    pub(crate) fn present(yes: bool) -> Self {
        match yes {
            true => Person::SaidYes,
            false if io::stdin().is_terminal() && io::stderr().is_terminal() => Person::AtTerminal,
            false => Person::Elsewhere,
        }
    }
}

/// Looks for an answer in the trust store first, then asks whoever is there. Where nobody is, the
/// question is left in the store for `ambit approvals`.
pub(crate) struct AskAround {
    pub(crate) person: Person,
    pub(crate) trust: Arc<TrustStore>,
}

impl AskAround {
    /// Keeps what is allowed for longer than this call, so that it can be seen and taken back, and
    /// holds when the session goes on elsewhere.
    fn keep(&self, request: &ApprovalRequest, answer: Answer) -> ApprovalReply {
        let answer = request.reason.bounded(answer);
        let scope = match answer {
            Answer::Always => Scope::Always,
            Answer::Session => Scope::Session(request.session.clone()),
            Answer::Once | Answer::Deny => return ApprovalReply::Answered(answer),
        };
        let kept = self.trust.add_standing(&new_request(request), &scope);
        // What is not remembered is still a yes to this session.
        ApprovalReply::Answered(match kept {
            Ok(()) => answer,
            Err(_) => Answer::Session,
        })
    }

    /// Leaves the question for `ambit approvals`.
    fn leave(&self, request: &ApprovalRequest) -> ApprovalReply {
        let left = self.trust.add_pending(&new_request(request));
        if let Ok(number) = &left {
            request.caller.left(*number);
        }
        let how = match (left, &self.person) {
            (Ok(number), Person::AtClient) => {
                format!("approve it with `ambit approvals allow {number}` and call again")
            }
            (Ok(number), _) => format!(
                "approve it with `ambit approvals allow {number}` and call again, or run with `--yes`"
            ),
            (Err(_), Person::AtClient) => "allow it by a rule in ambit.json".to_owned(),
            (Err(_), _) => "run it on a terminal, or with `--yes`".to_owned(),
        };
        ApprovalReply::NobodyToAsk { how }
    }

    /// Leaves the question, and waits for the answer as long as whoever calls does.
    async fn leave_and_wait(&self, request: &ApprovalRequest) -> ApprovalReply {
        let left = self.leave(request);
        let until = Instant::now() + request.caller.waits();
        while Instant::now() < until {
            sleep(LOOK).await;
            if let Some(answer) = self.answered(request) {
                return ApprovalReply::Answered(answer);
            }
        }
        left
    }

    /// What a person elsewhere has said. A store that does not answer has no yes in it.
    fn answered(&self, request: &ApprovalRequest) -> Option<Answer> {
        match self.trust.take_once(&request.digest) {
            Ok(Some(OnceDecision::Allowed)) => return Some(Answer::Once),
            Ok(Some(OnceDecision::Denied)) => return Some(Answer::Deny),
            Ok(None) | Err(_) => {}
        }
        let stands = request.reason.can_stand() && self.allows_session(request);
        stands.then_some(Answer::Session)
    }

    /// Whether a person elsewhere said yes since this session began: for the rest of it, or for
    /// good.
    fn allows_session(&self, request: &ApprovalRequest) -> bool {
        let stored = self
            .trust
            .standing(Some(&request.agent))
            .unwrap_or_default();
        stored.iter().any(|it| {
            let holds = match &it.scope {
                Scope::Session(session) => *session == request.session,
                Scope::Always => true,
            };
            holds && it.capability == request.id && it.definition == request.definition
        })
    }
}

#[async_trait]
impl Approver for AskAround {
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalReply {
        if let Some(answer) = self.answered(request) {
            return ApprovalReply::Answered(answer);
        }
        match &self.person {
            Person::SaidYes => ApprovalReply::Answered(Answer::Once),
            Person::AtTerminal => self.keep(request, answer(request).await),
            Person::AtClient => match ElicitationApprover.ask(request).await {
                ApprovalReply::Answered(answer) => self.keep(request, answer),
                ApprovalReply::NobodyToAsk { .. } => self.leave_and_wait(request).await,
            },
            Person::Elsewhere => self.leave(request),
        }
    }

    fn standing(&self, agent: &str) -> Vec<StandingApproval> {
        let stored = self.trust.standing(Some(agent)).unwrap_or_default();
        stored
            .into_iter()
            .filter(|it| it.scope == Scope::Always)
            .map(|it| StandingApproval {
                id: it.capability,
                definition: it.definition,
            })
            .collect()
    }
}

fn new_request(request: &ApprovalRequest) -> NewRequest {
    NewRequest {
        agent: request.agent.clone(),
        session: request.session.clone(),
        capability: request.id.clone(),
        definition: request.definition,
        call: request.digest,
        arguments: request.written_arguments.to_string(),
        why: request.reason.to_string(),
        yes_for: match request.reason.can_stand() {
            true => YesFor::Standing,
            false => YesFor::ThisCall,
        },
    }
}

/// Arguments up to this length stand on one line.
const SHORT: usize = 100;

/// One question at a time.
static ASKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Shows the question and waits for a line. Anything unclear is a no.
async fn answer(request: &ApprovalRequest) -> Answer {
    let _one_at_a_time = ASKING.lock().await;
    let _still = spinner::still();
    prompt(request);
    let (send, line) = tokio::sync::oneshot::channel();
    // A thread of its own, because reading a line cannot be called off: when nobody answers in
    // time or the call is cancelled, the process must be able to end without it.
    let reading = std::thread::Builder::new().spawn(move || {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line).is_ok() {
            let _ = send.send(line);
        }
    });
    drop(reading);
    let line = line.await.unwrap_or_default();
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "once" => Answer::Once,
        "s" | "session" => Answer::Session,
        "a" | "always" => Answer::Always,
        _ => Answer::Deny,
    }
}

/// The exact arguments, an edit of a file as the change it is. They come from a model: nothing in
/// them may hide what will run.
fn details(request: &ApprovalRequest) -> Vec<String> {
    let text = |key: &str| request.arguments.get(key).and_then(Value::as_str);
    let lines = |style, sign: &str, text: &str| -> Vec<String> {
        let lines = text.lines();
        lines
            .map(|it| styled(style, format!("{sign}{}", printable(it))))
            .collect()
    };
    let change = match (request.id.as_str(), text("path")) {
        ("local__files__edit_file", Some(path)) => text("old_text")
            .zip(text("new_text"))
            .map(|(old, new)| (path, lines(BAD, "-", old), lines(GOOD, "+", new))),
        ("local__files__write_file", Some(path)) => {
            text("content").map(|new| (path, Vec::new(), lines(GOOD, "+", new)))
        }
        _ => None,
    };
    let Some((path, old, new)) = change else {
        let short = request.arguments.to_string();
        let arguments = match short.as_str() {
            // It is called with nothing.
            "{}" => return Vec::new(),
            it if it.len() <= SHORT => short,
            _ => serde_json::to_string_pretty(&request.arguments).unwrap_or_default(),
        };
        return arguments.lines().map(printable).collect();
    };
    let everywhere = match request.arguments.get("replace_all") {
        Some(Value::Bool(true)) => ", wherever it stands",
        _ => "",
    };
    let head = styled(BOLD, format!("{}{everywhere}", printable(path)));
    [head].into_iter().chain(old).chain(new).collect()
}

/// What is about to run, and a question.
fn prompt(request: &ApprovalRequest) {
    let mut out = anstream::AutoStream::auto(io::stderr().lock());
    let asked_by = request.asked_by.iter().map(String::as_str);
    let chain: Vec<&str> = asked_by.chain([request.agent.as_str()]).collect();
    let _ = writeln!(
        out,
        "{} {} wants to run {}",
        styled(WARN, "?"),
        styled(BOLD, chain.join(" → ")),
        styled(BOLD, &request.id)
    );
    let _ = writeln!(
        out,
        "  {}; {}",
        request.title,
        styled(DIM, format!("effects: {}", request.effects))
    );
    let _ = writeln!(
        out,
        "  {}",
        styled(DIM, format!("asked because {}", request.reason))
    );
    for line in details(request) {
        let _ = writeln!(out, "  {line}");
    }
    let choice = match request.reason.can_stand() {
        true => format!(
            "[y] once  [s] this session  [a] always `{}` as defined now  [N] no",
            request.id
        ),
        false => "[y] this call  [N] no".to_owned(),
    };
    let _ = write!(out, "  allow? {choice}: ");
    let _ = out.flush();
}
