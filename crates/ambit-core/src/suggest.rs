//! "Did you mean": the known names nearest to one that is not known.

/// At most three known names close to `wanted`, nearest first, ties by name.
pub fn suggest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted: String = wanted.to_lowercase().chars().take(64).collect();
    let allowed = 1 + wanted.chars().count() / 4;
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = strsim::damerau_levenshtein(&wanted, &lower);
            let part = wanted.len() >= 3
                && (lower.contains(&wanted) || (lower.len() >= 3 && wanted.contains(&lower)));
            (distance <= allowed || part).then_some((distance, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(3)
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// `did you mean `a` or `b`?`, or nothing where nothing is near.
pub fn did_you_mean(suggestions: &[String]) -> Option<String> {
    let quoted: Vec<_> = suggestions.iter().map(|it| format!("`{it}`")).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["read_file", "write_file", "edit_file", "glob", "grep"];
        for (wanted, first) in [
            ("raed_file", Some("read_file")),
            ("readfile", Some("read_file")),
            ("grpe", Some("grep")),
            ("read", Some("read_file")),
            ("zzz", None),
            ("", None),
        ] {
            assert_eq!(
                suggest(wanted, known).first().map(String::as_str),
                first,
                "{wanted}"
            );
        }
    }
}
