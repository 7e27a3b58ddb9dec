//! Tests room: the room that a volume reports is there, after any creations and removals.

use crate::common::{Device, Rng, SHAPES, Shape, bounded, for_seeds};
use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, Call, Config, Error, File, FileSystem, OpenOptions, ROOT};
use steadyfs_sim::{Nand, NandTiming};

/// The last page of the file table may have fewer inodes than others, with bits of data behind
/// them. It counted as full when it was empty, and as present when it was not.
#[test]
fn the_last_page_of_the_file_table_is_counted_as_it_is() {
    let geometry =
        Geometry { page_bytes: 1024, pages_per_block: 48, block_count: 64, programs_bytes: false };
    for (pages_per_logical_page, files_max) in
        [(8, 33), (8, 40), (8, 100), (8, 48), (4, 40), (1, 20)]
    {
        let config =
            Config { pages_per_logical_page, files_max, ..Config::for_geometry(&geometry) };
        let mut chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1);
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        FileSystem::format(&mut chip, &config, &mut memory).expect("format");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let empty = fs.usage().used_bytes;
        for number in 0..files_max - 1 {
            let file = fs.open(format!("f{number}").as_str(), OpenOptions::DURABLE).expect("open");
            fs.close(file).expect("close");
        }
        let full = fs.usage().used_bytes;
        fs.unmount().expect("unmount");
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(
            fs.usage().used_bytes,
            full,
            "{pages_per_logical_page} pages, {files_max} files: full"
        );
        for number in 0..files_max - 1 {
            fs.remove(format!("f{number}").as_str()).expect("remove");
        }
        fs.commit().expect("commit");
        let used = fs.usage().used_bytes;
        fs.unmount().expect("unmount");
        let fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        assert_eq!(
            fs.usage().used_bytes,
            used,
            "{pages_per_logical_page} pages, {files_max} files: all removed"
        );
        // A page of the first directory stays.
        assert!(
            used <= empty + u64::from(fs.usage().logical_bytes),
            "{pages_per_logical_page} pages, {files_max} files: {used} of {empty} bytes"
        );
    }
}

/// Pages of the file table without any file were still written.
#[test]
fn removed_files_leave_the_room_that_the_volume_says() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let mut names = Vec::new();
        for number in 0.. {
            match fs.open(format!("f{number}").as_str(), OpenOptions::DURABLE) {
                Ok(file) => fs.close(file).expect("close"),
                Err(Error::TooManyFiles | Error::NoSpace) => break,
                Err(error) => panic!("{}: {error}", shape.name),
            }
            names.push(format!("f{number}"));
        }
        for name in &names {
            fs.remove(name.as_str()).expect("remove");
            fs.commit().expect("commit");
        }
        fs.unmount().expect("unmount");
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let page = shape.logical_bytes() as usize;
        let usage = fs.usage();
        let mut file = fs.open("data", OpenOptions::DURABLE).expect("open");
        let mut pages = 0;
        loop {
            match fs.append(&mut file, &vec![pages as u8; page]) {
                Ok(()) => pages += 1,
                Err(Error::NoSpace) => break,
                Err(error) => panic!("{}: page {pages}, {usage:?}: {error}", shape.name),
            }
        }
        assert!(
            pages * page as u64 >= usage.usable_bytes * 9 / 10,
            "{}: {pages} pages of {usage:?}",
            shape.name
        );
        let mut rng = Rng(3);
        for round in 0..6 * pages {
            let at = rng.below(pages) * page as u64;
            let result = fs.write(&mut file, at, &vec![round as u8; page]);
            result.unwrap_or_else(|error| panic!("{}: round {round}: {error}", shape.name));
        }
        // The room of a removed file is free for any writer, and counted.
        let total = fs.usage().usable_bytes;
        assert_eq!(fs.pending_free_bytes(), Ok(0), "{}", shape.name);
        assert!(fs.allocated(file.inode()).expect("allocated") >= pages * page as u64);
        fs.close(file).expect("close");
        fs.remove("data").expect("remove");
        fs.commit().expect("commit");
        let free = total - fs.usage().used_bytes + fs.pending_free_bytes().expect("leaving");
        assert!(
            free >= pages * page as u64,
            "{}: {free} bytes free, {pages} pages were written",
            shape.name
        );
        let mut file = fs.open("again", OpenOptions::DURABLE).expect("open");
        let available = fs.available().expect("available");
        assert!(available > 0 && available < free, "{}: {available} of {free} bytes", shape.name);
        // The reported room is there, in any distribution of the free pages.
        for round in 0..available / page as u64 {
            let result = fs.append(&mut file, &vec![round as u8; page]);
            result.unwrap_or_else(|error| panic!("{}: page {round} again: {error}", shape.name));
        }
        assert_eq!(fs.usage().usable_bytes, total, "the total stays");
    }
}

/// Returns true if a call was refused because the volume is full.
fn is_full<T>(result: Result<T, Error>, at: &str) -> bool {
    match result {
        Ok(_) => false,
        Err(Error::NoSpace | Error::TooManyFiles) => true,
        Err(error) => panic!("{at}: {error}"),
    }
}

/// An extension of an inode took a page of the file table also on a full volume. The volume then
/// had more pages than it has room for.
#[test]
fn attributes_and_long_names_of_a_full_volume_find_no_room() {
    for shape in &SHAPES {
        let mut device = shape.device(1);
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let page = shape.logical_bytes() as usize;
        let files_max = shape.config().files_max.min(400);
        let mut names = Vec::new();
        for number in 0..files_max / 3 {
            let name = format!("f{number}");
            let result =
                fs.open(name.as_str(), OpenOptions::DURABLE).and_then(|file| fs.close(file));
            if is_full(result, shape.name) {
                break;
            }
            names.push(name);
        }
        let mut data = fs.open("f0", OpenOptions::DURABLE).expect("open");
        while !is_full(fs.append(&mut data, &vec![7; page]), shape.name) {}
        let (mut refused, mut done) = (0, 0);
        for (number, name) in names.iter().enumerate() {
            let result = match number % 3 {
                0 => fs.set_attribute(name.as_str(), "key", Some(&[number as u8; 60])),
                1 => fs.rename(name.as_str(), format!("{name}{}", "-long".repeat(20)).as_str()),
                _ => fs.set_modified(name.as_str(), 5),
            };
            let was_refused = is_full(result, shape.name);
            (refused, done) =
                (refused + usize::from(was_refused), done + usize::from(!was_refused));
            fs.commit().expect("commit");
        }
        // The times of modification need no room. One page of the file table may have free inodes.
        let (times, inodes) = (names.len() / 3 + 1, page / 128);
        assert!(done <= times + inodes, "{}: {done} done, {refused} refused", shape.name);
        let pages = fs.size(&mut data).expect("size") / page as u64;
        for round in 0..3 * pages {
            fs.write(&mut data, round % pages * page as u64, &vec![9; page])
                .unwrap_or_else(|error| panic!("{}: {round}: {error}", shape.name));
        }
        fs.commit().expect("commit");
    }
}

/// Files that come and go on a full volume.
struct Tenants<'s> {
    shape: &'s Shape,
    rng: Rng,
    names: Vec<String>,
    made: u32,
    /// Number of files that were removed, or closed after a removal, since the volume was full.
    removed: u64,
}

impl Tenants<'_> {
    /// Makes the name of a new file.
    fn name(&mut self) -> String {
        self.made += 1;
        self.names.push(format!("f{}", self.made));
        format!("f{}", self.made)
    }

    /// Writes files of up to 30 pages until the volume is full.
    fn fill<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>) {
        loop {
            let bytes = 145 + self.rng.below(30 * self.shape.logical_bytes());
            let name = self.name();
            let result = fs.open(name.as_str(), OpenOptions::CREATE).and_then(|mut file| {
                let written = fs.append(&mut file, &vec![1; bytes as usize]);
                fs.close(file).and(written)
            });
            match result {
                Ok(()) => {}
                Err(Error::NoSpace | Error::TooManyFiles) => break,
                Err(error) => panic!("{}: {name}: {error}", self.shape.name),
            }
        }
        self.names.retain(|name| fs.stat(name.as_str()).is_ok());
        self.removed = 0;
    }

    /// Removes some files. Some of them are open and stay open.
    fn remove_some<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, open: &mut Vec<File>) {
        for _ in 0..1 + self.rng.below(4) {
            if self.names.is_empty() {
                return;
            }
            let name = self.names.swap_remove(self.rng.below(self.names.len() as u64) as usize);
            if self.rng.one_in(3) && open.len() < 5 {
                open.push(fs.open(name.as_str(), OpenOptions::READ).expect("open"));
            }
            fs.remove(name.as_str()).expect("remove");
            self.removed += 1;
            if self.rng.one_in(2) {
                fs.commit().expect("commit");
            }
        }
    }

    /// Opens an existing file, or a new one.
    fn some_file<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>) -> File {
        let is_new = self.names.is_empty() || self.rng.one_in(2);
        let name = if is_new {
            self.name()
        } else {
            self.names[self.rng.below(self.names.len() as u64) as usize].clone()
        };
        fs.open(name.as_str(), OpenOptions::CREATE).expect("open")
    }

    /// Compares the room that the volume reports with the room that writes find.
    fn find_room<F: Flash>(&mut self, fs: &mut FileSystem<'_, F>, open: &[File]) {
        let (free, available) =
            (fs.free_bytes().expect("free"), fs.available().expect("available"));
        let page = self.shape.logical_bytes();
        let at = format!(
            "{}: {free} bytes free, {available} available, {} files open",
            self.shape.name,
            open.len()
        );
        assert!(available <= free && free.is_multiple_of(page), "{at}");
        if available > 0 && self.rng.one_in(2) {
            let bytes = if self.rng.one_in(2) { available } else { 1 + self.rng.below(available) };
            let mut file = self.some_file(fs);
            fs.append(&mut file, &vec![2; bytes as usize])
                .unwrap_or_else(|error| panic!("{at}: a write of {bytes}: {error}"));
            fs.close(file).expect("close");
            return;
        }
        let Some(name) = self.names.first() else { return };
        let mut file = fs.open(name.as_str(), OpenOptions::WRITE).expect("open");
        let mut found = 0;
        loop {
            match fs.append(&mut file, &vec![3; page as usize]) {
                Ok(()) => found += page,
                Err(Error::NoSpace) => break,
                Err(error) => panic!("{at}: {error}"),
            }
        }
        fs.close(file).expect("close");
        // Each removed file may have been the last one of a page of the file table.
        assert!(
            found <= free + self.removed * page && (found == 0 || free > 0),
            "{at}: writes found {found}"
        );
        assert!(found >= available, "{at}: writes found {found}");
    }
}

/// After a power cut, files that had been removed while they were open were not counted as free.
/// But a write found their room.
#[test]
fn room_that_is_reported_is_what_writes_find() {
    for_seeds("space", "room_that_is_reported_is_what_writes_find", 12, |seed| {
        let shape = &SHAPES[seed as usize % SHAPES.len()];
        let mut tenants = Tenants { shape, rng: Rng(seed), names: Vec::new(), made: 0, removed: 0 };
        let mut device: Device = shape.device(seed);
        for life in 0..3 {
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            let mut open = Vec::new();
            tenants.names.retain(|name| fs.stat(name.as_str()).is_ok());
            if life > 0 {
                tenants.find_room(&mut fs, &open);
            }
            for _ in 0..8 {
                tenants.fill(&mut fs);
                fs.commit().expect("commit");
                tenants.remove_some(&mut fs, &mut open);
                while tenants.rng.one_in(2) {
                    let Some(file) = open.pop() else { break };
                    fs.close(file).expect("close");
                    tenants.removed += 1;
                }
                tenants.find_room(&mut fs, &open);
            }
            tenants.fill(&mut fs);
            tenants.remove_some(&mut fs, &mut open);
            fs.commit().expect("commit");
            // The end of the mount closes the other files.
            tenants.removed += open.len() as u64;
            if tenants.rng.one_in(2) {
                fs.unmount().expect("unmount");
            }
        }
    });
}

/// Files with holes, and files whose pages are in any order, are truncated and removed. A step of
/// the trim list clears several entries of an index together: it frees all pages of the file, no
/// page of another file, and stays within its bound. Power may fail between the steps, and programs
/// in them.
#[test]
fn pages_in_any_order_and_with_holes_are_freed() {
    for_seeds("space", "pages_in_any_order_and_with_holes_are_freed", 40, |seed| {
        let (mut rng, shape) = (Rng(seed + 1), &SHAPES[seed as usize % SHAPES.len()]);
        let mut device = shape.device(seed);
        let page = shape.logical_bytes();
        let mut fs = device.mount(Access::ReadWrite).expect("mount");
        let used = fs.usage().used_bytes;
        // The pages of both files lie among each other.
        let mut kept = fs.open("kept", OpenOptions::DURABLE).expect("create");
        let mut file = fs.open("file", OpenOptions::DURABLE).expect("create");
        let pages = 10 + rng.below(30);
        let numbers: Vec<u64> = (0..pages).map(|_| rng.below(2 * pages)).collect();
        let mut order = numbers.clone();
        match rng.below(3) {
            0 => order.sort_unstable(),
            1 => order.sort_unstable_by(|one, other| other.cmp(one)),
            _ => {}
        }
        for &number in &order {
            fs.write(&mut file, number * page, &vec![7; page as usize]).expect("write");
            if rng.one_in(2) {
                fs.write(&mut kept, number * page, &vec![9; page as usize]).expect("write");
            }
        }
        let end = rng.below(2 * pages * page);
        if rng.one_in(2) {
            bounded(&mut fs, Call::Truncate, |fs| fs.truncate(&mut file, end)).expect("truncate");
        }
        fs.close(file).expect("close");
        bounded(&mut fs, Call::Remove { depth: 1 }, |fs| fs.remove("file")).expect("remove");
        fs.close(kept).expect("close");
        fs.commit().expect("commit");
        for round in 0..pages + 40 {
            if rng.one_in(9) {
                // The old volume is not unmounted.
                fs = device.mount(Access::ReadWrite).expect("mount");
            }
            if round < 2 && seed % 3 == 0 {
                fs.flash_mut().inner_mut().inner_mut().fail_program(1 + rng.below(4));
            }
            let value = [round as u8];
            bounded(&mut fs, Call::SetAttribute, |fs| fs.set_attribute(ROOT, "k", Some(&value)))
                .expect("attribute");
            fs.commit().expect("commit");
        }
        let mut kept = fs.open("kept", OpenOptions::READ).expect("open");
        let there = fs.allocated(kept.inode()).expect("allocated");
        let left = fs.usage().used_bytes.saturating_sub(used + there);
        // Two pages for the indexes of `kept`, one for attributes.
        assert!(left <= 3 * page, "{}: {left} bytes left, pages {order:?}, {end}", shape.name);
        let mut content = vec![0; (fs.size(&mut kept).expect("size")) as usize];
        fs.read(&mut kept, 0, &mut content).expect("read");
        assert!(content.chunks(page as usize).all(|page| page.iter().all(|&byte| byte == page[0])));
        let mut scratch = vec![0; 1 << 16];
        fs.check(&mut scratch, false, &mut |finding| panic!("{}: {finding:?}", shape.name))
            .expect("check");
    });
}
