//! An empty library: this package only has the tests of the feature `defmt`.
