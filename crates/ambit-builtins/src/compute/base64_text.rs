//! `base64_encode` and `base64_decode`.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::budget::Budget;
use super::encoding::{Alphabet, Encoding, decode_base64, encode_base64, encode_hex};
use super::table::Builtin;
use crate::declare::{arguments, object};

pub(super) const BASE64_ENCODE: Builtin = Builtin {
    name: "base64_encode",
    title: "Encode base64",
    description: "Encode text, or bytes given as hex, as base64.",
    tags: &["encoding", "base64"],
    input: encode_input,
    output: None,
    run: encode,
};

pub(super) const BASE64_DECODE: Builtin = Builtin {
    name: "base64_decode",
    title: "Decode base64",
    description: "Decode base64 of either alphabet, with or without padding and line ends. \
        The result is text if it is UTF-8, else hex digits.",
    tags: &["encoding", "base64"],
    input: decode_input,
    output: Some(decode_output),
    run: decode,
};

fn encode_input() -> Value {
    object(
        &["input"],
        json!({
            "input": { "type": "string", "maxLength": 1_000_000, "description": "What to encode." },
            "encoding": Encoding::schema("input"),
            "alphabet": { "enum": ["standard", "url"], "description": "`url` uses - and _ and no padding. Default: standard." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EncodeArguments {
    input: String,
    #[serde(default)]
    encoding: Encoding,
    #[serde(default)]
    alphabet: Alphabet,
}

fn encode(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let EncodeArguments {
        input,
        encoding,
        alphabet,
    } = arguments(value)?;
    budget.steps(input.len() as u64)?;
    let bytes = encoding.decode(input)?;
    budget.bytes(bytes.len() / 3 * 4)?;
    Ok(Output::text(encode_base64(&bytes, alphabet)))
}

fn decode_input() -> Value {
    object(
        &["base64"],
        json!({
            "base64": { "type": "string", "maxLength": 1_000_000, "description": "What to decode." },
        }),
    )
}

fn decode_output() -> Value {
    object(
        &["bytes"],
        json!({
            "bytes": { "type": "integer", "description": "How many bytes it is." },
            "text": { "type": "string", "description": "The text, if it is UTF-8." },
            "hex": { "type": "string", "description": "The bytes as hex digits, if it is not." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecodeArguments {
    base64: String,
}

fn decode(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let DecodeArguments { base64 } = arguments(value)?;
    budget.steps(base64.len() as u64)?;
    let bytes = decode_base64(&base64)?;
    let count = bytes.len();
    budget.bytes(count * 2)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => {
            let structured = json!({ "bytes": count, "text": text });
            Output::text(text).with_structured(structured)
        }
        Err(error) => {
            let hex = encode_hex(error.as_bytes());
            Output::text(format!("{count} bytes that are no text, as hex: {hex}"))
                .with_structured(json!({ "bytes": count, "hex": hex }))
        }
    })
}
