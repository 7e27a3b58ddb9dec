//! The errors of profiles.

use steadyfs::media::TAG_BYTES;

/// The reason why a profile was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The document is not TOML.
    #[error("not a TOML document: {0}")]
    Syntax(String),
    /// A key is missing, unknown, or has a value that no chip has.
    #[error("key `{key}`: {found}; expected {expected}")]
    Key {
        /// The key, with the tables it lies in.
        key: String,
        /// The value that was found.
        found: String,
        /// The allowed values.
        expected: String,
    },
    /// The spare area cannot hold a tag under the protection of the ECC.
    #[error(
        "key `user_bytes`: needs {TAG_BYTES} ECC-protected user bytes per page for the tag, has \
         {user_bytes}"
    )]
    TooFewUserBytes {
        /// ECC-protected user bytes that the chip has.
        user_bytes: u32,
    },
    /// No built-in profile has this name.
    #[error("no profile named `{name}`; expected one of {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names, separated by commas.
        known: String,
    },
}
