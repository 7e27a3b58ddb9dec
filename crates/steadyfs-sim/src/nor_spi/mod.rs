//! A NOR chip on SPI, at the level of bytes, to test drivers on
//! [embedded-hal](https://docs.rs/embedded-hal/1).
//!
//! [`NorSim`] is the wire. It is an `SpiDevice` and a `DelayNs`. The chip behind it, [`NorSpi`],
//! decodes commands. It has a status register, a write enable latch and busy times. It stores its
//! bytes in a [`Nor`], so that power cuts have the effects of that model. Its parameters can be
//! read by SFDP (JESD216B).
//!
//! **Illegal use panics**:
//!
//! - any command to a busy chip except a read of the status,
//! - a command that the chip does not support,
//! - a command without all of its address,
//! - a program that runs over the end of its page,
//! - an erase whose address is not the first byte of a block,
//! - bits that would go from 0 to 1,
//! - addresses beyond the chip.
//!
//! A program or an erase without write enable does nothing, as on real chips.
//!
//! ```
//! use embedded_hal::spi::{Operation, SpiDevice};
//! use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};
//!
//! let mut wire = NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv()));
//! let mut id = [0; 3];
//! wire.transaction(&mut [Operation::Write(&[0x9F]), Operation::Read(&mut id)]).unwrap();
//! assert_eq!(id, [0xEF, 0x40, 0x18]);
//! ```
//!
//! # Left out
//! The chip does not support more than one data line, suspend, security registers, write protection
//! by pins, and deep power-down.

mod chip;
mod profile;
#[cfg(test)]
mod tests;

pub use chip::{NorFault, NorSpi};
pub use profile::{EraseCommand, ErrorBits, FourByte, NorSpiProfile};

#[cfg(doc)]
use crate::Nor;
use crate::wire::Wire;

/// The wires to a simulated chip. Clones are wires to the same chip.
pub type NorSim = Wire<NorSpi>;
