//! Hash trees of dm-verity and signatures: an image of which each block can be checked on its own, from one hash or one key.

pub mod format;
