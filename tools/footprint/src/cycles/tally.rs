//! Sums of counted instructions.

use crate::calls::{Calls, Counted};
use board::host::Output;
use core::fmt::Write;
use steadyfs::Error;

/// Instructions of one kind of call.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    calls: u32,
    /// Calls that the volume refused for lack of room. The sums do not contain them.
    refused: u32,
    all: Sum,
    /// The instructions without checksums.
    rest: Sum,
    /// The instructions of all calls and of all refused calls.
    spent: u64,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    total: u64,
    longest: u64,
}

impl Sum {
    fn add(&mut self, instructions: u64) {
        self.total += instructions;
        self.longest = self.longest.max(instructions);
    }
}

impl Tally {
    /// Counts a call.
    pub fn add(&mut self, counted: Counted) {
        self.calls += 1;
        self.spent += counted.all;
        self.all.add(counted.all);
        self.rest.add(counted.rest);
    }

    /// Makes a call and counts it.
    pub fn call<F: Calls, R>(
        &mut self,
        fs: &mut F,
        call: impl FnOnce(&mut F) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let start = fs.start();
        let result = call(fs);
        let counted = fs.since(start);
        if matches!(result, Err(Error::NoSpace)) {
            self.refused += 1;
            self.spent += counted.all;
        } else {
            self.add(counted);
        }
        result
    }

    /// Returns the instructions of all calls.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Prints a row: the medium and the call, the number of calls, then mean and maximum with
    /// checksums, then mean and maximum without, then the number of refused calls.
    pub fn print(&self, medium: &str, call: &str) {
        let mean = |sum: &Sum| sum.total / u64::from(self.calls.max(1));
        let (all, rest) = (&self.all, &self.rest);
        let _ = writeln!(
            Output,
            "{medium}|{call}|{}|{}|{}|{}|{}|{}",
            self.calls,
            mean(all),
            all.longest,
            mean(rest),
            rest.longest,
            self.refused
        );
    }
}
