//! A note as a file: a small head between two lines of dashes, and the text a person reads.
//!
//! People edit these files and have heads of their own, so what is not understood stays as it is,
//! line for line.

/// A note's file, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    /// The lines of the head as they are.
    head: Vec<String>,
    /// What comes after it.
    pub(super) body: String,
}

/// What a head may say of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It comes first.
    Pinned,
    /// Other agents may read it.
    Shared,
}

impl Mark {
    fn key(self) -> &'static str {
        match self {
            Mark::Pinned => "pinned",
            Mark::Shared => "shared",
        }
    }
}

const FENCE: &str = "---";

impl Document {
    pub(super) fn new(title: &str, body: &str) -> Self {
        let mut document = Document::default();
        document.set_title(title);
        document.set_body(body);
        document
    }

    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let whole = || Document {
            head: Vec::new(),
            body: text.to_owned(),
        };
        let is_fence = |line: &str| line.trim_end() == FENCE;
        let mut lines = text.split_inclusive('\n');
        if !lines.next().is_some_and(is_fence) {
            return whole();
        }
        let mut head = Vec::new();
        for line in lines.by_ref() {
            if !is_fence(line) {
                head.push(line.trim_end_matches(['\n', '\r']).to_owned());
                continue;
            }
            let body: String = lines.collect();
            let after_blank = body
                .strip_prefix('\n')
                .or_else(|| body.strip_prefix("\r\n"));
            return Document {
                head,
                body: after_blank.unwrap_or(&body).to_owned(),
            };
        }
        whole()
    }

    pub(super) fn render(&self) -> String {
        if self.head.is_empty() && !self.body.starts_with(FENCE) {
            return self.body.clone();
        }
        let mut text = format!("{FENCE}\n");
        for line in &self.head {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(FENCE);
        text.push_str("\n\n");
        text.push_str(&self.body);
        text
    }

    /// What it is called: by its head, else by its first heading.
    pub(super) fn title(&self) -> Option<String> {
        let heading = || {
            let first = self.body.lines().find(|it| !it.trim().is_empty())?;
            first.strip_prefix("# ").map(|it| it.trim().to_owned())
        };
        self.value("title")
            .or_else(heading)
            .filter(|it| !it.is_empty())
    }

    pub(super) fn set_title(&mut self, title: &str) {
        self.set("title", Some(written(title)));
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.value(mark.key())
            .is_some_and(|it| it == "true" || it == "yes")
    }

    pub(super) fn mark(&mut self, mark: Mark) {
        self.set(mark.key(), Some("true".to_owned()));
    }

    pub(super) fn unmark(&mut self, mark: Mark) {
        self.set(mark.key(), None);
    }

    pub(super) fn set_body(&mut self, body: &str) {
        self.body = format!("{}\n", body.trim_end());
    }

    fn value(&self, key: &str) -> Option<String> {
        let text = self.head.iter().find_map(|it| value_of(it, key))?;
        Some(match text.strip_prefix('\'') {
            Some(quoted) => quoted
                .strip_suffix('\'')
                .unwrap_or(quoted)
                .replace("''", "'"),
            None => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()),
        })
    }

    fn set(&mut self, key: &str, value: Option<String>) {
        let at = self.head.iter().position(|it| value_of(it, key).is_some());
        match (at, value.map(|it| format!("{key}: {it}"))) {
            (Some(at), Some(line)) => {
                if let Some(known) = self.head.get_mut(at) {
                    *known = line;
                }
            }
            (None, Some(line)) => self.head.push(line),
            (Some(at), None) => {
                self.head.remove(at);
            }
            (None, None) => {}
        }
    }
}

/// The value of a line of the head, if the line is about this key.
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(key)?.strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim())
}

/// A text as YAML takes it: as it is where nothing in it means something, else quoted.
fn written(text: &str) -> String {
    let is_plain = text.starts_with(char::is_alphabetic)
        && text.trim() == text
        && text
            .chars()
            .all(|it| it.is_alphanumeric() || " -_,./()&'+".contains(it))
        && !["true", "false", "yes", "no", "on", "off", "null"]
            .contains(&text.to_lowercase().as_str());
    match is_plain {
        true => text.to_owned(),
        false => serde_json::Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_can_be_read_by_a_person() {
        let mut note = Document::new("Release: the plan", "First this.\n\nThen that.\n\n");
        note.mark(Mark::Pinned);
        expect![[r#"
            ---
            title: "Release: the plan"
            pinned: true
            ---

            First this.

            Then that.
        "#]]
        .assert_eq(&note.render());
    }

    #[test]
    fn what_a_person_wrote_stays() {
        let text = "---\ntags:\n  - a\ntitle: 'It''s mine'\n# why\npinned: yes\n---\nText\n";
        let mut note = Document::parse(text);
        assert_eq!(note.title().unwrap(), "It's mine");
        assert!(note.has(Mark::Pinned) && !note.has(Mark::Shared));
        note.unmark(Mark::Pinned);
        note.mark(Mark::Shared);
        expect![[r#"
            ---
            tags:
              - a
            title: 'It''s mine'
            # why
            shared: true
            ---

            Text
        "#]]
        .assert_eq(&note.render());
    }

    #[test]
    fn titles_come_from_the_head_or_the_first_heading() {
        for (text, title) in [
            ("---\ntitle: One\n---\n# Two\n", Some("One")),
            ("---\r\ntitle: One\r\n---\r\n\r\nText", Some("One")),
            ("\u{feff}---\ntitle: \"O\\u0041\"\n---\n", Some("OA")),
            ("\n# Two \n", Some("Two")),
            ("---\ntitle:\n---\n# Two", None),
            ("---\ntitles: x\n---\nText", None),
            ("---\ntitle: never closed\nText", None),
            ("", None),
        ] {
            assert_eq!(Document::parse(text).title().as_deref(), title, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(title in "[^\\p{C}\n]{0,20}", body in "(---|\n|\r\n|[a-z: ]{0,5}){0,8}") {
            let mut note = Document::parse(&body);
            prop_assert_eq!(Document::parse(&note.render()), note.clone());
            note.set_title(&title);
            prop_assert_eq!(note.value("title"), Some(title));
            note.mark(Mark::Shared);
            prop_assert_eq!(Document::parse(&note.render()), note);
        }
    }
}
