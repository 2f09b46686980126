#![doc = include_str!("../README.md")]
// Test support is test code: a fixture that cannot be made ends the test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod approvers;
mod bench;
mod fixture;
mod guarded;
mod home;
mod model_endpoint;
mod served;

pub use approvers::{Answers, NeverAnswers};
pub use bench::{Bench, call, events};
pub use fixture::{Behaviour, Deed, FixtureResolver, fixture_tool, rules};
pub use guarded::{Counts, Guarded, Manners};
pub use home::{Home, Run};
pub use model_endpoint::{Cut, Mishap, ModelEndpoint};
pub use served::{Served, example};
