//! Logs samples to flash. A ticker takes them, also while the flash erases.
//!
//! On a board, `flash` is the flash of the HAL, such as `embassy_nrf::qspi::Qspi` or
//! `embassy_rp::flash::Flash`. Call [`run`] from a task: the programs in `src/bin` do so.

use core::cell::Cell;
use core::ops::Range;
use core::pin::pin;
use embassy_time::{Duration, Ticker};
use embedded_storage_async::nor_flash::NorFlash;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, MountError, OpenOptions};
use steadyfs_drivers::adapters::embedded_storage::{FlashTimes, FromWriteOnce};
use steadyfs_drivers::waiting::{Meanwhile, Waiting};

/// Bytes of a volume.
pub const VOLUME_BYTES: u32 = 1 << 20;

/// Memory of the volume: enough for 1 MiB in erase sectors of 4 KiB, and write words of 1 or 4
/// bytes. It is aligned, so pages pass to the DMA of the HAL without a copy.
#[repr(align(4))]
struct Memory([u8; MEMORY_BYTES]);

const MEMORY_BYTES: usize = 8 << 10;

/// The reason for which the logger ended.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Failure {
    /// The flash has no room for the volume, or needs more memory.
    Flash,
    /// The volume cannot be mounted.
    Mount(MountError),
    /// A call failed.
    Call(steadyfs::Error),
}

/// Appends `records` samples, each durable, and returns the number of samples that the ticker took
/// meanwhile. The volume occupies `range` of the flash, in bytes. Formats a range that has no
/// volume.
///
/// # Errors
/// [`Failure`].
pub async fn run<F: NorFlash>(flash: F, range: Range<u32>, records: u32) -> Result<u32, Failure> {
    let samples = Cell::new(0);
    // The rest of the program: a sample every millisecond.
    let rest = pin!(async {
        let mut ticker = Ticker::every(Duration::from_millis(1));
        loop {
            ticker.next().await;
            samples.set(samples.get() + 1);
        }
    });
    let meanwhile = Meanwhile::new(rest);
    let logger = meanwhile.run(async {
        // While the flash is busy, `Waiting` gives the rest its turns.
        let flash = Waiting::new(flash, &meanwhile);
        let flash =
            FromWriteOnce::new(flash, range, FlashTimes::SPI_NOR).map_err(|_| Failure::Flash)?;
        log(flash, &samples, records)
    });
    logger.await?;
    Ok(samples.get())
}

/// Mounts the volume, and appends the newest sample again and again.
fn log(mut flash: impl Flash, samples: &Cell<u32>, records: u32) -> Result<(), Failure> {
    let mut memory = Memory([0; MEMORY_BYTES]);
    let memory = &mut memory.0[..];
    let geometry: Geometry = flash.geometry();
    let config = Config::for_geometry(&geometry);
    if config.memory_bytes(&geometry) > memory.len() {
        return Err(Failure::Flash);
    }
    // Format only on `NotFormatted`: any other error may be a passing fault of the driver.
    if let Err(MountError::NotFormatted) =
        FileSystem::mount(&mut flash, Access::ReadOnly, memory).map(drop)
    {
        FileSystem::format(&mut flash, &config, memory).map_err(Failure::Mount)?;
    }
    let mut fs =
        FileSystem::mount(&mut flash, Access::ReadWrite, memory).map_err(Failure::Mount)?;
    let mut file = fs.open("samples", OpenOptions::DURABLE).map_err(Failure::Call)?;
    for _ in 0..records {
        fs.append(&mut file, &samples.get().to_le_bytes()).map_err(Failure::Call)?;
    }
    fs.close(file).map_err(Failure::Call)?;
    fs.unmount().map_err(Failure::Call)?;
    Ok(())
}
