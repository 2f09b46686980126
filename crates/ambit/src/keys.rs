//! Which capability keys are whose, where a server and a built-in capability would like the same.
//!
//! People call servers `memory` or `notes`, and paste them from anywhere: such a server takes the
//! place of the built-in capability. A key that decides what else an agent can do stays what it
//! is, so nobody can offer something else under it.

/// Built-in capabilities that give way to a server of their name.
const GIVING_WAY: [&str; 7] = [
    "audio", "browser", "history", "media", "memory", "notes", "tasks",
];

/// Whether a server may have this name, in the place of a built-in capability.
pub(crate) fn gives_way(name: &str) -> bool {
    GIVING_WAY.contains(&name)
}

/// The keys no server may have.
pub(crate) fn reserved() -> Vec<String> {
    let builtins = ambit_builtins::KEYS.iter().copied();
    builtins
        .chain([ambit_skills::resolver::KEY])
        .filter(|it| !gives_way(it))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_way_or_is_reserved() {
        for key in ["files", "shell", "skills", "secrets", "self", "agents"] {
            assert!(
                reserved().iter().any(|it| it == key) && !gives_way(key),
                "{key}"
            );
        }
        for key in ["memory", "notes"] {
            assert!(
                !reserved().iter().any(|it| it == key) && gives_way(key),
                "{key}"
            );
        }
    }
}
