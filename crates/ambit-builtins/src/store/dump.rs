//! Everything that is kept, as JSON, and back: table by table, so that no capability can be
//! forgotten.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Transaction, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Part, Store, StoreError, folder};

/// What a store holds, by capability key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dump(pub BTreeMap<String, PartDump>);

/// What one capability keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartDump {
    /// The version its tables have.
    pub version: i64,
    /// The rows of each table.
    pub tables: BTreeMap<String, Vec<Map<String, Value>>>,
    /// The files beside them, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Value>,
}

/// Capabilities that keep files a person would want to open, and the folder each keeps them in.
const WITH_FILES: &[(&str, &str)] = &[("notes", "notes"), ("self", "agents")];

fn folder_of(part: &str) -> Option<&'static str> {
    let found = WITH_FILES.iter().find(|(name, _)| *name == part);
    found.map(|(_, folder)| *folder)
}

impl Dump {
    /// How many entries it holds.
    pub fn rows(&self) -> usize {
        let parts = self.0.values();
        let entries = |it: &PartDump| -> usize {
            it.tables.values().map(Vec::len).sum::<usize>() + it.files.len()
        };
        parts.map(entries).sum()
    }
}

impl Store {
    /// All of it, as it is at one moment.
    pub fn export(&self) -> Result<Dump, StoreError> {
        let parts = self.parts.iter();
        self.read(|it| {
            parts
                .map(|part| {
                    let mut content = export(it, part)?;
                    if let Some(folder) = folder_of(part.name) {
                        content.files = folder::export(&self.folder.join(folder))?;
                    }
                    Ok((part.name.to_owned(), content))
                })
                .collect::<Result<_, StoreError>>()
                .map(Dump)
        })
    }

    /// Brings back what was exported: all rows or none, and with them the files. Entries that are
    /// there already are replaced by those of the same key; the rest stays.
    pub fn import(&self, dump: &Dump) -> Result<usize, StoreError> {
        self.write(|it| {
            // Rows refer to each other in both directions of time; what counts is the end.
            it.pragma_update(None, "defer_foreign_keys", true)?;
            let mut rows = 0;
            for (name, content) in &dump.0 {
                let part = self.parts.iter().find(|it| it.name == name);
                let part = part.ok_or_else(|| unknown(name))?;
                rows += import(it, part, content)?;
            }
            // Last: a row that does not fit must not leave files behind.
            for (name, content) in &dump.0 {
                match folder_of(name) {
                    Some(folder) => {
                        rows += folder::import(&self.folder.join(folder), &content.files)?;
                    }
                    None if content.files.is_empty() => {}
                    None => return Err(StoreError::Import(format!("`{name}` keeps no files"))),
                }
            }
            Ok(rows)
        })
    }
}

fn unknown(name: &str) -> StoreError {
    StoreError::Import(format!(
        "the export holds `{name}`, which this version of ambit does not keep"
    ))
}

fn export(from: &Transaction<'_>, part: &Part) -> Result<PartDump, StoreError> {
    let mut tables = BTreeMap::new();
    for table in part.tables {
        // The names are constants of this crate.
        let mut rows = from.prepare(&format!("SELECT * FROM {table} ORDER BY rowid"))?;
        let columns: Vec<String> = rows.column_names().map(str::to_owned).collect();
        let rows = rows.query_map([], |row| {
            let cells = columns.iter().enumerate();
            cells
                .map(|(at, name)| Ok((name.clone(), to_json(row.get_ref(at)?))))
                .collect::<rusqlite::Result<Map<_, _>>>()
        })?;
        tables.insert((*table).to_owned(), rows.collect::<rusqlite::Result<_>>()?);
    }
    Ok(PartDump {
        version: part.version(),
        tables,
        files: BTreeMap::new(),
    })
}

fn import(into: &Transaction<'_>, part: &Part, content: &PartDump) -> Result<usize, StoreError> {
    let name = part.name;
    if content.version != part.version() {
        return Err(StoreError::Import(format!(
            "`{name}` was exported as version {} and is kept as version {} here; import it with the version of ambit that exported it, then upgrade",
            content.version,
            part.version()
        )));
    }
    if let Some(table) = content
        .tables
        .keys()
        .find(|it| !part.tables.contains(&it.as_str()))
    {
        return Err(StoreError::Import(format!(
            "`{name}` has no table `{table}`"
        )));
    }
    let mut count = 0;
    for table in part.tables {
        let columns: Vec<String> = {
            let statement = into.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
            statement.column_names().map(str::to_owned).collect()
        };
        for row in content.tables.get(*table).into_iter().flatten() {
            if let Some(column) = row.keys().find(|it| !columns.contains(it)) {
                return Err(StoreError::Import(format!(
                    "`{table}` has no column `{column}`"
                )));
            }
            let names: Vec<&str> = row.keys().map(String::as_str).collect();
            let places = vec!["?"; names.len()].join(", ");
            let cells = row.values().map(from_json).collect::<Result<Vec<_>, _>>()?;
            into.execute(
                &format!(
                    "INSERT OR REPLACE INTO {table} ({}) VALUES ({places})",
                    names.join(", ")
                ),
                params_from_iter(cells),
            )
            .map_err(|error| {
                StoreError::Import(format!("a row of `{table}` does not fit: {error}"))
            })?;
            count += 1;
        }
    }
    Ok(count)
}

fn to_json(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(it) => it.into(),
        ValueRef::Real(it) => it.into(),
        ValueRef::Text(it) => String::from_utf8_lossy(it).into_owned().into(),
        ValueRef::Blob(it) => json!({ "base64": STANDARD.encode(it) }),
    }
}

fn from_json(value: &Value) -> Result<Cell, StoreError> {
    let unfit = || StoreError::Import(format!("`{value}` is not a value of a column"));
    Ok(match value {
        Value::Null => Cell::Null,
        Value::Number(it) => match it.as_i64() {
            Some(it) => Cell::Integer(it),
            None => Cell::Real(it.as_f64().ok_or_else(unfit)?),
        },
        Value::String(it) => Cell::Text(it.clone()),
        Value::Object(it) => {
            let text = it.get("base64").and_then(Value::as_str).ok_or_else(unfit)?;
            Cell::Blob(STANDARD.decode(text).map_err(|_| unfit())?)
        }
        Value::Bool(_) | Value::Array(_) => return Err(unfit()),
    })
}

/// The content of a file: as text where it is text.
pub(super) fn json_of(content: Vec<u8>) -> Value {
    match String::from_utf8(content) {
        Ok(text) => text.into(),
        Err(raw) => to_json(ValueRef::Blob(raw.as_bytes())),
    }
}

/// The content of a file, back.
pub(super) fn bytes_of(value: &Value) -> Result<Vec<u8>, StoreError> {
    match from_json(value)? {
        Cell::Text(text) => Ok(text.into_bytes()),
        Cell::Blob(raw) => Ok(raw),
        _ => Err(StoreError::Import(format!(
            "`{value}` is not the content of a file"
        ))),
    }
}
