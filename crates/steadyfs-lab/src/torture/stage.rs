//! The volume before a workload: filled, and worked on until every block was used.

use super::caught::caught;
use super::face::Model;
use super::sectors::{Disk, sector_steps};
use super::volume::Volume;
use super::workload::{Files, Sizes, Workload, events};
use crate::model::oracle::{fill, work};
use crate::model::steps::{Limits, Op, random_steps};
use crate::model::{Device, disk, oracle};
use steadyfs::{Access, MountError};

/// Percentage of a disk that is written, chosen by the seed. A disk may be full, and stays so until
/// a trim.
const DISK_FILLS: [u64; 3] = [100, 60, 90];

/// A volume before the workload.
pub(super) struct Stage {
    pub device: Device,
    pub model: Model,
    pub sizes: Sizes,
}

impl Stage {
    /// Makes a volume for a workload, on a chip with `bad` bad blocks from the factory.
    ///
    /// # Errors
    /// The description of a violation before the workload.
    pub fn new(volume: &Volume, workload: Workload, seed: u64, bad: u32) -> Result<Self, String> {
        let made = caught(|| match workload {
            Workload::Disk => Self::disk(volume, seed, bad),
            _ => Self::files(volume, workload, seed, bad),
        });
        let mut stage = made??;
        // Uncommitted changes are lost, so that there is one possible state.
        stage.device.power_cycle();
        caught(|| {
            stage
                .model
                .mount(Access::ReadWrite, &mut stage.device)
                .and_then(|mut session| Ok(session.compare()?))
        })?
        .map_err(|error| error.to_string())?;
        stage.device.power_cycle();
        Ok(stage)
    }

    fn files(volume: &Volume, workload: Workload, seed: u64, bad: u32) -> Result<Self, String> {
        let mut device = volume.device(bad, seed)?;
        let mut model = oracle::Model::new(events(workload));
        let logical_bytes = volume.logical_bytes();
        let limits = Limits { files: 6, span: 4 * logical_bytes, logical_bytes };
        fill(&mut device, &mut model, workload.fill());
        let rest_pages = model
            .current
            .files()
            .map(|(_, node)| node.data.len() as u64 / logical_bytes)
            .sum::<u64>();
        let sizes =
            Files { limits, rest_pages, transaction_pages: volume.transaction_pages.into() };
        let past = Workload::Reclaim.file_steps(
            seed,
            turns(volume, volume.pages_per_logical_page, seed),
            &sizes,
        );
        let random =
            random_steps(seed ^ 0xACE, 60, limits).filter(|op| !matches!(op, Op::Events { .. }));
        work(&mut device, &mut model, past.into_iter().chain(random))
            .map_err(|error| error.to_string())?;
        Ok(Self { device, model: Model::Files(model), sizes: Sizes::Files(sizes) })
    }

    fn disk(volume: &Volume, seed: u64, bad: u32) -> Result<Self, String> {
        let mut device = volume.disk(bad, seed)?;
        let work = || -> Result<Self, MountError> {
            let empty = device.mount_disk(Access::ReadOnly)?;
            let (sectors, page_sectors) = (empty.sectors(), empty.page_sectors());
            let sizes = Disk { sectors, page_sectors, streams: device.config.streams };
            let mut model = disk::Model::new(sectors);
            disk::fill(&mut device, &mut model, DISK_FILLS[(seed % 3) as usize])?;
            // Only writes and flushes leave the disk as full as it is.
            let past = sector_steps(!seed, &sizes)
                .filter(|step| matches!(step, disk::Step::Write { .. } | disk::Step::Flush));
            let turns = turns(volume, device.config.pages_per_logical_page, seed);
            {
                let mut session = disk::Session::mount(Access::ReadWrite, &mut device, &mut model)?;
                past.take(turns).try_for_each(|step| session.step(&step))?;
            }
            Ok(Self { device, model: Model::Disk(model), sizes: Sizes::Disk(sizes) })
        };
        work().map_err(|error| error.to_string())
    }
}

/// Returns the number of steps of a past. The seed decides in which block, and at which place
/// between two roots, the workload begins.
fn turns(volume: &Volume, pages_per_logical_page: u16, seed: u64) -> usize {
    let frames = u64::from(volume.pages_per_block / u32::from(pages_per_logical_page))
        * u64::from(volume.block_count);
    (frames + seed % 97) as usize
}
