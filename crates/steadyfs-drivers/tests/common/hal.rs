// A chip behind a HAL: flash of `embedded-storage` in RAM. It has a read word, a write word and a
// sector. On a chip that is not multiwrite, a second write of a word panics.

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase,
    check_read, check_write,
};

#[derive(Clone, Debug)]
#[allow(dead_code)]
pub struct Hal<const READ: usize, const WRITE: usize, const ERASE: usize> {
    pub cells: Vec<u8>,
    /// Written words, on a chip that takes one write for each word between erases.
    pub written: Option<Vec<bool>>,
    /// Words that the ECC cannot correct.
    pub torn: std::collections::BTreeSet<usize>,
    /// Number of word writes and sector erases until power fails. `None` means that power stays
    /// on.
    pub left: Option<u32>,
    pub seed: u64,
    /// Offset of a byte with one bit that no program clears.
    pub stuck: Option<usize>,
    pub error: Option<NorFlashErrorKind>,
    /// Alignment of memory that the DMA requires, in bytes.
    pub align: usize,
    /// Number of bytes of the longest read and of the longest write.
    pub longest: (usize, usize),
}

#[allow(dead_code)]
impl<const READ: usize, const WRITE: usize, const ERASE: usize> Hal<READ, WRITE, ERASE> {
    pub fn new(bytes: usize) -> Self {
        Self {
            cells: vec![0xFF; bytes],
            written: None,
            torn: Default::default(),
            left: None,
            seed: 1,
            stuck: None,
            error: None,
            align: 1,
            longest: (0, 0),
        }
    }

    /// A chip that takes each word once.
    pub fn write_once(bytes: usize) -> Self {
        Self { written: Some(vec![false; bytes / WRITE]), ..Self::new(bytes) }
    }

    fn random(&mut self) -> u8 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 40) as u8
    }

    /// Returns true if power fails in this operation.
    fn fails(&mut self) -> Result<bool, NorFlashErrorKind> {
        match &mut self.left {
            Some(0) => Err(NorFlashErrorKind::Other),
            Some(left) => {
                *left -= 1;
                Ok(*left == 0)
            }
            None => Ok(false),
        }
    }

    fn write_word(&mut self, word: usize, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let fails = self.fails()?;
        if let Some(written) = &mut self.written {
            assert!(
                !std::mem::replace(&mut written[word], true),
                "word {word:#x} is written twice"
            );
            // If a write is cut, the ECC may not be able to correct the word.
            if fails && self.random() & 1 == 0 {
                self.torn.insert(word);
            }
        }
        for (index, byte) in bytes.iter().enumerate() {
            let at = word * WRITE + index;
            let kept = if fails {
                self.random()
            } else if self.stuck == Some(at) {
                0x10
            } else {
                0
            };
            self.cells[at] &= *byte | kept;
        }
        if fails { Err(NorFlashErrorKind::Other) } else { Ok(()) }
    }
}

impl<const READ: usize, const WRITE: usize, const ERASE: usize> ErrorType
    for Hal<READ, WRITE, ERASE>
{
    type Error = NorFlashErrorKind;
}

impl<const READ: usize, const WRITE: usize, const ERASE: usize> ReadNorFlash
    for Hal<READ, WRITE, ERASE>
{
    const READ_SIZE: usize = READ;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        assert_eq!(bytes.as_ptr().addr() % self.align, 0, "memory of the DMA");
        self.longest.0 = self.longest.0.max(bytes.len());
        let (from, to) = (offset as usize, offset as usize + bytes.len());
        if self.left == Some(0)
            || self.torn.range(from / WRITE..to.div_ceil(WRITE)).next().is_some()
        {
            return Err(NorFlashErrorKind::Other);
        }
        self.error.map_or(Ok(()), Err)?;
        bytes.copy_from_slice(&self.cells[from..to]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.cells.len()
    }
}

impl<const READ: usize, const WRITE: usize, const ERASE: usize> NorFlash
    for Hal<READ, WRITE, ERASE>
{
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = ERASE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        self.error.map_or(Ok(()), Err)?;
        let fails = self.fails()?;
        for at in from as usize..to as usize {
            self.cells[at] =
                if fails && self.random() & 1 == 0 { self.cells[at] | self.random() } else { 0xFF };
        }
        let words = from as usize / WRITE..to as usize / WRITE;
        self.torn.retain(|word| !words.contains(word));
        if fails && self.written.is_some() {
            for word in words.clone() {
                if self.random() & 15 == 0 {
                    self.torn.insert(word);
                }
            }
        }
        if let Some(written) = &mut self.written {
            // After a cut erase, the words take no write.
            written[words].fill(fails);
        }
        if fails { Err(NorFlashErrorKind::Other) } else { Ok(()) }
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        assert_eq!(bytes.as_ptr().addr() % self.align, 0, "memory of the DMA");
        self.longest.1 = self.longest.1.max(bytes.len());
        self.error.map_or(Ok(()), Err)?;
        let first = offset as usize / WRITE;
        (first..)
            .zip(bytes.chunks(WRITE))
            .try_for_each(|(word, bytes)| self.write_word(word, bytes))
    }
}

impl<const READ: usize, const WRITE: usize, const ERASE: usize> MultiwriteNorFlash
    for Hal<READ, WRITE, ERASE>
{
}
