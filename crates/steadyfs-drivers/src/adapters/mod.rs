//! Adapters from flash and devices of other crates: `embedded_storage` for raw NOR, the others for
//! devices of sectors.
//!
//! # Devices of sectors
//! Neither trait has a flush, a discard, or times. The caller sets the times. A flush reads the
//! last written sector: a card must end its writes before it can answer that read. A device is
//! unsuitable for a file system if its cache outlives reads, or if it loses writes without an
//! error. The adapter keeps the device's own error, and the file system receives a
//! [`Device`](steadyfs::media::Failure::Device).

#[cfg(feature = "block-device-driver")]
pub mod block_device_driver;
#[cfg(feature = "embedded-sdmmc")]
pub mod embedded_sdmmc;
#[cfg(feature = "embedded-storage")]
pub mod embedded_storage;
#[cfg(any(feature = "embedded-sdmmc", feature = "block-device-driver"))]
mod sectors;
