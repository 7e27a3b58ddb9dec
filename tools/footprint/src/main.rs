//! A firmware that makes every call of SteadyFS once, through a driver that is opaque to the
//! optimiser.
//!
//! It is built for measurements, not to run: `tools/footprint.sh` builds it with and without the
//! calls and takes the difference. Each call has an entry of its own, so that the deepest stack
//! of each call can be measured.

#![no_std]
#![no_main]

mod driver;
#[cfg(feature = "packed-read")]
mod packed;
#[cfg(feature = "rom")]
mod rom;
mod samples;

use core::hint::black_box;
use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

/// The entry point of the firmware.
#[unsafe(no_mangle)]
pub extern "C" fn reset() -> ! {
    #[cfg(any(feature = "nand", feature = "nor"))]
    calls::every_one();
    #[cfg(feature = "rom")]
    rom::every_one();
    #[cfg(not(any(feature = "nand", feature = "nor", feature = "rom")))]
    driver::every_one();
    loop {
        black_box(());
    }
}

/// The calls of the file system.
#[cfg(any(feature = "nand", feature = "nor"))]
mod calls {
    use super::black_box;
    #[cfg(feature = "nand")]
    use crate::driver::{Nand as Chip, nand as chip};
    #[cfg(feature = "nor")]
    use crate::driver::{NorChip as Chip, nor as chip};
    use steadyfs::disk::{Disk, DiskCall};
    use steadyfs::media::Flash;
    use steadyfs::{
        Access, Budget, Call, Change, CleanReader, CommitOn, Config, Cursor, File, FileSystem,
        Finding, MountError, OpenOptions, Permissions, Reader, SeekTo, Verify,
    };

    /// Makes every call of the image once. Names, offsets and options are opaque, so that no path
    /// is optimised away.
    pub fn every_one() {
        let memory: &mut [u8] = black_box(&mut []);
        if cfg!(feature = "reader") {
            return only_reading(memory);
        }
        if cfg!(feature = "disk") {
            return only_disk(memory);
        }
        if cfg!(feature = "files") {
            return only_files(memory);
        }
        call_format(memory);
        let mut observer = |change: Change| {
            black_box(change);
        };
        let Ok(mut fs) = call_mount(memory) else { return };
        if !cfg!(feature = "logger") {
            fs.set_observer(&mut observer);
            #[cfg(feature = "cache")]
            call_lend_cache(&mut fs);
            #[cfg(feature = "read-cache")]
            fs.lend_read_cache(black_box(&mut []));
        }
        let Some(mut file) = call_open(&mut fs) else { return };
        call_write(&mut fs, &mut file);
        call_append(&mut fs, &mut file);
        call_read(&mut fs, &mut file);
        call_truncate(&mut fs, &mut file);
        call_sync(&mut fs);
        call_close(&mut fs, file);
        call_remove(&mut fs);
        call_list(&mut fs);
        call_stat(&mut fs);
        if !cfg!(feature = "logger") {
            all_others(&mut fs);
            call_unmount(fs);
        }
    }

    #[inline(never)]
    fn call_unmount(fs: FileSystem<'_, Chip>) {
        black_box(fs.unmount().is_ok());
    }

    #[cfg(feature = "cache")]
    #[inline(never)]
    fn call_lend_cache(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.lend_cache(black_box(&mut [])).is_ok());
    }

    fn all_others(fs: &mut FileSystem<'_, Chip>) {
        let Some(mut file) = call_open(fs) else { return };
        call_reserve(fs, &mut file);
        call_create_dir(fs);
        call_create_symlink(fs);
        call_set_permissions(fs);
        call_allocated(fs, &mut file);
        call_close(fs, file);
        call_rename(fs);
        call_remove_dir(fs);
        call_set_attribute(fs);
        call_attribute(fs);
        call_attributes(fs);
        call_by_inode(fs);
        call_set_modified(fs);
        call_poll(fs);
        call_rollback(fs);
        call_maintain(fs);
        #[cfg(feature = "scrub")]
        call_scrub(fs);
        call_check(fs);
        call_repair(fs);
        call_bound(fs);
        call_bound_at_fill(fs);
        call_describe(fs);
    }

    /// Stands for the caller's own code. It costs nothing here.
    #[inline(never)]
    fn see(finding: Finding) {
        black_box(finding);
    }

    #[inline(never)]
    fn call_attributes(fs: &mut FileSystem<'_, Chip>) {
        let see = |key: &str, value: &[u8]| {
            black_box((key, value));
        };
        black_box(fs.attributes(black_box(0), see).is_ok());
    }

    #[inline(never)]
    fn call_by_inode(fs: &mut FileSystem<'_, Chip>) {
        let Ok(file) = fs.open(black_box(1), black_box(OpenOptions::WRITE)) else { return };
        black_box(fs.sync(CommitOn::FSYNC).is_ok());
        call_close(fs, file);
        black_box(fs.stat(black_box(1)).is_ok());
    }

    #[inline(never)]
    fn call_set_modified(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.set_modified(black_box(0), black_box(0)).is_ok());
    }

    #[cfg(feature = "scrub")]
    #[inline(never)]
    fn call_scrub(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.scrub(Budget::TimeNs(black_box(0))).is_ok());
    }

    #[inline(never)]
    fn call_check(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.check(black_box(&mut []), black_box(true), &mut see).is_ok());
    }

    #[inline(never)]
    fn call_repair(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.repair(black_box(&mut []), &mut see).is_ok());
    }

    #[inline(never)]
    fn call_bound(fs: &mut FileSystem<'_, Chip>) {
        let call = black_box(Call::Write(1));
        black_box(fs.bounds().of(call));
        black_box(fs.bounds().with_failures(call, black_box(1)));
    }

    #[inline(never)]
    fn call_bound_at_fill(fs: &mut FileSystem<'_, Chip>) {
        let call = black_box(Call::Write(1));
        black_box(fs.bounds().at_fill(call, black_box(1)));
        black_box(fs.bounds().envelopes(call, &fs.flash().timing()));
        black_box((fs.bounds().unmount(), fs.bounds().mount()));
    }

    /// Makes the calls that need no flash time.
    #[inline(never)]
    fn call_describe(fs: &mut FileSystem<'_, Chip>) {
        fs.set_verify(black_box(Verify::Metadata));
        black_box((
            fs.describe(),
            fs.block(black_box(0)),
            fs.health(),
            fs.usage(),
            fs.size_max(),
            fs.has_changes(),
        ));
        black_box((fs.damage(), fs.is_settled()));
    }

    /// Makes the calls that both readers have.
    macro_rules! read {
        ($mounted:expr) => {{
            let Ok(mut reader) = $mounted else { return };
            let Ok(mut file) = reader.open(black_box("a")) else { return };
            black_box(reader.read(&mut file, black_box(0), black_box(&mut [])).is_ok());
            reader.close(file);
            black_box(reader.list(black_box(0), &mut Cursor::default()).is_ok());
            black_box(reader.stat(black_box("a")).is_ok());
        }};
    }

    fn only_reading(memory: &mut [u8]) {
        if cfg!(feature = "clean-reader") {
            read!(CleanReader::mount(chip(), memory))
        } else {
            read!(Reader::mount(chip(), memory))
        }
    }

    /// Makes the calls of plain files, and of compressed files with the feature `packed-read`.
    fn only_files(memory: &mut [u8]) {
        let Ok(mut fs) = call_mount(memory) else { return };
        let Some(mut file) = call_open(&mut fs) else { return };
        call_read(&mut fs, &mut file);
        call_write(&mut fs, &mut file);
        call_truncate(&mut fs, &mut file);
        call_close(&mut fs, file);
        call_sync(&mut fs);
        call_remove(&mut fs);
        call_set_attribute(&mut fs);
        call_attribute(&mut fs);
        #[cfg(feature = "packed-read")]
        crate::packed::every_one(&mut fs);
    }

    fn only_disk(memory: &mut [u8]) {
        let config = black_box(Config::for_disk(&chip().geometry()));
        black_box(Disk::format(chip(), &config, memory).is_ok());
        let Ok(mut disk) = Disk::mount(chip(), black_box(Access::ReadWrite), memory) else {
            return;
        };
        black_box(disk.read(black_box(0), black_box(&mut [])).is_ok());
        black_box(disk.write(black_box(0), black_box(&[])).is_ok());
        black_box(disk.write_durable(black_box(0), black_box(&[])).is_ok());
        black_box(disk.trim(black_box(0), black_box(1)).is_ok());
        black_box(disk.flush().is_ok());
        black_box((disk.sectors(), disk.bound(black_box(DiskCall::Flush)), disk.damage()));
    }

    #[inline(never)]
    fn call_maintain(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.maintain(Budget::TimeNs(black_box(0)), black_box(0)).is_ok());
    }

    #[inline(never)]
    fn call_format(memory: &mut [u8]) {
        let config = black_box(Config::for_geometry(&chip().geometry()));
        black_box(FileSystem::format(chip(), &config, memory).is_ok());
    }

    #[inline(never)]
    fn call_mount(memory: &mut [u8]) -> Result<FileSystem<'_, Chip>, MountError> {
        FileSystem::mount(chip(), black_box(Access::ReadWrite), memory)
    }

    #[inline(never)]
    fn call_open(fs: &mut FileSystem<'_, Chip>) -> Option<File> {
        fs.open(black_box("a"), black_box(OpenOptions::DURABLE)).ok()
    }

    #[inline(never)]
    fn call_write(fs: &mut FileSystem<'_, Chip>, file: &mut File) {
        black_box(fs.write(file, black_box(0), black_box(&[])).is_ok());
    }

    #[inline(never)]
    fn call_append(fs: &mut FileSystem<'_, Chip>, file: &mut File) {
        black_box(fs.append(file, black_box(&[])).is_ok());
    }

    #[inline(never)]
    fn call_read(fs: &mut FileSystem<'_, Chip>, file: &mut File) {
        black_box(fs.read(file, black_box(0), black_box(&mut [])).is_ok());
    }

    #[inline(never)]
    fn call_truncate(fs: &mut FileSystem<'_, Chip>, file: &mut File) {
        black_box(fs.truncate(file, black_box(0)).is_ok());
    }

    #[inline(never)]
    fn call_sync(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.sync(CommitOn::SYNC).is_ok());
    }

    #[inline(never)]
    fn call_reserve(fs: &mut FileSystem<'_, Chip>, file: &mut File) {
        black_box(fs.reserve(file, black_box(0), black_box(4096)).is_ok());
    }

    #[inline(never)]
    fn call_close(fs: &mut FileSystem<'_, Chip>, file: File) {
        black_box(fs.close(file).is_ok());
    }

    #[inline(never)]
    fn call_create_dir(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.create_dir(black_box("a")).is_ok());
    }

    #[inline(never)]
    fn call_create_symlink(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.create_symlink(black_box("a"), black_box("b")).is_ok());
    }

    #[inline(never)]
    fn call_set_permissions(fs: &mut FileSystem<'_, Chip>) {
        let permissions = black_box(Permissions { mode: 0o644, uid: 0, gid: 0 });
        black_box(fs.set_permissions(black_box(0), permissions).is_ok());
    }

    #[inline(never)]
    fn call_allocated(fs: &mut FileSystem<'_, Chip>, file: &mut File) {
        black_box(fs.seek(file, black_box(0), black_box(SeekTo::Hole)).is_ok());
        black_box((
            fs.allocated(black_box(0)).is_ok(),
            fs.pending_free_bytes().is_ok(),
            fs.available().is_ok(),
        ));
        black_box(fs.permissions(black_box(0)).is_ok());
        black_box(fs.read_link(black_box(0), &mut [0; 16]).is_ok());
    }

    #[inline(never)]
    fn call_rename(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.rename(black_box("a"), black_box("b")).is_ok());
    }

    #[inline(never)]
    fn call_remove_dir(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.remove_dir(black_box("a")).is_ok());
    }

    #[inline(never)]
    fn call_set_attribute(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.set_attribute(black_box(0), black_box("a"), black_box(Some(&[]))).is_ok());
    }

    #[inline(never)]
    fn call_attribute(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.attribute(black_box(0), black_box("a"), black_box(&mut [])).is_ok());
    }

    #[inline(never)]
    fn call_poll(fs: &mut FileSystem<'_, Chip>) {
        fs.set_commit_on(black_box(CommitOn::TIMED_AND_ON_SYNC));
        black_box(fs.poll(black_box(0)).is_ok());
    }

    #[inline(never)]
    fn call_rollback(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.rollback().is_ok());
    }

    #[inline(never)]
    fn call_remove(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.remove(black_box("a")).is_ok());
    }

    #[inline(never)]
    fn call_list(fs: &mut FileSystem<'_, Chip>) {
        let mut cursor = black_box(Cursor::default());
        if let Ok(Some(entry)) = fs.list(black_box(0), &mut cursor) {
            black_box(entry.stat);
        }
    }

    #[inline(never)]
    fn call_stat(fs: &mut FileSystem<'_, Chip>) {
        black_box(fs.stat(black_box("a")).is_ok());
    }
}
