//! Adapters from flash and devices of other crates, and to the traits of other crates:
//! `embedded_storage` is for raw NOR, `embedded_io` is for open files, the other adapters are for
//! devices of sectors.
//!
//! # Devices of sectors
//! Neither trait has a flush or a discard, and neither reports times. The caller sets the times. A
//! flush of the adapter reads the last written sector: a card must end its writes before it can
//! answer that read. A device is unsuitable for a file system if a read does not empty its write
//! cache, or if it loses writes without an error. The adapter stores the device's own error, and
//! the file system receives a [`Device`](steadyfs::media::Failure::Device).

#[cfg(feature = "block-device-driver")]
pub mod block_device_driver;
#[cfg(feature = "embedded-io")]
pub mod embedded_io;
#[cfg(feature = "embedded-sdmmc")]
pub mod embedded_sdmmc;
#[cfg(feature = "embedded-storage")]
pub mod embedded_storage;
#[cfg(any(feature = "embedded-sdmmc", feature = "block-device-driver"))]
mod sectors;
