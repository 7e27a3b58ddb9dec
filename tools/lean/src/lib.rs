//! Nothing: this package is the test of a build without features, in `tests`.
