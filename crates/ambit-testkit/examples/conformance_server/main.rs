//! What the official MCP conformance suite expects of a server under test: fixed tools, resources,
//! prompts, tasks and skills, in the session era and in the stateless one.
//!
//! `conformance_server` serves streamable HTTP on a port of its own and says where on its first
//! line; with `--stdio` it serves standard input and output. It is an upstream for gateways as
//! well, so what the suite asks for in one era is offered in the other, too: a question in the
//! middle of a call is a request to the client there and an input-required result here. With
//! `--sessions` or `--stateless` it speaks one era only, and with `--tampered` files of skills are
//! not what their entries say.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a fixture is test code"
)]
#![allow(
    deprecated,
    reason = "the suite still asks for sampling, roots and logging"
)]

mod asking;
mod changes;
mod prompts;
mod resources;
mod rounds;
mod server;
mod skills;
mod tasks;
mod tools;

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::ServiceExt as _;
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use server::{Eras, Fixture};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut eras = Eras::Both;
    let mut stdio = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--stdio" => stdio = true,
            "--sessions" => eras = Eras::Sessions,
            "--stateless" => eras = Eras::Stateless,
            // Looked for where skills are read.
            skills::TAMPERED => {}
            other => return Err(format!("unknown argument `{other}`").into()),
        }
    }
    let fixture = Fixture::new(eras);
    if stdio {
        fixture.serve(stdio_pipes()).await?.waiting().await?;
        Ok(())
    } else {
        serve_http(fixture).await
    }
}

async fn serve_http(fixture: Fixture) -> Result<(), Box<dyn Error>> {
    let service = TowerToHyperService::new(StreamableHttpService::new(
        move || Ok(fixture.for_session()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    ));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "http://{}/mcp", listener.local_addr()?)?;
    stdout.flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        // A client that goes away is no failure of the server.
        tokio::spawn(async move { served.await.ok() });
    }
}
