//! Accepting connections and serving each, until told to stop.
//!
//! Plain `hyper` and not a framework: what has to be held here is per connection (how long a head
//! may take, how many headers, who makes room for whom, a graceful end), and there are five paths.
//! HTTP/1.1 only: what clients of this protocol speak, and one connection cannot carry a thousand
//! requests at once.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::connections::Connection;
use super::endpoint::Endpoint;
use super::patient::Patient;

/// How long a client may take to agree on keys.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long to wait when the system has no more to give.
const BREATH: Duration = Duration::from_millis(50);

/// How many may wait to be accepted. Whoever finds no place among them tries again a second later.
const WAITING: u32 = 4096;

/// Listens.
pub(crate) fn bind(listen: SocketAddr) -> io::Result<TcpListener> {
    let socket = match listen {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A server that was stopped a moment ago does not keep the next one from its place.
    socket.set_reuseaddr(true)?;
    socket.bind(listen)?;
    socket.listen(WAITING)
}

/// Accepts until told to stop.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    endpoint: Arc<Endpoint>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = endpoint.draining.cancelled() => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // The client's fault, and nobody else's.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(BREATH).await;
                continue;
            }
        };
        match endpoint.connections.open() {
            Ok(connection) => {
                let connection = Arc::new(connection);
                let served = connect(stream, peer, tls.clone(), connection, Arc::clone(&endpoint));
                tokio::spawn(served);
            }
            Err(_) => tracing::warn!(%peer, "there are as many connections as may be, all at work"),
        }
    }
}

async fn connect(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    connection: Arc<Connection>,
    endpoint: Arc<Endpoint>,
) {
    let Ok(local) = stream.local_addr() else {
        return;
    };
    // An IPv4 client of an IPv6 listener means the IPv4 address.
    let local = local.ip().to_canonical();
    // Small messages both ways: waiting for more to send would be most of their time.
    let _ = stream.set_nodelay(true);
    match tls {
        None => serve(stream, local, connection, endpoint).await,
        Some(tls) => {
            let closed = connection.close.clone();
            let handshake = tokio::select! {
                handshake = timeout(HANDSHAKE, tls.accept(stream)) => handshake,
                () = closed.cancelled() => return,
            };
            match handshake {
                Ok(Ok(stream)) => serve(stream, local, connection, endpoint).await,
                Ok(Err(error)) => tracing::debug!(%peer, %error, "no keys were agreed on"),
                Err(_) => tracing::debug!(%peer, "agreeing on keys took too long"),
            }
        }
    }
}

async fn serve<S>(stream: S, local: IpAddr, connection: Arc<Connection>, endpoint: Arc<Endpoint>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = &endpoint.limits;
    let close = connection.close.clone();
    let draining = endpoint.draining.clone();
    let respond = {
        let endpoint = Arc::clone(&endpoint);
        service_fn(move |request| {
            let endpoint = Arc::clone(&endpoint);
            let connection = Arc::clone(&connection);
            // Boxed: a connection keeps room for the whole of it, and most of the time is idle.
            Box::pin(async move {
                let answer = endpoint.respond(request, &connection, local).await;
                Ok::<_, Infallible>(answer)
            })
        })
    };
    let stream = TokioIo::new(Patient::new(stream, limits.write_time));
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(limits.headers)
        .max_buf_size(limits.head_bytes)
        .serve_connection(stream, respond);
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = &mut serving => ended,
        // Displaced: nothing was at work on it.
        () = close.cancelled() => return,
        () = draining.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}
