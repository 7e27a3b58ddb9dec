//! Mounts an empty volume on a simulated chip:
//! `cargo run --release -p steadyfs-fuse --example ram -- DIRECTORY`.
//!
//! Ctrl-C unmounts. Then the example prints the counters of the chip.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use steadyfs::media::Flash;
    use steadyfs::{Access, Config, FileSystem};
    use steadyfs_sim::{Metered, Nand, Profile, TimingChoice};

    let directory = std::env::args_os().nth(1).ok_or("usage: ram DIRECTORY")?;
    let chip = Nand::new(&Profile::named("mt29f1g01abafd")?, TimingChoice::Typical, 1);
    let geometry = chip.geometry();
    let config = Config::for_geometry(&geometry);
    // Room for 1,024 files that are open at once.
    let mut memory = vec![0; config.memory_bytes(&geometry) + 12 * 1024];

    let chip = FileSystem::format(chip, &config, &mut memory)?;
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory)?;
    steadyfs_fuse::mount(&mut fs, directory.as_ref(), &steadyfs_fuse::Options::default())?;
    let usage = fs.usage();
    let chip = fs.unmount()?;
    println!("{usage:?}\n{:?}", chip.counters());
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("only Linux mounts file systems through FUSE");
}
