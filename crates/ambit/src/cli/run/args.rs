//! What can be typed after `ambit run`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::AgentArgs;

#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// What it is to do
    #[arg(required_unless_present = "resume")]
    pub(crate) goal: Option<String>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// The model, of those in `models`, instead of what the config says
    #[arg(long, value_name = "NAME", conflicts_with = "script")]
    pub(crate) model: Option<String>,
    /// Play this file of model turns instead of asking a model
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Most turns of the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Most it may use up: tokens (200000, 200k) or money ($0.50)
    #[arg(long, value_name = "AMOUNT", value_parser = parse_budget)]
    pub(crate) budget: Option<RunBudget>,
    /// Go on with a session: an id, the beginning of one, or by default the last run here
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "last")]
    pub(crate) resume: Option<String>,
    /// Say yes to whatever would be asked in this run
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What a run may use up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RunBudget {
    /// Tokens, read and written.
    Tokens(u64),
    /// Money, in the currency of the model's prices.
    Money(f64),
}

fn parse_budget(text: &str) -> Result<RunBudget, String> {
    let wrong = || "write tokens (`200000`, `200k`, `2M`) or money (`$0.50`)".to_owned();
    if let Some(money) = text.strip_prefix('$') {
        let money: f64 = money.parse().map_err(|_| wrong())?;
        let is_some = money.is_finite() && money > 0.0;
        return is_some.then_some(RunBudget::Money(money)).ok_or_else(wrong);
    }
    let (digits, times) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match text.strip_suffix('M') {
            Some(digits) => (digits, 1_000_000),
            None => (text, 1),
        },
    };
    let tokens: u64 = digits.parse().map_err(|_| wrong())?;
    match tokens.checked_mul(times) {
        Some(tokens @ 1..) => Ok(RunBudget::Tokens(tokens)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_tokens_or_money() {
        use RunBudget::{Money, Tokens};
        for (text, expected) in [
            ("200000", Some(Tokens(200_000))),
            ("200k", Some(Tokens(200_000))),
            ("2M", Some(Tokens(2_000_000))),
            ("$0.5", Some(Money(0.5))),
            ("0", None),
            ("$0", None),
            ("$", None),
            ("-1", None),
            ("99999999999999999999k", None),
            ("much", None),
        ] {
            assert_eq!(parse_budget(text).ok(), expected, "{text}");
        }
    }
}
