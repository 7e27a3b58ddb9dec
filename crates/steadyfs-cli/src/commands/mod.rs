//! The commands that work on images, one file each.

pub mod cat;
pub mod check;
pub mod completions;
pub mod compress;
pub mod convert;
pub mod df;
pub mod dump;
pub mod format;
pub mod get;
pub mod health;
pub mod keygen;
pub mod ls;
pub mod man;
pub mod mkdir;
#[cfg(target_os = "linux")]
pub mod mount;
pub mod mv;
pub mod pack;
pub mod put;
pub mod rm;
pub mod scrub;
pub mod stat;
pub mod tree;
pub mod unpack;
