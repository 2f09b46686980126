//! `SKILL.md` texts and what is wrong with them: judged by this crate in `format.rs`, and by
//! the format's public validator in `public_validator.rs`.

/// One `SKILL.md`.
pub(crate) struct Case {
    /// The folder it stands in.
    pub(crate) folder: &'static str,
    /// The text. `{long:N}` stands for N letters.
    pub(crate) text: &'static str,
    /// Beginnings of the messages expected, in order: errors after `E `, warnings after `W `.
    // Only `format.rs` looks at the messages.
    #[allow(dead_code)]
    pub(crate) problems: &'static [&'static str],
}

impl Case {
    /// The text with its placeholders filled in.
    pub(crate) fn skill_md(&self) -> String {
        let mut text = self.text.to_owned();
        while let Some((before, rest)) = text.split_once("{long:") {
            let (count, after) = rest.split_once('}').expect("a closed placeholder");
            let long = "x".repeat(count.parse().expect("a count"));
            text = format!("{before}{long}{after}");
        }
        text
    }
}

const fn case(folder: &'static str, text: &'static str, problems: &'static [&'static str]) -> Case {
    Case {
        folder,
        text,
        problems,
    }
}

/// All of them, one per line.
#[rustfmt::skip]
pub(crate) const CASES: &[Case] = &[
    // Where the frontmatter is.
    case("ok", "---\nname: ok\ndescription: Does it.\n---\nBody.", &[]),
    case("ok", "---\r\nname: ok\r\ndescription: Does it.\r\n---\r\nBody.\r\n", &[]),
    case("ok", "---\rname: ok\rdescription: Does it.\r---\rBody.", &[]),
    case("ok", "---\nname: ok\ndescription: x\n---", &[]),
    case("ok", "--- # comment\nname: ok\ndescription: x # y\n---\n", &[]),
    case("ok", "---name: ok\ndescription: x\n---\n", &[]),
    case("ok", "---\n  name: ok\n  description: x\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x\n...\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x --- y\n---\n", &["W the `---` inside line 3"]),
    case("ok", "---\ndescription: x --- y\nname: ok\n---\n", &["W the `---` inside line 2", "E missing required field `name`"]),
    case("ok", "---\nname: ok\ndescription: x\n----\n", &["W the `---` inside line 4"]),
    case("ok", "", &["E `SKILL.md` does not start"]),
    case("ok", "# Title\n", &["E `SKILL.md` does not start"]),
    case("ok", "\n---\nname: ok\ndescription: x\n---\n", &["E `SKILL.md` does not start"]),
    case("ok", " ---\nname: ok\ndescription: x\n---\n", &["E `SKILL.md` does not start"]),
    case("ok", "%YAML 1.2\n---\nname: ok\ndescription: x\n---\n", &["E `SKILL.md` does not start"]),
    case("ok", "\u{FEFF}---\nname: ok\ndescription: x\n---\n", &["E `SKILL.md` starts with a byte order mark"]),
    case("ok", "---", &["E the frontmatter is not closed"]),
    case("ok", "---\nname: ok\ndescription: x\n", &["E the frontmatter is not closed"]),
    // What it is made of.
    case("ok", "---\n---\n", &["E the frontmatter is not a mapping"]),
    case("ok", "---\n# only a comment\n---\n", &["E the frontmatter is not a mapping"]),
    case("ok", "---\njust text\n---\n", &["E the frontmatter is not a mapping"]),
    case("ok", "---\n- name: ok\n---\n", &["E the frontmatter is not a mapping"]),
    case("ok", "--- name: ok\ndescription: x\n---\n", &["E "]),
    case("ok", "---\nname: ok\n\tdescription: x\n---\n", &["E invalid YAML in line 2"]),
    case("ok", "---\nname:\tok\ndescription: x\n---\n", &["E line 2 uses a tab"]),
    case("ok", "---\nname: ok\ndescription: x\ty\n---\n", &["E line 3 uses a tab"]),
    case("ok", "---\nname: ok\t\ndescription: x\n---\n", &["E line 2 uses a tab"]),
    case("ok", "---\nname: ok\ndescription: 'x\ty' # \t\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: |\n  x\ty\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: Use when: asked\n---\n", &["E invalid YAML in line 3"]),
    case("ok", "---\nname: ok\ndescription: @x\n---\n", &["E invalid YAML in line 3"]),
    case("ok", "---\nname: ok\ndescription: `x`\n---\n", &["E invalid YAML in line 3"]),
    case("ok", "---\nname: ok\ndescription: %x\n---\n", &["E invalid YAML in line 3"]),
    case("ok", "---\nname: ok\ndescription: \"x\n---\n", &["E invalid YAML"]),
    case("ok", "---\nname: ok\ndescription: |\n  a\n b\n---\n", &["E invalid YAML"]),
    case("ok", "---\nname: ok\ndescription: *x\n---\n", &["E invalid YAML in line 3"]),
    case("ok", "---\nname: ok\ndescription: &x y\n---\n", &["E line 3 uses an anchor or a tag"]),
    case("ok", "---\nname: ok\ndescription: !!str y\n---\n", &["E line 3 uses an anchor or a tag"]),
    case("ok", "---\nname: ok\ndescription: [x]\n---\n", &["E line 3 uses a list or mapping in brackets"]),
    case("ok", "---\n{name: ok, description: x}\n---\n", &["E line 2 uses a list or mapping in brackets"]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata: {a: b}\n---\n", &["E line 4 uses a list or mapping in brackets"]),
    case("ok", "---\nname: ok\ndescription: x\nallowed-tools: [Read]\n---\n", &["E line 4 uses a list or mapping in brackets"]),
    case("ok", "---\nname: ok\ndescription: x\n? - a\n: b\n---\n", &["E line 4 uses a key that is not a text"]),
    case("ok", "---\nname: ok\nname: ok\ndescription: x\n---\n", &["E the key `name` stands twice"]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata:\n  a: 1\n  a: 2\n---\n", &["E the key `a` stands twice"]),
    case("ok", "---\nname: ok\ndescription: a\u{7}b\n---\n", &["E the frontmatter has the control character U+0007"]),
    case("ok", "---\nname: ok\ndescription: a\u{7f}b\n---\n", &["E the frontmatter has the control character U+007F"]),
    case("ok", "---\nname: ok\ndescription: \"a\\x07b\\u00e9\"\n---\n", &[]),
    // Fields.
    case("ok", "---\nname: ok\n---\n", &["E missing required field `description`"]),
    case("ok", "---\ndescription: x\n---\n", &["E missing required field `name`"]),
    case("ok", "---\nlicense: MIT\n---\n", &["E missing required field `name`", "E missing required field `description`"]),
    case("ok", "---\nname:\ndescription:\n---\n", &["E the field `name` must be", "E the field `description` must be"]),
    case("ok", "---\nname: ok\ndescription: '  '\n---\n", &["E the field `description` must be"]),
    case("ok", "---\nname:\n  a: b\ndescription:\n  - x\n---\n", &["E the field `name` must be", "E the field `description` must be"]),
    case("true", "---\nname: true\ndescription: 1.50\n---\n", &[]),
    case("null", "---\nname: null\ndescription: ~\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: >\n  folded\n  text\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: |\n  kept\n  lines\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: plain\n  continued\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: {long:1024}\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: {long:1025}\n---\n", &["E the field `description` has 1025"]),
    case("ok", "---\nname: ok\ndescription: x\ncompatibility: {long:500}\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x\ncompatibility: {long:501}\n---\n", &["E the field `compatibility` has 501"]),
    case("ok", "---\nname: ok\ndescription: x\ncompatibility:\n  a: b\n---\n", &["E the field `compatibility` must be a text"]),
    case("ok", "---\nname: ok\ndescription: x\ncompatibility:\nlicense:\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x\nlicense: MIT\ncompatibility: Needs git\nmetadata:\n  author: me\n  version: \"1.0\"\n  flag: true\nallowed-tools: Bash(git:*) Read\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x\nlicense:\n  - MIT\n---\n", &["W the field `license` is ignored"]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata: text\n---\n", &["W the field `metadata` is ignored"]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata:\n  - a\n---\n", &["W the field `metadata` is ignored"]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata:\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata:\n  a:\n    b: c\n  d: e\n---\n", &["W the `metadata` keys `a` are ignored"]),
    case("ok", "---\nname: ok\ndescription: x\nallowed-tools:\n  - Read\n  - Bash(git add:*)\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x\nallowed-tools:\n  a: b\n---\n", &["W the field `allowed-tools` is ignored"]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata:\n  ambit-paths: src/** *.{ts,tsx}\n  ambit-keywords: review\n  ambit-fork: true\n---\n", &[]),
    case("ok", "---\nname: ok\ndescription: x\nmetadata:\n  ambit-fork: maybe\n---\n", &["W the hint `ambit-fork`"]),
    case("ok", "---\nname: ok\ndescription: x\nversion: 1\nmodel: y\n---\n", &["W unknown keys `model`, `version`"]),
    case("ok", "---\nname: ok\nversion: 1\n---\n", &["W unknown keys `version`", "E missing required field `description`"]),
    // Names.
    case("a", "---\nname: a\ndescription: x\n---\n", &[]),
    case("7", "---\nname: 7\ndescription: x\n---\n", &[]),
    case("ok", "---\nname: ' ok '\ndescription: x\n---\n", &[]),
    case("other", "---\nname: ok\ndescription: x\n---\n", &["E the name `ok` differs from its folder `other`"]),
    case("Ok", "---\nname: Ok\ndescription: x\n---\n", &["E the name `Ok` is not lower case"]),
    case("-ok", "---\nname: -ok\ndescription: x\n---\n", &["E the name `-ok` starts or ends"]),
    case("ok-", "---\nname: ok-\ndescription: x\n---\n", &["E the name `ok-` starts or ends"]),
    case("o--k", "---\nname: o--k\ndescription: x\n---\n", &["E the name `o--k` has two hyphens"]),
    case("o_k", "---\nname: o_k\ndescription: x\n---\n", &["E the name `o_k` has characters"]),
    case("o k", "---\nname: o k\ndescription: x\n---\n", &["E the name `o k` has characters"]),
    case("o.k", "---\nname: o.k\ndescription: x\n---\n", &["E the name `o.k` has characters"]),
    case("ok", "---\nname: -Bad--Name_\ndescription: x\n---\n", &["E the name `-Bad--Name_` is not lower", "E the name `-Bad--Name_` starts", "E the name `-Bad--Name_` has two", "E the name `-Bad--Name_` has char", "E the name `-Bad--Name_` differs"]),
    case("ok", "---\nname: {long:64}\ndescription: x\n---\n", &["E the name"]),
    case("ok", "---\nname: {long:65}\ndescription: x\n---\n", &["E the field `name` has 65", "E the name"]),
    case("café", "---\nname: café\ndescription: x\n---\n", &[]),
    case("cafe\u{301}", "---\nname: café\ndescription: x\n---\n", &[]),
    case("ﬁle", "---\nname: file\ndescription: x\n---\n", &[]),
    case("数据", "---\nname: 数据\ndescription: x\n---\n", &[]),
    case("हि", "---\nname: हि\ndescription: x\n---\n", &["E the name `हि` has characters"]),
    case("ÉTÉ", "---\nname: ÉTÉ\ndescription: x\n---\n", &["E the name `ÉTÉ` is not lower case"]),
];
