//! A compressed file with hostile entries and chunks, on a sound volume.
//!
//! ```text
//! input:  attribute (4)   size (1 …)   entries (1), each where (1), place (2), stored (2), form (1)
//!         bytes (2), what they are (1)   script …
//! ```

use std::sync::LazyLock;

use steadyfs::media::Geometry;
use steadyfs::{Access, Config, FileSystem, OpenOptions};
use steadyfs_compress::{ATTRIBUTE, Method, PackedFile, Shape, lz4};
use steadyfs_host::plain::PlainFile;

use crate::choices::Choices;
use crate::medium::Ram;

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 40, programs_bytes: false };
/// Most calls of a script. Each call may read and write some chunks.
const CALLS_MAX: usize = 12;
/// Most bytes that a call reads or writes.
const BYTES_MAX: usize = 20_000;

/// A new volume.
static BLANK: LazyLock<Ram> = LazyLock::new(|| {
    let mut memory = vec![0; config().memory_bytes(&GEOMETRY)];
    FileSystem::format(Ram::new(GEOMETRY), &config(), &mut memory).expect("a volume")
});

fn config() -> Config {
    Config::for_geometry(&GEOMETRY)
}

/// Decodes a block by itself. Even from a hostile block, the decoder makes no byte beyond the
/// limit.
pub fn block(input: &[u8]) {
    let mut choices = Choices::new(input);
    let limit = choices.below(5000);
    let stored = choices.bytes(4000);
    let mut room = vec![0xA5; (limit + lz4::margin(limit)).max(stored.len())];
    let start = room.len() - stored.len();
    room[start..].copy_from_slice(stored);
    if let Some(made) = lz4::decode(&mut room, stored.len(), limit) {
        assert!(made <= limit);
    }
    let (mut out, mut again) =
        (vec![0; stored.len() + stored.len() / 255 + 16], vec![0; 2 * stored.len() + 64]);
    let count = lz4::encode(stored, &mut out, &mut [0; 512]).expect("room for the worst case");
    let start = again.len() - count.min(again.len());
    again[start..].copy_from_slice(&out[..count]);
    assert_eq!(lz4::decode(&mut again, count, stored.len()), Some(stored.len()));
    assert_eq!(&again[..stored.len()], stored);
}

/// Makes a file whose attribute, entries and chunks come from the input, and calls on it.
///
/// # Panics
/// If written data is not read back, or a call on a sound volume returns an error that only a
/// broken volume can cause.
pub fn file(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut memory = vec![0; config().memory_bytes(&GEOMETRY) + 12 * 8];
    let mut fs =
        FileSystem::mount(BLANK.clone(), Access::ReadWrite, &mut memory).expect("a volume");
    let attribute = attribute(&mut choices);
    let mut stored = fs.open("f", OpenOptions::CREATE).expect("a file");
    fs.set_attribute(stored.inode(), ATTRIBUTE, Some(&attribute)).expect("an attribute");
    let content = content(&mut choices);
    fs.write(&mut stored, 0, &content).expect("room");
    let inode = stored.inode();
    fs.close(stored).expect("closed");
    let Ok(mut file) = PlainFile::open(&mut fs, inode, true) else { return };
    for _ in 0..CALLS_MAX {
        if choices.is_empty() {
            break;
        }
        call(&mut fs, &mut file, &mut choices);
    }
    file.close(&mut fs).expect("closed");
    // The rest of the volume is unchanged.
    let sound = Shape::new(4096, Method::Lz4);
    let other =
        PackedFile::create(&mut fs, "g", sound, vec![0; sound.write_bytes()]).expect("a file");
    other.close(&mut fs).expect("closed");
}

/// Returns an attribute, mostly a valid one.
fn attribute(choices: &mut Choices<'_>) -> [u8; 4] {
    let [a, b, c, d] = [choices.byte(), choices.byte(), choices.byte(), choices.byte()];
    if a < 240 { [1, 1 + b % 3, 12 + c % 5, 6 + d % 4] } else { [a, b, c, d] }
}

/// Returns the bytes of the file: size, entries, and the bytes that they name.
fn content(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut content = vec![0; 600 + choices.below(4000)];
    let size = choices.size();
    content[..8].copy_from_slice(&size.to_le_bytes());
    for _ in 0..choices.below(12) {
        let at = 8 + 8 * choices.below(70);
        let (place, stored, form) = (choices.word(), choices.word(), choices.byte());
        let position = u32::from(place) * if form & 0x80 == 0 { 1 } else { 97 };
        let form = if form & 0x40 == 0 { 1 + form % 4 } else { form };
        content[at..at + 4].copy_from_slice(&position.to_le_bytes());
        content[at + 4..at + 6].copy_from_slice(&stored.to_le_bytes());
        content[at + 6] = form;
    }
    let (at, bytes) = (choices.below(content.len()), choices.bytes(200));
    let bytes = &bytes[..bytes.len().min(content.len() - at)];
    content[at..at + bytes.len()].copy_from_slice(bytes);
    content
}

fn call(fs: &mut FileSystem<'_, Ram>, file: &mut PlainFile, choices: &mut Choices<'_>) {
    let kind = choices.byte();
    let offset = choices.size();
    let count = usize::from(choices.word()) % BYTES_MAX;
    match kind % 4 {
        0 | 1 => {
            let mut data = vec![0; count];
            if let Ok(length) = file.read(fs, offset, &mut data) {
                assert!(length <= count);
            }
        }
        2 => {
            let data: Vec<u8> = (0..count).map(|at| (at as u8).wrapping_mul(kind)).collect();
            if file.write(fs, offset, &data).is_ok() {
                file.forget();
                let mut again = vec![0; count];
                if let Ok(length) = file.read(fs, offset, &mut again) {
                    assert!(length == count && again == data, "what was written is read");
                }
            }
        }
        _ => {
            if file.truncate(fs, offset).is_ok() {
                assert_eq!(file.size(fs).expect("a size"), offset);
            }
        }
    }
}
