//! `steady check`: verifies a volume.

mod archive;
mod disk;
mod findings;
mod paths;
mod rows;
mod superblocks;

use super::tree::counted;
use crate::Failure;
use crate::image::draft;
use crate::image::tree::{Kind, walk};
use crate::image::volume::WORN_OUT;
use crate::image::{Memory, Mounted, ReadOptions, Volume};
use crate::output::{print, print_json};
use clap::Args;
use findings::Missing;
use paths::Paths;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use steadyfs::media::Flash;
use steadyfs::{Access, CheckReport, Error, Finding, ROOT, Repairs};
use steadyfs_host::damage;
use steadyfs_host::plain::Shape;
use steadyfs_lab::units::{format_count, format_size};

/// Arguments of `steady check`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The image
    #[arg(value_name = "IMG")]
    image: PathBuf,
    /// Mend as much as possible; without this, nothing is written
    #[arg(long)]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

const AFTER_HELP: &str = "\
The command reads every page of the volume, compares it with its checksum, and follows every
reference. The exit code is 1 if it found anything, even if it mended it: check again to see the
rest. Inodes have their paths beside them if directories can be listed. Many findings of one kind in
a row are one line; --json has each finding.

The superblock has two copies. If one copy is damaged, the volume is read and written with the
other; --repair rewrites the damaged copy.

If a mount finds a loss, the volume can only be read. --repair accepts the loss, then checks the
rest, and the volume can be changed again. One loss has no repair: the first leaf of the map, if
power failed before it was copied.

On a disk, every written page is read. Sectors that cannot be read stay so until they are rewritten.
The checker of the file system on the disk finds the files that they belong to.

In a read-only image, each block is compared with the hash tree, if there is one, and every file is
decoded. --verify-key verifies the signature with a key.";

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    missing: Missing,
    files: u32,
    directories: u32,
    pages: u32,
    mended: u32,
    /// The kinds of repairs that were made, and their counts.
    changes: BTreeMap<&'static str, u32>,
    #[serde(flatten)]
    rest: Rest,
    findings: Vec<String>,
    /// The findings as text.
    #[serde(skip)]
    lines: String,
    /// Pages that a repair would free, because they belong to no file.
    #[serde(skip)]
    freed_by_repair: usize,
}

/// Facts that are no faults, but are reported.
#[derive(Serialize)]
struct Rest {
    /// True if so many blocks are bad that the volume can only be read.
    worn_out: bool,
    /// True if a mount for writing may decide otherwise about the last commit.
    unsettled: bool,
    /// Pages of removed files: the next changes free them.
    removed_pages: u64,
    /// Bytes of the file that an interrupted command left; `None` if there is none.
    interrupted_bytes: Option<u64>,
    /// The name of this file.
    #[serde(skip)]
    interrupted_name: Option<String>,
}

/// Runs `steady check`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (count, mended) = match arguments.reading.find(&arguments.image)? {
        Some(_) if arguments.repair => {
            return Err(Failure::at(
                arguments.image.display(),
                "is only read; expected no --repair",
            ));
        }
        Some(found) => (archive::run(found, arguments.reading.key()?, arguments.json)?, 0),
        None => run_volume(arguments)?,
    };
    if count == 0 {
        return Ok(());
    }
    Err(Failure::at(arguments.image.display(), verdict(count, mended, arguments.repair)))
}

/// The reason for the exit code 1, with the command that mends it.
fn verdict(count: u64, mended: u32, repair: bool) -> String {
    let found = counted(count, "finding", "findings");
    match u64::from(mended) {
        _ if !repair => format!("{found}; expected none; --repair mends as much as possible"),
        mended if mended < count => {
            format!(
                "{found}, {mended} mended; expected none; unreadable data is lost: write it anew, \
                 or remove the file"
            )
        }
        mended => format!("{found}, {mended} mended; expected none"),
    }
}

/// Checks a volume. Returns the number of findings, and the number of mended ones.
fn run_volume(arguments: &Arguments) -> Result<(u64, u32), Failure> {
    arguments.reading.refuse_volume(&arguments.image)?;
    let access = if arguments.repair { Access::ReadWrite } else { Access::ReadOnly };
    let mut memory = Memory::default();
    match Mounted::examine(&arguments.image, &arguments.reading.chip, access, &mut memory)? {
        Mounted::Files(volume) => run_files(volume, arguments),
        Mounted::Disk(volume) => {
            disk::run(volume, arguments.repair, arguments.json, &arguments.reading.chip)
        }
    }
}

/// Checks a file system. Returns the number of findings, and the number of mended ones.
fn run_files(mut volume: Volume<'_>, arguments: &Arguments) -> Result<(u64, u32), Failure> {
    let lost = volume.fs.damage();
    if arguments.repair {
        volume.remove_left()?;
    }
    let (mut found, mut paths) = (Vec::new(), Paths::none());
    if arguments.repair {
        // Look up the paths first, because a repair removes names.
        paths.look(&mut volume);
    }
    let mut note = |finding: Finding| found.push(finding);
    let mut scratch = vec![0; volume.fs.config().check_bytes(&volume.fs.flash().geometry())];
    let repaired = if arguments.repair && lost.is_some() {
        Some(volume.fs.repair(&mut scratch, &mut note))
    } else {
        None
    };
    let checked = match repaired {
        // Damage that cannot be accepted is reported below.
        None | Some(Err(Error::Corrupt)) => {
            let mends = arguments.repair && volume.fs.damage().is_none();
            volume.fs.check(&mut scratch, mends, &mut note)
        }
        Some(result) => result,
    };
    let missing = Missing::of(lost, volume.fs.damage());
    if !found.is_empty() {
        paths.look(&mut volume);
    }
    let mut findings: Vec<String> = found.iter().map(|finding| paths.tell(finding)).collect();
    let mut lines = rows::lines(&found, &paths);
    let checked = match checked {
        Ok(checked) => checked,
        Err(error) => {
            return Err(ended_early(&volume, error, &missing, &findings, &lines, arguments.json)?);
        }
    };
    if findings.is_empty() && missing.lost.is_none() {
        findings.extend(compressed_findings(&mut volume)?);
        lines = findings::lines(&findings);
    }
    let is_freed =
        |finding: &&Finding| !arguments.repair && matches!(finding, Finding::LeakedPage { .. });
    let freed_by_repair = found.iter().filter(is_freed).count();
    let rest = Rest::of(&mut volume);
    let damaged = superblocks::find(volume.close(&arguments.reading.chip)?, arguments.repair);
    let rewritten = u32::from(damaged.as_ref().is_some_and(|damaged| damaged.mended));
    if let Some(damaged) = damaged {
        lines += &format!("{}\n", damaged.text);
        findings.push(damaged.text);
    }
    let repaired = u32::from(missing.repaired);
    let (count, mended) =
        (findings.len() as u64 + missing.count(), checked.mended.total() + rewritten + repaired);
    let mut summary =
        Summary { lines, freed_by_repair, ..Summary::of(&checked, rest, missing, findings) };
    if rewritten > 0 {
        summary.mended += rewritten;
        summary.changes.insert("superblocks written anew", rewritten);
    }
    if arguments.json {
        print_json(&summary)?
    } else {
        print(&summary.text())?
    }
    Ok((count, mended))
}

/// Reads every compressed file of an otherwise sound volume. Returns a finding for each file that
/// cannot be decoded.
fn compressed_findings(volume: &mut Volume<'_>) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    for item in walk(volume, ROOT, "")? {
        let is_plain = item.stat.kind != Kind::File
            || matches!(Shape::of(&mut volume.fs, item.stat.inode), Ok(None));
        if !is_plain
            && let Err(Failure { sentence: text, .. }) =
                volume.read_file(item.stat.inode, &item.path, |_| Ok(()))
        {
            findings.push(text);
        }
    }
    Ok(findings)
}

/// Prints the findings so far, because the check could not go on. Returns the reason for that.
fn ended_early(
    volume: &Volume<'_>,
    error: Error,
    missing: &Missing,
    findings: &[String],
    lines: &str,
    json: bool,
) -> Result<Failure, Failure> {
    if json {
        let Missing { damage, repaired, .. } = missing;
        print_json(
            &serde_json::json!({ "damage": damage, "repaired": repaired, "findings": findings }),
        )?
    } else {
        print(&(missing.line() + lines))?
    }
    let count = counted(findings.len() as u64 + missing.count(), "finding", "findings");
    let reason = volume.fs.flash().reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    Ok(volume.refuse("", format!("the check ended early, after {count}: {error}{reason}")))
}

impl Summary {
    fn of(checked: &CheckReport, rest: Rest, missing: Missing, findings: Vec<String>) -> Self {
        let CheckReport { files, directories, pages, mended, .. } = *checked;
        // Users do not make the root directory: `tree` and `unpack` do not count it either.
        let (directories, changes) = (directories.saturating_sub(1), changes(&mended));
        let (lines, freed_by_repair) = (String::new(), 0);
        Self {
            missing,
            files,
            directories,
            pages,
            mended: mended.total(),
            changes,
            rest,
            findings,
            lines,
            freed_by_repair,
        }
    }

    /// Returns the repairs that were made, in a line.
    fn mended_line(&self) -> String {
        let words: Vec<String> = self
            .changes
            .iter()
            .map(|(what, count)| format!("{what} {}", format_count((*count).into())))
            .collect();
        if words.is_empty() { String::new() } else { format!("mended: {}\n", words.join(", ")) }
    }

    /// Returns a line about the pages that a repair would free. Users may want to look at them
    /// first.
    fn freed(&self) -> String {
        match self.freed_by_repair {
            0 => String::new(),
            pages => format!(
                "--repair frees the {} that belong to no file; if inodes are lost, they may \
                 be all that is left of their files\n",
                counted(pages as u64, "page", "pages")
            ),
        }
    }

    fn text(&self) -> String {
        let findings = self.missing.line() + &self.lines + &self.freed();
        let is_sound = self.findings.is_empty() && self.missing.lost.is_none();
        format!(
            "{findings}{}{}, {}, {}{}: {}\n{}",
            self.mended_line(),
            counted(self.files.into(), "file", "files"),
            counted(self.directories.into(), "directory", "directories"),
            counted(self.pages.into(), "page", "pages"),
            self.rest.removed(),
            if is_sound { "sound" } else { "damaged" },
            self.rest.text()
        )
    }
}

impl Rest {
    fn of(volume: &mut Volume<'_>) -> Self {
        let page_bytes = u64::from(volume.fs.usage().logical_bytes);
        let left = draft::left(volume).ok().flatten();
        Self {
            worn_out: volume.is_worn_out(),
            unsettled: volume.is_unsettled(),
            // An unreadable list is a finding already.
            removed_pages: volume.fs.pending_free_bytes().unwrap_or(0) / page_bytes,
            interrupted_bytes: left.as_ref().map(|(_, left)| left.size),
            interrupted_name: left.map(|(name, _)| name),
        }
    }

    /// Returns the number of pages of removed files, as text.
    fn removed(&self) -> String {
        match self.removed_pages {
            0 => String::new(),
            pages => {
                format!(" ({} of removed files, freed by the next changes)", format_count(pages))
            }
        }
    }

    fn text(&self) -> String {
        let worn_out = self.worn_out.then(|| format!("worn out: {WORN_OUT}\n"));
        let unsettled = self.unsettled.then(|| format!("unsettled: {}\n", damage::UNSETTLED));
        let left = self.interrupted_bytes.zip(self.interrupted_name.as_ref()).map(|(bytes, name)| {
            let size = format_size(bytes);
            format!(
                "left over: /{name}, {size}, of an interrupted `put`; the next command that writes \
                 removes it\n"
            )
        });
        [worn_out, unsettled, left].into_iter().flatten().collect()
    }
}

/// Returns the repairs that were made, in words.
fn changes(mended: &Repairs) -> BTreeMap<&'static str, u32> {
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
