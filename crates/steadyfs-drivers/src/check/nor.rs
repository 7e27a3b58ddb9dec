//! Tests of the bytes of a NOR driver.

use super::pattern::{blank, byte, compare, fill};
use super::{Call, Mistake, MistakeKind};
use steadyfs::media::BlockIndex;
use steadyfs::media::nor::NorFlash;

/// Bytes of one read. This number does not divide the usual page and block sizes.
const LOOK: usize = 61;
/// Bytes of one program. With this number, programs begin and end at many different offsets in the
/// pages of the chip.
const PIECE: usize = 331;

/// Tests a NOR driver on spare blocks, which it erases and programs. It programs the whole first
/// block, and the beginning and end of each other block.
///
/// # Errors
/// The first mistake that appears.
pub fn check_nor_driver<N: NorFlash>(chip: &mut N, spare: &[BlockIndex]) -> Result<(), Mistake> {
    let Some(&first) = spare.first() else { return Err(Mistake::new(MistakeKind::Arguments, 0)) };
    let (block_bytes, block_count) = (chip.block_bytes(), chip.block_count());
    if block_bytes < 1024 || block_count == 0 || block_bytes.checked_mul(block_count).is_none() {
        return Err(Mistake { found: block_bytes, ..Mistake::new(MistakeKind::Geometry, 0) });
    }
    let (read_ns, program_ns, erase_ns) = chip.times_ns(256);
    if read_ns == 0 || program_ns == 0 || erase_ns == 0 {
        return Err(Mistake::new(MistakeKind::Times, 0));
    }
    if let Some(&block) = spare.iter().find(|block| **block >= block_count) {
        return Err(Mistake {
            expected: block_count,
            ..Mistake::new(MistakeKind::Arguments, block)
        });
    }
    let mut trial = Trial { chip, block_bytes, spare };
    spare.iter().try_for_each(|block| trial.erase(*block))?;
    trial.spread()?;
    trial.erase(first)?;
    trial.fill_block(first)?;
    trial.again(first)?;
    spare.iter().try_for_each(|block| trial.erase(*block))
}

struct Trial<'t, N> {
    chip: &'t mut N,
    block_bytes: u32,
    spare: &'t [BlockIndex],
}

impl<N: NorFlash> Trial<'_, N> {
    fn read(&mut self, block: BlockIndex, offset: u32, data: &mut [u8]) -> Result<(), Mistake> {
        data.fill(0);
        self.chip
            .read(block * self.block_bytes + offset, data)
            .map_err(Mistake::of(Call::Read, block))
    }

    fn write(&mut self, block: BlockIndex, offset: u32, data: &[u8]) -> Result<(), Mistake> {
        self.chip
            .program(block * self.block_bytes + offset, data)
            .map_err(Mistake::of(Call::Program, block))
    }

    fn program(&mut self, block: BlockIndex, offset: u32, bytes: usize) -> Result<(), Mistake> {
        let mut data = [0; PIECE];
        fill(block, offset, &mut data[..bytes]);
        self.write(block, offset, &data[..bytes])
    }

    /// Reads bytes and compares them with the expected bytes.
    fn check(&mut self, block: BlockIndex, offset: u32, bytes: u32) -> Result<(), Mistake> {
        let mut data = [0; LOOK];
        for at in (offset..offset + bytes).step_by(LOOK) {
            let length = LOOK.min((offset + bytes - at) as usize);
            self.read(block, at, &mut data[..length])?;
            // Wrong bytes may come from another block, or from a neighbouring page of the chip.
            let near = [256, 512, 4096]
                .into_iter()
                .flat_map(move |by| [at.wrapping_add(by), at.wrapping_sub(by)]);
            let others = self
                .spare
                .iter()
                .map(move |other| (*other, at))
                .chain(near.map(move |at| (block, at)));
            compare(block, at, &data[..length], others)?;
        }
        Ok(())
    }

    fn is_blank(
        &mut self,
        block: BlockIndex,
        offset: u32,
        bytes: u32,
        kind: MistakeKind,
    ) -> Result<(), Mistake> {
        let mut data = [0; LOOK];
        for at in (offset..offset + bytes).step_by(LOOK) {
            let length = LOOK.min((offset + bytes - at) as usize);
            self.read(block, at, &mut data[..length])?;
            blank(block, at, &data[..length], kind)?;
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        self.chip.erase(block).map_err(Mistake::of(Call::Erase, block))?;
        self.is_blank(block, 0, self.block_bytes, MistakeKind::NotErased)
    }

    /// Programs the beginning and end of each spare block. Checks that these bytes appear in no
    /// other block, and that the erase of the first block does not change the other blocks.
    fn spread(&mut self) -> Result<(), Mistake> {
        let end = self.block_bytes - 64;
        for (number, &block) in self.spare.iter().enumerate() {
            for offset in [0, end] {
                self.program(block, offset, 64)?;
                self.check(block, offset, 64)?;
            }
            for &other in &self.spare[number + 1..] {
                [0, end].into_iter().try_for_each(|offset| {
                    self.is_blank(other, offset, 64, MistakeKind::AnotherPage)
                })?;
            }
        }
        let Some((&first, others)) = self.spare.split_first() else { return Ok(()) };
        self.erase(first)?;
        for &block in others {
            for offset in [0, end] {
                self.check(block, offset, 64).map_err(|mistake| match mistake.kind {
                    MistakeKind::NotProgrammed => {
                        Mistake { kind: MistakeKind::ErasesAnother, ..mistake }
                    }
                    _ => mistake,
                })?;
            }
        }
        Ok(())
    }

    /// Programs a whole block, piece by piece. Checks that the bytes behind each piece stay erased
    /// until they are programmed.
    fn fill_block(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        for offset in (0..self.block_bytes).step_by(PIECE) {
            let bytes = PIECE.min((self.block_bytes - offset) as usize);
            self.program(block, offset, bytes)?;
            let wraps = self.has_wrapped(block, offset, bytes)?;
            self.check(block, offset, bytes as u32).map_err(|mistake| match wraps {
                true => Mistake { kind: MistakeKind::WrapsInPage, ..mistake },
                false => mistake,
            })?;
            let behind = (self.block_bytes - offset - bytes as u32).min(PIECE as u32);
            self.is_blank(block, offset + bytes as u32, behind, MistakeKind::NotLeftAlone)?;
        }
        self.check(block, 0, self.block_bytes).map_err(|mistake| match mistake.kind {
            MistakeKind::DataDiffers => Mistake { kind: MistakeKind::NotLeftAlone, ..mistake },
            _ => mistake,
        })
    }

    /// Returns true if a program has wrapped in a page of the chip. After a wrap the last byte of
    /// the piece is missing, and the beginning of the chip's page is overwritten.
    fn has_wrapped(
        &mut self,
        block: BlockIndex,
        offset: u32,
        bytes: usize,
    ) -> Result<bool, Mistake> {
        let (mut last, mut begin) = ([0], [0; 16]);
        self.read(block, offset + bytes as u32 - 1, &mut last)?;
        self.read(block, offset & !0xFF, &mut begin)?;
        let is_spoilt =
            begin.iter().zip(offset & !0xFF..).any(|(found, at)| *found != byte(block, at));
        Ok(last == [0xFF] && is_spoilt)
    }

    /// Programs the same bytes again. Checks that ones do not change the data, and that zeros clear
    /// the data.
    fn again(&mut self, block: BlockIndex) -> Result<(), Mistake> {
        let offset = 700;
        self.write(block, offset, &[0xFF; 9])?;
        let checked = self.check(block, offset - 1, 11);
        checked.map_err(|mistake| Mistake { kind: MistakeKind::OnesChange, ..mistake })?;
        self.write(block, offset, &[0; 9])?;
        let mut found = [0xFF; 9];
        self.read(block, offset, &mut found)?;
        match found.iter().position(|byte| *byte != 0) {
            None => Ok(()),
            Some(at) => {
                let (offset, found) = (offset + at as u32, found[at].into());
                Err(Mistake { offset, found, ..Mistake::new(MistakeKind::ZerosDoNot, block) })
            }
        }
    }
}
