//! `steady check`: verifies a volume.

use super::tree::counted;
use crate::Failure;
use crate::image::chip::ChipOptions;
use crate::image::volume::WORN_OUT;
use crate::image::{Memory, Volume};
use crate::output::{print, print_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use steadyfs::media::Flash;
use steadyfs::{Access, Checked, Error, Finding};
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
was found, also when it was mended: check again to see what remains.";

#[derive(Serialize)]
struct Summary {
    files: u32,
    directories: u32,
    pages: u32,
    mended: u32,
    /// Whether so many blocks are bad that the volume can only be read.
    worn_out: bool,
    findings: Vec<String>,
}

/// Runs `steady check`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let access = if arguments.repair { Access::ReadWrite } else { Access::ReadOnly };
    let mut memory = Memory::default();
    let mut volume = Volume::open(&arguments.image, &arguments.chip, access, &mut memory)?;
    let mut findings = Vec::new();
    let mut note = |finding: Finding| findings.push(finding.to_string());
    let mut scratch = vec![0; volume.fs.config().check_bytes(&volume.fs.flash().geometry())];
    let checked = match volume.fs.check(&mut scratch, arguments.repair, &mut note) {
        Ok(checked) => checked,
        Err(error) => return ended_early(&volume, error, &findings, arguments.json),
    };
    let worn_out = volume.is_worn_out();
    volume.close(&arguments.chip)?;
    let count = findings.len() as u64;
    let summary = Summary::of(&checked, worn_out, findings);
    if arguments.json {
        print_json(&summary)?
    } else {
        print(&summary.text())?
    }
    match (count, checked.mended) {
        (0, _) => Ok(()),
        (_, mended) => {
            let what = format!("{}, {mended} mended; expected none", counted(count, "finding", "findings"));
            Err(Failure::at(arguments.image.display(), what))
        }
    }
}

/// Tells what was found before the check could not go on.
fn ended_early(volume: &Volume<'_>, error: Error, findings: &[String], json: bool) -> Result<(), Failure> {
    if json {
        print_json(&serde_json::json!({ "findings": findings }))?
    } else {
        print(&lines(findings))?
    }
    let count = counted(findings.len() as u64, "finding", "findings");
    let reason = volume.fs.flash().reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    Err(volume.refuse("", format!("the check ended early, after {count}: {error}{reason}")))
}

fn lines(findings: &[String]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

impl Summary {
    fn of(checked: &Checked, worn_out: bool, findings: Vec<String>) -> Self {
        let Checked { files, directories, pages, mended, .. } = *checked;
        Self { files, directories, pages, mended, worn_out, findings }
    }

    fn text(&self) -> String {
        let findings = lines(&self.findings);
        let (files, directories) = (u64::from(self.files), u64::from(self.directories));
        format!(
            "{findings}{}, {}, {} pages: {}\n{}",
            counted(files, "file", "files"),
            counted(directories, "directory", "directories"),
            format_count(self.pages.into()),
            if self.findings.is_empty() { "sound" } else { "damaged" },
            if self.worn_out { format!("worn out: {WORN_OUT}\n") } else { String::new() }
        )
    }
}
