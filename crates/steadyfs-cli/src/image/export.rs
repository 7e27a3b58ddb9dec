//! From a volume to the host.
//!
//! An image may be made to do harm, so nothing of it decides where on the host is written: every name is looked at before the first
//! file is made, and files and directories are only ever created, never opened. A link that is there, or comes to be there meanwhile, is
//! in the way and not followed; those of the image are made last. Modes are set without the right to become another user.

use super::names::{host_fault, sanitised};
use super::time;
use super::tree::Item;
use super::volume::Volume;
use crate::Failure;
use crate::progress::Progress;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use steadyfs::Kind;

/// Where each item of a walk goes on the host, below `target`.
///
/// # Errors
/// A name that the host does not take is refused, or made one that it takes.
pub fn plan(volume: &Volume<'_>, items: &[Item], target: &Path, sanitise: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut at = vec![target.to_path_buf()];
    let mut places = Vec::with_capacity(items.len());
    for item in items {
        at.truncate(item.depth + 1);
        let name = match host_fault(&item.name) {
            Some(fault) if !sanitise => {
                let text = format!("has a name that {fault}, which is not made on the host; --sanitise gives it another one");
                return Err(volume.refuse(&item.path, text));
            }
            _ => sanitised(&item.name),
        };
        let place = at[item.depth].join(name.as_ref());
        if item.is_directory() {
            at.push(place.clone());
        }
        places.push(place);
    }
    Ok(places)
}

/// Makes everything of a walk at its place. Directories get their permissions and times last, because these say what may be made in them, and what is
/// made in them changes those.
pub fn all(volume: &mut Volume<'_>, items: &[Item], places: &[PathBuf], progress: &mut Progress) -> Result<(), Failure> {
    for (item, place) in items.iter().zip(places) {
        if item.is_directory() {
            fs::create_dir(place).map_err(|error| Failure::writing(place.display(), &error))?;
        } else if item.stat.kind == Kind::File {
            file(volume, item, place, progress)?;
        }
    }
    for (item, place) in items.iter().zip(places).filter(|(item, _)| item.stat.kind == Kind::Symlink) {
        link(volume, item, place)?;
    }
    for (item, place) in items.iter().zip(places).rev().filter(|(item, _)| item.is_directory()) {
        if let Ok(directory) = File::open(place) {
            set_mode(volume, item, &directory);
            time::set_on_host(&directory, item.stat.modified_ns);
        }
    }
    Ok(())
}

/// Makes a link that is not there yet.
pub fn link(volume: &mut Volume<'_>, item: &Item, place: &Path) -> Result<(), Failure> {
    let target = volume.read_link(item.stat.inode, &item.path)?;
    make_link(&target, place).map_err(|error| Failure::writing(place.display(), &error))
}

#[cfg(unix)]
fn make_link(target: &str, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn make_link(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "symbolic links are made on Unix only"))
}

/// Gives an open file or directory the mode that the volume has. That is no reason to fail.
#[cfg(unix)]
fn set_mode(volume: &mut Volume<'_>, item: &Item, file: &File) {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(Some(permissions)) = volume.fs.permissions(item.stat.inode) {
        let _ = file.set_permissions(fs::Permissions::from_mode(u32::from(permissions.mode) & 0o777));
    }
}

#[cfg(not(unix))]
fn set_mode(_: &mut Volume<'_>, _: &Item, _: &File) {}

/// Makes a file that is not there yet; one that cannot be completed is removed.
pub fn file(volume: &mut Volume<'_>, item: &Item, place: &Path, progress: &mut Progress) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| Failure::writing(place.display(), &error);
    let mut host = OpenOptions::new().write(true).create_new(true).open(place).map_err(unwritable)?;
    let written = volume.read_file(item.stat.inode, &item.path, |piece| {
        progress.add(piece.len() as u64);
        write_piece(&mut host, piece).map_err(unwritable)
    });
    let written = written.and_then(|()| host.set_len(item.stat.size).map_err(unwritable));
    if written.is_err() {
        let _ = fs::remove_file(place);
    }
    written?;
    set_mode(volume, item, &host);
    time::set_on_host(&host, item.stat.modified_ns);
    Ok(())
}

/// Leaves zeros out: a file may say that it has far more bytes than the chip, and all of them are.
fn write_piece(host: &mut File, piece: &[u8]) -> std::io::Result<()> {
    if piece.iter().all(|&byte| byte == 0) {
        host.seek(SeekFrom::Current(piece.len() as i64)).map(drop)
    } else {
        host.write_all(piece)
    }
}

/// Makes a directory of the host to be filled: a new one, or one that is empty.
pub fn empty_directory(place: &Path) -> Result<(), Failure> {
    match fs::create_dir(place) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let mut entries = fs::read_dir(place).map_err(|error| Failure::at(place.display(), error))?;
            match entries.next() {
                None => Ok(()),
                Some(_) => Err(Failure::at(place.display(), "is not empty; expected a directory that is, or none")),
            }
        }
        result => result.map_err(|error| Failure::writing(place.display(), &error)),
    }
}
