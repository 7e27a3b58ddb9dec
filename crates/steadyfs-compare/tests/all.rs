//! The comparison, in one program.

mod boards;
mod compare;
mod hasty;
mod kept;
mod processor;
