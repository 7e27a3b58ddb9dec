//! The linker scripts of the chosen board.

use std::env;
use std::fs;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let memory = if has("RP2040") {
        println!("cargo::rustc-link-arg-bins=-Tlink-rp.x");
        include_str!("rp2040.x")
    } else if has("NRF52840") {
        include_str!("nrf52840.x")
    } else {
        return;
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("memory.x"), memory).expect("OUT_DIR can be written");
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
