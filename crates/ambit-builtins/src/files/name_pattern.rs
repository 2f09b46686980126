//! File name patterns as people write them: one without `/` is meant for names at any depth,
//! one with `/` for the path below where the search starts.

use std::path::Path;

use ambit_core::observation::Failure;
use globset::{GlobBuilder, GlobMatcher};

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct NamePattern {
    matcher: GlobMatcher,
    against: Against,
}

#[derive(Debug)]
enum Against {
    Name,
    Path,
}

impl NamePattern {
    pub(super) fn parse(pattern: &str) -> Result<Self, Failure> {
        let from_start = pattern.strip_prefix("./").unwrap_or(pattern);
        let glob = GlobBuilder::new(from_start)
            .literal_separator(true)
            .build()
            .map_err(|error| {
                Failure::refused(format!(
                    "`{pattern}` is not a file pattern: {}",
                    error.kind()
                ))
            })?;
        Ok(NamePattern {
            matcher: glob.compile_matcher(),
            against: if pattern.contains('/') {
                Against::Path
            } else {
                Against::Name
            },
        })
    }

    /// Whether it fits a path relative to where the search starts.
    pub(super) fn fits(&self, path: &Path) -> bool {
        match self.against {
            Against::Path => self.matcher.is_match(path),
            Against::Name => path
                .file_name()
                .is_some_and(|name| self.matcher.is_match(Path::new(name))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_names_or_paths() {
        for (pattern, fitting, other) in [
            ("*.rs", "a/b.rs", "a.rs/b"),
            ("**/*.rs", "b.rs", "b.rsx"),
            ("src/*.rs", "src/a.rs", "src/a/b.rs"),
            ("./src/**", "src/a/b.rs", "tests/a.rs"),
            ("*.{md,txt}", "a.txt", "a.rs"),
            (".*", "a/.env", "a/env"),
            ("[ab].c", "x/a.c", "x/c.c"),
        ] {
            let parsed = NamePattern::parse(pattern).unwrap();
            assert!(parsed.fits(Path::new(fitting)), "{pattern} {fitting}");
            assert!(!parsed.fits(Path::new(other)), "{pattern} {other}");
        }
        for bad in ["[a", "{a", "a/[z-a]"] {
            assert!(NamePattern::parse(bad).is_err(), "{bad}");
        }
    }
}
