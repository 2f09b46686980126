//! What models can do, by the beginning of their names.

/// How a tool that comes into view in mid-conversation is given to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reveal {
    /// Its definition is deferred, and referred to where it comes into view: nothing before that
    /// place changes, and the prompt cache holds.
    InPlace,
    /// It is listed with the others.
    Listed,
}

/// Anthropic's models from before there were references to tools. Later ones know them; models of
/// others that speak this API are not counted on.
const WITHOUT_REFERENCES: &[&str] = &[
    "claude-2",
    "claude-3",
    "claude-instant",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2025",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2025",
];

/// How this model is given new tools.
pub(super) fn reveal(model: &str) -> Reveal {
    let is_old = WITHOUT_REFERENCES.iter().any(|it| model.starts_with(it));
    match model.starts_with("claude-") && !is_old {
        true => Reveal::InPlace,
        false => Reveal::Listed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_models_known_to_take_references_are_given_them() {
        for (model, expected) in [
            ("claude-sonnet-4-5-20250929", Reveal::InPlace),
            ("claude-opus-4-8", Reveal::InPlace),
            ("claude-haiku-4-5", Reveal::InPlace),
            ("claude-opus-5", Reveal::InPlace),
            ("claude-3-5-sonnet-latest", Reveal::Listed),
            ("claude-sonnet-4-20250514", Reveal::Listed),
            ("claude-opus-4-1-20250805", Reveal::Listed),
            ("glm-5", Reveal::Listed),
        ] {
            assert_eq!(reveal(model), expected, "{model}");
        }
    }
}
