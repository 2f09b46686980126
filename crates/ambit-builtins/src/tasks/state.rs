//! The life of a task, as one pure function: from a state and what is to be done with it to the
//! next state, or to the reason why not. Two things always hold: a done task has nothing
//! unfinished in it, and nothing is unfinished in a task that has ended.

use std::fmt;
use std::str::FromStr;

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Being thought about; nobody should begin.
    Draft,
    /// To be done.
    Open,
    Done,
    Cancelled,
}

impl State {
    pub(super) const ALL: [State; 4] = [State::Draft, State::Open, State::Done, State::Cancelled];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            State::Draft => "draft",
            State::Open => "open",
            State::Done => "done",
            State::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more is to be done in it.
    pub(super) fn has_ended(self) -> bool {
        matches!(self, State::Done | State::Cancelled)
    }
}

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = State::ALL.into_iter().find(|it| it.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is not a state of a task"))
    }
}

/// What is to be done with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Changing anything but its state, a new subtask included.
    Edit,
    /// A draft is ready, or an ended task is taken up again.
    Open,
    Complete,
    Cancel,
}

/// What of a task's surroundings matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    /// Steps and subtasks that are not finished.
    pub(super) unfinished: usize,
    /// The state of the task it is a part of.
    pub(super) parent: Option<State>,
}

/// Why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusedReason {
    Ended(State),
    StillDraft,
    Unfinished,
    ParentEnded(State),
}

impl fmt::Display for RefusedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RefusedReason::Ended(state) => write!(
                f,
                "it is {}; take it up again first, with update_task and `state` `open`",
                state.as_str()
            ),
            RefusedReason::StillDraft => f.write_str(
                "it is a draft; open it first, with update_task and `state` `open`, or cancel it",
            ),
            RefusedReason::Unfinished => f.write_str("not everything in it is finished"),
            RefusedReason::ParentEnded(state) => write!(
                f,
                "the task it is a part of is {}; take that up again first",
                state.as_str()
            ),
        }
    }
}

/// The state after an act. The same state again means that nothing changes.
pub(super) fn next(state: State, act: Act, around: Around) -> Result<State, RefusedReason> {
    let ended_parent = around.parent.filter(|it| it.has_ended());
    match (state, act) {
        (State::Draft | State::Open, Act::Edit) => Ok(state),
        (State::Done | State::Cancelled, Act::Edit) => Err(RefusedReason::Ended(state)),
        (_, Act::Open) => match ended_parent {
            Some(parent) => Err(RefusedReason::ParentEnded(parent)),
            None => Ok(State::Open),
        },
        (State::Draft, Act::Complete) => Err(RefusedReason::StillDraft),
        (State::Open, Act::Complete) if around.unfinished > 0 => Err(RefusedReason::Unfinished),
        (State::Open | State::Done, Act::Complete) => Ok(State::Done),
        (State::Cancelled, Act::Complete) => Err(RefusedReason::Ended(state)),
        (State::Draft | State::Open | State::Cancelled, Act::Cancel) => Ok(State::Cancelled),
        (State::Done, Act::Cancel) => Err(RefusedReason::Ended(state)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole table: state, act, unfinished things, the parent's state, and what comes of it.
    const TABLE: &str = "
        draft      edit      0  -          draft
        draft      open      0  -          open
        draft      open      3  open       open
        draft      open      0  draft      open
        draft      open      0  done       parent done
        draft      open      0  cancelled  parent cancelled
        draft      complete  0  -          still draft
        draft      cancel    9  -          cancelled
        open       edit      1  -          open
        open       open      1  -          open
        open       complete  0  -          done
        open       complete  1  -          unfinished
        open       cancel    1  -          cancelled
        done       edit      0  -          ended done
        done       open      0  -          open
        done       open      0  cancelled  parent cancelled
        done       complete  0  -          done
        done       cancel    0  -          ended done
        cancelled  edit      0  -          ended cancelled
        cancelled  open      0  -          open
        cancelled  open      0  done       parent done
        cancelled  complete  0  -          ended cancelled
        cancelled  cancel    0  -          cancelled";

    #[test]
    fn the_life_of_a_task() {
        for line in TABLE.trim().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let act = match words[1] {
                "edit" => Act::Edit,
                "open" => Act::Open,
                "complete" => Act::Complete,
                _ => Act::Cancel,
            };
            let around = Around {
                unfinished: words[2].parse().unwrap(),
                parent: words[3].parse().ok(),
            };
            let said = match next(words[0].parse().unwrap(), act, around) {
                Ok(state) => state.as_str().to_owned(),
                Err(RefusedReason::Ended(state)) => format!("ended {}", state.as_str()),
                Err(RefusedReason::StillDraft) => "still draft".to_owned(),
                Err(RefusedReason::Unfinished) => "unfinished".to_owned(),
                Err(RefusedReason::ParentEnded(state)) => format!("parent {}", state.as_str()),
            };
            assert_eq!(said, words[4..].join(" "), "{line}");
        }
    }
}
