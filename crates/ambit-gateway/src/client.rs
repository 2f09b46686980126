//! What is known of clients by the name they give themselves: which list suits them, and whether
//! they ask their user about each tool. A table of facts, each with its reason; configuration lies
//! over it.

use std::collections::BTreeMap;

use ambit_core::permission::Asker;
use serde::Deserialize;

use crate::style::{Era, Style};

/// A client whose ways are known.
struct Known {
    name: &'static str,
    style: Style,
    asker: Asker,
}

const fn known(name: &'static str, style: Style, asker: Asker) -> Known {
    Known { name, style, asker }
}

const KNOWN: [Known; 7] = [
    // Defers tools and searches them itself, and asks about each tool by its name.
    known("claude-code", Style::Full, Asker::Client),
    // Take 128 tools a request, and read the list again when told.
    known("Visual Studio Code", Style::Dynamic, Asker::Ambit),
    known(
        "Visual Studio Code - Insiders",
        Style::Dynamic,
        Asker::Ambit,
    ),
    // Have a ceiling for tools of all servers together.
    known("cursor-vscode", Style::Dynamic, Asker::Ambit),
    known("windsurf-client", Style::Dynamic, Asker::Ambit),
    // Do not say that they read a list again.
    known("claude-ai", Style::Dispatch, Asker::Ambit),
    // Drops the notice that a list changed.
    known("codex-mcp-client", Style::Dispatch, Asker::Ambit),
];

/// How a bridge marks the name of the client behind it: `claude-ai (via mcp-remote 0.1.37)`.
const BRIDGED: &str = " (via mcp-remote ";

/// What is said of a client. What is left out stays as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ClientEntry {
    /// Which list it is shown.
    pub style: Option<Style>,
    /// Whether it asks its user about each tool itself.
    pub asks: Option<bool>,
}

/// Everything said of clients, by the name they give themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientTable(pub BTreeMap<String, ClientEntry>);

/// How one client is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientWays {
    /// Which list it is shown.
    pub style: Style,
    /// Who asks its user about changes.
    pub asker: Asker,
}

impl ClientTable {
    /// How a client is treated, with the style that was asked for or else what suits it. What
    /// changes by what came before does not exist in the stateless era; and only a list with every
    /// tool in it lets a client ask about the tool that will run.
    pub fn ways(&self, client: Option<&str>, era: Era, asked: Option<Style>) -> ClientWays {
        let name = client.map(|it| it.split(BRIDGED).next().unwrap_or(it));
        let known = KNOWN.iter().find(|it| Some(it.name) == name);
        let said = name.and_then(|it| self.0.get(it)).copied();
        let said = said.unwrap_or_default();
        let style = asked
            .or(said.style)
            .or(known.map(|it| it.style))
            .unwrap_or(Style::Dynamic);
        let style = match (style, era) {
            (Style::Dynamic, Era::Stateless) => Style::Dispatch,
            (style, _) => style,
        };
        let asker = match said.asks {
            Some(true) => Asker::Client,
            Some(false) => Asker::Ambit,
            None => known.map_or(Asker::Ambit, |it| it.asker),
        };
        ClientWays {
            style,
            asker: match style {
                Style::Full => asker,
                Style::Dynamic | Style::Dispatch => Asker::Ambit,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_what_it_can_use() {
        use Asker::{Ambit, Client};
        use Era::{Session, Stateless};
        use Style::{Dispatch, Dynamic, Full};
        let entry = |style, asks| ClientEntry { style, asks };
        let table = ClientTable(BTreeMap::from([
            ("codex-mcp-client".to_owned(), entry(Some(Full), None)),
            ("mine".to_owned(), entry(Some(Full), Some(true))),
            ("shy".to_owned(), entry(None, Some(true))),
            ("Visual Studio Code".to_owned(), entry(None, Some(true))),
        ]));
        for (client, era, asked, style, asker) in [
            (Some("claude-code"), Session, None, Full, Client),
            (Some("claude-code"), Stateless, None, Full, Client),
            (
                Some("claude-code"),
                Session,
                Some(Dispatch),
                Dispatch,
                Ambit,
            ),
            (
                Some("claude-code"),
                Stateless,
                Some(Dynamic),
                Dispatch,
                Ambit,
            ),
            (Some("claude-ai"), Session, None, Dispatch, Ambit),
            (
                Some("claude-ai (via mcp-remote 0.1.37)"),
                Session,
                None,
                Dispatch,
                Ambit,
            ),
            (Some("codex-mcp-client"), Session, None, Full, Ambit),
            (Some("mine"), Session, None, Full, Client),
            (Some("shy"), Session, None, Dynamic, Ambit),
            (Some("shy"), Session, Some(Full), Full, Client),
            (Some("Visual Studio Code"), Session, None, Dynamic, Ambit),
            (Some("somebody"), Session, None, Dynamic, Ambit),
            (Some("somebody"), Stateless, None, Dispatch, Ambit),
            (Some("somebody"), Session, Some(Full), Full, Ambit),
            (None, Session, None, Dynamic, Ambit),
        ] {
            let ways = table.ways(client, era, asked);
            assert_eq!(
                ways,
                ClientWays { style, asker },
                "{client:?} {era:?} {asked:?}"
            );
        }
    }
}
