//! The life of a small volume: 1 to 20 files, some changed again, and an end without a cut.

use steadyfs::{Access, CommitOn, Error, OpenOptions};

use crate::log::Log;
use crate::session::Fs;
use crate::volume::Volume;

/// Maximum bytes of a file that lies in its inode.
const INLINE: usize = 144;

/// Runs the life of a volume.
///
/// # Errors
/// Calls that failed, in words.
pub fn live(volume: &mut Volume, log: &mut Log) -> Result<(), String> {
    let files = volume.rng.u32(1..=20);
    let names: Vec<String> = (0..files).map(|number| name(number, &mut volume.rng)).collect();
    let mut names = names.into_iter();
    let mounts = volume.rng.u32(1..4);
    let mut there = Vec::new();
    for mount in 0..mounts {
        let count =
            if mount + 1 == mounts { files as usize } else { volume.rng.usize(0..=names.len()) };
        let new: Vec<String> = names.by_ref().take(count).collect();
        let lived = volume.mount(Access::ReadWrite, log, |mut session| {
            let result = use_once(&mut session.fs, session.rng, new, &mut there);
            let ended = session.fs.unmount();
            result.and(ended.map(drop))
        });
        match lived {
            Ok(
                Ok(())
                | Err(
                    Error::NoSpace
                    | Error::TooManyFiles
                    | Error::TransactionTooLarge
                    | Error::AttributesTooLarge,
                ),
            ) => {}
            other => return Err(format!("{other:?}")),
        }
    }
    Ok(())
}

/// Draws a name, in one of two directories or in none. One name in five is longer than an inode
/// takes.
fn name(number: u32, rng: &mut fastrand::Rng) -> String {
    let directory = ["", "", "", "d/", "e/"][rng.usize(..5)];
    let long = if rng.u32(..5) == 0 { "n".repeat(rng.usize(40..180)) } else { String::new() };
    format!("{directory}file{number}{long}")
}

/// Draws bytes that are not zero.
fn bytes(count: usize, rng: &mut fastrand::Rng) -> Vec<u8> {
    (0..count).map(|_| rng.u8(1..)).collect()
}

fn size(rng: &mut fastrand::Rng) -> usize {
    match rng.u32(..10) {
        0 => 0,
        1..5 => rng.usize(1..=INLINE),
        5..8 => rng.usize(INLINE..1_200),
        _ => rng.usize(1_200..8_000),
    }
}

/// Uses a volume once: makes new files, and changes existing ones.
fn use_once(
    fs: &mut Fs<'_, '_>,
    rng: &mut fastrand::Rng,
    new: Vec<String>,
    there: &mut Vec<String>,
) -> Result<(), Error> {
    // If a call of the use before was refused, names that were not committed may be gone.
    there.retain(|name| fs.stat(name.as_str()).is_ok());
    fs.set_commit_on([CommitOn::EVERY_WRITE, CommitOn::ON_SYNC, CommitOn::MANUAL][rng.usize(..3)]);
    for name in new {
        if let Some((directory, _)) = name.split_once('/')
            && fs.stat(directory).is_err()
        {
            fs.create_dir(directory)?;
        }
        let mut file = fs.open(name.as_str(), OpenOptions::CREATE)?;
        fs.write(&mut file, 0, &bytes(size(rng), rng))?;
        fs.close(file)?;
        there.push(name);
        if rng.u32(..3) == 0 {
            fs.commit()?;
        }
        if rng.u32(..4) == 0 {
            change(fs, rng, there)?;
        }
    }
    for _ in 0..rng.u32(..12) {
        change(fs, rng, there)?;
    }
    fs.commit()
}

/// Changes one of the files.
fn change(
    fs: &mut Fs<'_, '_>,
    rng: &mut fastrand::Rng,
    there: &mut Vec<String>,
) -> Result<(), Error> {
    let Some(index) = (!there.is_empty()).then(|| rng.usize(..there.len())) else { return Ok(()) };
    let name = there[index].clone();
    let mut file = fs.open(name.as_str(), OpenOptions::WRITE)?;
    let size_now = fs.size(&mut file)?;
    match rng.u32(..10) {
        0..3 => fs.append(&mut file, &bytes(size(rng) / 4 + 1, rng))?,
        3..6 => fs.write(&mut file, rng.u64(..=size_now), &bytes(size(rng) / 4 + 1, rng))?,
        6 => fs.truncate(&mut file, rng.u64(..=size_now))?,
        7 => {
            let inode = fs.stat(name.as_str())?.inode;
            fs.set_attribute(inode, "key", Some(&bytes(rng.usize(1..60), rng)))?;
        }
        8 => {
            let to = format!("{name}r");
            fs.close(file)?;
            if name.len() < 240 {
                fs.rename(name.as_str(), to.as_str())?;
                there[index] = to;
            }
            return if rng.bool() { fs.commit() } else { Ok(()) };
        }
        _ if there.len() > 1 => {
            fs.close(file)?;
            fs.remove(name.as_str())?;
            there.swap_remove(index);
            return if rng.bool() { fs.commit() } else { Ok(()) };
        }
        _ => {}
    }
    fs.close(file)?;
    if rng.bool() { fs.commit() } else { Ok(()) }
}
