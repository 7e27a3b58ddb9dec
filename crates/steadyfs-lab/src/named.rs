//! Values with names: choices on the command line and in Python.

use std::fmt;

/// The name is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The name as given.
    pub found: String,
    /// The known names, separated by commas.
    pub expected: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found `{}`, expected one of {}", self.found, self.expected)
    }
}

impl std::error::Error for UnknownName {}

/// Finds a value by its name.
pub(crate) fn by_name<T: Copy>(names: &[(&str, T)], found: &str) -> Result<T, UnknownName> {
    let known = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let value = names.iter().find(|(name, _)| *name == found).map(|(_, value)| *value);
    value.ok_or_else(|| UnknownName { found: found.to_string(), expected: known() })
}

/// Finds the name of a value.
pub(crate) fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, named)| named == value).map_or("", |(name, _)| name)
}
