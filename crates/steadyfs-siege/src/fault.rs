//! One operation that fails although power stays.

use std::fmt;

use steadyfs::media::Failure;

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Read of a page or a tag.
    Read,
    /// Program of a page, from the caller's bytes or from the chip's register.
    Program,
    /// Program of several pages in one command.
    Group,
    /// Erase of a block.
    Erase,
    /// Flush of the device's write cache.
    Flush,
}

/// Effect of an operation, reported as failed, on its page or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFate {
    /// No effect: the driver refused without touching the medium.
    Untouched,
    /// The full effect.
    Holds,
    /// A part of the effect.
    Torn,
    /// The page reads differently at each look.
    Unsteady,
}

/// A fault that strikes once.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Kind of the operation that fails.
    pub kind: Kind,
    /// Number of operations of that kind that succeed before the fault.
    pub after: u32,
    /// Error that the caller gets.
    pub failure: Failure,
    /// Effect on the medium.
    pub page: PageFate,
    /// True if the block takes no program and no erase from now on.
    pub is_bad_for_good: bool,
}

impl Fault {
    /// Makes a read that fails once.
    pub fn read(after: u32, failure: Failure) -> Self {
        Self { kind: Kind::Read, after, failure, page: PageFate::Untouched, is_bad_for_good: false }
    }

    /// Draws any fault that the promises name. The number of operations before it depends on how
    /// frequent its kind is.
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        match rng.u32(..100) {
            0..45 => Self::any_read(log_uniform(rng, 300), rng),
            45..80 => Self::any_program(log_uniform(rng, 80), rng),
            80..84 => Self::flush(rng.u32(..10)),
            _ => Self::any_erase(rng.u32(..6), rng),
        }
    }

    /// Draws a read that fails once, with either error.
    pub fn any_read(after: u32, rng: &mut fastrand::Rng) -> Self {
        Self::read(after, if rng.bool() { Failure::Device } else { Failure::Uncorrectable })
    }

    /// Draws a program that is reported as failed.
    pub fn any_program(after: u32, rng: &mut fastrand::Rng) -> Self {
        let failure = if rng.bool() { Failure::Device } else { Failure::BadBlock };
        let page = *rng
            .choice(&[PageFate::Untouched, PageFate::Holds, PageFate::Torn, PageFate::Unsteady])
            .expect("one of four");
        let is_bad_for_good = failure == Failure::BadBlock && rng.bool();
        Self { kind: Kind::Program, after, failure, page, is_bad_for_good }
    }

    /// Makes a flush that fails. If there is a cache, writes that the device had answered are
    /// lost.
    pub fn flush(after: u32) -> Self {
        Self { kind: Kind::Flush, ..Self::read(after, Failure::Device) }
    }

    /// Draws an erase that is reported as failed.
    pub fn any_erase(after: u32, rng: &mut fastrand::Rng) -> Self {
        let failure = if rng.bool() { Failure::Device } else { Failure::BadBlock };
        let page = *rng
            .choice(&[PageFate::Untouched, PageFate::Holds, PageFate::Torn])
            .expect("one of three");
        Self {
            kind: Kind::Erase,
            after,
            failure,
            page,
            is_bad_for_good: failure == Failure::BadBlock,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} fails once with {:?}", self.kind, self.failure)?;
        if matches!(self.kind, Kind::Program | Kind::Group | Kind::Erase) {
            write!(
                f,
                " ({:?}{})",
                self.page,
                if self.is_bad_for_good { ", bad for good" } else { "" }
            )?;
        }
        Ok(())
    }
}

/// Draws a number below `limit`, with a uniform logarithm: small numbers are as frequent as large
/// ones.
pub fn log_uniform(rng: &mut fastrand::Rng, limit: u32) -> u32 {
    (f64::from(limit).powf(rng.f64()) - 1.0) as u32
}
