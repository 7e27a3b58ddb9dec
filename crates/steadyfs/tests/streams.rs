//! Tests streams with three jobs. Each job rewrites an area of its own again and again, at its
//! own rate. So the newest data of one job dies long before the data of another. Reclamation
//! moves less if each job has its own blocks.

use steadyfs::disk::{Disk, DiskCall, SECTOR_BYTES, WriteOptions};
use steadyfs::media::Geometry;
use steadyfs::{Access, Bound, Config, ConfigError, FileSystem, OpenOptions};
use steadyfs_lab::model::cost;
use steadyfs_sim::{Counters, Metered, Nand, NandTiming};

/// A small eMMC has as many superblocks as this chip has blocks.
const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 32, block_count: 256, programs_bytes: false };

/// The share of each job in the pages, in 812 parts.
const SHARES: [u32; 3] = [20, 110, 682];

fn config(streams: u8, moved_apart: bool) -> Config {
    Config { streams, moved_apart, ..Config::for_disk(&GEOMETRY) }
}

/// Three streams that the disk finds by itself.
fn automatic(moved_apart: bool) -> Config {
    Config { auto_streams: true, ..config(3, moved_apart) }
}

/// A disk whose first pages are written.
struct Run<'m> {
    disk: Disk<'m, Nand>,
    /// First page of each job's area, and the end of the last area.
    areas: [u32; 4],
    cursors: [u32; 3],
    seed: u64,
}

impl<'m> Run<'m> {
    fn new(config: &Config, memory: &'m mut Vec<u8>, percent: u32, seed: u64) -> Self {
        *memory = vec![0; config.memory_bytes(&GEOMETRY)];
        let chip = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
        let chip = Disk::format(chip, config, memory).expect("a sound chip");
        let disk = Disk::mount(chip, Access::ReadWrite, memory).expect("what was formatted");
        let pages = disk.sectors() / disk.page_sectors() / 100 * percent;
        let areas = [0, pages * SHARES[0] / 812, pages * (SHARES[0] + SHARES[1]) / 812, pages];
        let mut run = Self { disk, areas, cursors: [0; 3], seed };
        (0..pages).for_each(|page| run.write(page));
        run
    }

    fn job_of(&self, page: u32) -> usize {
        (1..3).filter(|&job| page >= self.areas[job]).count()
    }

    fn below(&mut self, most: u32) -> u32 {
        self.seed =
            self.seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        ((self.seed >> 33) % u64::from(most)) as u32
    }

    /// Writes a page, and checks the call's bound.
    fn write(&mut self, page: u32) {
        let options = WriteOptions { durable: true, stream: self.job_of(page) as u8 };
        let data = vec![page as u8; (self.disk.page_sectors() * SECTOR_BYTES) as usize];
        let bound: Bound = self.disk.bound(DiskCall::WriteDurable(data.len() as u32));
        let before = self.disk.flash().counters();
        self.disk
            .write_with(page * self.disk.page_sectors(), &data, options)
            .expect("a sound chip");
        let cost = cost(&self.disk.flash().counters().since(&before));
        assert!(bound.holds(&cost), "{cost:?} within {bound:?}");
    }

    /// Makes `writes` writes by jobs chosen at random. A job writes the next page of its area, or
    /// a random page. Returns the number of moved frames for each write.
    fn moved_per_write(&mut self, writes: u32, in_order: bool) -> f64 {
        let before: Counters = self.disk.flash().counters();
        for _ in 0..writes {
            let job = self.below(3) as usize;
            let size = self.areas[job + 1] - self.areas[job];
            let at = if in_order { (self.cursors[job] + 1) % size } else { self.below(size) };
            self.cursors[job] = at;
            self.write(self.areas[job] + at);
        }
        let moved = self.disk.flash().counters().since(&before).copies
            / u64::from(self.disk.config().pages_per_logical_page);
        moved as f64 / f64::from(writes)
    }
}

/// Returns the number of moved frames for each written page, after the disk has been overwritten
/// several times.
fn moved_with(config: &Config, percent: u32, in_order: bool, seed: u64) -> f64 {
    let mut memory = Vec::new();
    let mut run = Run::new(config, &mut memory, percent, seed);
    let pages = run.areas[3];
    run.moved_per_write(8 * pages, in_order);
    run.moved_per_write(3 * pages, in_order)
}

fn moved(config: &Config, percent: u32, in_order: bool) -> f64 {
    moved_with(config, percent, in_order, 7)
}

#[test]
fn jobs_in_order_move_nothing_where_each_has_a_stream() {
    for (percent, least) in [(80, 0.25), (97, 0.6)] {
        let (one, given) =
            (moved(&config(1, false), percent, true), moved(&config(3, false), percent, true));
        assert!(
            one > least,
            "at {percent} % one stream moves {one:.3} frames a page, so there is something to be \
             won"
        );
        assert!(given <= 0.02, "at {percent} % three streams move {given:.3}, one {one:.3}");
    }
}

#[test]
fn jobs_at_random_move_less_where_moved_pages_keep_apart() {
    for (percent, share) in [(80, 0.9), (90, 0.85)] {
        // The result on one volume is a matter of chance, so the test takes the mean of four.
        let mean = |config: &Config| {
            (0..4).map(|seed| 1.0 + moved_with(config, percent, false, seed)).sum::<f64>() / 4.0
        };
        let [one, apart] = [mean(&config(1, false)), mean(&config(3, true))];
        assert!(
            apart <= share * one,
            "at {percent} % the amplification is {apart:.2} with streams kept apart, {one:.2} with \
             one"
        );
    }
}

#[test]
fn the_disk_finds_streams_by_itself() {
    for percent in [80, 90] {
        for apart in [false, true] {
            let found = moved(&automatic(apart), percent, true);
            assert!(
                found <= 0.02,
                "in order at {percent} % three streams that were found move {found:.3} frames a \
                 page"
            );
        }
    }
    for (percent, share) in [(80, 0.9), (90, 0.9)] {
        let [one, found] =
            [config(1, false), automatic(true)].map(|config| 1.0 + moved(&config, percent, false));
        assert!(
            found <= share * one,
            "at random at {percent} % the amplification is {found:.2} with streams found, {one:.2} \
             with one"
        );
    }
}

/// The roots contain the learned lifetimes: a mount need not learn them again.
#[test]
fn a_mount_knows_the_lives_of_pages() {
    let config = automatic(false);
    let mut memory = Vec::new();
    let mut run = Run::new(&config, &mut memory, 80, 7);
    let pages = run.areas[3];
    run.moved_per_write(8 * pages, true);
    let Run { disk, areas, cursors, seed } = run;
    let chip = disk.unmount().expect("a sound chip");
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let disk = Disk::mount(chip, Access::ReadWrite, &mut memory).expect("what was unmounted");
    let mut run = Run { disk, areas, cursors, seed };
    let streams =
        |run: &Run<'_>| run.disk.describe().streams.map(|head| head.map(|(block, _)| block));
    let before = streams(&run);
    for (job, stream) in [(1, 0), (2, 1)] {
        let page = run.areas[job] + run.cursors[job];
        run.write(page);
        let after = streams(&run);
        assert_ne!(
            after[stream],
            None,
            "job {job} goes on in a block of stream {}, {before:?} before",
            stream + 1
        );
    }
    let moved = run.moved_per_write(pages, true);
    assert!(moved <= 0.02, "{moved:.3} frames a page moved after a mount");
}

#[test]
fn a_full_disk_with_streams_writes_no_more_than_one_without() {
    for in_order in [true, false] {
        let (one, joined) =
            (moved(&config(1, false), 100, in_order), moved(&config(4, false), 100, in_order));
        assert!(joined <= 1.02 * one, "four streams move {joined:.3} frames a page, one {one:.3}");
    }
}

#[test]
fn a_file_keeps_the_stream_that_it_was_created_with() {
    let config = Config { files_max: 40, ..config(3, false) };
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let chip = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    let chip = FileSystem::format(chip, &config, &mut memory).expect("a sound chip");
    let mut fs =
        FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("what was formatted");
    let page = vec![
        1;
        fs.describe().geometry.page_bytes as usize
            * usize::from(config.pages_per_logical_page)
    ];
    let streams =
        |fs: &FileSystem<'_, Nand>| fs.describe().streams.map(|head| head.map(|(_, next)| next));

    let file = fs.open("log", OpenOptions { stream: 1, ..OpenOptions::CREATE }).expect("room");
    fs.close(file).expect("a sound chip");
    assert_eq!(streams(&fs), [None; 3]);
    let mut file = fs.open("log", OpenOptions::WRITE).expect("it is there");
    assert_eq!(file.stream(), 1);
    fs.write(&mut file, 0, &page).expect("room");
    assert_eq!(
        streams(&fs),
        [Some(1), None, None],
        "the page of the file begins a block of stream 1"
    );
    fs.close(file).expect("a sound chip");

    // If the volume does not have a stream, it uses its last one.
    let mut file =
        fs.open("media", OpenOptions { stream: 200, ..OpenOptions::CREATE }).expect("room");
    fs.write(&mut file, 0, &page).expect("room");
    assert_eq!(streams(&fs), [Some(1), Some(1), None]);
    fs.close(file).expect("a sound chip");
}

#[test]
fn settings_with_streams_are_checked_and_cost_little_ram() {
    let bytes = |streams, moved_apart| config(streams, moved_apart).memory_bytes(&GEOMETRY);
    assert_eq!(bytes(4, true), bytes(4, false));
    assert_eq!(automatic(true).memory_bytes(&GEOMETRY) - bytes(3, true), 772);
    let auto_streams = true;
    assert_eq!(
        Config { auto_streams, ..config(1, false) }.memory_bytes(&GEOMETRY),
        bytes(1, false),
        "one stream needs none of it"
    );
    assert!(
        bytes(4, false) - bytes(1, false) <= 108,
        "{} bytes for three streams",
        bytes(4, false) - bytes(1, false)
    );
    for streams in [0, 5] {
        assert_eq!(config(streams, false).check(&GEOMETRY), Err(ConfigError::Streams));
    }
}

/// A tag has 22 bits for the position of a page in its transaction, and a transaction may have
/// more programs.
#[test]
fn a_transaction_of_millions_of_programs_is_found_at_a_mount() {
    let geometry =
        Geometry { page_bytes: 256, pages_per_block: 64, block_count: 64, programs_bytes: false };
    let config = Config { pages_per_logical_page: 2, ..Config::for_disk(&geometry) };
    let mut memory = vec![0; config.memory_bytes(&geometry)];
    let chip =
        Disk::format(Nand::with_geometry(geometry, NandTiming::ROUND, 1), &config, &mut memory)
            .expect("a sound chip");
    let mut disk = Disk::mount(chip, Access::ReadWrite, &mut memory).expect("what was formatted");
    disk.write(1, &[7; 512]).expect("room");
    let begin = disk.flash().counters().programs;
    while disk.flash().counters().programs - begin < (1 << 22) + 5000 {
        disk.write(0, &[3; 512]).expect("room");
    }
    disk.flush().expect("a sound chip");
    let chip = disk.flash().clone();
    drop(disk);
    let mut disk =
        Disk::mount(chip, Access::ReadWrite, &mut memory).expect("a commit is the last record");
    assert_eq!(disk.damage(), None);
    for (sector, byte) in [(0, 3), (1, 7)] {
        let mut found = [0; 512];
        disk.read(sector, &mut found).expect("it is there");
        assert_eq!(found, [byte; 512]);
    }
}
