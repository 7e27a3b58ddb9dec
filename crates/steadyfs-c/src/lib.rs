//! The C API of SteadyFS, which `include/steadyfs.h` declares. `docs/guide/c.md` explains its use,
//! and lists the equivalent of each call of littlefs, SPIFFS and FatFs.
//!
//! ```text
//! cargo rustc -p steadyfs-c --release --lib --crate-type staticlib
//! ```
//!
//! This command builds `libsteadyfs_c.a`. The library needs no allocator. On a microcontroller it
//! needs only the compiler's own libraries.
//!
//! | module | content |
//! |---|---|
//! | [`driver`] | the callbacks, and the core's media made of them |
//! | `medium` | one medium for all drivers |
//! | [`config`] | driver, memory and settings |
//! | `division` | recognition of NOR volumes with another division |
//! | [`volume`] | format, mount, unmount; access to a mounted volume |
//! | [`names`], [`files`], [`directories`], [`transactions`] | the calls, by subject |
//! | `packed` | compressed files (feature `compress`) |
//! | `rom` | read-only images (feature `rom`) |
//! | `object`, `handle` | mounted objects and open files, in memory of C |
//! | [`bounds`] | the worst cases of the calls |
//! | [`maintenance`] | space, idle work, health, verification |
//! | [`error`], `pointers` | results and arguments |
//!
//! # Safety
//! Each function of the C API is `unsafe` for Rust, because its caller must fulfil these
//! conditions. The header states them for C:
//! - A pointer is null, which the function refuses, or points to a value of its type. The value
//!   stays valid as long as the header requires: during the call, or until the unmount.
//! - The driver's struct and the memory of a [`config::Config`] belong only to the volume from
//!   mount to unmount.
//! - A volume takes one call at a time. A callback that calls its own volume is refused with
//!   STEADYFS_ERR_BUSY.
//! - Callbacks access only the number of bytes that they receive as an argument, and they return.
//!
//! The functions detect:
//! - null and misaligned pointers,
//! - text that is not UTF-8,
//! - handles that are not open, or that belong to another mount,
//! - calls on a volume that is not mounted, if its memory was filled with zeros,
//! - invalid numbers.

#![no_std]

// On a host, `std` links the libraries that a panic needs.
#[cfg(not(target_os = "none"))]
extern crate std;

/// Loops after a failed assertion of the library on a microcontroller, until the watchdog resets
/// the processor.
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
