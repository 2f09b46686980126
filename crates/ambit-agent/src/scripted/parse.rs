//! From a file to a script: JSON with comments and trailing commas, and nothing that a script does
//! not have. What is wrong is said with its line and column.

use std::path::Path;

use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use thiserror::Error;

use super::script::Script;

/// The largest script that is read.
const MAX_BYTES: u64 = 16 << 20;

/// Why a script cannot be read, or does not go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScriptError {
    /// It is not there, or cannot be read.
    #[error("`{path}` cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// It is not what a script looks like.
    #[error("{}line {line}, column {column}: {message}", prefix(path))]
    Malformed {
        /// The file, where it came from one.
        path: Option<String>,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The model was not shown what it expects.
    #[error("turn {turn} of the script {unmet}")]
    Unmet {
        /// Which turn, from 1.
        turn: usize,
        /// What it expected, and what there was.
        unmet: String,
    },
    /// It was asked for more turns than it has.
    #[error("the script ends after turn {turns}, and another one was asked for")]
    Over {
        /// How many it has.
        turns: usize,
    },
}

fn prefix(path: &Option<String>) -> String {
    path.as_ref()
        .map_or(String::new(), |it| format!("`{it}`, "))
}

impl ScriptError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            ScriptError::Unreadable { .. } => {
                "name a file of model turns, as docs/agents.md has it"
            }
            ScriptError::Malformed { .. } => {
                "a script is `{\"turns\": [{\"expect\": {…}, \"say\": \"…\", \"calls\": [{\"tool\": \"…\", \"input\": {…}}]}]}`"
            }
            ScriptError::Unmet { .. } => {
                "`ambit diff` and `ambit explain` say what became visible and why; else change `expect`"
            }
            ScriptError::Over { .. } => "end the script with a turn that calls nothing",
        })
    }
}

impl Script {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Script, ScriptError> {
        let unreadable = |reason: String| ScriptError::Unreadable {
            path: path.display().to_string(),
            reason,
        };
        let size = std::fs::metadata(path).map_err(|it| unreadable(it.to_string()))?;
        if size.len() > MAX_BYTES {
            return Err(unreadable(format!("it is larger than {MAX_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|it| unreadable(it.to_string()))?;
        Script::parse(&text).map_err(|error| match error {
            ScriptError::Malformed {
                line,
                column,
                message,
                ..
            } => ScriptError::Malformed {
                path: Some(path.display().to_string()),
                line,
                column,
                message,
            },
            other => other,
        })
    }

    /// Reads a text.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let plain = plain(text)?;
        // Once for keys that stand twice, anywhere; once for the shape.
        let strict = ambit_core::json::parse_strict(&plain);
        let script = strict.and_then(|_| serde_json::from_str(&plain));
        script.map_err(|error| {
            let message = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            malformed(
                error.line(),
                error.column(),
                message.strip_suffix(&place).unwrap_or(&message),
            )
        })
    }
}

fn malformed(line: usize, column: usize, message: impl Into<String>) -> ScriptError {
    ScriptError::Malformed {
        path: None,
        line,
        column,
        message: message.into(),
    }
}

/// The same JSON without comments and trailing commas, with spaces in their place: every place
/// stays where it was.
fn plain(text: &str) -> Result<String, ScriptError> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::AsTokens,
        tokens: true,
    };
    let syntax = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &collect, &syntax).map_err(|error| {
        let before = text.get(..error.range().start).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(start..).unwrap_or("").chars().count() + 1;
        let message = error.kind().to_string();
        let mut letters = message.chars();
        let first = letters.next().map(|it| it.to_ascii_lowercase());
        let message: String = first.into_iter().chain(letters).collect();
        malformed(before.matches('\n').count() + 1, column, message)
    })?;
    if parsed.value.is_none() {
        return Err(malformed(1, 1, "the file says nothing"));
    }
    let tokens = parsed.tokens.unwrap_or_default();
    let said: Vec<&TokenAndRange<'_>> = tokens
        .iter()
        .filter(|it| !matches!(it.token, Token::CommentLine(_) | Token::CommentBlock(_)))
        .collect();
    let mut plain: Vec<u8> = text
        .bytes()
        .map(|it| if it == b'\n' { b'\n' } else { b' ' })
        .collect();
    for (n, token) in said.iter().enumerate() {
        let closes = said
            .get(n + 1)
            .is_some_and(|it| matches!(it.token, Token::CloseBrace | Token::CloseBracket));
        if token.token == Token::Comma && closes {
            continue;
        }
        let range = token.range.start..token.range.end;
        if let (Some(to), Some(from)) = (plain.get_mut(range.clone()), text.as_bytes().get(range)) {
            to.copy_from_slice(from);
        }
    }
    // Whole tokens and spaces are UTF-8.
    Ok(String::from_utf8(plain).unwrap_or_default())
}
