//! Content digests: SHA-256 over bytes, or over a JSON value in one canonical form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The predecessor of the first event of a chain.
    pub const ZERO: Digest = Digest([0; 32]);

    /// Of raw bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Digest(Sha256::digest(bytes).into())
    }

    /// Of several fields, each preceded by its length so that no two lists of fields collide.
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update((field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        Digest(hasher.finalize().into())
    }

    /// Of a JSON value: equal values have equal digests, however their keys were ordered.
    pub fn of_json(value: &Value) -> Self {
        let mut text = String::new();
        write_canonical(value, &mut text);
        Self::of_bytes(text.as_bytes())
    }

    /// Of anything that serializes, through its JSON value. `None` if it does not serialize.
    pub fn of<T: Serialize>(it: &T) -> Option<Self> {
        serde_json::to_value(it)
            .ok()
            .map(|value| Self::of_json(&value))
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From raw bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Digest(bytes)
    }

    /// Eight hex digits: enough to tell names apart, never enough to trust.
    pub fn short(&self) -> String {
        self.0.iter().take(4).map(|b| format!("{b:02x}")).collect()
    }
}

/// JSON text with keys sorted and no spaces.
pub fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_unstable_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (n, (key, item)) in keys.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_canonical(item, out);
            }
            out.push('}');
        }
        Value::String(text) => write_string(text, out),
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// As JSON. Every call is digested more than once, and hardly any string needs an escape.
fn write_string(text: &str, out: &mut String) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}

const PREFIX: &str = "sha256:";
const WRITTEN: usize = PREFIX.len() + 64;

impl Digest {
    /// By hand, since a catalog prints thousands and a formatter per byte is slow.
    fn written(&self) -> [u8; WRITTEN] {
        let mut text = [0; WRITTEN];
        let (prefix, hex) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[hex_digit(byte >> 4), hex_digit(byte & 0xf)]);
        }
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.written()).unwrap_or_default())
    }
}

fn hex_digit(nibble: u8) -> u8 {
    match nibble {
        0..=9 => b'0' + nibble,
        _ => b'a' + nibble - 10,
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a digest (`sha256:` and 64 hex digits)");
        let hex = text
            .strip_prefix(PREFIX)
            .filter(|hex| hex.len() == 64 && hex.is_ascii())
            .ok_or_else(bad)?;
        let mut bytes = [0; 32];
        // By hand as well: a warm start reads thousands.
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let [high, low] = [pair.first(), pair.last()]
                .map(|it| it.and_then(|digit| char::from(*digit).to_digit(16)));
            let value = high.zip(low).map(|(high, low)| high << 4 | low);
            *byte = value.and_then(|it| u8::try_from(it).ok()).ok_or_else(bad)?;
        }
        Ok(Digest(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.written()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_does_not_matter_and_values_do() {
        let a: Value = serde_json::from_str(r#"{"b":1,"a":[true,null,"x\n"]}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{"a":[true,null,"x\n"],"b":1}"#).unwrap();
        assert_eq!(Digest::of_json(&a), Digest::of_json(&b));
        assert_ne!(
            Digest::of_json(&a),
            Digest::of_json(&json!({"a":[true,null,"x"],"b":1}))
        );
    }

    #[test]
    fn strings_are_written_as_json_writes_them() {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        let each = all.chars().map(String::from);
        for text in each.chain([all.clone(), String::new(), "\u{1f980}".to_owned()]) {
            let mut written = String::new();
            write_canonical(&json!({ text.as_str(): text }), &mut written);
            assert_eq!(written, json!({ text.as_str(): text }).to_string());
        }
    }

    #[test]
    fn text_form_round_trips() {
        let digest = Digest::of_bytes(b"x");
        assert_eq!(json!(digest), json!(digest.to_string()));
        assert_eq!(digest.to_string().parse::<Digest>(), Ok(digest));
        for bad in [
            "",
            "sha256:",
            "md5:00",
            &format!("sha256:{}", "g".repeat(64)),
            &format!("sha256:{}", "+1".repeat(32)),
        ] {
            assert!(bad.parse::<Digest>().is_err());
        }
    }

    #[test]
    fn fields_do_not_run_together() {
        assert_ne!(
            Digest::of_fields([&b"ab"[..], b"c"]),
            Digest::of_fields([&b"a"[..], b"bc"])
        );
    }
}
