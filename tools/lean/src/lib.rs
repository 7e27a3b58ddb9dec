//! An empty library: this package only has the tests of a build without features.
