//! Where files of skills are, and what they are by their names.

/// The scheme of Ambit's own skills.
const SCHEME: &str = "skill://";

/// Where a file of one of Ambit's own skills is. `path` is relative to the skill's folder.
pub fn own_address(name: &str, path: &str) -> String {
    let mut uri = format!("{SCHEME}{name}");
    for part in path.split('/') {
        uri.push('/');
        for byte in part.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    uri.push(char::from(byte));
                }
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    uri
}

/// The skill and the path an address would name, if it were of one of Ambit's own. The path of the
/// skill's folder is empty.
pub fn own_place(uri: &str) -> Option<(&str, String)> {
    let rest = uri.strip_prefix(SCHEME)?;
    let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
    Some((name, decoded(path)?))
}

pub(super) fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |it: Option<u8>| char::from(it?).to_digit(16);
        let value = digit(rest.next())? * 16 + digit(rest.next())?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// What a file is by its name, where that is common knowledge.
pub fn media_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "md" | "markdown" => "text/markdown",
        "txt" => "text/plain",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "js" | "mjs" => "text/javascript",
        "py" => "text/x-python",
        "sh" | "bash" => "text/x-shellscript",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back() {
        for (name, path) in [
            ("a", "SKILL.md"),
            ("a-b", "r/ü %.txt"),
            ("a", "x?y#z"),
            ("a", ""),
        ] {
            let uri = own_address(name, path);
            assert_eq!(own_place(&uri), Some((name, path.to_owned())), "{uri}");
        }
        for uri in [
            "file:///a",
            "skill://a/%zz",
            "skill://a/%f",
            "skill://a/%ff",
        ] {
            assert_eq!(own_place(uri), None, "{uri}");
        }
    }
}
