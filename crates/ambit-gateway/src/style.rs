//! Which list a client is shown. A client that defers tools itself wants them all and asks per
//! tool; one that reads its list again can be given what fits; one that does neither needs a list
//! that never changes.

use std::fmt;
use std::str::FromStr;

use ambit_runtime::discovery::Exposure;
use serde::Deserialize;

/// What a client's tool list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    fn a_style_is_its_word() {
        for style in Style::ALL {
            assert_eq!(style.as_str().parse(), Ok(style));
        }
        assert!("Full".parse::<Style>().is_err());
    }
}
