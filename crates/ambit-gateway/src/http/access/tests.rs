use http::HeaderValue;

use super::*;

const CODER: &str = "ambit_coder";
const READER: &str = "ambit_reader";
const OPERATOR: &str = "ambit_operator";
const REVOKED: &str = "ambit_revoked";

fn tokens(tokens: &[&str]) -> Lock {
    Lock::Tokens(tokens.iter().map(|it| TokenDigest::of(it)).collect())
}

/// `/mcp` is `default`, which is open; `coder` and `reader` are locked, `shut` for everybody.
fn mixed() -> Door {
    Door {
        hosts: vec![AllowedHost::parse("gate.example").unwrap()],
        origins: vec![AllowedOrigin::parse("https://app.example").unwrap()],
        agents: BTreeMap::from([
            ("default".to_owned(), Lock::Open),
            ("coder".to_owned(), tokens(&["ambit_other", CODER])),
            ("reader".to_owned(), tokens(&[READER])),
            ("shut".to_owned(), tokens(&[])),
        ]),
        main: Some("default".to_owned()),
        operators: vec![TokenDigest::of(OPERATOR)],
    }
}

/// Everything is open, and nothing is at `/mcp`.
fn open() -> Door {
    let agents = ["coder", "reader"].map(|it| (it.to_owned(), Lock::Open));
    Door {
        agents: BTreeMap::from(agents),
        main: None,
        ..mixed()
    }
}

/// The only agent is locked.
fn locked() -> Door {
    Door {
        agents: BTreeMap::from([("coder".to_owned(), tokens(&[CODER]))]),
        main: Some("coder".to_owned()),
        ..mixed()
    }
}

/// One request, each header as often as it is given; a host `-` is none.
fn ask(door: &Door, path: &str, headers: &[(&str, &str)]) -> String {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let uri: Uri = path.parse().unwrap();
    let facts = Facts {
        local: "192.0.2.7".parse().unwrap(),
        uri: &uri,
        headers: &map,
    };
    match decide(door, &facts) {
        Access::Agent(caller) => match caller.token {
            Some(_) => format!("{} by token", caller.agent),
            None => caller.agent,
        },
        Access::Turns(Visitor::Operator) => "operator".to_owned(),
        Access::Turns(Visitor::Harness(None)) => "harness".to_owned(),
        Access::Turns(Visitor::Harness(Some(_))) => "harness by token".to_owned(),
        Access::Hook(hook) => format!("hook {hook}"),
        Access::Page(page) => format!("{page:?}"),
        Access::Refused(reason) => format!("no {reason:?}"),
    }
}

const LOCAL: (&str, &str) = ("host", "localhost:7777");

#[test]
fn the_turn_api_by_token() {
    let doors = [mixed(), open(), locked()];
    for (path, token, expected) in [
        // path, token, and who it is with: mixed, open, locked
        ("/v1/sessions", None, ["harness", "harness", "no Token"]),
        ("/v1/approvals", None, ["harness", "harness", "no Token"]),
        ("/v1", None, ["harness", "harness", "no Token"]),
        ("/v1/nothing", None, ["harness", "harness", "no Token"]),
        ("/v1x", None, ["no Path", "no Path", "no Path"]),
        (
            "/v1/sessions",
            Some(CODER),
            ["harness by token", "harness", "harness by token"],
        ),
        (
            "/v1/sessions/x/calls",
            Some(READER),
            ["harness by token", "harness", "no Token"],
        ),
        (
            "/v1/sessions",
            Some(REVOKED),
            ["harness", "harness", "no Token"],
        ),
        (
            "/v1/approvals/1",
            Some(OPERATOR),
            ["operator", "operator", "operator"],
        ),
        (
            "/metrics",
            Some(OPERATOR),
            ["Metrics", "Metrics", "Metrics"],
        ),
        (
            "/mcp/coder",
            Some(OPERATOR),
            ["no Token", "coder", "no Token"],
        ),
        ("/v1/openapi.json", None, ["OpenApi", "OpenApi", "OpenApi"]),
    ] {
        for (door, expected) in doors.iter().zip(expected) {
            let bearer = token.map(|it| format!("Bearer {it}"));
            let given = bearer.as_deref().map(|it| ("authorization", it));
            let headers: Vec<_> = [LOCAL].into_iter().chain(given).collect();
            assert_eq!(ask(door, path, &headers), expected, "{path} {token:?}");
        }
    }
}

#[test]
fn for_whom_a_visitor_speaks() {
    let by = |token: &str| Visitor::Harness(Some(TokenDigest::of(token)));
    for (visitor, agent, expected) in [
        // visitor, agent, and with: mixed, open, locked
        (
            Visitor::Harness(None),
            None,
            ["default", "no Path", "no Token"],
        ),
        (
            Visitor::Harness(None),
            Some("coder"),
            ["no Token", "coder", "no Token"],
        ),
        (
            Visitor::Harness(None),
            Some("nobody"),
            ["no Token", "no Path", "no Token"],
        ),
        (by(CODER), None, ["coder", "no Path", "coder"]),
        (
            by(CODER),
            Some("default"),
            ["default", "no Path", "no Token"],
        ),
        (
            by(CODER),
            Some("reader"),
            ["no Token", "reader", "no Token"],
        ),
        (by(READER), None, ["reader", "no Path", "no Token"]),
        (
            Visitor::Operator,
            Some("coder"),
            ["no Token", "no Token", "no Token"],
        ),
        (
            Visitor::Operator,
            None,
            ["no Token", "no Token", "no Token"],
        ),
    ] {
        for (door, expected) in [mixed(), open(), locked()].iter().zip(expected) {
            let found = match door.speaks_for(visitor, agent) {
                Ok(caller) => caller.agent,
                Err(reason) => format!("no {reason:?}"),
            };
            assert_eq!(found, expected, "{visitor:?} {agent:?}");
        }
    }
}

#[test]
fn paths_and_tokens() {
    let bearer = |token: &str| format!("Bearer {token}");
    let doors = [mixed(), open(), locked()];
    for (path, token, expected) in [
        // path, token, and what it is with: mixed, open, locked
        ("/mcp", None, ["default", "no Path", "no Token"]),
        ("/hooks/g-a", None, ["hook g-a", "hook g-a", "hook g-a"]),
        (
            "/hooks/g-a?x",
            Some(CODER),
            ["hook g-a", "hook g-a", "hook g-a"],
        ),
        ("/hooks", None, ["no Path", "no Path", "no Path"]),
        ("/hooks/", None, ["no Path", "no Path", "no Path"]),
        ("/hooks/a/b", None, ["no Path", "no Path", "no Path"]),
        ("/mcp/", None, ["default", "no Path", "no Token"]),
        ("/mcp?x=1", None, ["default", "no Path", "no Token"]),
        ("/mcp/default", None, ["default", "no Path", "no Token"]),
        ("/mcp/coder", None, ["no Token", "coder", "no Token"]),
        ("/mcp/reader", None, ["no Token", "reader", "no Token"]),
        ("/mcp/shut", None, ["no Token", "no Path", "no Token"]),
        ("/mcp/nobody", None, ["no Token", "no Path", "no Token"]),
        (
            "/mcp",
            Some(CODER),
            ["default", "no Path", "coder by token"],
        ),
        (
            "/mcp/coder",
            Some(CODER),
            ["coder by token", "coder", "coder by token"],
        ),
        (
            "/mcp/coder?a=b",
            Some(CODER),
            ["coder by token", "coder", "coder by token"],
        ),
        (
            "/mcp/reader",
            Some(CODER),
            ["no Token", "reader", "no Token"],
        ),
        (
            "/mcp/shut",
            Some(CODER),
            ["no Token", "no Path", "no Token"],
        ),
        (
            "/mcp/nobody",
            Some(CODER),
            ["no Token", "no Path", "no Token"],
        ),
        (
            "/mcp/coder",
            Some(READER),
            ["no Token", "coder", "no Token"],
        ),
        (
            "/mcp/reader",
            Some(READER),
            ["reader by token", "reader", "no Token"],
        ),
        (
            "/mcp/coder",
            Some(REVOKED),
            ["no Token", "coder", "no Token"],
        ),
        ("/mcp/coder", Some(""), ["no Token", "coder", "no Token"]),
        (
            "/mcp/coder",
            Some("AMBIT_CODER"),
            ["no Token", "coder", "no Token"],
        ),
        (
            "/mcp/coder",
            Some("ambit_code"),
            ["no Token", "coder", "no Token"],
        ),
        (
            "/mcp/coder",
            Some("ambit_coderr"),
            ["no Token", "coder", "no Token"],
        ),
        ("/mcp/coder/", Some(CODER), ["no Path"; 3]),
        ("/mcp//coder", Some(CODER), ["no Path"; 3]),
        ("/mcp/coder/x", Some(CODER), ["no Path"; 3]),
        (
            "/mcp/Coder",
            Some(CODER),
            ["no Token", "no Path", "no Token"],
        ),
        (
            "/mcp/code%72",
            Some(CODER),
            ["no Token", "no Path", "no Token"],
        ),
        ("/mcp/..", Some(CODER), ["no Token", "no Path", "no Token"]),
        ("/mcpx", Some(CODER), ["no Path"; 3]),
        ("/MCP", Some(CODER), ["no Path"; 3]),
        ("/", Some(CODER), ["no Path"; 3]),
        ("/healthz", None, ["Healthz"; 3]),
        ("/readyz", None, ["Readyz"; 3]),
        ("/healthz/", None, ["no Path"; 3]),
        ("/metrics", None, ["no Token", "Metrics", "no Token"]),
        ("/metrics", Some(CODER), ["Metrics"; 3]),
        ("/metrics", Some(READER), ["Metrics", "Metrics", "no Token"]),
        (
            "/metrics",
            Some(REVOKED),
            ["no Token", "Metrics", "no Token"],
        ),
    ] {
        for (door, expected) in doors.iter().zip(expected) {
            let token = token.map(bearer);
            let token = token.iter().map(|it| ("authorization", it.as_str()));
            let headers: Vec<_> = [LOCAL].into_iter().chain(token.clone()).collect();
            assert_eq!(ask(door, path, &headers), expected, "{path} {headers:?}");
            // As somebody else, the same request gets nowhere.
            for stranger in [("host", "evil.example"), ("host", "")] {
                let headers: Vec<_> = [stranger].into_iter().chain(token.clone()).collect();
                assert_eq!(ask(door, path, &headers), "no Host", "{path}");
            }
            let page = [LOCAL, ("origin", "https://evil.example")];
            let headers: Vec<_> = page.into_iter().chain(token).collect();
            assert_eq!(ask(door, path, &headers), "no Origin", "{path}");
        }
    }
}

#[test]
fn a_token_is_presented_once_and_as_one() {
    for (headers, expected) in [
        (&["Bearer ambit_coder"][..], "coder by token"),
        (&["bearer ambit_coder"], "coder by token"),
        (&["BEARER  ambit_coder "], "coder by token"),
        (&["Bearer ambit_coder", "Bearer ambit_coder"], "no Token"),
        (&["Bearer x", "Bearer ambit_coder"], "no Token"),
        (&["Bearer ambit_coder, Bearer x"], "no Token"),
        (&["Bearer ambit_coder ambit_coder"], "no Token"),
        (&["Basic ambit_coder"], "no Token"),
        (&["ambit_coder"], "no Token"),
        (&["Bearer"], "no Token"),
        (&["Bearer "], "no Token"),
        (&[""], "no Token"),
        (&["Bearer\tambit_coder"], "no Token"),
        (&["Bearer ambit_coder\u{e9}"], "no Token"),
    ] {
        let authorized = headers.iter().map(|it| ("authorization", *it));
        let headers: Vec<_> = [LOCAL].into_iter().chain(authorized).collect();
        assert_eq!(
            ask(&mixed(), "/mcp/coder", &headers),
            expected,
            "{headers:?}"
        );
    }
}

#[test]
fn hosts_and_origins_are_said_once_and_are_ours() {
    for (path, headers, expected) in [
        ("/mcp", &[][..], "no Host"),
        (
            "/mcp",
            &[("host", "localhost"), ("host", "localhost")],
            "no Host",
        ),
        (
            "/mcp",
            &[("host", "localhost"), ("host", "evil")],
            "no Host",
        ),
        ("/mcp", &[("host", "gate.example:9")], "default"),
        ("/mcp", &[("host", "192.0.2.7:7777")], "default"),
        ("/mcp", &[("host", "192.0.2.8")], "no Host"),
        ("/mcp", &[("host", "localhos\u{f6}")], "no Host"),
        ("http://localhost/mcp", &[LOCAL], "default"),
        ("http://evil/mcp", &[LOCAL], "no Host"),
        ("http://localhost/mcp", &[("host", "evil")], "no Host"),
        (
            "/mcp",
            &[LOCAL, ("origin", "http://localhost:6274")],
            "default",
        ),
        (
            "/mcp",
            &[LOCAL, ("origin", "https://app.example")],
            "default",
        ),
        (
            "/mcp",
            &[LOCAL, ("origin", "http://app.example")],
            "no Origin",
        ),
        ("/mcp", &[LOCAL, ("origin", "null")], "no Origin"),
        ("/mcp", &[LOCAL, ("origin", "")], "no Origin"),
        (
            "/mcp",
            &[
                LOCAL,
                ("origin", "http://localhost"),
                ("origin", "http://evil"),
            ],
            "no Origin",
        ),
        (
            "/mcp",
            &[
                LOCAL,
                ("origin", "http://localhost"),
                ("origin", "http://localhost"),
            ],
            "no Origin",
        ),
        // A header a proxy would set says nothing about who asks.
        (
            "/mcp",
            &[("host", "evil"), ("x-forwarded-host", "localhost")],
            "no Host",
        ),
        (
            "/mcp/coder",
            &[LOCAL, ("x-forwarded-for", "127.0.0.1")],
            "no Token",
        ),
        // A session id opens nothing.
        (
            "/mcp/coder",
            &[LOCAL, ("mcp-session-id", "anything")],
            "no Token",
        ),
    ] {
        assert_eq!(ask(&mixed(), path, headers), expected, "{path} {headers:?}");
    }
}

#[test]
fn every_mixture_is_refused_for_its_first_reason() {
    let hosts = [
        ("localhost", true),
        ("[::1]:1", true),
        ("gate.example", true),
        ("evil.example", false),
        ("localhost.evil", false),
        ("10.0.0.1", false),
    ];
    let origins = [
        (None, true),
        (Some("http://127.0.0.1:3000"), true),
        (Some("https://app.example"), true),
        (Some("https://evil.example"), false),
        (Some("null"), false),
    ];
    let tokens = [None, Some(CODER), Some(READER), Some(REVOKED)];
    let agents = ["default", "coder", "reader", "shut", "nobody"];
    let mut accepted = 0;
    for (host, host_is_ours) in hosts {
        for (origin, origin_is_ours) in origins {
            for token in tokens {
                for agent in agents {
                    let authorization = token.map(|it| format!("Bearer {it}"));
                    let headers: Vec<_> = [("host", host)]
                        .into_iter()
                        .chain(origin.map(|it| ("origin", it)))
                        .chain(authorization.as_deref().map(|it| ("authorization", it)))
                        .collect();
                    let expected = match (agent, token) {
                        _ if !host_is_ours => "no Host",
                        _ if !origin_is_ours => "no Origin",
                        ("default", _) => "default",
                        ("coder", Some(CODER)) => "coder by token",
                        ("reader", Some(READER)) => "reader by token",
                        _ => "no Token",
                    };
                    accepted += usize::from(!expected.starts_with("no"));
                    let path = format!("/mcp/{agent}");
                    assert_eq!(
                        ask(&mixed(), &path, &headers),
                        expected,
                        "{path} {headers:?}"
                    );
                }
            }
        }
    }
    assert_eq!(accepted, 3 * 3 * (4 + 1 + 1));
}

#[test]
fn who_may_not_come_in_cannot_tell_what_there_is() {
    for token in [None, Some(READER), Some(REVOKED)] {
        let authorization = token.map(|it| format!("Bearer {it}"));
        let headers: Vec<_> = [LOCAL]
            .into_iter()
            .chain(authorization.as_deref().map(|it| ("authorization", it)))
            .collect();
        let there = ask(&mixed(), "/mcp/coder", &headers);
        let not_there = ask(&mixed(), "/mcp/no-such-agent", &headers);
        assert_eq!(there, not_there, "{token:?}");
    }
}

#[test]
fn a_caller_is_known_as_long_as_its_token_holds() {
    let caller = |agent: &str, token: Option<&str>| Caller {
        agent: agent.to_owned(),
        token: token.map(TokenDigest::of),
    };
    for (agent, token, expected) in [
        ("default", None, true),
        ("default", Some(CODER), false),
        ("coder", Some(CODER), true),
        ("coder", Some(REVOKED), false),
        ("coder", Some(READER), false),
        ("coder", None, false),
        ("shut", None, false),
        ("nobody", None, false),
    ] {
        assert_eq!(
            mixed().knows(&caller(agent, token)),
            expected,
            "{agent} {token:?}"
        );
    }
}
