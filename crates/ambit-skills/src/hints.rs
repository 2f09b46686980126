//! Ambit's own hints, carried in the format's `metadata` so that the skill stays portable.
//!
//! Hints only inform: a bad one is a warning and is ignored.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::list::split_list;
use crate::problem::{SkillProblem, clip};

const PATHS: &str = "ambit-paths";
const KEYWORDS: &str = "ambit-keywords";
const FORK: &str = "ambit-fork";
/// More than this many globs or keywords say nothing about a skill.
const MAX_ITEMS: usize = 64;

/// Where a loaded skill runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunIn {
    /// Its body joins the conversation that asked for it.
    #[default]
    Conversation,
    /// A sub-agent follows it and hands back the result.
    SubAgent,
}

/// What a skill tells the discovery policy and the agent runner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Hints {
    /// Globs, relative to the workspace.
    pub paths: Vec<String>,
    /// Lower case.
    pub keywords: Vec<String>,
    /// `ambit-fork`.
    pub run_in: RunIn,
}

impl Hints {
    /// Reads the `ambit-*` keys; what cannot be used is reported and left out.
    pub fn from_metadata(metadata: &BTreeMap<String, String>) -> (Hints, Vec<SkillProblem>) {
        let mut hints = Hints::default();
        let mut problems = Vec::new();
        let mut ignored = |key, value: &str, reason| {
            problems.push(SkillProblem::HintIgnored {
                key,
                value: clip(value),
                reason,
            });
        };
        if let Some(text) = metadata.get(PATHS) {
            let (inside, outside): (Vec<_>, Vec<_>) =
                split_list(text).into_iter().partition(|it| is_inside(it));
            if let Some(first) = outside.first() {
                ignored(
                    PATHS,
                    first,
                    "a glob is relative to the workspace and has no `..`",
                );
            }
            hints.paths = inside;
        }
        if let Some(text) = metadata.get(KEYWORDS) {
            hints.keywords = split_keywords(text);
        }
        for (key, items) in [(PATHS, &mut hints.paths), (KEYWORDS, &mut hints.keywords)] {
            if let Some(first) = items.get(MAX_ITEMS) {
                ignored(key, first, "there are more than 64");
            }
            items.truncate(MAX_ITEMS);
        }
        match metadata.get(FORK).map(|it| it.trim()) {
            None | Some("false") => {}
            Some("true") => hints.run_in = RunIn::SubAgent,
            Some(other) => ignored(FORK, other, "it is `true` or `false`"),
        }
        for key in metadata.keys() {
            if key.starts_with("ambit-") && ![PATHS, KEYWORDS, FORK].contains(&key.as_str()) {
                ignored("ambit-*", key, "there is no such hint");
            }
        }
        (hints, problems)
    }
}

fn is_inside(glob: &str) -> bool {
    !glob.starts_with(['/', '~']) && !glob.split('/').any(|part| part == "..")
}

/// Keywords can have spaces if commas separate them.
fn split_keywords(text: &str) -> Vec<String> {
    let parts: Vec<&str> = if text.contains(',') {
        text.split(',').collect()
    } else {
        text.split_whitespace().collect()
    };
    let mut keywords = Vec::new();
    for part in parts {
        let keyword = part.trim().to_lowercase();
        if !keyword.is_empty() && !keywords.contains(&keyword) {
            keywords.push(keyword);
        }
        // One more than is kept, so that the caller sees there are too many.
        if keywords.len() > MAX_ITEMS {
            break;
        }
    }
    keywords
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(metadata: &[(&str, &str)], expected: Hints, problems: usize) {
        let metadata = metadata
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        let (hints, found) = Hints::from_metadata(&metadata);
        assert_eq!(hints, expected, "{metadata:?}");
        assert_eq!(found.len(), problems, "{found:?}");
    }

    fn hints(paths: &[&str], keywords: &[&str], run_in: RunIn) -> Hints {
        Hints {
            paths: paths.iter().map(|it| it.to_string()).collect(),
            keywords: keywords.iter().map(|it| it.to_string()).collect(),
            run_in,
        }
    }

    #[test]
    fn keys_are_read_and_nonsense_is_reported() {
        use RunIn::{Conversation, SubAgent};
        check(&[], Hints::default(), 0);
        check(&[("author", "x")], Hints::default(), 0);
        check(
            &[("ambit-paths", "src/**/*.{ts,tsx} *.md,Cargo.toml")],
            hints(
                &["src/**/*.{ts,tsx}", "*.md", "Cargo.toml"],
                &[],
                Conversation,
            ),
            0,
        );
        check(
            &[("ambit-paths", "/etc/*, ../x, ~/x, ok")],
            hints(&["ok"], &[], Conversation),
            1,
        );
        check(
            &[("ambit-keywords", "Pull Request, review,,review")],
            hints(&[], &["pull request", "review"], Conversation),
            0,
        );
        check(
            &[("ambit-keywords", "pdf Form")],
            hints(&[], &["pdf", "form"], Conversation),
            0,
        );
        check(&[("ambit-fork", "true")], hints(&[], &[], SubAgent), 0);
        check(&[("ambit-fork", "false")], Hints::default(), 0);
        check(&[("ambit-fork", "yes")], Hints::default(), 1);
        check(&[("ambit-path", "x")], Hints::default(), 1);
    }

    #[test]
    fn more_than_64_are_cut() {
        let many = (0..100).map(|n| format!("k{n}")).collect::<Vec<_>>();
        let metadata = BTreeMap::from([("ambit-keywords".to_owned(), many.join(","))]);
        let (hints, problems) = Hints::from_metadata(&metadata);
        assert_eq!((hints.keywords.len(), problems.len()), (64, 1));
    }
}
