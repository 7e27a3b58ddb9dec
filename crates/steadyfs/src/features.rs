//! The features of a build, as constants. A missing feature costs no code, because the compiler
//! evaluates the constants. Nearly every line is compiled in every build.
//!
//! A call that is never made costs nothing either: the linker leaves it out. So a feature is here
//! only if a call that most firmware makes (`mount`, `open`, `write`, `remove`) needs the
//! mechanism. If a volume, file or call needs a missing feature, the call returns
//! [`Error::Unsupported`](crate::Error::Unsupported) or
//! [`MountError::Config`](crate::MountError::Config).

/// Media that program bytes.
pub(crate) const NOR: bool = cfg!(feature = "nor");
/// Names of more bytes than an inode has room for.
pub(crate) const LONG_NAMES: bool = cfg!(feature = "long-names");
/// Mode, owner and group of a file.
pub(crate) const PERMISSIONS: bool = cfg!(feature = "permissions");
/// Cutting a file that is not empty.
pub(crate) const TRUNCATE: bool = cfg!(feature = "truncate");
/// Lent pages for partial writes.
pub(crate) const CACHE: bool = cfg!(feature = "cache");
/// Lent pages for repeated reads.
pub(crate) const READ_CACHE: bool = cfg!(feature = "read-cache");
/// Search for pages with many flipped bits, and moves of their data before it is lost.
pub(crate) const SCRUB: bool = cfg!(feature = "scrub");
/// Moves of data at rest out of blocks with less wear than others.
pub(crate) const WEAR_LEVELLING: bool = cfg!(feature = "wear-levelling");
/// Volumes on which pages move in groups.
pub(crate) const GROUPS: bool = cfg!(feature = "groups");
/// Volumes with more than one stream.
pub(crate) const STREAMS: bool = cfg!(feature = "streams");
