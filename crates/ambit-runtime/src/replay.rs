//! Recomputes every recorded decision from its recorded inputs and compares. Never executes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::catalog::{CatalogSnapshot, StoredCatalog};
use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::granted::Granted;
use ambit_core::id::CapabilityId;
use ambit_core::intent::CallId;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::permission::decide;
use ambit_core::policy::{POLICY_VERSION, select};
use ambit_core::schema::CompiledSchema;
use ambit_core::visible::VisibleSet;
use serde::Serialize;
use serde_json::Value;

use crate::journal::Event;

/// What replaying a session showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    /// Turns recomputed.
    pub turns: usize,
    /// Calls whose decisions were recomputed.
    pub calls: usize,
    /// Decisions that came out the same.
    pub reproduced: usize,
    /// Decisions that cannot be recomputed, and why: their inputs were redacted or never stored.
    pub unverifiable: Vec<Finding>,
    /// Decisions that came out differently, in order.
    pub differences: Vec<Finding>,
}

/// Something to say about one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The event.
    pub seq: u64,
    /// What about it.
    pub what: String,
}

struct Call {
    id: Option<CapabilityId>,
    catalog: Option<Digest>,
    arguments: Value,
    /// Whether the arguments on record are the arguments that were used.
    exact: bool,
}

/// Replays the events of one session. `object` finds stored catalogs and definitions.
pub fn replay(events: &[Event], object: impl Fn(&Digest) -> Option<String>) -> ReplayReport {
    let mut replay = Replay::new(object);
    for event in events {
        replay.event(event);
    }
    replay.report
}

/// The visible set of every turn that can be recomputed, by its number.
pub fn turns(
    events: &[Event],
    object: impl Fn(&Digest) -> Option<String>,
) -> BTreeMap<u32, Arc<VisibleSet>> {
    let mut replay = Replay::new(object);
    for event in events {
        replay.event(event);
    }
    replay
        .turns
        .into_iter()
        .map(|(number, (_, visible))| (number, Arc::new(visible)))
        .collect()
}

struct Replay<F> {
    object: F,
    report: ReplayReport,
    turns: BTreeMap<u32, (Digest, VisibleSet)>,
    calls: BTreeMap<CallId, Call>,
    catalogs: BTreeMap<Digest, CatalogSnapshot>,
}

impl<F: Fn(&Digest) -> Option<String>> Replay<F> {
    fn new(object: F) -> Self {
        Replay {
            object,
            report: ReplayReport::default(),
            turns: BTreeMap::new(),
            calls: BTreeMap::new(),
            catalogs: BTreeMap::new(),
        }
    }

    fn event(&mut self, event: &Event) {
        let seq = event.seq;
        match &event.body {
            EventBody::TurnStarted {
                turn,
                catalog,
                granted,
                policy,
                input,
            } => {
                self.report.turns += 1;
                if *policy != POLICY_VERSION {
                    return self.unverifiable(
                        seq,
                        format!("policy {policy} is not this version's {POLICY_VERSION}"),
                    );
                }
                let Some(snapshot) = self.catalog(catalog) else {
                    return self.unverifiable(seq, format!("the catalog {catalog} was not stored"));
                };
                let Some(granted) = self.granted(granted) else {
                    return self
                        .unverifiable(seq, format!("what was granted ({granted}) was not stored"));
                };
                let visible = select(&snapshot, &granted, input);
                self.turns.insert(*turn, (*catalog, visible));
            }
            EventBody::CapabilityDiff { turn, visible, .. } => {
                let Some(recomputed) = self.turns.get(turn).map(|(_, it)| it.digest()) else {
                    return;
                };
                self.compare(seq, &recomputed.to_string(), &visible.to_string(), || {
                    format!("turn {turn}: the visible set")
                });
            }
            EventBody::ToolIntent {
                call,
                turn,
                target,
                id,
                arguments,
                digest,
                ..
            } => {
                self.report.calls += 1;
                let catalog = self.turns.get(turn).map(|(catalog, _)| *catalog);
                if let Some((_, visible)) = self.turns.get(turn) {
                    let found = visible.find(target).cloned();
                    self.compare(seq, &found, id, || format!("what `{target}` names"));
                }
                let exact = Digest::of_json(arguments) == *digest;
                self.calls.insert(
                    call.clone(),
                    Call {
                        id: id.clone(),
                        catalog,
                        arguments: arguments.clone(),
                        exact,
                    },
                );
            }
            EventBody::ToolValidation {
                call,
                definition,
                problems,
            } => self.validation(seq, call, definition, problems.is_empty()),
            EventBody::ToolPermission {
                call,
                input,
                decision,
            } => {
                let found = self
                    .calls
                    .get(call)
                    .and_then(|it| Some((it.id.clone()?, it.catalog?)));
                let capability =
                    found.and_then(|(id, catalog)| self.catalog(&catalog)?.get(&id).cloned());
                match capability {
                    Some(capability) => {
                        let recomputed = decide(&capability, input);
                        self.compare(seq, &recomputed, decision, || {
                            format!("permission for `{}`", capability.id)
                        });
                    }
                    None => self
                        .unverifiable(seq, "the capability's descriptor was not stored".to_owned()),
                }
            }
            _ => {}
        }
    }

    fn validation(&mut self, seq: u64, call: &CallId, definition: &Digest, fitted: bool) {
        let Some(known) = self.calls.get(call) else {
            return;
        };
        if !known.exact {
            return self.unverifiable(
                seq,
                "the arguments were redacted or too large to record".to_owned(),
            );
        }
        let manifest = (self.object)(definition)
            .and_then(|text| serde_json::from_str::<CapabilityManifest>(&text).ok())
            // As with catalogs: what is not what its digest says proves nothing.
            .filter(|it| it.digest() == *definition);
        let Some(schema) = manifest.and_then(|it| CompiledSchema::compile(&it.input_schema).ok())
        else {
            return self.unverifiable(seq, format!("the definition {definition} was not stored"));
        };
        let fits = schema.check(&known.arguments).is_ok();
        self.compare(seq, &fits, &fitted, || {
            "whether the arguments fit".to_owned()
        });
    }

    fn compare<T: PartialEq + std::fmt::Debug>(
        &mut self,
        seq: u64,
        recomputed: &T,
        recorded: &T,
        what: impl Fn() -> String,
    ) {
        if recomputed == recorded {
            self.report.reproduced += 1;
        } else {
            let what = format!(
                "{}: recorded {recorded:?}, recomputed {recomputed:?}",
                what()
            );
            self.report.differences.push(Finding { seq, what });
        }
    }

    fn unverifiable(&mut self, seq: u64, what: String) {
        self.report.unverifiable.push(Finding { seq, what });
    }

    fn granted(&self, digest: &Digest) -> Option<Granted> {
        let granted: Granted = serde_json::from_str(&(self.object)(digest)?).ok()?;
        (granted.digest() == *digest).then_some(granted)
    }

    fn catalog(&mut self, digest: &Digest) -> Option<CatalogSnapshot> {
        if !self.catalogs.contains_key(digest) {
            let stored: StoredCatalog = serde_json::from_str(&(self.object)(digest)?).ok()?;
            let snapshot = CatalogSnapshot::from(stored);
            // A stored catalog that is not what its digest says proves nothing.
            if snapshot.digest() != *digest {
                return None;
            }
            self.catalogs.insert(*digest, snapshot);
        }
        self.catalogs.get(digest).cloned()
    }
}
