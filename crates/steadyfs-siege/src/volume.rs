//! A chip with a volume on it, the model of what is on it, and the chance that drives both: all from one seed.

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, MountError};

use crate::adapt;
use crate::chip::Chip;
use crate::client::Habits;
use crate::log::Log;
use crate::oracle::Oracle;
use crate::session::{FailedUnmount, Session};

/// Bytes of the table of heads of a volume with one stream.
const HEADS_BYTES: usize = 18;

/// How free the choice of settings is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// Those of `Config::for_geometry`.
    Default,
    /// Any that `Config::check` accepts.
    Any,
}

/// A volume under siege.
pub struct Volume {
    /// The chip.
    pub chip: Chip,
    /// Settings of the volume.
    pub config: Config,
    /// The model.
    pub oracle: Oracle,
    /// Chance.
    pub rng: fastrand::Rng,
    /// What the client likes.
    pub habits: Habits,
    memory: Vec<u8>,
}

fn any_geometry(rng: &mut fastrand::Rng, pages_max: u32) -> Geometry {
    loop {
        let page_bytes = *rng.choice(&[256, 256, 512, 512, 1024, 2048]).expect("one of them");
        let pages_per_block = *rng.choice(&[8, 12, 16, 20, 24, 32, 48, 64]).expect("one of them");
        let block_count = rng.u32(24..=128);
        if pages_per_block * block_count <= pages_max {
            return Geometry { page_bytes, pages_per_block, block_count, programs_bytes: rng.bool() };
        }
    }
}

fn any_config(rng: &mut fastrand::Rng, geometry: &Geometry, settings: Settings) -> Config {
    let mut config = Config::for_geometry(geometry);
    if settings == Settings::Default {
        return config;
    }
    config.unit_pages = 1 << rng.u32(..3);
    config.transaction_pages = rng.u16(8..40);
    config.overlay_entries = config.transaction_pages + 40 + rng.u16(..60);
    config.checkpoint_programs = rng.u16(16..200);
    config.wear_spread = rng.u8(8..40);
    config.bad_blocks_max = rng.u16(2..6);
    config.files_max = rng.u32(12..200);
    config.failures = rng.u8(..4);
    config
}

/// The settings with two to four streams, if the volume is large enough. Chance of its own, so that everything else is as without.
fn with_streams(config: Config, geometry: &Geometry, seed: u64) -> Config {
    let mut rng = fastrand::Rng::with_seed(!seed);
    let most = rng.u8(2..=4);
    let moved_apart = rng.bool();
    let auto_streams = rng.bool();
    let fits = |streams: u8| {
        Some(Config { streams, moved_apart, auto_streams, ..config }).filter(|config| config.check(geometry).is_ok())
    };
    (2..=most).rev().find_map(fits).unwrap_or(config)
}

/// A geometry and settings that go together.
pub fn any_shape(rng: &mut fastrand::Rng, settings: Settings, pages_max: u32) -> (Geometry, Config) {
    loop {
        let geometry = any_geometry(rng, pages_max);
        let config = any_config(rng, &geometry, settings);
        if config.check(&geometry).is_ok() {
            return (geometry, config);
        }
    }
}

impl Volume {
    /// Formats a chip; both are drawn from the seed.
    ///
    /// # Errors
    /// When a sound chip cannot be formatted.
    pub fn new(seed: u64, settings: Settings, pages_max: u32, log: &mut Log) -> Result<Self, MountError> {
        Self::with(seed, settings, pages_max, log, |_| ())
    }

    /// The same, with settings that `adjust` has changed.
    ///
    /// # Errors
    /// When a sound chip cannot be formatted.
    pub fn with(
        seed: u64,
        settings: Settings,
        pages_max: u32,
        log: &mut Log,
        adjust: impl FnOnce(&mut Config),
    ) -> Result<Self, MountError> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (geometry, mut config) = any_shape(&mut rng, settings, pages_max);
        adjust(&mut config);
        if log.has_streams {
            config = with_streams(config, &geometry, seed);
        }
        let mut chip = Chip::new(geometry, rng.bool(), rng.u32(..4) == 0, rng.u64(..));
        if rng.u32(..4) == 0 && config.bad_blocks_max > 2 {
            // Manufacturers promise that block 0 is good.
            chip.make_factory_bad(rng.u32(1..geometry.block_count));
        }
        chip.is_traced = log.is_traced;
        let memory = vec![0; config.memory_bytes(&geometry)];
        let habits = Habits::any(&mut rng);
        log.trace(|| format!("{geometry:?} copy {} {config:?} {habits:?}", chip.can_copy()));
        let mut volume = Self { chip, config, oracle: Oracle::new(), rng, habits, memory };
        FileSystem::format(&mut volume.chip, &volume.config, &mut volume.memory)?;
        Ok(volume)
    }

    /// Mounts the volume and lets `run` use it. The memory lent holds what happened to be in it.
    ///
    /// # Errors
    /// Those of the mount.
    pub fn mount<R>(
        &mut self,
        access: Access,
        log: &mut Log,
        run: impl FnOnce(Session<'_, '_, '_>) -> R,
    ) -> Result<R, MountError> {
        log.count("mounts");
        // The seeds that are kept are of a time when the volume needed less by the table of heads.
        let known = self.memory.len() - HEADS_BYTES;
        self.rng.fill(&mut self.memory[..known]);
        let fired = self.chip.fired();
        let result = FileSystem::mount(&mut self.chip, access, &mut self.memory);
        let fs = match result {
            Ok(fs) => fs,
            Err(error) => {
                log.trace(|| format!("mount {access:?}: {error:?}, power {}", self.chip.has_power()));
                return Err(error);
            }
        };
        log.trace(|| {
            let fault = if fs.flash().fired() != fired { format!("  [{}]", fs.flash().last_fired()) } else { String::new() };
            format!("mount {access:?}: ok, read-only {:?}, power {}{fault}", adapt::why_read_only(&fs), fs.flash().has_power())
        });
        let events = fs.commit_on();
        let (oracle, rng) = (&mut self.oracle, &mut self.rng);
        let mut session = Session { fs, oracle, rng, log, handles: Vec::new(), events, is_damaged: false, was_struck: false };
        if session.rng.bool() {
            session.fs.set_time(session.rng.u64(1..1 << 50));
        }
        Ok(run(session))
    }

    /// Judges an unmount that returned an error: it has committed nothing, or says that this is unknown, or power failed.
    pub fn judge_unmount(&mut self, failed: Option<FailedUnmount>, log: &mut Log) {
        let Some(failed) = failed else { return };
        let is_struck = self.chip.fired() != failed.fired;
        if !self.chip.has_power() || adapt::is_unknown(failed.error) {
            if failed.commits {
                let current = self.oracle.current.clone();
                self.oracle.allow(&current);
            }
        } else if !is_struck && !matches!(failed.error, Error::NoSpace | Error::TransactionTooLarge) {
            log.find("an error without a cause", format!("unmount: {:?}", failed.error));
        }
    }
}

impl Session<'_, '_, '_> {
    /// Chooses the events that commit.
    pub fn choose(&mut self, events: CommitOn) {
        self.events = events;
        self.fs.set_commit_on(events);
        self.log.trace(|| format!("commit on {events:?}"));
    }
}
