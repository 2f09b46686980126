//! Lists written in one text: globs, keywords, tools.

use std::mem;

/// Splits at commas and white space, but not inside `(…)`, `{…}` and `[…]`: those belong to
/// `Bash(git add:*)` and `*.{ts,tsx}`. An unclosed bracket keeps the rest together, so that
/// it matches nothing rather than something its writer did not mean.
pub(crate) fn split_list(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            if !item.is_empty() {
                items.push(mem::take(&mut item));
            }
        } else {
            item.push(c);
        }
    }
    if !item.is_empty() {
        items.push(item);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::split_list;

    #[test]
    fn brackets_keep_together() {
        for (text, items) in [
            ("", &[][..]),
            (" , ,", &[]),
            ("Read Grep", &["Read", "Grep"]),
            ("Read, Grep,Glob", &["Read", "Grep", "Glob"]),
            ("Bash(git add:*) Read", &["Bash(git add:*)", "Read"]),
            ("*.{ts,tsx}, src/**", &["*.{ts,tsx}", "src/**"]),
            ("Bash(rm Read", &["Bash(rm Read"]),
            ("a) b", &["a)", "b"]),
        ] {
            assert_eq!(split_list(text), items, "{text}");
        }
    }
}
