use ambit_core::observation::Observation;
use ambit_core::permission::{Answer, Mode};
use ambit_testkit::{Answers, Bench, call};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// Calls in a workspace with a file `a.wav`, and returns what is said.
async fn said(config: &Value, tool: &str, arguments: Value) -> (Bench, String) {
    let bench = Bench::default()
        .asking(Arc::new(Answers::new([Answer::Once; 2])))
        .with(Arc::new(AudioResolver), config.clone());
    let workspace = bench.spec(Mode::Ask).workspace;
    std::fs::write(workspace.join("a.wav"), "RIFF hello").unwrap();
    let session = bench.session(Mode::Ask).await;
    let observation = call(&session, &format!("local__audio__{tool}"), arguments)
        .await
        .observation;
    let said = match observation {
        Observation::Completed(it) => it.output.content[0].as_text().unwrap().to_owned(),
        Observation::Failed(it) => it.message,
        Observation::Denied(it) => format!("denied: {}", it.reason),
    };
    (bench, said)
}

fn shell(script: &str) -> Value {
    json!({ "command": ["sh", "-c", script, "sh", "{input}", "{language}", "{output}", "{voice}"] })
}

#[tokio::test]
async fn a_program_transcribes() {
    let wav = json!({"path": "a.wav"});
    for (script, arguments, expected) in [
        ("cat $1; echo \" in $2\"", wav.clone(), "RIFF hello in auto"),
        ("echo $2", json!({"path": "a.wav", "language": "de"}), "de"),
        ("case $1 in *.wav) echo wav;; esac", wav.clone(), "wav"),
        ("true", wav.clone(), "no speech was recognised in `a.wav`"),
        (
            "echo no model >&2; exit 3",
            wav.clone(),
            "`sh` ended with exit status: 3: no model",
        ),
        ("cat $1", json!({"path": "../a.wav"}), "outside"),
        ("cat $1", json!({"path": "no.wav"}), "does not exist"),
        (
            "cat $1",
            json!({"path": "a.wav", "language": "--help"}),
            "denied",
        ),
    ] {
        let (_bench, said) =
            said(&json!({"transcribe": shell(script)}), TRANSCRIBE, arguments).await;
        assert!(said.contains(expected), "{script}: {said}");
    }
}

#[tokio::test]
async fn a_program_speaks() {
    let ask = json!({"text": "-n hello", "path": "out/b.wav"});
    for (script, arguments, expected) in [
        ("cat > $3", ask.clone(), "wrote `out/b.wav`, 8 bytes"),
        ("true", ask.clone(), "wrote no audio"),
        (": > $3", ask.clone(), "wrote 0 bytes"),
        (
            "echo $4 > $3",
            json!({"text": "x", "path": "b.wav", "voice": "ada"}),
            "wrote `b.wav`, 4 bytes",
        ),
        (
            "cat > $3",
            json!({"text": "x".repeat(4097), "path": "b.wav"}),
            "denied",
        ),
        (
            "cat > $3",
            json!({"text": "x", "path": "/b.wav"}),
            "outside",
        ),
    ] {
        let (bench, said) = said(&json!({"speak": shell(script)}), SPEAK, arguments).await;
        assert!(said.contains(expected), "{script}: {said}");
        if script == "cat > $3" && said.contains("8 bytes") {
            let written = bench.spec(Mode::Ask).workspace.join("out/b.wav");
            assert_eq!(std::fs::read_to_string(written).unwrap(), "-n hello");
        }
    }
    let missing = json!({"speak": {"command": ["no-such-program"]}});
    let (_bench, said) = said(&missing, SPEAK, ask).await;
    assert!(said.contains("install it, or change"), "{said}");
}

/// Answers one request with this, and returns the request.
async fn endpoint(status: &str, body: &str) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = stream.read(&mut buffer).await.unwrap();
            request.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&request);
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head
                .lines()
                .find_map(|it| it.strip_prefix("content-length: "))
                .map_or(0, |it| it.parse().unwrap());
            if body.len() >= length {
                break;
            }
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&request).into_owned()
    });
    (url, served)
}

#[tokio::test]
async fn an_endpoint_transcribes() {
    for (status, body, expected) in [
        ("200 OK", r#"{"text": "hello there"}"#, "hello there"),
        ("200 OK", "<html>", "no transcript"),
        (
            "401 Unauthorized",
            "bad key",
            "answered 401 Unauthorized: bad key",
        ),
        ("307 Temporary Redirect", "", "answered 307"),
    ] {
        let (url, served) = endpoint(status, body).await;
        let config = json!({"transcribe": {"url": url, "model": "m-1", "key": "k-123456"}});
        let (_bench, said) = said(
            &config,
            TRANSCRIBE,
            json!({"path": "a.wav", "language": "en"}),
        )
        .await;
        assert!(said.contains(expected), "{said}");
        let request = served.await.unwrap();
        for part in [
            "POST /v1/audio/transcriptions HTTP/1.1",
            "authorization: Bearer k-123456",
            "name=\"model\"\r\n\r\nm-1\r\n",
            "name=\"language\"\r\n\r\nen\r\n",
            "filename=\"a.wav\"",
            "RIFF hello",
        ] {
            assert!(request.contains(part), "{part}: {request}");
        }
    }
}

#[tokio::test]
async fn an_endpoint_speaks() {
    let (url, served) = endpoint("200 OK", "sound").await;
    let config = json!({"speak": {"url": url, "model": "t-1", "voice": "ada"}});
    let (_bench, told) = said(&config, SPEAK, json!({"text": "hello", "path": "b.mp3"})).await;
    assert_eq!(told, "wrote `b.mp3`, 5 bytes");
    let request = served.await.unwrap();
    for part in [
        r#""input":"hello""#,
        r#""voice":"ada""#,
        r#""response_format":"mp3""#,
    ] {
        assert!(request.contains(part), "{request}");
    }
    let (_bench, told) = said(&config, SPEAK, json!({"text": "x", "path": "b.txt"})).await;
    assert!(told.contains("end it with one of .mp3"), "{told}");
    let (_bench, told) = said(&config, SPEAK, json!({"text": "x", "path": "b.wav"})).await;
    assert!(told.contains("cannot be reached"), "{told}");
}

#[tokio::test]
async fn read_only_shows_no_tool_that_writes() {
    let means = json!({"command": ["x"]});
    let config = json!({"transcribe": means, "speak": means});
    let bench = Bench::default().with(Arc::new(AudioResolver), config);
    let session = bench.session(Mode::ReadOnly).await;
    assert!(
        session
            .visible()
            .find("local__audio__text_to_speech")
            .is_none()
    );
}

#[tokio::test]
async fn what_is_not_configured_is_not_there() {
    for (config, transcribes, speaks) in [
        (json!({"transcribe": {"command": ["x"]}}), true, false),
        (
            json!({"speak": {"url": "http://x", "model": "m"}}),
            false,
            true,
        ),
        (json!({}), false, false),
    ] {
        let bench = Bench::default().with(Arc::new(AudioResolver), config);
        let session = bench.session(Mode::Ask).await;
        let visible = session.visible();
        let has = |name: &str| visible.find(&format!("local__audio__{name}")).is_some();
        assert_eq!((has(TRANSCRIBE), has(SPEAK)), (transcribes, speaks));
        let skipped = session.skipped();
        assert_eq!(skipped.len(), usize::from(!transcribes && !speaks));
        assert!(
            skipped
                .iter()
                .all(|it| it.reason.contains("set `transcribe` or `speak`"))
        );
    }
}
