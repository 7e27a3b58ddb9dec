//! Logs samples to QSPI flash. A ticker takes them, also while the flash erases.
//!
//! On a board, `qspi` is the flash of the HAL, such as `embassy_nrf::qspi::Qspi`. Call
//! [`run`] from a task:
//!
//! ```text
//! #[embassy_executor::task]
//! async fn log(qspi: Qspi<'static>) { let _ = embassy_logger::logger::run(qspi, u32::MAX).await; }
//! ```

use core::cell::Cell;
use core::pin::pin;
use embassy_time::{Duration, Ticker};
use embedded_storage_async::nor_flash::NorFlash;
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Config, FileSystem, MountError, OpenOptions};
use steadyfs_drivers::adapters::embedded_storage::{FlashTimes, FromWriteOnce};
use steadyfs_drivers::waiting::{Meanwhile, Waiting};

/// Bytes of the flash that the volume uses, from its beginning.
pub const VOLUME_BYTES: u32 = 1 << 20;

/// Memory of the volume: enough for erase sectors of 4 KiB and write words of 4 bytes.
const MEMORY_BYTES: usize = 8 << 10;

/// The reason for which the logger ended.
#[derive(Debug)]
pub enum Failure {
    /// The flash has no room for the volume, or needs more memory.
    Flash,
    /// The volume cannot be mounted.
    Mount(MountError),
    /// A call failed.
    Call(steadyfs::Error),
}

/// Appends `records` samples, each durable, and returns the number of samples that the ticker took
/// meanwhile. Formats flash that has no volume.
///
/// # Errors
/// [`Failure`].
pub async fn run<F: NorFlash>(qspi: F, records: u32) -> Result<u32, Failure> {
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
        let flash = Waiting::new(qspi, &meanwhile);
        let flash = FromWriteOnce::new(flash, 0..VOLUME_BYTES, FlashTimes::SPI_NOR)
            .map_err(|_| Failure::Flash)?;
        log(flash, &samples, records)
    });
    logger.await?;
    Ok(samples.get())
}

/// Mounts the volume, and appends the newest sample again and again.
fn log(mut flash: impl Flash, samples: &Cell<u32>, records: u32) -> Result<(), Failure> {
    let mut memory = [0; MEMORY_BYTES];
    let memory = &mut memory[..];
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
