//! `login` and `logout`: a person goes to the authorization server of a remote server, and what
//! they come back with is kept, encrypted. They come back to a port of this machine, or paste the
//! address they were sent to: the browser may be on another one.

mod callback;

use std::io::BufRead as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ambit_core::printable::printable;
use ambit_core::suggest::{did_you_mean, suggest};
use ambit_mcp::{Login, LoginError, LoginRequest, McpResolver, McpServer, PendingLogin, Transport};
use ambit_runtime::cache::DescriptorCache;
use serde_json::json;
use tokio::sync::mpsc;

use crate::cli::args::{LoginArgs, LogoutArgs};
use crate::cli::fail::{Exit, Fail};
use crate::cli::printer::{BOLD, Printer, counted, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;
use callback::Callback;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long the server may take to list its tools afterwards.
const LISTING: Duration = Duration::from_secs(20);
/// Nobody waits for a thread that reads a terminal.
const ENDING: Duration = Duration::from_millis(50);

pub(crate) fn login(setup: Setup, args: &LoginArgs, printer: &Printer) -> Result<Exit, Fail> {
    let cache = setup.cache()?;
    let server = server(&setup, &cache, &args.server)?;
    let done = setup
        .runtime()?
        .block_on(log_in(&setup, &server, &cache, args, printer));
    setup.shut_down(ENDING);
    done
}

async fn log_in(
    setup: &Setup,
    server: &Arc<McpResolver>,
    cache: &DescriptorCache,
    args: &LoginArgs,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let spec = server.server().spec();
    let settings = setup.loaded.config.mcp_servers.get(&args.server);
    let settings = settings.map(|it| it.oauth.clone()).unwrap_or_default();
    let callback = Callback::listen(settings.callback_port).await?;
    let request = LoginRequest {
        client: settings.client(),
        scopes: scopes(setup, server.server(), args, &settings.scopes)?,
        redirect: callback.url().to_owned(),
    };
    let pending = PendingLogin::begin(spec, request).await?;
    printer.note(format!(
        "{} asks you to log in at\n\n  {}\n",
        styled(BOLD, &args.server),
        printable(pending.url())
    ));
    let opened = !args.no_browser && open(pending.url());
    printer.note(match opened {
        true => "it is open in your browser; or paste the address it sends you back to:",
        false => {
            "open it in a browser, here or elsewhere; then paste the address it sends you \
                  back to, if that page does not load:"
        }
    });
    let came_back = came_back(&pending, callback).await?;
    let login = pending.finish(&came_back).await?;
    setup.tokens.keep(&login).map_err(store)?;
    let listed = server.refresh_within(LISTING, cache).await;
    told(&args.server, &login, listed.as_ref().ok().copied(), printer);
    match listed {
        Ok(_) => Ok(Exit::Done),
        Err(error) => Err(Fail {
            exit: Exit::Unreachable,
            problems: vec![Problem::error("server", printable(&error.to_string()))],
        }),
    }
}

/// What to ask for: what the last login allowed and these, or what the configuration says.
fn scopes(
    setup: &Setup,
    server: &Arc<McpServer>,
    args: &LoginArgs,
    configured: &[String],
) -> Result<Vec<String>, Fail> {
    let more = args.scopes.iter().flat_map(|it| it.split_whitespace());
    let more: Vec<String> = more.map(str::to_owned).collect();
    if more.is_empty() {
        return Ok(configured.to_vec());
    }
    let last = setup.tokens.find(url(server)).map_err(store)?;
    let mut scopes = last.map(|it| it.scopes).unwrap_or_default();
    for scope in configured.iter().cloned().chain(more) {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    Ok(scopes)
}

/// The address the person comes back with, whichever way.
async fn came_back(pending: &PendingLogin, callback: Callback) -> Result<String, Fail> {
    let mut pasted = pasted();
    let arrived = async {
        tokio::select! {
            arrived = callback.answer(|it| pending.is_answer(it)) => arrived,
            Some(line) = pasted.recv() => line,
        }
    };
    let arrived = tokio::time::timeout(PATIENCE, arrived).await;
    arrived.map_err(|_| {
        let message = format!("nobody came back from `{}`", pending.issuer());
        Fail::no(Problem::error("login_timeout", message).hint("begin again with `ambit login`"))
    })
}

/// What is typed: the first line that is not empty.
fn pasted() -> mpsc::UnboundedReceiver<String> {
    let (send, lines) = mpsc::unbounded_channel();
    // Nothing can call back a thread that reads a terminal, so it belongs to nobody.
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        for line in lines.filter(|it| !it.trim().is_empty()).take(1) {
            let _ = send.send(line.trim().to_owned());
        }
    });
    lines
}

/// Opens an address in a browser, if there is one.
fn open(url: &str) -> bool {
    let own = std::env::var_os("BROWSER").filter(|it| !it.is_empty());
    let usual = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    Command::new(own.unwrap_or_else(|| usual.into()))
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

fn told(server: &str, login: &Login, tools: Option<usize>, printer: &Printer) {
    if printer.is_json() {
        printer.document(json!({
            "server": server, "issuer": login.issuer, "resource": login.resource,
            "scopes": login.scopes, "expiresAt": login.expires_at,
            "renewable": login.refresh_token.is_some(), "tools": tools,
        }));
        return;
    }
    let tools = tools.map(|it| format!(": {}", counted(it, "tool", "tools")));
    printer.line(format!(
        "logged in to {} at {}{}",
        styled(BOLD, server),
        printable(&login.issuer),
        tools.unwrap_or_default()
    ));
    if login.refresh_token.is_none() && login.expires_at.is_some() {
        printer.note("it cannot be renewed: log in again when it has ended");
    }
}

pub(crate) fn logout(setup: &Setup, args: &LogoutArgs, printer: &Printer) -> Result<Exit, Fail> {
    let server = server(setup, &setup.cache()?, &args.server)?;
    let login = setup.tokens.find(url(server.server())).map_err(store)?;
    let Some(login) = login else {
        let message = format!("nobody is logged in to `{}`", args.server);
        return Err(Fail::no(Problem::error("not_logged_in", message)));
    };
    setup
        .tokens
        .forget(&login.issuer, &login.resource)
        .map_err(store)?;
    if printer.is_json() {
        printer.document(json!({
            "server": args.server, "issuer": login.issuer, "resource": login.resource,
        }));
    } else {
        printer.line(format!("logged out of {}", styled(BOLD, &args.server)));
        printer.note("what runs already forgets it when it next connects");
    }
    Ok(Exit::Done)
}

fn server(setup: &Setup, cache: &DescriptorCache, name: &str) -> Result<Arc<McpResolver>, Fail> {
    let servers = setup.servers(cache);
    let named = |it: &&Arc<McpResolver>| it.server().spec().name == name;
    let found = servers.connectable().iter().find(named).cloned();
    found.ok_or_else(|| {
        let names = servers.connectable().iter();
        let names = names.map(|it| it.server().spec().name.as_str());
        let hint = did_you_mean(&suggest(name, names));
        let hint = hint.unwrap_or_else(|| "`ambit doctor` lists the servers".to_owned());
        let message = format!("there is no server `{name}`");
        Fail::usage(Problem::error("unknown_server", message).hint(hint))
    })
}

fn url(server: &Arc<McpServer>) -> &str {
    match &server.spec().transport {
        Transport::Http { url, .. } => url,
        Transport::Stdio { .. } => "",
    }
}

fn store(error: ambit_mcp::TokenStoreError) -> Fail {
    Fail::usage(Problem::error("secrets", error.to_string()))
}

impl From<LoginError> for Fail {
    fn from(error: LoginError) -> Self {
        let code = match &error {
            LoginError::NotRemote(_) | LoginError::BadUrl(_) | LoginError::NotAsked(_) => {
                "no_login_needed"
            }
            LoginError::Unreachable { .. } => "server_unreachable",
            LoginError::Metadata { .. } => "login_metadata",
            LoginError::NotRegistered { .. } => "login_not_registered",
            LoginError::Denied { .. } => "login_denied",
            LoginError::Mismatch { .. } => "login_mismatch",
            LoginError::NoToken { .. } => "login_no_token",
        };
        let problem = Problem::error(code, printable(&error.to_string()));
        let problem = match error.hint() {
            Some(hint) => problem.hint(hint),
            None => problem,
        };
        match error {
            LoginError::Unreachable { .. } => Fail {
                exit: Exit::Unreachable,
                problems: vec![problem],
            },
            LoginError::NotRemote(_) | LoginError::BadUrl(_) => Fail::usage(problem),
            _ => Fail::no(problem),
        }
    }
}
