//! An advice as text for people, and as code.

use super::{Advice, Candidate, Figures, Setting};
use crate::table::{Align, facts, paragraph, table};
use crate::units::{format_count, format_duration, format_percent, format_size};
use steadyfs::Config;

impl Advice {
    /// Returns the recommendation, its costs and its reasons.
    pub fn text(&self) -> String {
        let Figures { ram_bytes, mean_ns, longest_ns, bound_ns, life_bytes, usable_bytes } =
            self.choice.figures;
        let time = |ns: u64| format_duration(ns as f64);
        let life = life_bytes.map_or("longer than these runs can show".to_string(), |bytes| {
            format!(
                "{} of writes, until {}",
                format_size(bytes as u64),
                "all erases that the maker allows are used"
            )
        });
        let (fill, filled) = &self.fill;
        let chip_bytes =
            u64::from(self.choice.setting.block_bytes) * u64::from(self.geometry.block_count);
        let costs = facts([
            (
                "RAM",
                format!(
                    "{} bytes, including the struct (size on this machine) and one open file",
                    format_count(ram_bytes)
                ),
            ),
            (
                "Code",
                format!(
                    "{} bytes on a Cortex-M3; features {}",
                    format_count(self.code_bytes),
                    self.features.join(", ")
                ),
            ),
            (
                "Time",
                format!(
                    "{} on average, {} the longest, {} promised",
                    format_duration(mean_ns),
                    time(longest_ns),
                    time(bound_ns)
                ),
            ),
            ("Life", life),
            ("Room", format!("{} of {}", format_size(usable_bytes), format_size(chip_bytes))),
            (
                "Fill",
                format!(
                    "up to {} of the chip; a step there takes {} on average",
                    format_percent(*fill),
                    format_duration(filled.mean_ns)
                ),
            ),
        ]);
        let (rust, c) = (self.rust(), self.c());
        format!(
            "{} of {}, {}, {} full: {} settings tried, of which {} do not fit.\n\
             \n\
             {costs}\n\
             {}\n\
             In Rust:\n\
             \n\
             {rust}\n\
             In C:\n\
             \n\
             {c}",
            format_size(chip_bytes),
            self.device,
            self.options.workload.name(),
            format_percent(self.options.fill),
            self.tried,
            self.unfit,
            self.why(),
        )
    }

    /// Compares the chosen value of each setting with the best other value.
    fn why(&self) -> String {
        let head = ["Setting", "Taken", "RAM × time", "Other", "RAM", "Time", "RAM × time"]
            .map(String::from)
            .to_vec();
        let mut rows = vec![head];
        for (index, name) in Setting::NAMES.into_iter().enumerate() {
            let taken = self.value(&self.choice, index);
            let cost = format!("{:.2} B s", self.choice.figures.cost());
            let Some((_, other)) = self.others.iter().find(|(setting, _)| *setting == name) else {
                rows.push(
                    [name, &taken, &cost, "no other value fits", "", "", ""]
                        .map(String::from)
                        .to_vec(),
                );
                continue;
            };
            let figures = &other.figures;
            rows.push(vec![
                name.to_string(),
                taken,
                cost,
                self.value(other, index),
                format_count(figures.ram_bytes),
                format_duration(figures.mean_ns),
                format!("{:.2} B s", figures.cost()),
            ]);
        }
        let mut align = vec![Align::Left, Align::Right, Align::Right];
        align.resize(7, Align::Right);
        format!(
            "Reasons: the best choice with another value of one setting.\n\
             \n\
             {}",
            table(&rows, &align)
        )
    }

    /// Formats a value of a setting for people.
    fn value(&self, candidate: &Candidate, index: usize) -> String {
        let setting = candidate.setting;
        match index {
            0 => format_size(setting.block_bytes.into()),
            1 => format_size(
                u64::from(setting.pages_per_logical_page) * u64::from(self.geometry.page_bytes),
            ),
            2 => format!("{} entries", setting.overlay_entries),
            _ => format!("{} pages", setting.cache_pages),
        }
    }

    /// Returns the names and values of the settings that differ from the usual ones.
    fn unusual(&self) -> Vec<(&'static str, u16)> {
        let usual = Config::for_geometry(&self.geometry);
        let all = [
            (
                "pages_per_logical_page",
                self.config.pages_per_logical_page,
                usual.pages_per_logical_page,
            ),
            ("overlay_entries", self.config.overlay_entries, usual.overlay_entries),
        ];
        all.into_iter()
            .filter(|(_, value, usual)| value != usual)
            .map(|(name, value, _)| (name, value))
            .collect()
    }

    /// Returns the settings in Rust.
    pub fn rust(&self) -> String {
        let geometry = &self.geometry;
        let shape = if geometry.programs_bytes {
            format!(
                "Geometry::of_nor({}, {})",
                self.choice.setting.block_bytes, geometry.block_count
            )
        } else {
            format!(
                "Geometry {{ page_bytes: {}, pages_per_block: {}, block_count: {}, programs_bytes: \
                 false }}",
                geometry.page_bytes, geometry.pages_per_block, geometry.block_count
            )
        };
        let fields: String =
            self.unusual().iter().map(|(name, value)| format!("{name}: {value}, ")).collect();
        let config = match fields.as_str() {
            "" => "Config::for_geometry(&GEOMETRY)".to_string(),
            fields => format!("Config {{ {fields}..Config::for_geometry(&GEOMETRY) }}"),
        };
        let mut text =
            format!("const GEOMETRY: Geometry = {shape};\nconst CONFIG: Config = {config};\n");
        text += "const MEMORY_BYTES: usize = CONFIG.memory_bytes(&GEOMETRY);\n";
        if self.choice.setting.cache_pages > 0 {
            text += &format!(
                "const CACHE_BYTES: usize = CONFIG.cache_bytes(&GEOMETRY, {}); // \
                 FileSystem::lend_cache\n",
                self.choice.setting.cache_pages
            );
        }
        text
    }

    /// Returns the settings in C.
    pub fn c(&self) -> String {
        let fields: Vec<String> =
            self.unusual().iter().map(|(name, value)| format!(".{name} = {value}")).collect();
        let settings = if fields.is_empty() {
            String::new()
        } else {
            format!(", .settings = {{{}}}", fields.join(", "))
        };
        let (driver, cache) = (
            if self.geometry.programs_bytes { "nor" } else { "nand" },
            if self.choice.setting.cache_pages > 0 {
                ", .cache = cache, .cache_bytes = sizeof cache"
            } else {
                ""
            },
        );
        let bytes = self.config.memory_bytes(&self.geometry);
        let mut text = format!("static uint8_t memory[{bytes}];\n");
        if self.choice.setting.cache_pages > 0 {
            let bytes =
                self.config.cache_bytes(&self.geometry, self.choice.setting.cache_pages as usize);
            text += &format!("static uint8_t cache[{bytes}];\n");
        }
        let config = format!(
            "static const steadyfs_config config = {{.{driver} = &{driver}, .memory = memory, \
             .memory_bytes = sizeof memory{cache}{settings}}};"
        );
        text + &paragraph(&config, 4) + "\n"
    }
}
