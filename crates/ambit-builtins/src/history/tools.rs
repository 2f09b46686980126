//! The tools: what a model may say to them, and what it is told.

use ambit_core::effects::Effects;
use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};

use super::index::Reached;
use super::message::Message;
use super::threads::{Hit, Thread, Threads};
use crate::asked::Asked;
use crate::declare::{arguments, object};
use crate::moment::day;
use crate::pack::Tool;

const MOST_FOUND: usize = 20;
const MOST_READ: usize = 200;
/// Characters of the message that was found, and of those around it.
const MATCH_CHARACTERS: usize = 600;
const AROUND_CHARACTERS: usize = 200;
/// Characters of a message that is read, and of all of one answer.
const READ_CHARACTERS: usize = 8000;
const PAGE_CHARACTERS: usize = 40_000;

/// Every tool, in the order it is listed.
pub(super) const TOOLS: &[Tool<Threads>] = &[
    Tool {
        name: "search_threads",
        title: "Search threads",
        description: "Search earlier conversations by words that were said, called or returned. \
            Use it when the user refers to something from before, or to see how something was \
            done last time. Gives the best place of each conversation with what is around it; \
            read_thread reads on from there.",
        effects: Effects::READS,
        risk: None,
        permissions: &["history:read"],
        tags: &["history"],
        needs: &[],
        input: search_input,
        output: None,
        run: search,
    },
    Tool {
        name: "read_thread",
        title: "Read thread",
        description: "Read an earlier conversation, message by message, from the beginning or \
            from a message search_threads has found.",
        effects: Effects::READS,
        risk: None,
        permissions: &["history:read"],
        tags: &["history"],
        needs: &[],
        input: read_input,
        output: None,
        run: read,
    },
];

fn search_input() -> Value {
    object(
        &["query"],
        json!({
            "query": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Words to look for. Conversations with all of them in one message come first.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": 5,
                "description": "At most so many conversations.",
            },
        }),
    )
}

fn read_input() -> Value {
    object(
        &["thread"],
        json!({
            "thread": {
                "type": "string", "minLength": 1, "maxLength": 128,
                "description": "Which conversation, as search_threads names it.",
            },
            "from": {
                "type": "integer", "minimum": 0, "default": 0,
                "description": "Begin at the message of this number.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_READ, "default": 50,
                "description": "At most so many messages.",
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<usize>,
}

fn search(threads: &Threads, value: Value) -> Result<Output, Failure> {
    let Search { query, limit } = arguments(value)?;
    let asked = Asked::of(&query);
    if asked.is_empty() {
        return Err(Failure::refused(
            "`query` has no words to look for: say what the conversation was about",
        ));
    }
    let found = threads.search(&asked, limit.unwrap_or(5).min(MOST_FOUND))?;
    let mut text: Vec<String> = found.hits.iter().map(|it| shown(it, &asked)).collect();
    if text.is_empty() {
        text.push("no earlier conversation has any of these words; try others".to_owned());
    }
    if found.reached == Reached::Part {
        text.push(
            "the latest part of a long history is not in this yet: search again for it".to_owned(),
        );
    }
    let structured = found.hits.iter().map(|it| structured(it, &asked));
    let output = Output::text(text.join("\n\n"))
        .with_structured(json!({ "threads": structured.collect::<Vec<_>>() }));
    let untrusted = found.hits.iter().any(|it| it.thread.untrusted);
    Ok(marked(output, untrusted))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    thread: String,
    #[serde(default)]
    from: i64,
    limit: Option<usize>,
}

fn read(threads: &Threads, value: Value) -> Result<Output, Failure> {
    let Read {
        thread,
        from,
        limit,
    } = arguments(value)?;
    let page = threads.read(&thread, from, limit.unwrap_or(50).min(MOST_READ))?;
    let mut lines = vec![headline(&page.thread)];
    let mut messages = Vec::new();
    let mut next = page.next;
    let mut room = PAGE_CHARACTERS;
    for message in &page.messages {
        let text = cut(&message.text, READ_CHARACTERS);
        if text.len() > room && !messages.is_empty() {
            next = Some(message.number);
            break;
        }
        room = room.saturating_sub(text.len());
        lines.push(line(message, &text));
        messages.push(entry(message, &text));
    }
    if messages.is_empty() {
        lines.push("there is nothing from this number on".to_owned());
    }
    if let Some(next) = next {
        lines.push(format!("it goes on with {{\"from\":{next}}}"));
    }
    let structured = json!({
        "thread": page.thread.id,
        "title": page.thread.title,
        "messages": messages,
        "next": next,
    });
    let output = Output::text(lines.join("\n")).with_structured(structured);
    Ok(marked(output, page.thread.untrusted))
}

/// What came from outside once is not of this agent's own making now.
fn marked(output: Output, untrusted: bool) -> Output {
    match untrusted {
        true => output.from_outside(),
        false => output,
    }
}

fn shown(hit: &Hit, asked: &Asked) -> String {
    let mut lines = vec![headline(&hit.thread)];
    for message in &hit.messages {
        let text = excerpt(hit, message, asked);
        let sign = if message.number == hit.number {
            ">"
        } else {
            " "
        };
        lines.push(format!("{sign} {}", line(message, &text)));
    }
    lines.join("\n")
}

fn structured(hit: &Hit, asked: &Asked) -> Value {
    let messages = hit.messages.iter();
    let messages = messages.map(|it| entry(it, &excerpt(hit, it, asked)));
    json!({
        "thread": hit.thread.id,
        "title": hit.thread.title,
        "imported": hit.thread.is_imported,
        "match": hit.number,
        "messages": messages.collect::<Vec<_>>(),
    })
}

fn headline(thread: &Thread) -> String {
    let title = match thread.title.as_str() {
        "" => "without a goal",
        title => title,
    };
    let mut about: Vec<String> = Vec::new();
    about.extend(thread.first_at.as_deref().map(|it| day(it).to_owned()));
    if thread.is_imported {
        about.push("imported".to_owned());
    }
    match about.is_empty() {
        true => format!("{}: {title}", thread.id),
        false => format!("{}: {title} ({})", thread.id, about.join(", ")),
    }
}

fn line(message: &Message, text: &str) -> String {
    format!("[{}] {}: {text}", message.number, message.role.as_str())
}

fn entry(message: &Message, text: &str) -> Value {
    json!({
        "number": message.number,
        "role": message.role.as_str(),
        "at": message.at,
        "text": text,
    })
}

fn excerpt(hit: &Hit, message: &Message, asked: &Asked) -> String {
    match message.number == hit.number {
        true => near(&message.text, asked, MATCH_CHARACTERS),
        false => cut(&message.text, AROUND_CHARACTERS),
    }
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// The part of a text in which the first of the words is.
fn near(text: &str, asked: &Asked, most: usize) -> String {
    let lower = text.to_lowercase();
    let first = asked.words().iter().filter_map(|it| lower.find(it)).min();
    // Lower case may have other lengths; a character more or less does not matter.
    let before = first.map_or(0, |at| lower.get(..at).map_or(0, |it| it.chars().count()));
    let from = before.saturating_sub(most / 3);
    let rest: String = text.chars().skip(from).collect();
    match from {
        0 => cut(&rest, most),
        _ => format!("…{}", cut(&rest, most)),
    }
}
