//! A contender of any type: its room and RAM, its cases, its power cuts.

use crate::boards::{self, Spans, Step};
use crate::chip::Chip;
use crate::cuts;
use crate::entrant::{Entrant, Facts};
use crate::result::{Cuts, Outcome};
use steadyfs_lab::bench::{Case, Contender, Fault, Medium, Terms, Volume, measure_case, prepare};
use steadyfs_lab::torture::caught;

/// The figures of a volume that a comparison needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes that files can take together.
    pub usable_bytes: u64,
    /// Bytes of RAM, with one file open.
    pub ram_bytes: u64,
}

/// An [`Entrant`] of any type.
pub trait AnyEntrant: Sync {
    /// Returns the facts about the contender.
    fn facts(&self) -> Facts;

    /// Returns true if it takes the smallest erase size of a chip.
    fn takes_sectors(&self) -> bool;

    /// Returns room and RAM on a chip.
    ///
    /// # Errors
    /// The reason why the contender cannot be used on this chip.
    fn extent(&self, chip: Chip) -> Result<Extent, String>;

    /// Measures cases with the same beginning. The beginning is made once on an erased chip, and
    /// each case gets a twin of it.
    fn measure(
        &self,
        chip: Chip,
        cases: &[Case],
        terms: &Terms<'_>,
        tick: &dyn Fn(f64),
    ) -> Vec<Outcome>;

    /// Runs steps on a new volume of a chip. Returns their times.
    ///
    /// # Errors
    /// The reason why a step failed.
    fn follow(&self, chip: Chip, steps: &[Step]) -> Result<Spans, String>;

    /// Cuts the power this number of times. Returns `None` if the contender promises nothing that
    /// a cut could break.
    fn cut(&self, medium: &Medium, cuts: u32, seed: u64, tick: &dyn Fn(f64)) -> Option<Cuts>;
}

fn extent_of(mut contender: impl Contender) -> Result<Extent, Fault> {
    contender.format()?;
    let ram_bytes = contender.ram_bytes();
    let usable_bytes = contender.mount()?.room()?.usable_bytes;
    Ok(Extent { usable_bytes, ram_bytes })
}

/// Returns the result of `act`, or the rule that it broke. Illegal use of a chip ends the case,
/// not the comparison.
fn faulty<T>(act: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    caught(act).unwrap_or_else(|broken| Err(Fault::Failed(broken)))
}

fn measure_possible<E: Entrant>(
    entrant: &E,
    chip: &Chip,
    cases: &[Case],
    terms: &Terms<'_>,
    tick: &dyn Fn(f64),
) -> Vec<Outcome> {
    let Some((last, others)) = cases.split_last() else { return Vec::new() };
    let made = faulty(|| {
        let mut contender = entrant.on(chip.clone()).map_err(Fault::Cannot)?;
        let prepared = prepare(&mut contender, last.ground())?;
        Ok((contender, prepared))
    });
    let (contender, prepared) = match made {
        Ok(made) => made,
        Err(fault) => {
            return cases.iter().map(|&case| Outcome::of(case, Err(fault.clone()))).collect();
        }
    };
    let measure = |index: usize, case, contender: Result<E::On, String>| {
        let tell = |share| tick((index as f64 + share) / cases.len() as f64);
        let act = || {
            measure_case(contender.map_err(Fault::Cannot)?, prepared.clone(), case, terms, &tell)
        };
        Outcome::of(case, faulty(act))
    };
    let twin = |(index, &case): (usize, &Case)| {
        measure(index, case, entrant.twin(&contender, chip.twin()))
    };
    let mut outcomes: Vec<Outcome> = others.iter().enumerate().map(twin).collect();
    outcomes.push(measure(others.len(), *last, Ok(contender)));
    outcomes
}

impl<E: Entrant> AnyEntrant for E {
    fn facts(&self) -> Facts {
        Entrant::facts(self)
    }

    fn takes_sectors(&self) -> bool {
        Entrant::takes_sectors(self)
    }

    fn extent(&self, chip: Chip) -> Result<Extent, String> {
        let contender = self.on(chip)?;
        caught(|| extent_of(contender))?.map_err(|fault| fault.to_string())
    }

    fn measure(
        &self,
        chip: Chip,
        cases: &[Case],
        terms: &Terms<'_>,
        tick: &dyn Fn(f64),
    ) -> Vec<Outcome> {
        let possible: Vec<Case> =
            cases.iter().copied().filter(|&case| self.cannot(case).is_none()).collect();
        let mut measured = measure_possible(self, &chip, &possible, terms, tick).into_iter();
        let outcome = |&case: &Case| match self.cannot(case) {
            Some(reason) => Some(Outcome::skipped(case, reason)),
            None => measured.next(),
        };
        cases.iter().filter_map(outcome).collect()
    }

    fn follow(&self, chip: Chip, steps: &[Step]) -> Result<Spans, String> {
        let mut contender = self.on(chip)?;
        caught(|| boards::follow(&mut contender, steps))?.map_err(|fault| fault.to_string())
    }

    fn cut(&self, medium: &Medium, cuts: u32, seed: u64, tick: &dyn Fn(f64)) -> Option<Cuts> {
        self.survives_cuts().then(|| cuts::run(self, medium, cuts, seed, tick))
    }
}
