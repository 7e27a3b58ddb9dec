//! The chip of the runs: a profile of NAND, or the profile that stands for the flash of an eMMC.

use super::error::StreamsError;
use super::options::{EMMC, Options};
use crate::evaluate::find_nand;
use steadyfs::media::Geometry;
use steadyfs_sim::{Nand, NandProfile, NandTiming, Profile};

const EMMC_PROFILE: &str = include_str!("../../assets/emmc-like.toml");

/// The chip of the runs.
pub(super) struct Device {
    pub(super) profile: Profile,
    pub(super) nand: NandProfile,
    pub(super) geometry: Geometry,
}

impl Device {
    pub(super) fn of(options: &Options) -> Result<Device, StreamsError> {
        let profile = match options.device.as_str() {
            EMMC => Profile::from_toml(EMMC_PROFILE).expect("the built-in profile is a profile"),
            device => find_nand(device).map_err(StreamsError::Device)?,
        };
        let nand = profile.nand().expect("it was looked for among these");
        let usual = nand.geometry();
        let geometry =
            Geometry { block_count: options.blocks.unwrap_or(usual.block_count), ..usual };
        Ok(Device { nand: nand.clone(), profile, geometry })
    }

    /// Returns an erased chip.
    pub(super) fn chip(&self, options: &Options) -> Nand {
        let timing = NandTiming::of(&self.nand, options.timing.choice());
        Nand::with_geometry(self.geometry, timing, options.seed)
            .with_on_chip_copy(self.nand.on_chip_copy)
    }
}
