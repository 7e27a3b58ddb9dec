//! Figures of managed devices, each with its source.

use crate::profile::keys::Keys;
use crate::profile::{Line, ProfileError, explain, find_named};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The built-in documents.
const BUILT_IN: [&str; 5] = [
    include_str!("../../profiles/sd-industrial.toml"),
    include_str!("../../profiles/sd-consumer.toml"),
    include_str!("../../profiles/emmc-64gb.toml"),
    include_str!("../../profiles/ssd-sata.toml"),
    include_str!("../../profiles/ssd-desktop.toml"),
];

/// Kinds of managed devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SD card.
    Sd,
    /// eMMC.
    Emmc,
    /// Solid state disk.
    Ssd,
}

impl Kind {
    /// Returns the name, as in the key `kind`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sd => "sd",
            Self::Emmc => "emmc",
            Self::Ssd => "ssd",
        }
    }
}

/// The figures of one managed device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedProfile {
    /// Short name, as the command line accepts it.
    pub name: String,
    /// Maker, type and size of the device.
    pub title: String,
    /// The kind of the device.
    pub kind: Kind,
    /// The figures.
    pub figures: Figures,
    /// Time of the host's driver for each command, in microseconds. No document has it; default 0.
    pub call_us: u32,
    /// The source of each figure, by its key.
    pub sources: BTreeMap<String, String>,
}

/// The figures of a managed device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Figures of an SD card.
    Card(CardProfile),
    /// Figures of an eMMC or an SSD.
    Drive(DriveProfile),
}

/// A struct of whole numbers, its reader and its writer.
macro_rules! figures {
    ($(#[$about:meta])* $name:ident {
        $(#[doc = $doc:literal] $key:ident: $min:expr, $max:expr;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name { $(#[doc = $doc] pub $key: u32,)* }

        impl $name {
            /// The keys with their explanations.
            const KEYS: &[(&str, &str)] = &[$((stringify!($key), $doc.trim_ascii()),)*];

            fn read(keys: &mut Keys) -> Result<Self, ProfileError> {
                let figures = Self { $($key: keys.number(stringify!($key), $min, $max)?,)* };
                figures.check(keys)?;
                Ok(figures)
            }

            fn lines(&self) -> String {
                let mut text = String::new();
                $(let _ = writeln!(text, "{} = {}", stringify!($key), self.$key);)*
                text
            }
        }
    };
}

figures! {
    /// Figures of an SD card: allocation units, few of which are open, and a log for other
    /// writes.
    CardProfile {
        /// Size, in MiB.
        capacity_mib: 64, 1 << 20;
        /// Allocation unit: what is written in order into one place, in KiB.
        unit_kib: 64, 1 << 16;
        /// Smallest piece that the map knows, in bytes.
        slot_bytes: 512, 1 << 16;
        /// What one program of all planes and dies holds, in KiB.
        page_kib: 4, 1 << 12;
        /// Open units at most. More cost RAM in the card; with fewer, one more stream closes all.
        open_units: 1, 64;
        /// Gap that a stream may leave in an open unit and still be one, in KiB.
        gap_kib: 0, 1 << 12;
        /// Log for writes that are no stream, in KiB. A larger one makes a fold worth more writes.
        log_kib: 1024, 1 << 24;
        /// Erase unit of the log, in KiB.
        log_block_kib: 16, 1 << 16;
        /// Free log blocks at which cleaning begins.
        clean_low_blocks: 1, 1 << 16;
        /// Free log blocks at which cleaning ends. More make bursts longer and rarer.
        clean_high_blocks: 2, 1 << 16;
        /// Cleaning that one access waits for, in microseconds.
        clean_slice_us: 1, 1 << 24;
        /// A log block with at most so many percent in use is compacted; else a unit is folded.
        compact_percent: 0, 90;
        /// Longest busy time of one gap, in microseconds. Longer work goes on in the next.
        busy_us_max: 1000, 1 << 24;
        /// A command that begins a stream, in microseconds.
        command_us: 0, 1 << 20;
        /// Transfer of a sector, in nanoseconds.
        sector_ns: 0, 1 << 24;
        /// Read of a slot, in microseconds.
        slot_read_us: 0, 1 << 20;
        /// Program of a slot, in microseconds.
        slot_program_us: 1, 1 << 20;
        /// Read of a page, in microseconds.
        page_read_us: 0, 1 << 20;
        /// Program of a page, in microseconds.
        page_program_us: 1, 1 << 20;
        /// Erase of a unit, or of a log block, in microseconds.
        erase_us: 0, 1 << 20;
        /// A discard, in microseconds.
        discard_us: 0, 1 << 24;
        /// 1: cleaning goes on while the host is idle.
        idle_cleans: 0, 1;
        /// Scatter of each NAND operation, in thousandths up and down.
        jitter_permille: 0, 500;
    }
}

figures! {
    /// Figures of an eMMC or an SSD: a map of slots, superblocks, a volatile cache.
    DriveProfile {
        /// Size, in MiB.
        capacity_mib: 64, 1 << 18;
        /// Smallest piece that the map knows, in bytes.
        slot_bytes: 512, 1 << 16;
        /// What one program of all planes, dies and channels holds, in KiB.
        page_kib: 4, 1 << 12;
        /// What is erased together, in KiB.
        superblock_kib: 64, 1 << 20;
        /// Superblocks beyond the capacity. More make cleaning cheaper.
        spare_superblocks: 4, 1 << 14;
        /// Free superblocks at which cleaning begins.
        clean_low: 2, 1 << 12;
        /// Free superblocks at which cleaning ends.
        clean_high: 3, 1 << 12;
        /// Cleaning that one access waits for, in microseconds.
        clean_slice_us: 1, 1 << 24;
        /// Longest time that one access waits for anything but a flush, in microseconds.
        busy_us_max: 1000, 1 << 24;
        /// Volatile cache, in KiB; 0: none.
        cache_kib: 0, 1 << 22;
        /// A command, in microseconds.
        command_us: 0, 1 << 20;
        /// Transfer of a sector, in nanoseconds.
        sector_ns: 0, 1 << 24;
        /// Read of a slot, in microseconds.
        slot_read_us: 0, 1 << 20;
        /// Program of a page, in microseconds.
        page_program_us: 1, 1 << 20;
        /// Erase of a superblock, in microseconds.
        erase_us: 0, 1 << 20;
        /// What a flush with anything to do takes at least, in microseconds.
        flush_floor_us: 0, 1 << 24;
        /// The whole map is written at each so-manyth flush that has anything to do; 0: never.
        flushes_per_checkpoint: 0, 1 << 20;
        /// 1: a flush waits until the superblock that cleaning moves is complete.
        flush_waits_for_cleaning: 0, 1;
        /// A discard, in microseconds.
        discard_us: 0, 1 << 24;
        /// 1: cleaning goes on while the host is idle.
        idle_cleans: 0, 1;
        /// Scatter of each NAND operation, in thousandths up and down.
        jitter_permille: 0, 500;
    }
}

/// Refuses a figure that is not a multiple of another figure, or does not fit other figures.
fn expect(
    keys: &Keys,
    is_met: bool,
    key: &str,
    found: u32,
    expected: &str,
) -> Result<(), ProfileError> {
    if is_met { Ok(()) } else { Err(keys.refuse(key, found.to_string(), expected)) }
}

impl CardProfile {
    fn check(&self, keys: &Keys) -> Result<(), ProfileError> {
        let slot = self.slot_bytes;
        expect(keys, slot.is_power_of_two(), "slot_bytes", slot, "a power of two")?;
        expect(
            keys,
            (self.page_kib * 1024).is_multiple_of(slot),
            "page_kib",
            self.page_kib,
            "a multiple of `slot_bytes`",
        )?;
        expect(
            keys,
            self.unit_kib.is_multiple_of(self.page_kib),
            "unit_kib",
            self.unit_kib,
            "a multiple of `page_kib`",
        )?;
        let units = u64::from(self.capacity_mib) * 1024;
        expect(
            keys,
            units.is_multiple_of(self.unit_kib.into()),
            "capacity_mib",
            self.capacity_mib,
            "a multiple of `unit_kib`",
        )?;
        let blocks = self.log_kib / self.log_block_kib;
        expect(
            keys,
            (self.log_block_kib * 1024).is_multiple_of(slot),
            "log_block_kib",
            self.log_block_kib,
            "a multiple of `slot_bytes`",
        )?;
        let high = self.clean_high_blocks;
        expect(
            keys,
            high > self.clean_low_blocks,
            "clean_high_blocks",
            high,
            "more than `clean_low_blocks`",
        )?;
        expect(keys, high < blocks, "clean_high_blocks", high, "fewer than the blocks of the log")?;
        expect(
            keys,
            self.clean_slice_us <= self.busy_us_max,
            "clean_slice_us",
            self.clean_slice_us,
            "at most `busy_us_max`",
        )
    }
}

impl DriveProfile {
    fn check(&self, keys: &Keys) -> Result<(), ProfileError> {
        let slot = self.slot_bytes;
        expect(keys, slot.is_power_of_two(), "slot_bytes", slot, "a power of two")?;
        expect(
            keys,
            (self.page_kib * 1024).is_multiple_of(slot),
            "page_kib",
            self.page_kib,
            "a multiple of `slot_bytes`",
        )?;
        let superblock = self.superblock_kib;
        expect(
            keys,
            superblock.is_multiple_of(self.page_kib),
            "superblock_kib",
            superblock,
            "a multiple of `page_kib`",
        )?;
        let superblocks = u64::from(self.capacity_mib) * 1024 / u64::from(superblock)
            + u64::from(self.spare_superblocks);
        expect(
            keys,
            superblocks < 0xFFF0,
            "superblock_kib",
            superblock,
            "fewer than 65,520 superblocks on the device",
        )?;
        expect(
            keys,
            self.clean_high > self.clean_low,
            "clean_high",
            self.clean_high,
            "more than `clean_low`",
        )?;
        expect(
            keys,
            self.clean_high < self.spare_superblocks,
            "clean_high",
            self.clean_high,
            "fewer than `spare_superblocks`",
        )?;
        expect(
            keys,
            self.clean_slice_us <= self.busy_us_max,
            "clean_slice_us",
            self.clean_slice_us,
            "at most `busy_us_max`",
        )
    }
}

impl ManagedProfile {
    /// Reads every built-in profile.
    pub fn all() -> Vec<Self> {
        BUILT_IN
            .iter()
            .map(|text| Self::from_toml(text).expect("built-in profiles are tested"))
            .collect()
    }

    /// Returns the document of a built-in profile, with an explanation above each key.
    pub fn annotated(name: &str) -> Option<String> {
        let (text, keys) = Self::document(name)?;
        Some(explain::annotate(text, |key| explain::of_managed(key, keys)))
    }

    /// Returns the lines of the document of a built-in profile.
    pub fn lines(name: &str) -> Option<Vec<Line<'static>>> {
        let (text, keys) = Self::document(name)?;
        Some(explain::lines(text, |key| explain::of_managed(key, keys)))
    }

    /// Returns the document of a built-in profile, and the keys of its kind.
    fn document(name: &str) -> Option<(&'static str, &'static [(&'static str, &'static str)])> {
        let of = |text: &'static str| Self::from_toml(text).ok().map(|profile| (text, profile));
        let (text, profile) =
            BUILT_IN.into_iter().filter_map(of).find(|(_, profile)| profile.name == name)?;
        let keys = match profile.figures {
            Figures::Card(_) => CardProfile::KEYS,
            Figures::Drive(_) => DriveProfile::KEYS,
        };
        Some((text, keys))
    }

    /// Finds a built-in profile by its name.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`], which lists the existing names.
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        find_named(Self::all(), name, |profile| &profile.name)
    }

    /// Reads a profile from a TOML document.
    ///
    /// # Errors
    /// [`ProfileError`] with the first key that is wrong.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        let mut keys = Keys::of_document(text)?;
        let name = keys.text("name")?;
        let title = keys.text("title")?;
        let kind = match keys.text("kind")?.as_str() {
            "sd" => Kind::Sd,
            "emmc" => Kind::Emmc,
            "ssd" => Kind::Ssd,
            other => {
                return Err(keys.refuse(
                    "kind",
                    format!("the text \"{other}\""),
                    "\"sd\", \"emmc\" or \"ssd\"",
                ));
            }
        };
        let figures = match kind {
            Kind::Sd => Figures::Card(CardProfile::read(&mut keys)?),
            Kind::Emmc | Kind::Ssd => Figures::Drive(DriveProfile::read(&mut keys)?),
        };
        let sources = keys.texts("sources")?.into_iter().collect();
        keys.finish()?;
        Ok(Self { name, title, kind, figures, call_us: 0, sources })
    }

    /// Writes the TOML document that [`from_toml`](Self::from_toml) reads.
    pub fn to_toml(&self) -> String {
        // Escapes of control characters are four digits in TOML. A title needs none.
        let text = |text: &str| {
            let shown: String =
                text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            format!("\"{}\"", shown.replace('\\', "\\\\").replace('"', "\\\""))
        };
        let figures = match &self.figures {
            Figures::Card(card) => card.lines(),
            Figures::Drive(drive) => drive.lines(),
        };
        let (name, title, kind) = (text(&self.name), text(&self.title), self.kind.name());
        let mut toml =
            format!("name = {name}\ntitle = {title}\nkind = \"{kind}\"\n\n{figures}\n[sources]\n");
        for (key, source) in &self.sources {
            let _ = writeln!(toml, "{key} = {}", text(source));
        }
        toml
    }

    /// Returns the size, in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        let mib = match &self.figures {
            Figures::Card(card) => card.capacity_mib,
            Figures::Drive(drive) => drive.capacity_mib,
        };
        u64::from(mib) << 20
    }

    /// Returns the figures of a card; `None` for other devices.
    pub fn card(&self) -> Option<&CardProfile> {
        match &self.figures {
            Figures::Card(card) => Some(card),
            Figures::Drive(_) => None,
        }
    }

    /// Returns the figures of an eMMC or an SSD; `None` for other devices.
    pub fn drive(&self) -> Option<&DriveProfile> {
        match &self.figures {
            Figures::Card(_) => None,
            Figures::Drive(drive) => Some(drive),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_document_is_explained() {
        for profile in ManagedProfile::all() {
            let text = ManagedProfile::annotated(&profile.name).unwrap();
            assert_eq!(ManagedProfile::from_toml(&text).unwrap(), profile);
            let lines = ManagedProfile::lines(&profile.name).unwrap();
            let keys = lines.iter().filter(|line| matches!(line, Line::Value { .. })).count();
            assert_eq!(keys, 3 + profile.sources.len(), "{text}");
        }
    }

    #[test]
    fn every_figure_of_a_built_in_profile_has_a_source() {
        for text in BUILT_IN {
            let table: toml::Table = text.parse().unwrap();
            let profile = ManagedProfile::from_toml(text).unwrap();
            assert_eq!(ManagedProfile::named(&profile.name).unwrap(), profile);
            for key in table
                .keys()
                .filter(|key| !["name", "title", "kind", "sources"].contains(&key.as_str()))
            {
                let source =
                    profile.sources.get(key).unwrap_or_else(|| panic!("{}: {key}", profile.name));
                assert!(
                    source.starts_with(['D', 'C', 'M', 'U', 'F']),
                    "{}: {key}: {source}",
                    profile.name
                );
            }
            for key in profile.sources.keys() {
                assert!(
                    table.contains_key(key),
                    "{}: source without a figure: {key}",
                    profile.name
                );
            }
        }
    }

    #[test]
    fn a_profile_that_is_written_is_read_as_it_was() {
        for profile in ManagedProfile::all() {
            assert_eq!(ManagedProfile::from_toml(&profile.to_toml()).unwrap(), profile);
        }
    }

    #[test]
    fn impossible_figures_are_refused_by_key() {
        let altered = |document: usize, line: &str, by: &str| {
            assert!(BUILT_IN[document].contains(line), "no line {line}");
            match ManagedProfile::from_toml(&BUILT_IN[document].replacen(line, by, 1)) {
                Err(ProfileError::Key { key, .. }) => key,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(altered(0, "kind = \"sd\"", "kind = \"cf\""), "kind");
        assert_eq!(altered(0, "slot_bytes = 4096", "slot_bytes = 4000"), "slot_bytes");
        assert_eq!(altered(0, "open_units = ", "open_units = 0#"), "open_units");
        assert_eq!(
            altered(0, "clean_low_blocks = ", "clean_low_blocks = 9999#"),
            "clean_high_blocks"
        );
        assert_eq!(altered(2, "spare_superblocks = ", "spare_superblocks = 4#"), "clean_high");
        assert_eq!(altered(3, "cache_kib = ", "colour = 1\ncache_kib = "), "colour");
        let error = ManagedProfile::named("sd").unwrap_err().to_string();
        assert!(
            error.starts_with("no profile named `sd`; expected one of sd-industrial, sd-consumer,"),
            "{error}"
        );
    }
}
