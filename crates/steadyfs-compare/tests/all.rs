//! The comparison, in one program.

mod compare;
mod hasty;
mod kept;
mod processor;
