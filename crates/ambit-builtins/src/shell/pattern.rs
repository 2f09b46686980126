//! Which commands may run. A pattern is the first words of a command and nothing more: words
//! are compared whole, so `cargo` does not allow `cargo-evil`, nor `./cargo`, nor
//! `/tmp/cargo`.

use std::fmt;

use serde::Deserialize;

/// The first words of the commands it allows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Pattern(Vec<String>);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(format!("`{text}` names no program"));
        }
        if words.iter().any(|it| it == "*") {
            return Err(format!(
                "`{text}`: `*` is not needed, a pattern allows whatever follows its words"
            ));
        }
        Ok(Pattern(words))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// What may run.
#[derive(Clone, Debug)]
pub(super) enum Allowed {
    /// Commands that begin with one of these.
    Listed(Vec<Pattern>),
    /// Anything, also what a shell makes of a string.
    Everything,
}

impl Allowed {
    /// Whether an argument list may run.
    pub(super) fn allows(&self, argv: &[String]) -> bool {
        match self {
            Allowed::Listed(patterns) => patterns.iter().any(|it| argv.starts_with(&it.0)),
            Allowed::Everything => true,
        }
    }

    /// For a refusal to say.
    pub(super) fn listed(&self) -> String {
        match self {
            Allowed::Listed(patterns) => {
                let listed: Vec<_> = patterns.iter().map(|it| format!("`{it}`")).collect();
                listed.join(", ")
            }
            Allowed::Everything => "anything".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_first_words() {
        let argv =
            |command: &str| -> Vec<String> { command.split(' ').map(str::to_owned).collect() };
        for (pattern, command, allowed) in [
            ("cargo test", "cargo test", true),
            ("cargo test", "cargo test --lib", true),
            ("  cargo   test ", "cargo test", true),
            ("cargo test", "cargo", false),
            ("cargo test", "cargo install", false),
            ("cargo test", "cargo testx", false),
            ("cargo test", "cargo --config=x test", false),
            ("cargo", "cargo", true),
            ("cargo", "cargo-evil", false),
            ("cargo", "./cargo", false),
            ("cargo", "/tmp/cargo", false),
            ("cargo", "../cargo", false),
            ("cargo", "Cargo", false),
            ("./gradlew", "./gradlew build", true),
            ("./gradlew", "gradlew build", false),
            ("git", "sh -c git", false),
        ] {
            let listed = Allowed::Listed(vec![pattern.to_owned().try_into().unwrap()]);
            assert_eq!(
                listed.allows(&argv(command)),
                allowed,
                "{pattern}: {command}"
            );
        }
        let listed = Allowed::Listed(vec!["a b".to_owned().try_into().unwrap()]);
        assert!(!listed.allows(&["a b".to_owned()]), "one word with a space");
        assert!(!listed.allows(&[]));
        assert!(Allowed::Everything.allows(&argv("rm x")));
    }
}
