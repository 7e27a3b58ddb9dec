#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| steadyfs_hostile::run("mount_forged", input));
