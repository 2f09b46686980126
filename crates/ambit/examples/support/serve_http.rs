//! A handler behind streamable HTTP, with the SDK and nothing else: both eras, JSON where there is
//! no session. Says where on its first line.

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

pub(crate) async fn serve_http<H>(handler: H) -> Result<(), Box<dyn Error>>
where
    H: ServerHandler + Clone,
{
    let service = TowerToHyperService::new(StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(true),
    ));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "http://{}/mcp", listener.local_addr()?)?;
    stdout.flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        // A client that goes away is no failure of the server.
        tokio::spawn(async move { served.await.ok() });
    }
}
