//! The tools: what a model may say to them, and what it is told.

use ambit_core::effects::{Effect, Effects};
use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::MOST_CHARACTERS;
use super::memories::{Memories, Memory, Saved};
use crate::asked::Asked;
use crate::declare::{arguments, object};
use crate::moment::day;
use crate::pack::Tool;

const MOST_FOUND: u32 = 50;
const MOST_LISTED: u32 = 200;
/// As much text as one answer holds, however many memories that is.
const MOST_SHOWN: usize = 20_000;

const READS: Tool<Memories> = Tool {
    name: "",
    title: "",
    description: "",
    effects: Effects::READS,
    risk: None,
    permissions: &["memory:read"],
    tags: &["memory"],
    needs: &[],
    input: list_input,
    output: None,
    run: list,
};

const WRITES: Tool<Memories> = Tool {
    effects: Effects::WRITES,
    permissions: &["memory:write"],
    ..READS
};

/// Every tool, in the order it is listed.
pub(super) const TOOLS: &[Tool<Memories>] = &[
    Tool {
        name: "save_memory",
        title: "Save memory",
        description: "Remember a fact, preference or decision for later conversations. Use it for \
            what will still matter then, one fact per memory, so that it can be understood on its \
            own. If something nearly the same is known already, that one is kept and returned.",
        input: save_input,
        run: save,
        ..WRITES
    },
    Tool {
        name: "search_memories",
        title: "Search memories",
        description: "Find what was remembered, best match first. Use it before asking the user \
            something they may have said before, and at the start of a task. Search by the words \
            the memory would have.",
        input: search_input,
        run: search,
        ..READS
    },
    Tool {
        name: "list_memories",
        title: "List memories",
        description: "List what is remembered, newest first. To find something, use \
            search_memories.",
        ..READS
    },
    Tool {
        name: "update_memory",
        title: "Update memory",
        description: "Replace a memory that is no longer right by a new text. Use it when \
            something that is remembered has changed.",
        input: update_input,
        run: update,
        ..WRITES
    },
    Tool {
        name: "delete_memory",
        title: "Delete memory",
        description: "Forget a memory for good. Use it for what is wrong or no longer of use, or \
            when the user asks to forget it; if it has only changed, use update_memory.",
        effects: Effects::WRITES.with(Effect::Destructive),
        input: delete_input,
        run: delete,
        ..WRITES
    },
];

fn text_schema(description: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS,
        "description": description,
    })
}

fn id_schema(description: &str) -> Value {
    json!({ "type": "string", "pattern": "^m[0-9]{1,15}$", "description": description })
}

fn limit_schema(default: u32, most: u32) -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": most, "default": default,
        "description": "At most so many.",
    })
}

fn save_input() -> Value {
    object(
        &["text"],
        json!({ "text": text_schema("What to remember, in a sentence or two, with names instead of \"it\" or \"he\".") }),
    )
}

fn search_input() -> Value {
    object(
        &["query"],
        json!({
            "query": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Words to look for. Memories with all of them come first.",
            },
            "limit": limit_schema(10, MOST_FOUND),
        }),
    )
}

fn list_input() -> Value {
    object(
        &[],
        json!({
            "before": id_schema("Go on with those older than this one, such as `m12`."),
            "limit": limit_schema(50, MOST_LISTED),
        }),
    )
}

fn update_input() -> Value {
    object(
        &["id", "text"],
        json!({
            "id": id_schema("Which, such as `m12`."),
            "text": text_schema("All of the new text."),
        }),
    )
}

fn delete_input() -> Value {
    object(&["id"], json!({ "id": id_schema("Which, such as `m12`.") }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    text: String,
}

fn save(memories: &Memories, value: Value) -> Result<Output, Failure> {
    let Save { text } = arguments(value)?;
    let (outcome, said, memory) = match memories.save(&text)? {
        Saved::New(it) => ("saved", format!("saved as `m{}`", it.number), it),
        Saved::Known(it) => {
            let said = format!(
                "not saved again: `m{}` says it already: {}\nIf something has changed, use \
                 update_memory.",
                it.number, it.text
            );
            ("known", said, it)
        }
        Saved::Extended { memory, before } => {
            let said = format!(
                "`m{}` said nearly the same and now says this. Before: {before}",
                memory.number
            );
            ("extended", said, memory)
        }
    };
    let mut structured = structured(&memory);
    if let Some(map) = structured.as_object_mut() {
        map.insert("outcome".to_owned(), outcome.into());
    }
    Ok(Output::text(said).with_structured(structured))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<u32>,
}

fn search(memories: &Memories, value: Value) -> Result<Output, Failure> {
    let Search { query, limit } = arguments(value)?;
    let asked = Asked::of(&query);
    if asked.is_empty() {
        return Err(Failure::refused(
            "`query` has no words to look for: list_memories shows everything",
        ));
    }
    let found = memories.search(&asked, limit.unwrap_or(10).min(MOST_FOUND))?;
    if found.is_empty() {
        let said =
            "nothing that is remembered has any of these words; try others, or list_memories";
        return Ok(Output::text(said).with_structured(json!({ "memories": [] })));
    }
    let shown = shown(&found);
    let cut = match found.len() - shown.len() {
        0 => String::new(),
        more => format!("{more} more are left out: ask for fewer, or more exactly\n"),
    };
    Ok(listed(shown, cut).with_structured(json!({
        "memories": shown.iter().map(structured).collect::<Vec<_>>(),
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    before: Option<String>,
    limit: Option<u32>,
}

fn list(memories: &Memories, value: Value) -> Result<Output, Failure> {
    let List { before, limit } = arguments(value)?;
    let before = before.as_deref().map(number).transpose()?;
    let (found, total) = memories.list(before, limit.unwrap_or(50).min(MOST_LISTED))?;
    let shown = shown(&found);
    let oldest = shown.last().map_or(0, |it| it.number);
    let is_end = memories.list(Some(oldest), 1)?.0.is_empty();
    let next = match is_end {
        true => None,
        false => Some(format!("m{oldest}")),
    };
    let end = match (&next, total) {
        (_, 0) => "nothing is remembered yet; save_memory saves something\n".to_owned(),
        (Some(next), _) => format!(
            "{} of {total} shown; the rest with {{\"before\":\"{next}\"}}\n",
            shown.len()
        ),
        (None, _) => String::new(),
    };
    Ok(listed(shown, end).with_structured(json!({
        "memories": shown.iter().map(structured).collect::<Vec<_>>(),
        "total": total,
        "next": next,
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    id: String,
    text: String,
}

fn update(memories: &Memories, value: Value) -> Result<Output, Failure> {
    let Update { id, text } = arguments(value)?;
    let updated = memories.update(number(&id)?, &text)?;
    let mut said = format!("updated `{id}`. Before: {}", updated.before);
    if let Some(twin) = &updated.twin {
        said.push_str(&format!(
            "\n`m{}` says nearly the same: {}\nIf one of them is enough, delete the other.",
            twin.number, twin.text
        ));
    }
    Ok(Output::text(said).with_structured(structured(&updated.memory)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delete {
    id: String,
}

fn delete(memories: &Memories, value: Value) -> Result<Output, Failure> {
    let Delete { id } = arguments(value)?;
    let memory = memories.delete(number(&id)?)?;
    let said = format!("deleted `{id}`, which said: {}", memory.text);
    Ok(Output::text(said).with_structured(structured(&memory)))
}

fn number(id: &str) -> Result<i64, Failure> {
    id.strip_prefix('m')
        .and_then(|it| it.parse().ok())
        .ok_or_else(|| {
            Failure::refused(format!(
                "`{}` is not a memory's id, which is `m` and a number: list_memories shows them",
                id.escape_debug()
            ))
        })
}

/// As many of them as one answer holds; one at least.
fn shown(found: &[Memory]) -> &[Memory] {
    let mut room = MOST_SHOWN;
    let fitting = found.iter().take_while(|it| {
        let fits = room >= it.text.len();
        room = room.saturating_sub(it.text.len());
        fits
    });
    let count = fitting.count().max(1).min(found.len());
    found.get(..count).unwrap_or(found)
}

fn listed(memories: &[Memory], end: String) -> Output {
    let mut text: String = memories.iter().map(|it| line(it) + "\n").collect();
    text.push_str(&end);
    Output::text(text.trim_end())
}

fn line(memory: &Memory) -> String {
    let saved = &memory.saved;
    let mut who = format!("saved by {} on {}", saved.by, day(&saved.at));
    if let Some(changed) = &memory.changed {
        who.push_str(&format!(
            ", changed by {} on {}",
            changed.by,
            day(&changed.at)
        ));
    }
    format!("m{}: {} ({who})", memory.number, memory.text)
}

fn structured(memory: &Memory) -> Value {
    let mut out = json!({
        "id": format!("m{}", memory.number),
        "text": memory.text,
        "savedBy": memory.saved.by,
        "savedAt": memory.saved.at,
    });
    if let (Some(map), Some(changed)) = (out.as_object_mut(), &memory.changed) {
        map.insert("changedBy".to_owned(), changed.by.clone().into());
        map.insert("changedAt".to_owned(), changed.at.clone().into());
    }
    out
}
