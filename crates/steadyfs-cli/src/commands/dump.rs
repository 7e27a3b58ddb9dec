//! `steady dump`: shows the parts of a volume and their places on the chip.

use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::{Memory, Mounted};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use steadyfs::media::BlockIndex;
use steadyfs::{Access, BlockInfo, BlockState, Damage, Description};
use steadyfs_host::damage;
use steadyfs_lab::table::{Align, facts, table};
use steadyfs_lab::units::{format_count, format_size};

/// Arguments of `steady dump`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
Blocks that follow each other and are alike are one line. Wear is the erase count above the lowest
erase count. Live is the number of logical pages with data in a block, including data that was
superseded a short time ago.";

/// Names of the heads, in the order of their description. Heads of streams are listed if they
/// have begun a block.
const HEADS: [&str; 3] = ["data", "moved", "journal"];
const STREAMS: [&str; 3] = ["stream 1", "stream 2", "stream 3"];

/// Runs `steady dump`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let volume = Mounted::open(&arguments.image, &arguments.chip, Access::ReadOnly, &mut memory)?;
    let (description, damage, unsettled) =
        (volume.describe(), volume.damage(), volume.is_unsettled());
    let blocks: Vec<_> =
        (0..description.geometry.block_count).filter_map(|block| volume.block(block)).collect();
    volume.close(&arguments.chip)?;
    let dump = Dump::of(&description, &blocks, damage, unsettled);
    if arguments.json { print_json(&dump) } else { print(&dump.text()) }
}

#[derive(Serialize)]
struct Dump {
    superblock: Superblock,
    root: Root,
    journal: Journal,
    heads: Vec<Head>,
    blocks: Vec<Block>,
}

#[derive(Serialize)]
struct Superblock {
    page_bytes: u32,
    pages_per_block: u32,
    block_count: u32,
    pages_per_logical_page: u16,
    overlay_entries: u16,
    transaction_pages: u16,
    checkpoint_programs: u16,
    wear_spread: u8,
    bad_blocks_max: u16,
    files_max: u32,
    failures: u8,
    name_bytes_max: u8,
    permissions: bool,
    streams: u8,
    moved_apart: bool,
    auto_streams: bool,
    move_group: u8,
    leaf_log_bytes: u8,
    journal_pages: u8,
    usable_pages: u32,
    logical_pages: u32,
    frames_per_block: u32,
    leaves: u32,
}

#[derive(Serialize)]
struct Root {
    /// Block of the root with which the mount began.
    block: BlockIndex,
    /// Blocks of the ring.
    ring_blocks: u32,
    overlay_entries: u32,
    /// Sequence number of the next program.
    sequence: u64,
    /// The loss: root, record, journal or leaf; `None` if everything is there.
    damage: Option<&'static str>,
    /// True if a mount for writing may decide otherwise about the last commit.
    unsettled: bool,
}

#[derive(Serialize)]
struct Journal {
    /// The newest journal page.
    page: Option<u32>,
    block: Option<BlockIndex>,
    /// Another page with the same content.
    copy: Option<u32>,
    bytes: u32,
}

#[derive(Serialize)]
struct Head {
    name: &'static str,
    block: Option<BlockIndex>,
    next_page: Option<u32>,
}

#[derive(Serialize, Clone, Copy, PartialEq)]
struct Block {
    block: BlockIndex,
    state: &'static str,
    wear: u8,
    live: u32,
}

impl Dump {
    fn of(
        description: &Description,
        blocks: &[BlockInfo],
        lost: Option<Damage>,
        unsettled: bool,
    ) -> Self {
        let block = |(block, info): (usize, &BlockInfo)| Block {
            block: block as u32,
            state: state(info.state),
            wear: info.wear,
            live: info.live,
        };
        let head = |(name, head): (&'static str, &Option<(BlockIndex, u32)>)| Head {
            name,
            block: head.map(|(block, _)| block),
            next_page: head.map(|(_, page)| page),
        };
        let streams =
            STREAMS.into_iter().zip(&description.streams).filter(|(_, head)| head.is_some());
        Self {
            superblock: Superblock::of(description),
            root: Root {
                block: description.ring.0,
                ring_blocks: description.ring_blocks,
                overlay_entries: description.overlay_entries,
                sequence: description.sequence,
                damage: lost.map(damage::name),
                unsettled,
            },
            journal: Journal {
                page: description.journal,
                block: description.journal.map(|page| page / description.geometry.pages_per_block),
                copy: description.journal_copy,
                bytes: description.journal_bytes,
            },
            heads: HEADS.into_iter().zip(&description.heads).chain(streams).map(head).collect(),
            blocks: blocks.iter().enumerate().map(block).collect(),
        }
    }

    fn text(&self) -> String {
        let Self { superblock, root, journal, .. } = self;
        let at = |block: BlockIndex, page: u32| format!("block {block}, next page {page}");
        let newest = match (journal.page, journal.block) {
            (Some(page), Some(block)) => {
                format!("page {page} (block {block}), {}", format_size(journal.bytes.into()))
            }
            _ => "none".to_string(),
        };
        let state = facts([
            ("Next sequence", format_count(root.sequence)),
            ("Root", format!("block {}, in a ring of {}", root.block, root.ring_blocks)),
            (
                "Overlay",
                format!("{} of {} entries", root.overlay_entries, superblock.overlay_entries),
            ),
            ("Journal", newest),
            ("Damage", root.damage.unwrap_or("none").to_string()),
            ("Settled", if root.unsettled { "no" } else { "yes" }.to_string()),
        ]);
        let heads = facts(self.heads.iter().map(|head| {
            let place = head
                .block
                .zip(head.next_page)
                .map_or("none".to_string(), |(block, page)| at(block, page));
            (head.name, place)
        }));
        format!(
            "Superblock\n{}\nState\n{state}\nHeads\n{heads}\n{}",
            superblock.text(),
            self.block_table()
        )
    }

    fn block_table(&self) -> String {
        let mut rows = vec![["Blocks", "State", "Wear", "Live"].map(String::from).to_vec()];
        for run in self.blocks.chunk_by(|a, b| Block { block: b.block, ..*a } == *b) {
            let (first, last) = (run[0], run[run.len() - 1]);
            let blocks = if run.len() == 1 {
                first.block.to_string()
            } else {
                format!("{}–{}", first.block, last.block)
            };
            rows.push(vec![
                blocks,
                first.state.to_string(),
                first.wear.to_string(),
                first.live.to_string(),
            ]);
        }
        table(&rows, &[Align::Left, Align::Left, Align::Right, Align::Right])
    }
}

impl Superblock {
    fn of(description: &Description) -> Self {
        let (geometry, config) = (&description.geometry, &description.config);
        Self {
            page_bytes: geometry.page_bytes,
            pages_per_block: geometry.pages_per_block,
            block_count: geometry.block_count,
            pages_per_logical_page: config.pages_per_logical_page,
            overlay_entries: config.overlay_entries,
            transaction_pages: config.transaction_pages,
            checkpoint_programs: config.checkpoint_programs,
            wear_spread: config.wear_spread,
            bad_blocks_max: config.bad_blocks_max,
            files_max: config.files_max,
            failures: config.failures,
            name_bytes_max: config.name_bytes_max,
            permissions: config.permissions,
            streams: config.streams,
            moved_apart: config.moved_apart,
            auto_streams: config.auto_streams,
            move_group: config.move_group,
            leaf_log_bytes: config.leaf_log_bytes,
            journal_pages: config.journal_pages,
            usable_pages: description.usable_pages,
            logical_pages: description.logical_pages,
            frames_per_block: description.frames_per_block,
            leaves: description.leaves,
        }
    }

    fn text(&self) -> String {
        let logical_bytes = u32::from(self.pages_per_logical_page) * self.page_bytes;
        let files = match self.files_max {
            0 => "none: it is a disk".to_string(),
            most => format!(
                "up to {}, names of {} bytes",
                format_count(most.into()),
                self.name_bytes_max
            ),
        };
        facts([
            (
                "Chip",
                format!(
                    "{} blocks of {} pages of {}",
                    self.block_count,
                    self.pages_per_block,
                    format_size(self.page_bytes.into())
                ),
            ),
            (
                "Logical pages",
                format!("{}, {} a block", format_size(logical_bytes.into()), self.frames_per_block),
            ),
            (
                "Usable",
                format!(
                    "{} of {} logical pages, {} leaves",
                    self.usable_pages, self.logical_pages, self.leaves
                ),
            ),
            ("Transactions", format!("{} logical pages", self.transaction_pages)),
            ("Roots", format!("every {} programs", self.checkpoint_programs)),
            ("Wear spread", self.wear_spread.to_string()),
            ("Bad blocks", format!("up to {}", self.bad_blocks_max)),
            ("Files", files),
            (
                "Streams",
                format!(
                    "{}{}{}",
                    self.streams,
                    if self.auto_streams { ", found by itself" } else { "" },
                    if self.moved_apart { ", moved pages apart" } else { "" }
                ),
            ),
            ("Failures", format!("{} a call", self.failures)),
        ])
    }
}

/// Returns the state of a block, in one word.
fn state(state: BlockState) -> &'static str {
    match state {
        BlockState::Bad => "bad",
        BlockState::Reserved => "reserved",
        BlockState::Free => "free",
        BlockState::Clean => "clean",
        BlockState::Listed => "listed",
        BlockState::Erased => "erased",
        BlockState::Dead => "dead",
        BlockState::Used => "used",
        BlockState::Active => "active",
        BlockState::Retiring => "retiring",
        BlockState::Weak => "weak",
        _ => "unknown",
    }
}
