//! Goose's YAML: read as a value, edited by whole lines.
//!
//! No small library writes YAML back as it was. The part that is edited has one layout wherever
//! Goose wrote it: a key at the margin, an entry per indented block. A file of another layout is
//! left alone; whoever edits checks that the result says what it should before it is used.

use serde_json::Value;

use super::OWN_NAME;
use super::rewire::EditError;

/// A file's value.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    serde_saphyr::from_str(text).map_err(|error| match error.location() {
        Some(at) => format!("line {}: it is not YAML", at.line()),
        None => "it is not YAML".to_owned(),
    })
}

/// Takes entries out of a section at the margin and adds one at its top.
pub(super) fn rewire(
    text: &str,
    path: &[&str],
    taken: &[&str],
    own: (&str, &[(String, Value)]),
) -> Result<String, EditError> {
    let mut layout = Layout::of(text, path)?;
    layout
        .entries
        .retain(|it| !taken.contains(&it.key.as_str()));
    let own = layout.entry(own)?;
    layout.entries.insert(0, own);
    Ok(layout.text())
}

/// Takes Ambit out of a section and puts entries of an earlier text back.
pub(super) fn put_back(
    text: &str,
    path: &[&str],
    earlier: &str,
    names: &[&str],
) -> Result<String, EditError> {
    let mut layout = Layout::of(text, path)?;
    let earlier = Layout::of(earlier, path)?;
    if layout.step != earlier.step {
        return Err(EditError::Layout);
    }
    layout.entries.retain(|it| it.key != OWN_NAME);
    let back = earlier.entries.into_iter();
    let back = back.filter(|it| names.contains(&it.key.as_str()));
    layout.entries.extend(back);
    Ok(layout.text())
}

/// A file around the entries of one section.
struct Layout {
    head: String,
    entries: Vec<Entry>,
    tail: String,
    /// How far entries are indented.
    step: usize,
    line_end: &'static str,
}

/// An entry's lines, with the comments above it.
struct Entry {
    key: String,
    lines: String,
}

impl Layout {
    fn of(text: &str, path: &[&str]) -> Result<Layout, EditError> {
        let [section] = path else {
            return Err(EditError::Layout);
        };
        let line_end = match text.contains("\r\n") {
            true => "\r\n",
            false => "\n",
        };
        let begins = format!("{section}:");
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let at = lines.iter().position(|it| it.trim_end() == begins);
        let (head, rest) = lines.split_at(at.map_or(lines.len(), |it| it + 1));
        let first = rest.iter().find(|it| says_something(it));
        let step = first.map_or(0, |it| indent(it));
        if step == 0 {
            return Err(EditError::Layout);
        }
        let mut layout = Layout {
            head: head.concat(),
            entries: Vec::new(),
            tail: String::new(),
            step,
            line_end,
        };
        layout.fill(rest);
        Ok(layout)
    }

    fn fill(&mut self, lines: &[&str]) {
        // Comments and blank lines belong to what follows them.
        let mut pending = String::new();
        let mut lines = lines.iter();
        for line in lines.by_ref() {
            if !says_something(line) {
                pending.push_str(line);
                continue;
            }
            let indent = indent(line);
            if indent == 0 {
                pending.push_str(line);
                break;
            }
            if indent == self.step {
                let key = line.trim().trim_end_matches(':');
                self.entries.push(Entry {
                    key: key.trim_matches(['"', '\'']).to_owned(),
                    lines: String::new(),
                });
            }
            if let Some(entry) = self.entries.last_mut() {
                entry.lines.push_str(&std::mem::take(&mut pending));
                entry.lines.push_str(line);
                if !line.ends_with('\n') {
                    entry.lines.push_str(self.line_end);
                }
            }
        }
        self.tail = pending;
        self.tail.extend(lines.copied());
    }

    /// Values are written as JSON, which YAML includes.
    fn entry(&self, (key, members): (&str, &[(String, Value)])) -> Result<Entry, EditError> {
        let (margin, end) = (" ".repeat(self.step), self.line_end);
        let mut lines = format!("{margin}{key}:{end}");
        for (key, value) in members {
            match value {
                Value::Array(items) => {
                    lines.push_str(&format!("{margin}{margin}{key}:{end}"));
                    for it in items {
                        lines.push_str(&format!("{margin}{margin}- {it}{end}"));
                    }
                }
                Value::Object(_) => return Err(EditError::Layout),
                value => lines.push_str(&format!("{margin}{margin}{key}: {value}{end}")),
            }
        }
        Ok(Entry {
            key: key.to_owned(),
            lines,
        })
    }

    fn text(self) -> String {
        let entries = self.entries.into_iter().map(|it| it.lines);
        let entries: String = entries.collect();
        [self.head, entries, self.tail].concat()
    }
}

fn says_something(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty() && !text.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
