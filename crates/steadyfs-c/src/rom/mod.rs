//! Read-only images: squashfs from `steady pack --read-only`, mounted from memory, NOR or NAND.
//!
//! | module | content |
//! |---|---|
//! | `config` | the place of an image, and memory |
//! | `source` | one source for all media, verified and cached on request |
//! | `image` | mount and unmount |
//! | `names`, `files`, `directories` | the calls, by subject |
//! | `bounds` | the worst cases of the calls |
//! | `install` | writing an image to NAND |

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
            // An error that this version does not list becomes the code that promises the least.
            _ => Self::ErrUnknown,
        }
    }
}
