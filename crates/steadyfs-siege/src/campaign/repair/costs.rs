//! The maximum cost of the loss of a page, by the page's content: the table of the design
//! document.

use std::fmt::{self, Display, Formatter};

use steadyfs::Config;
use steadyfs::media::{Flash, Geometry, PageIndex, TAG_BYTES};

use crate::medium::Medium;
use crate::oracle::Oracle;
use crate::tree::Tree;
use crate::view::Partial;

/// Content of a page, derived from its tag as `docs/format.md` describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// A superblock.
    Superblock,
    /// A root, a copy of a root, or a copy that a mount made beside it.
    Root,
    /// A journal page.
    Journal,
    /// A leaf of the map.
    Leaf,
    /// The root page and the allocation map.
    Map,
    /// A page of the file table.
    Table,
    /// A page of a file, a directory or an index.
    Data,
    /// The tag gives no kind.
    Other,
}

impl Held {
    /// Returns the content of a page before it is lost.
    pub fn by(medium: &mut Medium, config: &Config, page: PageIndex) -> Self {
        let (geometry, mut tag) = (medium.geometry(), [0; TAG_BYTES]);
        let is_bad = medium.is_bad(page / geometry.pages_per_block) != Ok(false);
        if is_bad || medium.read_tag(page, &mut tag).is_err() {
            return Self::Other;
        }
        match tag[8] & 15 {
            1 => Self::Superblock,
            2 => Self::Root,
            3 | 4 | 7 | 8 => {
                Self::of_logical(u32::from_le_bytes([tag[5], tag[6], tag[7], 0]), config, &geometry)
            }
            5 | 6 | 11 => Self::Journal,
            9 | 10 | 12 => Self::Leaf,
            _ => Self::Other,
        }
    }

    fn of_logical(logical: u32, config: &Config, geometry: &Geometry) -> Self {
        let (unit, inodes) = (u32::from(config.pages_per_logical_page), config.files_max + 16);
        let logical_bytes = unit * geometry.page_bytes;
        let frames = geometry.pages_per_block * geometry.block_count / unit;
        let data_pages = if config.move_group > 1 { frames / 25 * 24 } else { frames / 10 * 9 };
        let map_bytes = inodes.div_ceil(8) + data_pages.div_ceil(8);
        let table = 1 + map_bytes.div_ceil(logical_bytes);
        match logical {
            _ if logical < table => Self::Map,
            _ if logical < table + (inodes * 256).div_ceil(logical_bytes) => Self::Table,
            _ => Self::Data,
        }
    }
}

impl Display for Held {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Superblock => "superblock",
            Self::Root => "root",
            Self::Journal => "journal",
            Self::Leaf => "leaf of the map",
            Self::Map => "root page, map",
            Self::Table => "file table",
            Self::Data => "file, directory",
            Self::Other => "tag unreadable",
        })
    }
}

/// Costs of the pages of one kind: the number of pages, and the maximum cost of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Number of lost pages.
    pub lost: u64,
    /// Number of lost pages that cost nothing.
    pub nothing: u64,
    /// Number of lost pages after which the volume showed an earlier state.
    pub earlier: u64,
    /// Number of lost pages after which the volume could only be read.
    pub refused: u64,
    /// Files and directories that are gone, or have another name.
    pub gone: u32,
    /// Files that are empty.
    pub emptied: u32,
    /// Files of which a part cannot be read.
    pub damaged: u32,
    /// Files without their attributes.
    pub bare: u32,
}

impl Costs {
    /// The head of the table.
    pub const HEAD: &str =
        "lost               pages  nothing  earlier  refused    gone  empty  damaged  bare";

    /// Returns the losses of a repaired volume against the nearest possible state.
    pub fn of(after: &Partial, oracle: &Oracle) -> Self {
        let each = oracle.durable.iter().map(|tree| Self::beside(after, tree));
        let least = each
            .min_by_key(|costs| costs.gone + costs.emptied + costs.damaged + costs.bare)
            .unwrap_or_default();
        let costs_nothing = least.gone + least.emptied + least.damaged + least.bare == 0;
        Self { lost: 1, nothing: u64::from(costs_nothing), ..least }
    }

    /// Costs of a volume that shows an earlier state.
    pub const EARLIER: Self = Self {
        lost: 1,
        nothing: 0,
        earlier: 1,
        refused: 0,
        gone: 0,
        emptied: 0,
        damaged: 0,
        bare: 0,
    };
    /// Costs of a volume that cannot be repaired.
    pub const REFUSED: Self = Self { earlier: 0, refused: 1, ..Self::EARLIER };

    fn beside(after: &Partial, tree: &Tree) -> Self {
        let mut costs = Self::default();
        for (path, id) in &tree.names {
            let node = &tree.nodes[id];
            let Some(size) = after.sizes.get(path) else {
                costs.gone += 1;
                continue;
            };
            costs.emptied += u32::from(*size == Some(0) && !node.data.is_empty());
            costs.damaged += u32::from(after.damaged.contains(path));
            costs.bare += u32::from(
                after.attributes.get(path).is_none_or(|attributes| *attributes != *node.attributes),
            );
        }
        costs
    }

    /// Adds the costs of other pages.
    pub fn add(&mut self, other: &Self) {
        self.lost += other.lost;
        self.nothing += other.nothing;
        self.earlier += other.earlier;
        self.refused += other.refused;
        self.gone = self.gone.max(other.gone);
        self.emptied = self.emptied.max(other.emptied);
        self.damaged = self.damaged.max(other.damaged);
        self.bare = self.bare.max(other.bare);
    }
}

impl Display for Costs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { lost, nothing, earlier, refused, gone, emptied, damaged, bare } = self;
        write!(
            f,
            "{lost:>9}{nothing:>9}{earlier:>9}{refused:>9}{gone:>8}{emptied:>7}{damaged:>9}\
             {bare:>6}"
        )
    }
}
