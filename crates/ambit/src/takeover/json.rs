//! Edits of JSON with comments that leave everything else byte for byte.

use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::OWN_NAME;
use super::rewire::EditError;
use crate::config::SYNTAX;

/// Members in the order they are to be written.
pub(super) type Members = Vec<(String, Value)>;

/// Adds members to the object at a path, which is made where it is missing. A member that is
/// there already is replaced.
pub fn insert_members(
    text: &str,
    path: &[&str],
    members: &[(String, Members)],
) -> Result<String, EditError> {
    let (root, section) = open(text, path)?;
    for (name, value) in members {
        let value = ordered(value);
        match section.get(name) {
            Some(existing) => existing.set_value(value),
            None => {
                section.append(name, value);
            }
        }
    }
    Ok(root.to_string())
}

/// Sets members of the object at a path, which is made where it is missing; `null` takes one out.
pub fn edit_members(
    text: &str,
    path: &[&str],
    members: &[(String, Value)],
) -> Result<String, EditError> {
    let (root, section) = open(text, path)?;
    for (name, value) in members {
        match (section.get(name), value) {
            (Some(member), Value::Null) => member.remove(),
            (None, Value::Null) => {}
            (Some(member), value) => member.set_value(input(value)),
            (None, value) => {
                section.append(name, input(value));
            }
        }
    }
    Ok(root.to_string())
}

/// Takes a member out of the object at a path. Nothing where it is not there.
pub fn remove_member(text: &str, path: &[&str], name: &str) -> Result<Option<String>, EditError> {
    let root = parse(text)?;
    let mut object = root.object_value();
    for step in path {
        object = object.and_then(|it| it.object_value(step));
    }
    let Some(member) = object.and_then(|it| it.get(name)) else {
        return Ok(None);
    };
    member.remove();
    Ok(Some(root.to_string()))
}

/// Takes members out of a section and adds one. Where nothing else is left, the section is
/// written anew: comments about what was there have nothing to stand beside.
pub(super) fn rewire(
    text: &str,
    path: &[&str],
    taken: &[&str],
    own: (&str, &[(String, Value)]),
) -> Result<String, EditError> {
    let (root, section) = open(text, path)?;
    let (name, value) = own;
    let names = section.properties();
    let stays = |name: Option<String>| name.is_none_or(|it| !taken.contains(&it.as_str()));
    if !names.iter().any(|it| stays(it.decoded_name())) {
        let replacement = CstInputValue::Object(vec![(name.to_owned(), ordered(value))]);
        if section.replace_with(replacement).is_none() {
            return Err(EditError::Layout);
        }
        return Ok(root.to_string());
    }
    for taken in taken {
        if let Some(member) = section.get(taken) {
            member.remove();
        }
    }
    section.append(name, ordered(value));
    Ok(root.to_string())
}

/// Takes Ambit out of a section and puts members of an earlier text back.
pub(super) fn put_back(
    text: &str,
    path: &[&str],
    earlier: &str,
    names: &[&str],
) -> Result<String, EditError> {
    let (root, section) = open(text, path)?;
    let (_root, earlier) = open(earlier, path)?;
    if let Some(own) = section.get(OWN_NAME) {
        own.remove();
    }
    for name in names {
        let value = earlier.get(name).and_then(|it| it.value());
        section.append(name, again(&value.ok_or(EditError::Layout)?)?);
    }
    Ok(root.to_string())
}

/// A part of one text, to be written into another in the same order.
fn again(node: &CstNode) -> Result<CstInputValue, EditError> {
    let part = |node: Option<CstNode>| again(&node.ok_or(EditError::Layout)?);
    if let Some(object) = node.as_object() {
        let members = object.properties().into_iter();
        let members = members.map(|it| {
            let name = it.decoded_name().ok_or(EditError::Layout)?;
            Ok((name, part(it.value())?))
        });
        return Ok(CstInputValue::Object(members.collect::<Result<_, _>>()?));
    }
    if let Some(array) = node.as_array() {
        let items = array.elements().into_iter().map(|it| part(Some(it)));
        return Ok(CstInputValue::Array(items.collect::<Result<_, _>>()?));
    }
    if let Some(text) = node.as_string_lit() {
        let text = text.decoded_value().map_err(|_| EditError::Malformed)?;
        return Ok(CstInputValue::String(text));
    }
    if let Some(it) = node.as_boolean_lit() {
        return Ok(CstInputValue::Bool(it.value()));
    }
    match node.as_number_lit() {
        Some(number) => Ok(CstInputValue::Number(number.to_string())),
        None => Ok(CstInputValue::Null),
    }
}

fn open(text: &str, path: &[&str]) -> Result<(CstRootNode, CstObject), EditError> {
    let text = match text.trim().is_empty() {
        true => "{}\n",
        false => text,
    };
    let root = parse(text)?;
    let mut object = root.object_value().ok_or(EditError::Layout)?;
    for step in path {
        object = object
            .object_value_or_create(step)
            .ok_or(EditError::Layout)?;
    }
    Ok((root, object))
}

fn parse(text: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &SYNTAX).map_err(|_| EditError::Malformed)
}

fn ordered(members: &[(String, Value)]) -> CstInputValue {
    let members = members.iter();
    CstInputValue::Object(
        members
            .map(|(name, value)| (name.clone(), input(value)))
            .collect(),
    )
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(it) => CstInputValue::Bool(*it),
        Value::Number(it) => CstInputValue::Number(it.to_string()),
        Value::String(it) => CstInputValue::String(it.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}
