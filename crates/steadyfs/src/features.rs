//! The features of a build, as constants. The compiler evaluates the constants, so a missing
//! feature costs no code. Nearly every line is compiled in every build.
//!
//! A call that the program never makes costs no code either, because the linker leaves it out. So a
//! mechanism is a feature only if a call that most firmware makes (`mount`, `open`, `write`,
//! `remove`) contains the mechanism. If a volume, a file or a call needs a missing feature, the
//! call returns [`Error::Unsupported`](crate::Error::Unsupported) or
//! [`MountError::Config`](crate::MountError::Config).

/// Media that program bytes.
pub(crate) const NOR: bool = cfg!(feature = "nor");
/// Names that are longer than the room for a name in an inode.
pub(crate) const LONG_NAMES: bool = cfg!(feature = "long-names");
/// Mode, owner and group of a file.
pub(crate) const PERMISSIONS: bool = cfg!(feature = "permissions");
/// Truncation of files that are not empty.
pub(crate) const TRUNCATE: bool = cfg!(feature = "truncate");
/// Memory that the caller lends for partial writes of pages.
pub(crate) const CACHE: bool = cfg!(feature = "cache");
/// Memory that the caller lends for repeated reads of pages.
pub(crate) const READ_CACHE: bool = cfg!(feature = "read-cache");
/// A search for pages with many flipped bits, and moves of their data before it is lost.
pub(crate) const SCRUB: bool = cfg!(feature = "scrub");
/// Moves of data that is never rewritten out of blocks with less wear than others.
pub(crate) const WEAR_LEVELLING: bool = cfg!(feature = "wear-levelling");
/// Volumes on which pages move in groups.
pub(crate) const GROUPS: bool = cfg!(feature = "groups");
/// Volumes with more than one stream.
pub(crate) const STREAMS: bool = cfg!(feature = "streams");
