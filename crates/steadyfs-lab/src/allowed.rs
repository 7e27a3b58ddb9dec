//! The allowed values of options. Each `Options` names its own, and a run refuses other values
//! before it begins.

use std::fmt;
use std::ops::RangeInclusive;

/// The allowed whole numbers of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Name of the option.
    pub name: &'static str,
    /// The smallest allowed number.
    pub least: u64,
    /// The largest allowed number.
    pub most: u64,
}

impl Allowed {
    /// Creates the allowed numbers of an option.
    pub(crate) const fn new(name: &'static str, range: RangeInclusive<u64>) -> Allowed {
        Allowed { name, least: *range.start(), most: *range.end() }
    }

    /// Returns the allowed numbers as a range.
    pub fn range(&self) -> RangeInclusive<u64> {
        self.least..=self.most
    }

    /// Checks a number.
    ///
    /// # Errors
    /// [`NotAllowed`] if the number is outside of the range.
    pub fn check(&self, found: impl Into<u64>) -> Result<(), NotAllowed> {
        let found = found.into();
        let expected = match found {
            _ if found < self.least => format!("at least {}", self.least),
            _ if found > self.most => format!("at most {}", self.most),
            _ => return Ok(()),
        };
        Err(NotAllowed::new(self.name, found, expected))
    }
}

/// An option has a value that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAllowed {
    /// Name of the option.
    pub name: &'static str,
    /// The value as given.
    pub found: String,
    /// The allowed values.
    pub expected: String,
}

impl NotAllowed {
    pub(crate) fn new(
        name: &'static str,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> NotAllowed {
        NotAllowed { name, found: found.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; expected {}", self.name, self.found, self.expected)
    }
}

impl std::error::Error for NotAllowed {}

/// Checks a share, which is a number from 0 to 1.
///
/// # Errors
/// [`NotAllowed`] for another number.
pub(crate) fn share(name: &'static str, found: f64) -> Result<(), NotAllowed> {
    match (0.0..=1.0).contains(&found) {
        true => Ok(()),
        false => Err(NotAllowed::new(name, found, "a share from 0 to 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_allowed_is_named_with_the_nearest_that_is() {
        let allowed = Allowed::new("count", 2..=4);
        let error = |found: u64| allowed.check(found).unwrap_err().to_string();
        assert_eq!(error(1), "count is 1; expected at least 2");
        assert_eq!(error(5), "count is 5; expected at most 4");
        assert!((2..=4_u64).all(|found| allowed.check(found).is_ok()));
        for found in [-0.1, 1.1, f64::NAN] {
            let error = share("fill", found).unwrap_err().to_string();
            assert_eq!(error, format!("fill is {found}; expected a share from 0 to 1"));
        }
        assert_eq!((share("fill", 0.0), share("fill", 1.0)), (Ok(()), Ok(())));
    }
}
