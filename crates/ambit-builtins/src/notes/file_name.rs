//! What a note's file is called: by its title, in a way every file system takes and nobody can
//! use to get elsewhere.

/// Bytes a name may have, so that it fits with its ending, a number and a time.
const MOST_BYTES: usize = 80;

/// Names some systems keep for devices.
const RESERVED: &[&str] = &["con", "prn", "aux", "nul"];
const NUMBERED: &[&str] = &["com", "lpt"];

/// The name for a title, without ending. Two titles may have the same.
pub(super) fn file_name(title: &str) -> String {
    let mut name = String::new();
    for it in title.chars().flat_map(char::to_lowercase) {
        if it.is_alphanumeric() {
            name.push(it);
        } else if !is_accent(it) && !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let end = name.floor_char_boundary(MOST_BYTES);
    name.truncate(end);
    let name = name.trim_end_matches('-');
    match name {
        "" => "note".to_owned(),
        it if is_reserved(it) => format!("{it}-note"),
        it => it.to_owned(),
    }
}

/// A name that is not taken, whatever the case: the name itself, or with a number.
pub(super) fn free_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let mut numbered = (2..).map(|it| format!("{name}-{it}"));
    numbered
        .find(|it| !is_taken(it))
        .unwrap_or_else(|| name.to_owned())
}

/// A mark that belongs to the letter before it.
fn is_accent(it: char) -> bool {
    matches!(it, '\u{300}'..='\u{36f}')
}

fn is_reserved(name: &str) -> bool {
    let digit = |it: &str| it.len() == 1 && it.chars().all(|it| it.is_ascii_digit());
    RESERVED.contains(&name)
        || NUMBERED
            .iter()
            .any(|it| name.strip_prefix(it).is_some_and(digit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles_become_names() {
        let long = "ü".repeat(100);
        for (title, name) in [
            ("Release plan", "release-plan"),
            ("../../etc/passwd", "etc-passwd"),
            ("..", "note"),
            (".hidden.md", "hidden-md"),
            ("a/b\\c:d*e?f", "a-b-c-d-e-f"),
            ("C:\\Windows", "c-windows"),
            ("nul", "nul-note"),
            ("COM1", "com1-note"),
            ("com10", "com10"),
            ("  --Hi--  ", "hi"),
            ("Größe & Straße", "größe-straße"),
            ("cafe\u{301}", "cafe"),
            ("東京 2026", "東京-2026"),
            ("🙂", "note"),
            ("a\u{202e}b\0c\n", "a-b-c"),
            (long.as_str(), &"ü".repeat(40)),
        ] {
            assert_eq!(file_name(title), name, "{title:?}");
        }
    }

    #[test]
    fn taken_names_get_a_number() {
        let taken = ["plan", "plan-2"];
        assert_eq!(free_name("plan", |it| taken.contains(&it)), "plan-3");
        assert_eq!(free_name("other", |it| taken.contains(&it)), "other");
    }

    proptest! {
        #[test]
        fn a_name_is_one_plain_component(title in "\\PC{0,120}|[./\\\\:\0-~]{0,40}") {
            let name = file_name(&title);
            prop_assert!(!name.is_empty() && name.len() <= MOST_BYTES + "-note".len());
            prop_assert!(name.chars().all(|it| it.is_alphanumeric() || it == '-'), "{}", name);
            prop_assert_eq!(file_name(&name), name);
        }
    }
}
