//! What went wrong with a request, as programs are told on the command line, too:
//! `{"schemaVersion":1,"error":{"code","message","hints"}}`.

use ambit_core::permission::Mode;
use ambit_runtime::journal::JournalError;
use ambit_runtime::resume::ResumeError;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use super::answers::json;
use crate::http::access::RefusalReason;
use crate::http::answer::Plain;

/// Why a request was not served.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    error: Error,
    allow: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Error {
    code: &'static str,
    message: String,
    hints: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    error: &'a Error,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Problem {
            status,
            error: Error {
                code,
                message: message.into(),
                hints: Vec::new(),
            },
            allow: None,
        }
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hints.push(hint.into());
        self
    }

    /// As an answer.
    pub(super) fn answer(&self) -> Plain {
        let mut answer = json(self.status, &Document { error: &self.error });
        let headers = answer.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            let how = HeaderValue::from_static("Bearer realm=\"ambit\"");
            headers.insert(header::WWW_AUTHENTICATE, how);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(allow) = self.allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        answer
    }

    /// What is wrong with what was sent.
    pub(super) fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(super) fn refused(reason: RefusalReason) -> Self {
        let code = match reason {
            RefusalReason::Host => "host_not_allowed",
            RefusalReason::Origin => "origin_not_allowed",
            RefusalReason::Path => "not_found",
            RefusalReason::Token => "token_needed",
        };
        Problem::new(reason.status(), code, reason.text())
    }

    pub(super) fn no_path() -> Self {
        Problem::new(StatusCode::NOT_FOUND, "not_found", "nothing is here")
            .hint("`GET /v1/openapi.json` says what is where")
    }

    pub(super) fn no_method(allow: &'static str) -> Self {
        Problem {
            allow: Some(allow),
            ..Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "method_not_allowed",
                format!("this takes {allow}"),
            )
        }
    }

    pub(super) fn busy(message: &str) -> Self {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).hint("try again in a moment")
    }

    pub(super) fn stopping() -> Self {
        let message = "this server is stopping";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", message)
            .hint("try again in a moment")
    }

    /// A session nobody has, or somebody else.
    pub(super) fn no_session() -> Self {
        let message = "there is no such session";
        Problem::new(StatusCode::NOT_FOUND, "no_such_session", message)
            .hint("begin one with `POST /v1/sessions`")
    }

    pub(super) fn no_agent(reason: RefusalReason, wanted: Option<&str>) -> Self {
        match (reason, wanted) {
            (RefusalReason::Path, Some(name)) => {
                let message = format!("there is no agent `{name}`");
                Problem::new(StatusCode::NOT_FOUND, "no_such_agent", message)
                    .hint("`ambit agents` lists those there are")
            }
            (RefusalReason::Path, None) => Problem::bad(
                "agent_needed",
                "several agents are served, and none was named",
            )
            .hint("name one in `agent`"),
            (reason, _) => Problem::refused(reason),
        }
    }

    pub(super) fn looser(whose: &str, asked: Mode, own: Mode) -> Self {
        let message = format!(
            "`{}` is looser than {whose} mode, `{}`",
            asked.as_str(),
            own.as_str()
        );
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "mode_too_loose", message)
            .hint("ask for the same mode or a narrower one, or leave it out")
    }

    pub(super) fn journal(error: JournalError) -> Self {
        tracing::error!(%error, "the journal does not answer");
        let message = "the journal cannot be used";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Problem::new(status, "journal_unavailable", message).hint("the log of the server says why")
    }
}

impl From<ResumeError> for Problem {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::Unknown(_) | ResumeError::OtherAgent { .. } => Problem::no_session(),
            ResumeError::Ended(_) => {
                let message = "the session has ended";
                Problem::new(StatusCode::GONE, "session_ended", message)
                    .hint("begin another with `POST /v1/sessions`")
            }
            ResumeError::Grants(_) => {
                Problem::new(StatusCode::CONFLICT, "grants_invalid", error.to_string())
                    .hint("`ambit check` says where")
            }
            ResumeError::Journal(error) => Problem::journal(error),
        }
    }
}
