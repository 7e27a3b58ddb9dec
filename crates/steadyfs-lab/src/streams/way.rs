//! The ways in which a disk uses streams.

use crate::evaluate::UnknownName;
use std::fmt;
use std::str::FromStr;
use steadyfs::Config;
use steadyfs::media::Geometry;

/// A way in which a disk uses streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// One stream.
    One,
    /// The jobs name their streams.
    Given,
    /// The jobs name their streams, and moved pages keep to blocks of their stream.
    GivenAged,
    /// The disk finds the streams.
    Automatic,
    /// The disk finds the streams, and moved pages are kept apart.
    AutomaticAged,
}

impl Way {
    /// All ways.
    pub const ALL: [Way; 5] =
        [Way::One, Way::Given, Way::GivenAged, Way::Automatic, Way::AutomaticAged];

    /// Returns the name, as on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Way::One => "one",
            Way::Given => "given",
            Way::GivenAged => "given+aged",
            Way::Automatic => "automatic",
            Way::AutomaticAged => "automatic+aged",
        }
    }

    fn is_automatic(self) -> bool {
        matches!(self, Way::Automatic | Way::AutomaticAged)
    }

    pub(super) fn is_given(self) -> bool {
        matches!(self, Way::Given | Way::GivenAged)
    }

    /// Returns the settings of a disk with `streams` streams.
    pub(super) fn config(self, geometry: &Geometry, streams: u8) -> Config {
        let usual = Config::for_disk(geometry);
        if self == Way::One {
            return usual;
        }
        let moved_apart = matches!(self, Way::GivenAged | Way::AutomaticAged);
        Config { streams, moved_apart, auto_streams: self.is_automatic(), ..usual }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Way {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let unknown = || UnknownName {
            found: text.to_string(),
            expected: Way::ALL.map(Way::name).join(", "),
        };
        Way::ALL.into_iter().find(|way| way.name() == text).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for way in Way::ALL {
            assert_eq!(way.name().parse(), Ok(way));
        }
        assert!("some".parse::<Way>().unwrap_err().to_string().contains("automatic+aged"));
    }
}
