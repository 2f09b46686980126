//! Where two texts differ, as much as it takes to bring them together.

const MOST_LINES: usize = 40;

/// The lines between the first and the last difference: `-` for those of one text, `+` for those
/// of the other.
pub(super) fn difference(now: &str, wanted: &str) -> String {
    let (now, wanted): (Vec<&str>, Vec<&str>) = (now.lines().collect(), wanted.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = now.iter().zip(&wanted).take_while(same).count();
    let rest = now.len().min(wanted.len()) - head;
    let backwards = now.iter().rev().zip(wanted.iter().rev());
    let tail = backwards.take(rest).take_while(same).count();
    let mut out = vec![format!("@@ line {} @@", head + 1)];
    for (sign, lines) in [('-', &now), ('+', &wanted)] {
        let middle = lines.get(head..lines.len() - tail).unwrap_or_default();
        let shown = middle.iter().take(MOST_LINES);
        out.extend(shown.map(|it| format!("{sign}{it}")));
        if let Some(more @ 1..) = middle.len().checked_sub(MOST_LINES) {
            out.push(format!("{sign}… {more} more lines"));
        }
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        for (now, wanted, expected) in [
            ("a\nb\nc\n", "a\nx\ny\nc\n", "@@ line 2 @@\n-b\n+x\n+y"),
            ("a\na\n", "a\n", "@@ line 2 @@\n-a"),
            ("", "a", "@@ line 1 @@\n+a"),
            ("a", "a\nb", "@@ line 2 @@\n+b"),
        ] {
            assert_eq!(difference(now, wanted), expected);
        }
        let long = difference("", &"x\n".repeat(50));
        assert!(long.ends_with("+… 10 more lines"), "{long}");
    }
}
