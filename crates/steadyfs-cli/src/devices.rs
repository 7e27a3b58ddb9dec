//! `steady devices`: lists the chips and managed devices that can be simulated, and makes
//! profiles of others.

use crate::Failure;
use crate::output::print;
use clap::{Args, ValueEnum};
use std::io::{self, BufRead, Write};
use steadyfs_lab::table::{Align, facts, table};
use steadyfs_lab::units::format_size;
use steadyfs_sim::managed::ManagedProfile;
use steadyfs_sim::profile::Line;
use steadyfs_sim::{Chip, Profile};

/// Arguments of `steady devices`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Print the profile of this device in TOML, with an explanation of each key [default: list
    /// all]
    #[arg(value_name = "NAME", value_parser = built_in)]
    name: Option<String>,
    /// Ask for the figures of a datasheet, and print the profile of a device of this kind
    #[arg(long, value_name = "KIND", conflicts_with = "name")]
    new: Option<Kind>,
}

const AFTER_HELP: &str = "\
Every command with --device also takes the file of a profile. An answer to --new is a value in TOML.
A time has a typical and a maximum value: 250 700. One number is both. An empty line takes the value
in brackets, from a usual device of this kind.

Examples:
  steady devices w25n01gv > mine.toml
  steady devices --new nand > mine.toml
  steady evaluate --device mine.toml";

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Nand,
    Nor,
    Sd,
    Emmc,
    Ssd,
}

impl Kind {
    /// Returns the name of a new profile of this kind without another name, in TOML.
    fn own_name(self) -> &'static str {
        match self {
            Self::Nand => "\"my-nand\"",
            Self::Nor => "\"my-nor\"",
            Self::Sd => "\"my-sd\"",
            Self::Emmc => "\"my-emmc\"",
            Self::Ssd => "\"my-ssd\"",
        }
    }

    /// Returns the name of a usual device of this kind.
    fn usual(self) -> &'static str {
        match self {
            Self::Nand => "mt29f1g01abafd",
            Self::Nor => "w25q128jv",
            Self::Sd => "sd-industrial",
            Self::Emmc => "emmc-64gb",
            Self::Ssd => "ssd-sata",
        }
    }
}

/// Reads the name of a built-in device.
fn built_in(name: &str) -> Result<String, String> {
    match ManagedProfile::named(name) {
        Ok(_) => Ok(name.to_string()),
        Err(_) if Profile::named(name).is_ok() => Ok(name.to_string()),
        Err(_) => Err("expected a name that `steady devices` lists".to_string()),
    }
}

/// Runs `steady devices`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match (&arguments.name, arguments.new) {
        (Some(name), _) => print(
            &Profile::annotated(name)
                .or_else(|| ManagedProfile::annotated(name))
                .unwrap_or_default(),
        ),
        (None, Some(kind)) => print(&ask_for(kind, &mut io::stdin().lock(), &mut io::stderr())?),
        (None, None) => {
            print(&format!("{}\n{}", listing(&Profile::all()), managed(&ManagedProfile::all())))
        }
    }
}

/// Asks for each figure of a device, and returns the document of its profile.
fn ask_for(
    kind: Kind,
    answers: &mut impl BufRead,
    questions: &mut impl Write,
) -> Result<String, Failure> {
    let usual = kind.usual();
    let lines = Profile::lines(usual).or_else(|| ManagedProfile::lines(usual)).unwrap_or_default();
    let (mut text, mut sources) = (String::new(), String::new());
    for line in lines {
        let (key, value, meaning) = match line {
            // A built-in device has these texts already.
            Line::Value { key: key @ ("name" | "title"), meaning, .. } => {
                (key, kind.own_name(), meaning)
            }
            Line::Value { key, value, meaning } => (key, value, meaning),
            Line::Other("[sources]") => break,
            Line::Other(other) if other.starts_with('#') => continue,
            Line::Other(other) => {
                text += &format!("{other}\n");
                continue;
            }
        };
        let answer = match key {
            "kind" => None,
            _ => ask(key, value, meaning, answers, questions)?,
        };
        let is_figure = !matches!(key, "name" | "title" | "kind" | "bytes" | "us");
        if is_figure {
            let source =
                if answer.is_some() { "D".to_string() } else { format!("U: as of {usual}") };
            sources += &format!("{key} = \"{source}\"\n");
        }
        text += &format!("# {meaning}\n{key} = {}\n", answer.as_deref().unwrap_or(value));
    }
    text += &format!("[sources]\n{sources}");
    let wrong =
        |error: &dyn std::fmt::Display| Failure::new(format!("{error}; nothing is printed"));
    match kind {
        Kind::Nand | Kind::Nor => {
            Profile::from_toml(&text).map(drop).map_err(|error| wrong(&error))?
        }
        Kind::Sd | Kind::Emmc | Kind::Ssd => {
            ManagedProfile::from_toml(&text).map(drop).map_err(|error| wrong(&error))?
        }
    }
    Ok(text)
}

/// Asks for the value of a key. Returns `None`, the usual value, for an empty answer.
fn ask(
    key: &str,
    usual: &str,
    meaning: &str,
    answers: &mut impl BufRead,
    questions: &mut impl Write,
) -> Result<Option<String>, Failure> {
    let shown = times_of(usual)
        .map_or(usual.to_string(), |[typical, maximum]| format!("{typical} {maximum}"));
    let mut answer = String::new();
    let asked =
        writeln!(questions, "{meaning}").and_then(|()| write!(questions, "{key} [{shown}]: "));
    let asked =
        asked.and_then(|()| questions.flush()).and_then(|()| answers.read_line(&mut answer));
    match (asked, answer.trim()) {
        (Err(_) | Ok(0), _) => Err(Failure::new(format!(
            "{key} is missing; expected a value, or an empty line for {shown}"
        ))),
        (Ok(_), "") => Ok(None),
        (Ok(_), answer) => Ok(Some(as_toml(answer, usual))),
    }
}

/// Returns the typical and maximum time of a value in TOML, if the value is a pair of times.
fn times_of(value: &str) -> Option<[&str; 2]> {
    let inner = value.strip_prefix('{')?.strip_suffix('}')?;
    let (typical, maximum) = inner.split_once(',')?;
    Some([typical.split_once('=')?.1.trim(), maximum.split_once('=')?.1.trim()])
}

/// Returns an answer in TOML: a string or a pair of times if the usual value is one, else the
/// answer unchanged.
fn as_toml(answer: &str, usual: &str) -> String {
    if usual.starts_with('"') && !answer.starts_with('"') {
        return format!("\"{}\"", answer.replace('\\', "\\\\").replace('"', "\\\""));
    }
    match (times_of(usual), answer.split_whitespace().collect::<Vec<_>>().as_slice()) {
        (Some(_), [both]) => format!("{{ typical = {both}, maximum = {both} }}"),
        (Some(_), [typical, maximum]) => format!("{{ typical = {typical}, maximum = {maximum} }}"),
        _ => answer.to_string(),
    }
}

/// Returns the table of profiles, and then their titles.
fn listing(profiles: &[Profile]) -> String {
    let head =
        ["Device", "Size", "Page", "Block", "Program", "Erase", "Copy"].map(String::from).to_vec();
    let rows: Vec<_> = std::iter::once(head).chain(profiles.iter().map(row)).collect();
    let mut align = vec![Align::Left];
    align.resize(7, Align::Right);
    let titles =
        facts(profiles.iter().map(|profile| (profile.name.as_str(), profile.title.clone())));
    format!(
        "{}Times are typical and maximum; a copy moves a page inside the chip.\n\n{titles}",
        table(&rows, &align)
    )
}

/// Returns the list of managed devices. It has no times, because these depend on earlier
/// commands.
fn managed(profiles: &[ManagedProfile]) -> String {
    let titles =
        facts(profiles.iter().map(|profile| (profile.name.as_str(), profile.title.clone())));
    format!("Managed flash, for realtime, transactions and images of cards:\n{titles}")
}

/// Returns the row of a profile: sizes, and the typical and maximum times of a page program and a
/// block erase.
fn row(profile: &Profile) -> Vec<String> {
    let (size, page, block, program_us, erase_us, copy) = match &profile.chip {
        Chip::Nand(nand) => {
            let block = nand.page_bytes * nand.pages_per_block;
            let size = u64::from(block) * u64::from(nand.block_count);
            (size, nand.page_bytes, block, nand.program_us, Some(nand.erase_us), nand.on_chip_copy)
        }
        Chip::Nor(nor) => {
            let erase_us = nor.erase_us(nor.default_erase_bytes);
            let size = u64::from(nor.size_bytes);
            (
                size,
                nor.program_page_bytes,
                nor.default_erase_bytes,
                nor.program_page_us,
                erase_us,
                false,
            )
        }
    };
    let times = |typical: u32, maximum: u32| format!("{}, {}", time(typical), time(maximum));
    vec![
        profile.name.clone(),
        format_size(size),
        format_size(page.into()),
        format_size(block.into()),
        times(program_us.typical, program_us.maximum),
        erase_us.map_or_else(String::new, |us| times(us.typical, us.maximum)),
        if copy { "yes" } else { "no" }.to_string(),
    ]
}

/// Formats a time of the datasheet. Datasheet times have few digits, so trailing zeros are left
/// out.
fn time(us: u32) -> String {
    match us {
        1_000_000.. => format!("{} s", f64::from(us) / 1e6),
        1_000.. => format!("{} ms", f64::from(us) / 1e3),
        _ => format!("{us} µs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: Kind, answers: &str) -> Result<String, String> {
        ask_for(kind, &mut answers.as_bytes(), &mut io::sink()).map_err(|failure| failure.sentence)
    }

    #[test]
    fn a_new_profile_has_the_answers_and_what_is_usual() {
        for kind in Kind::value_variants() {
            let text = asked(*kind, &"\n".repeat(40)).unwrap();
            assert!(text.contains(&format!("name = {}", kind.own_name())), "{text}");
            assert_eq!(built_in(kind.own_name().trim_matches('"')).ok(), None);
        }
        let answers = [
            "mine",
            "Mine, 8 GiB \"x\"",
            "4096",
            "128",
            "",
            "64",
            "4096",
            "80",
            "",
            "",
            "",
            "",
            "",
            "25 40",
            "300",
        ];
        let text = asked(Kind::Nand, &(answers.join("\n") + &"\n".repeat(20))).unwrap();
        let profile = Profile::from_toml(&text).unwrap();
        let nand = profile.nand().unwrap();
        assert_eq!((profile.name.as_str(), profile.title.as_str()), ("mine", "Mine, 8 GiB \"x\""));
        assert_eq!(
            (nand.page_bytes, nand.array_read_us.typical, nand.array_read_us.maximum),
            (4096, 25, 40)
        );
        assert_eq!((nand.program_us.typical, nand.program_us.maximum), (300, 300));
        assert_eq!(profile.sources["page_bytes"], "D");
        assert!(profile.sources["user_bytes"].starts_with("U: as of"), "{text}");
    }

    #[test]
    fn the_page_about_own_chips_has_the_defaults_and_every_key() {
        let page = std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/guide/own-chip.md"
        ))
        .unwrap();
        let mut shown =
            page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        for kind in [Kind::Nand, Kind::Nor] {
            let profile = Profile::from_toml(shown.next().unwrap()).unwrap();
            assert_eq!(profile.chip, Profile::named(kind.usual()).unwrap().chip);
        }
        assert_eq!(shown.next(), None);
        for line in Profile::all().iter().flat_map(|profile| Profile::lines(&profile.name).unwrap())
        {
            if let Line::Value { key, .. } = line {
                assert!(page.contains(&format!("`{key}`")), "docs/guide/own-chip.md lacks {key}");
            }
        }
    }

    #[test]
    fn answers_that_are_wrong_or_missing_name_the_key() {
        assert!(
            asked(Kind::Nand, "mine\nMine\n").unwrap_err().starts_with("page_bytes is missing")
        );
        let error =
            asked(Kind::Nand, &("mine\nMine\n1000".to_string() + &"\n".repeat(40))).unwrap_err();
        assert!(error.contains("page_bytes") && error.contains("1000"), "{error}");
    }

    #[test]
    fn every_device_is_listed_with_its_title() {
        let text = listing(&Profile::all());
        for profile in Profile::all() {
            assert_eq!(
                text.lines().filter(|line| line.starts_with(&profile.name)).count(),
                2,
                "{text}"
            );
        }
        assert!(text.contains("220 µs, 600 µs") && text.contains("2 ms, 10 ms"), "{text}");
        assert!(
            text.lines().take_while(|line| !line.is_empty()).all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}
