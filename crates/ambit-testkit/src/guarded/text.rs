//! The few encodings OAuth is written in.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

/// A form or a query.
pub(super) fn fields(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|it| it.split_once('='));
    pairs
        .map(|(key, value)| (plain(key), plain(value)))
        .collect()
}

fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = String::from_utf8_lossy(&digits).into_owned();
                u8::from_str_radix(&digits, 16).unwrap_or(b'?')
            }
            byte => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Safe in a query.
pub(super) fn percent(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What a PKCE verifier is challenged with.
pub(super) fn base64url(verifier: &str) -> String {
    let digest = Sha256::digest(verifier.as_bytes());
    let mut out = String::new();
    for chunk in digest.chunks(3) {
        let byte = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..=chunk.len() {
            let six = bits >> (18 - 6 * n) & 63;
            out.push(char::from(LETTERS[six as usize]));
        }
    }
    out
}

/// The name and the word of an `Authorization: Basic` header.
pub(super) fn basic(header: &str) -> (String, Option<String>) {
    let encoded = header.strip_prefix("Basic ").unwrap_or_default();
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in encoded.bytes() {
        let letter = match letter {
            b'+' => b'-',
            b'/' => b'_',
            letter => letter,
        };
        let Some(six) = LETTERS.iter().position(|it| *it == letter) else {
            continue;
        };
        bits = bits << 6 | six as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 255) as u8);
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (name, word) = text.split_once(':').unwrap_or((&text, ""));
    (plain(name), Some(plain(word)))
}

#[test]
fn encodings_are_as_specified() {
    // RFC 7636, appendix B.
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    assert_eq!(base64url(verifier), challenge);
    assert_eq!(fields("a=b+c%26&d=%C3%BC")["a"], "b c&");
    assert_eq!(percent("http://a:1"), "http%3A%2F%2Fa%3A1");
    let (name, word) = basic("Basic dXNlcjpwYXNz");
    assert_eq!((name.as_str(), word.as_deref()), ("user", Some("pass")));
}
