//! A NAND chip on SPI, at the level of bytes: what a driver on [embedded-hal](https://docs.rs/embedded-hal/1) is tested with.
//!
//! [`NandSim`] is the wire; it is an `SpiDevice` and a `DelayNs`. The chip behind it, [`NandSpi`], decodes commands, has registers, a page buffer, locks, an ECC status as its maker encodes it, and keeps its
//! pages in a [`Nand`], so that bad blocks, power cuts and torn pages are what they are there.
//!
//! **Illegal use panics**: any command but a reset and a look at the status of a busy chip, a command that the chip does not know, columns beyond the page, spare bytes that are not for users or have no
//! ECC (but for the mark of a bad block), another plane than that of the block, and whatever [`Nand`] refuses. A program or an erase without write enable does nothing; one in locked blocks fails.
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
//! More than one data line, continuous reads, cache reads, several dies, and all but the parameter page of the one-time programmable area.

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
