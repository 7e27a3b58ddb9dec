//! Adapts a contender in C to Rust: the table of `shims/peer.h`, and the chip's callbacks.

use crate::header::{
    Call, FileCall, NO_ROOM, NO_ROOM_FOR_NAME, Peer, RawChip, RawRoom, RawSettings,
};
use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use steadyfs::media::Failure;
use steadyfs_compare::Chip;
use steadyfs_lab::bench::{BenchChip, Contender, Fault, Mode, Plain, Room, Volume};
use steadyfs_lab::torture::caught;
use steadyfs_sim::{Counters, Metered};

/// The chip as callbacks see it. A panic cannot pass through C, so its message waits here until
/// the call has ended.
struct Link {
    chip: Chip,
    panic: Option<String>,
}

impl Link {
    /// Uses the chip. Returns -1 if the chip fails, or is used illegally.
    fn call(context: *mut c_void, act: impl FnOnce(&mut Chip) -> Result<(), Failure>) -> c_int {
        // SAFETY: the context is the link that the volume owns; C calls back from within calls of
        // this thread only.
        let link = unsafe { &mut *context.cast::<Link>() };
        let chip = &mut link.chip;
        match catch_unwind(AssertUnwindSafe(|| caught(|| act(chip)))) {
            Ok(Ok(Ok(()))) => 0,
            Ok(Ok(Err(_))) => -1,
            Ok(Err(message)) => {
                link.panic.get_or_insert(message);
                -1
            }
            Err(_) => -1,
        }
    }
}

extern "C" fn read(
    context: *mut c_void,
    block: u32,
    offset: u32,
    data: *mut c_void,
    bytes: u32,
) -> c_int {
    // SAFETY: C passes a buffer of `bytes` bytes.
    let data = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), bytes as usize) };
    Link::call(context, |chip| chip.read_plain(block, offset, data))
}

extern "C" fn program(
    context: *mut c_void,
    block: u32,
    offset: u32,
    data: *const c_void,
    bytes: u32,
) -> c_int {
    // SAFETY: as in `read`.
    let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes as usize) };
    Link::call(context, |chip| chip.program_plain(block, offset, data))
}

extern "C" fn erase(context: *mut c_void, block: u32) -> c_int {
    Link::call(context, |chip| chip.erase_block(block))
}

extern "C" fn copy(context: *mut c_void, from: u32, to: u32) -> c_int {
    Link::call(context, |chip| chip.copy_plain(from, to))
}

/// A contender in C on a chip.
pub struct OnChip {
    name: &'static str,
    peer: &'static Peer,
    /// Owned here. C keeps its address.
    link: *mut Link,
    volume: *mut c_void,
    /// Bytes that it can hold, if it does not report them itself.
    usable_bytes: Option<u64>,
}

impl OnChip {
    /// Puts the contender on a chip.
    pub fn new(name: &'static str, peer: &'static Peer, chip: Chip) -> OnChip {
        OnChip::tuned(name, peer, chip, ptr::null())
    }

    /// Puts the contender on a chip, with these settings.
    pub fn with_settings(
        name: &'static str,
        peer: &'static Peer,
        chip: Chip,
        settings: &RawSettings,
    ) -> OnChip {
        OnChip::tuned(name, peer, chip, settings)
    }

    fn tuned(
        name: &'static str,
        peer: &'static Peer,
        chip: Chip,
        settings: *const RawSettings,
    ) -> OnChip {
        let Plain { unit_bytes, block_bytes, block_count } = chip.plain();
        let link = Box::into_raw(Box::new(Link { chip, panic: None }));
        let raw = RawChip {
            context: link.cast(),
            unit_bytes,
            block_bytes,
            block_count,
            read,
            program,
            erase,
            copy,
            settings,
        };
        // SAFETY: the table has the layout of the header; `make` copies its argument, and reads the
        // settings only until it returns.
        let volume = unsafe { (peer.make)(&raw) };
        OnChip { name, peer, link, volume, usable_bytes: None }
    }

    /// Returns the same contender with known usable bytes.
    #[must_use]
    pub fn with_usable(mut self, bytes: u64) -> OnChip {
        self.usable_bytes = Some(bytes);
        self
    }

    /// Fills an empty volume with files of `bytes` each until it refuses one. Returns the bytes
    /// that it took.
    ///
    /// # Errors
    /// Any [`Fault`] except lack of room.
    pub fn fill(&mut self, bytes: usize) -> Result<u64, Fault> {
        self.format()?;
        let (mut volume, content) = (self.mount()?, vec![0xA5; bytes]);
        for index in 0u64.. {
            let taken = volume.open(&format!("fill-{index}"), Mode::Create).and_then(|mut file| {
                let written =
                    volume.write(&mut file, 0, &content).and_then(|()| volume.sync(&mut file));
                let closed = volume.close(file);
                written.and(closed)
            });
            match taken {
                Ok(()) => {}
                Err(Fault::NoRoom(_)) => return Ok(index * bytes as u64),
                Err(fault) => return Err(fault),
            }
        }
        unreachable!("no chip has room for ever")
    }

    fn link(&mut self) -> &mut Link {
        // SAFETY: made in `new`, freed in `drop`; no call into C is under way.
        unsafe { &mut *self.link }
    }

    fn chip(&self) -> &Chip {
        // SAFETY: as above.
        unsafe { &(*self.link).chip }
    }

    /// Translates a code of C to a result. If the chip had recorded a panic, raises it again
    /// here.
    fn told(&mut self, code: i64) -> Result<i64, Fault> {
        if let Some(message) = self.link().panic.take() {
            panic!("{message}");
        }
        let no_room = |what: &str| Err(Fault::NoRoom(what.to_string()));
        match code {
            0.. => Ok(code),
            code if code == i64::from(NO_ROOM) => no_room("the volume is full"),
            code if code == i64::from(NO_ROOM_FOR_NAME) => {
                no_room("the volume has no room for the name of another file")
            }
            code => Err(Fault::Failed(format!("{} returns {code}", self.name))),
        }
    }

    fn call(&mut self, call: Call) -> Result<(), Fault> {
        // SAFETY: `make` returned the volume.
        let code = unsafe { call(self.volume) };
        self.told(code.into()).map(drop)
    }

    fn on_file(&mut self, call: FileCall, file: *mut c_void) -> Result<(), Fault> {
        // SAFETY: `open` returned the file, and it was not closed.
        let code = unsafe { call(self.volume, file) };
        self.told(code.into()).map(drop)
    }
}

impl Drop for OnChip {
    fn drop(&mut self) {
        // SAFETY: both were made in `new`; nothing uses them afterwards.
        unsafe {
            (self.peer.drop)(self.volume);
            drop(Box::from_raw(self.link));
        }
    }
}

/// An open file of C.
pub struct File(*mut c_void);

fn path_of(path: &str) -> Result<CString, Fault> {
    CString::new(path).map_err(|error| Fault::Failed(error.to_string()))
}

impl Contender for OnChip {
    type File = File;
    type Volume<'a> = &'a mut OnChip;

    fn system(&self) -> String {
        self.name.to_string()
    }

    fn format(&mut self) -> Result<(), Fault> {
        self.call(self.peer.format)
    }

    fn mount(&mut self) -> Result<&mut OnChip, Fault> {
        self.call(self.peer.mount)?;
        Ok(self)
    }

    fn ram_bytes(&self) -> u64 {
        // SAFETY: `make` returned the volume.
        unsafe { (self.peer.ram_bytes)(self.volume) }.into()
    }

    fn counters(&self) -> Counters {
        self.chip().counters()
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.chip().erase_counts()
    }
}

impl Volume for &mut OnChip {
    type File = File;

    fn open(&mut self, path: &str, mode: Mode) -> Result<File, Fault> {
        let (path, mut error) = (path_of(path)?, 0);
        let mode = match mode {
            Mode::Read => 0,
            Mode::Write => 1,
            Mode::Replace => 2,
            Mode::Create => 3,
            Mode::Durable => 4,
        };
        // SAFETY: the path ends with a zero; the call may write to `error`.
        let file = unsafe {
            (self.peer.open)(self.volume, path.as_ptr(), mode, ptr::from_mut(&mut error))
        };
        self.told(error.into())?;
        Ok(File(file))
    }

    fn close(&mut self, file: File) -> Result<(), Fault> {
        self.on_file(self.peer.close, file.0)
    }

    fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Fault> {
        // SAFETY: the buffer has this length.
        let code = unsafe {
            (self.peer.read)(
                self.volume,
                file.0,
                offset,
                data.as_mut_ptr().cast(),
                data.len() as u32,
            )
        };
        self.told(code).map(|length| length as usize)
    }

    fn write(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Fault> {
        // SAFETY: as in `read`.
        let code = unsafe {
            (self.peer.write)(self.volume, file.0, offset, data.as_ptr().cast(), data.len() as u32)
        };
        self.told(code.into()).map(drop)
    }

    fn sync(&mut self, file: &mut File) -> Result<(), Fault> {
        self.on_file(self.peer.sync, file.0)
    }

    fn remove(&mut self, path: &str) -> Result<(), Fault> {
        let path = path_of(path)?;
        // SAFETY: the path ends with a zero.
        let code = unsafe { (self.peer.remove)(self.volume, path.as_ptr()) };
        self.told(code.into()).map(drop)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault> {
        let (from, to) = (path_of(from)?, path_of(to)?);
        // SAFETY: the paths end with zeros.
        let code = unsafe { (self.peer.rename)(self.volume, from.as_ptr(), to.as_ptr()) };
        self.told(code.into()).map(drop)
    }

    fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        let path = path_of(path)?;
        // SAFETY: the path ends with a zero.
        let code = unsafe { (self.peer.stat)(self.volume, path.as_ptr()) };
        self.told(code).map(|size| size as u64)
    }

    fn unmount(self) -> Result<(), Fault> {
        self.call(self.peer.unmount)
    }

    fn room(&mut self) -> Result<Room, Fault> {
        let mut raw = RawRoom::default();
        // SAFETY: the call may write to `raw`.
        let code = unsafe { (self.peer.room)(self.volume, &mut raw) };
        self.told(code.into())?;
        let RawRoom { usable_bytes: told, free_bytes, unit_bytes, files_max } = raw;
        let usable_bytes = self.usable_bytes.unwrap_or(told);
        let free_bytes = free_bytes.saturating_sub(told - usable_bytes.min(told));
        Ok(Room { usable_bytes, free_bytes, unit_bytes, files_max, file_bytes_max: usable_bytes })
    }

    fn counters(&self) -> Counters {
        self.chip().counters()
    }
}
