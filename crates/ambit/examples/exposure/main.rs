//! What a model has to read with Ambit and without: `exposure DIR` measures the tools of a folder
//! and prints a page. The same data gives the same page.

mod measure;
mod page;
mod script;
mod world;

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use page::Page;
use world::World;

/// The data the session was written for.
const SESSION_DATA: &str = "mcp-registries";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("usage: exposure DIR, a folder with a `tools.jsonl`")?;
    let name = folder.file_name().map(|it| it.to_string_lossy());
    let data = name.unwrap_or_default().into_owned();
    let runtime = tokio::runtime::Runtime::new()?;
    let page = runtime.block_on(measured(World::read(&folder)?, data))?;
    write!(std::io::stdout(), "{}", page.text())?;
    Ok(())
}

async fn measured(world: World, data: String) -> Result<Page, Box<dyn Error>> {
    let everything = world.everything();
    let catalog = world.market.catalog();
    let servers: BTreeSet<&str> = catalog
        .iter()
        .map(|it| it.source.as_str())
        .filter(|it| it.starts_with("mcp:"))
        .collect();
    let mut goals = Vec::new();
    for goal in text("goals.txt")?.lines().filter(|it| !it.starts_with('#')) {
        goals.push((goal.to_owned(), measure::goal(&world, goal).await?));
    }
    let turns = match data.as_str() {
        SESSION_DATA => measure::session(&world, script::parse(&text("session.txt")?)?).await?,
        _ => Vec::new(),
    };
    Ok(Page {
        data,
        tools: everything.len(),
        servers: servers.len(),
        everything: everything.iter().map(|it| it.1).sum(),
        goals,
        turns,
    })
}

/// A text beside this example.
fn text(name: &str) -> Result<String, Box<dyn Error>> {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("run it with cargo")?;
    let path = Path::new(&root).join("examples/exposure").join(name);
    std::fs::read_to_string(&path).map_err(|it| format!("{}: {it}", path.display()).into())
}
