//! The MCP server: it lets in whoever has a token that was issued for it.

use hyper::Method;
use serde_json::{Value, json as value};

use super::{Answer, Asked, Guarded, json};

/// What its one dangerous tool takes.
const ADMIN: &str = "admin";

impl Guarded {
    pub(super) fn resource_metadata(&self) -> Answer {
        let manners = self.state.lock().manners.clone();
        let issuer = manners.authorization_server.unwrap_or(self.issuer.clone());
        json(
            200,
            value!({
                "resource": manners.resource.unwrap_or(self.url.clone()),
                "authorization_servers": [issuer],
                "scopes_supported": ["tools", ADMIN],
            }),
        )
    }

    pub(super) fn mcp(&self, method: &Method, asked: &Asked) -> Answer {
        let sent = asked.headers.get("authorization");
        let sent = sent.and_then(|it| it.to_str().ok()).unwrap_or_default();
        let token = sent.strip_prefix("Bearer ").unwrap_or_default();
        let mut state = self.state.lock();
        let known = state.access.get(token).cloned();
        let Some(known) = known.filter(|it| it.audience == self.url) else {
            state.counts.refused += 1;
            let scopes = state.manners.scopes.clone();
            return self.challenge(401, "invalid_token", &scopes);
        };
        let message: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        if *method != Method::POST {
            return json(405, Value::Null);
        }
        if message["id"].is_null() {
            return json(202, Value::Null);
        }
        let called = &message["params"]["name"];
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => value!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "0.1.0"},
            }),
            "tools/list" => {
                let names = ["echo", "sent", "administer"];
                let tool = |name| value!({"name": name, "inputSchema": {"type": "object"}});
                value!({"tools": names.map(tool)})
            }
            "tools/call" if called == "administer" && !known.scopes.contains(ADMIN) => {
                state.counts.refused += 1;
                return self.challenge(403, "insufficient_scope", ADMIN);
            }
            "tools/call" => {
                state.counts.called += 1;
                let text = match called.as_str() {
                    Some("sent") => sent,
                    _ => message["params"]["arguments"]["text"]
                        .as_str()
                        .unwrap_or("done"),
                };
                value!({"content": [{"type": "text", "text": text}]})
            }
            _ => {
                let error = value!({"code": -32601, "message": "no"});
                return json(
                    200,
                    value!({"jsonrpc": "2.0", "id": message["id"], "error": error}),
                );
            }
        };
        json(
            200,
            value!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
        )
    }

    fn challenge(&self, status: u16, error: &str, scopes: &str) -> Answer {
        let mut answer = json(status, Value::Null);
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", self.issuer);
        let challenge =
            format!(r#"Bearer error="{error}", resource_metadata="{metadata}", scope="{scopes}""#);
        let headers = answer.headers_mut();
        headers.insert("www-authenticate", challenge.parse().unwrap());
        answer
    }
}
