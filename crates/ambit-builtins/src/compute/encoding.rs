//! Bytes given as text: plain, base64 or hex.

use ambit_core::observation::Failure;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde_json::{Value, json};

/// With or without `=` at the end.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL: GeneralPurpose =
    GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT.with_encode_padding(false));

/// Which characters base64 is written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Alphabet {
    /// `+` and `/`, padded.
    #[default]
    Standard,
    /// `-` and `_`, not padded.
    Url,
}

/// How bytes are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Encoding {
    /// As text: its UTF-8.
    #[default]
    Text,
    /// As base64 of either alphabet.
    Base64,
    /// As hex digits.
    Hex,
}

impl Encoding {
    /// The schema of a parameter that says which.
    pub(super) fn schema(of: &str) -> Value {
        json!({
            "enum": ["text", "base64", "hex"],
            "description": format!("How `{of}` is given; `base64` and `hex` for bytes that are no text. Default: text."),
        })
    }

    /// The bytes.
    pub(super) fn decode(self, text: String) -> Result<Vec<u8>, Failure> {
        match self {
            Encoding::Text => Ok(text.into_bytes()),
            Encoding::Base64 => decode_base64(&text),
            Encoding::Hex => decode_hex(&text),
        }
    }
}

/// As base64.
pub(super) fn encode_base64(bytes: &[u8], alphabet: Alphabet) -> String {
    match alphabet {
        Alphabet::Standard => STANDARD.encode(bytes),
        Alphabet::Url => URL.encode(bytes),
    }
}

/// From base64 of either alphabet; blanks and line ends are passed over.
pub(super) fn decode_base64(text: &str) -> Result<Vec<u8>, Failure> {
    let plain: String = text
        .chars()
        .filter(|it| !it.is_ascii_whitespace())
        .map(|it| match it {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    STANDARD.decode(&plain).map_err(|error| {
        let error = error.to_string();
        let error = error.trim_end_matches('.').to_lowercase();
        Failure::refused(format!("this is not base64: {error}"))
    })
}

/// As hex digits.
pub(super) fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn decode_hex(text: &str) -> Result<Vec<u8>, Failure> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|it| !it.is_ascii_whitespace())
        .map(|it| it.to_digit(16).and_then(|it| u8::try_from(it).ok()))
        .collect();
    let digits = digits.filter(|it| it.len().is_multiple_of(2));
    let digits = digits.ok_or_else(|| {
        Failure::refused("this is not hex: it wants an even number of digits 0-9 and a-f")
    })?;
    let byte = |pair: &[u8]| pair.iter().fold(0, |byte, digit| byte << 4 | digit);
    Ok(digits.chunks(2).map(byte).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::fixture::{structured, text};
    use super::*;

    #[test]
    fn digests_are_those_published() {
        for (arguments, expected) in [
            (
                json!({ "input": "abc" }),
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                json!({ "input": "YWJj", "encoding": "base64" }),
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                json!({ "input": "61 62 63", "encoding": "hex", "algorithm": "sha1" }),
                "a9993e364706816aba3e25717850c26c9cd0d89d",
            ),
            (
                json!({ "input": "", "algorithm": "md5" }),
                "d41d8cd98f00b204e9800998ecf8427e",
            ),
            (
                json!({ "input": "abc", "algorithm": "sha384" }),
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                json!({ "input": "abc", "algorithm": "sha512" }),
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (
                json!({ "input": "abc", "encoding": "hex" }),
                "refused: this is not hex: it wants an even number of digits 0-9 and a-f",
            ),
            (
                json!({ "input": "a", "encoding": "base64" }),
                "refused: this is not base64: invalid input length: 1",
            ),
        ] {
            assert_eq!(text("hash", arguments.clone()), expected, "{arguments}");
        }
    }

    #[test]
    fn base64_is_written_and_read() {
        let encode = |input: &str, alphabet: &str| {
            text(
                "base64_encode",
                json!({ "input": input, "encoding": "hex", "alphabet": alphabet }),
            )
        };
        assert_eq!(encode("fbff", "standard"), "+/8=");
        assert_eq!(encode("fbff", "url"), "-_8");
        for (base64, expected) in [
            ("aMOkbGxv", json!({ "bytes": 6, "text": "hällo" })),
            ("-_8", json!({ "bytes": 2, "hex": "fbff" })),
            ("+/\n8 =", json!({ "bytes": 2, "hex": "fbff" })),
            ("", json!({ "bytes": 0, "text": "" })),
        ] {
            assert_eq!(
                structured("base64_decode", json!({ "base64": base64 })),
                expected,
                "{base64}"
            );
        }
        let refused = text("base64_decode", json!({ "base64": "a*b=" }));
        assert_eq!(
            refused,
            "refused: this is not base64: invalid symbol 42, offset 1"
        );
    }

    proptest! {
        #[test]
        fn there_and_back(input in "\\PC{0,60}", alphabet in proptest::sample::select(vec!["standard", "url"])) {
            let encoded = text("base64_encode", json!({ "input": input, "alphabet": alphabet }));
            prop_assert_eq!(text("base64_decode", json!({ "base64": encoded })), input);
        }

        #[test]
        fn bytes_there_and_back(bytes: Vec<u8>) {
            let hex = encode_hex(&bytes);
            prop_assert_eq!(Encoding::Hex.decode(hex).unwrap(), bytes.clone());
            for alphabet in [Alphabet::Standard, Alphabet::Url] {
                prop_assert_eq!(decode_base64(&encode_base64(&bytes, alphabet)).unwrap(), bytes.clone());
            }
        }
    }
}
