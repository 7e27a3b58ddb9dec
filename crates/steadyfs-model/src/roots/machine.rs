//! What a mount and a call work on.

use super::chip::{At, Chip, Seen};
use super::luck::Luck;
use super::state::{Promise, Ram, Scope, Told, Violation};
use std::collections::BTreeMap;

/// Why something ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The power failed.
    Cut,
    /// A program or erase failed.
    Failed,
    /// A mount refuses, or is read-only.
    Told(Told),
    /// Something is wrong.
    Broken(Violation),
}

/// A result, or an early end.
pub type Step<T = ()> = Result<T, Stop>;

/// A chip with power.
pub struct Machine<'a> {
    /// Sizes and rules.
    pub scope: &'a Scope,
    /// The chip.
    pub chip: Chip,
    /// RAM, once there is any.
    pub ram: Option<Ram>,
    /// What the caller may rely on.
    pub promise: Promise,
    /// How pages read since the power came on.
    pub memo: BTreeMap<At, Seen<()>>,
    /// A read failed in this call.
    pub misread: bool,
    /// Where the answers come from.
    pub luck: &'a mut dyn Luck,
}

impl Machine<'_> {
    /// RAM of a mounted volume.
    pub fn ram(&mut self) -> &mut Ram {
        self.ram.as_mut().expect("the volume is mounted")
    }
}
