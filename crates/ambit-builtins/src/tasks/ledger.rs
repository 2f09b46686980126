//! Where tasks are kept. Every change of one is a version of it, saved with the entry of its
//! history in the same transaction: there is no other way to save.
//!
//! An agent sees the tasks it owns or made, those of the user, and whatever is part of one of
//! these. To it, the others are not there.

use ambit_core::observation::Failure;
use ambit_runtime::random::random_word;
use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, ToSql, Transaction, params, params_from_iter};

use super::changes;
use super::show;
use super::state::{Around, State};
use super::task::{Change, Party, Task};
use crate::store::cell::{json, list, time, word};
use crate::store::{Part, StoreError};

pub(crate) const PART: Part = Part {
    name: super::KEY,
    versions: &["
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    parent TEXT REFERENCES tasks (id),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    steps TEXT NOT NULL,
    resources TEXT NOT NULL,
    outcome TEXT,
    created_by TEXT NOT NULL,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_of_parent ON tasks (parent);
CREATE TABLE task_changes (
    task TEXT NOT NULL REFERENCES tasks (id),
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (task, version)
) STRICT"],
    tables: &["tasks", "task_changes"],
};

/// What an agent sees.
const SEEN: &str = "
WITH RECURSIVE seen (id) AS (
    SELECT id FROM tasks WHERE owner = 'user' OR owner = ?1 OR created_by = ?1
    UNION SELECT tasks.id FROM tasks JOIN seen ON tasks.parent = seen.id
)";

/// How far one below another.
const DEEPEST: usize = 4;
/// Most parts of one task.
const MOST_SUBTASKS: usize = 100;
/// Most that can be under way in a workspace.
const MOST_UNFINISHED: i64 = 1_000;

/// The tasks as one agent sees them, within one transaction.
pub(super) struct Ledger<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) me: &'t Party,
    pub(super) now: Timestamp,
}

/// Which tasks are asked for, and how many of them.
pub(super) struct Filter {
    pub(super) states: &'static [State],
    pub(super) owner: Option<Party>,
    pub(super) parent: Option<String>,
    pub(super) text: Option<String>,
    pub(super) limit: usize,
    pub(super) offset: usize,
}

impl Ledger<'_> {
    /// A task this agent sees.
    pub(super) fn find(&self, id: &str) -> Result<Task, StoreError> {
        let sql = format!("{SEEN} SELECT * FROM tasks WHERE id = ?2 AND id IN seen");
        let found = self
            .transaction
            .query_row(&sql, (self.me.to_string(), id), read)
            .optional()?;
        found.ok_or_else(|| {
            Failure::refused(format!(
                "no task `{id}` is known here; list_tasks shows those there are"
            ))
            .into()
        })
    }

    /// The same, if it is still as it was read.
    pub(super) fn unchanged(&self, id: &str, version: i64) -> Result<Task, StoreError> {
        let task = self.find(id)?;
        if task.version == version {
            return Ok(task);
        }
        Err(Failure::refused(format!(
            "not changed: `{id}` is at version {}, not {version}. It is now as below; apply your \
             change to that and try again with its version\n\n{}",
            task.version,
            show::whole(&task, &self.parts(id)?)
        ))
        .into())
    }

    /// The tasks that are directly a part of one, oldest first.
    pub(super) fn parts(&self, id: &str) -> Result<Vec<Task>, StoreError> {
        self.rows(
            "SELECT * FROM tasks WHERE parent = ?1 ORDER BY created, rowid",
            params![id],
        )
    }

    /// Everything in a task that has not ended, near ones first.
    pub(super) fn unended_below(&self, id: &str) -> Result<Vec<Task>, StoreError> {
        let mut found = Vec::new();
        let mut level = self.parts(id)?;
        // Bounded: an import may hold what no call could have made.
        for _ in 0..DEEPEST {
            let mut below = Vec::new();
            for task in &level {
                below.extend(self.parts(&task.id)?);
            }
            found.extend(level.into_iter().filter(|it| !it.state.has_ended()));
            level = below;
        }
        Ok(found)
    }

    /// What matters around a task for what may be done with it.
    pub(super) fn around(&self, task: &Task) -> Result<Around, StoreError> {
        let parts = self.parts(&task.id)?;
        let open = parts.iter().filter(|it| !it.state.has_ended()).count();
        Ok(Around {
            unfinished: open + task.unfinished_steps().count(),
            parent: self.parent(task)?.map(|it| it.state),
        })
    }

    fn parent(&self, task: &Task) -> Result<Option<Task>, StoreError> {
        let Some(id) = &task.parent else {
            return Ok(None);
        };
        let sql = "SELECT * FROM tasks WHERE id = ?1";
        Ok(self.transaction.query_row(sql, [id], read).optional()?)
    }

    /// Adds a task. Its id, version and times are made here.
    pub(super) fn add(&self, task: Task) -> Result<Task, StoreError> {
        let sql = "SELECT count(*) FROM tasks WHERE state IN ('draft', 'open')";
        let unfinished: i64 = self.transaction.query_row(sql, [], |row| row.get(0))?;
        if unfinished >= MOST_UNFINISHED {
            return Err(Failure::refused(format!(
                "there are {unfinished} unfinished tasks, the most that are kept; complete or \
                 cancel some first"
            ))
            .into());
        }
        if let Some(parent) = self.parent(&task)? {
            self.room_below(&parent)?;
        }
        let task = Task {
            id: format!("t-{}", random_word(8)),
            version: 1,
            created: self.now,
            changed: self.now,
            created_by: self.me.clone(),
            ..task
        };
        self.put(&task)?;
        let mut what = vec![format!("created: `{}`", task.title)];
        if let Some(parent) = &task.parent {
            what.push(format!("part of `{parent}`"));
        }
        self.tell(&task, &what)?;
        Ok(task)
    }

    fn room_below(&self, parent: &Task) -> Result<(), StoreError> {
        let count = self.parts(&parent.id)?.len();
        if count >= MOST_SUBTASKS {
            return Err(Failure::refused(format!(
                "`{}` has {count} subtasks, the most a task can have; use steps, or a subtask of \
                 one of its subtasks",
                parent.id
            ))
            .into());
        }
        let mut depth = 1;
        let mut at = parent.clone();
        while depth < DEEPEST
            && let Some(above) = self.parent(&at)?
        {
            depth += 1;
            at = above;
        }
        if depth >= DEEPEST {
            return Err(Failure::refused(format!(
                "`{}` is {depth} tasks deep, the deepest there is; give it steps instead, with \
                 update_steps",
                parent.id
            ))
            .into());
        }
        Ok(())
    }

    /// Saves a task as its next version, if anything is different.
    pub(super) fn save(&self, before: &Task, after: Task) -> Result<Task, StoreError> {
        let what = changes::between(before, &after);
        if what.is_empty() {
            return Ok(after);
        }
        let task = Task {
            version: before.version + 1,
            changed: self.now,
            ..after
        };
        self.put(&task)?;
        self.tell(&task, &what)?;
        Ok(task)
    }

    fn put(&self, task: &Task) -> Result<(), StoreError> {
        self.transaction.execute(
            "INSERT INTO tasks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (id) DO UPDATE SET title = ?3, description = ?4, owner = ?5, state = ?6,
             steps = ?7, resources = ?8, outcome = ?9, changed = ?12, version = ?13",
            params![
                task.id,
                task.parent,
                task.title,
                task.description,
                task.owner.to_string(),
                task.state.as_str(),
                json(&task.steps),
                json(&task.resources),
                task.outcome,
                task.created_by.to_string(),
                task.created.as_millisecond(),
                task.changed.as_millisecond(),
                task.version,
            ],
        )?;
        Ok(())
    }

    fn tell(&self, task: &Task, what: &[String]) -> Result<(), StoreError> {
        let at = self.now.as_millisecond();
        let who = self.me.to_string();
        self.transaction.execute(
            "INSERT INTO task_changes VALUES (?1, ?2, ?3, ?4, ?5)",
            params![task.id, task.version, at, who, json(&what)],
        )?;
        Ok(())
    }

    /// Those asked for, what changed last first, and how many there are in all.
    pub(super) fn list(&self, filter: &Filter) -> Result<(Vec<Task>, usize), StoreError> {
        let states: Vec<_> = filter.states.iter().map(|it| it.as_str()).collect();
        let like = filter.text.as_ref().map(|it| format!("%{}%", escaped(it)));
        let asked: [Box<dyn ToSql>; 5] = [
            Box::new(self.me.to_string()),
            Box::new(json(&states)),
            Box::new(filter.owner.as_ref().map(ToString::to_string)),
            Box::new(filter.parent.clone()),
            Box::new(like),
        ];
        let matching = "FROM tasks WHERE id IN seen
            AND state IN (SELECT value FROM json_each(?2))
            AND (?3 IS NULL OR owner = ?3) AND (?4 IS NULL OR parent = ?4)
            AND (?5 IS NULL OR title LIKE ?5 ESCAPE '\\' OR description LIKE ?5 ESCAPE '\\')";
        let total: i64 = self.transaction.query_row(
            &format!("{SEEN} SELECT count(*) {matching}"),
            params_from_iter(&asked),
            |row| row.get(0),
        )?;
        let page = format!(
            "{SEEN} SELECT * {matching} ORDER BY changed DESC, rowid DESC LIMIT {} OFFSET {}",
            filter.limit, filter.offset
        );
        let tasks = self.rows(&page, params_from_iter(&asked))?;
        Ok((tasks, usize::try_from(total).unwrap_or(0)))
    }

    /// What happened to a task before this version, newest first.
    pub(super) fn history(
        &self,
        task: &Task,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Change>, StoreError> {
        let mut rows = self.transaction.prepare(
            "SELECT * FROM task_changes WHERE task = ?1 AND version < ?2
             ORDER BY version DESC LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let asked = (&task.id, before.unwrap_or(i64::MAX), limit);
        let rows = rows.query_map(asked, |row| {
            Ok(Change {
                version: row.get("version")?,
                at: time(row, "at")?,
                who: word(row, "who")?,
                what: list(row, "what")?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn rows(&self, sql: &str, asked: impl rusqlite::Params) -> Result<Vec<Task>, StoreError> {
        let mut rows = self.transaction.prepare(sql)?;
        let rows = rows.query_map(asked, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: row.get("id")?,
        parent: row.get("parent")?,
        title: row.get("title")?,
        description: row.get("description")?,
        owner: word(row, "owner")?,
        state: word(row, "state")?,
        steps: list(row, "steps")?,
        resources: list(row, "resources")?,
        outcome: row.get("outcome")?,
        created_by: word(row, "created_by")?,
        created: time(row, "created")?,
        changed: time(row, "changed")?,
        version: row.get("version")?,
    })
}

/// Text in which `LIKE` finds nothing but itself.
fn escaped(text: &str) -> String {
    let special = |it: char| matches!(it, '%' | '_' | '\\');
    text.chars()
        .flat_map(|it| special(it).then_some('\\').into_iter().chain([it]))
        .collect()
}
