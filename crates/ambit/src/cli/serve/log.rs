//! What happens while serving, on standard error: lines for a person, or objects for a program.

use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::cli::args::LogFormat;

/// Writes from now on. What others in this process have to say is written only if it is a warning.
pub(crate) fn start(format: LogFormat, level: Level) {
    let shown = Targets::new()
        .with_default(level.min(Level::WARN))
        // Its warnings quote what clients send and are answered.
        .with_target("rmcp", level.min(Level::ERROR))
        .with_target("ambit", level)
        .with_target("ambit_gateway", level)
        .with_target("ambit_mcp", level)
        .with_target("ambit_runtime", level);
    let lines = fmt::layer().with_writer(std::io::stderr);
    let layer = match format {
        LogFormat::Text => lines.with_ansi(false).with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // A second start in one process keeps the first.
    let _ = tracing_subscriber::registry()
        .with(layer.with_filter(shown))
        .try_init();
}
