//! Volumes in images, and on the chips of this machine: the parts that the commands on them
//! share.
//!
//! | file | idea |
//! |---|---|
//! | `chip` | the medium: an image or an MTD device, with the times of a profile |
//! | `lock` | one writer, or any number of readers, of an image |
//! | `volume` | a mounted volume of files, and errors that name the place |
//! | `open` | opens such a volume, warns of losses, removes leftovers |
//! | `disk` | a mounted disk |
//! | `mounted` | a volume of either kind |
//! | `settings` | the settings of a new volume, as arguments |
//! | `change` | a command that changes a volume, from the mount to the unmount |
//! | `draft` | the incomplete file of a volume, and its leftovers |
//! | `mark` | the mark of a draft |
//! | `part` | the incomplete file or directory of the host, and its leftovers |
//! | `create` | a new image, which replaces an old one only when it is complete |
//! | `recognise` | recognises read-only images |
//! | `archive` | a read-only image: squashfs and similar, on a chip or not, sealed or not |
//! | `key` | keys that sign images, in files |
//! | `opened` | a volume or an archive, for commands that read |
//! | `attributes` | extended attributes, of the host and of a volume |
//! | `collect` | everything of a directory, a volume or an archive, in memory |
//! | `kind` | the kind of a file of the host |
//! | `left_out` | the things that could not be kept, in one line |
//! | `file` | a new file of the host, which replaces an old one only when it is complete |
//! | `names` | printable names, and names that a host takes |
//! | `place` | `IMG:PATH` |
//! | `time` | times of modification, as text and arguments |
//! | `tree` | directories of a volume or an archive, sorted, and everything below them |
//! | `scan` | files and directories of the host, sorted |
//! | `import` | from the host into a volume |
//! | `rewrite` | a file of the volume, written anew in another form |
//! | `export` | from a volume or an archive to the host |

pub mod archive;
mod attributes;
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
mod kind;
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
