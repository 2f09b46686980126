//! Samples of the events of a run: an agent at work with a model.

use serde_json::json;

use crate::events::Sample;

pub(crate) fn samples() -> Vec<Sample> {
    let digest = || json!(format!("sha256:{}", "5f".repeat(32)));
    let call = || ("call", "the call that asked", json!("call-k3v9q2m7xw"));
    let turn = || ("turn", "the turn", json!(3));
    let usage = || json!({"input": 420, "cachedInput": 2100, "cacheWrite": 0, "output": 88, "cost": 0.0031});
    let usage = |of| ("usage", of, usage());
    let stored = || {
        (
            "message",
            "the whole message, redacted, stored by digest; with it a session can go on",
            digest(),
        )
    };
    let child = || ("child", "the sub-agent's session", json!("s-2f9c81d04b7e"));
    let ended = || {
        (
            "ended",
            "why: `answered`, `declined`, `turnLimit`, `budget`, `interrupted` or `failed`",
            json!("answered"),
        )
    };
    vec![
        Sample {
            kind: "message.user",
            meaning: "Somebody said something to an agent that runs.",
            fields: vec![
                (
                    "text",
                    "the beginning of it, redacted",
                    json!("Make the tests pass."),
                ),
                stored(),
            ],
        },
        Sample {
            kind: "model.requested",
            meaning: "A model was asked for its next turn.",
            fields: vec![
                ("turn", "the turn whose visible set it was given", json!(3)),
                (
                    "engine",
                    "what speaks to it: `openai`, `anthropic` or `scripted`",
                    json!("anthropic"),
                ),
                (
                    "model",
                    "the model, as its provider calls it",
                    json!("some-model"),
                ),
                ("request", "of everything it was asked with", digest()),
                ("messages", "how many messages that were", json!(5)),
                (
                    "tokens",
                    "what the `system` prompt, the `tools` and the `messages` cost by Ambit's own count, and how much of it the request before began with (`prefix`)",
                    json!({"system": 310, "tools": 1450, "messages": 760, "prefix": 2100}),
                ),
            ],
        },
        Sample {
            kind: "model.responded",
            meaning: "A model answered.",
            fields: vec![
                turn(),
                (
                    "text",
                    "the beginning of what it said, redacted",
                    json!("I run the tests."),
                ),
                (
                    "intents",
                    "what it wants to call, in order: the call's name in the journal, its name in the conversation, and the tool",
                    json!([{"call": "call-k3v9q2m7xw", "id": "toolu_01", "name": "shell__run_command"}]),
                ),
                (
                    "stop",
                    "why it stopped: `answered`, `wantsTools`, `length` or `refused`",
                    json!("wantsTools"),
                ),
                usage(
                    "tokens as its provider counts them, and what they cost where prices are known",
                ),
                stored(),
            ],
        },
        Sample {
            kind: "model.failed",
            meaning: "A model gave no answer.",
            fields: vec![
                turn(),
                (
                    "reason",
                    "why, redacted",
                    json!("`https://models.example` cannot be reached: connection refused"),
                ),
            ],
        },
        Sample {
            kind: "message.results",
            meaning: "What the calls of a turn brought went back to the model.",
            fields: vec![("turn", "the turn that called", json!(3)), stored()],
        },
        Sample {
            kind: "context.compacted",
            meaning: "Old results were replaced by references, so that the conversation fits the model's window.",
            fields: vec![
                ("turn", "the turn it was done for", json!(41)),
                (
                    "before",
                    "results in messages before this one are references now",
                    json!(60),
                ),
                (
                    "from",
                    "what the conversation cost, in tokens",
                    json!(151_000),
                ),
                ("to", "what it costs now", json!(70_000)),
                (
                    "replaced",
                    "which messages were replaced, by their place, and by what, stored by digest",
                    json!([[4, digest()]]),
                ),
            ],
        },
        Sample {
            kind: "run.finished",
            meaning: "A run of an agent ended. Its session can go on.",
            fields: vec![
                (
                    "title",
                    "what it was about, in a few words",
                    json!("Make the tests pass."),
                ),
                ended(),
                ("turns", "turns of the model", json!(9)),
                ("calls", "calls", json!(11)),
                usage("what the model cost"),
            ],
        },
        Sample {
            kind: "delegation.started",
            meaning: "A sub-agent was asked.",
            fields: vec![
                call(),
                ("agent", "whom", json!("reviewer")),
                child(),
                (
                    "chain",
                    "everybody in between, the first who asked first",
                    json!(["coder", "reviewer"]),
                ),
                (
                    "task",
                    "what it was asked, redacted and shortened",
                    json!("Review the change in src/cart.sh."),
                ),
                (
                    "skill",
                    "the skill it follows, where a skill is run in a sub-agent",
                    json!("skill__code-review"),
                ),
            ],
        },
        Sample {
            kind: "delegation.finished",
            meaning: "A sub-agent is done.",
            fields: vec![
                call(),
                child(),
                ended(),
                ("turns", "turns of its model", json!(2)),
                usage("what its model cost"),
            ],
        },
    ]
}
