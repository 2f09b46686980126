//! The measurements as a page.

use std::fmt::Write;

use crate::measure::{Shown, Turn};
use crate::world::{BUDGET, LIMIT};

/// Everything the page says.
pub(crate) struct Page {
    pub(crate) data: String,
    pub(crate) tools: usize,
    pub(crate) servers: usize,
    pub(crate) everything: u32,
    pub(crate) goals: Vec<(String, Shown)>,
    pub(crate) turns: Vec<Turn>,
}

impl Page {
    pub(crate) fn text(&self) -> String {
        let mut out = format!(
            "<!-- written by `cargo xtask exposure` -->\n\
            # What a model has to read\n\n\
            One agent is granted all of `{}`: {} tools of {} servers, mode `ask`, the default \
            budget of {} tokens and {} entries, no config and no model of embeddings. Tokens are \
            those of `o200k_base`, over the definitions as they are sent (chat completions format) \
            and the lines below them. Listing every tool costs {} tokens.\n\n",
            self.data,
            thousands(self.tools as u64),
            self.servers,
            thousands(u64::from(BUDGET)),
            LIMIT,
            thousands(u64::from(self.everything)),
        );
        self.goals(&mut out);
        self.turns(&mut out);
        self.task(&mut out);
        out += "\n## Again\n\n\
            `cargo xtask exposure [DIR]` measures a folder with a `tools.jsonl` and writes this \
            page. The tasks stand in `crates/ambit/examples/exposure/goals.txt`, the session in \
            `session.txt` beside it; on other data the session's tools are not there, and it is \
            left out.\n";
        out
    }

    fn goals(&self, out: &mut String) {
        *out += "## First turn\n\n\
            What is shown for a task, at the beginning of a session. In full: the whole definition. \
            A card: what it does and the names of what it takes. A line: name and one sentence.\n\n\
            | task | in full | cards | lines | tokens | of everything |\n|---|---|---|---|---|---|\n";
        for (goal, it) in &self.goals {
            let _ = writeln!(
                out,
                "| {goal} | {} | {} | {} | {} | {} |",
                it.full,
                it.cards,
                it.lines,
                thousands(u64::from(it.tokens)),
                percent(it.tokens, self.everything),
            );
        }
        let tokens: u32 = self.goals.iter().map(|it| it.1.tokens).sum();
        let mean = tokens / u32::try_from(self.goals.len().max(1)).unwrap_or(1);
        let share = percent(mean, self.everything);
        let _ = writeln!(
            out,
            "| mean | | | | {} | {share} |",
            thousands(u64::from(mean))
        );
    }

    fn turns(&self, out: &mut String) {
        if self.turns.is_empty() {
            return;
        }
        let _ = write!(
            out,
            "\n## A session of {} turns\n\n\
            The prefix is what stands at the beginning exactly as it stood there the turn before: \
            what a provider's prompt cache can keep. While there is room, what is new comes last \
            and all of the prefix stays. Once the budget is full, what is new takes older entries' \
            definitions down to a card or a line, and the prefix ends at the first of them. \
            The session is written by hand, and was revised until every call in it went to a tool \
            that was visible: it shows what a session costs, not how often one succeeds.\n\n\
            | turn | before it | entries | new | gone | tokens | kept prefix | of the turn before |\n\
            |---|---|---|---|---|---|---|---|\n",
            self.turns.len()
        );
        let mut before = 0;
        for (number, it) in (1..).zip(&self.turns) {
            let shown = it.shown;
            let _ = writeln!(
                out,
                "| {number} | {} | {} | {} | {} | {} | {} | {} |",
                it.happened.join(", "),
                shown.full + shown.cards + shown.lines,
                it.added,
                it.removed,
                thousands(u64::from(shown.tokens)),
                thousands(u64::from(it.kept)),
                if number == 1 {
                    "–".to_owned()
                } else {
                    percent(it.kept, before)
                },
            );
            before = shown.tokens;
        }
        let sum = |of: fn(&Turn) -> u32| self.turns.iter().map(of).sum::<u32>();
        let last = self.turns.last().map_or(0, |it| it.shown.tokens);
        let _ = writeln!(
            out,
            "\nOf the {} tokens a cache could keep from one turn to the next, {} were kept: {}.",
            thousands(u64::from(sum(|it| it.shown.tokens) - last)),
            thousands(u64::from(sum(|it| it.kept))),
            percent(sum(|it| it.kept), sum(|it| it.shown.tokens) - last),
        );
    }

    fn task(&self, out: &mut String) {
        if self.turns.is_empty() {
            return;
        }
        let sum = |of: fn(&Turn) -> u32| self.turns.iter().map(of).sum::<u32>();
        *out += "\n## What the whole session costs\n\n\
            Summed over all turns, what is sent of tools and nothing else. What a cache can keep is \
            counted apart, since providers charge less for it. Answers to searches are counted \
            once; they stay in the conversation, as all answers do. Listing everything keeps its \
            prefix until a server in the middle of the list goes away.\n\n\
            | | sent | of which cached | not cached | answers to searches |\n|---|---|---|---|---|\n";
        for (what, sent, kept, searches) in [
            (
                "Ambit",
                sum(|it| it.shown.tokens),
                sum(|it| it.kept),
                sum(|it| it.searches),
            ),
            (
                "everything, every turn",
                sum(|it| it.everything),
                sum(|it| it.everything_kept),
                0,
            ),
        ] {
            let [sent, kept, rest, searches] =
                [sent, kept, sent - kept, searches].map(|it| thousands(u64::from(it)));
            let _ = writeln!(out, "| {what} | {sent} | {kept} | {rest} | {searches} |");
        }
    }
}

fn percent(part: u32, whole: u32) -> String {
    format!("{:.1} %", 100.0 * f64::from(part) / f64::from(whole.max(1)))
}

fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1_000), number % 1_000),
    }
}
