//! A chip or card with a volume, its model, and the random numbers that drive both. All are drawn
//! from one seed.

use steadyfs::media::{Flash, Geometry};
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, MountError};

use crate::adapt;
use crate::client::Habits;
use crate::log::Log;
use crate::medium::Medium;
use crate::oracle::Oracle;
use crate::session::{FailedUnmount, Session};
use crate::shape::{self, Settings};
use crate::world::{MediumKind, World};

/// Bytes of the table of heads of a volume with one stream.
const HEADS_BYTES: usize = 18;

/// Maximum number of pages of a medium that is filled. A larger medium takes too long to fill.
const FULL_PAGES_MAX: u32 = 1_000;

/// A volume under siege.
pub struct Volume {
    /// Medium of the volume.
    pub medium: Medium,
    /// Settings of the volume.
    pub config: Config,
    /// The model.
    pub oracle: Oracle,
    /// Random numbers.
    pub rng: fastrand::Rng,
    /// Habits of the client.
    pub habits: Habits,
    memory: Vec<u8>,
    /// Memory that each mount is lent as a write cache. Empty without a cache.
    cache: Vec<u8>,
    /// Memory that each mount is lent as a read cache. Empty without a cache.
    read_cache: Vec<u8>,
}

impl Volume {
    /// Formats a medium. The medium and its settings are drawn from the seed.
    ///
    /// # Errors
    /// The error of the format, if a sound medium cannot be formatted.
    pub fn new(
        seed: u64,
        settings: Settings,
        pages_max: u32,
        log: &mut Log,
    ) -> Result<Self, MountError> {
        Self::with(seed, settings, pages_max, log, |_| ())
    }

    /// Formats a medium with settings that `adjust` has changed.
    ///
    /// # Errors
    /// The error of the format, if a sound medium cannot be formatted.
    pub fn with(
        seed: u64,
        settings: Settings,
        pages_max: u32,
        log: &mut Log,
        adjust: impl Fn(&mut Config),
    ) -> Result<Self, MountError> {
        Self::made(seed, settings, pages_max, log, adjust, |_| ())
    }

    /// Formats a medium that `prepare` has changed.
    ///
    /// # Errors
    /// The error of the format, if the medium cannot be formatted.
    pub fn on(
        seed: u64,
        settings: Settings,
        pages_max: u32,
        log: &mut Log,
        prepare: impl FnOnce(&mut Medium),
    ) -> Result<Self, MountError> {
        Self::made(seed, settings, pages_max, log, |_| (), prepare)
    }

    fn made(
        seed: u64,
        settings: Settings,
        pages_max: u32,
        log: &mut Log,
        adjust: impl Fn(&mut Config),
        prepare: impl FnOnce(&mut Medium),
    ) -> Result<Self, MountError> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let World { has_streams, has_long_logs, is_full, .. } = log.world;
        let with = |mut config, geometry: &Geometry| {
            adjust(&mut config);
            let config =
                if has_long_logs { shape::with_long_logs(config, geometry) } else { config };
            let config = if is_full { shape::with_groups(config, geometry, seed) } else { config };
            if has_streams { shape::with_streams(config, geometry, seed) } else { config }
        };
        let pages_max = if is_full { pages_max.min(FULL_PAGES_MAX) } else { pages_max };
        let (mut medium, config) = match log.world.medium {
            MediumKind::Chip => shape::any_chip(&mut rng, settings, pages_max, with),
            MediumKind::ChipGroups => {
                shape::any_chip_of_groups(&mut rng, settings, pages_max, seed, with)
            }
            MediumKind::Card => {
                shape::any_card(&mut rng, settings, pages_max, shape::Tags::Apart, with)
            }
            MediumKind::CardWithin => {
                shape::any_card(&mut rng, settings, pages_max, shape::Tags::Within, with)
            }
        };
        medium.set_traced(log.world.is_traced);
        prepare(&mut medium);
        let memory = vec![0; config.memory_bytes(&medium.geometry())];
        let habits =
            if is_full { Habits::of_a_full_volume(&mut rng) } else { Habits::any(&mut rng) };
        log.trace(|| format!("{} {config:?} {habits:?}", medium.describe()));
        let cache_pages = if log.world.has_cache { rng.usize(2..24) } else { 0 };
        let cache = vec![
            0;
            if cache_pages == 0 {
                0
            } else {
                config.cache_bytes(&medium.geometry(), cache_pages)
            }
        ];
        let read_cache = vec![0; config.read_cache_bytes(&medium.geometry(), 3 * cache_pages)];
        let mut volume =
            Self { medium, config, oracle: Oracle::new(), rng, habits, memory, cache, read_cache };
        FileSystem::format(&mut volume.medium, &volume.config, &mut volume.memory)?;
        if is_full {
            volume.fill(log)?;
        }
        Ok(volume)
    }

    /// Fills a new volume, and unmounts it.
    fn fill(&mut self, log: &mut Log) -> Result<(), MountError> {
        let habits = self.habits.clone();
        let failed = self.mount(Access::ReadWrite, log, |mut session| {
            session.choose(CommitOn::EVERY_WRITE);
            if session.fill(&habits) { session.unmount() } else { None }
        })?;
        self.judge_unmount(failed, log);
        Ok(())
    }

    /// Mounts the volume and lets `run` use it. The lent memory holds arbitrary bytes.
    ///
    /// # Errors
    /// The errors of the mount.
    pub fn mount<R>(
        &mut self,
        access: Access,
        log: &mut Log,
        run: impl FnOnce(Session<'_, '_, '_>) -> R,
    ) -> Result<R, MountError> {
        log.count("mounts");
        // Recorded seeds come from a time when the volume needed less memory, by the table of
        // heads. So the random bytes stop before it.
        let known = self.memory.len() - HEADS_BYTES;
        self.rng.fill(&mut self.memory[..known]);
        let fired = self.medium.fired();
        let result = FileSystem::mount(&mut self.medium, access, &mut self.memory);
        let mut fs = match result {
            Ok(fs) => fs,
            Err(error) => {
                log.trace(|| {
                    format!("mount {access:?}: {error:?}, power {}", self.medium.has_power())
                });
                return Err(error);
            }
        };
        if !self.cache.is_empty() && !fs.health().read_only {
            fs.lend_cache(&mut self.cache).expect("a cache of the size that was asked for");
        }
        fs.lend_read_cache(&mut self.read_cache);
        log.trace(|| {
            let fault = if fs.flash().fired() != fired {
                format!("  [{}]", fs.flash().last_fired())
            } else {
                String::new()
            };
            format!(
                "mount {access:?}: ok, read-only {:?}, power {}{fault}",
                adapt::why_read_only(&fs),
                fs.flash().has_power()
            )
        });
        let events = fs.commit_on();
        let (oracle, rng) = (&mut self.oracle, &mut self.rng);
        let mut session = Session {
            fs,
            oracle,
            rng,
            log,
            handles: Vec::new(),
            events,
            is_damaged: false,
            was_struck: false,
        };
        if session.rng.bool() {
            session.fs.set_time(session.rng.u64(1..1 << 50));
        }
        Ok(run(session))
    }

    /// Judges an unmount that returned an error. The unmount committed nothing, or it returned
    /// `Unknown`, or power failed.
    pub fn judge_unmount(&mut self, failed: Option<FailedUnmount>, log: &mut Log) {
        let Some(failed) = failed else { return };
        let is_struck = self.medium.fired() != failed.fired;
        if !self.medium.has_power() || adapt::is_unknown(failed.error) {
            if failed.commits {
                let current = self.oracle.current.clone();
                self.oracle.allow(&current);
            }
            return;
        }
        let is_refused = failed.error == Error::ReadOnly && self.medium.lost_a_flush();
        let has_cause = is_struck
            || is_refused
            || matches!(failed.error, Error::NoSpace | Error::TransactionTooLarge);
        if !has_cause {
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
