//! What a tool does to the world, by what its server says of it. Annotations are hints of an
//! untrusted party: they are the best there is until a user's override says otherwise, and
//! silence counts as a write. Only for the user's own servers a name may say that a tool reads.

use ambit_core::effects::{Effect, Effects};

use crate::spec::{Provenance, Transport};

/// What a server says about a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) open_world: Option<bool>,
}

/// The effects of a tool.
pub(crate) fn effects(
    raw_name: &str,
    hints: Hints,
    provenance: Provenance,
    transport: &Transport,
) -> Effects {
    let reads = match hints.read_only {
        Some(said) => said,
        // Who says that it destroys does not mean that it reads.
        None => {
            hints.destructive != Some(true)
                && provenance == Provenance::Own
                && name_says_it_reads(raw_name)
        }
    };
    let mut effects = if reads {
        Effects::READS
    } else {
        Effects::WRITES
    };
    if !reads && hints.destructive == Some(true) {
        effects = effects.with(Effect::Destructive);
    }
    // A server on another machine is outside by itself.
    let outside = matches!(transport, Transport::Http { .. });
    if hints.open_world.unwrap_or(outside) {
        effects = effects.with(Effect::OpenWorld);
    }
    effects
}

const READING: [&str; 17] = [
    "count", "describe", "diff", "explain", "fetch", "find", "get", "inspect", "list", "lookup",
    "peek", "query", "read", "search", "show", "status", "view",
];
const CHANGING: [&str; 30] = [
    "add", "append", "apply", "clear", "commit", "create", "delete", "drop", "edit", "exec",
    "execute", "insert", "kill", "merge", "move", "post", "publish", "purge", "push", "put",
    "remove", "rename", "reset", "run", "send", "set", "update", "upload", "upsert", "write",
];

/// Whether a name begins with a word for looking and holds none for changing. A bare `query` may
/// be any statement.
fn name_says_it_reads(raw: &str) -> bool {
    let words = words(raw);
    match words.as_slice() {
        [only] if only == "query" => false,
        [first, rest @ ..] => {
            READING.contains(&first.as_str())
                && !rest.iter().any(|it| CHANGING.contains(&it.as_str()))
        }
        [] => false,
    }
}

/// `getHTTPStatus`, `get_http-status` → `get`, `http`, `status`.
fn words(raw: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in raw.chars() {
        let starts = c.is_uppercase() && after_lower;
        after_lower = c.is_lowercase() || c.is_ascii_digit();
        if !c.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdio() -> Transport {
        Transport::Stdio {
            command: "x".to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
        }
    }

    /// `name [readOnly|notReadOnly|destructive|additive|open|closed]…` → effects.
    #[track_caller]
    fn check(line: &str, provenance: Provenance, expected: &str) {
        let mut parts = line.split(' ');
        let name = parts.next().unwrap();
        let mut hints = Hints::default();
        for word in parts {
            match word {
                "readOnly" => hints.read_only = Some(true),
                "notReadOnly" => hints.read_only = Some(false),
                "destructive" => hints.destructive = Some(true),
                "additive" => hints.destructive = Some(false),
                "open" => hints.open_world = Some(true),
                "closed" => hints.open_world = Some(false),
                other => panic!("{other}"),
            }
        }
        let effects = effects(name, hints, provenance, &stdio());
        assert_eq!(effects.to_string(), expected, "{line}");
    }

    #[test]
    fn hints_and_names_make_effects() {
        use Provenance::{Foreign, Own};
        for (line, own, foreign) in [
            ("get_issue", "reads", "reads writes"),
            ("listIssues", "reads", "reads writes"),
            ("read-graph", "reads", "reads writes"),
            ("query_rows", "reads", "reads writes"),
            ("query", "reads writes", "reads writes"),
            ("get_and_delete", "reads writes", "reads writes"),
            ("getOrCreate", "reads writes", "reads writes"),
            ("getaway", "reads writes", "reads writes"),
            ("echo", "reads writes", "reads writes"),
            ("", "reads writes", "reads writes"),
            ("echo readOnly", "reads", "reads"),
            ("delete readOnly", "reads", "reads"),
            ("echo readOnly open", "reads open-world", "reads open-world"),
            ("get_x notReadOnly", "reads writes", "reads writes"),
            ("get_x additive", "reads", "reads writes"),
            (
                "get_x destructive",
                "reads writes destructive",
                "reads writes destructive",
            ),
            (
                "x notReadOnly destructive closed",
                "reads writes destructive",
                "reads writes destructive",
            ),
            (
                "x open",
                "reads writes open-world",
                "reads writes open-world",
            ),
        ] {
            check(line, Own, own);
            check(line, Foreign, foreign);
        }
    }

    #[test]
    fn a_remote_server_is_outside_unless_it_says_otherwise() {
        let remote = Transport::Http {
            url: "https://x".to_owned(),
            headers: Vec::new(),
        };
        let of = |open_world| {
            let hints = Hints {
                read_only: Some(true),
                open_world,
                ..Hints::default()
            };
            effects("x", hints, Provenance::Own, &remote).to_string()
        };
        assert_eq!(of(None), "reads open-world");
        assert_eq!(of(Some(false)), "reads");
    }
}
