//! cramfs
/// x
pub struct Cramfs;
