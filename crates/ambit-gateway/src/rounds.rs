//! The calls of an agent that are between two requests, each found again by a word nobody can
//! guess. Bounded in number, and in time: a question waits as long as a person may take, and a task
//! is kept as long as its provider says.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::held::{HeldCall, TaskTerms};

/// How long a task is kept whose provider does not say.
const TASK_KEPT: Duration = Duration::from_secs(3600);
/// How long at most.
const TASK_KEPT_MOST: Duration = Duration::from_secs(24 * 3600);
/// How many calls of each sort may wait.
const MOST: usize = 1000;
/// Bytes of such a word: as hard to guess as a key.
const WORD: usize = 24;

/// Calls between requests.
#[derive(Default)]
pub(crate) struct Rounds {
    waiting: Mutex<HashMap<String, Waiting>>,
    tasks: Mutex<HashMap<String, Arc<Task>>>,
}

struct Waiting {
    call: Arc<HeldCall>,
    /// What was called: an answer to one call is none to another.
    about: String,
    since: Instant,
}

/// A call that goes on by itself.
pub(crate) struct Task {
    pub(crate) call: Arc<HeldCall>,
    pub(crate) terms: TaskTerms,
    pub(crate) created: jiff::Timestamp,
    until: Instant,
}

impl Task {
    /// How long it is kept.
    pub(crate) fn kept(&self) -> Duration {
        self.terms.kept()
    }
}

impl TaskTerms {
    fn kept(&self) -> Duration {
        self.keeps.unwrap_or(TASK_KEPT).min(TASK_KEPT_MOST)
    }
}

/// Something that is kept under a word for a while.
trait Kept {
    /// Whether nobody can come for it any more.
    fn is_over(&self) -> bool;

    /// The smallest goes first where there are too many.
    fn age(&self) -> Instant;

    fn call(&self) -> &HeldCall;
}

impl Kept for Waiting {
    /// A question nobody answered in time has ended its call.
    fn is_over(&self) -> bool {
        self.call.has_ended()
    }

    fn age(&self) -> Instant {
        self.since
    }

    fn call(&self) -> &HeldCall {
        &self.call
    }
}

impl Kept for Arc<Task> {
    fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }

    fn age(&self) -> Instant {
        self.until
    }

    fn call(&self) -> &HeldCall {
        &self.call
    }
}

/// Keeps one more, in the place of what is over or oldest. The answer is the word to find it by.
fn keep<T: Kept>(shelf: &Mutex<HashMap<String, T>>, kept: T) -> Option<String> {
    let word = unguessable()?;
    let mut shelf = shelf.lock();
    shelf.retain(|_, it| {
        if it.is_over() {
            it.call().cancel.cancel();
        }
        !it.is_over()
    });
    if shelf.len() >= MOST {
        let oldest = shelf.iter().min_by_key(|(_, it)| it.age());
        let oldest = oldest.map(|(word, _)| word.clone());
        if let Some(gone) = oldest.and_then(|it| shelf.remove(&it)) {
            gone.call().cancel.cancel();
        }
    }
    shelf.insert(word.clone(), kept);
    Some(word)
}

impl Rounds {
    /// Keeps a call until its question is answered.
    pub(crate) fn wait(&self, call: Arc<HeldCall>, about: String) -> Option<String> {
        let since = Instant::now();
        keep(&self.waiting, Waiting { call, about, since })
    }

    /// The call behind a word, if the word was given for such a call.
    pub(crate) fn resume(&self, word: &str, about: &str) -> Option<Arc<HeldCall>> {
        let mut waiting = self.waiting.lock();
        waiting
            .get(word)
            .filter(|it| it.about == about && !it.is_over())?;
        waiting.remove(word).map(|it| it.call)
    }

    /// Keeps a call that goes on by itself. The answer is its name.
    pub(crate) fn keep(
        &self,
        call: Arc<HeldCall>,
        terms: TaskTerms,
    ) -> Option<(String, Arc<Task>)> {
        let task = Arc::new(Task {
            call,
            terms,
            created: jiff::Timestamp::now(),
            until: Instant::now() + terms.kept(),
        });
        let name = keep(&self.tasks, Arc::clone(&task))?;
        Some((name, task))
    }

    /// A task by its name.
    pub(crate) fn task(&self, name: &str) -> Option<Arc<Task>> {
        let tasks = self.tasks.lock();
        tasks.get(name).filter(|it| !it.is_over()).cloned()
    }
}

/// Nothing, where there is no source of such words.
fn unguessable() -> Option<String> {
    let mut bytes = [0u8; WORD];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Drop for Rounds {
    fn drop(&mut self) {
        let waiting = self.waiting.get_mut().drain().map(|(_, it)| it.call);
        let tasks = self
            .tasks
            .get_mut()
            .drain()
            .map(|(_, it)| Arc::clone(&it.call));
        waiting.chain(tasks).for_each(|it| it.cancel.cancel());
    }
}
