//! Profiles as documents: each key with an explanation.

/// Keys of a raw chip's profile with their explanations.
const RAW: &[(&str, &str)] = &[
    ("page_bytes", "Data bytes of a page: a power of two from 256 to 65536."),
    ("spare_bytes", "Spare bytes of a page."),
    (
        "user_bytes",
        "Spare bytes that the user may write and the ECC protects; at least the 16 of a tag.",
    ),
    ("pages_per_block", "Pages of an erase block: a power of two from 4 to 256."),
    ("block_count", "Erase blocks."),
    ("factory_bad_blocks_max", "Blocks that may be bad when the chip leaves the factory."),
    ("read_command_ns", "Commands, addresses and status polls of a read, in nanoseconds."),
    ("program_command_ns", "Commands, addresses and status polls of a program, in nanoseconds."),
    ("erase_command_ns", "Commands, addresses and status polls of an erase, in nanoseconds."),
    ("bus_read_ps_per_byte", "Transfer from the chip, in picoseconds a byte."),
    ("bus_program_ps_per_byte", "Transfer to the chip, in picoseconds a byte."),
    ("array_read_us", "From the array to the page register, ECC included, in microseconds."),
    ("program_us", "From the page register to the array, in microseconds."),
    ("erase_us", "Erase of a block, in microseconds."),
    ("endurance_erases", "Erases that the maker allows for each block."),
    (
        "programs_per_page",
        "Programs that one page takes between erases. The file system needs one.",
    ),
    ("on_chip_copy", "true if a page can be moved inside the chip, with a new tag."),
    ("size_bytes", "Bytes of the chip: a power of two."),
    ("program_page_bytes", "Bytes that one program command can reach: a power of two."),
    (
        "program_line_bytes",
        "Bytes of a line that is programmed once between erases, because an ECC covers it. Left \
         out: 1.",
    ),
    ("default_erase_bytes", "Default erase size: one of the sizes below."),
    ("program_first_byte_us", "Program of the first byte of a command, in microseconds."),
    ("program_byte_us", "Program of each further byte, in microseconds."),
    (
        "program_page_us",
        "Program of a full program page, in microseconds; no shorter program takes longer.",
    ),
    ("bytes", "Bytes that are erased together: a power of two."),
    ("us", "Time that this takes, in microseconds."),
    ("read_call_us", "More time of the driver for each read command, in microseconds."),
    ("program_call_us", "More time of the driver for each program command, in microseconds."),
    ("erase_call_us", "More time of the driver for each erase command, in microseconds."),
    ("byte_ns", "More time of the driver for each byte, in nanoseconds."),
];

/// Keys of every profile with their explanations.
const COMMON: &[(&str, &str)] = &[
    ("name", "Short name, for reports."),
    ("title", "Maker, type, size, bus."),
    ("kind", "nand, nor, sd, emmc or ssd. The kind decides which keys follow."),
];

/// Explains a key: `own` are the keys of the profile's kind.
fn explain(key: &str, own: &[(&'static str, &'static str)]) -> Option<&'static str> {
    COMMON.iter().chain(own).find(|(known, _)| *known == key).map(|(_, meaning)| *meaning)
}

/// Explains a key of a raw chip's profile.
pub(crate) fn of_raw(key: &str) -> Option<&'static str> {
    explain(key, RAW)
}

/// Explains a key of a managed device's profile. `own` are the keys of the profile's kind.
pub(crate) fn of_managed(key: &str, own: &[(&'static str, &'static str)]) -> Option<&'static str> {
    explain(key, own)
}

/// A line of a profile's document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'t> {
    /// A key with its value and an explanation.
    Value {
        /// The key.
        key: &'t str,
        /// Its value in TOML, without a comment.
        value: &'t str,
        /// An explanation of the key.
        meaning: &'static str,
    },
    /// Anything else: a table, a source, a comment.
    Other(&'t str),
}

/// Divides a document into its lines.
pub(crate) fn lines<'t>(
    text: &'t str,
    explain: impl Fn(&str) -> Option<&'static str>,
) -> Vec<Line<'t>> {
    let mut is_source = false;
    let line = |text: &'t str| {
        is_source |= text.starts_with("[sources]");
        let Some((key, value)) = text.split_once('=').filter(|_| !is_source) else {
            return Line::Other(text);
        };
        let (key, value) = (key.trim(), value.trim());
        // A text value may contain a #.
        let value = if value.starts_with('"') {
            value
        } else {
            value.split('#').next().unwrap_or(value).trim()
        };
        explain(key).map_or(Line::Other(text), |meaning| Line::Value { key, value, meaning })
    };
    text.lines().map(line).collect()
}

/// Writes a document with an explanation above each key.
pub(crate) fn annotate(text: &str, explain: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut annotated = String::new();
    for (line, whole) in lines(text, explain).into_iter().zip(text.lines()) {
        if let Line::Value { meaning, .. } = line {
            annotated += &format!("# {meaning}\n");
        }
        annotated += &format!("{whole}\n");
    }
    annotated
}
