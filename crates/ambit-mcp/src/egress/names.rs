//! Names become addresses here and nowhere else: looked up once, judged, and those that passed
//! are the ones dialled. A second lookup could answer otherwise.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::OnceCell;

use super::EgressError;
use super::address::Reach;

/// Where proxies are named.
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Names as seen from one configured server.
#[derive(Clone)]
pub(super) struct Names(Arc<Inner>);

struct Inner {
    /// The configured server's.
    server: String,
    /// Its addresses, the same for as long as this lives: who challenged is who is asked.
    own: OnceCell<Vec<SocketAddr>>,
    /// They resolve what they are asked for themselves, and a person chose them.
    proxies: Vec<String>,
    lookup: Arc<dyn Resolve>,
}

impl Names {
    /// As seen from the server at this address.
    pub(super) fn from(server: &Url) -> Names {
        let proxies = PROXIES.iter().filter_map(|it| std::env::var(it).ok());
        Names::with(server, proxies, Arc::new(System))
    }

    fn with(
        server: &Url,
        proxies: impl Iterator<Item = String>,
        lookup: Arc<dyn Resolve>,
    ) -> Names {
        let host = |proxy: String| {
            let url = Url::parse(&proxy).ok().filter(Url::has_host);
            let url = url.or_else(|| Url::parse(&format!("http://{proxy}")).ok())?;
            url.host_str().map(folded)
        };
        Names(Arc::new(Inner {
            server: server.host_str().map(folded).unwrap_or_default(),
            own: OnceCell::new(),
            proxies: proxies.filter_map(host).collect(),
            lookup,
        }))
    }

    /// Judges a host that is an address already: nobody looks that up.
    pub(super) async fn judge_literal(&self, url: &Url) -> Result<(), EgressError> {
        let host = url.host_str().map(folded).unwrap_or_default();
        let Some(address) = literal(&host).filter(|_| host != self.0.server) else {
            return Ok(());
        };
        judge(&host, Reach::of(address), self.server_reach().await)
    }

    /// Where the server is. A name of its own counts by where it leads, but only for networks of
    /// somebody's own and only if it leads nowhere else: this machine has to be named as such.
    async fn server_reach(&self) -> Reach {
        let server = &self.0.server;
        if let Some(address) = literal(server) {
            return Reach::of(address);
        }
        if server == "localhost" || server.ends_with(".localhost") {
            return Reach::Loopback;
        }
        let own = self.own().await.unwrap_or_default();
        let private = |it: &SocketAddr| Reach::of(it.ip()) == Reach::Private;
        match !own.is_empty() && own.iter().all(private) {
            true => Reach::Private,
            false => Reach::Public,
        }
    }

    async fn own(&self) -> Result<Vec<SocketAddr>, Failed> {
        let own = self.0.own.get_or_try_init(|| self.look_up(&self.0.server));
        own.await.cloned()
    }

    async fn look_up(&self, host: &str) -> Result<Vec<SocketAddr>, Failed> {
        Ok(self.0.lookup.resolve(host.parse()?).await?.collect())
    }

    async fn dialled(&self, host: &str) -> Result<Vec<SocketAddr>, Failed> {
        if host == self.0.server {
            return self.own().await;
        }
        let found = self.look_up(host).await?;
        if self.0.proxies.iter().any(|it| it == host) {
            return Ok(found);
        }
        let server = self.server_reach().await;
        let reach = |it: &SocketAddr| Reach::of(it.ip());
        let (open, closed): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|it| reach(it).is_open_to(server));
        match closed.first() {
            Some(closed) if open.is_empty() => {
                judge(host, reach(closed), server)?;
                Ok(open)
            }
            _ => Ok(open),
        }
    }
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let found = this.dialled(&folded(name.as_str())).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// The system's own lookup.
struct System;

impl Resolve for System {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((host, 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn judge(host: &str, reach: Reach, server: Reach) -> Result<(), EgressError> {
    match reach.is_open_to(server) {
        true => Ok(()),
        false => Err(EgressError::Refused {
            host: host.to_owned(),
            reach: reach.as_str(),
        }),
    }
}

fn folded(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// The address a host is, if it is not a name.
fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use parking_lot::Mutex;

    use super::*;

    /// Answers each name in turn, and then with the last answer again.
    struct Table(Mutex<Vec<(&'static str, VecDeque<&'static str>)>>);

    impl Resolve for Table {
        fn resolve(&self, name: Name) -> Resolving {
            let mut table = self.0.lock();
            let answers = &mut table.iter_mut().find(|it| it.0 == name.as_str()).unwrap().1;
            let answer = match answers.len() {
                1 => answers[0],
                _ => answers.pop_front().unwrap(),
            };
            let found = answer
                .split(' ')
                .map(|it| (it.parse::<IpAddr>().unwrap(), 0));
            let found: Vec<_> = found.map(SocketAddr::from).collect();
            Box::pin(async move { Ok(Box::new(found.into_iter()) as Addrs) })
        }
    }

    fn names(server: &str, proxy: Option<&str>) -> Names {
        let table = [
            ("mcp.example", vec!["93.184.216.34"]),
            ("auth.example", vec!["93.184.216.35"]),
            ("here.example", vec!["127.0.0.1"]),
            ("inside.example", vec!["10.0.0.9"]),
            ("both.example", vec!["10.0.0.9 93.184.216.36"]),
            ("cloud.example", vec!["169.254.169.254"]),
            ("mcp.corp", vec!["10.0.0.5"]),
            ("rebound.example", vec!["93.184.216.34", "10.0.0.9"]),
            ("localhost", vec!["127.0.0.1"]),
        ];
        let table = table.map(|(name, answers)| (name, answers.into()));
        let proxies = proxy.into_iter().map(str::to_owned);
        let server = Url::parse(server).unwrap();
        Names::with(&server, proxies, Arc::new(Table(Mutex::new(table.into()))))
    }

    /// What is dialled for a host that a server names.
    async fn dialled(server: &str, host: &str) -> String {
        let names = names(server, None);
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        if let Err(error) = names.judge_literal(&url).await {
            return error.to_string();
        }
        if literal(&folded(host)).is_some() {
            return "as it is".to_owned();
        }
        match names.dialled(&folded(host)).await {
            Ok(found) => found.iter().map(|it| it.ip().to_string() + " ").collect(),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn what_a_server_names_is_dialled_where_the_server_could_be() {
        let (far, here, inside) = (
            "https://mcp.example/mcp",
            "http://127.0.0.1:80/mcp",
            "https://mcp.corp/mcp",
        );
        for (server, host, expected) in [
            (far, "auth.example", "93.184.216.35 "),
            (far, "here.example", "loopback"),
            (far, "localhost", "loopback"),
            (far, "inside.example", "private"),
            (far, "both.example", "93.184.216.36 "),
            (far, "cloud.example", "special-purpose"),
            (far, "10.0.0.1", "private"),
            (far, "[::1]", "loopback"),
            (far, "[::ffff:a9fe:a9fe]", "special-purpose"),
            (far, "2130706433", "loopback"),
            (far, "93.184.216.34", "as it is"),
            (here, "localhost", "127.0.0.1 "),
            (here, "127.0.0.1", "as it is"),
            (here, "[::1]", "as it is"),
            (here, "10.0.0.1", "private"),
            (here, "cloud.example", "special-purpose"),
            ("http://localhost/mcp", "127.0.0.1", "as it is"),
            ("http://169.254.169.254/", "169.254.169.254", "as it is"),
            (
                "http://169.254.169.254/",
                "169.254.169.253",
                "special-purpose",
            ),
            (inside, "inside.example", "10.0.0.9 "),
            (inside, "here.example", "loopback"),
            // A name that leads to this machine is not this machine's.
            ("http://here.example/", "127.0.0.1", "loopback"),
            // One that leads to both worlds is of neither.
            ("http://both.example/", "inside.example", "private"),
            // Its own name counts wherever it leads.
            ("http://cloud.example/", "cloud.example", "169.254.169.254 "),
        ] {
            let found = dialled(server, host).await;
            assert!(found.contains(expected), "{server} names {host}: {found}");
        }
    }

    #[tokio::test]
    async fn a_server_stays_where_it_was_when_it_was_first_asked() {
        let names = names("https://rebound.example/mcp", None);
        let first = names.dialled("rebound.example").await.unwrap();
        assert_eq!(names.dialled("rebound.example").await.unwrap(), first);
        assert!(names.dialled("inside.example").await.is_err());
    }

    #[tokio::test]
    async fn a_proxy_may_be_anywhere() {
        for proxy in [
            "http://user:word@Inside.example:3128",
            "inside.example:3128",
        ] {
            let names = names("https://mcp.example/mcp", Some(proxy));
            let found = names.dialled("inside.example").await.unwrap();
            assert_eq!(found.len(), 1, "{proxy}");
        }
    }
}
