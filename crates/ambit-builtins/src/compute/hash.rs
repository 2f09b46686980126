//! `hash`: the digest of a text or of bytes.

use ambit_core::observation::{Failure, Output};
use md5::Md5;
use serde::Deserialize;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::budget::Budget;
use super::encoding::{Alphabet, Encoding, encode_base64, encode_hex};
use super::table::Builtin;
use crate::declare::{arguments, object};

pub(super) const HASH: Builtin = Builtin {
    name: "hash",
    title: "Hash",
    description: "The digest of a text, or of bytes given as base64 or hex: sha256 (the default), sha384, sha512, \
        and sha1 and md5 to compare with what others have published (not for security).",
    tags: &["hash", "checksum"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    object(
        &["input"],
        json!({
            "input": { "type": "string", "maxLength": 1_000_000, "description": "What to hash. Nothing is added to it: no line end, no byte order mark." },
            "encoding": Encoding::schema("input"),
            "algorithm": { "enum": ["sha256", "sha384", "sha512", "sha1", "md5"], "description": "Default: sha256. `sha1` and `md5` are broken: not for security." },
        }),
    )
}

fn output() -> Value {
    object(
        &["algorithm", "hex", "base64"],
        json!({
            "algorithm": { "type": "string", "description": "Which." },
            "hex": { "type": "string", "description": "The digest as hex digits." },
            "base64": { "type": "string", "description": "The digest as base64." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    input: String,
    #[serde(default)]
    encoding: Encoding,
    #[serde(default)]
    algorithm: Algorithm,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Algorithm {
    #[default]
    Sha256,
    Sha384,
    Sha512,
    Sha1,
    Md5,
}

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha512 => "sha512",
            Algorithm::Sha1 => "sha1",
            Algorithm::Md5 => "md5",
        }
    }

    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Algorithm::Sha256 => Sha256::digest(bytes).to_vec(),
            Algorithm::Sha384 => Sha384::digest(bytes).to_vec(),
            Algorithm::Sha512 => Sha512::digest(bytes).to_vec(),
            Algorithm::Sha1 => Sha1::digest(bytes).to_vec(),
            Algorithm::Md5 => Md5::digest(bytes).to_vec(),
        }
    }
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        input,
        encoding,
        algorithm,
    } = arguments(value)?;
    budget.steps(input.len() as u64 * 2)?;
    let digest = algorithm.digest(&encoding.decode(input)?);
    let hex = encode_hex(&digest);
    let structured = json!({
        "algorithm": algorithm.name(),
        "hex": hex,
        "base64": encode_base64(&digest, Alphabet::Standard),
    });
    Ok(Output::text(hex).with_structured(structured))
}
