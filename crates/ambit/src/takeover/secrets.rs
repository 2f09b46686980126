//! Inline secrets in `env` and `headers`, and where they go: into the secret store, with
//! `${secret:NAME}` in their place.
//!
//! What is a secret is guessed from names and from the look of values. The server is given its
//! value either way; but what is in the store is taken out of everything Ambit shows, so counts,
//! switches, paths and addresses stay where they are whatever their names say.

use std::collections::BTreeMap;

use super::dialect::Launch;
use crate::secrets::{SecretValue, is_name};

/// A value to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSecret {
    /// Its name in the store.
    pub name: String,
    /// The value.
    pub value: SecretValue,
}

/// Words in the name of a variable or header that holds a secret.
const NAMES: [&str; 14] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "API_KEY",
    "API-KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "CREDENTIAL",
    "AUTHORIZATION",
    "COOKIE",
    "_PAT",
];

/// How values begin that are secrets wherever they stand.
const BEGINNINGS: [&str; 14] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
    "ntn_",
];

/// How an `Authorization` header says what follows.
const SCHEMES: [&str; 3] = ["Bearer ", "Basic ", "Token "];

/// Moves inline secrets of a launch out of it. `kept` says what a name stands for already: a
/// value that is there is used, a name that is taken for something else is not.
pub fn keep_secrets(
    server: &str,
    launch: Launch,
    kept: &dyn Fn(&str) -> Option<SecretValue>,
) -> (Launch, Vec<NewSecret>) {
    let mut new = Vec::new();
    let mut moved = |values: BTreeMap<String, String>| -> BTreeMap<String, String> {
        let values = values.into_iter();
        values
            .map(|(key, value)| {
                let value = match secret_part(&key, &value) {
                    Some((before, secret)) => {
                        let secret = SecretValue::new(secret);
                        let name = free_name(server, &key, &secret, kept);
                        let value = format!("{before}${{secret:{name}}}");
                        if kept(&name).is_none() {
                            new.push(NewSecret {
                                name,
                                value: secret,
                            });
                        }
                        value
                    }
                    None => value,
                };
                (key, value)
            })
            .collect()
    };
    let launch = match launch {
        Launch::Command {
            command,
            args,
            env,
            cwd,
        } => Launch::Command {
            command,
            args,
            env: moved(env),
            cwd,
        },
        Launch::Address { url, headers } => Launch::Address {
            url,
            headers: moved(headers),
        },
    };
    (launch, new)
}

/// Whether arguments or an address seem to hold a secret. They stay: which part of them it is
/// cannot be told.
pub(super) fn in_sight(launch: &Launch) -> bool {
    match launch {
        Launch::Command { args, .. } => {
            let values = args.iter().map(|it| it.rsplit('=').next().unwrap_or(it));
            let named = args.iter().filter_map(|it| it.split_once('='));
            values.into_iter().any(looks_secret)
                || named
                    .into_iter()
                    .any(|(name, value)| is_shown_secret(name, value))
        }
        Launch::Address { url, .. } => {
            let query = url.split_once('?').map_or("", |(_, query)| query);
            let mut named = query.split('&').filter_map(|it| it.split_once('='));
            named.any(|(name, value)| is_shown_secret(name, value))
        }
    }
}

/// What stands before the secret, and the secret; nothing where there is none, or where it is a
/// placeholder already.
fn secret_part<'a>(key: &str, value: &'a str) -> Option<(&'a str, String)> {
    if value.contains("${") && !value.contains("$${") || value.trim().is_empty() {
        return None;
    }
    let scheme = SCHEMES.iter().find(|it| {
        let beginning = value.get(..it.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(it))
    });
    let (before, rest) = value.split_at(scheme.map_or(0, |it| it.len()));
    let is_secret = scheme.is_some() || sounds_secret(key) && !is_plain(rest) || looks_secret(rest);
    // A secret is filled in as it is, so an escape must not be stored.
    is_secret.then(|| (before, rest.replace("$${", "${")))
}

fn is_shown_secret(name: &str, value: &str) -> bool {
    sounds_secret(name) && !is_plain(value) && !value.starts_with("${")
}

/// A count, a switch, a path or an address.
fn is_plain(value: &str) -> bool {
    let is_count = value.len() < 8 && value.chars().all(|c| c.is_ascii_digit());
    let is_switch = ["true", "false", "yes", "no", "on", "off"].contains(&value);
    let beginnings = ["/", "./", "~/", "http://", "https://"];
    let is_place = beginnings.iter().any(|it| value.starts_with(it));
    is_count || is_switch || is_place
}

fn sounds_secret(key: &str) -> bool {
    let key = key.to_ascii_uppercase();
    NAMES.iter().any(|it| key.contains(it)) || key.ends_with("_KEY") || key == "KEY"
}

fn looks_secret(value: &str) -> bool {
    value.len() >= 16 && BEGINNINGS.iter().any(|it| value.starts_with(it))
}

/// `SERVER.KEY`, or the first `SERVER.KEY-N` that is not taken for something else.
fn free_name(
    server: &str,
    key: &str,
    value: &SecretValue,
    kept: &dyn Fn(&str) -> Option<SecretValue>,
) -> String {
    let clean = |text: &str| -> String {
        let clean = |c: char| match c.is_ascii_alphanumeric() || "_-".contains(c) {
            true => c,
            false => '_',
        };
        text.chars().map(clean).take(28).collect()
    };
    let base = format!("{}.{}", clean(server), clean(key));
    let free = |name: &String| is_name(name) && kept(name).is_none_or(|it| it == *value);
    let numbered = (2..1000).map(|n| format!("{base}-{n}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(free).unwrap_or(base)
}
