//! Strikes against a medium in use: power that fails, and a fault that strikes once. Chips and
//! cards share them.

use std::fmt::Display;

use steadyfs::media::Failure;

use crate::fault::{Fault, Kind};

/// Operations since the medium was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operations {
    /// Reads of pages and of tags. On a card, commands that read.
    pub reads: u64,
    /// Programs and copies. On a card, commands that write.
    pub programs: u64,
    /// Erases. On a card, discards.
    pub erases: u64,
}

/// Moment of a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// In an operation of any kind, after this number of others.
    Operation(u32),
    /// In a program or erase, after this number of others.
    Change(u32),
    /// In a program of several pages, after this number of others.
    Group(u32),
}

/// Event that meets an operation.
pub enum Strike {
    /// No event.
    None,
    /// Power fails in the operation.
    Cut,
    /// The operation fails.
    Fault(Fault),
}

/// Power, the armed cut and fault, and the faults that have struck.
#[derive(Clone, Debug)]
pub struct Strikes {
    has_power: bool,
    cut: Option<Cut>,
    fault: Option<Fault>,
    fired: u32,
    last_fired: String,
    operations: Operations,
    /// True if the next programs belong to a command of several pages.
    pub is_group: bool,
    /// True if each operation that changes something is printed.
    pub is_traced: bool,
}

impl Strikes {
    /// Makes strikes with power, and with nothing armed.
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

    /// Arms a power cut.
    pub fn arm_cut(&mut self, cut: Cut) {
        self.cut = Some(cut);
    }

    /// Arms a fault of one operation.
    pub fn arm_fault(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    /// Restores power, and discards an armed cut.
    pub fn power_on(&mut self) {
        self.has_power = true;
        self.cut = None;
    }

    /// Discards a fault that has not struck.
    pub fn disarm(&mut self) {
        self.fault = None;
    }

    /// Returns true if there is power.
    pub fn has_power(&self) -> bool {
        self.has_power
    }

    /// Returns true if a fault is armed.
    pub fn is_armed(&self) -> bool {
        self.fault.is_some()
    }

    /// Returns the number of faults that have struck.
    pub fn fired(&self) -> u32 {
        self.fired
    }

    /// Describes the fault that struck last.
    pub fn last_fired(&self) -> &str {
        &self.last_fired
    }

    /// Returns the operations so far.
    pub fn operations(&self) -> Operations {
        self.operations
    }

    /// Counts a fault that strikes without [`begin`](Self::begin).
    pub fn fire(&mut self, words: String) {
        self.fired += 1;
        self.last_fired = words;
    }

    /// Adds the place to the description of the last fault.
    pub fn at(&mut self, place: impl Display) {
        self.last_fired = format!("{} {place}", self.last_fired);
    }

    /// Prints a line if operations are traced.
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
            Some(Cut::Change(left)) if matches!(kind, Kind::Program | Kind::Erase) => {
                count_down(left)
            }
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
