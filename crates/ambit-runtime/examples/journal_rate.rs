//! How many events a second the journal takes from 128 callers whose starts are synced, beside
//! how often the disk can sync at all. `journal_rate [folder]` prints one line of JSON.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ambit_core::digest::Digest;
use ambit_core::effects::Effects;
use ambit_core::event::{EventBody, ObservationRecord};
use ambit_core::id::CapabilityId;
use ambit_core::intent::CallId;
use ambit_core::permission::{AllowReason, PermissionDecision};
use ambit_runtime::journal::{Cause, Durability, Journal, JournalError, NewEvent, SessionId};
use serde_json::json;

const CALLERS: usize = 128;
const EVENTS_PER_CALL: u64 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args()
        .nth(1)
        .map_or_else(|| ".".into(), PathBuf::from);
    let path = folder.join(format!("rate-{}.db", SessionId::generate()));
    let syncs = syncs_per_second(&folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()?;
    let began = Instant::now();
    let mut latencies = runtime.block_on(calls(&path, Duration::from_secs(2)))?;
    let seconds = began.elapsed().as_secs_f64();
    let report = Journal::open_read_only(&path)?.verify()?;
    latencies.sort_unstable();
    let at = |share: usize| latencies.get(latencies.len() * share / 100).copied();
    let micros = |it: Option<Duration>| it.map(|it| it.as_micros());
    let line = json!({
        "syncsPerSecond": syncs,
        "callers": CALLERS,
        "eventsPerSecond": (latencies.len() as f64 * EVENTS_PER_CALL as f64 / seconds).round(),
        "startMicros": {"p50": micros(at(50)), "p99": micros(at(99))},
        "events": report.events,
        "intact": report.damage.is_none(),
        "bytesPerEvent": std::fs::metadata(&path)?.len() / report.events.max(1),
    });
    writeln!(std::io::stdout(), "{line}")?;
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    Ok(())
}

/// What the disk can do: one page appended and synced, again and again.
fn syncs_per_second(folder: &Path) -> std::io::Result<f64> {
    let path = folder.join(format!("sync-{}", SessionId::generate()));
    let mut file = std::fs::File::create(&path)?;
    let began = Instant::now();
    let mut count = 0;
    while began.elapsed() < Duration::from_secs(1) {
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        count += 1;
    }
    std::fs::remove_file(path)?;
    Ok(f64::from(count).round())
}

/// Has every caller call until the time is over. Returns how long each start took to be synced.
async fn calls(path: &Path, time: Duration) -> Result<Vec<Duration>, Box<dyn Error>> {
    let (journal, _) = Journal::open(path)?;
    let id: CapabilityId = "local__files__write_file".parse()?;
    let end = Instant::now() + time;
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (journal, id) = (journal.clone(), id.clone());
            tokio::spawn(async move {
                let session = SessionId::generate();
                let mut latencies = Vec::new();
                for n in 0.. {
                    if Instant::now() > end {
                        break;
                    }
                    let call = CallId(format!("call-{caller}-{n}"));
                    latencies.push(one_call(&journal, &session, &id, call).await?);
                }
                Ok::<_, JournalError>(latencies)
            })
        })
        .collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await??);
    }
    Ok(all)
}

async fn one_call(
    journal: &Journal,
    session: &SessionId,
    id: &CapabilityId,
    call: CallId,
) -> Result<Duration, JournalError> {
    let began = Instant::now();
    let digest = Digest::of_bytes(call.0.as_bytes());
    let start = [
        EventBody::ToolIntent {
            call: call.clone(),
            turn: 1,
            via: None,
            target: id.to_string(),
            id: Some(id.clone()),
            arguments: json!({"path": "notes/today.md", "content": "Buy milk, call the bank."}),
            digest,
        },
        EventBody::ToolValidation {
            call: call.clone(),
            definition: digest,
            problems: Vec::new(),
        },
        EventBody::ToolPermission {
            call: call.clone(),
            input: Default::default(),
            decision: PermissionDecision::Allow {
                reason: AllowReason::Mode,
            },
        },
        EventBody::ToolStarted {
            call: call.clone(),
            id: id.clone(),
            digest,
            effects: Effects::WRITES,
        },
    ];
    let events = start.into_iter().enumerate().map(|(n, body)| NewEvent {
        body,
        cause: n.checked_sub(1).map(Cause::InBatch),
    });
    let started = journal.append(session, events.collect(), Vec::new(), Durability::Synced);
    started.written().await?;
    let latency = began.elapsed();
    let end = NewEvent {
        body: EventBody::ToolObservation(ObservationRecord {
            call,
            status: "completed".to_owned(),
            code: None,
            reason: None,
            bytes: 24,
            digest,
            excerpt: "wrote 24 bytes".to_owned(),
            result_ref: None,
            untrusted: false,
            duration_ms: 1,
        }),
        cause: Some(Cause::Earlier(started)),
    };
    let observed = journal.append(session, vec![end], Vec::new(), Durability::Written);
    observed.written().await?;
    Ok(latency)
}
