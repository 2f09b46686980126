//! Whether two memories say the same.
//!
//! A memory that is there twice costs a line; one that was taken for another is lost. So two are
//! only taken for one where nothing of either is: their words are the same ones in the same
//! order, or one has all the words of the other and few of its own, none of which turns the
//! meaning. A word in the place of another is always another memory: `staging` for `production`
//! is one word in twenty, and everything.

/// How a new memory stands to a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// The same words.
    Same,
    /// The known one says all of it, and a little more.
    Covered,
    /// It says all of the known one, and a little more.
    Extends,
    /// Something else.
    Different,
}

/// One word in so many may be more. Of four words each one counts: "likes tea", "likes green
/// tea".
const ONE_IN: usize = 5;

/// Words that say nothing by themselves.
const EMPTY_WORDS: &[&str] = &["a", "an", "the", "that"];

/// Words that turn the meaning of those around them.
const TURNING_WORDS: &[&str] = &[
    "after", "anymore", "before", "but", "except", "former", "formerly", "if", "instead", "longer",
    "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "old", "only", "or",
    "rather", "stopped", "than", "unless", "unlike", "until", "when", "without",
];

/// How `new` stands to `known`.
pub(super) fn compare(known: &str, new: &str) -> Likeness {
    let (known_words, new_words) = (words(known), words(new));
    if known_words.is_empty() || new_words.is_empty() {
        return match known.trim() == new.trim() {
            true => Likeness::Same,
            false => Likeness::Different,
        };
    }
    if known_words == new_words {
        return Likeness::Same;
    }
    let (shorter, longer, likeness) = match known_words.len() < new_words.len() {
        true => (known_words, new_words, Likeness::Extends),
        false => (new_words, known_words, Likeness::Covered),
    };
    match extra(&shorter, &longer) {
        Some(extra)
            if extra.len() * ONE_IN <= longer.len()
                && !extra.iter().any(|it| turns_the_meaning(it)) =>
        {
            likeness
        }
        _ => Likeness::Different,
    }
}

/// The words of a text without what surrounds them. Signs within stay: `C++`, `.env`, `-5`.
fn words(text: &str) -> Vec<String> {
    let opening = ['"', '\'', '`', '(', '[', '{', '“', '‘', '«', '¿', '¡'];
    let closing = [
        '.', ',', ';', ':', '!', '?', '…', '"', '\'', '`', ')', ']', '}', '”', '’', '»',
    ];
    text.to_lowercase()
        .replace("n't", " not")
        .replace("n’t", " not")
        .split_whitespace()
        .map(|it| it.trim_start_matches(opening).trim_end_matches(closing))
        .filter(|it| it.chars().any(char::is_alphanumeric) && !EMPTY_WORDS.contains(it))
        .map(str::to_owned)
        .collect()
}

/// What the longer list has beyond the shorter one, if it has all of that in its order.
fn extra<'a>(shorter: &[String], longer: &'a [String]) -> Option<Vec<&'a str>> {
    let mut wanted = shorter.iter().peekable();
    let mut extra = Vec::new();
    for word in longer {
        if wanted.next_if(|it| *it == word).is_none() {
            extra.push(word.as_str());
        }
    }
    wanted.peek().is_none().then_some(extra)
}

fn turns_the_meaning(word: &str) -> bool {
    TURNING_WORDS.contains(&word) || word.chars().any(char::is_numeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_says_the_same() {
        use Likeness::*;
        for (known, new, expected) in [
            ("User prefers tabs.", "user  prefers\ntabs", Same),
            (
                "The user prefers the dark mode",
                "User prefers dark mode!",
                Same,
            ),
            ("They don't use npm", "they do not use npm", Same),
            ("🙂", "🙂", Same),
            // A little more, or less.
            (
                "Deploys run from the main branch",
                "Deploys always run from the main branch",
                Extends,
            ),
            (
                "Deploys always run from the main branch",
                "Deploys run from the main branch",
                Covered,
            ),
            // Too much more.
            ("User likes tea", "User likes green tea", Different),
            (
                "Deploys run from main",
                "Deploys run from main and are announced in the channel",
                Different,
            ),
            // One word for another, however long the rest.
            (
                "The key of the staging server is in the vault below infrastructure and rotated monthly",
                "The key of the production server is in the vault below infrastructure and rotated monthly",
                Different,
            ),
            ("Alice reports to Bob", "Bob reports to Alice", Different),
            // A word that turns the rest.
            (
                "The export of reports is ready for use",
                "The export of reports is not ready for use",
                Different,
            ),
            (
                "The export of reports isn't ready for use",
                "The export of reports is ready for use",
                Different,
            ),
            (
                "Releases go out on Fridays at noon",
                "Releases go out on Fridays at noon 2026",
                Different,
            ),
            // Signs.
            (
                "The core is written in C",
                "The core is written in C++",
                Different,
            ),
            ("Secrets are in env", "Secrets are in .env", Different),
            ("The offset is 5", "The offset is -5", Different),
            ("🙂", "🙁", Different),
            ("", "words", Different),
        ] {
            assert_eq!(compare(known, new), expected, "{known} / {new}");
        }
    }

    proptest! {
        #[test]
        fn likeness_has_two_sides(known in "([abc] ?|not |5 ){0,12}", new in "([abc] ?|not |5 ){0,12}") {
            let mirrored = match compare(&known, &new) {
                Likeness::Covered => Likeness::Extends,
                Likeness::Extends => Likeness::Covered,
                other => other,
            };
            prop_assert_eq!(compare(&new, &known), mirrored);
            prop_assert_eq!(compare(&known, &known), Likeness::Same);
        }
    }
}
