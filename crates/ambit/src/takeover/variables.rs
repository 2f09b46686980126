//! Each client's placeholders in Ambit's words. What has no counterpart here is noted, and the
//! server is written switched off: one value that cannot be filled in would make the whole
//! configuration unusable.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::clients::ClientId;
use super::dialect::Launch;
use crate::secrets::is_name;

/// Something a person should know about a server that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A variable it needs is not set here.
    Unset(String),
    /// A variable it needs is set here, and has to be wherever Ambit is started.
    Needed(String),
    /// The client asked for a value; it has to be stored as a secret.
    Input(String),
    /// A value is kept by the client, out of reach.
    Elsewhere(String),
    /// A placeholder that means nothing here.
    Untranslatable(String),
    /// A default was put in for a variable that is not set.
    Default(String),
    /// It reads variables from a file.
    EnvFile,
    /// The client offered only some of its tools.
    SomeTools,
    /// Something in its arguments or address looks like a secret.
    SecretInSight,
    /// Its program was not found.
    Dead(String),
}

impl Note {
    /// Whether the server cannot work before somebody acts.
    pub fn switches_off(&self) -> bool {
        matches!(
            self,
            Note::Unset(_) | Note::Input(_) | Note::Untranslatable(_)
        )
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Note::Unset(_) => "variable_unset",
            Note::Needed(_) => "variable_needed",
            Note::Input(_) => "input_needed",
            Note::Elsewhere(_) => "value_elsewhere",
            Note::Untranslatable(_) => "placeholder_untranslatable",
            Note::Default(_) => "default_used",
            Note::EnvFile => "env_file",
            Note::SomeTools => "some_tools",
            Note::SecretInSight => "secret_in_sight",
            Note::Dead(_) => "command_not_found",
        }
    }

    /// For a person.
    pub fn text(&self) -> String {
        match self {
            Note::Unset(name) => {
                format!("`{name}` is not set here: set it, then take `disabled` out")
            }
            Note::Needed(name) => format!(
                "`{name}` has to be set for every client that starts Ambit; as a secret it is there for all"
            ),
            Note::Input(name) => format!(
                "`ambit secrets set {name}` stores what the client asks for; then take `disabled` out"
            ),
            Note::Elsewhere(name) => format!("the value of `{name}` is kept by the client"),
            Note::Untranslatable(text) => {
                format!("`{text}` means nothing outside its client: replace it, then take `disabled` out")
            }
            Note::Default(name) => format!("`{name}` is not set: its default was written"),
            Note::EnvFile => "its `envFile` is not read: put what it needs into `env`".to_owned(),
            Note::SomeTools => {
                "the client offered only some of its tools: `tools` of an agent's grant does that here".to_owned()
            }
            Note::SecretInSight => {
                "its arguments or address seem to hold a secret: `${secret:NAME}` works there as well".to_owned()
            }
            Note::Dead(program) => format!("`{program}` was not found"),
        }
    }
}

/// A launch in Ambit's words.
pub(super) struct Translated {
    pub(super) launch: Launch,
    pub(super) notes: Vec<Note>,
}

/// What one placeholder means.
enum Meaning {
    Variable(String),
    /// With a default.
    VariableOr(String, String),
    Home,
    Workspace,
    Separator,
    Input(String),
    Nothing,
}

pub(super) fn translate(
    client: ClientId,
    launch: &Launch,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Translated {
    let mut translation = Translation {
        client,
        variable,
        in_workspace: false,
        notes: Vec::new(),
    };
    let launch = match launch {
        Launch::Command {
            command,
            args,
            env,
            cwd,
        } => {
            // A relative path means the workspace only where the server starts there.
            translation.in_workspace = true;
            let cwd = cwd
                .as_deref()
                .map(|it| translation.text(it))
                .filter(|it| it != ".");
            translation.in_workspace = cwd.is_none();
            Launch::Command {
                command: translation.text(command),
                args: args.iter().map(|it| translation.text(it)).collect(),
                env: translation.values(env),
                cwd,
            }
        }
        Launch::Address { url, headers } => Launch::Address {
            url: translation.text(url),
            headers: translation.values(headers),
        },
    };
    Translated {
        launch,
        notes: translation.notes,
    }
}

struct Translation<'a> {
    client: ClientId,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    in_workspace: bool,
    notes: Vec<Note>,
}

impl Translation<'_> {
    fn values(&mut self, values: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let values = values.iter();
        values
            .map(|(key, value)| (key.clone(), self.text(value)))
            .collect()
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(found) = next(self.client, rest) {
            let (before, after) = (
                rest.get(..found.start).unwrap_or(""),
                rest.get(found.end..).unwrap_or(""),
            );
            out.push_str(&escaped(before));
            let whole = rest.get(found.start..found.end).unwrap_or("");
            let filled = {
                let begins = out.is_empty() || out.ends_with('=');
                self.fill(whole, &found.inside, begins)
            };
            out.push_str(&filled);
            rest = after;
        }
        out.push_str(&escaped(rest));
        out
    }

    fn fill(&mut self, whole: &str, inside: &str, begins: bool) -> String {
        match meaning(self.client, inside) {
            Meaning::Variable(name) => {
                let note = match (self.variable)(&name) {
                    Some(_) => Note::Needed(name.clone()),
                    None => Note::Unset(name.clone()),
                };
                self.note(note);
                format!("${{{name}}}")
            }
            Meaning::VariableOr(name, default) => match (self.variable)(&name) {
                Some(_) => {
                    self.note(Note::Needed(name.clone()));
                    format!("${{{name}}}")
                }
                None => {
                    self.note(Note::Default(name));
                    escaped(&default)
                }
            },
            Meaning::Home => "${HOME}".to_owned(),
            Meaning::Separator => "/".to_owned(),
            Meaning::Workspace if self.in_workspace && begins => ".".to_owned(),
            Meaning::Input(id) if is_name(&id) => {
                self.note(Note::Input(id.clone()));
                format!("${{secret:{id}}}")
            }
            Meaning::Workspace | Meaning::Input(_) | Meaning::Nothing => {
                self.note(Note::Untranslatable(whole.to_owned()));
                escaped(whole)
            }
        }
    }

    fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Plain text as Ambit reads it.
fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

struct Found {
    start: usize,
    end: usize,
    inside: String,
}

/// The next placeholder, as this client writes them.
fn next(client: ClientId, text: &str) -> Option<Found> {
    let braced = |open: &str| {
        let start = text.find(open)?;
        let inner = start + open.len();
        let length = text.get(inner..)?.find('}')?;
        Some(Found {
            start,
            end: inner + length + 1,
            inside: text.get(inner..inner + length)?.to_owned(),
        })
    };
    let named = |opens: &[&str]| {
        let found = opens.iter().filter_map(|open| {
            let found = braced(open)?;
            let kind = open.trim_start_matches(['$', '{']);
            let inside = format!("{kind}{}", found.inside);
            Some(Found { inside, ..found })
        });
        found.min_by_key(|it| it.start)
    };
    match client {
        ClientId::ClaudeDesktop | ClientId::Zed => None,
        ClientId::Opencode => named(&["{env:", "{file:"]),
        // Only what `dialect` wrote for variables these name in keys of their own.
        ClientId::Codex => named(&["${env:"]),
        ClientId::Goose => named(&["${input:"]),
        ClientId::GeminiCli => {
            let bare = bare_variable(text);
            match (braced("${"), bare) {
                (Some(braced), Some(bare)) if bare.start < braced.start => Some(bare),
                (Some(braced), _) => Some(braced),
                (None, bare) => bare,
            }
        }
        _ => braced("${"),
    }
}

/// `$NAME`.
fn bare_variable(text: &str) -> Option<Found> {
    for (start, _) in text.match_indices('$') {
        let name: String = text
            .get(start + 1..)?
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        if is_variable(&name) {
            let end = start + 1 + name.len();
            return Some(Found {
                start,
                end,
                inside: name,
            });
        }
    }
    None
}

fn meaning(client: ClientId, inside: &str) -> Meaning {
    let variable = |name: &str| match is_variable(name) {
        true => Meaning::Variable(name.to_owned()),
        false => Meaning::Nothing,
    };
    match (client, inside.split_once(':')) {
        (ClientId::Codex | ClientId::Opencode, Some(("env", name))) => variable(name),
        (ClientId::Goose, Some(("input", id))) => Meaning::Input(id.to_owned()),
        (ClientId::ClaudeCode, None) | (ClientId::GeminiCli, _) => variable(inside),
        (ClientId::ClaudeCode, Some((name, default))) => match default.strip_prefix('-') {
            Some(default) if is_variable(name) => {
                Meaning::VariableOr(name.to_owned(), default.to_owned())
            }
            _ => Meaning::Nothing,
        },
        (ClientId::Cursor | ClientId::VsCode | ClientId::Windsurf, Some((kind, name))) => {
            match kind {
                "env" => variable(name),
                "input" => Meaning::Input(name.to_owned()),
                _ => Meaning::Nothing,
            }
        }
        (ClientId::Cursor | ClientId::VsCode | ClientId::Windsurf, None) => match inside {
            "workspaceFolder" => Meaning::Workspace,
            "userHome" => Meaning::Home,
            "pathSeparator" | "/" => Meaning::Separator,
            _ => Meaning::Nothing,
        },
        _ => Meaning::Nothing,
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
