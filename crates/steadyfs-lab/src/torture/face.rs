//! The two faces of a volume: files, or a disk. Each has steps and an oracle of its own, and both
//! support the same operations.

use crate::model::steps::Op;
use crate::model::{Chip, Device, disk, oracle};
use std::fmt;
use steadyfs::{Access, BlockState, Error, MountError};

/// The states that the volume may have.
#[derive(Clone)]
pub(super) enum Model {
    Files(oracle::Model),
    Disk(disk::Model),
}

/// A step of a workload.
#[derive(Clone)]
pub(super) enum Step {
    Files(Op),
    Disk(disk::Step),
}

/// A mounted volume and its oracle.
pub(super) enum Session<'a> {
    Files(Box<oracle::Session<'a>>),
    Disk(Box<disk::Session<'a>>),
}

impl Model {
    /// Mounts. The caller compares.
    pub fn mount<'a>(
        &'a mut self,
        access: Access,
        device: &'a mut Device,
    ) -> Result<Session<'a>, MountError> {
        match self {
            Self::Files(model) => oracle::Session::open_volume(access, device, model)
                .map(|session| Session::Files(Box::new(session))),
            Self::Disk(model) => disk::Session::mount(access, device, model)
                .map(|session| Session::Disk(Box::new(session))),
        }
    }

    /// Compares a disk through a mount for reading, unless the chip is locked. Other tests check
    /// such mounts of volumes with files.
    pub fn glance(&mut self, device: &mut Device) -> Result<(), MountError> {
        match self {
            Self::Disk(model) if !device.fail().is_locked() => disk::Session::glance(device, model),
            _ => Ok(()),
        }
    }
}

/// Evaluates one expression for either face.
macro_rules! either {
    ($self:expr, $session:ident => $act:expr) => {
        match $self {
            Session::Files($session) => $act,
            Session::Disk($session) => $act,
        }
    };
}

impl Session<'_> {
    /// Compares everything with the states that are allowed after a mount.
    pub fn compare(&mut self) -> Result<(), Error> {
        either!(self, session => session.compare())
    }

    /// Compares everything with the current state.
    pub fn check(&mut self) -> Result<(), Error> {
        either!(self, session => session.check())
    }

    pub fn unmount(self) -> Result<(), Error> {
        either!(self, session => session.unmount())
    }

    /// Makes a step that does not end the mount.
    pub fn step(&mut self, step: &Step) -> Result<(), Error> {
        match (self, step) {
            (Self::Files(session), Step::Files(op)) => session.step(op),
            (Self::Disk(session), Step::Disk(step)) => session.step(step),
            _ => unreachable!("steps are drawn for the face that the volume has"),
        }
    }

    pub fn chip(&self) -> &Chip {
        match self {
            Self::Files(session) => session.fs.flash(),
            Self::Disk(session) => session.disk.flash(),
        }
    }

    pub fn block_state(&self, block: u32) -> Option<BlockState> {
        match self {
            Self::Files(session) => session.fs.block(block),
            Self::Disk(session) => session.disk.block(block),
        }
        .map(|info| info.state)
    }
}

impl Step {
    /// Returns `None` if the step does not end the mount. Otherwise, returns true if it ends the
    /// mount without an unmount.
    pub fn ends_mount(&self) -> Option<bool> {
        match self {
            Self::Files(Op::Crash) | Self::Disk(disk::Step::Crash) => Some(true),
            Self::Files(Op::Remount) | Self::Disk(disk::Step::Remount) => Some(false),
            _ => None,
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(op) => op.fmt(f),
            Self::Disk(step) => step.fmt(f),
        }
    }
}
