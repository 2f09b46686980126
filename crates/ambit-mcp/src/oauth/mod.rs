//! Logins to remote servers: OAuth 2.1 as MCP asks for it.
//!
//! The SDK discovers, registers, builds the authorization request and trades the code in, with
//! the checks of the specification (issuer, resource, PKCE, state); [`PendingLogin`] drives it,
//! through Ambit's own way out. What comes of it is a [`Login`], kept in a [`TokenStore`] and
//! used by a `Keeper`: it hands out the token, renews it, and sees to it that one renewal serves
//! all who wait, in every process.

mod client;
mod keeper;
mod login;
mod pending;
mod refusal;
mod renew;
mod request;
mod store;

pub(crate) use client::Authorized;
pub(crate) use keeper::Keeper;
pub use login::{ClientAuth, Login, OauthClient};
pub use pending::PendingLogin;
pub use refusal::LoginReason;
pub(crate) use refusal::{challenge_in, login_needed};
pub use request::{ClientChoice, LoginError, LoginRequest};
pub use store::{MemoryTokens, TokenStore, TokenStoreError};
