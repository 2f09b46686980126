//! Where a request with several needs falls apart into its clauses.
//!
//! "Check the weather in Oslo and book a table for two" needs two tools. Against the whole
//! request each looks half right; against its own clause it looks right.

/// Most clauses looked at one by one; the last takes the rest.
const MAX_CLAUSES: usize = 16;

/// Words that begin another need.
const JOINTS: [&str; 9] = [
    "additionally",
    "also",
    "and",
    "finally",
    "furthermore",
    "lastly",
    "moreover",
    "next",
    "then",
];

/// The clauses of a request, in order. They are cut at the punctuation between parts of a
/// sentence, not at the dots and colons inside names, and before the words that join.
pub(crate) fn clauses(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut word_from = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        let cut = if c.is_alphanumeric() {
            let word = text.get(word_from..after).unwrap_or_default();
            let ends = chars.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
            let joins = ends && JOINTS.iter().any(|it| it.eq_ignore_ascii_case(word));
            joins.then_some(word_from)
        } else {
            word_from = after;
            let ends = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            let parts = c == '\n' || (ends && matches!(c, '.' | '?' | '!' | ';' | ':' | ','));
            parts.then_some(after)
        };
        if let Some(cut) = cut
            && found.len() + 1 < MAX_CLAUSES
        {
            push(&mut found, text.get(from..cut));
            from = cut;
        }
    }
    push(&mut found, text.get(from..));
    found
}

fn push<'a>(found: &mut Vec<&'a str>, clause: Option<&'a str>) {
    found.extend(clause.filter(|it| it.chars().any(char::is_alphanumeric)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = clauses(text).into_iter().map(str::trim).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn requests_fall_into_clauses() {
        check("", &[]);
        check(" ., !", &[]);
        check("search_issues", &["search_issues"]);
        check("call math.factorial", &["call math.factorial"]);
        check(
            "Weather in Oslo, and book a table. Then call a cab!",
            &["Weather in Oslo,", "and book a table.", "Then call a cab!"],
        );
        check(
            "play music and sand castles",
            &["play music", "and sand castles"],
        );
        check("one\ntwo; three", &["one", "two;", "three"]);
    }

    #[test]
    fn clauses_are_few() {
        assert_eq!(clauses(&"a b. ".repeat(1000)).len(), MAX_CLAUSES);
    }
}
