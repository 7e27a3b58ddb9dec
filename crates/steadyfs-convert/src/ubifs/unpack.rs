//! The compressors of UBIFS, and the content of files.

use super::Fault;
use super::node::{BLOCK_BYTES, DATA, Key, Node, u16_at, u32_at};
use super::state::State;
use super::volume::Volume;
use crate::lzo;

/// Makes the bytes of a file from its blocks. A missing block consists of zeros. The caller has
/// checked that `size_bytes` is within its limit.
pub(super) fn assemble(
    volume: &Volume<'_>,
    state: &State<'_>,
    inode: u32,
    size_bytes: usize,
) -> Result<Vec<u8>, Fault> {
    let mut bytes = vec![0; size_bytes];
    for (&(_, block), &place) in state.blocks.range((inode, 0)..=(inode, u32::MAX)) {
        let from = block as usize * BLOCK_BYTES;
        if from >= size_bytes {
            break;
        }
        let key = Key { inode, kind: DATA, rest: block };
        let node = volume
            .node(place, DATA)
            .filter(|node| node.key() == Some(key))
            .ok_or(Fault::Node { place, kind: DATA })?;
        let content = unpack(&node)?;
        let to = size_bytes.min(from + content.len());
        bytes[from..to].copy_from_slice(&content[..to - from]);
    }
    Ok(bytes)
}

/// Unpacks the content of a data node, which has at most [`BLOCK_BYTES`] bytes.
fn unpack(node: &Node<'_>) -> Result<Vec<u8>, Fault> {
    let place = node.place;
    let (head, packed) =
        node.bytes.split_at_checked(48).ok_or(Fault::Node { place, kind: DATA })?;
    let bytes = u32_at(head, 40) as usize;
    let compressor = u16_at(head, 44);
    if bytes > BLOCK_BYTES {
        return Err(Fault::Node { place, kind: DATA });
    }
    let unpacked = match compressor {
        0 => packed.get(..bytes).map(<[u8]>::to_vec),
        1 => lzo::unpack(packed, bytes),
        2 => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, bytes).ok(),
        3 => zstd::bulk::decompress(packed, bytes).ok(),
        _ => return Err(Fault::Compressor { place, compressor }),
    };
    unpacked
        .filter(|unpacked| unpacked.len() == bytes)
        .ok_or(Fault::Unpack { place, expected_bytes: bytes })
}
