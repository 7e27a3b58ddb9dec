//! Volumes in images, and on the chips of this machine: what the commands that work on them have in common.
//!
//! | file | idea |
//! |---|---|
//! | `chip` | the medium: an image or an MTD device, with the times of a profile |
//! | `lock` | one writer, or any number of readers, of an image |
//! | `volume` | a mounted volume of files, and errors that say where |
//! | `open` | the same, opened: what is lost is told, what is left is removed |
//! | `disk` | the same of a disk |
//! | `mounted` | a volume of either kind |
//! | `settings` | the settings of a new volume, as arguments |
//! | `change` | a command that changes a volume, from the mount to the unmount |
//! | `draft` | the file of a volume that is not complete, and what is left of it |
//! | `mark` | what marks it |
//! | `part` | the same on the host |
//! | `create` | a new image, which replaces an old one only when it is complete |
//! | `recognise` | which files are images that are only read |
//! | `archive` | an image that is only read: squashfs and the like, on a chip or not, sealed or not |
//! | `key` | keys that sign images, in files |
//! | `opened` | a volume or an archive, for commands that read |
//! | `collect` | everything of a directory, a volume or an archive, in memory |
//! | `left_out` | what could not be kept, in one line |
//! | `file` | a new file of the host, which replaces an old one only when it is complete |
//! | `names` | names as they are printed, and which of them a host takes |
//! | `place` | `IMG:PATH` |
//! | `time` | times of modification, as text and arguments |
//! | `tree` | directories of a volume or an archive, sorted, and everything below them |
//! | `scan` | the same on the host |
//! | `import` | from the host into a volume |
//! | `rewrite` | a file of the volume, written anew in another form |
//! | `export` | from a volume or an archive to the host |

pub mod archive;
mod card;
pub mod change;
pub mod chip;
pub mod collect;
pub mod create;
pub mod disk;
pub mod draft;
pub mod export;
pub mod file;
pub mod import;
pub mod key;
pub mod left_out;
mod lock;
mod mark;
pub mod mounted;
pub mod names;
mod open;
pub mod opened;
pub mod part;
pub mod place;
mod recognise;
pub mod rewrite;
mod salvage;
pub mod scan;
pub mod settings;
pub mod time;
pub mod tree;
pub mod volume;

pub use change::change;
pub use disk::DiskVolume;
pub use mounted::Mounted;
pub use opened::{Opened, ReadOptions};
pub use salvage::{Lost, SalvageOptions};
pub use volume::{Memory, Volume};
