//! All calls that a user makes on a volume. Any result is accepted.
//!
//! The step budgets are multiples of the pages of the medium, four times the need of random
//! inputs. They find calls that do not end, and calls whose work is a product of sizes that a
//! hostile volume chooses.

use std::collections::HashSet;

use steadyfs::media::{BlockIndex, Flash, Geometry, Timing};
use steadyfs::{
    Access, BlockInfo, Budget, Call, CleanReader, CommitOn, Config, Cursor, Description, Entry,
    Error, File, FileSystem, InodeNumber, Kind, MountError, OPEN_FILE_BYTES, OpenOptions,
    Permissions, ROOT, Reader, SeekTo,
};

use crate::choices::Choices;
use crate::medium::Guarded;

/// Operations that a call may make for each page of the medium.
pub(crate) const CALL: u64 = 8;
/// Operations for each page of the medium. `COUNT` is for a count of pages, which may read each
/// page. `SEEK` is for a search for holes in a file whose stored size is far larger than the
/// medium.
const COUNT: u64 = 64;
const SEEK: u64 = 4096;
/// Operations that a mount may make for each page. On media that program bytes, several searches
/// read each unreadable place of a chain's block three times. That makes 25 for each page of such
/// a small medium.
pub(crate) const MOUNT: u64 = 100;
/// Operations that a check may make for each page: each page is read through the map, and again
/// for each list and each reference.
const CHECK: u64 = 64;
/// Most entries of a walk, and of a directory in it.
const ENTRIES_MAX: usize = 120;
/// Most files that are held open at once.
const OPEN_MAX: usize = 6;
/// Number of findings of a check that are also written as text.
const TEXTS_MAX: u32 = 100;
/// Most RAM that a volume on a tiny medium may request.
const MEMORY_MAX: usize = 1 << 20;
/// Bytes on both sides of the lent memory that must stay as they are.
const CANARY: [u8; 64] = [0xC5; 64];

type Fs<'m, 'f, F> = FileSystem<'m, Guarded<&'f mut F>>;

/// Returns the bytes of RAM that the volume on a medium and 8 open files need.
///
/// The function mounts with a buffer of one page, as tools do. The mount computes the need from the
/// superblock, and returns it in [`MountError::MemoryTooSmall`].
///
/// # Errors
/// Any other error of the mount.
pub fn memory_for(flash: &mut impl Flash) -> Result<usize, MountError> {
    let geometry = flash.geometry();
    let mount = |memory: &mut [u8]| {
        FileSystem::mount(guarded(flash, Access::ReadOnly), Access::ReadOnly, memory).map(drop)
    };
    memory_asked(geometry, mount).map(|bytes| bytes + 8 * OPEN_FILE_BYTES)
}

/// Returns the bytes that a mount requests.
pub(crate) fn memory_asked(
    geometry: Geometry,
    mount: impl FnOnce(&mut [u8]) -> Result<(), MountError>,
) -> Result<usize, MountError> {
    let mut page = vec![0; geometry.page_bytes as usize];
    match mount(&mut page) {
        Ok(()) => Ok(page.len()),
        Err(MountError::MemoryTooSmall { needed, .. }) => {
            assert!(needed <= MEMORY_MAX, "a tiny volume asks for {needed} bytes of RAM");
            Ok(needed)
        }
        Err(error) => Err(error),
    }
}

/// Lends `bytes` out of the middle of a larger buffer, whose ends must stay as they are.
///
/// The core forbids `unsafe`, so that nothing in it can write there. This function checks that,
/// also for the code that the core calls.
pub(crate) fn lend<R>(bytes: usize, act: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut buffer = [&CANARY[..], &vec![0xA5; bytes], &CANARY].concat();
    let result = act(&mut buffer[CANARY.len()..CANARY.len() + bytes]);
    assert!(
        buffer.starts_with(&CANARY) && buffer.ends_with(&CANARY),
        "RAM beyond the {bytes} bytes that were lent was written"
    );
    result
}

/// Reads everything on a medium in every way, changes it as `choices` decide, unmounts, mounts
/// again, and reads everything again.
///
/// The first choice omits parts of the sequence, so that a fuzzer finds inputs that take less
/// time.
pub fn exercise<F: Flash>(flash: &mut F, mut choices: Choices<'_>) {
    let without = choices.byte();
    if without & 1 == 0 {
        read_only(flash, &mut choices);
    }
    if let Ok(bytes) = memory_for(flash) {
        lend(bytes, |memory| change(flash, memory, &mut choices));
    }
    if without & 2 != 0 {
        return;
    }
    if let Ok(bytes) = memory_for(flash) {
        lend(bytes, |memory| {
            if let Ok(mut fs) = mount(flash, Access::ReadWrite, memory) {
                read_everything(&mut fs);
                repair(&mut fs);
                check(&mut fs, true);
                check(&mut fs, false);
                let _ = granted(&mut fs, CALL).sync(CommitOn::SYNC);
            }
        });
    }
}

/// Uses a volume hard: frees removed files, and overwrites until each head has changed its block.
pub fn press<F: Flash>(flash: &mut F, choices: &mut Choices<'_>) {
    for round in 0..2 {
        let Ok(bytes) = memory_for(flash) else { return };
        lend(bytes, |memory| {
            let Ok(mut fs) = mount(flash, Access::ReadWrite, memory) else { return };
            if fs.damage().is_some() {
                repair(&mut fs);
            }
            fs.set_commit_on(*choices.of(&[CommitOn::EVERY_WRITE, CommitOn::ON_SYNC]));
            if choices.below(4) == 0 {
                let _ = granted(&mut fs, CALL).maintain(Budget::Operations(200), 0);
            }
            free_removed(&mut fs);
            overwrite(&mut fs, choices);
            if choices.below(8) == round {
                check(&mut fs, true);
            }
            if choices.below(3) == 0 {
                let found = read_everything(&mut fs);
                found.paths.iter().take(6).for_each(|path| {
                    let _ = granted(&mut fs, CALL).remove(path);
                });
                free_removed(&mut fs);
            }
            if choices.below(2) == 0 {
                let _ = granted(&mut fs, CALL).sync(CommitOn::SYNC);
                fs.flash_mut().grant(CALL);
                let _ = fs.unmount();
            }
        });
    }
}

/// Frees removed files. Each transaction that begins frees a few pages.
fn free_removed<F: Flash>(fs: &mut Fs<'_, '_, F>) {
    for round in 0..12 {
        let _ = granted(fs, CALL).set_modified(ROOT, round);
        let _ = granted(fs, CALL).commit();
    }
}

/// Overwrites two files, durably, until blocks are full and reclamation is at work.
fn overwrite<F: Flash>(fs: &mut Fs<'_, '_, F>, choices: &mut Choices<'_>) {
    let (page, fill) = (fs.usage().logical_bytes, choices.byte());
    for (path, stream) in [("pressed", 0), ("d/pressed", 1)] {
        let options = OpenOptions { stream, ..OpenOptions::DURABLE };
        let Ok(mut file) = granted(fs, CALL).open(path, options) else { continue };
        for round in 0..24u64 {
            let offset = round * 5 % 7 * u64::from(page) + u64::from(fill & 1) * 100;
            let bytes = if round % 3 == 0 { 20 } else { page as usize };
            let _ = granted(fs, CALL).write(&mut file, offset, &vec![fill; bytes]);
        }
        let _ = granted(fs, CALL).close(file);
    }
}

/// Reads everything on a medium without a change to it.
pub fn read_only<F: Flash>(flash: &mut F, choices: &mut Choices<'_>) {
    let geometry = flash.geometry();
    let clean =
        |memory: &mut [u8]| CleanReader::mount(guarded(flash, Access::ReadOnly), memory).map(drop);
    if let Ok(bytes) = memory_asked(geometry, clean) {
        lend(bytes, |memory| read_with_clean_reader(flash, memory, choices));
    }
    let Ok(bytes) = memory_for(flash) else { return };
    lend(bytes, |memory| read_with_reader(flash, memory, choices));
    lend(bytes, |memory| {
        if let Ok(mut fs) = mount(flash, Access::ReadOnly, memory) {
            read_everything(&mut fs);
            inspect(&fs);
            check(&mut fs, false);
            assert_ne!(
                granted(&mut fs, CALL).create_dir("new").map(drop),
                Ok(()),
                "a directory on a volume for reading only"
            );
        }
    });
}

pub(crate) fn guarded<F: Flash>(flash: &mut F, access: Access) -> Guarded<&mut F> {
    let guarded = Guarded::new(flash);
    let mut guarded = if access == Access::ReadOnly { guarded.read_only() } else { guarded };
    guarded.grant(MOUNT);
    guarded
}

fn mount<'m, 'f, F: Flash>(
    flash: &'f mut F,
    access: Access,
    memory: &'m mut [u8],
) -> Result<Fs<'m, 'f, F>, MountError> {
    FileSystem::mount(guarded(flash, access), access, memory)
}

/// Returns the volume with a budget for one call.
fn granted<'a, 'm, 'f, F: Flash>(
    fs: &'a mut Fs<'m, 'f, F>,
    per_page: u64,
) -> &'a mut Fs<'m, 'f, F> {
    fs.flash_mut().grant(per_page);
    fs
}

/// Names and inodes that were found on a volume.
struct Found {
    paths: Vec<String>,
    inodes: Vec<InodeNumber>,
}

/// Lists everything below the root. Enters a directory once, even if a damaged directory names it
/// twice. Asserts that no directory is listed within itself.
fn walk(mut list: impl FnMut(InodeNumber, &mut Cursor) -> Result<Option<Entry>, Error>) -> Found {
    let mut found = Found {
        paths: vec!["a2".into(), "new".into(), "d/e/new".into()],
        inodes: vec![ROOT, 1, 2],
    };
    let (mut waiting, mut seen) = (vec![(String::new(), ROOT, vec![ROOT])], HashSet::from([ROOT]));
    while let Some((path, directory, above)) = waiting.pop() {
        let mut cursor = Cursor::default();
        for _ in 0..ENTRIES_MAX {
            let before = cursor;
            let Ok(Some(entry)) = list(directory, &mut cursor) else { break };
            assert!(
                cursor.to_bits() > before.to_bits(),
                "a listing that does not go on has no end"
            );
            if found.paths.len() == ENTRIES_MAX {
                return found;
            }
            let path = format!("{path}{}", entry.name());
            assert!(
                !above.contains(&entry.stat.inode),
                "{path} is listed within itself: who follows names finds no end"
            );
            if entry.stat.kind == Kind::Directory && seen.insert(entry.stat.inode) {
                waiting.push((
                    format!("{path}/"),
                    entry.stat.inode,
                    [&above[..], &[entry.stat.inode]].concat(),
                ));
            }
            found.paths.push(path);
            found.inodes.push(entry.stat.inode);
        }
    }
    found
}

fn read_with_reader<F: Flash>(flash: &mut F, memory: &mut [u8], choices: &mut Choices<'_>) {
    let Ok(mut reader) = Reader::mount(guarded(flash, Access::ReadOnly), memory) else { return };
    let found = walk(|directory, cursor| reader.list(directory, cursor));
    let mut data = [0; 700];
    for path in &found.paths {
        if let Ok(mut file) = reader.open(path) {
            let size = reader.size(&mut file).unwrap_or(0);
            for offset in [0, size / 2, size.saturating_sub(1), choices.size()] {
                let _ = reader.read(&mut file, offset, &mut data);
            }
            reader.close(file);
        }
    }
    for inode in found.inodes {
        let _ = (
            reader.attribute(inode, "k", &mut data),
            reader.read_link(inode, &mut data),
            reader.permissions(inode),
        );
    }
    let _ = (reader.usage(), reader.damage(), reader.stat("d/e"));
    reader.unmount();
}

fn read_with_clean_reader<F: Flash>(flash: &mut F, memory: &mut [u8], choices: &mut Choices<'_>) {
    let Ok(mut reader) = CleanReader::mount(guarded(flash, Access::ReadOnly), memory) else {
        return;
    };
    let found = walk(|directory, cursor| reader.list(directory, cursor));
    let mut data = [0; 700];
    for path in &found.paths {
        if let Ok(mut file) = reader.open(path) {
            let size = reader.size(&file);
            for offset in [0, size / 2, size.saturating_sub(1), choices.size()] {
                let _ = reader.read(&mut file, offset, &mut data);
            }
            reader.close(file);
        }
    }
    let _ = reader.stat("d/e");
    reader.unmount();
}

/// Walks the tree and reads files, facts and attributes.
fn read_everything<F: Flash>(fs: &mut Fs<'_, '_, F>) -> Found {
    let found = walk(|directory, cursor| granted(fs, CALL).list(directory, cursor));
    let mut data = [0; 700];
    for (path, &inode) in found.paths.iter().zip(&found.inodes) {
        let _ = granted(fs, CALL).stat(path);
        if let Ok(mut file) = granted(fs, CALL).open(inode, OpenOptions::READ) {
            let size = granted(fs, CALL).size(&mut file).unwrap_or(0);
            assert!(
                size <= fs.size_max(),
                "{path:?} has {size} bytes: a reader of all of them would not end"
            );
            for offset in [0, size / 2, size.saturating_sub(1)] {
                let count = granted(fs, CALL).read(&mut file, offset, &mut data);
                assert!(
                    count.is_err()
                        || count.is_ok_and(|count| count as u64 <= size - offset.min(size))
                );
            }
            for part in [SeekTo::Data, SeekTo::Hole] {
                let at = granted(fs, SEEK).seek(&mut file, size / 3, part);
                assert!(
                    at.is_err()
                        || at.is_ok_and(|at| at.is_none_or(|at| (size / 3..=size).contains(&at)))
                );
            }
            let _ = granted(fs, CALL).close(file);
        }
    }
    let (usage, leaving) = (fs.usage(), granted(fs, COUNT).pending_free_bytes());
    assert!(leaving.is_err() || leaving.is_ok_and(|bytes| bytes <= usage.used_bytes));
    let (free, available) = (granted(fs, COUNT).free_bytes(), granted(fs, COUNT).available());
    for bytes in [free, available] {
        assert!(bytes.is_err() || bytes.is_ok_and(|bytes| bytes <= usage.usable_bytes));
    }
    for &inode in &found.inodes {
        let _ = granted(fs, CALL).stat(inode);
        let _ = granted(fs, COUNT).allocated(inode);
        let _ = granted(fs, CALL).attribute(inode, "k", &mut data);
        let _ = (granted(fs, CALL).read_link(inode, &mut data), fs.permissions(inode));
        let _ = granted(fs, CALL)
            .attributes(inode, |key, value| assert!(key.len() + value.len() <= 248));
    }
    found
}

/// Accepts the missing data. A volume with damage can only be read.
fn repair<F: Flash>(fs: &mut Fs<'_, '_, F>) {
    assert!(fs.damage().is_none() || fs.health().read_only, "{:?} and writable", fs.damage());
    let mut scratch = vec![0; fs.config().check_bytes(&fs.flash().geometry())];
    if granted(fs, MOUNT + CALL + CHECK).repair(&mut scratch, &mut |_| ()).is_ok() {
        assert_eq!(fs.damage(), None);
    }
}

/// Checks that every block has an info, and no other number has one.
pub(crate) fn blocks_are_known(
    description: &Description,
    block: impl Fn(BlockIndex) -> Option<BlockInfo>,
) {
    let block_count = description.geometry.block_count;
    assert!((0..=block_count).all(|index| block(index).is_some() == (index < block_count)));
}

/// Makes the calls that cost nothing.
fn inspect<F: Flash>(fs: &Fs<'_, '_, F>) {
    let (usage, description) = (fs.usage(), fs.describe());
    assert_eq!(usage.files_max, description.config.files_max);
    blocks_are_known(&description, |block| fs.block(block));
    let timing: Timing = fs.flash().timing();
    for call in [
        Call::Overwrite,
        Call::Write(100),
        Call::Truncate,
        Call::Create { depth: 2 },
        Call::Rename { depth: 3 },
    ] {
        fs.bounds().of(call).time_ns(&timing);
        fs.bounds().at_fill(call, 2).time_ns(&timing);
        fs.bounds().envelopes(call, &timing);
    }
    let _ = (fs.bounds().mount(), fs.bounds().clean_mount());
    let _ = (fs.health(), fs.config(), fs.commit_on(), fs.size_max(), fs.has_changes());
}

/// Verifies the volume, with too little memory and with enough.
fn check<F: Flash>(fs: &mut Fs<'_, '_, F>, repair: bool) {
    let bytes = fs.config().check_bytes(&fs.flash().geometry());
    let short = granted(fs, CALL).check(&mut vec![0; bytes.saturating_sub(1)], repair, &mut |_| {});
    assert_eq!(short, Err(Error::ScratchTooSmall));
    let mut findings = 0;
    let checked = lend(bytes, |scratch| {
        granted(fs, CHECK).check(scratch, repair, &mut |finding| {
            findings += 1;
            assert!(findings > TEXTS_MAX || !finding.to_string().is_empty());
        })
    });
    if let Ok(checked) = checked {
        assert_eq!(checked.findings, findings);
        assert!(
            checked.mended.total() <= checked.findings && (repair || checked.mended.total() == 0),
            "{checked:?}"
        );
    }
}

/// Mounts, reads everything, and makes the calls that `choices` name.
fn change<F: Flash>(flash: &mut F, memory: &mut [u8], choices: &mut Choices<'_>) {
    let (geometry, bytes) = (flash.geometry(), memory.len());
    let Ok(mut fs) = mount(flash, Access::ReadWrite, memory) else { return };
    let config = *fs.config();
    assert_eq!(
        bytes,
        config.memory_bytes(&geometry),
        "what a mount asks for is what the settings say"
    );
    assert_eq!(config.check(&geometry), Ok(()), "settings that no format makes were mounted");
    if choices.below(4) != 0 {
        repair(&mut fs);
    }
    let mut cache = vec![0; Config::cache_bytes(&config, &geometry, 3)];
    let found = read_everything(&mut fs);
    if choices.below(4) == 0 {
        let _ = granted(&mut fs, CALL).lend_cache(&mut cache);
    }
    let mut user = User { found, open: Vec::new() };
    for _ in 0..200 {
        if choices.is_empty() {
            break;
        }
        user.step(&mut fs, choices);
    }
    let closes = choices.below(2) == 0;
    for file in user.open.drain(..).filter(|_| closes) {
        let _ = granted(&mut fs, CALL).close(file);
    }
    let _ = granted(&mut fs, CALL).sync(CommitOn::SYNC);
    let _ = granted(&mut fs, CALL).maintain(Budget::Operations(1000), 4096);
    fs.flash_mut().grant(CALL);
    let _ = fs.unmount();
}

/// A user who works with a volume.
struct User {
    found: Found,
    open: Vec<File>,
}

impl User {
    fn path(&self, choices: &mut Choices<'_>) -> &str {
        &self.found.paths[choices.below(self.found.paths.len())]
    }

    /// Makes one call, and ignores its result.
    fn step<F: Flash>(&mut self, fs: &mut Fs<'_, '_, F>, choices: &mut Choices<'_>) {
        match choices.below(8) {
            0 => self.open(fs, choices),
            1..=3 => self.use_file(fs, choices),
            4 | 5 => self.use_names(fs, choices),
            6 => self.use_inode(fs, choices),
            _ => use_volume(fs, choices),
        }
    }

    fn open<F: Flash>(&mut self, fs: &mut Fs<'_, '_, F>, choices: &mut Choices<'_>) {
        let flags = choices.byte();
        let is = |bit: u8| flags >> bit & 1 != 0;
        let options = OpenOptions {
            read: !is(0),
            write: !is(1),
            append: is(2),
            truncate: is(3),
            create: !is(4),
            create_new: is(5),
            durable: is(6),
            stream: flags,
        };
        let file = if is(7) {
            let inode = *choices.of(&self.found.inodes);
            granted(fs, CALL).open(inode, options)
        } else {
            granted(fs, CALL).open(self.path(choices), options)
        };
        self.open.extend(file);
        if self.open.len() > OPEN_MAX {
            let _ = granted(fs, CALL).close(self.open.swap_remove(choices.below(OPEN_MAX)));
        }
    }

    fn use_file<F: Flash>(&mut self, fs: &mut Fs<'_, '_, F>, choices: &mut Choices<'_>) {
        let mut data = [choices.byte(); 1500];
        if self.open.is_empty() {
            self.open(fs, choices);
        }
        let count = self.open.len();
        let Some(file) = self.open.get_mut(choices.below(count.max(1))) else { return };
        let (offset, bytes) = (choices.size(), choices.below(data.len()));
        let fs = granted(fs, CALL);
        let _ = match choices.below(7) {
            0 => fs.read(file, offset, &mut data).map(drop),
            1 | 2 => fs.write(file, offset, &data[..bytes]),
            3 => fs.append(file, &data[..bytes]),
            4 => fs.truncate(file, offset),
            5 => fs.reserve(file, offset, offset.saturating_add(bytes as u64)).map(drop),
            _ => fs.sync(CommitOn::FSYNC),
        };
    }

    fn use_names<F: Flash>(&mut self, fs: &mut Fs<'_, '_, F>, choices: &mut Choices<'_>) {
        let (call, from) = (choices.below(8), self.path(choices).to_string());
        let fs = granted(fs, CALL);
        let _ = match call {
            0 | 1 => fs.remove(&from),
            2 => fs.remove_dir(&from),
            3 => fs.create_dir(&from).map(drop),
            4 | 5 => fs.create_symlink(&from, self.path(choices)).map(drop),
            _ => fs.rename(&from, self.path(choices)),
        };
    }

    fn use_inode<F: Flash>(&self, fs: &mut Fs<'_, '_, F>, choices: &mut Choices<'_>) {
        let inode = if choices.below(4) == 0 {
            choices.size() as u32
        } else {
            *choices.of(&self.found.inodes)
        };
        let key = choices.of(&["k", "mode", "", "a key of some length"]);
        let value = [choices.byte(); 250];
        let length = choices.below(value.len());
        let fs = granted(fs, CALL);
        let permissions =
            Permissions { mode: u16::from(value[0]) << 4, uid: inode, gid: length as u32 };
        let _ = match choices.below(7) {
            0 => fs.set_attribute(inode, key, None),
            1 | 2 => fs.set_attribute(inode, key, Some(&value[..length])),
            3 => fs.attributes(inode, |_, _| {}),
            4 => fs.set_modified(inode, choices.size()),
            5 => fs.set_permissions(inode, permissions),
            _ => fs.stat((inode, *choices.of(&["..", "../..", "a1", "."]))).map(drop),
        };
    }
}

/// Makes a call about the volume as a whole.
fn use_volume<F: Flash>(fs: &mut Fs<'_, '_, F>, choices: &mut Choices<'_>) {
    const EVENTS: [CommitOn; 4] =
        [CommitOn::ON_SYNC, CommitOn::MANUAL, CommitOn::EVERY_WRITE, CommitOn::ON_CLOSE];
    match choices.below(8) {
        0 | 1 => drop(granted(fs, CALL).commit()),
        2 => drop(granted(fs, CALL).rollback()),
        3 => drop(
            granted(fs, CALL)
                .maintain(Budget::Operations(u32::from(choices.word())), choices.size()),
        ),
        4 => drop(granted(fs, CALL).poll(choices.size())),
        5 => fs.set_commit_on(*choices.of(&EVENTS)),
        6 => check(fs, true),
        _ => {
            inspect(fs);
            let _ = granted(fs, CALL).scrub(Budget::Operations(u32::from(choices.byte())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind;
    use crate::medium::Fault;
    use crate::volumes::{SHAPES, volumes};

    /// The leaf that maps the root page could not be read. A repair emptied the lists in that
    /// page in each of its rounds, and read the whole volume as often as there are inodes.
    #[test]
    fn repair_ends_where_no_leaf_can_be_read() {
        for volume in &volumes()[..2 * SHAPES.len()] {
            let mut ram = volume.ram.clone();
            let mut memory = vec![0; memory_for(&mut ram).expect("a volume")];
            let mut fs = mount(&mut ram, Access::ReadWrite, &mut memory).expect("mount");
            // The map caches the last few pages that were looked up. The root page is not among
            // them any more.
            read_everything(&mut fs);
            for (page, _) in volume.pages_of(&kind::LEAF) {
                fs.flash_mut().inner_mut().set_fault(page, Fault::Unreadable);
            }
            check(&mut fs, true);
        }
    }
}
