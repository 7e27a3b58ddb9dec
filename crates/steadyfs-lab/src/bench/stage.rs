//! Common parts of cases before and after the measurement: they make files, age volumes, and
//! read everything back.

use super::contender::{Contender, Fault, Mode, Room, Volume};
use super::content::Document;
use super::gauge::Gauge;
use crate::units::format_count;

/// Bytes of the files that age a volume, if it can hold enough of them.
const AGED_FILE_BYTES: u64 = 8_000;
/// Number of files that a case may make beside those that age a volume.
const FILES_BESIDE: u64 = 64;
/// Bytes of a write whose size does not matter.
pub const PIECE_BYTES: usize = 4096;

/// Makes a file of `bytes` in pieces, and makes it durable at its end; each call is a step.
///
/// # Errors
/// [`Fault`].
pub fn put<V: Volume>(
    gauge: &mut Gauge,
    volume: &mut V,
    document: &mut Document,
    bytes: u64,
    piece: usize,
) -> Result<(), Fault> {
    let mut file = gauge.step(volume, |step| step.open(&document.path, Mode::Create))?;
    while document.size < bytes {
        let length = (bytes - document.size).min(piece as u64) as usize;
        let data = document.bytes(document.size, length);
        gauge.step(volume, |step| step.write(&mut file, document.size, &data))?;
        document.size += length as u64;
    }
    gauge.step(volume, |step| {
        step.sync(&mut file)?;
        step.close(file)
    })
}

/// Makes a file outside the measurement.
///
/// # Errors
/// [`Fault`].
pub fn make<V: Volume>(
    volume: &mut V,
    path: impl Into<String>,
    bytes: u64,
    piece: usize,
) -> Result<Document, Fault> {
    let mut document = Document::new(path);
    let mut gauge = Gauge::default();
    put(&mut gauge, volume, &mut document, bytes, piece)?;
    gauge.end_unmeasured()?;
    Ok(document)
}

/// Refuses a case if an empty volume is too small for it.
///
/// # Errors
/// [`Fault::NoRoom`], or [`Fault::Cannot`] if a file cannot be large enough.
pub fn demand<V: Volume>(volume: &mut V, bytes: u64, files: u64) -> Result<Room, Fault> {
    let room = volume.room()?;
    let one = bytes / files.max(1);
    if one > room.file_bytes_max {
        let (one, most) = (format_count(one), format_count(room.file_bytes_max));
        return Err(Fault::Cannot(format!("needs files of {one} bytes, one has {most} at most")));
    }
    if bytes > room.usable_bytes {
        let (bytes, usable) = (format_count(bytes), format_count(room.usable_bytes));
        return Err(Fault::NoRoom(format!("needs {bytes} bytes, the volume has {usable}")));
    }
    // The root of a file system may count as a file.
    if files >= u64::from(room.files_max) {
        let (files, most) = (format_count(files), format_count(room.files_max.into()));
        return Err(Fault::NoRoom(format!("needs {files} files, the volume holds {most}")));
    }
    Ok(room)
}

/// Ages a volume and unmounts it. Files fill the volume, and `keep` of each five stay. Returns
/// the files that stay.
///
/// The files have 8,000 bytes. They have more bytes if the volume cannot hold enough files of
/// 8,000 bytes, but at most the maximum size of a file.
///
/// # Errors
/// [`Fault`].
pub fn age<K: Contender>(contender: &mut K, keep: usize) -> Result<Vec<Document>, Fault> {
    let mut volume = contender.mount()?;
    let mut room = volume.room()?;
    let files = u64::from(room.files_max).saturating_sub(FILES_BESIDE).max(5);
    let bytes = AGED_FILE_BYTES.max(room.usable_bytes / files).min(room.file_bytes_max);
    // A file may take a unit beside its data. Later calls may need the last units of a volume.
    let taken = bytes.next_multiple_of(room.unit_bytes.into()) + u64::from(room.unit_bytes);
    let mut all = Vec::new();
    while room.free_bytes >= 2 * taken && (all.len() as u64) < files {
        all.push(make(&mut volume, format!("aged-{}", all.len()), bytes, PIECE_BYTES)?);
        room = volume.room()?;
    }
    let mut kept = Vec::new();
    for (index, document) in all.into_iter().enumerate() {
        if index % 5 < keep {
            kept.push(document);
        } else {
            volume.remove(&document.path)?;
        }
    }
    volume.unmount()?;
    Ok(kept)
}

/// Mounts a volume and compares every byte of its files.
///
/// # Errors
/// [`Fault::Failed`] for a byte that differs from the written one.
pub fn verify<'d, K: Contender>(
    contender: &mut K,
    documents: impl IntoIterator<Item = &'d Document>,
) -> Result<(), Fault> {
    let mut volume = contender.mount()?;
    for document in documents {
        compare(&mut volume, document)?;
    }
    volume.unmount()
}

fn compare<V: Volume>(volume: &mut V, document: &Document) -> Result<(), Fault> {
    let mut file = volume.open(&document.path, Mode::Read)?;
    let mut data = [0; PIECE_BYTES];
    let mut at = 0;
    loop {
        let length = volume.read(&mut file, at, &mut data)?;
        let wanted = (document.size - at).min(PIECE_BYTES as u64) as usize;
        if length != wanted || data[..length] != document.bytes(at, length) {
            return Err(Fault::wrong(&document.path, at));
        }
        at += length as u64;
        if length < data.len() {
            return volume.close(file);
        }
    }
}
