//! The tools: what a model may say to them, and what it is told.

use ambit_core::effects::Effects;
use ambit_core::observation::{Content, Failure, Output};
use ambit_core::printable::printable;
use serde::Deserialize;
use serde_json::{Value, json};

use super::MOST_CHARACTERS;
use super::document::Mark;
use super::search;
use super::shelves::{Kept, Note, Notes};
use crate::asked::Asked;
use crate::declare::{arguments, object};
use crate::moment::{day, written};
use crate::pack::Tool;

const MOST_FOUND: usize = 50;
const MOST_LISTED: usize = 200;

const READS: Tool<Notes> = Tool {
    name: "",
    title: "",
    description: "",
    effects: Effects::READS,
    risk: None,
    permissions: &["notes:read"],
    tags: &["notes"],
    needs: &[],
    input: note_input,
    output: None,
    run: read,
};

const WRITES: Tool<Notes> = Tool {
    effects: Effects::WRITES,
    permissions: &["notes:write"],
    ..READS
};

/// Every tool, in the order it is listed.
pub(super) const TOOLS: &[Tool<Notes>] = &[
    Tool {
        name: "save_note",
        title: "Save note",
        description: "Write a new note, a Markdown file the user can open. Use it for results, \
            plans and collected facts that are worth keeping; for a single fact, use memory.",
        input: save_input,
        run: save,
        ..WRITES
    },
    Tool {
        name: "read_note",
        title: "Read note",
        description: "Read a note as it is now, with the version that update_note needs.",
        ..READS
    },
    Tool {
        name: "list_notes",
        title: "List notes",
        description: "List notes, pinned ones first, then those changed last; with what other \
            agents share. To find something in them, use search_notes.",
        input: list_input,
        run: list,
        ..READS
    },
    Tool {
        name: "search_notes",
        title: "Search notes",
        description: "Find notes by words of their titles and texts, best match first, with the \
            place that matches.",
        input: search_input,
        run: find,
        ..READS
    },
    Tool {
        name: "update_note",
        title: "Update note",
        description: "Replace the content of a note. Read it first and pass its version: if the \
            user or another process changed it meanwhile, nothing is written and the difference \
            is shown.",
        input: update_input,
        run: update,
        ..WRITES
    },
    Tool {
        name: "delete_note",
        title: "Delete note",
        description: "Move a note to the trash folder beside it, from which the user can take it \
            back.",
        run: delete,
        ..WRITES
    },
    Tool {
        name: "share_note",
        title: "Share note",
        description: "Let every agent of this workspace read a note. They cannot change it. Only \
            the user can end that, in the file.",
        run: share,
        ..WRITES
    },
    Tool {
        name: "pin_note",
        title: "Pin note",
        description: "Put a note at the top of list_notes.",
        run: pin,
        ..WRITES
    },
    Tool {
        name: "unpin_note",
        title: "Unpin note",
        description: "Take a note off the top of list_notes.",
        run: unpin,
        ..WRITES
    },
];

fn note_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 200,
        "description": "Which note: its name as list_notes shows it, or its title.",
    })
}

fn title_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 120, "description": description })
}

fn content_schema(description: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS,
        "description": description,
    })
}

fn limit_schema(default: usize, most: usize) -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": most, "default": default,
        "description": "At most so many.",
    })
}

fn note_input() -> Value {
    object(&["note"], json!({ "note": note_schema() }))
}

fn save_input() -> Value {
    object(
        &["title", "content"],
        json!({
            "title": title_schema("What it is called, on one line. The file is named after it."),
            "content": content_schema("The text, as Markdown, without the title."),
        }),
    )
}

fn list_input() -> Value {
    object(
        &[],
        json!({
            "limit": limit_schema(50, MOST_LISTED),
            "offset": {
                "type": "integer", "minimum": 0, "maximum": 100_000, "default": 0,
                "description": "Leave out so many from the top.",
            },
        }),
    )
}

fn search_input() -> Value {
    object(
        &["query"],
        json!({
            "query": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Words to look for. Notes with all of them come first.",
            },
            "limit": limit_schema(10, MOST_FOUND),
        }),
    )
}

fn update_input() -> Value {
    object(
        &["note", "version", "content"],
        json!({
            "note": note_schema(),
            "version": {
                "type": "string", "minLength": 1, "maxLength": 64,
                "description": "The version that was read, as read_note or the last change said.",
            },
            "content": content_schema("All of the new text, without the title."),
            "title": title_schema("Another title. The file keeps its name."),
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    title: String,
    content: String,
}

fn save(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let Save { title, content } = arguments(value)?;
    Ok(told("saved", &notes.save(&title, &content)?))
}

fn read(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let Named { note } = arguments(value)?;
    let note = notes.find(&note)?;
    let version = &note.file.version;
    let head = match note.of {
        None => format!("{}\nversion for update_note: {version}", line(&note)),
        Some(_) => line(&note),
    };
    Ok(Output {
        content: vec![
            Content::text(head),
            Content::text(note.file.document.body.as_str()),
        ],
        ..Output::default()
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

fn list(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let List { limit, offset } = arguments(value)?;
    let (mut all, unreadable) = notes.all()?;
    all.sort_by(|a, b| {
        let pinned = b.is_pinned().cmp(&a.is_pinned());
        let newest = b.file.changed.cmp(&a.file.changed);
        pinned.then(newest).then_with(|| a.name().cmp(&b.name()))
    });
    let total = all.len();
    let shown: Vec<&Note> = all
        .iter()
        .skip(offset)
        .take(limit.unwrap_or(50).min(MOST_LISTED))
        .collect();
    let mut lines: Vec<String> = shown.iter().map(|it| line(it)).collect();
    let next = offset.saturating_add(shown.len());
    if total == 0 {
        lines.push("there are no notes yet; save_note writes one".to_owned());
    } else if next < total {
        lines.push(format!(
            "{} of {total} shown; the rest with {{\"offset\":{next}}}",
            shown.len()
        ));
    }
    let left_out = unreadable.iter();
    lines.extend(left_out.map(|it| format!("{} cannot be read: {}", it.name, it.why)));
    Ok(Output::text(lines.join("\n")).with_structured(json!({
        "notes": shown.into_iter().map(structured).collect::<Vec<_>>(),
        "total": total,
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<usize>,
}

fn find(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let Search { query, limit } = arguments(value)?;
    let asked = Asked::of(&query);
    if asked.is_empty() {
        return Err(Failure::refused(
            "`query` has no words to look for: list_notes shows all notes",
        ));
    }
    let (all, _) = notes.all()?;
    let hits = search::search(&all, &asked, limit.unwrap_or(10).min(MOST_FOUND))?;
    let mut lines: Vec<String> = Vec::new();
    let mut found: Vec<Value> = Vec::new();
    for hit in &hits {
        let excerpt: Vec<&str> = hit.excerpt.split_whitespace().collect();
        let excerpt = printable(&excerpt.join(" "));
        lines.push(format!("{}\n  {excerpt}", line(hit.note)));
        let mut it = structured(hit.note);
        if let Some(map) = it.as_object_mut() {
            map.insert("excerpt".to_owned(), excerpt.into());
        }
        found.push(it);
    }
    if lines.is_empty() {
        lines.push("no note has any of these words; try others, or list_notes".to_owned());
    }
    Ok(Output::text(lines.join("\n")).with_structured(json!({ "notes": found })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    note: String,
    version: String,
    content: String,
    title: Option<String>,
}

fn update(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let it: Update = arguments(value)?;
    let kept = notes.update(&it.note, &it.version, it.title.as_deref(), &it.content)?;
    Ok(told("updated", &kept))
}

fn delete(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let Named { note } = arguments(value)?;
    let (name, path) = notes.delete(&note)?;
    let said = format!("deleted `{name}`: it is in the trash, `{}`", path.display());
    Ok(Output::text(said).with_structured(json!({ "note": name, "trash": path })))
}

fn share(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let Named { note } = arguments(value)?;
    let kept = notes.change_head(&note, |it| it.mark(Mark::Shared))?;
    Ok(told("shared", &kept))
}

fn pin(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let Named { note } = arguments(value)?;
    let kept = notes.change_head(&note, |it| it.mark(Mark::Pinned))?;
    Ok(told("pinned", &kept))
}

fn unpin(notes: &Notes, value: Value) -> Result<Output, Failure> {
    let Named { note } = arguments(value)?;
    let kept = notes.change_head(&note, |it| it.unmark(Mark::Pinned))?;
    Ok(told("unpinned", &kept))
}

fn told(done: &str, kept: &Kept) -> Output {
    let Kept {
        name,
        title,
        version,
        path,
    } = kept;
    Output::text(format!(
        "{done} `{name}`, version {version}, `{}`",
        path.display()
    ))
    .with_structured(json!({ "note": name, "title": title, "version": version, "path": path }))
}

fn line(note: &Note) -> String {
    let mut marks = Vec::new();
    if note.is_pinned() {
        marks.push("pinned".to_owned());
    }
    match &note.of {
        Some(agent) => marks.push(format!("shared by {agent}")),
        None if note.file.document.has(Mark::Shared) => marks.push("shared".to_owned()),
        None => {}
    }
    let changed = written(note.file.changed);
    marks.push(format!("changed {}", day(&changed)));
    format!(
        "{}: {} ({})",
        note.name(),
        printable(&note.file.title()),
        marks.join(", ")
    )
}

fn structured(note: &Note) -> Value {
    json!({
        "note": note.name(),
        "title": note.file.title(),
        "pinned": note.is_pinned(),
        "shared": note.file.document.has(Mark::Shared),
        "changed": written(note.file.changed),
        "version": note.file.version,
    })
}
