//! A logger on Embassy, for a board whose HAL has flash with asynchronous calls.
#![no_std]

pub mod logger;
