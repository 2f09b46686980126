//! From a result to what the caller is given: output schema, redaction, truncation.

use std::time::Duration;

use crate::code::Code;
use crate::digest::Digest;
use crate::event::{EventBody, ObservationRecord};
use crate::intent::CallId;
use crate::observation::{Completed, Content, Denial, Failure, Observation, Output, ResultRef};
use crate::permission::is_external;
use crate::pipeline::state::{CallPolicy, CallState, Effect, InFlight, Step};
use crate::schema::describe;

/// How much of a result the journal quotes.
const EXCERPT: usize = 400;

/// A promised structured result must be there and fit.
pub(super) fn check_output(flight: &InFlight, output: Output) -> Result<Output, Failure> {
    let Some(schema) = flight.capability.output() else {
        return Ok(output);
    };
    let invalid = |why: String| {
        let message = format!("the result does not fit the output schema: {why}");
        Failure::new(Code::OutputInvalid, message)
    };
    match &output.structured {
        None => Err(invalid("no structured result was returned".to_owned())),
        Some(value) => match schema.check(value) {
            Ok(()) => Ok(output),
            Err(problems) => Err(invalid(describe(&problems))),
        },
    }
}

/// Gives a redacted result to the caller if it is small enough; otherwise the whole is stored
/// first.
pub(super) fn deliver(
    events: Vec<EventBody>,
    flight: InFlight,
    output: Output,
    policy: &CallPolicy<'_>,
) -> Step {
    let whole = output.bytes();
    let completed = Completed {
        untrusted: output.from_outside || is_external(&flight.capability.descriptor().id),
        output,
        result_ref: None,
        notes: flight
            .notes
            .iter()
            .map(|it| policy.redactor.shown(it).into_owned())
            .collect(),
    };
    if whole <= policy.limits.result_bytes {
        return flight.conclude(events, Observation::Completed(completed), policy);
    }
    let output = completed.output.clone();
    Step::next(
        events,
        CallState::Storing(flight, completed),
        Effect::StoreResult(output),
    )
}

/// Cuts a stored result and says where the rest is. Without a stored whole nothing is given: a
/// silent cut would be worse than none.
pub(super) fn deliver_cut(
    flight: InFlight,
    mut completed: Completed,
    stored: Result<ResultRef, String>,
    policy: &CallPolicy<'_>,
) -> Step {
    let reference = match stored {
        Ok(reference) => reference,
        Err(why) => {
            let reason = format!(
                "it ran, but its result is larger than allowed and could not be stored: {why}"
            );
            return flight.conclude(
                Vec::new(),
                Observation::Denied(Denial::new(Code::JournalUnavailable, reason)),
                policy,
            );
        }
    };
    let whole = completed.output.bytes();
    cut(&mut completed.output, policy.limits.result_bytes);
    let note = format!(
        "[cut: the whole result has {whole} bytes; read on with read_result and {{\"ref\":\"{}\"}}]",
        reference.0
    );
    completed.output.content.push(Content::text(note));
    completed.result_ref = Some(reference);
    finish_sized(
        Vec::new(),
        flight.call,
        flight.elapsed,
        Observation::Completed(completed),
        whole,
        policy,
    )
}

/// Keeps texts from the front as far as they fit. Other blocks cannot be cut: they stay whole or
/// go. A structured result must keep its schema, so it goes too.
fn cut(output: &mut Output, limit: usize) {
    output.structured = None;
    let mut room = limit;
    let mut kept = Vec::new();
    for block in output.content.drain(..) {
        match block {
            Content::Text(it) if it.text.len() > room => {
                let end = it.text.floor_char_boundary(room);
                kept.push(Content::text(it.text.get(..end).unwrap_or("")));
                break;
            }
            block if block.bytes() > room => break,
            block => {
                room -= block.bytes();
                kept.push(block);
            }
        }
    }
    output.content = kept;
}

/// Takes known secrets out of a result.
pub(super) fn redact(mut output: Output, policy: &CallPolicy<'_>) -> Output {
    for block in &mut output.content {
        match block {
            Content::Text(it) => {
                if let std::borrow::Cow::Owned(changed) = policy.redactor.shown(&it.text) {
                    it.text = changed;
                }
            }
            Content::Block(value) => *value = policy.redactor.shown_json(value),
        }
    }
    output.structured = output.structured.map(|it| policy.redactor.shown_json(&it));
    output.meta = output.meta.map(|it| policy.redactor.shown_json(&it));
    output
}

/// Ends a call that never ran.
pub(super) fn finish(
    events: Vec<EventBody>,
    call: CallId,
    observation: Observation,
    policy: &CallPolicy<'_>,
) -> Step {
    finish_after(events, call, Duration::ZERO, observation, policy)
}

/// Ends a call that ran for a while.
pub(super) fn finish_after(
    events: Vec<EventBody>,
    call: CallId,
    elapsed: Duration,
    observation: Observation,
    policy: &CallPolicy<'_>,
) -> Step {
    let bytes = match &observation {
        Observation::Completed(it) => it.output.bytes(),
        _ => 0,
    };
    finish_sized(events, call, elapsed, observation, bytes, policy)
}

fn finish_sized(
    mut events: Vec<EventBody>,
    call: CallId,
    elapsed: Duration,
    observation: Observation,
    bytes: usize,
    policy: &CallPolicy<'_>,
) -> Step {
    let (excerpt, result_ref, untrusted, digest) = match &observation {
        Observation::Completed(it) => (
            excerpt(&it.output, policy),
            it.result_ref.clone(),
            it.untrusted,
            output_digest(&it.output),
        ),
        _ => (String::new(), None, false, Digest::ZERO),
    };
    events.push(EventBody::ToolObservation(ObservationRecord {
        call,
        status: observation.status().to_owned(),
        code: observation.code(),
        reason: observation
            .reason()
            .map(|it| policy.redactor.written(it).into_owned()),
        bytes: bytes as u64,
        digest,
        excerpt,
        result_ref,
        untrusted,
        duration_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    }));
    let observation = match observation {
        Observation::Failed(mut failure) => {
            failure.message = policy.redactor.shown(&failure.message).into_owned();
            Observation::Failed(failure)
        }
        Observation::Denied(mut denial) => {
            denial.reason = policy.redactor.shown(&denial.reason).into_owned();
            Observation::Denied(denial)
        }
        completed => completed,
    };
    Step::next(events, CallState::Done, Effect::Observe(observation))
}

/// Of the pieces as given. Not of their JSON: a megabyte of text need not be escaped for it.
fn output_digest(output: &Output) -> Digest {
    let blocks: Vec<String> = output
        .content
        .iter()
        .filter(|it| it.as_text().is_none())
        .filter_map(|it| serde_json::to_string(it).ok())
        .collect();
    let structured = output
        .structured
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let texts = output.content.iter().filter_map(Content::as_text);
    Digest::of_fields(
        texts
            .map(str::as_bytes)
            .chain(blocks.iter().map(|it| it.as_bytes()))
            .chain([structured.as_bytes()]),
    )
}

fn excerpt(output: &Output, policy: &CallPolicy<'_>) -> String {
    let text = output
        .content
        .iter()
        .find_map(Content::as_text)
        .unwrap_or("");
    // Redact more than is quoted, so that a secret on the edge is seen whole.
    let near = text
        .get(..text.floor_char_boundary(EXCERPT * 8))
        .unwrap_or("");
    policy
        .redactor
        .written(near)
        .chars()
        .take(EXCERPT)
        .collect()
}
