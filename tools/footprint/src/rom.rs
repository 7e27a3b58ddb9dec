//! The calls of a read-only image on NAND.

use crate::driver::nand;
use core::hint::black_box;
use steadyfs_rom::squash::Cursor;
use steadyfs_rom::{OnNand, Source, Squash};

/// Makes every call of the image once.
pub fn every_one() {
    let Some(source) = call_find(black_box(&mut [])) else { return };
    #[cfg(feature = "rom-signed")]
    let Some(source) = call_verify(source) else { return };
    let Ok(mut rom) = Squash::mount(source, black_box(&mut [])) else { return };
    call_open(&mut rom);
    call_list(&mut rom);
}

#[inline(never)]
fn call_find(memory: &mut [u8]) -> Option<OnNand<'_, crate::driver::Nand>> {
    OnNand::open(nand(), memory).ok()
}

#[cfg(feature = "rom-signed")]
#[inline(never)]
fn call_verify<S: Source>(source: S) -> Option<steadyfs_rom::Verified<'static, S>> {
    use steadyfs_rom::{Trusted, Verified};
    Verified::open(source, Trusted::Key(black_box([0; 32])), black_box(&mut [])).ok()
}

#[inline(never)]
fn call_open<S: Source>(rom: &mut Squash<'_, S>) {
    let Ok(mut file) = rom.open(black_box("")) else { return };
    black_box(rom.read(&mut file, black_box(0), black_box(&mut [])).is_ok());
}

#[inline(never)]
fn call_list<S: Source>(rom: &mut Squash<'_, S>) {
    let Ok(node) = rom.find(black_box("")) else { return };
    black_box(node.stat());
    let mut cursor = Cursor::default();
    while let Ok(Some(entry)) = rom.list(&node, &mut cursor) {
        black_box(entry.name());
    }
}
