//! What of a result a model can be given: text, and images it can look at. Everything else is
//! said in words, so that a model knows it was there.

use ambit_core::observation::Content;
use serde_json::Value;

/// The kinds of images that models look at.
const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// One piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text, never empty.
    Text(String),
    /// An image.
    Image {
        /// Its kind.
        media_type: &'a str,
        /// Its bytes, in base64.
        data: &'a str,
    },
}

/// The pieces of some content, in order.
pub(crate) fn pieces(content: &[Content]) -> Vec<Piece<'_>> {
    let pieces = content.iter().filter_map(|it| match it {
        Content::Text(it) => text(&it.text),
        Content::Block(block) => piece(block),
    });
    pieces.collect()
}

/// The same, as text alone.
pub(crate) fn text_of(content: &[Content]) -> String {
    let texts = pieces(content).into_iter().map(|it| match it {
        Piece::Text(text) => text,
        Piece::Image { media_type, .. } => format!("[an image of type {media_type}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn text(text: &str) -> Option<Piece<'static>> {
    (!text.is_empty()).then(|| Piece::Text(text.to_owned()))
}

fn piece(block: &Value) -> Option<Piece<'_>> {
    let word = |name: &str| block.get(name).and_then(Value::as_str);
    match word("type") {
        Some("image") => match (word("mimeType"), word("data")) {
            (Some(media_type), Some(data)) if IMAGES.contains(&media_type) => {
                Some(Piece::Image { media_type, data })
            }
            (kind, _) => Some(left_out("an image", kind)),
        },
        Some("audio") => Some(left_out("audio", word("mimeType"))),
        Some("resource") => {
            let resource = block.get("resource")?;
            let words = resource.get("text").and_then(Value::as_str);
            match words {
                Some(words) => text(words),
                None => Some(left_out(
                    "a resource",
                    resource.get("uri").and_then(Value::as_str),
                )),
            }
        }
        _ => text(&block.to_string()),
    }
}

fn left_out(what: &str, kind: Option<&str>) -> Piece<'static> {
    let kind = kind.unwrap_or("unknown");
    Piece::Text(format!("[{what} ({kind}) that cannot be shown here]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(block: Value, expected: &str) {
        let content = [Content::Block(block)];
        let found = match pieces(&content).as_slice() {
            [Piece::Text(text)] => text.clone(),
            [Piece::Image { media_type, data }] => format!("{media_type} {data}"),
            other => format!("{other:?}"),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        check(
            json!({"type": "image", "mimeType": "image/png", "data": "AA=="}),
            "image/png AA==",
        );
        check(
            json!({"type": "image", "mimeType": "image/tiff", "data": "AA=="}),
            "[an image (image/tiff) that cannot be shown here]",
        );
        check(
            json!({"type": "audio", "mimeType": "audio/wav", "data": "AA=="}),
            "[audio (audio/wav) that cannot be shown here]",
        );
        check(
            json!({"type": "resource", "resource": {"uri": "x:1", "text": "words"}}),
            "words",
        );
        check(
            json!({"type": "resource", "resource": {"uri": "x:1", "blob": "AA=="}}),
            "[a resource (x:1) that cannot be shown here]",
        );
        check(
            json!({"type": "link", "uri": "x:1"}),
            r#"{"type":"link","uri":"x:1"}"#,
        );
    }
}
