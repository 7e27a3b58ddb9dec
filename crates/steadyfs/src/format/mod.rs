//! The format on the medium, byte by byte. `docs/format.md` describes it in prose and tables.
//!
//! The other formats lie beside their code: the tag in `media::tag`, journal pages in `journal`,
//! leaves in `map`, inodes and directory records in `fs`.

pub(crate) mod root;
pub(crate) mod superblock;

/// Version of the format, in superblock and root.
pub const VERSION: u16 = 6;
