//! TLS, and being reached from beyond this machine.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::server::{Server, home, stateless_read, token};

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/tls.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/tls.key");

/// The status of an answer to these bytes, sent in secret.
fn ask(server: &Server, request: &str) -> String {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(CERTIFICATE).unwrap())
        .unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(("127.0.0.1", server.address.port())).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn with_a_certificate_and_tokens_it_listens_everywhere() {
    let home = home();
    let token = token(&home, "default");
    let arguments = [
        "--listen",
        "0.0.0.0:0",
        "--tls-cert",
        CERTIFICATE,
        "--tls-key",
        KEY,
    ];
    let server = Server::start(home, &arguments);
    assert!(
        server.welcome["url"]
            .as_str()
            .unwrap()
            .starts_with("https://localhost:")
    );
    let request = |authorization: &str| {
        format!(
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{authorization}\r\n"
        )
    };
    let authorization = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(ask(&server, &request(&authorization)), "HTTP/1.1 200 OK");
    assert_eq!(ask(&server, &request("")), "HTTP/1.1 401 Unauthorized");
    let in_clear = stateless_read("/mcp").begin(server.address);
    assert!(crate::http::try_read(in_clear).is_err());
}
