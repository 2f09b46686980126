//! The events of a run as they are written, one per line, for a program that reads them. Those of
//! sub-agents are among them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_agent::runner::{RunListener, RunNews};
use ambit_core::lineage::Lineage;
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::{Event, EventFilter, Journal, JournalError, SessionId};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::cli::printer::Printer;

/// Sessions of the run, and how far each was printed.
type Printed = Arc<Mutex<BTreeMap<SessionId, u64>>>;

/// Follows the journal.
pub(super) struct EventStream {
    printed: Printed,
    /// Older events belong to an earlier run.
    begins: u64,
    following: JoinHandle<()>,
    last: CancellationToken,
}

/// Hears which sessions belong to the run.
struct Sessions {
    printed: Printed,
    begins: u64,
}

impl RunListener for Sessions {
    fn hear(&self, _: &Lineage, news: RunNews<'_>) {
        if let RunNews::Opened(session) = news {
            let mut printed = self.printed.lock();
            printed.insert(session.id().clone(), self.begins);
        }
    }
}

impl EventStream {
    /// From now on.
    pub(super) fn follow(journal: Journal) -> Self {
        let begins = journal.reader().and_then(|it| it.last()).unwrap_or(0);
        let printed: Printed = Arc::default();
        let last = CancellationToken::new();
        let (followed, ends) = (Arc::clone(&printed), last.clone());
        let following = tokio::spawn(async move {
            let mut written = journal.written();
            loop {
                // Before looking: what is written meanwhile wakes the next look.
                written.mark_unchanged();
                let is_last = ends.is_cancelled();
                let (reading, known) = (journal.clone(), followed.lock().clone());
                let read = tokio::task::spawn_blocking(move || news(&reading, known));
                let events = read.await.ok().and_then(Result::ok).unwrap_or_default();
                let printer = Printer::new(true);
                for event in &events {
                    followed.lock().insert(event.session.clone(), event.seq);
                    printer.json_line(event);
                }
                if is_last {
                    return;
                }
                tokio::select! {
                    _ = written.changed() => {}
                    () = ends.cancelled() => {}
                }
            }
        });
        EventStream {
            printed,
            begins,
            following,
            last,
        }
    }

    /// What tells it which sessions to follow.
    pub(super) fn listener(&self) -> Arc<dyn RunListener> {
        Arc::new(Sessions {
            printed: Arc::clone(&self.printed),
            begins: self.begins,
        })
    }

    /// Prints what is left. The journal has been flushed.
    pub(super) async fn finish(self) {
        self.last.cancel();
        let _ = self.following.await;
    }
}

/// What was written since, in order.
fn news(journal: &Journal, printed: BTreeMap<SessionId, u64>) -> Result<Vec<Event>, JournalError> {
    let reader = journal.reader()?;
    let mut events = Vec::new();
    for (session, seen) in printed {
        events.extend(reader.events(&EventFilter {
            session: Some(session),
            after: Some(seen),
            ..EventFilter::default()
        })?);
    }
    events.sort_by_key(|it| it.seq);
    Ok(events)
}
