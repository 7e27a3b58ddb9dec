//! A medium as an input: a record for each page that is not erased. A fuzzer that changes a byte
//! of the input changes a byte of a page, and the checksum of the page is made right again.
//!
//! ```text
//! shape (1)   then of each page:
//! page (2)   flags (1)   data length (2)   data …   tag (12, or 16 if it is raw)
//! ```
//! Data is filled up with `0xFF`. A page number behind the last page ends the medium. The script
//! of the calls follows.

use crate::choices::Choices;
use crate::medium::Ram;
use crate::seal::{TAG_CONTENT_BYTES, seal};
use crate::volumes::{SHAPES, Volume};
use steadyfs::media::TAG_BYTES;

/// Flag: the checksum of the record is used as it is, even if it is wrong.
const RAW: u8 = 0x80;
/// The page number that ends the medium.
const END: u16 = u16::MAX;

/// Reads a medium.
pub fn read(choices: &mut Choices<'_>) -> Ram {
    let shape = choices.of(&SHAPES);
    let mut ram = Ram::new(shape.geometry);
    ram.can_copy = shape.geometry.page_bytes == 512;
    while !choices.is_empty() {
        let page = usize::from(choices.word());
        if page >= ram.page_count() {
            break;
        }
        let (flags, length) = (choices.byte(), choices.word());
        let (data, tag) = ram.parts_mut(page);
        let bytes = choices.bytes(usize::from(length).min(data.len()));
        data[..bytes.len()].copy_from_slice(bytes);
        let is_raw = flags & RAW != 0;
        let bytes = choices.bytes(if is_raw { TAG_BYTES } else { TAG_CONTENT_BYTES });
        tag[..bytes.len()].copy_from_slice(bytes);
        if !is_raw {
            seal(&mut ram, page);
        }
    }
    ram
}

/// Writes the medium of a volume with one of the [`SHAPES`], and a script.
pub fn write(volume: &Volume, script: &[u8]) -> Vec<u8> {
    let shape = SHAPES
        .iter()
        .position(|shape| shape.geometry == volume.shape.geometry)
        .expect("one of the shapes");
    let mut bytes = vec![shape as u8];
    for page in 0..volume.ram.page_count() {
        let (data, tag) = volume.ram.parts(page);
        let is_tagged = tag.iter().any(|&byte| byte != 0xFF);
        if !is_tagged && data.iter().all(|&byte| byte == 0xFF) {
            continue;
        }
        let used = data.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last + 1);
        bytes.extend((page as u16).to_le_bytes());
        bytes.push(if is_tagged { 0 } else { RAW });
        bytes.extend((used as u16).to_le_bytes());
        bytes.extend(&data[..used]);
        bytes.extend(&tag[..if is_tagged { TAG_CONTENT_BYTES } else { TAG_BYTES }]);
    }
    bytes.extend(END.to_le_bytes());
    bytes.extend(script);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volumes::volumes;

    #[test]
    fn a_medium_is_read_as_it_was_written() {
        for volume in volumes()
            .iter()
            .filter(|volume| SHAPES.iter().any(|shape| shape.geometry == volume.shape.geometry))
        {
            let bytes = write(volume, b"script");
            let mut choices = Choices::new(&bytes);
            let ram = read(&mut choices);
            assert!((0..ram.page_count()).all(|page| ram.page(page) == volume.ram.page(page)));
            assert_eq!(choices.bytes(100), b"script");
        }
    }
}
