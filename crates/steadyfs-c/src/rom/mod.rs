//! Read-only images: squashfs that `steady pack --read-only` made, mounted from memory, NOR or NAND.
//!
//! | module | what is in it |
//! |---|---|
//! | `config` | where an image lies, and memory |
//! | `source` | one source for all media, verified and cached where that is asked for |
//! | `image` | mount and unmount |
//! | `names`, `files`, `directories` | the calls, by what they are about |
//! | `bounds` | how long they take at most |
//! | `install` | an image is written to NAND |

mod bounds;
mod config;
mod directories;
mod files;
mod image;
#[cfg(feature = "nand")]
mod install;
mod names;
mod source;

use crate::error::Code;
use steadyfs_rom::Error;

impl From<Error> for Code {
    fn from(error: Error) -> Self {
        match error {
            Error::Medium(failure) => failure.into(),
            Error::NoImage => Self::ErrNotformatted,
            Error::Version(_) => Self::ErrVersion,
            Error::Features(_) | Error::Method(_) => Self::ErrUnsupported,
            Error::Damaged(_) | Error::End(_) => Self::ErrCorrupt,
            Error::NotAuthentic(_) => Self::ErrNotauthentic,
            Error::NotSigned => Self::ErrNotsigned,
            Error::NotFound => Self::ErrNoent,
            Error::NotADirectory => Self::ErrNotdir,
            Error::NotAFile => Self::ErrIsdir,
            Error::NotALink => Self::ErrNotalink,
            Error::BufferTooSmall { .. } | Error::MemoryTooSmall { .. } => Self::ErrNomem,
            Error::TooManyBadBlocks => Self::ErrBadblocks,
            // One that this edition does not know says the least that is safe.
            _ => Self::ErrUnknown,
        }
    }
}
