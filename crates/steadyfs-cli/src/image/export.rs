//! From a volume or an archive to the host.
//!
//! An image may be malicious, so its content never decides the place of a write on the host:
//!
//! - Every name is checked before the first file is made.
//! - Files and directories are only ever created, never opened.
//! - A link that exists, or appears meanwhile, blocks the export and is not followed. Links of
//!   the image are made last.
//! - Modes are set without the right to become another user.

use super::left_out::LeftOut;
use super::names::{host_fault, sanitised};
use super::part::{self, Part};
use super::time;
use super::tree::{Files, Item, Kind, totals};
use crate::Failure;
use crate::host::directory_of;
use crate::interrupt;
use crate::progress::Progress;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use steadyfs::InodeNumber;

/// The reason why an export leaves something out.
pub const NOT_MADE: &str = "they are not made on the host";
/// The bits of a mode with which a program runs as its owner or group.
const SET_USER_OR_GROUP: u16 = 0o6000;

/// Returns the place of each item of a walk on the host, below `target`.
///
/// # Errors
/// A name that the host does not take is refused. With `sanitise`, it becomes a name that the
/// host takes.
fn plan(
    files: &dyn Files,
    items: &[Item],
    target: &Path,
    sanitise: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let mut at = vec![target.to_path_buf()];
    let mut places = Vec::with_capacity(items.len());
    for item in items {
        at.truncate(item.depth + 1);
        let fault = if item.is_text { host_fault(&item.name) } else { Some("is no text") };
        let name = match fault {
            Some(fault) if !sanitise => {
                let text = format!(
                    "has a name that {fault}, so it is not made on the host; --sanitise gives it \
                     another name"
                );
                return Err(files.fault(&item.path, &text));
            }
            _ if item.is_text => sanitised(&item.name),
            _ => sanitised(&item.name).replace(char::REPLACEMENT_CHARACTER, "_").into(),
        };
        let place = at[item.depth].join(name.as_ref());
        if item.is_directory() {
            at.push(place.clone());
        }
        places.push(place);
    }
    Ok(places)
}

/// Makes everything of a walk in a directory that is empty or does not exist yet. Makes all of
/// it, or nothing after a failure or an interruption.
pub fn all(
    files: &mut dyn Files,
    items: &[Item],
    target: &Path,
    sanitise: bool,
    verb: &str,
) -> Result<(), Failure> {
    let places = plan(files, items, target, sanitise)?;
    let is_new = !is_empty_directory(target)?;
    interrupt::ends_itself();
    let part = Part::directory(if is_new { directory_of(target) } else { target }, target)?;
    let drafts = plan(files, items, part.path(), sanitise)?;
    let mut left = LeftOut::of_items(items);
    fill(files, items, &drafts, &places, &mut Progress::of(totals(items).2, verb), &mut left)?;
    interrupt::write(|| {
        if is_new {
            return rename_new(part.path(), target);
        }
        let mut top =
            items.iter().zip(drafts.iter().zip(&places)).filter(|(item, _)| item.depth == 0);
        top.try_for_each(|(_, (from, to))| rename_new(from, to))
    })?;
    finish_directories(files, items, &places, &mut left)?;
    left.tell(NOT_MADE);
    Ok(())
}

/// Makes directories, files and then links, each at the place of its draft. Errors name the final
/// place.
fn fill(
    files: &mut dyn Files,
    items: &[Item],
    drafts: &[PathBuf],
    places: &[PathBuf],
    progress: &mut Progress,
    left: &mut LeftOut,
) -> Result<(), Failure> {
    let all = || items.iter().zip(drafts.iter().zip(places));
    // The first name of each file that may have a second one. On a host without hard links, the
    // second name is a file of its own.
    let mut made: HashMap<InodeNumber, &PathBuf> = HashMap::new();
    for (item, (draft, place)) in all() {
        let unwritable = |error| Failure::writing(place.display(), &error);
        if item.is_directory() {
            fs::create_dir(draft).map_err(unwritable)?;
        } else if item.stat.kind == Kind::File {
            if files.has_hard_links()
                && let Some(first) = made.insert(item.stat.inode, draft)
                && fs::hard_link(first, draft).is_ok()
            {
                continue;
            }
            let mut host =
                OpenOptions::new().write(true).create_new(true).open(draft).map_err(unwritable)?;
            content(files, item, &mut host, place, progress, left)?;
        }
    }
    for (item, (draft, place)) in all().filter(|(item, _)| item.stat.kind == Kind::Symlink) {
        make_link(files, item, draft, left)?
            .map_err(|error| Failure::writing(place.display(), &error))?;
    }
    Ok(())
}

/// Renames a file or directory. Refuses a name that exists.
pub fn rename_new(from: &Path, to: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(Failure::at(to.display(), "exists already; expected nothing"));
    }
    fs::rename(from, to).map_err(|error| Failure::writing(to.display(), &error))
}

/// Gives directories their modes and times last. A mode limits the entries that can be made, and
/// each new entry changes the time.
fn finish_directories(
    files: &mut dyn Files,
    items: &[Item],
    places: &[PathBuf],
    left: &mut LeftOut,
) -> Result<(), Failure> {
    for (item, place) in items.iter().zip(places).rev().filter(|(item, _)| item.is_directory()) {
        if let Ok(directory) = File::open(place) {
            settle(files, item, &directory, left)?;
        }
    }
    Ok(())
}

/// Makes a new link.
pub fn link(
    files: &mut dyn Files,
    item: &Item,
    place: &Path,
    left: &mut LeftOut,
) -> Result<(), Failure> {
    make_link(files, item, place, left)?.map_err(|error| Failure::writing(place.display(), &error))
}

/// Makes a link at a place. The host takes no attributes of links.
fn make_link(
    files: &mut dyn Files,
    item: &Item,
    place: &Path,
    left: &mut LeftOut,
) -> Result<std::io::Result<()>, Failure> {
    let target = files.target(item.stat.inode, &item.path)?;
    left.attributes += files.attributes(item.stat.inode, &item.path)?.count();
    if let Some(own) = files.owned(item.stat.inode) {
        left.count_owner(own);
    }
    Ok(symlink(&target, place))
}

#[cfg(unix)]
fn symlink(target: &str, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn symlink(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        "symbolic links are made on Unix only",
    ))
}

/// Gives an open file or directory its attributes, mode and time. Counts everything that the host
/// does not take.
fn settle(
    files: &mut dyn Files,
    item: &Item,
    file: &File,
    left: &mut LeftOut,
) -> Result<(), Failure> {
    left.attributes += files.attributes(item.stat.inode, &item.path)?.set_on_host(file);
    if let Some(own) = files.owned(item.stat.inode) {
        left.count_owner(own);
        left.rights += u64::from(own.mode & SET_USER_OR_GROUP != 0);
        set_mode(file, own.mode);
    }
    time::set_on_host(file, item.stat.modified_ns);
    Ok(())
}

/// Gives an open file or directory a mode. Ignores failures.
#[cfg(unix)]
fn set_mode(file: &File, mode: u16) {
    use std::os::unix::fs::PermissionsExt;
    let _ = file.set_permissions(fs::Permissions::from_mode(u32::from(mode) & 0o777));
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u16) {}

/// Writes a new file of the host.
pub fn content(
    files: &mut dyn Files,
    item: &Item,
    host: &mut File,
    place: &Path,
    progress: &mut Progress,
    left: &mut LeftOut,
) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| Failure::writing(place.display(), &error);
    files.content(item.stat.inode, &item.path, &mut |piece| {
        interrupt::check()?;
        progress.add(piece.len() as u64);
        write_piece(host, piece).map_err(unwritable)
    })?;
    host.set_len(item.stat.size).map_err(unwritable)?;
    settle(files, item, host, left)
}

/// Writes a piece, but skips zeros: a file may claim far more bytes than the chip has, all of
/// them zeros.
fn write_piece(host: &mut File, piece: &[u8]) -> std::io::Result<()> {
    if piece.iter().all(|&byte| byte == 0) {
        host.seek(SeekFrom::Current(piece.len() as i64)).map(drop)
    } else {
        host.write_all(piece)
    }
}

/// Returns true for an empty directory, and false if nothing exists. First removes the leftovers
/// of interrupted commands.
fn is_empty_directory(place: &Path) -> Result<bool, Failure> {
    part::remove_left(place);
    match fs::read_dir(place).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(true),
        Ok(false) => {
            Err(Failure::at(place.display(), "is not empty; expected an empty directory, or none"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(_) if !place.is_dir() => Err(Failure::at(
            place.display(),
            "is no directory; expected an empty directory, or none",
        )),
        Err(error) => Err(Failure::at(place.display(), error)),
    }
}
