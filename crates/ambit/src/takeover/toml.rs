//! Codex's TOML: read as a value, edited in place.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::OWN_NAME;
use super::rewire::EditError;

/// A file's value. Dates mean nothing in the part that is looked at, and become texts.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |it| it.start);
        let line = text.get(..at).unwrap_or("").matches('\n').count() + 1;
        format!("line {line}: {}", error.message())
    })?;
    Ok(table(document.as_table()))
}

fn table(table: &dyn TableLike) -> Value {
    let entries = table.iter();
    let entries = entries.map(|(key, item)| (key.to_owned(), of_item(item)));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(it) => table(it),
        Item::ArrayOfTables(tables) => tables.iter().map(|it| table(it)).collect(),
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(it) => Value::String(it.value().clone()),
        toml_edit::Value::Integer(it) => Value::from(*it.value()),
        toml_edit::Value::Float(it) => Value::from(*it.value()),
        toml_edit::Value::Boolean(it) => Value::Bool(*it.value()),
        toml_edit::Value::Datetime(it) => Value::String(it.value().to_string()),
        toml_edit::Value::Array(it) => it.iter().map(of_value).collect(),
        toml_edit::Value::InlineTable(it) => table(it),
    }
}

/// Takes tables out of a section and adds one.
pub(super) fn rewire(
    text: &str,
    path: &[&str],
    taken: &[&str],
    own: (&str, &[(String, Value)]),
) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse().map_err(|_| EditError::Malformed)?;
    let section = section(&mut document, path)?;
    taken.iter().for_each(|name| {
        section.remove(name);
    });
    let (name, members) = own;
    let mut table = Table::new();
    for (key, member) in members {
        table.insert(key, item(member)?);
    }
    section.insert(name, Item::Table(table));
    Ok(written(&document, text))
}

/// Takes Ambit out of a section and puts tables of an earlier text back.
pub(super) fn put_back(
    text: &str,
    path: &[&str],
    earlier: &str,
    names: &[&str],
) -> Result<String, EditError> {
    let parse = |text: &str| {
        text.parse::<DocumentMut>()
            .map_err(|_| EditError::Malformed)
    };
    let (mut document, mut earlier) = (parse(text)?, parse(earlier)?);
    let earlier = section(&mut earlier, path)?;
    let now = section(&mut document, path)?;
    now.remove(OWN_NAME);
    for name in names {
        let table = earlier.remove(name).ok_or(EditError::Layout)?;
        now.insert(name, table);
    }
    Ok(written(&document, text))
}

fn section<'a>(
    document: &'a mut DocumentMut,
    path: &[&str],
) -> Result<&'a mut dyn TableLike, EditError> {
    let mut section: &mut dyn TableLike = document.as_table_mut();
    for step in path {
        let item = section.entry(step).or_insert_with(|| {
            let mut made = Table::new();
            made.set_implicit(true);
            Item::Table(made)
        });
        section = item.as_table_like_mut().ok_or(EditError::Layout)?;
    }
    Ok(section)
}

/// With the line ends the text had; the writer has its own.
fn written(document: &DocumentMut, text: &str) -> String {
    let written = document.to_string();
    match text.contains("\r\n") && !written.contains("\r\n") {
        true => written.replace('\n', "\r\n"),
        false => written,
    }
}

fn item(member: &Value) -> Result<Item, EditError> {
    Ok(match member {
        Value::String(it) => value(it.as_str()),
        Value::Bool(it) => value(*it),
        Value::Array(items) => {
            let words = items.iter().map(|it| it.as_str().ok_or(EditError::Layout));
            value(words.collect::<Result<Array, _>>()?)
        }
        _ => return Err(EditError::Layout),
    })
}
