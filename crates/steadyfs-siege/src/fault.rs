//! One operation that fails although power stays.

use std::fmt;

use steadyfs::media::Failure;

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of a page or a tag.
    Read,
    /// Of a page, from the caller's bytes or from the chip's register.
    Program,
    /// Of several pages in one command.
    Group,
    /// Of a block.
    Erase,
    /// Of the device's write cache, which is emptied.
    Flush,
}

/// What an operation that is reported as failed does to its page, or its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFate {
    /// Nothing: the driver refused without touching it.
    Untouched,
    /// Everything that it was to do.
    Holds,
    /// A part of it.
    Torn,
    /// The page reads differently at each look.
    Unsteady,
}

/// A fault that strikes once.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which operations it waits for.
    pub kind: Kind,
    /// Operations of that kind that it lets pass.
    pub after: u32,
    /// What the caller is told.
    pub failure: Failure,
    /// What happens to the medium.
    pub page: PageFate,
    /// The block takes no program and no erase from now on.
    pub is_bad_for_good: bool,
}

impl Fault {
    /// A read that fails once.
    pub fn read(after: u32, failure: Failure) -> Self {
        Self { kind: Kind::Read, after, failure, page: PageFate::Untouched, is_bad_for_good: false }
    }

    /// Any fault of those that the promises name, with as many operations before it as such an operation is common.
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        match rng.u32(..100) {
            0..45 => Self::any_read(log_uniform(rng, 300), rng),
            45..80 => Self::any_program(log_uniform(rng, 80), rng),
            80..84 => Self::flush(rng.u32(..10)),
            _ => Self::any_erase(rng.u32(..6), rng),
        }
    }

    /// A read that fails once, either way.
    pub fn any_read(after: u32, rng: &mut fastrand::Rng) -> Self {
        Self::read(after, if rng.bool() { Failure::Device } else { Failure::Uncorrectable })
    }

    /// A program that is reported as failed.
    pub fn any_program(after: u32, rng: &mut fastrand::Rng) -> Self {
        let failure = if rng.bool() { Failure::Device } else { Failure::BadBlock };
        let page = *rng.choice(&[PageFate::Untouched, PageFate::Holds, PageFate::Torn, PageFate::Unsteady]).expect("one of four");
        let is_bad_for_good = failure == Failure::BadBlock && rng.bool();
        Self { kind: Kind::Program, after, failure, page, is_bad_for_good }
    }

    /// A flush that fails, and loses what was answered before where there is a cache.
    pub fn flush(after: u32) -> Self {
        Self { kind: Kind::Flush, ..Self::read(after, Failure::Device) }
    }

    /// An erase that is reported as failed.
    pub fn any_erase(after: u32, rng: &mut fastrand::Rng) -> Self {
        let failure = if rng.bool() { Failure::Device } else { Failure::BadBlock };
        let page = *rng.choice(&[PageFate::Untouched, PageFate::Holds, PageFate::Torn]).expect("one of three");
        Self { kind: Kind::Erase, after, failure, page, is_bad_for_good: failure == Failure::BadBlock }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} fails once with {:?}", self.kind, self.failure)?;
        if matches!(self.kind, Kind::Program | Kind::Group | Kind::Erase) {
            write!(f, " ({:?}{})", self.page, if self.is_bad_for_good { ", bad for good" } else { "" })?;
        }
        Ok(())
    }
}

/// A number below `limit`, small ones as often as large ones.
pub fn log_uniform(rng: &mut fastrand::Rng, limit: u32) -> u32 {
    (f64::from(limit).powf(rng.f64()) - 1.0) as u32
}
