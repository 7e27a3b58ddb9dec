//! A chip on which one operation fails once, in a chosen way.

use steadyfs::media::{BlockIndex, Failure, Flash, Geometry, PageIndex, TAG_BYTES, Timing};
use steadyfs_sim::{Nand, NandTiming, Tearable, Torn};

/// The way in which an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The device does not answer, and has done nothing.
    Refused,
    /// The device does not answer, but has completed the operation.
    Done,
    /// The device does not answer, and the operation is half done.
    Torn,
    /// The chip reports a bad block or an uncorrectable page, but has completed the operation.
    BadDone,
    /// The chip reports a bad block or an uncorrectable page, and the operation is half done.
    BadTorn,
    /// The chip reports that it is locked.
    Locked,
}

impl Way {
    pub const ALL: [Self; 6] =
        [Self::Refused, Self::Done, Self::Torn, Self::BadDone, Self::BadTorn, Self::Locked];

    fn failure(self, reads: bool) -> Failure {
        match self {
            Self::Refused | Self::Done | Self::Torn => Failure::Device,
            Self::BadDone | Self::BadTorn if reads => Failure::Uncorrectable,
            Self::BadDone | Self::BadTorn => Failure::BadBlock,
            Self::Locked if reads => Failure::Device,
            Self::Locked => Failure::WriteProtected,
        }
    }

    /// Returns the result of an operation that changes the medium, or `None` if it was not begun.
    fn leaves(self) -> Option<Torn> {
        match self {
            Self::Refused | Self::Locked => None,
            Self::Done | Self::BadDone => Some(Torn::New),
            Self::Torn | Self::BadTorn => Some(Torn::Garbled),
        }
    }
}

/// The chip. Operations of all kinds are counted together.
#[derive(Clone)]
pub struct FailOnce {
    chip: Nand,
    pub operations: u64,
    /// The operation that fails, in the count of `operations`.
    plan: Option<(u64, Way)>,
    /// If true, nothing fails and nothing counts: the oracle reads the volume.
    pub paused: bool,
}

impl FailOnce {
    pub fn new(geometry: Geometry, copy: bool) -> Self {
        let chip = Nand::with_geometry(geometry, NandTiming::ROUND, 1).with_on_chip_copy(copy);
        Self { chip, operations: 0, plan: None, paused: false }
    }

    /// Lets the `n`-th operation from now fail; 0 is the next.
    pub fn fail(&mut self, n: u64, way: Way) {
        self.plan = Some((self.operations + n, way));
    }

    /// Returns true if the planned failure has not happened yet.
    pub fn waits(&self) -> bool {
        self.plan.is_some()
    }

    fn fate(&mut self) -> Option<Way> {
        if self.paused {
            return None;
        }
        self.operations += 1;
        let (operation, way) = self.plan?;
        if operation + 1 == self.operations && std::env::var_os("STEADYFS_TELL").is_some() {
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
        }
        (operation + 1 == self.operations).then(|| {
            self.plan = None;
            way
        })
    }

    fn change(
        &mut self,
        act: impl FnOnce(&mut Nand) -> Result<(), Failure>,
        torn: impl FnOnce(&mut Nand, Torn),
    ) -> Result<(), Failure> {
        let Some(way) = self.fate() else { return act(&mut self.chip) };
        match way.leaves() {
            Some(Torn::New) => act(&mut self.chip)?,
            Some(left) => torn(&mut self.chip, left),
            None => {}
        }
        Err(way.failure(false))
    }
}

impl Flash for FailOnce {
    fn geometry(&self) -> Geometry {
        self.chip.geometry()
    }
    fn timing(&self) -> Timing {
        self.chip.timing()
    }
    fn can_copy(&self) -> bool {
        self.chip.can_copy()
    }
    fn is_bad(&mut self, block: BlockIndex) -> Result<bool, Failure> {
        self.chip.is_bad(block)
    }
    fn mark_bad(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.chip.mark_bad(block)
    }
    fn read(
        &mut self,
        page: PageIndex,
        data: &mut [u8],
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        if let Some(way) = self.fate() {
            data.fill(0x5A);
            return Err(way.failure(true));
        }
        self.chip.read(page, data, tag)
    }
    fn read_tag(&mut self, page: PageIndex, tag: &mut [u8; TAG_BYTES]) -> Result<(), Failure> {
        if let Some(way) = self.fate() {
            return Err(way.failure(true));
        }
        self.chip.read_tag(page, tag)
    }
    fn program(
        &mut self,
        page: PageIndex,
        data: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Failure> {
        self.change(
            |chip| chip.program(page, data, tag),
            |chip, torn| chip.program_torn(page, data, tag, torn),
        )
    }
    fn program_loaded(&mut self, page: PageIndex, tag: &[u8; TAG_BYTES]) -> Result<(), Failure> {
        self.change(
            |chip| chip.program_loaded(page, tag),
            |chip, torn| chip.program_loaded_torn(page, tag, torn),
        )
    }
    fn erase(&mut self, block: BlockIndex) -> Result<(), Failure> {
        self.change(|chip| chip.erase(block), |chip, torn| chip.erase_torn(block, torn))
    }
    fn sync(&mut self) -> Result<(), Failure> {
        match self.fate() {
            Some(_) => Err(Failure::Device),
            None => Ok(()),
        }
    }
}
