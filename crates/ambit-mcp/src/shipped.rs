//! What a server lists, known before it was ever started: it came with the program. Offered until
//! the server itself is asked, and what its answer is compared with then.

use serde::Deserialize;
use serde_json::Value;

use crate::map::{About, Table, shipped_table};
use crate::spec::ServerSpec;

/// A listing as JSON: `{"about": {"version", "instructions"}, "tools": […]}`.
#[derive(Clone, Copy, Debug)]
pub struct Shipped(pub &'static str);

#[derive(Deserialize)]
struct Listing {
    #[serde(default)]
    about: Said,
    tools: Vec<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    version: String,
    instructions: String,
}

impl Shipped {
    /// As if it had been listed. A listing that cannot be read offers nothing.
    pub(crate) fn table(self, spec: &ServerSpec) -> Table {
        let Ok(Listing { about, tools }) = serde_json::from_str(self.0) else {
            return Table::default();
        };
        let about = About {
            version: about.version,
            instructions: about.instructions,
            ..About::default()
        };
        shipped_table(spec, &about, tools)
    }
}
