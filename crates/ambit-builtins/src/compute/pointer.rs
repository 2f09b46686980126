//! One operation of a JSON Patch on a document, at the places JSON Pointers (RFC 6901) name.

use ambit_core::observation::Failure;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::budget::Budget;
use super::document::weigh;
use super::json_path::same;

/// An operation, as it is written. Members it does not know are ignored, as the standard says.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(super) enum Operation {
    Add { path: Pointer, value: Value },
    Remove { path: Pointer },
    Replace { path: Pointer, value: Value },
    Move { from: Pointer, path: Pointer },
    Copy { from: Pointer, path: Pointer },
    Test { path: Pointer, value: Value },
}

/// A place in a document: the names and indexes that lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer(Vec<String>);

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Pointer::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`{text}` is not a JSON Pointer: it is empty or begins with `/`, with `~0` for `~` and `~1` for `/`"
            ))
        })
    }
}

impl Pointer {
    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Pointer(Vec::new()));
        }
        let token = |token: &str| {
            let other_tilde = token.replace("~0", "").replace("~1", "").contains('~');
            (!other_tilde).then(|| token.replace("~1", "/").replace("~0", "~"))
        };
        let tokens = text.strip_prefix('/')?.split('/').map(token);
        tokens.collect::<Option<_>>().map(Pointer)
    }

    fn written(&self) -> String {
        let escaped = |it: &String| format!("/{}", it.replace('~', "~0").replace('/', "~1"));
        self.0.iter().map(escaped).collect()
    }

    fn find<'v>(&self, document: &'v Value) -> Result<&'v Value, Failure> {
        let found = self
            .0
            .iter()
            .try_fold(document, |value, token| match value {
                Value::Object(members) => members.get(token),
                Value::Array(items) => items.get(index(token)?),
                _ => None,
            });
        found.ok_or_else(|| self.missing())
    }

    fn find_mut<'v>(&self, document: &'v mut Value) -> Result<&'v mut Value, Failure> {
        let found = self
            .0
            .iter()
            .try_fold(document, |value, token| match value {
                Value::Object(members) => members.get_mut(token),
                Value::Array(items) => items.get_mut(index(token)?),
                _ => None,
            });
        found.ok_or_else(|| self.missing())
    }

    /// Where its last token is looked up, and that token.
    fn split(&self) -> Option<(Pointer, &str)> {
        let (last, parent) = self.0.split_last()?;
        Some((Pointer(parent.to_vec()), last))
    }

    fn missing(&self) -> Failure {
        Failure::refused(format!("there is nothing at `{}`", self.written()))
    }
}

/// Digits without leading zeros.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| plain)
}

/// Does it, or leaves the document to be thrown away.
pub(super) fn apply(
    document: &mut Value,
    operation: Operation,
    budget: &mut Budget<'_>,
) -> Result<(), Failure> {
    budget.steps(100)?;
    match operation {
        Operation::Add { path, value } => add(document, &path, value, budget),
        Operation::Remove { path } => remove(document, &path, budget).map(drop),
        Operation::Replace { path, value } => {
            weigh(&value, path.0.len(), budget)?;
            *path.find_mut(document)? = value;
            Ok(())
        }
        Operation::Move { from, path } => {
            if path.0.starts_with(&from.0) && path != from {
                return Err(Failure::refused(format!(
                    "`{}` cannot be moved into itself",
                    from.written()
                )));
            }
            let value = remove(document, &from, budget)?;
            add(document, &path, value, budget)
        }
        Operation::Copy { from, path } => {
            let value = from.find(document)?;
            // Before it is copied: copies of copies grow fast.
            weigh(value, path.0.len(), budget)?;
            let value = value.clone();
            add(document, &path, value, budget)
        }
        Operation::Test { path, value } => {
            if same(path.find(document)?, &value, budget)? {
                return Ok(());
            }
            Err(Failure::refused(format!(
                "the value at `{}` is another one",
                path.written()
            )))
        }
    }
}

fn add(
    document: &mut Value,
    path: &Pointer,
    value: Value,
    budget: &mut Budget<'_>,
) -> Result<(), Failure> {
    weigh(&value, path.0.len(), budget)?;
    let Some((parent, token)) = path.split() else {
        *document = value;
        return Ok(());
    };
    match parent.find_mut(document)? {
        Value::Object(members) => {
            members.insert(token.to_owned(), value);
            Ok(())
        }
        Value::Array(items) => {
            let at = match token {
                "-" => Some(items.len()),
                token => index(token).filter(|it| *it <= items.len()),
            };
            let at = at.ok_or_else(|| {
                Failure::refused(format!(
                    "`{token}` is no place in an array of {}: give an index, or `-` for its end",
                    items.len()
                ))
            })?;
            budget.steps((items.len() - at) as u64)?;
            items.insert(at, value);
            Ok(())
        }
        _ => Err(Failure::refused(format!(
            "`{}` is neither an object nor an array",
            parent.written()
        ))),
    }
}

fn remove(document: &mut Value, path: &Pointer, budget: &mut Budget<'_>) -> Result<Value, Failure> {
    let Some((parent, token)) = path.split() else {
        return Ok(document.take());
    };
    let removed = match parent.find_mut(document)? {
        Value::Object(members) => members.remove(token),
        Value::Array(items) => {
            budget.steps(items.len() as u64)?;
            let at = index(token).filter(|it| *it < items.len());
            at.map(|at| items.remove(at))
        }
        _ => None,
    };
    removed.ok_or_else(|| path.missing())
}
