//! The compared systems: SteadyFS, and FAT with and without flushes.

use std::fmt;

/// A compared system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// SteadyFS, which flushes at commits.
    SteadyFs,
    /// FAT that never flushes, as exFAT does in its usual course.
    FatNeverFlushed,
    /// FAT that flushes after each call, as TexFAT does when it writes through.
    FatWrittenThrough,
}

impl System {
    /// All systems.
    pub const ALL: [System; 3] =
        [System::SteadyFs, System::FatNeverFlushed, System::FatWrittenThrough];
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            System::SteadyFs => "SteadyFS",
            System::FatNeverFlushed => "FAT as exFAT",
            System::FatWrittenThrough => "FAT as TexFAT",
        })
    }
}
