//! HTTP by hand: whoever wants to be cut off in the middle of a character needs the bytes.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Cut, Mishap};

/// One request.
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) head: String,
    pub(super) body: Value,
}

/// One answer.
pub(super) enum Reply {
    Whole(Vec<u8>),
    Stream { events: Vec<String>, ends: End },
}

/// How a stream ends.
pub(super) enum End {
    Well,
    Cut,
    Hanging,
}

/// What becomes of the connection.
pub(super) enum Then {
    Next,
    Closed,
}

impl Reply {
    pub(super) fn whole(status: u16, headers: Vec<(String, String)>, body: String) -> Reply {
        let mut text = format!("HTTP/1.1 {status} Status\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let length = body.len();
        text.push_str(&format!(
            "content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        Reply::Whole(text.into_bytes())
    }

    pub(super) fn streamed(mut events: Vec<String>, mishap: Option<Mishap>) -> Reply {
        let half = events.len() / 2;
        let ends = match mishap {
            None | Some(Mishap::Status(..)) => End::Well,
            Some(Mishap::Disconnect) => {
                events.truncate(half);
                End::Cut
            }
            Some(Mishap::Truncate) => {
                events.truncate(half);
                End::Well
            }
            Some(Mishap::Hang) => {
                events.truncate(half);
                End::Hanging
            }
            Some(Mishap::ErrorEvent(kind)) => {
                events.truncate(half);
                let error = json!({"type": kind, "message": format!("it is {kind}")});
                let data = json!({"type": "error", "error": error});
                events.push(format!("event: error\ndata: {data}\n\n"));
                End::Well
            }
            Some(Mishap::Raw(text)) => {
                events = vec![text];
                End::Well
            }
        };
        Reply::Stream { events, ends }
    }
}

/// Reads a request; nothing, if there is none.
pub(super) async fn read(stream: &mut TcpStream) -> io::Result<Option<Asked>> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse::<usize>().ok())?
    });
    let end = head_end + 4 + length.unwrap_or(0);
    while bytes.len() < end {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    let path = head.split_whitespace().nth(1).unwrap_or_default();
    Ok(Some(Asked {
        path: path.to_owned(),
        body: serde_json::from_slice(&bytes[head_end + 4..end]).unwrap_or_default(),
        head,
    }))
}

pub(super) async fn write(stream: &mut TcpStream, reply: Reply, cut: Cut) -> io::Result<Then> {
    let (events, ends) = match reply {
        Reply::Whole(bytes) => {
            stream.write_all(&bytes).await?;
            return Ok(Then::Next);
        }
        Reply::Stream { events, ends } => (events, ends),
    };
    stream.set_nodelay(true)?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for piece in pieces(&events, cut) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(&piece);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk).await?;
        // The client gets to read before more comes.
        tokio::task::yield_now().await;
    }
    match ends {
        End::Well => {
            stream.write_all(b"0\r\n\r\n").await?;
            Ok(Then::Next)
        }
        End::Cut => Ok(Then::Closed),
        End::Hanging => {
            let mut rest = [0; 64];
            while stream.read(&mut rest).await? > 0 {}
            Ok(Then::Closed)
        }
    }
}

fn pieces(events: &[String], cut: Cut) -> Vec<Vec<u8>> {
    let bytes = |it: &String| it.clone().into_bytes();
    match cut {
        Cut::Events => events.iter().map(bytes).collect(),
        Cut::Whole => vec![events.concat().into_bytes()],
        Cut::Bytes => events.concat().bytes().map(|it| vec![it]).collect(),
        Cut::Crlf => {
            let crlf = |it: &String| it.replace('\n', "\r\n").into_bytes();
            events.iter().map(crlf).collect()
        }
    }
}
