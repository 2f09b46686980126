//! An answer that is no stream: what a provider says instead of a turn.

use reqwest::Response;
use serde_json::Value;

use super::fault::Refusal;
use super::limits::ERROR_BYTES;
use super::pause::retry_after;

/// How much of a provider's words is passed on.
const SHOWN: usize = 600;

/// Reads an error. What cannot be read is left out.
pub(super) async fn refusal(mut response: Response) -> Refusal {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() >= ERROR_BYTES {
            break;
        }
    }
    let text = String::from_utf8_lossy(&body);
    let mut refusal = match serde_json::from_str::<Value>(&text) {
        Ok(value) => said(&value),
        Err(_) => Refusal {
            message: shown(&text),
            ..Refusal::default()
        },
    };
    refusal.status = status;
    refusal.retry_after = retry_after;
    refusal
}

/// The error in a JSON document: `{"error": {"type", "code", "message"}}` in all its variants.
pub(crate) fn said(value: &Value) -> Refusal {
    let error = match value.get("error") {
        Some(Value::String(text)) => {
            return Refusal {
                message: shown(text),
                ..Refusal::default()
            };
        }
        Some(error) if !error.is_null() => error,
        _ => value,
    };
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let status = error.get("code").and_then(Value::as_u64);
    let kind = match text("code") {
        "" => text("type"),
        code => code,
    };
    let message = match text("message") {
        "" => text("detail"),
        message => message,
    };
    Refusal {
        status: status.and_then(|it| u16::try_from(it).ok()).unwrap_or(0),
        kind: kind.chars().take(64).collect(),
        message: shown(message),
        retry_after: None,
    }
}

/// One line of it, harmless and not too long.
fn shown(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = ambit_core::printable::printable(&line.join(" "));
    let mut short: String = line.chars().take(SHOWN).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(value: Value, status: u16, kind: &str, message: &str) {
        let found = said(&value);
        assert_eq!(
            (found.status, found.kind.as_str(), found.message.as_str()),
            (status, kind, message),
            "{value}"
        );
    }

    #[test]
    fn errors_are_understood_in_all_their_variants() {
        check(
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            0,
            "overloaded_error",
            "Overloaded",
        );
        check(
            json!({"error": {"type": "x", "code": "context_length_exceeded", "message": "too\n long"}}),
            0,
            "context_length_exceeded",
            "too long",
        );
        check(
            json!({"error": {"code": 502, "message": "upstream"}}),
            502,
            "",
            "upstream",
        );
        check(
            json!({"error": "model not found"}),
            0,
            "",
            "model not found",
        );
        check(json!({"detail": "Not Found"}), 0, "", "Not Found");
        check(json!([]), 0, "", "");
    }
}
