//! Which list a client is shown. A client that defers tools itself wants them all and asks per
//! tool; one that reads its list again can be given what fits; one that does neither needs a list
//! that never changes.

use std::fmt;
use std::str::FromStr;

use ambit_runtime::discovery::Exposure;

/// What a client's tool list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Everything the agent may use.
    Full,
    /// What fits now; searching changes it.
    Dynamic,
    /// A fixed handful that finds, describes and calls the rest.
    Dispatch,
}

/// The two ways of speaking MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// `initialize` first, up to 2025-11-25. A list may change, and the client is told.
    Session,
    /// Every request for itself, from 2026-07-28. A list depends on nothing that came before.
    Stateless,
}

/// Clients whose ways are known, by the name they give themselves.
const KNOWN: [(&str, Style); 4] = [
    // Defers tools and searches them itself.
    ("claude-code", Style::Full),
    // Takes 128 tools a request, and reads the list again when told.
    ("Visual Studio Code", Style::Dynamic),
    // Do not say that they read a list again.
    ("claude-ai", Style::Dispatch),
    ("codex-mcp-client", Style::Dispatch),
];

/// The style for a client: the one that was asked for, else what suits it. What changes by what
/// came before does not exist in the stateless era.
pub fn style_for(client: Option<&str>, era: Era, asked: Option<Style>) -> Style {
    let known = KNOWN
        .iter()
        .find(|(name, _)| Some(*name) == client)
        .map(|(_, style)| *style);
    match (asked.or(known).unwrap_or(Style::Dynamic), era) {
        (Style::Dynamic, Era::Stateless) => Style::Dispatch,
        (style, _) => style,
    }
}

impl Style {
    /// All of them.
    pub const ALL: [Style; 3] = [Style::Full, Style::Dynamic, Style::Dispatch];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Style::Full => "full",
            Style::Dynamic => "dynamic",
            Style::Dispatch => "dispatch",
        }
    }

    /// How a session is opened for it.
    pub fn exposure(self) -> Exposure {
        match self {
            Style::Full => Exposure::Everything,
            Style::Dynamic => Exposure::Selected,
            Style::Dispatch => Exposure::Dispatched,
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Style {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = Style::ALL.map(Style::as_str).join(", ");
        Style::ALL
            .into_iter()
            .find(|it| it.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a style ({words})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_what_it_can_use() {
        use Era::{Session, Stateless};
        use Style::{Dispatch, Dynamic, Full};
        for (client, era, asked, style) in [
            (Some("claude-code"), Session, None, Full),
            (Some("claude-code"), Stateless, None, Full),
            (Some("codex-mcp-client"), Session, None, Dispatch),
            (Some("somebody"), Session, None, Dynamic),
            (Some("somebody"), Stateless, None, Dispatch),
            (None, Session, None, Dynamic),
            (Some("claude-code"), Session, Some(Dispatch), Dispatch),
            (Some("claude-code"), Stateless, Some(Dynamic), Dispatch),
        ] {
            assert_eq!(
                style_for(client, era, asked),
                style,
                "{client:?} {era:?} {asked:?}"
            );
        }
    }

    #[test]
    fn a_style_is_its_word() {
        for style in Style::ALL {
            assert_eq!(style.as_str().parse(), Ok(style));
        }
        assert!("Full".parse::<Style>().is_err());
    }
}
