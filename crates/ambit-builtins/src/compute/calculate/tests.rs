//! Expressions and what they come to.

use proptest::prelude::*;
use serde_json::json;

use super::super::fixture::{call, text};

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (expression, expected) in cases {
        let found = text("calculate", json!({ "expression": expression }));
        assert_eq!(found, *expected, "{expression}");
    }
}

#[test]
fn decimals_are_exact() {
    check(&[
        ("0.1+0.2", "0.3"),
        ("1.1 * 1.1", "1.21"),
        ("(19.99 * 3) * (1 + 20%)", "71.964"),
        ("1/4 + 1/8", "0.375"),
        ("1/3 * 3", "1"),
        (
            "1/3",
            "0.333333333333333333333333333333 (rounded; exactly 1/3)",
        ),
        ("1e-3 + 0x1F + 0b101 + 1_000", "1036.001"),
        ("2^100", "1267650600228229401496703205376"),
        ("25!", "15511210043330985984000000"),
        ("-7 ÷ 2 − 1×2", "-5.5"),
    ]);
}

#[test]
fn operators_bind_as_written_in_books() {
    check(&[
        ("2 + 3 * 4 ^ 2", "50"),
        ("-2^2", "-4"),
        ("(-2)^2", "4"),
        ("2^3^2", "512"),
        ("2**-1", "0.5"),
        ("- - 3", "3"),
        ("3!^2", "36"),
        ("10 % 3", "1"),
        ("-10 % 3", "2"),
        ("50% * 8", "4"),
        ("200 + 10%", "200.1"),
        ("10% - 3", "-2.9"),
        ("5.5 % 2", "1.5"),
    ]);
}

#[test]
fn functions_are_exact_where_they_can_be() {
    check(&[
        ("sqrt(16) + cbrt(-27) + root(32, 5)", "3"),
        ("sqrt(0.25) + 8^(1/3) + 4^-0.5", "3"),
        ("sqrt(2)", "1.4142135623731 (rounded)"),
        (
            "round(2.5) + round(-2.5) + round(1234.567, -2) + round(1.005, 2)",
            "1201.01",
        ),
        ("floor(-1.5) + ceil(-1.5) + trunc(-1.5)", "-4"),
        (
            "min(3, 1, 2) + max(3, 1, 2) + mean(1, 2) + sum(1, 2, 3)",
            "11.5",
        ),
        ("abs(-3) + sign(-9) + div(-7, 2) + mod(7, 4)", "1"),
        ("gcd(12, 18, 27) + lcm(4, 6) + choose(5, 2)", "25"),
        (
            "log(1000) + log(8, 2) + log2(8) + log10(10)",
            "10 (rounded)",
        ),
        ("round(sin(pi / 6), 6) + degrees(pi)", "180.5 (rounded)"),
        ("LN(e)", "1 (rounded)"),
        ("floor(sqrt(2))", "1 (rounded)"),
        ("choose(10000, 5000) / choose(10000, 4999) * 5000", "5001"),
        ("0^0 + (-1)^1000000001 + 1^99999999999", "1"),
    ]);
}

#[test]
fn what_cannot_be_calculated_says_why() {
    check(&[
        ("1/0", "refused: at character 3: division by zero"),
        ("1 % 0", "refused: division by zero"),
        ("0^-1", "refused: division by zero"),
        (
            "2 3",
            "refused: at character 3: an operator is missing: write `*` to multiply",
        ),
        (
            "2(3)",
            "refused: at character 2: an operator is missing: write `*` to multiply",
        ),
        (
            "1,000",
            "refused: at character 2: a `,` stands only between arguments of a function: write 1000, not 1,000",
        ),
        (
            "2x",
            "refused: at character 1: `2x` is not a number: write `*` between a number and a name, `.` before decimals, and exponents up to 2000",
        ),
        ("(1 + 2", "refused: at character 7: a `)` is missing"),
        ("1)", "refused: at character 2: this `)` closes nothing"),
        (
            "1 +",
            "refused: at character 4: the expression ends too soon",
        ),
        (
            "* 2",
            "refused: at character 1: a number, a name or `(` is missing before this",
        ),
        (" ", "refused: at character 2: the expression ends too soon"),
        (
            "a = 1",
            "refused: at character 3: there are no comparisons here, only calculation",
        ),
        ("$5", "refused: at character 1: `$` means nothing here"),
        (
            "sqr(4)",
            "refused: at character 1: `sqr` is no function; did you mean `sqrt`?",
        ),
        (
            "pie",
            "refused: at character 1: `pie` is no variable or constant; did you mean `pi`?",
        ),
        (
            "sqrt()",
            "refused: at character 1: `sqrt` takes 1 argument, not 0",
        ),
        (
            "round(1, 2, 3)",
            "refused: at character 1: `round` takes 1 to 2 arguments, not 3",
        ),
        (
            "gcd(4)",
            "refused: at character 1: `gcd` takes 2 or more arguments, not 1",
        ),
        (
            "sqrt(-1)",
            "refused: an even root of a negative number is not a real number (in `sqrt`)",
        ),
        (
            "(-8)^0.3",
            "refused: a negative number to a fractional power is not a real number",
        ),
        (
            "ln(0)",
            "refused: there are logarithms of positive numbers only (in `ln`)",
        ),
        (
            "log(2, 1)",
            "refused: the base of a logarithm cannot be 1 (in `log`)",
        ),
        (
            "asin(2)",
            "refused: its argument must be from -1 to 1 (in `asin`)",
        ),
        ("2.5!", "refused: `2.5` is not a whole number"),
        ("(-1)!", "refused: there are factorials of 0 and more only"),
        (
            "round(1, 9999)",
            "refused: round to -1000 to 1000 places (in `round`)",
        ),
    ]);
}

const TOO_LARGE: &str = "refused: a number on the way is too large: more than about 9,800 digits, or more than 1e308 where it is not exact";

#[test]
fn large_work_is_refused_before_it_is_done() {
    let deep = format!("{}1{}", "(".repeat(101), ")".repeat(101));
    let signs = format!("{}1", "-".repeat(4000));
    let towers = vec!["9"; 2000].join("^");
    let many = vec!["(1/7)^1000"; 400].join("+");
    for (expression, expected) in [
        ("9^9^9^9", TOO_LARGE),
        ("2^32768", TOO_LARGE),
        ("99999!", TOO_LARGE),
        ("4294967296!", TOO_LARGE),
        ("choose(10^9, 5*10^8)", "refused: "),
        ("exp(1000)", "refused: a number on the way is too large"),
        ("1.5^100000", TOO_LARGE),
        (
            &deep,
            "refused: at character 102: nested deeper than 100 levels",
        ),
        (
            &signs,
            "refused: at character 102: nested deeper than 100 levels",
        ),
        (
            &towers,
            "refused: at character 203: nested deeper than 100 levels",
        ),
        (
            &many,
            "refused: this is too much work for one call: make it smaller or simpler",
        ),
    ] {
        let found = text("calculate", json!({ "expression": expression }));
        assert!(found.starts_with(expected), "{expression}: {found}");
    }
}

#[test]
fn fractions_that_agree_far_take_no_stack() {
    let near = "7^4000 / 3^7080";
    check(&[
        (
            &format!("sign(max({near}, {near} + 1/10^3000) - {near})"),
            "1",
        ),
        (&format!("sign(sqrt({near} + 1/10^2000))"), "1"),
    ]);
}

#[test]
fn variables_are_numbers_or_decimals() {
    for (expression, variables, expected) in [
        (
            "round(principal * (1 + rate)^years, 2)",
            json!({ "principal": 1000, "rate": 0.05, "years": "10" }),
            "1628.89",
        ),
        (
            "x + x",
            json!({ "x": "123456789012345678901234567890.5" }),
            "246913578024691357802469135781",
        ),
        ("e", json!({ "e": 5 }), "5"),
        (
            "x",
            json!({ "x": "five" }),
            "refused: the variable `x` is not a decimal number such as 12.5: `five`",
        ),
        (
            "rat",
            json!({ "rate": 1 }),
            "refused: at character 1: `rat` is no variable or constant; did you mean `rate`?",
        ),
    ] {
        let found = text(
            "calculate",
            json!({ "expression": expression, "variables": variables }),
        );
        assert_eq!(found, expected, "{expression}");
    }
}

#[test]
fn the_structured_result_says_whether_it_is_exact() {
    for (expression, expected) in [
        ("0.1+0.2", json!({ "result": "0.3", "exact": true })),
        (
            "2/3",
            json!({ "result": "0.666666666666666666666666666667", "exact": false, "fraction": "2/3" }),
        ),
        (
            "sqrt(3)",
            json!({ "result": "1.73205080756888", "exact": false }),
        ),
    ] {
        let output = call("calculate", json!({ "expression": expression })).unwrap();
        assert_eq!(output.structured, Some(expected), "{expression}");
    }
}

proptest! {
    #[test]
    fn cents_add_up(cents in proptest::collection::vec(-1_000_000i64..1_000_000, 1..40)) {
        let expression: Vec<_> = cents.iter().map(|it| format!("({}{}.{:02})", if *it < 0 { "-" } else { "" }, it.abs() / 100, it.abs() % 100)).collect();
        let found = text("calculate", json!({ "expression": format!("100 * ({})", expression.join("+")) }));
        prop_assert_eq!(found, cents.iter().sum::<i64>().to_string());
    }

    #[test]
    fn any_text_has_an_answer(expression in "[-+*/^%!(),.0-9a-z π]{1,60}") {
        let _ = text("calculate", json!({ "expression": expression }));
    }
}
