//! The events after which a volume commits.

use super::Options;
use serde::{Deserialize, Serialize};
use steadyfs::CommitOn;

/// The event after which the volume commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Events {
    /// A file is closed.
    Close,
    /// A second has passed.
    Timed,
    /// A file is flushed.
    Flush,
    /// Anything has changed.
    EveryWrite,
    /// The application commits after each file.
    Manual,
    /// The application commits after a series of files.
    Series,
}

impl Events {
    /// All choices.
    pub const ALL: [Events; 6] = [
        Events::Close,
        Events::Timed,
        Events::Flush,
        Events::EveryWrite,
        Events::Manual,
        Events::Series,
    ];

    /// Returns the choice in words, with `series` files in a series.
    pub fn name(self, series: u32) -> String {
        match self {
            Events::Close => "on close".to_string(),
            Events::Timed => "timed, 1 s".to_string(),
            Events::Flush => "on flush".to_string(),
            Events::EveryWrite => "each write".to_string(),
            Events::Manual => "by hand".to_string(),
            Events::Series => format!("{series} by hand"),
        }
    }

    /// Returns the number of files before a commit by hand.
    pub(super) fn series(self, options: &Options) -> u32 {
        if self == Events::Series { options.series.max(1) } else { 1 }
    }

    /// Returns the events after which the volume commits by itself.
    pub(super) fn commit_on(self) -> CommitOn {
        let always = CommitOn::FULL.with(CommitOn::UNMOUNT);
        match self {
            Events::Close => always.with(CommitOn::CLOSE),
            Events::Timed => always.with(CommitOn::TIMED),
            Events::Flush => always.with(CommitOn::FSYNC),
            Events::EveryWrite => CommitOn::EVERY_WRITE,
            Events::Manual | Events::Series => CommitOn::MANUAL,
        }
    }
}
