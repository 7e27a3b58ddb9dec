//! Figures of real chips: geometry, times, endurance, each with its source.
//!
//! A profile is a TOML document. The built-in documents lie in `profiles/` of this crate, and are
//! the examples to follow. Each of their figures has an entry in the table `sources`: D
//! datasheet, C constant in driver code, S decoded SFDP, M published measurement, U estimate
//! without a source.
//!
//! [`Profile::named`] finds a built-in profile, and [`Profile::from_toml`] reads any other.
//! [`Nand::new`](crate::Nand::new) and [`Nor::new`](crate::Nor::new) make the chip.

mod driver;
mod error;
pub(crate) mod explain;
pub(crate) mod keys;
mod spread;

pub use driver::Driver;
pub use error::ProfileError;
pub use explain::Line;
pub use spread::{Spread, TimingChoice};

use keys::Keys;
use std::collections::BTreeMap;
use steadyfs::media::{Geometry, TAG_BYTES};

/// The built-in documents.
const BUILT_IN: [&str; 12] = [
    include_str!("../../profiles/mt29f1g01abafd.toml"),
    include_str!("../../profiles/w25n01gv.toml"),
    include_str!("../../profiles/gd5f1gq5.toml"),
    include_str!("../../profiles/mt29f2g08abaea.toml"),
    include_str!("../../profiles/w25q128jv.toml"),
    include_str!("../../profiles/k9f1208u0.toml"),
    include_str!("../../profiles/m25p16.toml"),
    include_str!("../../profiles/mx25r6435f.toml"),
    include_str!("../../profiles/w25q16jv.toml"),
    include_str!("../../profiles/s25fl128s.toml"),
    include_str!("../../profiles/gd25q64.toml"),
    include_str!("../../profiles/stm32g0b1.toml"),
];

/// The figures of one chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Short name, as on the command line.
    pub name: String,
    /// Maker, type, size, bus.
    pub title: String,
    /// The figures.
    pub chip: Chip,
    /// The source of each figure, by its key.
    pub sources: BTreeMap<String, String>,
}

/// The figures of a chip, by its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chip {
    /// NAND, programmed by pages.
    Nand(NandProfile),
    /// NOR, programmed by bytes.
    Nor(NorProfile),
}

/// Figures of a NAND chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NandProfile {
    /// Number of data bytes of a page: a power of two from 256 to 65,536.
    pub page_bytes: u32,
    /// Number of spare bytes of a page.
    pub spare_bytes: u32,
    /// Number of spare bytes that the user may write and the ECC protects. At least the 16 bytes of
    /// a tag.
    pub user_bytes: u32,
    /// Number of pages of an erase block: a power of two from 4 to 256.
    pub pages_per_block: u32,
    /// Number of erase blocks.
    pub block_count: u32,
    /// Blocks that may be bad when the chip leaves the factory; fewer than `block_count`.
    pub factory_bad_blocks_max: u32,
    /// Time of commands, addresses and status polls of a read, in nanoseconds.
    pub read_command_ns: u32,
    /// Time of commands, addresses and status polls of a program, in nanoseconds.
    pub program_command_ns: u32,
    /// Time of commands, addresses and status polls of an erase, in nanoseconds.
    pub erase_command_ns: u32,
    /// Time to transfer a byte from the chip, in picoseconds.
    pub bus_read_ps_per_byte: u32,
    /// Time to transfer a byte to the chip, in picoseconds.
    pub bus_program_ps_per_byte: u32,
    /// Time to read a page from the array into the page register, including the ECC, in
    /// microseconds.
    pub array_read_us: Spread,
    /// Time to program the page register into the array, in microseconds.
    pub program_us: Spread,
    /// Time to erase a block, in microseconds.
    pub erase_us: Spread,
    /// Number of erases that the maker allows for each block.
    pub endurance_erases: u32,
    /// Number of programs of one page that are allowed between erases. The file system needs one.
    pub programs_per_page: u32,
    /// True if a page can be moved inside the chip, with a new tag.
    pub on_chip_copy: bool,
    /// Time of the board's driver.
    pub driver: Driver,
}

/// Figures of a NOR chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NorProfile {
    /// Number of bytes of the chip: a power of two.
    pub size_bytes: u32,
    /// Number of bytes that one program command can program at most: a power of two.
    pub program_page_bytes: u32,
    /// Number of bytes of a line. A line takes one program between two erases, because an ECC covers
    /// it. A chip with the default, 1, has no such lines. Its bytes take further programs, which
    /// clear more bits.
    pub program_line_bytes: u32,
    /// Erase size that is used if no erase size is selected. It is one of `erases`.
    pub default_erase_bytes: u32,
    /// Command, address and dummy clocks of a read, in nanoseconds.
    pub read_command_ns: u32,
    /// Commands, address and status polls of a program, in nanoseconds.
    pub program_command_ns: u32,
    /// Commands, address and status polls of an erase, in nanoseconds.
    pub erase_command_ns: u32,
    /// Time to transfer a byte from the chip, in picoseconds.
    pub bus_read_ps_per_byte: u32,
    /// Time to transfer a byte to the chip, in picoseconds.
    pub bus_program_ps_per_byte: u32,
    /// Time to program the first byte of a command, in microseconds.
    pub program_first_byte_us: Spread,
    /// Time to program each further byte, in microseconds.
    pub program_byte_us: Spread,
    /// Time to program a full program page, in microseconds. No shorter program takes longer.
    pub program_page_us: Spread,
    /// Number of erases that the maker allows for each block.
    pub endurance_erases: u32,
    /// The erase sizes.
    pub erases: Vec<NorErase>,
    /// Time of the board's driver.
    pub driver: Driver,
}

/// One erase size of a NOR chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NorErase {
    /// Number of bytes that are erased: a power of two.
    pub bytes: u32,
    /// Duration, in microseconds.
    pub us: Spread,
}

/// Finds a profile by its name. If none has the name, the error lists the existing names.
pub(crate) fn find_named<P>(
    mut all: Vec<P>,
    name: &str,
    name_of: impl Fn(&P) -> &str,
) -> Result<P, ProfileError> {
    match all.iter().position(|profile| name_of(profile) == name) {
        Some(index) => Ok(all.swap_remove(index)),
        None => {
            let known: Vec<_> = all.iter().map(name_of).collect();
            Err(ProfileError::Unknown { name: name.into(), known: known.join(", ") })
        }
    }
}

impl Profile {
    /// Reads every built-in profile.
    pub fn all() -> Vec<Self> {
        BUILT_IN
            .iter()
            .map(|text| Self::from_toml(text).expect("built-in profiles are tested"))
            .collect()
    }

    /// Returns the documents of the built-in profiles in TOML, for users who want to change one.
    pub fn documents() -> &'static [&'static str] {
        &BUILT_IN
    }

    /// Returns the document of a built-in profile, with an explanation above each key.
    pub fn annotated(name: &str) -> Option<String> {
        Self::document(name).map(|text| explain::annotate(text, explain::of_raw))
    }

    /// Returns the lines of the document of a built-in profile.
    pub fn lines(name: &str) -> Option<Vec<Line<'static>>> {
        Self::document(name).map(|text| explain::lines(text, explain::of_raw))
    }

    fn document(name: &str) -> Option<&'static str> {
        BUILT_IN
            .into_iter()
            .find(|text| Self::from_toml(text).is_ok_and(|profile| profile.name == name))
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
        let chip = match keys.text("kind")?.as_str() {
            "nand" => Chip::Nand(NandProfile::read(&mut keys)?),
            "nor" => Chip::Nor(NorProfile::read(&mut keys)?),
            other => {
                return Err(keys.refuse(
                    "kind",
                    format!("the text \"{other}\""),
                    "\"nand\" or \"nor\"",
                ));
            }
        };
        let sources = keys.texts("sources")?.into_iter().collect();
        keys.finish()?;
        Ok(Self { name, title, chip, sources })
    }

    /// Returns the profile with more time of the driver.
    #[must_use]
    pub fn with_driver(mut self, more: &Driver) -> Self {
        let driver = match &mut self.chip {
            Chip::Nand(nand) => &mut nand.driver,
            Chip::Nor(nor) => &mut nor.driver,
        };
        *driver = driver.plus(more);
        self
    }

    /// Returns the time of the driver.
    pub fn driver(&self) -> Driver {
        match &self.chip {
            Chip::Nand(nand) => nand.driver,
            Chip::Nor(nor) => nor.driver,
        }
    }

    /// Returns the figures of a NAND chip; `None` for a NOR chip.
    pub fn nand(&self) -> Option<&NandProfile> {
        match &self.chip {
            Chip::Nand(nand) => Some(nand),
            Chip::Nor(_) => None,
        }
    }

    /// Returns the figures of a NOR chip; `None` for a NAND chip.
    pub fn nor(&self) -> Option<&NorProfile> {
        match &self.chip {
            Chip::Nand(_) => None,
            Chip::Nor(nor) => Some(nor),
        }
    }
}

impl NandProfile {
    fn read(keys: &mut Keys) -> Result<Self, ProfileError> {
        let profile = Self {
            page_bytes: keys.power_of_two("page_bytes", 256, 65_536)?,
            spare_bytes: keys.count("spare_bytes")?,
            user_bytes: keys.number("user_bytes", 0, u32::MAX)?,
            pages_per_block: keys.power_of_two("pages_per_block", 4, 256)?,
            block_count: keys.number("block_count", 2, 1 << 24)?,
            factory_bad_blocks_max: keys.number("factory_bad_blocks_max", 0, u32::MAX)?,
            read_command_ns: keys.count("read_command_ns")?,
            program_command_ns: keys.count("program_command_ns")?,
            erase_command_ns: keys.count("erase_command_ns")?,
            bus_read_ps_per_byte: keys.count("bus_read_ps_per_byte")?,
            bus_program_ps_per_byte: keys.count("bus_program_ps_per_byte")?,
            array_read_us: keys.spread("array_read_us")?,
            program_us: keys.spread("program_us")?,
            erase_us: keys.spread("erase_us")?,
            endurance_erases: keys.count("endurance_erases")?,
            programs_per_page: keys.number("programs_per_page", 1, 255)?,
            on_chip_copy: keys.flag("on_chip_copy")?,
            driver: Driver::read(keys)?,
        };
        profile.check(keys)?;
        Ok(profile)
    }

    fn check(&self, keys: &Keys) -> Result<(), ProfileError> {
        if self.user_bytes < TAG_BYTES as u32 {
            return Err(ProfileError::TooFewUserBytes { user_bytes: self.user_bytes });
        }
        if self.user_bytes > self.spare_bytes {
            let expected = format!("at most the {} spare bytes", self.spare_bytes);
            return Err(keys.refuse("user_bytes", self.user_bytes.to_string(), expected));
        }
        if self.factory_bad_blocks_max >= self.block_count {
            let expected = format!("fewer than the {} blocks", self.block_count);
            return Err(keys.refuse(
                "factory_bad_blocks_max",
                self.factory_bad_blocks_max.to_string(),
                expected,
            ));
        }
        Ok(())
    }

    /// Returns the shape of the chip, as the file system sees it.
    pub fn geometry(&self) -> Geometry {
        Geometry {
            page_bytes: self.page_bytes,
            pages_per_block: self.pages_per_block,
            block_count: self.block_count,
            programs_bytes: false,
        }
    }
}

impl NorProfile {
    fn read(keys: &mut Keys) -> Result<Self, ProfileError> {
        let size_bytes = keys.power_of_two("size_bytes", 4096, 1 << 31)?;
        let profile = Self {
            size_bytes,
            program_page_bytes: keys.power_of_two("program_page_bytes", 1, size_bytes)?,
            program_line_bytes: keys.power_of_two_or("program_line_bytes", 1, 256, 1)?,
            default_erase_bytes: keys.power_of_two("default_erase_bytes", 1, size_bytes)?,
            read_command_ns: keys.count("read_command_ns")?,
            program_command_ns: keys.count("program_command_ns")?,
            erase_command_ns: keys.count("erase_command_ns")?,
            bus_read_ps_per_byte: keys.count("bus_read_ps_per_byte")?,
            bus_program_ps_per_byte: keys.count("bus_program_ps_per_byte")?,
            program_first_byte_us: keys.spread("program_first_byte_us")?,
            program_byte_us: keys.spread("program_byte_us")?,
            program_page_us: keys.spread("program_page_us")?,
            endurance_erases: keys.count("endurance_erases")?,
            erases: Self::read_erases(keys, size_bytes)?,
            driver: Driver::read(keys)?,
        };
        if profile.erase_us(profile.default_erase_bytes).is_none() {
            let found = profile.default_erase_bytes.to_string();
            return Err(keys.refuse(
                "default_erase_bytes",
                found,
                "the `bytes` of one of the [[erase]] tables",
            ));
        }
        Ok(profile)
    }

    fn read_erases(keys: &mut Keys, size_bytes: u32) -> Result<Vec<NorErase>, ProfileError> {
        let mut erases = Vec::new();
        for mut inner in keys.tables("erase")? {
            erases.push(NorErase {
                bytes: inner.power_of_two("bytes", 256, size_bytes)?,
                us: inner.spread("us")?,
            });
            inner.finish()?;
        }
        Ok(erases)
    }

    /// Returns true if each line is programmed once between erases.
    pub fn has_lines(&self) -> bool {
        self.program_line_bytes > 1
    }

    /// Returns the duration of an erase of `bytes`, in microseconds, if the chip has that erase
    /// size.
    pub fn erase_us(&self, bytes: u32) -> Option<Spread> {
        self.erases.iter().find(|erase| erase.bytes == bytes).map(|erase| erase.us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_document_is_explained() {
        for profile in Profile::all() {
            let text = Profile::annotated(&profile.name).unwrap();
            assert_eq!(Profile::from_toml(&text).unwrap(), profile);
            let is_other = |line: &Line| match line {
                Line::Other(text) => text.contains('=') && !text.starts_with('#'),
                _ => false,
            };
            let others =
                Profile::lines(&profile.name).unwrap().into_iter().filter(is_other).count();
            assert_eq!(others, profile.sources.len(), "{text}");
        }
        assert_eq!(Profile::annotated("floppy"), None);
    }

    /// Parses a built-in document with one line replaced.
    fn altered(document: usize, line: &str, by: &str) -> Result<Profile, ProfileError> {
        assert!(BUILT_IN[document].contains(line), "no line {line}");
        Profile::from_toml(&BUILT_IN[document].replacen(line, by, 1))
    }

    #[test]
    fn every_built_in_profile_is_found_by_its_name() {
        let names: Vec<_> = Profile::all().into_iter().map(|profile| profile.name).collect();
        let nand = ["mt29f1g01abafd", "w25n01gv", "gd5f1gq5", "mt29f2g08abaea", "k9f1208u0"];
        let nor =
            ["w25q128jv", "m25p16", "mx25r6435f", "w25q16jv", "s25fl128s", "gd25q64", "stm32g0b1"];
        assert_eq!(names.len(), nand.len() + nor.len());
        assert!(nand.iter().all(|name| Profile::named(name).unwrap().nand().is_some()));
        assert!(nor.iter().all(|name| Profile::named(name).unwrap().nor().is_some()));
        for name in &names {
            assert_eq!(Profile::named(name).unwrap().name, *name);
        }
    }

    #[test]
    fn every_figure_of_a_built_in_profile_has_a_source() {
        for text in BUILT_IN {
            let table: toml::Table = text.parse().unwrap();
            let profile = Profile::from_toml(text).unwrap();
            for key in table
                .keys()
                .filter(|key| !["name", "title", "kind", "sources"].contains(&key.as_str()))
            {
                let source =
                    profile.sources.get(key).unwrap_or_else(|| panic!("{}: {key}", profile.name));
                assert!(
                    source.starts_with(['D', 'C', 'S', 'M', 'U']),
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
    fn unknown_names_are_answered_with_the_known_ones() {
        let error = Profile::named("mt29").unwrap_err().to_string();
        assert!(
            error.starts_with("no profile named `mt29`; expected one of mt29f1g01abafd, w25n01gv,"),
            "{error}"
        );
    }

    #[test]
    fn chips_without_room_for_a_tag_are_refused() {
        let error = altered(1, "user_bytes = 16", "user_bytes = 6").unwrap_err();
        assert_eq!(error, ProfileError::TooFewUserBytes { user_bytes: 6 });
        assert!(
            error
                .to_string()
                .ends_with("needs 16 ECC-protected user bytes per page for the tag, has 6")
        );
    }

    #[test]
    fn impossible_figures_are_refused_by_key() {
        let key_of = |result: Result<Profile, ProfileError>| match result {
            Err(ProfileError::Key { key, .. }) => key,
            other => panic!("{other:?}"),
        };
        assert_eq!(key_of(altered(0, "page_bytes = 2048", "page_bytes = 2000")), "page_bytes");
        assert_eq!(key_of(altered(0, "user_bytes = 62", "user_bytes = 129")), "user_bytes");
        assert_eq!(key_of(altered(0, "_max = 20", "_max = 1024")), "factory_bad_blocks_max");
        assert_eq!(key_of(altered(0, "kind = \"nand\"", "kind = \"nvme\"")), "kind");
        assert_eq!(
            key_of(altered(0, "typical = 46, maximum = 70", "typical = 46, maximum = 45")),
            "array_read_us"
        );
        assert_eq!(key_of(altered(0, "on_chip_copy = true", "on_chip_copy = 1")), "on_chip_copy");
        assert_eq!(
            key_of(altered(0, "on_chip_copy = true", "on_chip_copy = true\ncolour = 1")),
            "colour"
        );
        assert_eq!(
            key_of(altered(4, "default_erase_bytes = 65536", "default_erase_bytes = 32768")),
            "default_erase_bytes"
        );
        assert_eq!(key_of(altered(4, "bytes = 4096", "bytes = 4097")), "erase[0].bytes");
    }

    #[test]
    fn text_that_is_not_toml_is_refused() {
        assert!(matches!(Profile::from_toml("name ="), Err(ProfileError::Syntax(_))));
    }
}
