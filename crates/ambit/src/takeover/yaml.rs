//! Goose's YAML: read as a value, edited by whole lines.
//!
//! No small library writes YAML back as it was. The part that is edited has one layout wherever
//! Goose wrote it: a key at the margin, an entry per indented block. A file of another layout is
//! left alone; `rewire` checks that the result says what it should before it is used.

use serde_json::Value;

use super::rewire::EditError;

/// A file's value.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    serde_saphyr::from_str(text).map_err(|error| match error.location() {
        Some(at) => format!("line {}: it is not YAML", at.line()),
        None => "it is not YAML".to_owned(),
    })
}

/// Takes blocks out of a section at the margin and adds one at its top.
pub(super) fn rewire(
    text: &str,
    path: &[&str],
    taken: &[&str],
    own: (&str, &[(String, Value)]),
) -> Result<String, EditError> {
    let [section] = path else {
        return Err(EditError::Layout);
    };
    let end = match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    };
    let (mut before, mut inside, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = Part::Before;
    for line in text.split_inclusive('\n') {
        let says_something = !line.trim().is_empty() && !line.trim_start().starts_with('#');
        match at {
            Part::Before => {
                if line.trim_end() == format!("{section}:") {
                    at = Part::Inside;
                }
                before.push(line);
                continue;
            }
            Part::Inside if says_something && indent(line) == 0 => at = Part::After,
            Part::Inside | Part::After => {}
        }
        match at {
            Part::Inside => inside.push(line),
            Part::Before | Part::After => after.push(line),
        }
    }
    let step = inside
        .iter()
        .find(|it| !it.trim().is_empty() && !it.trim_start().starts_with('#'))
        .map(|it| indent(it))
        .filter(|it| *it > 0)
        .ok_or(EditError::Layout)?;
    let mut out = before.concat();
    if !out.ends_with('\n') {
        out.push_str(end);
    }
    out.push_str(&block(own, step, end)?);
    let mut dropping = false;
    for line in inside {
        if !line.trim().is_empty() && indent(line) == step && !line.trim_start().starts_with('#') {
            let key = line.trim().trim_end_matches(':').trim_matches(['"', '\'']);
            dropping = taken.contains(&key);
        }
        if !dropping {
            out.push_str(line);
        }
    }
    out.push_str(&after.concat());
    Ok(out)
}

#[derive(Clone, Copy)]
enum Part {
    Before,
    Inside,
    After,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Values are written as JSON, which YAML includes.
fn block(own: (&str, &[(String, Value)]), step: usize, end: &str) -> Result<String, EditError> {
    let (name, members) = own;
    let margin = " ".repeat(step);
    let mut out = format!("{margin}{name}:{end}");
    for (key, value) in members {
        match value {
            Value::Array(items) => {
                out.push_str(&format!("{margin}{margin}{key}:{end}"));
                for it in items {
                    out.push_str(&format!("{margin}{margin}- {it}{end}"));
                }
            }
            Value::Object(_) => return Err(EditError::Layout),
            value => out.push_str(&format!("{margin}{margin}{key}: {value}{end}")),
        }
    }
    Ok(out)
}
