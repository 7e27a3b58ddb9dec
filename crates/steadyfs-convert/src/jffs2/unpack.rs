//! The compressors of JFFS2.

use super::node::InodeNode;
use crate::lzo;

/// The reason why the content of a node cannot be unpacked.
pub(super) enum Fault {
    /// The compressor is not supported.
    Compressor(String),
    /// The packed content is invalid.
    Unpack,
}

/// Compressor of a hole: a node without bytes.
const ZERO: u8 = 1;

/// Returns true if the content of a node is only zeros.
pub(super) fn is_hole(node: &InodeNode<'_>) -> bool {
    node.compressor == ZERO
}

/// Unpacks the content of a node. The caller has checked that `unpacked_bytes` is within its limit.
pub(super) fn unpack(node: &InodeNode<'_>) -> Result<Vec<u8>, Fault> {
    let bytes = node.unpacked_bytes as usize;
    let unpacked = match node.compressor {
        0 => Some(node.packed.to_vec()),
        ZERO => Some(vec![0; bytes]),
        2 => rtime(node.packed, bytes),
        3 => return Err(Fault::Compressor("rubinmips".into())),
        4 => Some(node.packed.to_vec()),
        5 => return Err(Fault::Compressor("dynrubin".into())),
        6 => zlib(node.packed, bytes),
        7 => lzo::unpack(node.packed, bytes),
        other => return Err(Fault::Compressor(format!("the unknown compressor {other}"))),
    };
    unpacked.filter(|unpacked| unpacked.len() == bytes).ok_or(Fault::Unpack)
}

/// Unpacks zlib. As in the kernel, the checksum at the end of the stream is not checked, because
/// the node has its own checksum.
fn zlib(packed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_with_limit(packed.get(2..)?, bytes).ok()
}

/// Unpacks rtime: pairs of a byte and a number. After the byte, the number of bytes is copied from
/// the position behind the previous occurrence of the byte.
///
/// Source: fs/jffs2/compr_rtime.c of Linux.
fn rtime(packed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let mut after = [0usize; 256];
    let mut out = Vec::with_capacity(bytes.min(packed.len() * 128));
    let mut pairs = packed.chunks_exact(2);
    while out.len() < bytes {
        let &[byte, repeats] = pairs.next()? else { return None };
        out.push(byte);
        let from = std::mem::replace(&mut after[usize::from(byte)], out.len());
        if usize::from(repeats) > bytes - out.len() {
            return None;
        }
        for index in from..from + usize::from(repeats) {
            let repeated = *out.get(index)?;
            out.push(repeated);
        }
    }
    Some(out)
}
