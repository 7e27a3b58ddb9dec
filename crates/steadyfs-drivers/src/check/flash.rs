//! Tests of the pages and tags of a driver.

use super::pattern::{blank, byte, compare, fill};
use super::{Call, Mistake, MistakeKind};
use steadyfs::media::{BlockIndex, Corrected, Flash, PageIndex, TAG_BYTES};

/// Tests a driver on spare blocks, which it erases and programs. It programs all pages of the first
/// block, and one page of each other block.
///
/// `buffer` has the size of a page.
///
/// # Errors
/// The first mistake that appears.
pub fn check_driver<F: Flash>(
    flash: &mut F,
    spare: &[BlockIndex],
    buffer: &mut [u8],
) -> Result<(), Mistake> {
    let Some(&first) = spare.first() else { return Err(Mistake::new(MistakeKind::Arguments, 0)) };
    check_shape(flash, spare, buffer)?;
    check_sum(flash, first)?;
    let mut trial = Trial { pages: flash.geometry().pages_per_block, flash, spare, buffer };
    spare.iter().try_for_each(|block| trial.erase(*block))?;
    trial.spread()?;
    trial.erase(first)?;
    trial.fill_block(first)?;
    trial.marks_are_read_without_harm(first)?;
    if trial.flash.geometry().programs_bytes {
        trial.bytes(first)?;
    }
    trial.flash.sync().map_err(Mistake::of(Call::Sync, first))?;
    spare.iter().try_for_each(|block| trial.erase(*block))
}

/// Tests the mark of bad blocks, and leaves the block marked.
///
/// # Errors
/// The first mistake that appears.
pub fn check_marks<F: Flash>(flash: &mut F, block: BlockIndex) -> Result<(), Mistake> {
    let is_bad = |flash: &mut F| flash.is_bad(block).map_err(Mistake::of(Call::IsBad, block));
    if is_bad(flash)? {
        return Err(Mistake::new(MistakeKind::GoodBlockIsBad, block));
    }
    flash.mark_bad(block).map_err(Mistake::of(Call::MarkBad, block))?;
    if is_bad(flash)? {
        Ok(())
    } else {
        Err(Mistake { expected: 1, ..Mistake::new(MistakeKind::MarkNotKept, block) })
    }
}

fn check_shape(flash: &impl Flash, spare: &[BlockIndex], buffer: &[u8]) -> Result<(), Mistake> {
    let (geometry, timing) = (flash.geometry(), flash.timing());
    let is_page = geometry.page_bytes.is_power_of_two() && geometry.page_bytes >= 256;
    if !is_page || !(4..=4096).contains(&geometry.pages_per_block) || geometry.block_count == 0 {
        return Err(Mistake {
            found: geometry.page_bytes,
            ..Mistake::new(MistakeKind::Geometry, 0)
        });
    }
    if [timing.read_ns, timing.read_tag_ns, timing.program_ns, timing.copy_ns, timing.erase_ns]
        .contains(&0)
    {
        return Err(Mistake::new(MistakeKind::Times, 0));
    }
    let outside = spare.iter().find(|block| **block >= geometry.block_count);
    if outside.is_some() || buffer.len() != geometry.page_bytes as usize {
        let (expected, found) = (geometry.page_bytes, buffer.len() as u32);
        return Err(Mistake {
            expected,
            found,
            ..Mistake::new(MistakeKind::Arguments, outside.copied().unwrap_or(0))
        });
    }
    Ok(())
}

/// Checks the catalogued check value of the checksum. Also checks that the driver computes the
/// checksum of a partial page as if the missing bytes were `0xFF`.
fn check_sum(flash: &mut impl Flash, block: BlockIndex) -> Result<(), Mistake> {
    let wrong =
        |expected, found| Mistake { expected, found, ..Mistake::new(MistakeKind::Checksum, block) };
    let found = flash.checksum(b"123456789", 0);
    if found != 0xCBF4_3926 {
        return Err(wrong(0xCBF4_3926, found));
    }
    let (whole, short) = (flash.checksum(b"12\xFF\xFF\xFF", 0), flash.checksum(b"12", 3));
    if whole == short { Ok(()) } else { Err(wrong(whole, short)) }
}

/// Returns the tag of a page.
fn tag_of(page: PageIndex, salt: u32) -> [u8; TAG_BYTES] {
    core::array::from_fn(|index| byte(!page, salt + index as u32))
}

const TAG_SALT: u32 = 0x10_0000;
const COPY_SALT: u32 = 0x20_0000;

struct Trial<'t, F> {
    flash: &'t mut F,
    spare: &'t [BlockIndex],
    buffer: &'t mut [u8],
    pages: u32,
}

impl<F: Flash> Trial<'_, F> {
    fn page_bytes(&self) -> u32 {
        self.buffer.len() as u32
    }

    /// Erases a block and checks that all bytes of the block are erased.
    fn erase(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        if self.flash.is_bad(block).map_err(Mistake::of(Call::IsBad, block))? {
            return Err(Mistake { found: 1, ..Mistake::new(MistakeKind::GoodBlockIsBad, block) });
        }
        self.flash.erase(block).map_err(Mistake::of(Call::Erase, block))?;
        (0..self.pages).try_for_each(|page| self.is_blank(block, page))
    }

    fn is_blank(&mut self, block: BlockIndex, page: u32) -> Result<(), Mistake> {
        let mut tag = [0; TAG_BYTES];
        self.buffer.fill(0);
        self.flash
            .read(block * self.pages + page, self.buffer, &mut tag)
            .map_err(Mistake::of(Call::Read, block))?;
        blank(block, page * self.page_bytes(), self.buffer, MistakeKind::NotErased)?;
        blank(block, 0, &tag, MistakeKind::NotErased)
    }

    /// Programs a page, or its first bytes, with the pattern of the page.
    fn program(&mut self, block: BlockIndex, page: u32, bytes: usize) -> Result<(), Mistake> {
        let index = block * self.pages + page;
        fill(block, page * self.page_bytes(), self.buffer);
        self.flash
            .program(index, &self.buffer[..bytes], &tag_of(index, TAG_SALT))
            .map_err(Mistake::of(Call::Program, block))
    }

    /// Reads a page with its tag, then the tag alone, and checks both.
    fn check(&mut self, block: BlockIndex, page: u32, bytes: usize) -> Result<(), Mistake> {
        let (index, mut tag) = (block * self.pages + page, [0; TAG_BYTES]);
        self.buffer.fill(0);
        self.flash.read(index, self.buffer, &mut tag).map_err(Mistake::of(Call::Read, block))?;
        let Corrected { bits, strength } = self.flash.corrected();
        if bits > strength && strength > 0 {
            let (expected, found) = (strength.into(), bits.into());
            return Err(Mistake { expected, found, ..Mistake::new(MistakeKind::Corrected, block) });
        }
        let (page_bytes, offset) = (self.page_bytes(), page * self.page_bytes());
        let others = self
            .spare
            .iter()
            .flat_map(|other| (0..self.pages).map(move |page| (*other, page * page_bytes)));
        if let Err(mistake) = compare(block, offset, &self.buffer[..bytes], others) {
            // If a second read is right, the first read did not load the page.
            self.flash
                .read(index, self.buffer, &mut tag)
                .map_err(Mistake::of(Call::Read, block))?;
            let is_late =
                compare(block, offset, &self.buffer[..bytes], core::iter::empty()).is_ok();
            return Err(if is_late {
                Mistake { kind: MistakeKind::AnotherPage, ..mistake }
            } else {
                mistake
            });
        }
        blank(block, offset + bytes as u32, &self.buffer[bytes..], MistakeKind::NotLeftAlone)?;
        check_tag(block, &tag, &tag_of(index, TAG_SALT), MistakeKind::TagDiffers)?;
        let mut alone = [0; TAG_BYTES];
        self.flash.read_tag(index, &mut alone).map_err(Mistake::of(Call::ReadTag, block))?;
        check_tag(block, &alone, &tag, MistakeKind::TagAloneDiffers)
    }

    /// Programs one page in each spare block. Checks that each page appears in no other block, and
    /// that the erase of the first block does not change the other blocks.
    fn spread(&mut self) -> Result<(), Mistake> {
        let whole = self.buffer.len();
        for (number, &block) in self.spare.iter().enumerate() {
            self.program(block, 0, whole)?;
            self.check(block, 0, whole)?;
            for &other in &self.spare[number + 1..] {
                self.is_blank(other, 0)
                    .map_err(|mistake| Mistake { kind: MistakeKind::AnotherPage, ..mistake })?;
            }
        }
        self.spare.iter().try_for_each(|block| self.check(*block, 0, whole))?;
        let Some((&first, others)) = self.spare.split_first() else { return Ok(()) };
        self.erase(first)?;
        others.iter().try_for_each(|block| {
            self.check(*block, 0, whole).map_err(|mistake| match mistake.kind {
                MistakeKind::NotProgrammed => {
                    Mistake { kind: MistakeKind::ErasesAnother, ..mistake }
                }
                _ => mistake,
            })
        })
    }

    /// Returns the number of bytes that are programmed into a page. The second page gets fewer
    /// bytes than the others.
    fn length(&self, page: u32) -> usize {
        if page == 1 { self.buffer.len() / 3 + 1 } else { self.buffer.len() }
    }

    /// Programs all pages of a block. The last page becomes a copy if the chip can copy.
    fn fill_block(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        let programmed = self.pages - 1;
        for page in 0..programmed {
            self.program(block, page, self.length(page))?;
            self.check(block, page, self.length(page))?;
        }
        (0..programmed).try_for_each(|page| self.check(block, page, self.length(page)))?;
        self.is_blank(block, programmed)
            .map_err(|mistake| Mistake { kind: MistakeKind::NotLeftAlone, ..mistake })?;
        if self.flash.can_copy() { self.copy(block) } else { Ok(()) }
    }

    /// Copies the third page to the last.
    fn copy(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        let (source, target) = (block * self.pages + 2, block * self.pages + self.pages - 1);
        let (mut tag, given) = ([0; TAG_BYTES], tag_of(target, COPY_SALT));
        self.flash.read_tag(source, &mut tag).map_err(Mistake::of(Call::ReadTag, block))?;
        self.flash
            .program_loaded(target, &given)
            .map_err(Mistake::of(Call::ProgramLoaded, block))?;
        self.flash.read(target, self.buffer, &mut tag).map_err(Mistake::of(Call::Read, block))?;
        let compared = compare(block, 2 * self.page_bytes(), self.buffer, core::iter::empty());
        compared.map_err(|mistake| Mistake { kind: MistakeKind::CopyData, ..mistake })?;
        check_tag(block, &tag, &given, MistakeKind::CopyTag)
            .map_err(|mistake| Mistake { kind: MistakeKind::CopyTag, ..mistake })
    }

    /// Checks that a read of the mark changes nothing.
    fn marks_are_read_without_harm(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        if self.flash.is_bad(block).map_err(Mistake::of(Call::IsBad, block))? {
            return Err(Mistake { found: 1, ..Mistake::new(MistakeKind::GoodBlockIsBad, block) });
        }
        let checked = self.check(block, 0, self.buffer.len());
        checked.map_err(|mistake| Mistake { kind: MistakeKind::Disturbed, ..mistake })
    }

    /// Programs bytes across the end of the second page.
    fn bytes(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        self.erase(block)?;
        let page_bytes = self.page_bytes();
        let (at, bytes) = (page_bytes * 2 - 5, 21);
        let mut piece = [0; 21];
        fill(block, at, &mut piece);
        self.flash
            .program_bytes(block, at, &piece)
            .map_err(Mistake::of(Call::ProgramBytes, block))?;
        let mut found = [0; 23];
        self.flash
            .read_bytes(block, at - 1, &mut found)
            .map_err(Mistake::of(Call::ReadBytes, block))?;
        compare(block, at, &found[1..1 + bytes], core::iter::empty())?;
        blank(block, at - 1, &found[..1], MistakeKind::NotLeftAlone)?;
        blank(block, at + bytes as u32, &found[1 + bytes..], MistakeKind::NotLeftAlone)?;
        // Reads the same bytes as a part of their page.
        self.flash
            .read(block * self.pages + 2, self.buffer, &mut [0; TAG_BYTES])
            .map_err(Mistake::of(Call::Read, block))?;
        compare(block, 2 * page_bytes, &self.buffer[..bytes - 5], core::iter::empty())
    }
}

fn check_tag(
    block: BlockIndex,
    found: &[u8; TAG_BYTES],
    wanted: &[u8; TAG_BYTES],
    kind: MistakeKind,
) -> Result<(), Mistake> {
    let Some(at) = (0..TAG_BYTES).find(|at| found[*at] != wanted[*at]) else { return Ok(()) };
    let kind = if found.iter().all(|byte| *byte == 0xFF) && kind == MistakeKind::TagDiffers {
        MistakeKind::TagNotKept
    } else {
        kind
    };
    Err(Mistake {
        kind,
        block,
        offset: at as u32,
        expected: wanted[at].into(),
        found: found[at].into(),
    })
}
