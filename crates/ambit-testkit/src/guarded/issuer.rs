//! The authorization server: metadata, registration, a person's consent, and tokens.

use std::collections::BTreeMap;

use serde_json::{Value, json as value};

use super::text::{base64url, basic, fields, percent};
use super::{Agreed, Answer, Asked, Guarded, State, Token, json};

impl Guarded {
    pub(super) fn issue(&self, asked: &Asked) -> Answer {
        match asked.path.as_str() {
            "/.well-known/oauth-authorization-server" => self.issuer_metadata(),
            "/register" if self.state.lock().manners.registers => self.register(asked),
            "/token" => self.token(asked),
            _ => json(404, value!({"error": "not_found", "path": asked.path})),
        }
    }

    fn issuer_metadata(&self) -> Answer {
        let manners = self.state.lock().manners.clone();
        let at = |path: &str| format!("{}{path}", self.issuer);
        let mut metadata = value!({
            "issuer": manners.issuer.unwrap_or(self.issuer.clone()),
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": manners.token_endpoint.unwrap_or(at("/token")),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": manners.reads_documents,
            "authorization_response_iss_parameter_supported": true,
        });
        if manners.registers {
            metadata["registration_endpoint"] = at("/register").into();
        }
        json(200, metadata)
    }

    fn register(&self, asked: &Asked) -> Answer {
        let wish: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let mut state = self.state.lock();
        state.counts.registered += 1;
        let id = state.new_text("client");
        let secret = state
            .manners
            .gives_secret
            .then(|| state.new_secret("client-secret"));
        state.clients.insert(id.clone(), secret.clone());
        let mut answer = value!({"client_id": id, "redirect_uris": wish["redirect_uris"]});
        if let Some(secret) = secret {
            answer["client_secret"] = secret.into();
        }
        json(201, answer)
    }

    /// A person who agrees to everything: goes to an address, and says where they are sent back.
    #[track_caller]
    pub fn agree(&self, url: &str) -> String {
        let (path, query) = url.split_once('?').unwrap();
        assert_eq!(path, format!("{}/authorize", self.issuer));
        let mut asked = fields(query);
        let mut take = |name: &str| asked.remove(name).unwrap_or_default();
        assert_eq!(take("response_type"), "code");
        assert_eq!(take("code_challenge_method"), "S256");
        let state_text = take("state");
        let agreed = Agreed {
            client: take("client_id"),
            challenge: take("code_challenge"),
            redirect: take("redirect_uri"),
            resource: take("resource"),
            scopes: take("scope").split(' ').map(str::to_owned).collect(),
        };
        let mut state = self.state.lock();
        let is_document = agreed.client.starts_with("https://") && state.manners.reads_documents;
        assert!(
            is_document || state.clients.contains_key(&agreed.client),
            "nobody knows {}",
            agreed.client
        );
        let code = state.new_secret("code");
        let issuer = state.manners.callback_issuer.clone();
        let issuer = percent(&issuer.unwrap_or(self.issuer.clone()));
        let back = format!(
            "{}?code={code}&state={state_text}&iss={issuer}",
            agreed.redirect
        );
        state.codes.insert(code, agreed);
        back
    }

    /// Makes a client known, as somebody would by hand.
    pub fn know(&self, client: &str, secret: Option<&str>) {
        let mut state = self.state.lock();
        state
            .clients
            .insert(client.to_owned(), secret.map(str::to_owned));
    }

    fn token(&self, asked: &Asked) -> Answer {
        let form = fields(&String::from_utf8_lossy(&asked.body));
        let field = |name: &str| form.get(name).cloned().unwrap_or_default();
        let mut state = self.state.lock();
        let client = match asked.headers.get("authorization") {
            Some(sent) => basic(sent.to_str().unwrap_or_default()),
            None => (field("client_id"), form.get("client_secret").cloned()),
        };
        let known = state.clients.get(&client.0);
        if known.is_some_and(|it| *it != client.1) {
            return json(401, value!({"error": "invalid_client"}));
        }
        match field("grant_type").as_str() {
            "authorization_code" => state.trade(&form, &client.0),
            "refresh_token" => state.renew(&form, &client.0),
            _ => json(400, value!({"error": "unsupported_grant_type"})),
        }
    }
}

impl State {
    fn trade(&mut self, form: &BTreeMap<String, String>, client: &str) -> Answer {
        let refused = || json(400, value!({"error": "invalid_grant"}));
        let Some(agreed) = form.get("code").and_then(|it| self.codes.remove(it)) else {
            return refused();
        };
        let verifier = form.get("code_verifier").map(String::as_str);
        let verified = verifier.is_some_and(|it| base64url(it) == agreed.challenge);
        if !verified
            || agreed.client != client
            || form.get("redirect_uri") != Some(&agreed.redirect)
            || form.get("resource") != Some(&agreed.resource)
        {
            return refused();
        }
        self.counts.traded += 1;
        self.issued(
            client,
            &agreed.resource,
            Token {
                audience: agreed.resource.clone(),
                scopes: agreed.scopes,
            },
        )
    }

    fn renew(&mut self, form: &BTreeMap<String, String>, client: &str) -> Answer {
        let old = form
            .get("refresh_token")
            .and_then(|it| self.refresh.remove(it));
        match old {
            Some((owner, token)) if owner == client => {
                self.counts.renewed += 1;
                let resource = form.get("resource").cloned().unwrap_or_default();
                self.issued(client, &resource, token)
            }
            _ => json(400, value!({"error": "invalid_grant"})),
        }
    }

    fn issued(&mut self, client: &str, resource: &str, token: Token) -> Answer {
        let audience = self.manners.audience.clone().unwrap_or(resource.to_owned());
        let token = Token { audience, ..token };
        let access = self.new_secret("access");
        self.access.insert(access.clone(), token.clone());
        let mut answer = value!({
            "access_token": access, "token_type": "Bearer",
            "expires_in": self.manners.token_seconds,
        });
        if self.manners.renews {
            let refresh = self.new_secret("refresh");
            self.refresh
                .insert(refresh.clone(), (client.to_owned(), token));
            answer["refresh_token"] = refresh.into();
        }
        json(200, answer)
    }

    fn new_text(&mut self, kind: &str) -> String {
        self.serial += 1;
        format!("guarded-{kind}-{}", self.serial)
    }

    fn new_secret(&mut self, kind: &str) -> String {
        let secret = self.new_text(kind);
        self.secrets.push(secret.clone());
        secret
    }
}
