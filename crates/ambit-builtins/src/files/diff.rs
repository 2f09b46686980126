//! The unified diff of replacements whose places are known, so nothing has to be searched for.

use std::fmt::Write as _;
use std::ops::Range;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// How many changes are shown.
const MOST_HUNKS: usize = 20;

/// Changed lines `old` (counted from 0) and the lines in their place.
struct Hunk<'a> {
    old: Range<usize>,
    new: Vec<&'a str>,
}

/// What replacing `places` in `content` by `new_text` changes. The places are in order and do
/// not overlap.
pub(super) fn unified(
    path: &str,
    content: &str,
    places: &[Range<usize>],
    new_text: &str,
) -> String {
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let blocks = blocks(content, &lines, places, new_text);
    let hunks: Vec<Hunk<'_>> = blocks.iter().map(|it| trimmed(&lines, it)).collect();

    let mut out = format!("--- {path}\n+++ {path}\n");
    let mut shown_until = 0;
    // How far lines have moved so far.
    let mut moved: isize = 0;
    for (at, hunk) in hunks.iter().take(MOST_HUNKS).enumerate() {
        let next = hunks.get(at + 1).map_or(lines.len(), |it| it.old.start);
        let from = hunk.old.start.saturating_sub(CONTEXT).max(shown_until);
        let until = (hunk.old.end + CONTEXT).min(next).min(lines.len());
        let old_count = until - from;
        let new_count = old_count - hunk.old.len() + hunk.new.len();
        let _ = writeln!(
            out,
            "@@ -{},{old_count} +{},{new_count} @@",
            from + 1,
            (from + 1).saturating_add_signed(moved)
        );
        push(&mut out, ' ', lines.get(from..hunk.old.start));
        push(&mut out, '-', lines.get(hunk.old.clone()));
        push(&mut out, '+', Some(&hunk.new));
        push(&mut out, ' ', lines.get(hunk.old.end..until));
        moved += hunk.new.len() as isize - hunk.old.len() as isize;
        shown_until = until;
    }
    if let Some(more @ 1..) = hunks.len().checked_sub(MOST_HUNKS) {
        let _ = writeln!(out, "… and {more} more changes");
    }
    out
}

/// Whole lines that hold replacements, and the text in their place.
struct Block {
    old: Range<usize>,
    new: String,
}

fn blocks(content: &str, lines: &[&str], places: &[Range<usize>], new_text: &str) -> Vec<Block> {
    let mut starts = Vec::with_capacity(lines.len() + 1);
    let mut start = 0;
    for line in lines {
        starts.push(start);
        start += line.len();
    }
    starts.push(start);
    let line_of = |at: usize| {
        starts
            .partition_point(|start| *start <= at)
            .saturating_sub(1)
    };
    let start_of = |line: usize| starts.get(line).copied().unwrap_or(content.len());
    let text = |range: Range<usize>| content.get(range).unwrap_or("");

    let mut blocks: Vec<Block> = Vec::new();
    let mut places = places.iter().peekable();
    while let Some(place) = places.next() {
        // The line after a replaced line end belongs to the change: it may have been joined.
        let first = line_of(place.start);
        let mut last = line_of(place.end).min(lines.len().saturating_sub(1));
        let mut new = text(start_of(first)..place.start).to_owned();
        new.push_str(new_text);
        let mut copied = place.end;
        while let Some(next) = places.next_if(|it| line_of(it.start) <= last) {
            new.push_str(text(copied..next.start));
            new.push_str(new_text);
            copied = next.end;
            last = line_of(next.end).min(lines.len().saturating_sub(1));
        }
        new.push_str(text(copied..start_of(last + 1)));
        blocks.push(Block {
            old: first..last + 1,
            new,
        });
    }
    blocks
}

/// Without the lines at both ends that stay the same.
fn trimmed<'a>(lines: &[&str], block: &'a Block) -> Hunk<'a> {
    let mut old = block.old.clone();
    let new: Vec<&str> = block.new.split_inclusive('\n').collect();
    let mut new = new.as_slice();
    while let (Some(a), Some((b, rest))) = (
        lines.get(old.clone()).and_then(<[_]>::first),
        new.split_first(),
    ) && a == b
    {
        old.start += 1;
        new = rest;
    }
    while let (Some(a), Some((b, rest))) = (
        lines.get(old.clone()).and_then(<[_]>::last),
        new.split_last(),
    ) && a == b
    {
        old.end -= 1;
        new = rest;
    }
    Hunk {
        old,
        new: new.to_vec(),
    }
}

fn push(out: &mut String, sign: char, lines: Option<&[&str]>) {
    for line in lines.unwrap_or_default() {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Applies a diff to the old content: what the diff says must be what was done.
    fn apply(old: &str, diff: &str) -> String {
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut out, mut at) = (String::new(), 0);
        let mut cut_newline = false;
        for line in diff.split_inclusive('\n').skip(2) {
            let (sign, text) = line.split_at(1);
            match sign {
                "@" => {
                    let numbers: Vec<usize> = text
                        .split(|c: char| !c.is_ascii_digit())
                        .filter_map(|it| it.parse().ok())
                        .collect();
                    out.extend(lines[at..numbers[0] - 1].iter().copied());
                    at = numbers[0] - 1;
                    assert_eq!(out.split_inclusive('\n').count() + 1, numbers[2], "{diff}");
                }
                "\\" if cut_newline => {
                    out.pop();
                }
                "\\" => {}
                "-" => {
                    assert_eq!(
                        lines[at].trim_end_matches('\n'),
                        text.trim_end_matches('\n')
                    );
                    at += 1;
                }
                _ => {
                    out.push_str(text);
                    at += usize::from(sign == " ");
                }
            }
            cut_newline = matches!(sign, " " | "+");
        }
        out.extend(lines[at..].iter().copied());
        out
    }

    proptest! {
        #[test]
        fn a_diff_says_what_was_done(content in "([abx]{0,2}\n?){0,12}", old in "[abx\n]{1,3}", new in "[abz\n]{0,3}") {
            let places: Vec<_> = content.match_indices(&old).map(|(at, it)| at..at + it.len()).collect();
            prop_assume!(!places.is_empty() && places.len() <= MOST_HUNKS && old != new);
            let diff = unified("f", &content, &places, &new);
            prop_assert_eq!(apply(&content, &diff), content.replace(&old, &new), "{}", diff);
        }
    }

    #[test]
    fn many_changes_are_counted() {
        let content = "x\na\nb\nc\nd\ne\nf\ng\n".repeat(30);
        let places: Vec<_> = content
            .match_indices('x')
            .map(|(at, _)| at..at + 1)
            .collect();
        let diff = unified("f", &content, &places, "y");
        assert!(diff.ends_with("… and 10 more changes\n"), "{diff}");
        assert_eq!(diff.matches("@@ -").count(), MOST_HUNKS);
    }
}
