//! A run for the person who watches: what became visible and why, what is called and how it ended,
//! and what the model says as it says it.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

use ambit_agent::engine::ModelNews;
use ambit_agent::runner::{RunListener, RunNews};
use ambit_core::intent::CallId;
use ambit_core::lineage::Lineage;
use ambit_core::observation::Observation;
use ambit_core::printable::printable;
use ambit_runtime::conversation::Notice;
use parking_lot::Mutex;

use super::spinner::Spinner;
use super::words;
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, WARN, fit, styled};

/// Whether what the model says is shown while it says it. Otherwise standard output is for the
/// answer alone.
pub(super) fn is_live() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Shows a run.
pub(super) struct Show {
    spinner: Spinner,
    live: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is called, and what it is called with.
    running: BTreeMap<CallId, (String, String)>,
    /// Whether the last thing on the screen is text without a line end.
    midline: bool,
}

impl Show {
    pub(super) fn new() -> Self {
        Show {
            spinner: Spinner::new(),
            live: is_live(),
            state: Mutex::default(),
        }
    }

    fn line(&self, who: &Lineage, text: &str) {
        let mut state = self.state.lock();
        if std::mem::take(&mut state.midline) {
            self.spinner.text("\n");
        }
        let depth = who.agents().len().saturating_sub(1);
        self.spinner
            .line(&format!("{}{text}", "  │ ".repeat(depth)));
    }

    fn said(&self, who: &Lineage, text: &str) {
        // Sub-agents answer to their parent, not to the person.
        if !self.live || who.agents().len() > 1 || text.is_empty() {
            return;
        }
        self.state.lock().midline = !text.ends_with('\n');
        let lines: Vec<String> = text.split('\n').map(printable).collect();
        self.spinner.text(&lines.join("\n"));
    }

    fn model(&self, who: &Lineage, news: ModelNews<'_>) {
        match news {
            ModelNews::Text(text) => self.said(who, text),
            ModelNews::Thinking(_) => self.spinner.detail("thinking"),
            ModelNews::Calling(tool) => {
                self.spinner
                    .wait_for(format!("writing a call of {}", printable(tool)));
            }
            ModelNews::StartsOver { why, pause } => {
                let text = format!(
                    "  the model is asked again in {:.1} s: {}",
                    pause.as_secs_f32(),
                    printable(why)
                );
                self.line(who, &styled(WARN, text));
            }
        }
    }

    fn called(
        &self,
        who: &Lineage,
        call: &CallId,
        name: &str,
        observation: &Observation,
        duration: std::time::Duration,
    ) {
        let running = self.state.lock().running.remove(call);
        let with = running.map_or(String::new(), |(_, with)| with);
        let time = styled(DIM, words::time(duration));
        let name = styled(BOLD, printable(name));
        let text = match observation {
            Observation::Completed(done) => {
                let cut = match done.result_ref {
                    Some(_) => styled(DIM, " (cut)"),
                    None => String::new(),
                };
                format!("  {} {name} {with} {time}{cut}", styled(GOOD, "✓"))
            }
            other => {
                let code = other.code().map_or("", |it| it.as_str());
                let reason = fit(&printable(other.reason().unwrap_or_default()), 160);
                let why = styled(WARN, format!("{} ({code}): {reason}", other.status()));
                format!("  {} {name} {with} {time}\n    {why}", styled(BAD, "✗"))
            }
        };
        self.line(who, &text);
        self.waiting();
    }

    /// What is waited for now.
    fn waiting(&self) {
        let state = self.state.lock();
        match state.running.values().next() {
            Some((name, with)) => self.spinner.wait_for(format!("{name} {with}")),
            None => self.spinner.wait_for("asking the model"),
        }
    }
}

impl RunListener for Show {
    fn hear(&self, who: &Lineage, news: RunNews<'_>) {
        match news {
            RunNews::Opened(session) => {
                let what = match who.agents().len() {
                    1 => format!("{} at work in session {}", session.agent(), session.id()),
                    _ => format!("{who} in session {}", session.id()),
                };
                self.line(who, &styled(DIM, what));
            }
            RunNews::Turn(turn) => {
                let lines = words::turn(turn);
                lines.iter().for_each(|it| self.line(who, it));
                self.spinner.wait_for("asking the model");
            }
            RunNews::Model(news) => self.model(who, news),
            RunNews::Responded(turn) => {
                self.spinner.stop();
                let text = turn.text();
                // The answer itself goes to standard output, in the end.
                let is_answer = turn.calls().next().is_none();
                if !self.live && !text.trim().is_empty() && !is_answer {
                    for line in text.trim().lines() {
                        self.line(who, &format!("  {}", printable(line)));
                    }
                }
                if std::mem::take(&mut self.state.lock().midline) {
                    self.spinner.text("\n");
                }
            }
            RunNews::Calling {
                call,
                name,
                arguments,
            } => {
                let with = words::arguments(arguments);
                let entry = (printable(name), with);
                self.state.lock().running.insert(call.clone(), entry);
                self.waiting();
            }
            RunNews::Noticed { call, notice } => {
                if let Notice::Progress {
                    progress,
                    total,
                    message,
                } = notice
                {
                    let name = self.state.lock().running.get(call).map(|it| it.0.clone());
                    let far = words::progress(*progress, *total, message.as_deref());
                    self.spinner
                        .detail(format!("{}: {far}", name.unwrap_or_default()));
                }
            }
            RunNews::Called {
                call,
                name,
                observation,
                duration,
            } => self.called(who, call, name, observation, duration),
            RunNews::Compacted { from, to } => {
                let text = format!(
                    "  the conversation was compacted from {} to {} tokens",
                    words::number(from),
                    words::number(to)
                );
                self.line(who, &styled(DIM, text));
            }
            RunNews::Finished(report) => {
                self.spinner.stop();
                if who.agents().len() > 1 {
                    let text = format!("{}, {} turns", report.ended, report.turns);
                    self.line(who, &styled(DIM, text));
                }
            }
        }
    }
}
