//! Volumes and disks with forged fields, put to hard use.
//!
//! ```text
//! input:  parts to leave out (1)  volume (1)  medium (1)  changes (1)  each change …  script …
//! ```

use crate::choices::Choices;
use crate::mutate::forged;
use crate::{disk as sectors, exercise};

/// Bits of the first byte: parts of the use that an input leaves out.
const READS: u8 = 1;
const SCRIPT: u8 = 2;

/// Forges a volume of files, and uses it.
pub fn mount(input: &[u8]) {
    let mut choices = Choices::new(input);
    let without = choices.byte();
    let mut ram = forged(&mut choices, false);
    if without & READS == 0 {
        exercise::read_only(&mut ram, &mut choices);
    }
    exercise::press(&mut ram, &mut choices);
    if without & SCRIPT == 0 {
        exercise::exercise(&mut ram, choices);
    }
}

/// Forges a disk, and uses it.
pub fn disk(input: &[u8]) {
    let mut choices = Choices::new(input);
    let without = choices.byte();
    let mut ram = forged(&mut choices, true);
    sectors::press(&mut ram, &mut choices);
    if without & SCRIPT == 0 {
        sectors::exercise(&mut ram, choices);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Field, Fields};
    use crate::kind;
    use crate::medium::Ram;
    use crate::seal::seal;
    use crate::volumes::{SHAPES, Volume, disks, volumes};
    use std::collections::BTreeSet;
    use steadyfs::{
        Access, BlockState, Budget, CommitOn, Error, FileSystem, MountError, OpenOptions, ROOT,
    };

    /// Numbers of kinds of inodes, and of states of blocks.
    const REMOVED: u64 = 3;
    const ORPHAN: u64 = 4;
    const BAD: u64 = 0;
    const FREE: u64 = 2;
    const RESERVED: u64 = 1;
    /// First byte of the first index in an inode.
    const INDEX_AT: u32 = 117;

    /// Mounts a volume for writing and does something with it.
    fn with_volume(
        volume: &Volume,
        ram: &mut Ram,
        act: impl FnOnce(&mut FileSystem<'_, &mut Ram>),
    ) -> Result<(), MountError> {
        let mut memory = vec![0; volume.shape.config.memory_bytes(&volume.shape.geometry) + 1000];
        FileSystem::mount(ram, Access::ReadWrite, &mut memory).map(|mut fs| act(&mut fs))
    }

    fn set_state(fields: &Fields, ram: &mut Ram, volume: &Volume, block: u32, state: u64) {
        let field = Field::of_state(volume, block);
        let shift = block % 2 * 4;
        let before = fields.number(ram, volume, field);
        fields.set(ram, volume, field, before & !(0xF << shift) | state << shift);
    }

    /// The region of a removed file named an index below the data pages. Freeing it subtracted
    /// with an overflow; without overflow checks a page of the tables was discarded.
    #[test]
    fn index_of_a_removed_file_among_the_tables_is_not_freed() {
        let mut cases = 0;
        for volume in volumes() {
            let fields = Fields::of(volume);
            let removed = |inode: &u32| {
                let number = |at, width| {
                    fields.number(&volume.ram, volume, Field::of_inode(volume, *inode, at, width))
                };
                matches!(number(0, 1), REMOVED | ORPHAN)
                    && number(1, 1) == 0
                    && number(INDEX_AT, 3) > 0
            };
            for inode in (0..volume.shape.config.files_max).filter(removed) {
                for index in 1..volume.data() {
                    let mut ram = volume.ram.clone();
                    fields.set(
                        &mut ram,
                        volume,
                        Field::of_inode(volume, inode, INDEX_AT, 3),
                        index.into(),
                    );
                    let entries = |fs: &mut FileSystem<'_, &mut Ram>| {
                        let paths = ["d", "d/e", "d/e/f", "d/short", "d/long", "a2"];
                        paths.map(|path| fs.stat(path).map(|stat| (stat.inode, stat.size)))
                    };
                    let used = with_volume(volume, &mut ram, |fs| {
                        let before = entries(fs);
                        for time in 0..20 {
                            fs.set_modified(ROOT, time).expect("the list does not refuse calls");
                            fs.commit().expect("commit");
                        }
                        assert_eq!(entries(fs), before, "inode {inode}, index {index}");
                    });
                    assert_eq!(used, Ok(()));
                    cases += 1;
                }
            }
        }
        assert!(cases > 0, "no volume has a removed file with an index");
    }

    /// A root called the block of a head bad. Filling the block made it used, so a call ended
    /// with fewer bad blocks than it had begun with, and the difference overflowed.
    #[test]
    fn heads_that_contradict_the_states_of_blocks_are_refused() {
        for volume in volumes().iter().chain(disks()) {
            let fields = Fields::of(volume);
            for head in 0..3 {
                let at = Field::of_head(volume, head);
                let block = fields.number(&volume.ram, volume, at) as u32;
                if block == u32::MAX {
                    continue;
                }
                let other = Field::of_head(volume, (head + 1) % 3);
                for forgery in 0..3 {
                    let mut ram = volume.ram.clone();
                    match forgery {
                        0 => set_state(&fields, &mut ram, volume, block, BAD),
                        1 => set_state(&fields, &mut ram, volume, block, FREE),
                        _ => fields.set(&mut ram, volume, other, block.into()),
                    }
                    if volume.is_disk() {
                        sectors::press(&mut ram, &mut Choices::new(&[]));
                        continue;
                    }
                    let _ = with_volume(volume, &mut ram, |fs| {
                        let heads =
                            fs.describe().heads.into_iter().flatten().map(|(block, _)| block);
                        let blocks: BTreeSet<_> = heads.clone().collect();
                        assert_eq!(blocks.len(), heads.count(), "a block of two heads");
                        for &block in &blocks {
                            assert_eq!(
                                fs.block(block).map(|info| info.state),
                                Some(BlockState::Active),
                                "block {block}"
                            );
                        }
                        fs.set_commit_on(CommitOn::EVERY_WRITE);
                        let page = fs.usage().logical_bytes as usize;
                        let Ok(mut file) = fs.open("new", OpenOptions::CREATE) else { return };
                        for round in 0..60 {
                            let _ = fs.write(
                                &mut file,
                                round % 5 * page as u64,
                                &vec![round as u8; page],
                            );
                        }
                        let _ = fs.close(file);
                    });
                }
            }
        }
    }

    /// An inode on the list of removed files named itself as the next one. Every step freed it
    /// once more, and idle work did not end.
    #[test]
    fn list_that_names_a_freed_inode_is_corrupt() {
        let mut cases = 0;
        for volume in volumes() {
            let fields = Fields::of(volume);
            let kind =
                |inode| fields.number(&volume.ram, volume, Field::of_inode(volume, inode, 0, 1));
            for inode in (0..volume.shape.config.files_max)
                .filter(|&inode| matches!(kind(inode), REMOVED | ORPHAN))
            {
                let mut ram = volume.ram.clone();
                fields.set(&mut ram, volume, Field::of_page(0, 0, 4), u64::from(inode) + 1);
                fields.set(
                    &mut ram,
                    volume,
                    Field::of_inode(volume, inode, 12, 4),
                    u64::from(inode) + 1,
                );
                let used = with_volume(volume, &mut ram, |fs| {
                    let idle = fs.maintain(Budget::Operations(200_000), 0);
                    let mut scratch =
                        vec![0; volume.shape.config.check_bytes(&volume.shape.geometry)];
                    let checked = fs.check(&mut scratch, true, &mut |_| ());
                    // An empty page of the file table is given back, and the list is given up
                    // with it.
                    assert!(
                        matches!(idle, Ok(true) | Err(Error::Corrupt)),
                        "inode {inode}: {idle:?}"
                    );
                    assert!(
                        checked.is_ok_and(|checked| checked.findings == checked.mended.total()),
                        "{checked:?}"
                    );
                    assert_eq!(fs.maintain(Budget::Operations(200_000), 0), Ok(true));
                });
                assert_eq!(used, Ok(()));
                cases += 1;
            }
        }
        assert!(cases > 0, "no volume has a removed file");
    }

    /// An inode with a short name named an extension. The rest of a longer name was written
    /// there: over another inode, or beyond the file table by a sum that overflowed.
    #[test]
    fn long_name_is_not_written_where_the_short_one_was_not() {
        for volume in &volumes()[..SHAPES.len()] {
            let fields = Fields::of(volume);
            for number in [u32::MAX, volume.shape.config.files_max + 17, 2, 3] {
                let mut ram = volume.ram.clone();
                let mut inode = 0;
                let _ = with_volume(volume, &mut volume.ram.clone(), |fs| {
                    inode = fs.stat("a2").expect("a file").inode
                });
                fields.set(&mut ram, volume, Field::of_inode(volume, inode, 16, 4), number.into());
                let used = with_volume(volume, &mut ram, |fs| {
                    assert_eq!(
                        fs.rename("a2", "b".repeat(150).as_str()),
                        Err(Error::Corrupt),
                        "extension {number}"
                    );
                    let mut scratch =
                        vec![0; volume.shape.config.check_bytes(&volume.shape.geometry)];
                    let checked = fs.check(&mut scratch, true, &mut |_| ()).expect("check");
                    assert!(
                        checked.findings > 0 && checked.findings == checked.mended.total(),
                        "{checked:?}"
                    );
                    assert_eq!(fs.rename("a2", "b".repeat(150).as_str()), Ok(()));
                });
                assert_eq!(used, Ok(()));
            }
        }
    }

    /// Moves the last block of a volume's ring to the end of the medium. Returns that block.
    fn move_ring(volume: &Volume, ram: &mut Ram) -> usize {
        const RING_AT: usize = 44;
        let block = volume.shape.geometry.block_count - 1;
        for (page, _) in volume.pages_of(&[kind::SUPER]) {
            let bytes = &mut ram.parts_mut(page).0[RING_AT..RING_AT + 8];
            let ring = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            let last = 63 - ring.leading_zeros();
            bytes.copy_from_slice(&(ring & !(1 << last) | 1 << (block - 1)).to_le_bytes());
            seal(ram, page);
        }
        block as usize
    }

    /// The last page of the medium claimed to be the first one of a copy of a root. A mount read
    /// the other pages of that copy behind the end of the medium.
    #[test]
    fn roots_that_do_not_fit_their_block_are_none() {
        for volume in volumes() {
            let mut ram = volume.ram.clone();
            let per_block = volume.shape.geometry.pages_per_block as usize;
            let first = move_ring(volume, &mut ram) * per_block;
            let (of_root, tag) =
                volume.newest_root().find(|(_, tag)| tag.logical == 0).expect("a root");
            let ring_count = {
                let bytes = &ram.parts(0).0[44..52];
                u64::from_le_bytes(bytes.try_into().expect("eight bytes")).count_ones()
            };
            // The next number that belongs to the last place of the ring.
            let number =
                (u32::try_from(tag.sequence).expect("a number") / ring_count + 2) * ring_count - 1;
            for index in 0..per_block {
                let copy = ram.page(of_root).to_vec();
                ram.page_mut(first + index).copy_from_slice(&copy);
                let tag = ram.parts_mut(first + index).1;
                tag[..5].copy_from_slice(&u64::from(number).to_le_bytes()[..5]);
                tag[5..8].copy_from_slice(&[((index + 1) % 2) as u8, 0, 0]);
                tag[10] = if index + 1 == per_block { 2 } else { 1 };
                seal(&mut ram, first + index);
            }
            let _ = with_volume(volume, &mut ram, |fs| {
                let _ = fs.stat("a2");
            });
        }
    }

    /// A root named the last page of a ring block as the first one of a journal page. A mount
    /// read the second page behind the end of the medium.
    #[test]
    fn journal_pages_that_do_not_fit_their_block_are_none() {
        for volume in volumes().iter().filter(|volume| volume.shape.geometry.programs_bytes) {
            let (mut ram, fields) = (volume.ram.clone(), Fields::of(volume));
            let geometry = &volume.shape.geometry;
            let block = move_ring(volume, &mut ram) as u32;
            let (places, per_page) =
                (geometry.pages_per_block * geometry.page_bytes / 8, geometry.page_bytes / 8);
            let place = (block + 1) * places - per_page;
            fields.set(&mut ram, volume, Field::of_root(28, 4), place.into());
            // No head has the block.
            set_state(&fields, &mut ram, volume, block, RESERVED);
            for at in (0..3 + volume.stream_heads()).map(|head| Field::of_head(volume, head)) {
                if fields.number(&ram, volume, at) == u64::from(block) {
                    fields.set(&mut ram, volume, at, u32::MAX.into());
                }
            }
            let page = ((block + 1) * geometry.pages_per_block - 1) as usize;
            let (data, tag) = ram.parts_mut(page);
            data[..2].copy_from_slice(&[2, 0]);
            tag.copy_from_slice(&[0; 16]);
            tag[8] = kind::JOURNAL[0];
            seal(&mut ram, page);
            let _ = with_volume(volume, &mut ram, |fs| {
                let _ = fs.stat("a2");
            });
        }
    }
}
