//! A NAND chip on SPI, at the level of bytes, to test drivers on
//! [embedded-hal](https://docs.rs/embedded-hal/1).
//!
//! [`NandSim`] is the wire. It is an `SpiDevice` and a `DelayNs`. The chip behind it, [`NandSpi`],
//! decodes commands. It has registers, a page buffer, locks, and an ECC status in the encoding of
//! its maker. It stores its pages in a [`Nand`], so that bad blocks, power cuts and torn pages
//! behave as in that model.
//!
//! **Illegal use panics**:
//!
//! - any command to a busy chip except a reset and a read of the status,
//! - a command that the chip does not support,
//! - columns beyond the page,
//! - spare bytes that are not for users or have no ECC (except the mark of a bad block),
//! - a plane other than the plane of the block,
//! - any use that [`Nand`] refuses.
//!
//! A program or an erase without write enable does nothing. In locked blocks it fails.
//!
//! ```
//! use embedded_hal::spi::{Operation, SpiDevice};
//! use steadyfs_sim::nand_spi::{NandSim, NandSpi, NandSpiProfile};
//!
//! let mut wire = NandSim::new(NandSpi::new(NandSpiProfile::w25n01gv()));
//! let mut id = [0; 3];
//! wire.transaction(&mut [Operation::Write(&[0x9F, 0]), Operation::Read(&mut id)]).unwrap();
//! assert_eq!(id, [0xEF, 0xAA, 0x21]);
//! ```
//!
//! # Left out
//! The chip does not support more than one data line, continuous reads, cache reads, several dies,
//! and the one-time programmable area except its parameter page.

mod chip;
mod profile;
#[cfg(test)]
mod tests;

pub use chip::{NandFault, NandSpi};
pub use profile::{EccStatus, NandSpiProfile};

#[cfg(doc)]
use crate::Nand;
use crate::wire::Wire;

/// The wires to a simulated chip. Clones are wires to the same chip.
pub type NandSim = Wire<NandSpi>;
