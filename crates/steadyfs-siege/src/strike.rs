//! What strikes a medium while it is used: power that fails, and a fault that strikes once. The same for a chip and for a card.

use std::fmt::Display;

use steadyfs::media::Failure;

use crate::fault::{Fault, Kind};

/// Operations since the medium was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operations {
    /// Reads of pages and of tags; of a card, commands that read.
    pub reads: u64,
    /// Programs and copies; of a card, commands that write.
    pub programs: u64,
    /// Erases; of a card, discards.
    pub erases: u64,
}

/// When power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// In the operation after so many more of any kind.
    Operation(u32),
    /// In the program or erase after so many more of them.
    Change(u32),
    /// In the program of several pages after so many more of them.
    Group(u32),
}

/// What meets an operation.
pub enum Strike {
    /// Nothing.
    None,
    /// Power fails in it.
    Cut,
    /// It fails.
    Fault(Fault),
}

/// Power, what is to strike, and what has struck.
#[derive(Clone, Debug)]
pub struct Strikes {
    has_power: bool,
    cut: Option<Cut>,
    fault: Option<Fault>,
    fired: u32,
    last_fired: String,
    operations: Operations,
    /// Whether the programs that come now are of several pages.
    pub is_group: bool,
    /// Whether each operation that changes something is printed.
    pub is_traced: bool,
}

impl Strikes {
    /// A medium with power, and nothing that is to strike.
    pub fn new() -> Self {
        Self {
            has_power: true,
            cut: None,
            fault: None,
            fired: 0,
            last_fired: String::new(),
            operations: Operations::default(),
            is_group: false,
            is_traced: false,
        }
    }

    /// Lets power fail.
    pub fn arm_cut(&mut self, cut: Cut) {
        self.cut = Some(cut);
    }

    /// Lets one operation fail.
    pub fn arm_fault(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    /// Power again; a cut that was to come and has not is forgotten.
    pub fn power_on(&mut self) {
        self.has_power = true;
        self.cut = None;
    }

    /// Forgets a fault that has not struck.
    pub fn disarm(&mut self) {
        self.fault = None;
    }

    /// Whether there is power.
    pub fn has_power(&self) -> bool {
        self.has_power
    }

    /// Whether a fault waits to strike.
    pub fn is_armed(&self) -> bool {
        self.fault.is_some()
    }

    /// Faults that struck so far.
    pub fn fired(&self) -> u32 {
        self.fired
    }

    /// The fault that struck last, in words.
    pub fn last_fired(&self) -> &str {
        &self.last_fired
    }

    /// Operations so far.
    pub fn operations(&self) -> Operations {
        self.operations
    }

    /// Counts a fault that strikes otherwise than by [`begin`](Self::begin).
    pub fn fire(&mut self, words: String) {
        self.fired += 1;
        self.last_fired = words;
    }

    /// Says where the fault struck that struck last.
    pub fn at(&mut self, place: impl Display) {
        self.last_fired = format!("{} {place}", self.last_fired);
    }

    /// Prints a line where operations are traced.
    pub fn trace(&self, line: impl FnOnce() -> String) {
        if self.is_traced {
            println!("    {}", line());
        }
    }

    /// Counts an operation, and lets power fail or a fault strike.
    ///
    /// # Errors
    /// [`Failure::Device`] without power.
    pub fn begin(&mut self, kind: Kind) -> Result<Strike, Failure> {
        if !self.has_power {
            return Err(Failure::Device);
        }
        match kind {
            Kind::Read => self.operations.reads += 1,
            Kind::Program | Kind::Group => self.operations.programs += 1,
            Kind::Erase => self.operations.erases += 1,
            Kind::Flush => {}
        }
        let is_group = self.is_group && kind == Kind::Program;
        let is_due = match &mut self.cut {
            Some(Cut::Operation(left)) => count_down(left),
            Some(Cut::Change(left)) if matches!(kind, Kind::Program | Kind::Erase) => count_down(left),
            Some(Cut::Group(left)) if is_group => count_down(left),
            _ => false,
        };
        if is_due {
            self.cut = None;
            self.has_power = false;
            return Ok(Strike::Cut);
        }
        if let Some(fault) = &mut self.fault
            && (fault.kind == kind || (is_group && fault.kind == Kind::Group))
            && count_down(&mut fault.after)
        {
            let fault = self.fault.take().expect("it is there");
            self.fire(fault.to_string());
            return Ok(Strike::Fault(fault));
        }
        Ok(Strike::None)
    }
}

impl Default for Strikes {
    fn default() -> Self {
        Self::new()
    }
}

fn count_down(left: &mut u32) -> bool {
    let is_due = *left == 0;
    *left = left.saturating_sub(1);
    is_due
}
