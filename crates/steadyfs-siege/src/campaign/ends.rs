//! Files grow side by side and are truncated again, power fails, and a journal page is lost.
//!
//! The loss takes the records since the newest root, so the state is a mixture. Behind the size
//! of a file a repair may find entries of another time. A file that shows all its committed bytes
//! must keep them.
//!
//! Two files may show the same page within their sizes. Then one of them shows bytes of the
//! other, and the repair may take either.

use std::collections::BTreeMap;

use steadyfs::media::Flash;
use steadyfs::{Access, CommitOn, Error, OpenOptions};

use super::lost;
use super::repair::Held;
use crate::log::Log;
use crate::session::Fs;
use crate::shape::Settings;
use crate::view::{self, Partial};
use crate::volume::Volume;

/// Maximum number of pages of a medium.
const PAGES_MAX: u32 = 600;
/// Bytes of each file, by path.
type Files = BTreeMap<String, Vec<u8>>;

/// Lets files grow and shrink on a volume, and loses each of its journal pages.
pub fn volume(seed: u64, log: &mut Log) {
    let mut volume = match Volume::new(seed, Settings::Any, PAGES_MAX, log) {
        Ok(volume) => volume,
        Err(error) => return log.find("format refused", format!("{error:?}")),
    };
    let mut truth = Files::new();
    for _ in 0..volume.rng.u32(1..4) {
        let lived = volume.mount(Access::ReadWrite, log, |mut session| {
            use_once(&mut session.fs, session.rng, &mut truth)?;
            // Some uses end well.
            if session.rng.u32(..4) == 0 { session.fs.unmount().map(drop) } else { Ok(()) }
        });
        match lived {
            Ok(Ok(())) => {}
            // The model cannot follow an open transaction that a failed call ended.
            Ok(Err(Error::NoSpace | Error::TooManyFiles | Error::TransactionTooLarge)) => return,
            other => return log.find("a call failed before the loss", format!("{other:?}")),
        }
    }
    let intact = volume.medium.clone();
    for page in intact.programmed() {
        volume.medium = intact.clone();
        if !matches!(
            Held::by(&mut volume.medium, &volume.config, page),
            Held::Journal | Held::Other
        ) {
            continue;
        }
        volume.rng = fastrand::Rng::with_seed(seed ^ u64::from(page) << 1);
        volume.medium.lose(page, true);
        let mut own = Log { world: log.world, ..Log::default() };
        own.trace(|| format!("--- page {page} lost"));
        own.count("journal pages lost");
        one(&mut volume, &truth, &mut own);
        log.take_in(own, format_args!("page {page}"));
    }
}

/// Appends to files in turn, and truncates, reserves and removes some.
fn use_once(fs: &mut Fs<'_, '_>, rng: &mut fastrand::Rng, truth: &mut Files) -> Result<(), Error> {
    fs.set_commit_on([CommitOn::EVERY_WRITE, CommitOn::ON_SYNC, CommitOn::MANUAL][rng.usize(..3)]);
    for _ in 0..rng.u32(20..120) {
        change(fs, rng, truth)?;
        if rng.u32(..4) == 0 {
            fs.commit()?;
        }
    }
    fs.commit()
}

/// Changes one of four files.
fn change(fs: &mut Fs<'_, '_>, rng: &mut fastrand::Rng, truth: &mut Files) -> Result<(), Error> {
    let page = fs.usage().logical_bytes as usize;
    let name = format!("f{}", rng.u32(..4));
    let mut file = fs.open(name.as_str(), OpenOptions::CREATE)?;
    let data = truth.entry(name.clone()).or_default();
    match rng.u32(..18) {
        0..9 => {
            let bytes = bytes(rng.usize(page / 2..3 * page / 2), rng);
            fs.append(&mut file, &bytes)?;
            data.extend(bytes);
        }
        9..13 => {
            let size = data.len().saturating_sub(rng.usize(..8 * page));
            fs.truncate(&mut file, size as u64)?;
            data.truncate(size);
        }
        13 => {
            let from = data.len() as u64;
            fs.reserve(&mut file, from, from + (rng.usize(1..6) * page) as u64)?;
        }
        14..16 => {
            truth.remove(&name);
            fs.close(file)?;
            return fs.remove(name.as_str());
        }
        _ => {
            let (at, bytes) = (rng.usize(..=data.len()), bytes(rng.usize(1..page), rng));
            fs.write(&mut file, at as u64, &bytes)?;
            data.resize(data.len().max(at + bytes.len()), 0);
            data[at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }
    fs.close(file)
}

/// Draws bytes that are not zero.
fn bytes(count: usize, rng: &mut fastrand::Rng) -> Vec<u8> {
    (0..count).map(|_| rng.u8(1..)).collect()
}

/// Mounts a volume that lost a page, repairs it, and compares the files before and after.
fn one(volume: &mut Volume, truth: &Files, log: &mut Log) {
    let piece = lost::piece_of(volume);
    let mut scratch = vec![0; volume.config.check_bytes(&volume.medium.geometry())];
    let result = volume.mount(Access::ReadWrite, log, |mut session| {
        let damage = session.fs.damage();
        if damage.is_none() {
            return session.log.count("  nothing is missing, or it is taken for a cut");
        }
        let before = bytes_of(&view::look_tolerantly(&mut session.fs, piece));
        let mut findings = Vec::new();
        let repaired =
            session.fs.repair(&mut scratch, &mut |finding| findings.push(finding.to_string()));
        session.log.trace(|| format!("{damage:?}: {repaired:?}\n  {}", findings.join("\n  ")));
        if let Err(error) = repaired {
            return session.log.find("repair refused", format!("{damage:?}: {error:?}"));
        }
        session.log.count("  repaired");
        let after = bytes_of(&view::look_tolerantly(&mut session.fs, piece));
        // A file with wrong bytes may hold a page of another file.
        let is_mixed = before.iter().any(|(path, bytes)| {
            bytes.as_ref().is_some_and(|bytes| truth.get(path) != Some(bytes))
        });
        let is_whole = |path: &str, bytes: &Vec<u8>| {
            matches!(before.get(path), Some(Some(shown)) if shown == bytes)
        };
        for (path, wanted) in truth.iter().filter(|(path, wanted)| is_whole(path, wanted)) {
            match after.get(path) {
                Some(Some(bytes)) if bytes == wanted => {
                    session.log.count("  files that keep all their bytes");
                }
                _ if is_mixed => {
                    session.log.count("  files that lose some, beside one with wrong bytes");
                }
                now => {
                    let now = now.map(|bytes| bytes.as_ref().map(Vec::len));
                    let words =
                        format!("{damage:?}: {path}, of {} bytes, is {now:?}", wanted.len());
                    session.log.find("a repair took a file that could be read", words);
                }
            }
        }
    });
    if let Err(error) = result {
        log.find("mount refused", format!("{error:?}"));
    }
}

/// Returns the bytes of each file, or `None` for a file of which a part cannot be read.
fn bytes_of(seen: &Partial) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut files = BTreeMap::new();
    // A mixture may list a name twice.
    let is_single = |path: &&String| !seen.doubles.contains(path);
    for (path, size) in seen
        .sizes
        .iter()
        .filter_map(|(path, size)| size.map(|size| (path, size)))
        .filter(|(path, _)| is_single(path))
    {
        let mut bytes = vec![0; size as usize];
        for (_, offset, piece) in seen.pieces.iter().filter(|(of, ..)| of == path) {
            bytes[*offset..*offset + piece.len()].copy_from_slice(piece);
        }
        files.insert(path.clone(), (!seen.damaged.contains(path)).then_some(bytes));
    }
    files
}
