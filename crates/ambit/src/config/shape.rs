//! Does a document fit the schema? Each way it does not becomes a sentence about the file, not
//! about the schema: what is there, what may be there, and the word that was probably meant.

use std::borrow::Cow;
use std::sync::LazyLock;

use ambit_core::suggest::{did_you_mean, suggest};
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::jsonc::{Document, Spot, child};
use super::problem::{MAX_PROBLEMS, Problem};
use super::schema;

static VALIDATOR: LazyLock<Result<Validator, String>> = LazyLock::new(|| {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .offline()
        .build(schema::borrowed())
        .map_err(|error| error.to_string())
});

/// Every way the document does not fit.
pub(super) fn check(document: &Document) -> Vec<Problem> {
    let validator = match VALIDATOR.as_ref() {
        Ok(validator) => validator,
        Err(error) => return vec![Problem::error("internal", error.clone())],
    };
    let errors = validator.iter_errors(&document.value).take(MAX_PROBLEMS);
    let errors: Vec<_> = errors.collect();
    let misspelt: Vec<_> = errors.iter().flat_map(misspelt).collect();
    let mut problems = Vec::new();
    for error in errors
        .iter()
        .filter(|it| !missing(it).is_some_and(|it| misspelt.contains(&it)))
    {
        describe(error, document, &mut problems);
    }
    problems
}

/// The key an error says is missing, as a pointer.
fn missing(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        Kind::Required { property } => {
            Some(child(error.instance_path().as_str(), property.as_str()?))
        }
        _ => None,
    }
}

/// The keys that unknown ones were probably meant to be: those are not missing as well.
fn misspelt(error: &ValidationError<'_>) -> Vec<String> {
    let Kind::AdditionalProperties { unexpected } = error.kind() else {
        return Vec::new();
    };
    let known = known_keys(error);
    let meant = unexpected
        .iter()
        .take(MAX_PROBLEMS)
        .flat_map(|key| suggest(key, known.iter().copied()));
    meant
        .map(|key| child(error.instance_path().as_str(), &key))
        .collect()
}

fn describe(error: &ValidationError<'_>, document: &Document, problems: &mut Vec<Problem>) {
    let (code, message, hint) = match error.kind() {
        Kind::AdditionalProperties { unexpected } => {
            return unknown_keys(error, unexpected, document, problems);
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            return alternatives(error, context, document, problems);
        }
        Kind::Enum { .. } | Kind::Constant { .. } => {
            let (message, hint) = not_an_option(error.instance(), &options(error));
            ("not_an_option", message, hint)
        }
        Kind::Type { kind } => {
            let expected: Vec<&str> = match kind {
                TypeKind::Single(it) => vec![it.as_str()],
                TypeKind::Multiple(set) => set.iter().map(|it| it.as_str()).collect(),
            };
            ("wrong_type", wrong_type(&expected, error.instance()), None)
        }
        Kind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            ("missing_key", format!("`{property}` is missing"), None)
        }
        Kind::Minimum { limit } => ("out_of_range", format!("must be at least {limit}"), None),
        Kind::Maximum { limit } => ("out_of_range", format!("must be at most {limit}"), None),
        Kind::MinItems { .. } | Kind::MinLength { .. } => {
            ("out_of_range", "must not be empty".to_owned(), None)
        }
        // The schema uses nothing else; should it one day, the value itself is not quoted.
        _ => ("invalid", error.masked().to_string(), None),
    };
    // What is missing has no place of its own: its owner's name is the best there is.
    let spot = match error.kind() {
        Kind::Required { .. } => Spot::Key,
        _ => Spot::Value,
    };
    let place = document.place(error.instance_path().as_str(), spot);
    let problem = Problem::error(code, message).at(place);
    problems.push(Problem { hint, ..problem });
}

fn unknown_keys(
    error: &ValidationError<'_>,
    unexpected: &[String],
    document: &Document,
    problems: &mut Vec<Problem>,
) {
    let known = known_keys(error);
    for key in unexpected.iter().take(MAX_PROBLEMS) {
        let hint = did_you_mean(&suggest(key, known.iter().copied()))
            .or_else(|| (!known.is_empty()).then(|| format!("known here: {}", list(&known))));
        let pointer = child(error.instance_path().as_str(), key);
        let problem = Problem::error("unknown_key", format!("unknown key `{key}`"))
            .at(document.place(&pointer, Spot::Key));
        problems.push(Problem { hint, ..problem });
    }
}

/// A value that fits none of several forms: if one form is of the right type, its own problems
/// are the useful ones; otherwise say what the forms are.
fn alternatives(
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    document: &Document,
    problems: &mut Vec<Problem>,
) {
    let pointer = error.instance_path().as_str();
    let here = |it: &ValidationError<'_>| it.instance_path().as_str() == pointer;
    let options = branches.iter().flatten().flat_map(options);
    let options: Vec<&Value> = options.filter(|it| it.is_string()).collect();
    if !options.is_empty() && error.instance().is_string() {
        let (message, hint) = not_an_option(error.instance(), &options);
        let problem = Problem::error("not_an_option", message);
        let problem = problem.at(document.place(pointer, Spot::Value));
        problems.push(Problem { hint, ..problem });
        return;
    }
    let mut expected = Vec::new();
    for branch in branches {
        let wrong = branch.iter().find_map(|it| match it.kind() {
            Kind::Type {
                kind: TypeKind::Single(kind),
            } if here(it) => Some(kind.as_str()),
            _ => None,
        });
        match wrong {
            Some(kind) => expected.push(kind),
            None => {
                branch
                    .iter()
                    .take(MAX_PROBLEMS)
                    .for_each(|it| describe(it, document, problems));
                return;
            }
        }
    }
    expected.dedup();
    let message = wrong_type(&expected, error.instance());
    let place = document.place(pointer, Spot::Value);
    problems.push(Problem::error("wrong_type", message).at(place));
}

fn wrong_type(expected: &[&str], found: &Value) -> String {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("expected {}, found {found}", expected.join(" or "))
}

fn options<'a>(error: &'a ValidationError<'_>) -> Vec<&'a Value> {
    match error.kind() {
        Kind::Constant { expected_value } => vec![expected_value.as_ref()],
        Kind::Enum { options } => options.as_array().into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}

fn not_an_option(found: &Value, options: &[&Value]) -> (String, Option<String>) {
    let words: Vec<Cow<'_, str>> = options
        .iter()
        .map(|it| {
            it.as_str()
                .map_or_else(|| it.to_string().into(), Into::into)
        })
        .collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    // Only words are ever options, and a short one at that: quoting it leaks nothing.
    let found = found.as_str().filter(|it| it.chars().count() <= 40);
    let subject = found.map_or_else(|| "this".to_owned(), |it| format!("`{it}`"));
    let hint = found.and_then(|it| did_you_mean(&suggest(it, words.iter().copied())));
    (format!("{subject} is not one of {}", list(&words)), hint)
}

fn list(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|it| format!("`{it}`")).collect();
    quoted.join(", ")
}

/// The keys the schema has at the place where an unknown one was found.
fn known_keys(error: &ValidationError<'_>) -> Vec<&'static str> {
    let path = error.schema_path().as_str();
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = schema::borrowed()
        .pointer(parent)
        .and_then(|it| it.get("properties"))
        .and_then(Value::as_object);
    let keys = properties.into_iter().flat_map(|it| it.keys());
    keys.map(String::as_str).collect()
}
