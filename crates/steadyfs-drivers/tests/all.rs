//! The drivers on simulated chips and cards, in one program.

mod common;

mod check;
mod examples;
mod fuzz;
mod sd_faults;
mod sd_start;
mod sd_transfers;
mod sd_volume;
mod spi_nand;
mod spi_nor;
