//! Sums of counted instructions.

use board::host::Output;
use board::meter::{Meter, Spent};
use board::timer::{self, now};
use core::fmt::Write;
use steadyfs::{Error, FileSystem};

pub type Volume<'m, C> = FileSystem<'m, &'m mut C>;

/// Instructions of one kind of call.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    calls: u32,
    all: Sum,
    /// The instructions without checksums.
    rest: Sum,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    total: u64,
    longest: u32,
}

impl Sum {
    fn add(&mut self, instructions: u32) {
        self.total += u64::from(instructions);
        self.longest = self.longest.max(instructions);
    }
}

impl Tally {
    /// Counts a call from its start until now.
    #[inline(always)]
    pub fn count(&mut self, start: u32, before: Spent, after: impl FnOnce() -> Spent) {
        let end = now();
        let after = after();
        let all = end.wrapping_sub(start) - after.chip.wrapping_sub(before.chip);
        self.calls += 1;
        self.all.add(timer::instructions(all));
        self.rest.add(timer::instructions(all - after.checksum.wrapping_sub(before.checksum)));
    }

    /// Makes a call and counts it.
    pub fn call<C: Meter, R>(
        &mut self,
        fs: &mut Volume<'_, C>,
        call: impl FnOnce(&mut Volume<'_, C>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let before = fs.flash().spent();
        let start = now();
        let result = call(fs);
        self.count(start, before, || fs.flash().spent());
        result
    }

    /// Prints a row: the medium and the call, the number of calls, then mean and maximum with
    /// checksums, then mean and maximum without.
    pub fn print(&self, medium: &str, call: &str) {
        let mean = |sum: &Sum| sum.total / u64::from(self.calls.max(1));
        let (all, rest) = (&self.all, &self.rest);
        let _ = writeln!(
            Output,
            "{medium}|{call}|{}|{}|{}|{}|{}",
            self.calls,
            mean(all),
            all.longest,
            mean(rest),
            rest.longest
        );
    }
}
