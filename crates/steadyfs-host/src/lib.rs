//! Flash media of a host computer: everything that it needs to read and write SteadyFS volumes.
//!
//! - [`image`]: the content of a chip in a file, byte for byte. It serves production programmers
//!   and the inspection of dumps.
//! - [`mtd`]: the chips of a Linux machine, `/dev/mtdN`.
//! - [`block`]: cards and disks such as `/dev/mmcblk0p2`, and files with the content of a card or
//!   disk.
//! - [`damage`]: texts that describe the losses of a volume.
//! - [`superblocks`]: the repair of a damaged copy of the superblock, and texts that describe the
//!   damage.
//! - [`plain`]: files of a volume as plain bytes, compressed or not.
//!
//! The media implement [`Flash`](steadyfs::media::Flash), and count their operations as the
//! simulated chips do ([`Metered`](steadyfs_sim::Metered)).
//!
//! # Example
//! ```
//! use steadyfs::media::{Flash, Geometry};
//! use steadyfs::{Access, Config, FileSystem, OpenOptions};
//! use steadyfs_host::image::{Image, Shape};
//!
//! # let path = std::env::temp_dir().join(format!("steadyfs-host-{}.img", std::process::id()));
//! let shape = Shape::nand(Geometry {
//!     page_bytes: 2048, pages_per_block: 64, block_count: 64, programs_bytes: false,
//! });
//! let image = Image::create(&path, &shape)?;
//! let config = Config::for_geometry(&image.geometry());
//! let mut memory = vec![0; config.memory_bytes(&image.geometry())];
//!
//! let image = FileSystem::format(image, &config, &mut memory)?;
//! let mut fs = FileSystem::mount(image, Access::ReadWrite, &mut memory)?;
//! let mut file = fs.open("hello", OpenOptions::DURABLE)?;
//! fs.write(&mut file, 0, b"to be read on the device")?;
//! fs.unmount()?.sync()?;
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod block;
pub mod damage;
pub mod image;
#[cfg(target_os = "linux")]
pub mod mtd;
pub mod plain;
pub mod superblocks;
