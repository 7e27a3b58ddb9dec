//! The C API of SteadyFS: what `include/steadyfs.h` declares. `docs/c.md` says how to use it, and what each call of littlefs, SPIFFS and
//! FatFs is here.
//!
//! ```text
//! cargo rustc -p steadyfs-c --release --lib --crate-type staticlib
//! ```
//!
//! makes `libsteadyfs_c.a`, which needs no allocator and, on a microcontroller, nothing at all beside what the compiler brings along.
//!
//! | module | what is in it |
//! |---|---|
//! | [`driver`] | the callbacks, and the core's media made of them |
//! | `medium` | one medium for all drivers |
//! | [`config`] | driver, memory and settings |
//! | `division` | volumes on NOR that are divided otherwise |
//! | [`volume`] | format, mount, unmount; the way into a mounted volume |
//! | [`names`], [`files`], [`directories`], [`transactions`] | the calls, by what they are about |
//! | `packed` | compressed files (feature `compress`) |
//! | `rom` | read-only images (feature `rom`) |
//! | `object`, `handle` | what is mounted, and what is open, in memory of C |
//! | [`bounds`] | how long they take at most |
//! | [`maintenance`] | space, idle work, health, verification |
//! | [`error`], `pointers` | what goes out and comes in |
//!
//! # Safety
//! Each function of C is `unsafe` for Rust, for the same reason, which the header states for C:
//! - pointers are null, which is refused, or point to what their type says, for as long as the header says: a call, or up to the unmount;
//! - the driver's struct and the memory of a [`config::Config`] are the volume's alone from mount to unmount;
//! - a volume takes one call at a time. A callback that calls its own volume is refused with STEADYFS_ERR_BUSY;
//! - callbacks keep within the lengths that they are told, and return.
//!
//! What is checked: null and misaligned pointers, text that is not UTF-8, handles that are not open or of another mount, calls of volumes
//! that are not mounted (in memory that began as zeros), numbers that make no sense.

#![no_std]

// On a host the library links what a panic needs.
#[cfg(not(target_os = "none"))]
extern crate std;

/// A microcontroller stays where an assertion of the library failed, for its watchdog to find.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

pub mod bounds;
pub mod config;
pub mod directories;
mod division;
pub mod driver;
pub mod error;
pub mod files;
mod handle;
pub mod maintenance;
mod medium;
pub mod names;
mod object;
#[cfg(feature = "compress")]
pub mod packed;
mod pointers;
#[cfg(feature = "rom")]
pub mod rom;
pub mod transactions;
pub mod volume;
