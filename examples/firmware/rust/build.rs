//! The linker script that the C firmware has as well.

fn main() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../mps2.ld");
    println!("cargo::rerun-if-changed={script}");
    println!("cargo::rustc-link-arg=-T{script}");
}
