//! Why a profile is refused.

use steadyfs::media::TAG_BYTES;

/// Why a profile was refused.
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
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// The spare area cannot hold a tag under the protection of the ECC.
    #[error("key `user_bytes`: needs {TAG_BYTES} ECC-protected user bytes per page for the tag, has {user_bytes}")]
    TooFewUserBytes {
        /// ECC-protected user bytes that the chip has.
        user_bytes: u32,
    },
    /// No built-in profile has this name.
    #[error("no profile named `{name}`; expected one of {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
}
