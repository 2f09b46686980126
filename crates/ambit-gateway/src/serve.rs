//! The stdio front: one process, one client, from the first line to the end of input.

use std::io;
use std::sync::Arc;

use ambit_runtime::CancellationToken;
use ambit_runtime::lines::LineWriter;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::SessionSpec;
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use tokio::net::unix::pipe;

use crate::client::ClientTable;
use crate::handler::Handler;
use crate::input::Input;
use crate::stdio::Stdio;
use crate::style::Style;

/// How a client is served.
#[derive(Clone, Default)]
pub struct GatewayOptions {
    /// This style, whoever the client is.
    pub style: Option<Style>,
    /// What is said of clients, besides what is known of them.
    pub clients: ClientTable,
    /// Ends serving.
    pub stop: CancellationToken,
}

/// Why serving ended badly.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// What came first was no request.
    #[error("the client did not begin with a request: a stdio server is started by an MCP client")]
    NoRequest,
    /// The client's session could not be opened, or it stopped listening.
    #[error("the client could not be served")]
    Handshake(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Serving broke off.
    #[error("serving broke off")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves one client on standard input and output until its input ends or it is told to stop. The
/// client's session is opened from `spec`, with the exposure its style needs.
pub async fn serve_stdio(
    market: Arc<CapabilityMarketplace>,
    spec: SessionSpec,
    options: GatewayOptions,
) -> Result<(), GatewayError> {
    let ended = CancellationToken::new();
    let handler = Arc::new(Handler {
        hung_up: ended.clone(),
        clients: Arc::new(options.clients),
        ..Handler::new(market, Arc::new(spec), options.style)
    });
    let serving = match pipes() {
        Ok((from, to)) => {
            let from = Input { from, ended };
            let to = LineWriter::to_pipe(to);
            let line = Stdio::new(from, to, Arc::clone(&handler), &options.stop);
            serve_server_with_ct(handler, line, options.stop.clone()).await
        }
        // A terminal, a socket, a file: read and written by threads.
        Err(_) => {
            let from = Input {
                from: tokio::io::stdin(),
                ended,
            };
            let to = LineWriter::to(tokio::io::stdout());
            let line = Stdio::new(from, to, Arc::clone(&handler), &options.stop);
            serve_server_with_ct(handler, line, options.stop.clone()).await
        }
    };
    let running = match serving {
        Ok(running) => running,
        // Somebody looked in and left.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            return Err(GatewayError::NoRequest);
        }
        Err(error) => return Err(GatewayError::Handshake(Box::new(error))),
    };
    let ended = running.waiting().await;
    // Nobody is left to read an answer: what still runs is called off.
    options.stop.cancel();
    match ended {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(GatewayError::Broken(error)),
        Ok(_) => Ok(()),
    }
}

/// Standard input and output, if they are pipes. They are opened once more: what others see of
/// them stays as it is.
fn pipes() -> io::Result<(pipe::Receiver, pipe::Sender)> {
    let options = pipe::OpenOptions::new();
    let from = options.open_receiver("/proc/self/fd/0")?;
    let to = options.open_sender("/proc/self/fd/1")?;
    Ok((from, to))
}
