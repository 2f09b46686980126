//! Ambit's upstream half (`ambit-mcp`, example `conformance_client`) against the suite's servers.

use crate::suite::{Extent, Suite};
use ambit_testkit::example;

#[test]
fn the_upstream_half_meets_the_suite() {
    let Some(suite) = Suite::installed() else {
        return;
    };
    let extent = Extent {
        scenarios: 48,
        checks: None,
    };
    suite
        .client(&example("conformance_client"), &["--suite", "all"])
        .is("client", &extent);
}
