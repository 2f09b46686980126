//! How much each signal counts. One table, integers, all of it open to config.

use serde::{Deserialize, Serialize};

/// Points per signal. A hit of a search counts in proportion to the best hit of that search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Weights {
    /// It fits the task.
    pub goal: i32,
    /// What was observed mentions it.
    pub evidence: i32,
    /// A search asked for it.
    pub candidate: i32,
    /// It is about files that were touched.
    pub touched: i32,
    /// It fits the kind of project.
    pub project: i32,
    /// It was called in this session.
    pub called: i32,
    /// It is a skill that was loaded.
    pub loaded: i32,
    /// It was visible before: what is visible stays.
    pub stays: i32,
    /// It comes with Ambit or is a skill, and says nothing about when it is wanted.
    pub base: i32,
    /// Taken off per failure, from the third in a row on.
    pub failure: i32,
}

impl Default for Weights {
    fn default() -> Self {
        Weights {
            goal: 100,
            evidence: 60,
            candidate: 90,
            touched: 40,
            project: 15,
            called: 50,
            loaded: 50,
            stays: 30,
            base: 10,
            failure: 30,
        }
    }
}
