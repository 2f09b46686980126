//! For whom a request says it is (`Host`), and on whose behalf a browser sends it (`Origin`).
//!
//! A web page cannot open a connection to this machine under a name of its own choosing without
//! that name being in `Host`, nor send a request without its own address in `Origin`. So both are
//! held against what this server is known as: that, and not the listen address, keeps pages out.

use std::net::IpAddr;

use http::Uri;
use http::uri::Authority;

/// A name, and a port where one is given.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    host: String,
    port: Option<u16>,
}

impl Name {
    fn parse(text: &str) -> Option<Name> {
        // User and password have no place here, and a parser that skips them could be fooled.
        if text.contains('@') {
            return None;
        }
        let authority: Authority = text.parse().ok()?;
        let port = authority.port();
        if port.is_none() && authority.as_str() != authority.host() {
            return None;
        }
        let host = authority.host().trim_start_matches('[');
        Some(Name {
            host: host.trim_end_matches(']').to_ascii_lowercase(),
            port: port.map(|it| it.as_u16()),
        })
    }

    fn is_loopback(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|it| it.is_loopback())
    }

    fn is(&self, address: IpAddr) -> bool {
        self.host.parse() == Ok(address)
    }
}

/// A name this server goes by: `name` or `name:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(Name);

impl AllowedHost {
    /// Nothing if it is no name.
    pub fn parse(text: &str) -> Option<Self> {
        Name::parse(text).map(AllowedHost)
    }

    fn allows(&self, name: &Name) -> bool {
        self.0.host == name.host && (self.0.port.is_none() || self.0.port == name.port)
    }
}

/// An origin whose pages may speak to this server: `https://name` or `https://name:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin(Origin);

impl AllowedOrigin {
    /// Nothing if it is no origin.
    pub fn parse(text: &str) -> Option<Self> {
        Origin::parse(text).map(AllowedOrigin)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    name: Name,
}

impl Origin {
    fn parse(text: &str) -> Option<Origin> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let default = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let name = Name::parse(rest)?;
        let port = Some(name.port.unwrap_or(default));
        Some(Origin {
            scheme,
            name: Name { port, ..name },
        })
    }
}

/// Whether this server is meant: by a loopback name, by the address the connection came in on, or
/// by a name it was given.
pub(crate) fn host_is_allowed(host: &str, local: IpAddr, allowed: &[AllowedHost]) -> bool {
    Name::parse(host).is_some_and(|name| {
        // An address cannot be made to point elsewhere, as a name can.
        let is_own = name.is_loopback() || name.is(local);
        is_own || allowed.iter().any(|it| it.allows(&name))
    })
}

/// Whether pages of this origin may speak to this server.
pub(crate) fn origin_is_allowed(origin: &str, allowed: &[AllowedOrigin]) -> bool {
    let is_local = Origin::parse(origin).is_some_and(|it| it.name.is_loopback());
    is_local || is_named(origin, allowed)
}

/// Whether this origin is one of those.
pub(crate) fn is_named(origin: &str, allowed: &[AllowedOrigin]) -> bool {
    Origin::parse(origin).is_some_and(|origin| allowed.iter().any(|it| it.0 == origin))
}

/// The authority of a request line that carries one: it outweighs the header.
pub(crate) fn authority(uri: &Uri) -> Option<&str> {
    uri.authority().map(Authority::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_this_server_goes_by() {
        let local: IpAddr = "192.0.2.7".parse().unwrap();
        let allowed =
            ["gate.example", "other.example:8443"].map(|it| AllowedHost::parse(it).unwrap());
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:7777", true),
            ("127.0.0.1:1", true),
            ("127.9.9.9", true),
            ("[::1]:7777", true),
            ("192.0.2.7:7777", true),
            ("gate.example", true),
            ("Gate.Example:99", true),
            ("other.example:8443", true),
            ("other.example", false),
            ("other.example:8444", false),
            ("gate.example.evil", false),
            ("evil.gate.example", false),
            ("gate.example@evil", false),
            ("localhost@evil", false),
            ("evil@localhost", false),
            ("localhost.evil", false),
            ("localhost.", false),
            ("127.0.0.1.evil", false),
            ("192.0.2.8", false),
            ("0.0.0.0", false),
            ("2130706433", false),
            ("", false),
            ("localhost:", false),
            ("localhost:x", false),
            ("localhost:99999", false),
            ("localhost/", false),
            ("local host", false),
        ] {
            assert_eq!(host_is_allowed(host, local, &allowed), expected, "{host}");
        }
    }

    #[test]
    fn only_pages_of_this_machine_and_those_named() {
        let allowed = ["https://app.example", "http://dev.example:3000"]
            .map(|it| AllowedOrigin::parse(it).unwrap());
        for (origin, expected) in [
            ("http://localhost", true),
            ("http://localhost:6274", true),
            ("https://127.0.0.1:1", true),
            ("http://[::1]:3000", true),
            ("https://app.example", true),
            ("https://app.example:443", true),
            ("https://APP.example", true),
            ("http://dev.example:3000", true),
            ("http://app.example", false),
            ("https://app.example:8443", false),
            ("http://dev.example", false),
            ("https://app.example.evil", false),
            ("https://evil.app.example", false),
            ("http://localhost.evil", false),
            ("http://evil@localhost", false),
            ("http://localhost:80@evil", false),
            ("null", false),
            ("", false),
            ("localhost", false),
            ("file://localhost", false),
            ("chrome-extension://localhost", false),
            ("http://localhost/", false),
            ("http://localhost, http://evil", false),
        ] {
            assert_eq!(origin_is_allowed(origin, &allowed), expected, "{origin}");
        }
    }
}
