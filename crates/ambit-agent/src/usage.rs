//! What a turn costs: tokens as the provider counts them, and money by prices that are given.
//! There is no price list here; one would be wrong before long.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Tokens of one turn or of many. The three kinds of input do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Input at the full price: neither read from the provider's cache nor written to it.
    pub input: u64,
    /// Input read from the provider's cache.
    pub cached_input: u64,
    /// Input written to the provider's cache, where that has a price of its own.
    pub cache_write: u64,
    /// Output, thinking included.
    pub output: u64,
    /// What that costs, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// Everything the model read.
    pub fn read(&self) -> u64 {
        self.input
            .saturating_add(self.cached_input)
            .saturating_add(self.cache_write)
    }

    /// With what it costs at these prices.
    #[must_use]
    pub fn priced(mut self, prices: Option<&Prices>) -> Self {
        self.cost = prices.map(|it| it.cost(&self));
        self
    }
}

impl Add for Usage {
    type Output = Usage;

    /// Costs add up where both are known; a turn without a price makes the sum unknown, unless it
    /// cost no tokens.
    fn add(self, other: Usage) -> Usage {
        let is_nothing = |it: &Usage| it.read() == 0 && it.output == 0;
        let cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(a + b),
            (Some(a), None) if is_nothing(&other) => Some(a),
            (None, Some(b)) if is_nothing(&self) => Some(b),
            _ => None,
        };
        Usage {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            cost,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(usages: I) -> Usage {
        usages.fold(Usage::default(), Add::add)
    }
}

/// Prices of a model, in any currency, per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prices {
    /// Of input.
    #[schemars(range(min = 0))]
    pub input: f64,
    /// Of input read from the cache. Default: as input.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub cached_input: Option<f64>,
    /// Of input written to the cache. Default: as input.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub cache_write: Option<f64>,
    /// Of output.
    #[schemars(range(min = 0))]
    pub output: f64,
}

impl Prices {
    /// What these tokens cost.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let parts = [
            (usage.input, self.input),
            (usage.cached_input, self.cached_input.unwrap_or(self.input)),
            (usage.cache_write, self.cache_write.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        // A price per million tokens is as many millionths per token: times 10^6 it is in
        // picos, which most price lists have no fractions of.
        let picos = parts.iter().map(|(tokens, price)| {
            let per_token = (price.max(0.0) * 1e6).round() as u64;
            per_token.saturating_mul(*tokens)
        });
        Cost(picos.fold(0, u64::saturating_add))
    }
}

/// Money, in the currency of the prices, exact to a millionth of a millionth: sums do not depend
/// on the order of what is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u64);

impl Cost {
    const UNIT: f64 = 1e12;

    /// So much of the currency. Nothing, if that is not a positive number.
    pub fn of(units: f64) -> Cost {
        Cost((units.max(0.0) * Cost::UNIT).round() as u64)
    }

    /// In the currency.
    pub fn units(self) -> f64 {
        self.0 as f64 / Cost::UNIT
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Cost {
    /// Four decimals, or more where those would say nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.units();
        match self.0 {
            0 => f.write_str("0"),
            1..100_000_000 => write!(f, "{units:.6}"),
            _ => write!(f, "{units:.4}"),
        }
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.units())
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Cost::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices = Prices {
        input: 3.0,
        cached_input: Some(0.3),
        cache_write: Some(3.75),
        output: 15.0,
    };

    fn usage(input: u64, cached_input: u64, cache_write: u64, output: u64) -> Usage {
        Usage {
            input,
            cached_input,
            cache_write,
            output,
            cost: None,
        }
    }

    #[track_caller]
    fn check(usage: Usage, expected: &str) {
        assert_eq!(PRICES.cost(&usage).to_string(), expected, "{usage:?}");
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        check(usage(0, 0, 0, 0), "0");
        check(usage(1_000_000, 0, 0, 0), "3.0000");
        check(usage(0, 1_000_000, 0, 0), "0.3000");
        check(usage(0, 0, 1_000_000, 0), "3.7500");
        check(usage(0, 0, 0, 1_000_000), "15.0000");
        check(usage(1000, 1000, 1000, 1000), "0.0221");
        check(usage(1, 0, 0, 1), "0.000018");
        check(usage(u64::MAX, 0, 0, 0), "18446744.0737");
    }

    #[test]
    fn an_unknown_cost_makes_the_sum_unknown() {
        let known = usage(10, 0, 0, 10).priced(Some(&PRICES));
        let unknown = usage(10, 0, 0, 10);
        assert_eq!((known + known).cost, Some(Cost(2 * 180_000_000)));
        assert_eq!((known + unknown).cost, None);
        assert_eq!(
            [known, known].into_iter().sum::<Usage>().cost,
            (known + known).cost
        );
    }

    #[test]
    fn money_is_written_as_a_number_and_read_back() {
        let cost = Cost(12_345_678_900_000);
        let text = serde_json::to_string(&cost).unwrap();
        assert_eq!(text, "12.3456789");
        assert_eq!(serde_json::from_str::<Cost>(&text).unwrap(), cost);
    }
}
