//! What Ambit costs between an MCP client and an MCP server when the client comes over HTTP.

mod contenders;
mod echo;
mod growth;
mod raw;
mod sdk;
mod subject;

use std::error::Error;

use crate::report::Figure;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

pub(crate) fn measure() -> Outcome<Vec<Figure>> {
    // One thread: the client should take little from what it measures.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut figures = echo::measure().await?;
        figures.extend(growth::measure().await?);
        Ok(figures)
    })
}

/// What is echoed: 64 bytes.
const PAYLOAD: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// How a client introduces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    /// Once, and then by a session.
    Sessions,
    /// With every request.
    Stateless,
}

impl Era {
    fn name(self) -> &'static str {
        match self {
            Era::Sessions => "sessions",
            Era::Stateless => "stateless",
        }
    }
}
