//! Logging in to a remote server, as a whole process: a person at a browser, here or elsewhere.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};

use ambit_testkit::{Guarded, Home, Manners, Run};
use serde_json::{Value, json};

use crate::support::{call, configured, holding};

fn web(guarded: &Guarded, oauth: Value) -> Home {
    configured(json!({
        "mcpServers": {"web": {"url": guarded.url, "oauth": oauth}},
        "agents": {"coder": {"capabilities": {"web": {}}, "mode": "ask"}},
    }))
}

/// `ambit login web --json`, waiting for somebody to come back.
struct Waiting {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    /// Where the person is to go.
    url: String,
}

impl Waiting {
    fn begin(home: &Home, more: &[&str]) -> Waiting {
        let arguments = [&["login", "web", "--json"], more].concat();
        let mut child = home
            .command(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let url = address(&mut stderr, &mut said);
        Waiting {
            child,
            stderr,
            said,
            url,
        }
    }

    /// The person pastes the address they were sent back to.
    fn paste(mut self, back: &str) -> Run {
        let mut stdin = self.child.stdin.take().unwrap();
        writeln!(stdin, "{back}").unwrap();
        self.end()
    }

    /// The browser goes there by itself.
    fn come_back(self, back: &str) -> Run {
        assert!(browse(&back.replace("state=", "state=x")).starts_with("HTTP/1.1 404"));
        assert!(browse(back).starts_with("HTTP/1.1 200"));
        self.end()
    }

    fn end(mut self) -> Run {
        self.stderr.read_to_string(&mut self.said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Run {
            code: output.status.code().unwrap_or(255),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: self.said,
        }
    }
}

/// Reads on until an address is named.
fn address(stderr: &mut BufReader<ChildStderr>, said: &mut String) -> String {
    loop {
        let mut line = String::new();
        let ended = stderr.read_line(&mut line).unwrap() == 0;
        said.push_str(&line);
        assert!(!ended, "no address: {said}");
        let at = line.find("http://");
        if let Some(at) = at.filter(|_| line.contains("code_challenge")) {
            return line[at..].trim().to_owned();
        }
    }
}

fn browse(url: &str) -> String {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_person_logs_in_uses_it_and_logs_out() {
    let guarded = Guarded::start(Manners::default());
    let home = web(&guarded, json!({}));
    let needed = "server `web` needs a login; log in with `ambit login web`";

    let refused = home.run(&["doctor"]);
    assert!(refused.stdout.contains(needed), "{refused:?}");
    let listed = home.run(&["ls", "--json"]).exits(0).json();
    let reason = listed["unavailable"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with(needed), "{reason}");

    let waiting = Waiting::begin(&home, &["--no-browser"]);
    let back = guarded.agree(&waiting.url);
    let login = waiting.come_back(&back).exits(0);
    let told = login.json();
    assert_eq!(told["tools"], 3);
    assert_eq!(told["issuer"], guarded.issuer);
    assert_eq!(told["resource"], guarded.url);

    call(&home, "web__echo", json!({"text": "hello"}), &["--yes"]).exits(0);
    // Expired for all of several processes, renewed by one.
    guarded.expire();
    std::thread::scope(|processes| {
        for _ in 0..4 {
            processes.spawn(|| call(&home, "web__echo", json!({}), &["--yes"]).exits(0));
        }
    });
    assert_eq!(guarded.counts().renewed, 1);
    for _ in 0..2 {
        call(&home, "web__echo", json!({"text": "hello"}), &["--yes"]).exits(0);
    }
    assert_eq!(guarded.counts().renewed, 1);

    // A server that shows what it was sent shows nothing.
    let sent = call(&home, "web__sent", json!({}), &["--yes"]).exits(0);
    assert!(sent.stdout.contains("Bearer [redacted]"), "{sent:?}");
    for secret in guarded.secrets() {
        assert!(!format!("{login:?} {sent:?}").contains(&secret) || secret.contains("code"));
        assert_eq!(
            holding(&home.home(), secret.as_bytes()),
            [""; 0],
            "{secret}"
        );
    }
    let secrets = home.run(&["secrets", "ls", "--json"]).exits(0);
    assert_eq!(secrets.json()["names"], json!([]));

    home.run(&["logout", "web"]).exits(0);
    home.run(&["logout", "web"]).exits(1);
    let after = call(&home, "web__echo", json!({}), &["--yes"])
        .exits(3)
        .json();
    assert_eq!(after["code"], "login_required");
}

#[test]
fn whoever_is_elsewhere_pastes_what_they_come_back_with() {
    let guarded = Guarded::start(Manners {
        registers: false,
        ..Manners::default()
    });
    guarded.know("by-hand", Some("s3cret-s3cret"));
    let home = web(
        &guarded,
        json!({"clientId": "by-hand", "clientSecret": "s3cret-s3cret", "scopes": ["tools"]}),
    );
    let waiting = Waiting::begin(&home, &["--no-browser"]);
    let back = guarded.agree(&waiting.url);
    waiting.paste(&back).exits(0);
    call(&home, "web__echo", json!({}), &["--yes"]).exits(0);

    // What more it takes is said, and asked for.
    let more = call(&home, "web__administer", json!({}), &["--yes"])
        .exits(3)
        .json();
    let remedy = "log in with `ambit login web --scope \"admin\"`";
    assert!(
        more.to_string().replace('\\', "").contains(remedy),
        "{more}"
    );
    let waiting = Waiting::begin(&home, &["--no-browser", "--scope", "admin"]);
    let back = guarded.agree(&waiting.url);
    let told = waiting.paste(&back).exits(0).json();
    assert_eq!(told["scopes"], json!(["tools", "admin"]));
    call(&home, "web__administer", json!({}), &["--yes"]).exits(0);
}

#[test]
fn what_cannot_be_logged_in_to_says_why() {
    let guarded = Guarded::start(Manners {
        registers: false,
        ..Manners::default()
    });
    let home = configured(json!({"mcpServers": {
        "web": {"url": guarded.url}, "program": {"command": "true"},
        "gone": {"url": "http://127.0.0.1:1/mcp"},
    }}));
    for (server, exit, code) in [
        ("web", 1, "login_not_registered"),
        ("program", 2, "no_login_needed"),
        ("gone", 3, "server_unreachable"),
        ("wep", 2, "unknown_server"),
    ] {
        let run = home.run(&["login", server, "--json"]).exits(exit);
        assert_eq!(run.json()["error"]["code"], code, "{run:?}");
    }
    let waiting = Waiting::begin(&web(&open(), json!({})), &["--no-browser"]);
    let denied = waiting
        .paste("http://127.0.0.1/callback?error=access_denied")
        .exits(1);
    assert_eq!(denied.json()["error"]["code"], "login_denied");
    let waiting = Waiting::begin(&web(&open(), json!({})), &["--no-browser"]);
    let nonsense = waiting.paste("nonsense").exits(1);
    assert_eq!(nonsense.json()["error"]["code"], "login_mismatch");
}

#[test]
fn a_proxy_is_asked_instead() {
    // It answers to any name, as a proxy would.
    let guarded = Guarded::start(Manners::default());
    let config = json!({"mcpServers": {"web": {"url": "http://nowhere.invalid/mcp"}}});
    for (except, expected) in [
        ("", "needs a login"),
        ("nowhere.invalid", "cannot be connected"),
    ] {
        let mut home = configured(&config);
        home.set("http_proxy", &guarded.issuer);
        home.set("no_proxy", except);
        let reason = home.run(&["ls", "--json"]).exits(0).json()["unavailable"].to_string();
        assert!(reason.contains(expected), "{reason}");
    }
}

fn open() -> Guarded {
    Guarded::start(Manners::default())
}
