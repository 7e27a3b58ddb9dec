//! `steady check`: verifies a volume.

mod disk;

use super::tree::counted;
use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::damage;
use crate::image::volume::WORN_OUT;
use crate::image::{Memory, Mounted, Volume};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use steadyfs::media::Flash;
use steadyfs::{Access, Checked, Damage, Error, Finding, Mended};
use steadyfs_lab::units::format_count;

/// Arguments of `steady check`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Mend what can be mended; without it nothing is written
    #[arg(long)]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    chip: ChipOptions,
}

const AFTER_HELP: &str = "\
Every page of the volume is read and compared with its checksum, and every reference followed. The exit code is 1 when something
was found, also when it was mended: check again to see what remains.

Where a mount finds that something is lost, the volume can only be read. --repair accepts that first, then looks at what there
is, and the volume can be changed again. A lost page of the map is not accepted: nobody knows where the pages are that it maps.

Of a disk every page is read that was written. Sectors that cannot be read stay so until they are written anew; what they meant is for the
checker of the file system on the disk to find out.";

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    missing: Missing,
    files: u32,
    directories: u32,
    pages: u32,
    mended: u32,
    /// What was mended, and how often; nothing that was not.
    changes: BTreeMap<&'static str, u32>,
    /// Whether so many blocks are bad that the volume can only be read.
    worn_out: bool,
    /// Whether a mount for writing may show the last commit otherwise.
    unsettled: bool,
    findings: Vec<String>,
}

/// What the mount found missing.
#[derive(Serialize, Clone, Copy)]
struct Missing {
    /// Root, record, journal or leaf; nothing where all is there.
    damage: Option<&'static str>,
    /// Whether that is accepted.
    repaired: bool,
    #[serde(skip)]
    lost: Option<Damage>,
}

/// Runs `steady check`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let access = if arguments.repair { Access::ReadWrite } else { Access::ReadOnly };
    let mut memory = Memory::default();
    let volume = Mounted::examine(&arguments.image, &arguments.chip, access, &mut memory)?;
    let (count, mended) = match volume {
        Mounted::Files(volume) => run_files(volume, arguments)?,
        Mounted::Disk(volume) => disk::run(volume, arguments.repair, arguments.json, &arguments.chip)?,
    };
    if count == 0 {
        return Ok(());
    }
    let what = format!("{}, {mended} mended; expected none", counted(count, "finding", "findings"));
    Err(Failure::at(arguments.image.display(), what))
}

/// Checks a file system. Returns how many findings there are, and how many of them were mended.
fn run_files(mut volume: Volume<'_>, arguments: &Arguments) -> Result<(u64, u32), Failure> {
    let lost = volume.fs.damage();
    let mut findings = Vec::new();
    let mut note = |finding: Finding| findings.push(finding.to_string());
    let mut scratch = vec![0; volume.fs.config().check_bytes(&volume.fs.flash().geometry())];
    let repaired = if arguments.repair && lost.is_some() { Some(volume.fs.repair(&mut scratch, &mut note)) } else { None };
    let checked = match repaired {
        // What cannot be accepted is told below.
        None | Some(Err(Error::Corrupt)) => {
            let mends = arguments.repair && volume.fs.damage().is_none();
            volume.fs.check(&mut scratch, mends, &mut note)
        }
        Some(result) => result,
    };
    let missing = Missing::of(lost, volume.fs.damage());
    let checked = match checked {
        Ok(checked) => checked,
        Err(error) => return Err(ended_early(&volume, error, &missing, &findings, arguments.json)?),
    };
    let (worn_out, unsettled) = (volume.is_worn_out(), volume.is_unsettled());
    volume.close(&arguments.chip)?;
    let (count, mended) = (findings.len() as u64 + missing.count(), checked.mended.total() + u32::from(missing.repaired));
    let summary = Summary { unsettled, ..Summary::of(&checked, worn_out, missing, findings) };
    if arguments.json {
        print_json(&summary)?
    } else {
        print(&summary.text())?
    }
    Ok((count, mended))
}

/// Tells what was found before the check could not go on; gives why it could not.
fn ended_early(
    volume: &Volume<'_>,
    error: Error,
    missing: &Missing,
    findings: &[String],
    json: bool,
) -> Result<Failure, Failure> {
    if json {
        let Missing { damage, repaired, .. } = missing;
        print_json(&serde_json::json!({ "damage": damage, "repaired": repaired, "findings": findings }))?
    } else {
        print(&(missing.line() + &lines(findings)))?
    }
    let count = counted(findings.len() as u64 + missing.count(), "finding", "findings");
    let reason = volume.fs.flash().reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    Ok(volume.refuse("", format!("the check ended early, after {count}: {error}{reason}")))
}

fn lines(findings: &[String]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

impl Missing {
    /// What was missing, and is accepted now or not.
    fn of(lost: Option<Damage>, left: Option<Damage>) -> Self {
        Self { damage: lost.map(damage::name), repaired: lost.is_some() && left.is_none(), lost }
    }

    fn count(&self) -> u64 {
        self.lost.is_some().into()
    }

    fn line(&self) -> String {
        let Some(lost) = self.lost else { return String::new() };
        let then = if self.repaired { "that is accepted, and the volume can be changed again" } else { damage::REMEDY };
        format!("{}; {then}\n", damage::describe(lost))
    }
}

impl Summary {
    fn of(checked: &Checked, worn_out: bool, missing: Missing, findings: Vec<String>) -> Self {
        let Checked { files, directories, pages, mended, .. } = *checked;
        let changes = changes(&mended);
        Self { missing, files, directories, pages, mended: mended.total(), changes, worn_out, unsettled: false, findings }
    }

    /// What a repair has done, in a line.
    fn mended_line(&self) -> String {
        let words: Vec<String> =
            self.changes.iter().map(|(what, count)| format!("{what} {}", format_count((*count).into()))).collect();
        if words.is_empty() { String::new() } else { format!("mended: {}\n", words.join(", ")) }
    }

    fn text(&self) -> String {
        let findings = self.missing.line() + &lines(&self.findings);
        let is_sound = self.findings.is_empty() && self.missing.lost.is_none();
        let (files, directories) = (u64::from(self.files), u64::from(self.directories));
        format!(
            "{findings}{}{}, {}, {}: {}\n{}{}",
            self.mended_line(),
            counted(files, "file", "files"),
            counted(directories, "directory", "directories"),
            counted(self.pages.into(), "page", "pages"),
            if is_sound { "sound" } else { "damaged" },
            if self.worn_out { format!("worn out: {WORN_OUT}\n") } else { String::new() },
            if self.unsettled { format!("unsettled: {}\n", damage::UNSETTLED) } else { String::new() }
        )
    }
}

/// What was mended, in words.
fn changes(mended: &Mended) -> BTreeMap<&'static str, u32> {
    let all = [
        ("tables written anew", mended.tables),
        ("files emptied", mended.emptied),
        ("files cut behind their end", mended.ends),
        ("directories filled anew", mended.directories),
        ("long names or attributes gone", mended.extensions),
        ("entries removed", mended.entries),
        ("counts put right", mended.counts),
        ("names given", mended.names),
        ("inodes marked", mended.inodes_marked),
        ("inodes given back", mended.inodes_freed),
        ("pages marked", mended.pages_marked),
        ("pages given back", mended.pages_freed),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}
