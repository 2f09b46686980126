//! Tasks as agents have them, through the pipeline; and many of them, without.

mod life;
mod limits;
mod many;
mod sharing;

use std::sync::Arc;

use serde_json::json;

use super::TasksResolver;
use crate::trial::{Said, Trial};

pub(super) fn trial() -> Trial {
    Trial::new(
        |it| Arc::new(TasksResolver::new(&it.store, &it.clock)),
        json!({}),
    )
}

pub(super) fn id(said: &Said) -> String {
    let id = said.data["id"].as_str();
    id.unwrap_or_else(|| panic!("{}", said.text)).to_owned()
}
