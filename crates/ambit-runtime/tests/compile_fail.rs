//! Nothing executes around the gates, and the compiler says so: a call that did not go through
//! them, or whose start is not on record, cannot be written down.

#[test]
fn a_call_cannot_be_made_around_the_gates() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
