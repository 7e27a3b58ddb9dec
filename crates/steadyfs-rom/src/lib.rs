//! Read-only images for microcontrollers.
#![no_std]
#![forbid(unsafe_code)]

pub mod verity;
