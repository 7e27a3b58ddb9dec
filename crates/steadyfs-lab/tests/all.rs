//! Runs of the lab, in one program.

mod adversary;
mod advise;
mod bench;
mod page_model;
mod torture;
