//! Flash and devices of other crates: `embedded_storage` for raw NOR, the others for devices of sectors.
//!
//! # Devices of sectors
//! Neither trait can flush or discard, or say how long it takes. The times are given by hand, and a flush reads the sector that was written last: a card must have ended its writes before it can
//! answer that. A device with a cache that outlives reads, or one that loses its writes without a word, is none for a file system. What such a device says of an error is kept, and the file system sees a [`Device`](steadyfs::media::Failure::Device).

#[cfg(feature = "block-device-driver")]
pub mod block_device_driver;
#[cfg(feature = "embedded-sdmmc")]
pub mod embedded_sdmmc;
#[cfg(feature = "embedded-storage")]
pub mod embedded_storage;
#[cfg(any(feature = "embedded-sdmmc", feature = "block-device-driver"))]
mod sectors;
