//! What a model reads of a catalog, in tokens.

use std::error::Error;

use ambit_core::projection::{Projection, ToolFormat};
use ambit_core::visible::Layer;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::session::Session;
use ambit_runtime::tokens::count;
use serde_json::json;

use crate::script::Line;
use crate::world::World;

/// How many entries are shown in which layer, and what all of it costs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shown {
    pub(crate) full: usize,
    pub(crate) cards: usize,
    pub(crate) lines: usize,
    pub(crate) tokens: u32,
}

/// One turn of a session.
pub(crate) struct Turn {
    pub(crate) happened: Vec<String>,
    pub(crate) shown: Shown,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// Tokens at the beginning that are those of the turn before.
    pub(crate) kept: u32,
    /// What listing everything would cost, and how much of that stays from the turn before.
    pub(crate) everything: u32,
    pub(crate) everything_kept: u32,
    /// What answers to searches in this turn cost.
    pub(crate) searches: u32,
}

/// What one task shows at once.
pub(crate) async fn goal(world: &World, goal: &str) -> Result<Shown, Box<dyn Error>> {
    let session = world.session().await?;
    session.begin_turn(&request(goal));
    Ok(shown(&session).0)
}

/// What every turn of a script shows.
pub(crate) async fn session(world: &World, script: Vec<Line>) -> Result<Vec<Turn>, Box<dyn Error>> {
    let session = world.session().await?;
    let mut turns: Vec<Turn> = Vec::new();
    let mut goal = String::new();
    let mut happened = Vec::new();
    let mut text = String::new();
    let mut ids: Vec<String> = Vec::new();
    let mut listed: Vec<(String, u32)> = Vec::new();
    for line in script {
        match line {
            Line::Goal(it) => {
                happened.push(format!("“{it}”"));
                goal = it;
            }
            Line::Search(query) => {
                let arguments = json!({"query": query});
                let answer = world.call(&session, "tool_search", arguments, "").await?;
                if let Some(turn) = turns.last_mut() {
                    turn.searches += count(&answer);
                }
                happened.push("a search".to_owned());
            }
            Line::Call {
                target,
                arguments,
                answer,
            } => {
                world.call(&session, &target, arguments, &answer).await?;
                happened.push(format!("`{target}` answered"));
            }
            Line::Down(server) => {
                world.take_down(&server);
                happened.push(format!("`{server}` went away"));
            }
            Line::Turn => {
                session.begin_turn(&request(&goal));
                let (shown, now) = shown(&session);
                let visible = session.visible();
                let entries = visible.entries().iter().map(|it| it.id.to_string());
                let entries: Vec<String> = entries.collect();
                let beyond = |these: &[String], those: &[String]| {
                    these.iter().filter(|it| !those.contains(it)).count()
                };
                let everything = world.everything();
                turns.push(Turn {
                    happened: std::mem::take(&mut happened),
                    shown,
                    added: beyond(&entries, &ids),
                    removed: beyond(&ids, &entries),
                    kept: count(common_prefix(&text, &now)),
                    everything: everything.iter().map(|it| it.1).sum(),
                    everything_kept: listed
                        .iter()
                        .zip(&everything)
                        .take_while(|(before, now)| before == now)
                        .map(|(it, _)| it.1)
                        .sum(),
                    searches: 0,
                });
                (text, ids, listed) = (now, entries, everything);
            }
        }
    }
    Ok(turns)
}

fn request(goal: &str) -> TurnRequest {
    TurnRequest {
        goal: goal.to_owned(),
        ..TurnRequest::default()
    }
}

fn shown(session: &Session) -> (Shown, String) {
    let visible = session.visible();
    let of = |layer| {
        visible
            .entries()
            .iter()
            .filter(|it| it.layer == layer)
            .count()
    };
    let text = prompt(&session.projection(ToolFormat::OpenAi));
    let shown = Shown {
        full: of(Layer::Full),
        cards: of(Layer::Card),
        lines: of(Layer::Index),
        tokens: count(&text),
    };
    (shown, text)
}

/// As a model reads it: definitions first, then what is only named.
fn prompt(projection: &Projection) -> String {
    let tools = projection.tools.iter().map(ToString::to_string);
    let lines = projection.skills.iter().chain(&projection.deferred);
    let all: Vec<String> = tools.chain(lines.cloned()).collect();
    all.join("\n")
}

fn common_prefix<'a>(before: &str, now: &'a str) -> &'a str {
    let same = before.bytes().zip(now.bytes()).take_while(|(a, b)| a == b);
    now.get(..now.floor_char_boundary(same.count()))
        .unwrap_or(now)
}
