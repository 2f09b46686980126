use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ambit_core::redact::Redactor;
use ambit_mcp::{ClientAuth, Login, OauthClient, TokenStore};

use super::*;
use crate::places::Places;

/// With the key in a file: a test has no business in anyone's keyring.
fn open(places: &Places) -> SecretStore {
    SecretStore::with_keys(places, vec![key::KeySource::File(places.secrets_key())])
}

fn home() -> (tempfile::TempDir, Places, SecretStore) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let places = Places::new(&|name| (name == "HOME").then(|| path.clone().into())).unwrap();
    let store = open(&places);
    (directory, places, store)
}

fn value(text: &str) -> SecretValue {
    SecretValue::new(text)
}

#[test]
fn what_is_set_comes_back() {
    let (_directory, places, store) = home();
    assert_eq!(store.get("a").unwrap(), None);
    assert!(store.names().unwrap().is_empty() && !store.remove("a").unwrap());
    assert!(!places.data().exists(), "asking makes nothing");
    store.set("b.2", value("two\n\u{0}ü")).unwrap();
    store.set("a-1", value("one")).unwrap();
    store.set("a-1", value("uno")).unwrap();
    let other = open(&places);
    assert_eq!(other.names().unwrap(), ["a-1", "b.2"]);
    assert_eq!(other.get("a-1").unwrap(), Some(value("uno")));
    assert_eq!(other.get("b.2").unwrap(), Some(value("two\n\u{0}ü")));
    assert!(other.remove("a-1").unwrap() && !other.remove("a-1").unwrap());
    assert_eq!(store.get("a-1").unwrap(), None);
    let encrypted = fs::read(places.secrets()).unwrap();
    assert!(!encrypted.windows(3).any(|it| it == b"two" || it == b"b.2"));
}

#[test]
fn names_have_a_shape() {
    let (_directory, _, store) = home();
    for bad in ["", "a b", "a/b", "ä", "a\n", &"x".repeat(65)] {
        assert!(
            matches!(store.set(bad, value("x")), Err(SecretsError::BadName(_))),
            "{bad:?}"
        );
    }
}

#[test]
fn only_the_owner_can_read_them() {
    let (_directory, places, store) = home();
    store.set("a", value("one")).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(places.data()), 0o700);
    for entry in places.data().read_dir().unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
}

/// Damages a store of one secret, and expects every use to be refused and nothing touched.
#[track_caller]
fn refused(damage: impl Fn(&Places), expected: &str) {
    let (_directory, places, store) = home();
    store.set("a", value("one")).unwrap();
    damage(&places);
    let files = || [places.secrets(), places.secrets_key()].map(|it| fs::read(it).ok());
    let before = files();
    let errors = [
        store.get("a").unwrap_err(),
        store.names().unwrap_err(),
        store.set("b", value("two")).unwrap_err(),
        store.remove("a").unwrap_err(),
    ];
    let home = places.data().to_string_lossy().into_owned();
    for error in errors {
        assert_eq!(error.to_string().replace(&home, "~"), expected);
        assert!(error.hint().is_some());
    }
    assert!(files() == before, "something was touched");
}

#[test]
fn what_cannot_be_read_is_reported_and_left_alone() {
    refused(
        |places| fs::remove_file(places.secrets_key()).unwrap(),
        "the key to `~/secrets.age` is missing",
    );
    refused(
        |places| {
            let wide = fs::Permissions::from_mode(0o644);
            fs::set_permissions(places.secrets_key(), wide).unwrap();
        },
        "the key `~/secrets.key` can be read by others (mode 644)",
    );
    refused(
        |places| fs::write(places.secrets_key(), "nonsense").unwrap(),
        "`~/secrets.key` is not a key",
    );
    refused(
        |places| {
            let (_directory, others, store) = home();
            store.set("x", value("y")).unwrap();
            fs::copy(others.secrets_key(), places.secrets_key()).unwrap();
        },
        "`~/secrets.age` was encrypted to another key",
    );
    refused(
        |places| {
            let mut bytes = fs::read(places.secrets()).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(places.secrets(), bytes).unwrap();
        },
        "`~/secrets.age` is damaged",
    );
    refused(
        |places| fs::write(places.secrets(), "").unwrap(),
        "`~/secrets.age` is damaged",
    );
}

#[test]
fn a_key_without_secrets_is_used_and_kept() {
    let (_directory, places, store) = home();
    store.set("a", value("one")).unwrap();
    let key = fs::read(places.secrets_key()).unwrap();
    fs::remove_file(places.secrets()).unwrap();
    assert!(store.names().unwrap().is_empty());
    store.set("b", value("two")).unwrap();
    assert_eq!(fs::read(places.secrets_key()).unwrap(), key);
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let (_directory, places, _) = home();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let store = open(&places);
            scope.spawn(move || store.set(&format!("n{n}"), value("x")).unwrap());
        }
    });
    assert_eq!(open(&places).names().unwrap().len(), 8);
}

/// Needs a keyring that can be unlocked: `cargo test --features os-keyring -- --ignored`.
#[cfg(feature = "os-keyring")]
#[test]
#[ignore = "writes to the keyring of whoever runs it"]
fn the_key_can_be_in_the_keyring() {
    let (_directory, places, _) = home();
    let store = SecretStore::open(&places);
    store.set("a", value("one")).unwrap();
    assert!(!places.secrets_key().exists());
    assert_eq!(
        SecretStore::open(&places).get("a").unwrap(),
        Some(value("one"))
    );
}

fn login(issuer: &str, resource: &str, token: &str) -> Login {
    Login {
        issuer: issuer.to_owned(),
        resource: resource.to_owned(),
        client: OauthClient {
            id: "ambit".to_owned(),
            secret: None,
            auth: ClientAuth::None,
        },
        token_endpoint: format!("{issuer}/token"),
        access_token: token.to_owned(),
        refresh_token: Some(format!("{token}-refresh")),
        expires_at: None,
        scopes: Vec::new(),
    }
}

#[test]
fn a_login_is_for_its_resource_and_no_secret() {
    let (_directory, places, store) = home();
    let redactor = Redactor::default();
    let logins = Logins::new(store.clone(), redactor.clone());
    assert!(logins.all().unwrap().is_empty() && !places.data().exists());
    assert!(!logins.forget("https://a", "https://x").unwrap());
    store.set("a", value("one")).unwrap();
    for (issuer, resource, token) in [
        ("https://a", "https://x", "token-1"),
        ("https://a", "https://x/deep", "token-2"),
        ("https://a", "https://y", "token-3"),
        // It moved: what the other issued is of no use.
        ("https://b", "https://y", "token-4"),
    ] {
        logins.keep(&login(issuer, resource, token)).unwrap();
    }
    let found = |url: &str| logins.find(url).unwrap().map(|it| it.access_token);
    for (url, expected) in [
        ("https://x/mcp", Some("token-1")),
        ("https://x/deep/mcp", Some("token-2")),
        ("https://y/mcp", Some("token-4")),
        ("https://z/mcp", None),
        ("http://x/mcp", None),
    ] {
        assert_eq!(found(url).as_deref(), expected, "{url}");
    }
    assert_eq!(store.names().unwrap(), ["a"], "no secret by any name");
    for name in store
        .everything()
        .unwrap()
        .into_keys()
        .filter(|it| it != "a")
    {
        assert_eq!(store.get(&name).unwrap(), None);
        assert!(!store.remove(&name).unwrap());
    }
    for said in ["token-4", "token-4-refresh", "token-2"] {
        assert_eq!(redactor.shown(said), "[redacted]");
    }
    assert!(logins.forget("https://b", "https://y").unwrap());
    assert_eq!(found("https://y/mcp"), None);
    assert_eq!(store.get("a").unwrap(), Some(value("one")));
}
