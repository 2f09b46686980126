//! The calls of an agent that are between two requests, each found again by a word nobody can
//! guess. Bounded in number and time: whoever walks away from a question loses the call.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::held::{HeldCall, TaskTerms};

/// How long a question waits for its answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(600);
/// How long a task is kept whose provider does not say.
const TASK_KEPT: Duration = Duration::from_secs(3600);
/// How long at most.
const TASK_KEPT_MOST: Duration = Duration::from_secs(24 * 3600);
/// How many calls may wait.
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
    until: Instant,
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
        self.terms.keeps.unwrap_or(TASK_KEPT).min(TASK_KEPT_MOST)
    }
}

impl Rounds {
    /// Keeps a call until its question is answered. The answer is the word to find it by.
    pub(crate) fn wait(&self, call: Arc<HeldCall>, about: String) -> Option<String> {
        let now = Instant::now();
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, it| {
            let stays = it.until > now;
            if !stays {
                it.call.cancel.cancel();
            }
            stays
        });
        if waiting.len() >= MOST {
            let oldest = waiting.iter().min_by_key(|(_, it)| it.until);
            if let Some(word) = oldest.map(|(word, _)| word.clone())
                && let Some(gone) = waiting.remove(&word)
            {
                gone.call.cancel.cancel();
            }
        }
        let word = unguessable()?;
        let until = now + ANSWER_WITHIN;
        waiting.insert(word.clone(), Waiting { call, about, until });
        Some(word)
    }

    /// The call behind a word, if the word was given for such a call.
    pub(crate) fn resume(&self, word: &str, about: &str) -> Option<Arc<HeldCall>> {
        let mut waiting = self.waiting.lock();
        let now = Instant::now();
        waiting
            .get(word)
            .filter(|it| it.about == about && it.until > now)?;
        waiting.remove(word).map(|it| it.call)
    }

    /// Keeps a call that goes on by itself. The answer is its name.
    pub(crate) fn keep(
        &self,
        call: Arc<HeldCall>,
        terms: TaskTerms,
    ) -> Option<(String, Arc<Task>)> {
        let now = Instant::now();
        let mut tasks = self.tasks.lock();
        tasks.retain(|_, it| {
            let stays = it.until > now;
            if !stays {
                it.call.cancel.cancel();
            }
            stays
        });
        if tasks.len() >= MOST {
            let oldest = tasks.iter().min_by_key(|(_, it)| it.until);
            if let Some(name) = oldest.map(|(name, _)| name.clone())
                && let Some(gone) = tasks.remove(&name)
            {
                gone.call.cancel.cancel();
            }
        }
        let name = unguessable()?;
        let mut task = Task {
            call,
            terms,
            created: jiff::Timestamp::now(),
            until: now,
        };
        task.until = now + task.kept();
        let task = Arc::new(task);
        tasks.insert(name.clone(), Arc::clone(&task));
        Some((name, task))
    }

    /// A task by its name.
    pub(crate) fn task(&self, name: &str) -> Option<Arc<Task>> {
        let tasks = self.tasks.lock();
        tasks
            .get(name)
            .filter(|it| it.until > Instant::now())
            .cloned()
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
