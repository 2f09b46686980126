//! What the turn API is measured beside: answers with what it is sent, and says where it listens.

use std::error::Error;
use std::io::Write;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use tokio::net::TcpListener;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}", listener.local_addr()?)?;
    let echo = Router::new().route("/", post(|body: Bytes| async { body }));
    Ok(axum::serve(listener, echo).await?)
}
