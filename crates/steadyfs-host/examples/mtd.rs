//! Tries MTD devices out. `tools/mtd.sh` runs it in a kernel with simulated chips. On a board it
//! shows that a chip and its driver meet the needs of SteadyFS. Each step prints the operations
//! that it took, and `PASS` comes at the end.
//!
//! - `mtd exercise DEVICE...` formats devices, uses the volumes and checks their content.
//!   **Everything on them is lost**, and their last good block is marked bad.
//! - `mtd make IMAGE PAGE_BYTES PAGES_PER_BLOCK BLOCK_COUNT` makes an image of NAND with the same
//!   files.
//! - `mtd check DEVICE|IMAGE...` checks these files, for reading only.
//! - `mtd lose DEVICE PAGE` programs a page and reads it until the ECC cannot correct it. Simulated
//!   chips can be set up to lose pages so.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: MTD devices are those of Linux");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::process::ExitCode;

    use steadyfs::media::{Corrected, Failure, Flash, Geometry, TAG_BYTES};
    use steadyfs::{Access, Budget, Config, FileSystem, Health, OpenOptions};
    use steadyfs_host::image::{Image, Shape};
    use steadyfs_host::mtd::Mtd;
    use steadyfs_sim::{Counters, Metered};

    const FILES: usize = 24;
    const FILE_BYTES: usize = 40_000;
    const RECORD_BYTES: usize = 4096;

    type Outcome = Result<(), Box<dyn Error>>;

    pub fn main() -> ExitCode {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let outcome = match arguments[..] {
            ["exercise", ref devices @ ..] => {
                devices.iter().try_for_each(|device| exercise(device))
            }
            ["make", image, page_bytes, pages, blocks] => make(image, [page_bytes, pages, blocks]),
            ["check", ref paths @ ..] => paths.iter().try_for_each(|path| check(path)),
            ["lose", device, page] => lose(device, page),
            _ => {
                Err("expected exercise DEVICE..., make IMAGE SIZES, check DEVICE|IMAGE... or lose \
                     DEVICE PAGE"
                    .into())
            }
        };
        match outcome {
            Ok(()) => {
                println!("PASS");
                ExitCode::SUCCESS
            }
            Err(error) => {
                println!("FAIL {arguments:?}: {error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Returns bytes that are different in each file, at each offset and in each round.
    fn content(file: usize, round: usize) -> Vec<u8> {
        (0..FILE_BYTES + file * 100)
            .map(|at| (at * 7 + at / 256 * 13 + file * 61 + round * 101) as u8)
            .collect()
    }

    /// Prints the operations of a step.
    fn report(step: &str, flash: &impl Metered, before: &mut Counters) {
        let now = flash.counters();
        let Counters { reads, tag_reads, programs, erases, time_ns, .. } = now.since(before);
        println!(
            "  {step:9} {reads:6} reads {tag_reads:6} tag reads {programs:6} programs {erases:5} \
             erases {:9} us",
            time_ns / 1000
        );
        *before = now;
    }

    /// Allocates the RAM for a volume on a medium.
    fn memory(flash: &impl Flash) -> Vec<u8> {
        let geometry = flash.geometry();
        vec![0; Config::for_geometry(&geometry).memory_bytes(&geometry)]
    }

    fn exercise(device: &str) -> Outcome {
        let mut flash = Mtd::open(device, Access::ReadWrite)?;
        let geometry = flash.geometry();
        println!("{device}: {geometry:?}, bad blocks {:?}", bad_blocks(&mut flash));
        let flash = fill(flash)?;
        let mut before = flash.counters();
        let mut memory = memory(&flash);
        let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
        report("mount", fs.flash(), &mut before);
        overwrite(&mut fs)?;
        report("overwrite", fs.flash(), &mut before);
        scrub(&mut fs)?;
        report("scrub", fs.flash(), &mut before);
        drop(fs.unmount()?);
        check(device)?;
        grow_bad(device)
    }

    fn bad_blocks(flash: &mut Mtd) -> Vec<u32> {
        (0..flash.geometry().block_count).filter(|&block| flash.is_bad(block) == Ok(true)).collect()
    }

    /// Formats a medium and writes the files, each twice.
    fn fill<F: Flash + Metered>(flash: F) -> Result<F, Box<dyn Error>> {
        let mut before = flash.counters();
        let mut memory = memory(&flash);
        let config = Config::for_geometry(&flash.geometry());
        let flash = FileSystem::format(flash, &config, &mut memory)?;
        report("format", &flash, &mut before);
        let mut fs = FileSystem::mount(flash, Access::ReadWrite, &mut memory)?;
        report("mount", fs.flash(), &mut before);
        for round in 0..2 {
            for file in 0..FILES {
                let mut handle = fs.open(&format!("file {file}"), OpenOptions::CREATE)?;
                fs.write(&mut handle, 0, &content(file, round))?;
                fs.sync(steadyfs::CommitOn::SYNC)?;
                fs.close(handle)?;
            }
        }
        report("write", fs.flash(), &mut before);
        Ok(fs.unmount()?)
    }

    fn make(path: &str, sizes: [&str; 3]) -> Outcome {
        let [page_bytes, pages_per_block, block_count] = sizes.map(str::parse);
        let geometry = Geometry {
            page_bytes: page_bytes?,
            pages_per_block: pages_per_block?,
            block_count: block_count?,
            programs_bytes: false,
        };
        println!("{path}: {geometry:?}");
        Ok(fill(Image::create(path, &Shape::nand(geometry))?)?.sync()?)
    }

    /// Rewrites records many times at random in half of the volume, so that blocks are reclaimed.
    fn overwrite(fs: &mut FileSystem<'_, Mtd>) -> Outcome {
        let records = fs.usage().usable_bytes / 2 / RECORD_BYTES as u64;
        let mut handle = fs.open("records", OpenOptions::DURABLE)?;
        let mut random = 1u64;
        for write in 0..records * 3 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let record = if write < records { write } else { (random >> 33) % records };
            fs.write(&mut handle, record * RECORD_BYTES as u64, &[record as u8; RECORD_BYTES])?;
        }
        for record in 0..records {
            let mut data = [0; RECORD_BYTES];
            fs.read(&mut handle, record * RECORD_BYTES as u64, &mut data)?;
            if data != [record as u8; RECORD_BYTES] {
                return Err(format!("record {record} is not what was written").into());
            }
        }
        Ok(())
    }

    /// Reads everything, moves weak data, and prints the corrections of the ECC.
    fn scrub(fs: &mut FileSystem<'_, Mtd>) -> Outcome {
        while !fs.scrub(Budget::Operations(u32::MAX))? {}
        let Health { weak_blocks, reads, corrected_reads, lost_reads, worst, .. } = fs.health();
        let Corrected { bits, strength } = worst;
        println!(
            "  {corrected_reads} of {reads} reads corrected, at worst {bits} of {strength} bits; \
             {weak_blocks} weak blocks"
        );
        if lost_reads > 0 {
            return Err(format!("{lost_reads} pages are lost; expected none").into());
        }
        fs.maintain(Budget::Operations(u32::MAX), 0)?;
        Ok(())
    }

    fn check(path: &str) -> Outcome {
        println!("{path}: check");
        if std::fs::metadata(path)?.is_file() {
            verify(Image::open(path, Access::ReadOnly)?)
        } else {
            verify(Mtd::open(path, Access::ReadOnly)?)
        }
    }

    /// Mounts for reading and checks the files.
    fn verify(flash: impl Flash + Metered) -> Outcome {
        let mut before = flash.counters();
        let mut memory = memory(&flash);
        let mut fs = FileSystem::mount(flash, Access::ReadOnly, &mut memory)?;
        report("mount", fs.flash(), &mut before);
        for file in 0..FILES {
            let mut handle = fs.open(&format!("file {file}"), OpenOptions::READ)?;
            let mut data = vec![0; content(file, 1).len() + 1];
            let count = fs.read(&mut handle, 0, &mut data)?;
            if data[..count] != content(file, 1) {
                return Err(format!("file {file} is not what was written").into());
            }
            fs.close(handle)?;
        }
        report("verify", fs.flash(), &mut before);
        Ok(())
    }

    /// Marks the last good block bad, and checks that the kernel then refuses it as a bad block.
    /// Programs need a device that was opened for writing.
    fn grow_bad(device: &str) -> Outcome {
        let mut flash = Mtd::open(device, Access::ReadOnly)?;
        let page = flash.geometry().pages_per_block;
        demand(
            flash.erase(1) == Err(Failure::Device),
            "an erase through a device that was opened for reading",
            &flash,
        )?;
        demand(
            flash.program(page, &[], &[0; TAG_BYTES]) == Err(Failure::Device),
            "a program through it",
            &flash,
        )?;
        let mut flash = Mtd::open(device, Access::ReadWrite)?;
        let last = flash.geometry().block_count - 1;
        let Some(block) = (0..=last).rev().find(|&block| flash.is_bad(block) == Ok(false)) else {
            return Ok(());
        };
        flash.mark_bad(block).map_err(|failure| format!("{failure:?}"))?;
        if flash.is_bad(block) == Ok(true) {
            demand(
                flash.erase(block) == Err(Failure::BadBlock),
                "an erase of a bad block",
                &flash,
            )?;
        }
        println!("  bad at the end {:?}", bad_blocks(&mut flash));
        Ok(())
    }

    fn lose(device: &str, page: &str) -> Outcome {
        let mut flash = Mtd::open(device, Access::ReadWrite)?;
        let (page, tag) = (page.parse()?, [0x3C; TAG_BYTES]);
        let (mut data, mut found) = (vec![0; flash.geometry().page_bytes as usize], tag);
        demand(flash.erase(page / flash.geometry().pages_per_block).is_ok(), "an erase", &flash)?;
        demand(flash.program(page, b"here", &tag).is_ok(), "a program", &flash)?;
        for read in 1..100 {
            match flash.read(page, &mut data, &mut found) {
                Ok(()) if data.starts_with(b"here\xFF") && found == tag => {}
                Err(Failure::Uncorrectable) => {
                    println!("  page {page} is uncorrectable in read {read}");
                    return Ok(());
                }
                _ => return demand(false, "a read", &flash),
            }
        }
        Err("the page stays readable".into())
    }

    fn demand(holds: bool, what: &str, flash: &Mtd) -> Outcome {
        if holds {
            Ok(())
        } else {
            Err(format!("{what} has another outcome: {:?}", flash.error()).into())
        }
    }
}
