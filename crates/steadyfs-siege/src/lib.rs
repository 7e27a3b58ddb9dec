//! A besieger of SteadyFS that knows its public documentation and nothing else.
//!
//! It has a chip of its own ([`chip`]), a model of its own ([`tree`], [`oracle`]), and [campaigns](campaign): failures that pass,
//! pages that are lost for good, mounts that are cut many times in a row, long lives. Everything follows from a seed.

pub mod adapt;
pub mod campaign;
pub mod chip;
pub mod client;
pub mod fate;
pub mod fault;
pub mod log;
pub mod loss;
pub mod oracle;
pub mod session;
pub mod tree;
pub mod view;
pub mod volume;
