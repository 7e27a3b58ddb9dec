//! A file system in C as a counted file system: the table of `crates/steadyfs-peers/shims/peer.h`.
//!
//! Instructions count from the entry into the table to its return. The chip's callbacks and the
//! allocator are left out.

use crate::calls::{Calls, Counted, System};
use crate::chip::Nor;
use crate::header::{NO_ROOM, NO_ROOM_FOR_NAME, Peer, RawChip, RawRoom};
use crate::tally::Tally;
use crate::workload::{Failed, Medium};
use board::timer::now;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{self, addr_of, addr_of_mut};
use core::slice;
use steadyfs::media::nor::NorFlash;
use steadyfs::{Error, OpenOptions};

/// Modes of the header.
const MODE_READ: c_int = 0;
const MODE_WRITE: c_int = 1;
const MODE_REPLACE: c_int = 2;
const MODE_CREATE: c_int = 3;
const MODE_DURABLE: c_int = 4;

unsafe extern "C" {
    /// The table of the linked file system.
    static peer: Peer;
}

/// Ticks of the timer within the file system, and the time since which it runs. One thread uses
/// them.
static mut TICKS: u64 = 0;
static mut SINCE: u32 = 0;

fn ticks() -> u64 {
    // SAFETY: one thread, no interrupts.
    unsafe { addr_of!(TICKS).read() }
}

/// Ends the count of the file system's ticks.
#[inline(always)]
fn pause() {
    // SAFETY: as above.
    unsafe { *addr_of_mut!(TICKS) += u64::from(now().wrapping_sub(SINCE)) }
}

/// Goes on with the count.
#[inline(always)]
fn resume() {
    // SAFETY: as above.
    unsafe { *addr_of_mut!(SINCE) = now() }
}

/// Makes a call of the file system, and counts it.
#[inline(always)]
fn inside<R>(call: impl FnOnce() -> R) -> R {
    resume();
    let result = call();
    pause();
    result
}

/// Makes a call of the driver or of the allocator, which is not counted.
#[inline(always)]
fn outside<R>(call: impl FnOnce() -> R) -> R {
    pause();
    let result = call();
    resume();
    result
}

/// The allocator of the adapters: places of one size. The file systems need no other memory.
const PLACES: usize = 24;
const PLACE_BYTES: usize = 33 << 10;

#[repr(align(8))]
struct Place([u8; PLACE_BYTES]);

static mut HEAP: [Place; PLACES] = [const { Place([0; PLACE_BYTES]) }; PLACES];
static mut TAKEN: [bool; PLACES] = [false; PLACES];

/// Takes a place. The end of the heap ends the measurement.
fn take(bytes: usize) -> *mut u8 {
    assert!(bytes <= PLACE_BYTES);
    // SAFETY: one thread. A place has one user until it is given back.
    unsafe {
        let taken = &mut *addr_of_mut!(TAKEN);
        let free = taken.iter().position(|&is_taken| !is_taken).unwrap();
        taken[free] = true;
        addr_of_mut!(HEAP[free].0).cast()
    }
}

#[unsafe(no_mangle)]
extern "C" fn malloc(bytes: usize) -> *mut u8 {
    outside(|| take(bytes))
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, bytes: usize) -> *mut u8 {
    outside(|| {
        let place = take(count * bytes);
        // SAFETY: the place has this many bytes.
        unsafe { place.write_bytes(0, count * bytes) };
        place
    })
}

#[unsafe(no_mangle)]
extern "C" fn free(place: *mut u8) {
    outside(|| {
        if !place.is_null() {
            let number = (place as usize - addr_of!(HEAP) as usize) / PLACE_BYTES;
            // SAFETY: as in `take`.
            unsafe { addr_of_mut!(TAKEN[number]).write(false) };
        }
    })
}

/// Operates the chip.
fn operate(context: *mut c_void, work: impl FnOnce(&mut Plain)) -> c_int {
    // SAFETY: the context is the chip that `OnChip::new` left in place.
    outside(|| work(unsafe { &mut *context.cast() }));
    0
}

extern "C" fn read(
    context: *mut c_void,
    block: u32,
    offset: u32,
    data: *mut c_void,
    bytes: u32,
) -> c_int {
    // SAFETY: C passes a buffer of `bytes` bytes.
    let data = unsafe { slice::from_raw_parts_mut(data.cast(), bytes as usize) };
    operate(context, |chip| {
        let _ = chip.flash.read(block * chip.flash.block_bytes() + offset, data);
    })
}

extern "C" fn program(
    context: *mut c_void,
    block: u32,
    offset: u32,
    data: *const c_void,
    bytes: u32,
) -> c_int {
    // SAFETY: as in `read`.
    let data = unsafe { slice::from_raw_parts(data.cast(), bytes as usize) };
    operate(context, |chip| {
        let _ = chip.flash.program(block * chip.flash.block_bytes() + offset, data);
    })
}

extern "C" fn erase(context: *mut c_void, block: u32) -> c_int {
    operate(context, |chip| {
        let _ = chip.flash.erase(block);
    })
}

extern "C" fn copy(context: *mut c_void, from: u32, to: u32) -> c_int {
    operate(context, |chip| {
        let register = &mut chip.register[..chip.unit_bytes as usize];
        let _ = chip.flash.read(from * chip.unit_bytes, register);
        let _ = chip.flash.program(to * chip.unit_bytes, register);
    })
}

/// A chip without tags. A program only clears bits.
struct Plain {
    flash: Nor,
    unit_bytes: u32,
    /// The page register.
    register: [u8; 2048],
}

/// Paths of files that stay open, at most.
const KEPT: usize = 6;

/// The file system on a chip. C keeps the address of the chip.
pub struct OnChip {
    chip: Plain,
    volume: *mut c_void,
    room_percent: u64,
    kept: [Option<File>; KEPT],
}

/// An open file.
#[derive(Clone, Copy)]
pub struct File {
    handle: *mut c_void,
    bytes: u64,
    /// The path and the mode of a file that stays open, for another opening.
    path: &'static str,
    mode: c_int,
}

/// A path that ends with a zero.
struct Path([c_char; 16]);

impl Path {
    fn of(text: &str) -> Self {
        let mut path = [0; 16];
        path[..15].iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from as c_char);
        Self(path)
    }
}

/// Translates a code of C.
fn told(code: i64) -> Result<u64, Error> {
    match code {
        _ if [NO_ROOM, NO_ROOM_FOR_NAME].map(i64::from).contains(&code) => Err(Error::NoSpace),
        _ => u64::try_from(code).map_err(|_| Error::Device),
    }
}

fn mode(options: OpenOptions) -> c_int {
    match options {
        OpenOptions { durable: true, .. } => MODE_DURABLE,
        OpenOptions { create: true, .. } => MODE_CREATE,
        OpenOptions { write: true, .. } => MODE_WRITE,
        _ => MODE_READ,
    }
}

impl OnChip {
    /// Puts the file system on an erased chip. `room_percent` of the chip are for data.
    pub fn new(medium: &Medium, room_percent: u64) -> Self {
        let flash = Nor::new(medium.block_bytes, medium.block_count);
        let chip = Plain { flash, unit_bytes: medium.unit_bytes, register: [0; 2048] };
        Self { chip, volume: ptr::null_mut(), room_percent, kept: [None; KEPT] }
    }

    /// Makes the volume in RAM anew: everything that was open is gone.
    fn renew(&mut self) {
        // SAFETY: no place of the heap is in use any more.
        unsafe { *addr_of_mut!(TAKEN) = [false; PLACES] };
        self.kept = [None; KEPT];
        let flash = &self.chip.flash;
        let chip = RawChip {
            unit_bytes: self.chip.unit_bytes,
            block_bytes: flash.block_bytes(),
            block_count: flash.block_count(),
            context: (&raw mut self.chip).cast(),
            read,
            program,
            erase,
            copy,
            settings: core::ptr::null(),
        };
        // SAFETY: `make` copies its argument.
        self.volume = unsafe { (peer.make)(&chip) };
    }

    /// Makes a call on the volume.
    #[inline(always)]
    fn call(&mut self, call: impl FnOnce(&'static Peer, *mut c_void) -> i64) -> Result<u64, Error> {
        // SAFETY: the table is constant.
        let table = unsafe { &peer };
        told(inside(|| call(table, self.volume)))
    }

    fn open_as(&mut self, path: &str, mode: c_int) -> Result<*mut c_void, Error> {
        let (path, mut code, mut file) = (Path::of(path), 0, ptr::null_mut());
        // SAFETY: as in the table's contract.
        self.call(|table, volume| unsafe {
            file = (table.open)(volume, path.0.as_ptr(), mode, &mut code);
            code.into()
        })?;
        Ok(file)
    }
}

impl System for OnChip {
    type Volume<'v> = &'v mut OnChip;

    fn format(&mut self) -> Result<(), Failed> {
        self.renew();
        // SAFETY: the volume was just made.
        self.call(|table, volume| unsafe { (table.format)(volume) }.into())?;
        Ok(())
    }

    fn mount(&mut self) -> Result<&mut OnChip, Failed> {
        self.mount_counted(&mut Tally::default())
    }

    fn mount_counted(&mut self, tally: &mut Tally) -> Result<&mut OnChip, Failed> {
        self.renew();
        let start = ticks();
        // SAFETY: the volume was just made.
        self.call(|table, volume| unsafe { (table.mount)(volume) }.into())?;
        tally.add(since(start));
        Ok(self)
    }
}

/// Returns the instructions since a start. A file system in C computes its checksums itself.
fn since(start: u64) -> Counted {
    let all = (ticks() - start) * 5 / 8;
    Counted { all, rest: all }
}

impl Calls for &mut OnChip {
    type File = File;
    type Start = u64;

    fn start(&self) -> u64 {
        ticks()
    }

    fn since(&self, start: u64) -> Counted {
        since(start)
    }

    fn fill(&mut self, path: &'static str, page: &[u8]) -> Result<u32, Error> {
        let mut room = RawRoom::default();
        // SAFETY: as in the table's contract.
        self.call(|table, volume| unsafe { (table.room)(volume, &mut room) }.into())?;
        let used = room.usable_bytes - room.free_bytes.min(room.usable_bytes);
        let usable = u64::from(self.chip.flash.block_bytes())
            * u64::from(self.chip.flash.block_count())
            * self.room_percent
            / 100;
        let usable = room.usable_bytes.min(usable);
        let pages = (usable / 5 * 4).saturating_sub(used) / page.len() as u64;
        let mut file = self.borrow(path, OpenOptions::CREATE)?;
        for _ in 0..pages {
            self.append(&mut file, page)?;
        }
        self.after_refusal(file)?;
        self.close_all()?;
        Ok(pages as u32)
    }

    fn open(&mut self, path: &str, options: OpenOptions) -> Result<File, Error> {
        let mode = mode(options);
        Ok(File { handle: self.open_as(path, mode)?, bytes: 0, path: "", mode })
    }

    fn open_empty(&mut self, path: &str) -> Result<File, Error> {
        let mode = MODE_REPLACE;
        Ok(File { handle: self.open_as(path, mode)?, bytes: 0, path: "", mode })
    }

    fn close(&mut self, file: File) -> Result<(), Error> {
        // SAFETY: the file is open.
        self.call(|table, volume| unsafe { (table.close)(volume, file.handle) }.into())?;
        Ok(())
    }

    fn borrow(&mut self, path: &'static str, options: OpenOptions) -> Result<File, Error> {
        if let Some(file) = self.kept.iter().flatten().find(|file| file.path == path) {
            return Ok(*file);
        }
        let (text, mode) = (Path::of(path), mode(options));
        // SAFETY: as in the table's contract.
        let bytes = self.call(|table, volume| unsafe { (table.stat)(volume, text.0.as_ptr()) });
        let handle = self.open_as(path, mode)?;
        let file = File { handle, bytes: bytes.unwrap_or(0), path, mode };
        self.give_back(file)?;
        Ok(file)
    }

    fn give_back(&mut self, file: File) -> Result<(), Error> {
        let is_its = |kept: &&mut Option<File>| kept.is_some_and(|kept| kept.path == file.path);
        let place = match self.kept.iter_mut().find(is_its) {
            Some(place) => place,
            None => self.kept.iter_mut().find(|kept| kept.is_none()).ok_or(Error::TooManyFiles)?,
        };
        *place = Some(file);
        Ok(())
    }

    /// Opens the file again: file systems differ in the state of a file after an error.
    fn after_refusal(&mut self, file: File) -> Result<File, Error> {
        let _ = self.close(file);
        let file = File { handle: self.open_as(file.path, file.mode)?, ..file };
        self.give_back(file)?;
        Ok(file)
    }

    fn size(&mut self, file: &mut File) -> Result<u64, Error> {
        Ok(file.bytes)
    }

    fn empty(&mut self, file: &mut File) -> Result<(), Error> {
        self.close(*file)?;
        let replaced = self.open_empty(file.path)?;
        self.close(replaced)?;
        *file = File { handle: self.open_as(file.path, file.mode)?, bytes: 0, ..*file };
        self.give_back(*file)
    }

    fn read(&mut self, file: &mut File, at: u64, data: &mut [u8]) -> Result<usize, Error> {
        let (bytes, data) = (data.len() as u32, data.as_mut_ptr().cast());
        // SAFETY: the file is open, and the buffer has this many bytes.
        let read = self
            .call(|table, volume| unsafe { (table.read)(volume, file.handle, at, data, bytes) })?;
        // All reads of the rounds are within the file.
        if read == u64::from(bytes) { Ok(read as usize) } else { Err(Error::Corrupt) }
    }

    fn write(&mut self, file: &mut File, at: u64, data: &[u8]) -> Result<(), Error> {
        let (bytes, data) = (data.len() as u32, data.as_ptr().cast());
        // SAFETY: as in `read`.
        self.call(|table, volume| {
            unsafe { (table.write)(volume, file.handle, at, data, bytes) }.into()
        })?;
        Ok(())
    }

    fn append(&mut self, file: &mut File, data: &[u8]) -> Result<(), Error> {
        self.write(file, file.bytes, data)?;
        file.bytes += data.len() as u64;
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let (from, to) = (Path::of(from), Path::of(to));
        // SAFETY: as in the table's contract.
        self.call(|table, volume| {
            unsafe { (table.rename)(volume, from.0.as_ptr(), to.0.as_ptr()) }.into()
        })?;
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), Error> {
        let path = Path::of(path);
        // SAFETY: as in the table's contract.
        self.call(|table, volume| unsafe { (table.remove)(volume, path.0.as_ptr()) }.into())?;
        Ok(())
    }

    /// Does nothing: names, and closed files, are durable.
    fn commit(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn sync(&mut self, paths: &[&'static str]) -> Result<(), Error> {
        for path in paths {
            let kept = self.kept.iter().flatten().find(|file| file.path == *path);
            let file = kept.ok_or(Error::NotFound)?.handle;
            // SAFETY: the file is open.
            self.call(|table, volume| unsafe { (table.sync)(volume, file) }.into())?;
        }
        Ok(())
    }

    fn unmount(self) -> Result<(), Failed> {
        self.close_all()?;
        // SAFETY: the volume is mounted.
        self.call(|table, volume| unsafe { (table.unmount)(volume) }.into())?;
        Ok(())
    }

    /// The next mount makes the volume anew.
    fn cut(self) {}
}

impl OnChip {
    fn close_all(&mut self) -> Result<(), Error> {
        for number in 0..KEPT {
            if let Some(file) = self.kept[number].take() {
                Calls::close(&mut &mut *self, file)?;
            }
        }
        Ok(())
    }
}
