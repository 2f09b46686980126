//! What Ambit costs between an MCP client and an MCP server, on standard input and output.

mod cached;
mod client;
pub(crate) mod contenders;
mod echo;
mod http;
mod neighbours;

use std::error::Error;

use crate::report::Figure;

pub(crate) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = echo::measure()?;
    figures.extend(cached::measure()?);
    figures.extend(neighbours::measure()?);
    Ok(figures)
}
