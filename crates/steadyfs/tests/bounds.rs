//! Checks that writes in a row stay within the envelopes that the volume returns, at any fill.
//! The other tests check the bound of each call and of each mount.

use crate::common::oracle::{Model, fill};
use crate::common::steps::EXPLICIT;
use crate::common::{Fs, Rng, SHAPES, bounded, for_seeds};
use steadyfs::media::nor::{NorPages, page_bytes_for};
use steadyfs::media::{Flash, Geometry, Timing};
use steadyfs::{
    Access, Budget, Call, CallSequence, Config, Cost, Envelope, Error, File, FileSystem,
    OpenOptions,
};
use steadyfs_sim::{Metered, Nand, NandTiming, Nor, NorTiming, Trace};

/// The largest excess of any row of writes over the envelope's rate. It equals the backlog of a
/// server that needs `rate_ns` for each write.
struct Backlog {
    envelope: Envelope,
    now_ns: u64,
}

impl Backlog {
    fn add(&mut self, write_ns: u64) {
        self.now_ns = (self.now_ns + write_ns).saturating_sub(self.envelope.rate_ns);
        assert!(
            self.now_ns <= self.envelope.burst_ns,
            "{} ns over the rate of {:?}",
            self.now_ns,
            self.envelope
        );
    }
}

/// A volume with files that fill half of it, or nearly all. Tests overwrite these files.
struct Full<'f, 'm> {
    fs: &'f mut Fs<'m>,
    /// The files, open and durable, and the number of whole logical pages of each.
    files: Vec<(File, u64)>,
    page: usize,
    rng: Rng,
}

impl Full<'_, '_> {
    /// Picks a file at random. Returns its index and its number of whole pages.
    fn pick(&mut self) -> (usize, u64) {
        let file = self.rng.below(self.files.len() as u64) as usize;
        (file, self.files[file].1)
    }

    /// Returns the time of a call.
    fn spent_ns(&mut self, act: impl FnOnce(&mut Self)) -> u64 {
        let before_ns = self.fs.flash().time_ns();
        act(self);
        self.fs.flash().time_ns() - before_ns
    }
}

/// Runs `act` on volumes of every shape at four fills.
fn on_full_volumes(test: &str, act: impl Fn(Full<'_, '_>)) {
    for_seeds("bounds", test, 4 * SHAPES.len() as u64, |seed| {
        let shape = &SHAPES[seed as usize % SHAPES.len()];
        let percent = [50, 80, 90, 95][seed as usize / SHAPES.len() % 4];
        let mut device = shape.device(seed);
        let mut model = Model::new(EXPLICIT);
        fill(&mut device, &mut model, percent);
        let names: Vec<(String, usize)> =
            model.current.files().map(|(name, node)| (name.to_string(), node.data.len())).collect();
        let page = shape.logical_bytes() as usize;
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let open = |(name, bytes): &(String, usize)| {
            (fs.open(name.as_str(), OpenOptions::DURABLE).expect("open"), (bytes / page) as u64)
        };
        let files = names.iter().map(open).collect();
        act(Full { fs: &mut fs, files, page, rng: Rng(seed) });
    });
}

#[test]
fn any_row_of_overwrites_stays_within_both_envelopes() {
    on_full_volumes("any_row_of_overwrites_stays_within_both_envelopes", |mut volume| {
        let timing = volume.fs.flash().timing();
        let data = vec![0xC3; volume.page];
        let mut backlogs = volume
            .fs
            .bounds()
            .envelopes(Call::Overwrite, &timing)
            .map(|envelope| Backlog { envelope, now_ns: 0 });
        for _ in 0..6 * volume.fs.usage().usable_bytes / volume.page as u64 {
            let (file, pages) = volume.pick();
            let at = volume.rng.below(pages) * volume.page as u64;
            let write_ns = volume.spent_ns(|Full { fs, files, .. }| {
                bounded(fs, Call::Overwrite, |fs| fs.write(&mut files[file].0, at, &data))
                    .expect("overwrite");
            });
            backlogs.iter_mut().for_each(|backlog| backlog.add(write_ns));
        }
    });
}

/// Each append may begin with freeing pages of the removed file.
#[test]
fn appends_beside_a_removed_file_stay_within_both_envelopes() {
    on_full_volumes(
        "appends_beside_a_removed_file_stay_within_both_envelopes",
        |Full { fs, files, page, .. }| {
            for (file, _) in files {
                fs.close(file).expect("close");
            }
            // The pages of the large file do not follow each other.
            let mut large = fs.open("large", OpenOptions::DURABLE).expect("create");
            let mut log = fs.open("log", OpenOptions::DURABLE).expect("create");
            let data = vec![1; page];
            while fs.append(&mut large, &data).and_then(|()| fs.append(&mut log, &data)).is_ok() {}
            // A few pages are freed at once.
            if fs.size(&mut large).expect("size") <= 8 * page as u64 {
                return;
            }
            fs.close(large).expect("close");
            fs.remove("large").expect("remove");
            fs.commit().expect("commit");
            let timing = fs.flash().timing();
            let mut backlogs = fs
                .bounds()
                .envelopes(Call::WriteLarge(64), &timing)
                .map(|envelope| Backlog { envelope, now_ns: 0 });
            let mut freed = fs.usage().used_bytes;
            for _ in 0..400 {
                let before_ns = fs.flash().time_ns();
                match fs.append(&mut log, &[3; 64]) {
                    Err(Error::NoSpace) => {
                        assert_eq!(fs.available(), Ok(0));
                        break;
                    }
                    result => result.expect("append"),
                }
                let spent_ns = fs.flash().time_ns() - before_ns;
                backlogs.iter_mut().for_each(|backlog| backlog.add(spent_ns));
                freed = freed.min(fs.usage().used_bytes);
            }
            assert!(freed + 8 * page as u64 <= fs.usage().usable_bytes, "{freed} bytes in use");
        },
    );
}

/// A write of several whole pages, each durable, is a row of calls. The volume returns the bound
/// of the whole row before the write.
#[test]
fn a_durable_write_of_many_pages_stays_within_the_bound_of_the_row() {
    on_full_volumes(
        "a_durable_write_of_many_pages_stays_within_the_bound_of_the_row",
        |mut volume| {
            let timing = volume.fs.flash().timing();
            let mut rows = 0;
            for _ in 0..2 * volume.fs.usage().usable_bytes / volume.page as u64 {
                let (file, pages) = volume.pick();
                let count = 1 + volume.rng.below(pages.min(24));
                let at = volume.rng.below(pages - count + 1) * volume.page as u64;
                let data = vec![0x3C; volume.page * count as usize];
                let bound_ns =
                    volume.fs.bounds().sequence_ns(CallSequence::Overwrites(count as u32), &timing);
                let write_ns = volume.spent_ns(|Full { fs, files, .. }| {
                    fs.write(&mut files[file].0, at, &data).expect("overwrite");
                });
                assert!(
                    write_ns <= bound_ns,
                    "{count} pages: {write_ns} ns, the bound is {bound_ns}"
                );
                rows += u32::from(count > 1);
            }
            assert!(rows > 20, "{rows} writes of more than one page");
        },
    );
}

/// Writes of any length stay within the bound of their row. The handles are durable or not. The
/// files stay, except one that grows and is truncated or removed repeatedly.
#[test]
fn a_write_of_any_length_stays_within_the_bound_of_its_row() {
    on_full_volumes("a_write_of_any_length_stays_within_the_bound_of_its_row", |mut volume| {
        let timing = volume.fs.flash().timing();
        let (mut long, mut refused) = (0, 0);
        let mut growing = volume.fs.open("growing", OpenOptions::CREATE).ok();
        for _ in 0..3 * volume.fs.usage().usable_bytes / volume.page as u64 {
            let bytes = match volume.rng.below(3) {
                0 => 1 + volume.rng.below(200),
                _ => 1 + volume.rng.below(12 * volume.page as u64),
            };
            let (file, pages) = volume.pick();
            let there = pages * volume.page as u64;
            let Full { fs, files, page, rng } = &mut volume;
            let stays = rng.below(2) == 0 || growing.is_none();
            let offset = match rng.below(3) {
                _ if !stays => rng.below(8 * bytes),
                // A short write that crosses into a second page.
                0 => (*page as u64).saturating_sub(1 + bytes / 2).min(there.saturating_sub(bytes)),
                _ => rng.below(there.saturating_sub(bytes).max(1)),
            };
            let bytes = if stays { bytes.min(there - offset) } else { bytes };
            let handle = growing.as_mut().filter(|_| !stays).unwrap_or(&mut files[file].0);
            let bound_ns = fs.bounds().sequence_ns(
                CallSequence::Write { file: handle, offset, bytes: bytes as u32 },
                &timing,
            );
            let before_ns = fs.flash().time_ns();
            let result = fs.write(handle, offset, &vec![0xA5; bytes as usize]);
            let write_ns = fs.flash().time_ns() - before_ns;
            assert!(
                write_ns <= bound_ns,
                "{bytes} bytes at {offset}, {result:?}: {write_ns} ns, the bound is {bound_ns}"
            );
            match result {
                Ok(()) => long += u32::from(bytes > 2 * *page as u64),
                Err(Error::NoSpace) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            if let Some(mut file) = growing.take_if(|_| result.is_err() || rng.below(8) == 0) {
                if rng.below(2) == 0 {
                    fs.truncate(&mut file, 0).expect("truncate");
                    growing = Some(file);
                } else {
                    fs.close(file).expect("close");
                    fs.remove("growing").expect("remove");
                    growing = fs.open("growing", OpenOptions::CREATE).ok();
                }
            }
            if rng.below(6) == 0 {
                fs.sync(steadyfs::CommitOn::SYNC).expect("sync");
            }
        }
        assert!(long > 20, "{long} writes of more than two pages, {refused} refused");
    });
}

/// The removed file's pages follow each other backwards, so that it has as many regions as an
/// index has entries. Each overwrite first frees a few of them.
#[test]
fn overwrites_stay_within_the_bound_of_their_row_while_a_removed_file_is_freed() {
    for (page_bytes, pages_per_block, leaving, count) in [(512, 32, 300, 80), (2048, 64, 400, 100)]
    {
        let geometry =
            Geometry { page_bytes, pages_per_block, block_count: 256, programs_bytes: false };
        let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
        let config = Config::for_geometry(&geometry);
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut fs =
            FileSystem::mount(Trace::new(chip), Access::ReadWrite, &mut memory).expect("mount");
        let (page, timing) = (fs.usage().logical_bytes as usize, fs.flash().timing());
        let mut file = fs.open("f", OpenOptions::DURABLE).expect("open");
        (0..64).for_each(|n| fs.write(&mut file, n * page as u64, &vec![1; page]).expect("write"));
        let mut removed = fs.open("v", OpenOptions::CREATE).expect("open");
        for n in (0..leaving).rev() {
            fs.write(&mut removed, n * page as u64, &vec![2; page]).expect("write");
        }
        fs.close(removed).expect("close");
        fs.commit().expect("commit");
        fs.remove("v").expect("remove");
        fs.commit().expect("commit");
        assert!(
            fs.pending_free_bytes().expect("leaving") >= leaving / 2 * page as u64,
            "nothing is left to be freed"
        );
        // Reads are slow and programs are quick, because the bound of a row left out reads.
        let slow = Timing { read_ns: 75_000, program_ns: 250_000, erase_ns: 2_000_000, ..timing };
        let bound_ns = fs.bounds().sequence_ns(CallSequence::Overwrites(count), &slow);
        assert!(fs.bounds().sequence_ns(CallSequence::Overwrites(0), &slow) <= bound_ns);
        let before = fs.flash().counts();
        (0..count).for_each(|n| {
            fs.write(&mut file, u64::from(n % 64) * page as u64, &vec![3; page]).expect("write")
        });
        let after = fs.flash().counts();
        let spent = Cost {
            reads: (after.reads - before.reads) as u32,
            tag_reads: (after.tag_reads - before.tag_reads) as u32,
            programs: (after.programs - before.programs) as u32,
            copies: 0,
            erases: (after.erases - before.erases) as u32,
            instructions: 0,
        };
        assert!(
            spent.time_ns(&slow) <= bound_ns,
            "{page_bytes} B: {spent:?} is {} ns, the bound {bound_ns}",
            spent.time_ns(&slow)
        );
    }
}

/// The bound of a write of several pages covered only one of them.
#[test]
fn the_bound_of_a_long_write_is_that_of_all_its_pages() {
    let chip =
        NorPages::new(Nor::with_geometry(4096, 256, NorTiming::ROUND, 1), page_bytes_for(4096));
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let mut fs =
        FileSystem::mount(Trace::new(chip), Access::ReadWrite, &mut memory).expect("mount");
    let timing = fs.flash().timing();
    let mut file = fs.open("f", OpenOptions::DURABLE).expect("open");
    let size = fs.usage().usable_bytes / 2;
    let (mut rng, mut above_one) = (Rng(1), 0);
    for round in 0..600u32 {
        let bytes = [4096, 1 + rng.below(6000) as u32][round as usize % 2];
        let at = if round < 120 { u64::from(round) * 4096 % size } else { rng.below(size - 6000) };
        let page = fs.usage().logical_bytes;
        let (one_ns, bound_ns) = (
            fs.bounds().of(Call::Write(page)).time_ns(&timing),
            fs.bounds().of(Call::Write(bytes)).time_ns(&timing),
        );
        let row_ns = fs
            .bounds()
            .sequence_ns(CallSequence::Write { file: &file, offset: at, bytes }, &timing);
        let before_ns = fs.flash().counts().time_ns;
        fs.write(&mut file, at, &vec![round as u8; bytes as usize]).expect("write");
        let write_ns = fs.flash().counts().time_ns - before_ns;
        assert!(
            write_ns <= bound_ns && write_ns <= row_ns,
            "{bytes} B: {write_ns} ns, told {bound_ns}, as a row {row_ns}"
        );
        above_one += u32::from(write_ns > one_ns);
    }
    assert!(above_one > 20, "{above_one} writes took longer than one page may");
}

/// Each call looked up sixteen pages that were already there. The bound did not cover these
/// look-ups.
#[test]
fn a_reservation_stays_within_its_bound_whatever_is_there() {
    on_full_volumes("a_reservation_stays_within_its_bound_whatever_is_there", |volume| {
        let Full { fs, page, mut rng, files } = volume;
        drop(files);
        let Ok(mut file) = fs.open("holes", OpenOptions::CREATE) else { return };
        for n in 0..40 {
            // Writes some pages out of order.
            let at = (n * 7 % 40) * 3 * page as u64;
            match bounded(fs, Call::Write(9), |fs| fs.write(&mut file, at, b"some page")) {
                Ok(()) => {}
                Err(Error::NoSpace) => break,
                Err(error) => panic!("{error}"),
            }
        }
        for _ in 0..40 {
            let (mut at, to) = (rng.below(120) * page as u64, 120 * page as u64);
            while at < to {
                match bounded(fs, Call::Write(65), |fs| fs.reserve(&mut file, at, to)) {
                    Ok(next) => {
                        assert!(next > at, "{next} is not behind {at}");
                        at = next;
                    }
                    Err(Error::NoSpace) => return,
                    Err(error) => panic!("{error}"),
                }
            }
            fs.truncate(&mut file, rng.below(120) * page as u64).expect("truncate");
        }
    });
}

#[test]
fn restart_without_a_write_costs_no_room_and_stays_within_its_bound() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        fill(&mut device, &mut Model::new(EXPLICIT), 90);
        let used = device.mount(Access::ReadWrite).expect("mount").usage().used_bytes;
        for _ in 0..300 {
            device.power_cycle();
            let fs = device
                .mount(Access::ReadWrite)
                .unwrap_or_else(|error| panic!("{}: {error}", shape.name));
            assert_eq!(fs.usage().used_bytes, used);
        }
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let mut file = fs.open("after", OpenOptions::DURABLE).expect("open");
        fs.write(&mut file, 0, b"still there is room").expect("write");
    }
}

#[test]
fn many_restarts_with_a_write_each_brick_nothing() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        fill(&mut device, &mut Model::new(EXPLICIT), 90);
        for round in 0..400 {
            let mut fs = device
                .mount(Access::ReadWrite)
                .unwrap_or_else(|error| panic!("{}: round {round}: {error}", shape.name));
            let mut file = fs.open("rest0", OpenOptions::DURABLE).expect("open");
            let data = vec![round as u8; shape.logical_bytes() as usize];
            fs.write(&mut file, 0, &data)
                .unwrap_or_else(|error| panic!("{}: round {round}: {error}", shape.name));
            device.power_cycle();
        }
    }
}

/// A bound, such as 719 ms for an append of 32 bytes on NOR, came without an explanation. Its
/// parts explain it.
#[test]
fn parts_say_what_a_bound_is_made_of() {
    let chip = NorPages::new(Nor::with_geometry(65_536, 32, NorTiming::ROUND, 1), 512);
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
    let timing = fs.flash().timing();
    let (append, opening) = (Call::Write(32), fs.bounds().breakdown(Call::Write(32), 0, &timing));
    // The first change after a mount writes a root, and may have to erase the root's block first.
    // The root that ends the use of the volume needs more programs: it has a copy of the journal
    // beside it.
    assert!(opening.erase.erases >= 1 && opening.root.programs > 0, "{opening:?}");
    assert!(opening.root.programs < fs.bounds().unmount().programs, "{opening:?}");
    let mut log = fs.open("log", OpenOptions::DURABLE).expect("open");
    fs.append(&mut log, &[0; 32]).expect("append");
    let empty = fs.bounds().breakdown(append, 0, &timing);
    assert_eq!(empty.failures, Cost::default());
    assert!(
        empty.root.plus(&empty.erase).time_ns(&timing)
            < opening.root.plus(&opening.erase).time_ns(&timing)
    );
    for failures in 1..4 {
        let parts = fs.bounds().breakdown(append, failures, &timing);
        assert!(
            parts.failures.erases > failures && parts.failures.programs > failures,
            "{parts:?}"
        );
        assert_eq!(parts.call, empty.call);
    }
    // A full journal buffer must be written to make room. A read has one part only.
    let mut sparse = fs.open("sparse", OpenOptions::CREATE).expect("open");
    for page in 0..40 {
        fs.write(&mut sparse, page * 4096, &[page as u8; 100]).expect("write");
    }
    let full = fs.bounds().breakdown(append, 0, &timing);
    assert!(full.earlier.programs > 0, "{full:?}");
    let reading = fs.bounds().breakdown(Call::Read(4096), 2, &timing);
    assert!(reading.call.reads > 8 && reading.total() == reading.call, "{reading:?}");
    for (name, cost) in full.each() {
        println!("{name}: {cost:?}, {} us", cost.time_ns(&timing) / 1000);
    }
}

/// A single step read the whole chain of the journal: 205 reads for a budget of 16.
#[test]
fn scrubbing_reads_no_more_than_its_budget() {
    for (block_bytes, blocks) in [(4096, 256), (16_384, 64), (65_536, 32)] {
        let chip = NorPages::new(
            Nor::with_geometry(block_bytes, blocks, NorTiming::ROUND, 1),
            page_bytes_for(block_bytes),
        );
        let config = Config::for_geometry(&chip.geometry());
        let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
        let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
        let mut fs =
            FileSystem::mount(Trace::new(chip), Access::ReadWrite, &mut memory).expect("mount");
        let mut log = fs.open("log", OpenOptions::DURABLE).expect("open");
        let mut rounds = 0;
        for n in 0..2000 {
            fs.write(&mut log, u64::from(n) * 37 % 9000, &[n as u8; 50]).expect("write");
            let (budget, before) = (n % 60, fs.flash().counts());
            rounds += u32::from(fs.scrub(Budget::Operations(budget)).expect("scrub"));
            let after = fs.flash().counts();
            let reads = after.reads + after.tag_reads - before.reads - before.tag_reads;
            assert!(reads <= budget.into(), "{block_bytes} B: {reads} reads for {budget}");
        }
        assert!(rounds > 2, "{block_bytes} B: {rounds} rounds");
    }
}

/// The bound is computed for any argument, without a panic.
#[test]
fn bounds_of_the_largest_arguments_are_told() {
    let chip = NorPages::new(Nor::with_geometry(65_536, 32, NorTiming::ROUND, 1), 512);
    let config = Config::for_geometry(&chip.geometry());
    let mut memory = vec![0; config.memory_bytes(&chip.geometry())];
    let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
    let timing = fs.flash().timing();
    let most = u32::MAX;
    let calls = [
        Call::Write(most),
        Call::WriteLarge(most),
        Call::WriteInline(most),
        Call::Read(most),
        Call::Open { depth: most },
        Call::Create { depth: most },
        Call::Remove { depth: most },
        Call::Rename { depth: most },
        Call::Exchange { depth: most },
        Call::Symlink { depth: most, bytes: most },
    ];
    for call in calls {
        let bound = fs.bounds().of(call);
        assert!(bound.most().reads > 0, "{call:?}");
        assert!(
            fs.bounds().with_failures(call, most).time_ns(&timing) >= bound.time_ns(&timing),
            "{call:?}"
        );
        let _ = fs.bounds().envelopes(call, &timing);
    }
}
