//! Two lists of lines, and what is different: unchanged lines around each change, `-` for what is
//! gone, `+` for what came.

/// Unchanged lines shown around a change.
const CONTEXT: usize = 2;
/// Lines shown at most.
const MOST_LINES: usize = 200;
/// Most pairs of lines compared. What is larger is shown as wholly replaced.
const MOST_PAIRS: usize = 4 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Gone,
    Came,
}

/// The difference, empty where there is none.
pub(super) fn diff(before: &[String], after: &[String]) -> String {
    let lines = fates(before, after);
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let around = lines.iter().skip(from).take(at - from + CONTEXT + 1);
        around.into_iter().any(|(fate, _)| *fate != Fate::Stays)
    };
    let mut out = Vec::new();
    let mut left_out = false;
    for (at, (fate, line)) in lines.iter().enumerate() {
        if !near(at) {
            left_out = true;
            continue;
        }
        if std::mem::take(&mut left_out) && !out.is_empty() {
            out.push("  ⋮".to_owned());
        }
        let mark = match fate {
            Fate::Stays => ' ',
            Fate::Gone => '-',
            Fate::Came => '+',
        };
        out.push(format!("{mark} {line}"));
    }
    let more = out.len().saturating_sub(MOST_LINES);
    out.truncate(MOST_LINES);
    if more > 0 {
        out.push(format!("  … and {more} more lines"));
    }
    out.join("\n")
}

/// Every line of both, in order, with what became of it.
fn fates<'a>(before: &'a [String], after: &'a [String]) -> Vec<(Fate, &'a str)> {
    let same = |a: &(&String, &String)| a.0 == a.1;
    let head = before.iter().zip(after).take_while(same).count();
    let rest = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev());
    let tail = tail.take(rest).take_while(same).count();
    let middle = |all: &'a [String]| all.get(head..all.len() - tail).unwrap_or_default();

    let stays = |it: &'a [String]| it.iter().map(|line| (Fate::Stays, line.as_str()));
    let mut fates: Vec<_> = stays(before.get(..head).unwrap_or_default()).collect();
    fates.extend(replaced(middle(before), middle(after)));
    fates.extend(stays(before.get(before.len() - tail..).unwrap_or_default()));
    fates
}

/// The shortest way from one to the other, by the longest common subsequence.
fn replaced<'a>(before: &'a [String], after: &'a [String]) -> Vec<(Fate, &'a str)> {
    let width = after.len() + 1;
    let mut common = Vec::new();
    if before.len().saturating_mul(after.len()) <= MOST_PAIRS {
        common = vec![0_u32; (before.len() + 1) * width];
    }
    let at = |common: &[u32], a: usize, b: usize| common.get(a * width + b).copied().unwrap_or(0);
    if !common.is_empty() {
        for (a, old) in before.iter().enumerate().rev() {
            for (b, new) in after.iter().enumerate().rev() {
                let longest = match old == new {
                    true => at(&common, a + 1, b + 1) + 1,
                    false => at(&common, a + 1, b).max(at(&common, a, b + 1)),
                };
                if let Some(cell) = common.get_mut(a * width + b) {
                    *cell = longest;
                }
            }
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut fates = Vec::new();
    loop {
        match (before.get(a), after.get(b)) {
            (Some(old), Some(new)) if old == new && !common.is_empty() => {
                fates.push((Fate::Stays, old.as_str()));
                (a, b) = (a + 1, b + 1);
            }
            (Some(old), new) if new.is_none() || at(&common, a + 1, b) >= at(&common, a, b + 1) => {
                fates.push((Fate::Gone, old.as_str()));
                a += 1;
            }
            (_, Some(new)) => {
                fates.push((Fate::Came, new.as_str()));
                b += 1;
            }
            (_, None) => return fates,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expected: &str) {
        let lines = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let found = diff(&lines(before), &lines(after));
        assert_eq!(found.replace('\n', "|"), expected);
    }

    #[test]
    fn changes_stand_among_their_neighbours() {
        check("a b c", "a b c", "");
        check("a b c", "a x c", "  a|- b|+ x|  c");
        check("a b c", "a c", "  a|- b|  c");
        check("a c", "a b c", "  a|+ b|  c");
        check(
            "a b c d e f g",
            "x b c d e f y",
            "- a|+ x|  b|  c|  ⋮|  e|  f|- g|+ y",
        );
        check("a b c d", "c d a b", "- a|- b|  c|  d|+ a|+ b");
    }

    #[test]
    fn what_is_too_large_is_replaced_whole_and_shown_in_part() {
        let lines =
            |mark: &str| -> Vec<String> { (0..3000).map(|n| format!("{mark}{n}")).collect() };
        let found = diff(&lines("a"), &lines("b"));
        assert_eq!(found.lines().count(), MOST_LINES + 1);
        assert!(found.ends_with("… and 5800 more lines"), "{found}");
    }
}
