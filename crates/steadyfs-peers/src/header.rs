//! `shims/peer.h` in Rust. The firmware that counts instructions includes this file, too.

use core::ffi::{c_char, c_int, c_void};

/// Results of calls on a volume without room, of any kind or for the name of another file:
/// `NO_ROOM` and `NO_ROOM_FOR_NAME` of the header.
pub const NO_ROOM: c_int = -1_000_000;
pub const NO_ROOM_FOR_NAME: c_int = -1_000_001;

/// `struct settings` of the header.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawSettings {
    pub block_bytes: u32,
    pub read_bytes: u32,
    pub program_bytes: u32,
    pub cache_bytes: u32,
    pub lookahead_bytes: u32,
    pub block_cycles: u32,
    pub metadata_bytes: u32,
    pub page_bytes: u32,
    pub cache_pages: u32,
    pub descriptors: u32,
    pub forgets: u32,
}

/// `struct chip` of the header.
#[repr(C)]
pub struct RawChip {
    pub context: *mut c_void,
    pub unit_bytes: u32,
    pub block_bytes: u32,
    pub block_count: u32,
    pub read: extern "C" fn(*mut c_void, u32, u32, *mut c_void, u32) -> c_int,
    pub program: extern "C" fn(*mut c_void, u32, u32, *const c_void, u32) -> c_int,
    pub erase: extern "C" fn(*mut c_void, u32) -> c_int,
    pub copy: extern "C" fn(*mut c_void, u32, u32) -> c_int,
    pub settings: *const RawSettings,
}

/// `struct room` of the header.
#[repr(C)]
#[derive(Default)]
pub struct RawRoom {
    pub usable_bytes: u64,
    pub free_bytes: u64,
    pub unit_bytes: u32,
    pub files_max: u32,
}

pub type Call = unsafe extern "C" fn(*mut c_void) -> c_int;
pub type FileCall = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

/// `struct peer` of the header.
#[repr(C)]
pub struct Peer {
    pub make: unsafe extern "C" fn(*const RawChip) -> *mut c_void,
    pub drop: unsafe extern "C" fn(*mut c_void),
    pub format: Call,
    pub mount: Call,
    pub unmount: Call,
    pub open: unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *mut c_int) -> *mut c_void,
    pub close: FileCall,
    pub read: unsafe extern "C" fn(*mut c_void, *mut c_void, u64, *mut c_void, u32) -> i64,
    pub write: unsafe extern "C" fn(*mut c_void, *mut c_void, u64, *const c_void, u32) -> c_int,
    pub sync: FileCall,
    pub remove: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
    pub rename: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> c_int,
    pub stat: unsafe extern "C" fn(*mut c_void, *const c_char) -> i64,
    pub room: unsafe extern "C" fn(*mut c_void, *mut RawRoom) -> c_int,
    pub ram_bytes: unsafe extern "C" fn(*mut c_void) -> u32,
}
