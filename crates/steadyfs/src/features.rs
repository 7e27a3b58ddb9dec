//! What a build has, as constants: what is left out costs no code, because the compiler knows it, and nearly every line is
//! compiled in every build.
//!
//! A call that is never made costs nothing either: the linker leaves it out. So a feature is here only where a call that most firmware makes (`mount`,
//! `open`, `write`, `remove`) needs the mechanism. What a build lacks and a volume, file or call needs is refused with
//! [`Error::Unsupported`](crate::Error::Unsupported) or [`MountError::Config`](crate::MountError::Config).

/// Media that program bytes.
pub(crate) const NOR: bool = cfg!(feature = "nor");
/// Names of more bytes than an inode has room for.
pub(crate) const LONG_NAMES: bool = cfg!(feature = "long-names");
/// Mode, owner and group of a file.
pub(crate) const PERMISSIONS: bool = cfg!(feature = "permissions");
/// Cutting a file that is not empty.
pub(crate) const TRUNCATE: bool = cfg!(feature = "truncate");
/// Lent pages for writes in part.
pub(crate) const CACHE: bool = cfg!(feature = "cache");
/// Lent pages of what was read.
pub(crate) const READ_CACHE: bool = cfg!(feature = "read-cache");
/// Moving data that its pages hardly hold any more, and looking for it.
pub(crate) const SCRUB: bool = cfg!(feature = "scrub");
/// Moving data at rest out of blocks that wear less than others.
pub(crate) const WEAR_LEVELLING: bool = cfg!(feature = "wear-levelling");
/// Volumes on which pages move in groups.
pub(crate) const GROUPS: bool = cfg!(feature = "groups");
/// Volumes with more than one stream.
pub(crate) const STREAMS: bool = cfg!(feature = "streams");
