//! The contenders that need no C compiler, a file for each.

mod fat;
mod raw;
mod records;
mod sequential;
mod steady;

pub use fat::FatOnDisk;
pub use raw::Raw;
pub use sequential::SequentialStorage;
pub use steady::{SteadyFs, SteadyFsErased};

use crate::any_entrant::AnyEntrant;

/// Returns all of these contenders, in the order of tables.
pub fn all() -> Vec<Box<dyn AnyEntrant>> {
    vec![
        Box::new(SteadyFs),
        Box::new(SteadyFsErased),
        Box::new(Raw),
        Box::new(FatOnDisk),
        Box::new(SequentialStorage),
    ]
}
