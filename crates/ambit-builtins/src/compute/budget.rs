//! What a function may spend. A thread cannot be ended from outside, so every loop whose length
//! the arguments decide asks here first: work is counted, not timed, and the same arguments are
//! refused or answered alike on every machine.

use ambit_core::observation::Failure;

use crate::stop::Stop;

/// About ten nanoseconds each: a quarter of a second of work.
const STEPS: u64 = 25_000_000;
/// How much a function may hold of what it makes.
const BYTES: usize = 4 << 20;

/// What is left to one call.
#[derive(Debug)]
pub struct Budget<'a> {
    steps: u64,
    bytes: usize,
    stop: &'a Stop,
}

impl<'a> Budget<'a> {
    /// The whole of it. Ends early once nobody waits any more.
    pub(crate) fn new(stop: &'a Stop) -> Self {
        Budget {
            steps: STEPS,
            bytes: BYTES,
            stop,
        }
    }

    /// Before doing this much.
    pub fn steps(&mut self, steps: u64) -> Result<(), Failure> {
        self.stop.check()?;
        self.steps = self.steps.checked_sub(steps).ok_or_else(|| {
            Failure::refused("this is too much work for one call: make it smaller or simpler")
        })?;
        Ok(())
    }

    /// Before keeping this much.
    pub fn bytes(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| {
            let most = BYTES >> 20;
            Failure::refused(format!(
                "the result would be larger than {most} MiB: ask for a part of it"
            ))
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ambit_core::code::Code;

    use super::*;

    #[test]
    fn what_is_spent_is_gone() {
        let stop = Stop::default();
        let mut budget = Budget::new(&stop);
        budget.steps(STEPS).unwrap();
        budget.bytes(BYTES - 1).unwrap();
        for refusal in [budget.steps(1), budget.steps(u64::MAX), budget.bytes(2)] {
            assert_eq!(refusal.unwrap_err().code, Code::Refused);
        }
        stop.set();
        assert_eq!(budget.steps(0).unwrap_err().code, Code::Cancelled);
    }
}
