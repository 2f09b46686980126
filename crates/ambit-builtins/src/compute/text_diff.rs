//! `text_diff`: what changed between two texts, as a unified diff by lines.

use ambit_core::observation::{Failure, Output};
use serde::Deserialize;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::budget::Budget;
use super::table::Builtin;
use crate::declare::{arguments, object};

/// Of both texts together. The search for a good diff is bounded by this.
const MOST_LINES: usize = 20_000;
const CONTEXT: usize = 3;

pub(super) const TEXT_DIFF: Builtin = Builtin {
    name: "text_diff",
    title: "Compare texts",
    description: "Compare two texts line by line: a unified diff with how many lines were added and removed. \
        For texts you have at hand; to see what an edit of a file did, edit_file shows it.",
    tags: &["text", "diff"],
    input,
    output: Some(output),
    run,
};

fn input() -> Value {
    let text = |description: &str| json!({ "type": "string", "maxLength": 500_000, "description": description });
    object(
        &["before", "after"],
        json!({
            "before": text("The old text."),
            "after": text("The new text."),
            "context": { "type": "integer", "minimum": 0, "maximum": 100, "description": "Unchanged lines shown around a change. Default: 3." },
        }),
    )
}

fn output() -> Value {
    object(
        &["diff", "added", "removed"],
        json!({
            "diff": { "type": "string", "description": "The unified diff; empty if the texts are the same." },
            "added": { "type": "integer", "description": "Lines added." },
            "removed": { "type": "integer", "description": "Lines removed." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    before: String,
    after: String,
    context: Option<usize>,
}

fn run(value: Value, budget: &mut Budget<'_>) -> Result<Output, Failure> {
    let Arguments {
        before,
        after,
        context,
    } = arguments(value)?;
    // Only `\n` ends a line here: a lone `\r` stays in its line, so that a diff can be applied.
    let lines = |text: &'_ str| text.matches('\n').count() + 1;
    let count = lines(&before) + lines(&after);
    if count > MOST_LINES {
        return Err(Failure::refused(format!(
            "the texts have {count} lines together, more than {MOST_LINES}: compare parts of them"
        )));
    }
    budget.steps(count as u64 * 100)?;
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let diff = TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&old, &new);
    let changed = |tag: ChangeTag| diff.iter_all_changes().filter(|it| it.tag() == tag).count();
    let (added, removed) = (changed(ChangeTag::Insert), changed(ChangeTag::Delete));
    let mut unified = diff.unified_diff();
    let unified = unified
        .context_radius(context.unwrap_or(CONTEXT))
        .header("before", "after")
        .to_string();
    budget.bytes(unified.len())?;
    let text = if unified.is_empty() {
        "the texts are the same".to_owned()
    } else {
        unified.clone()
    };
    let structured = json!({ "diff": unified, "added": added, "removed": removed });
    Ok(Output::text(text).with_structured(structured))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{structured, text};
    use super::*;

    #[test]
    fn changes_are_shown() {
        for (before, after, expected) in [
            (
                "a\nb\nc\n",
                "a\nB\nc\n",
                "--- before\n+++ after\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
            ),
            (
                "a\n",
                "a",
                "--- before\n+++ after\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n",
            ),
            ("", "a\n", "--- before\n+++ after\n@@ -0,0 +1 @@\n+a\n"),
            (
                "a\r\n",
                "a\n",
                "--- before\n+++ after\n@@ -1 +1 @@\n-a\r\n+a\n",
            ),
            ("same\n", "same\n", "the texts are the same"),
        ] {
            let found = text("text_diff", json!({ "before": before, "after": after }));
            assert_eq!(found, expected, "{before:?} {after:?}");
        }
        let none = structured(
            "text_diff",
            json!({ "before": "1\n2\n3\n4\n", "after": "1\n2\n4\n5\n6\n", "context": 0 }),
        );
        assert_eq!(
            none,
            json!({ "diff": "--- before\n+++ after\n@@ -3 +2,0 @@\n-3\n@@ -4,0 +4,2 @@\n+5\n+6\n", "added": 2, "removed": 1 })
        );
    }

    #[test]
    fn large_texts_end() {
        let lines = |from: usize, many: usize| -> String {
            (from..from + many).map(|it| format!("{it}\n")).collect()
        };
        let half = MOST_LINES / 2 - 1;
        let found = structured(
            "text_diff",
            json!({ "before": lines(0, half), "after": lines(half, half) }),
        );
        assert_eq!(
            (&found["added"], &found["removed"]),
            (&json!(half), &json!(half))
        );
        let shuffled: String = (0..half)
            .map(|it| format!("{}\n", it * 7919 % half))
            .collect();
        structured(
            "text_diff",
            json!({ "before": lines(0, half), "after": shuffled }),
        );
        let refused = text(
            "text_diff",
            json!({ "before": lines(0, half), "after": lines(0, half + 2) }),
        );
        assert_eq!(
            refused,
            "refused: the texts have 20002 lines together, more than 20000: compare parts of them"
        );
    }

    /// The new text, by the diff alone.
    fn apply(before: &str, diff: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut at, mut made) = (0, String::new());
        for line in diff.split_inclusive('\n').skip(2) {
            let (sign, rest) = line.split_at(1);
            match sign {
                "@" => {
                    let from: usize = rest.split(['-', ',', ' ']).nth(2).unwrap().parse().unwrap();
                    let none = rest.split(' ').nth(1).unwrap().ends_with(",0");
                    let from = if none { from } else { from - 1 };
                    made.extend(old[at..from].iter().copied());
                    at = from;
                }
                "\\" => {
                    made.pop();
                }
                "-" => at += 1,
                " " => {
                    made.push_str(old[at]);
                    at += 1;
                }
                _ => made.push_str(rest),
            }
        }
        made.extend(old[at..].iter().copied());
        made
    }

    proptest! {
        #[test]
        fn a_diff_leads_to_the_new_text(before in "([abc]\n){0,20}", after in "([abc]\n){0,20}", context in 0u32..5) {
            let found = structured("text_diff", json!({ "before": before, "after": after, "context": context }));
            let diff = found["diff"].as_str().unwrap();
            prop_assert_eq!(apply(&before, diff), after, "{}", diff);
        }
    }
}
