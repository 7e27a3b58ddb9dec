//! The besieger, and a share of its campaigns, in one program.

mod besieger;
mod blank_chains;
mod share;
