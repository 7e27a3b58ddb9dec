//! RAM of sample volumes, as arrays whose sizes are in the symbol table. They are reserved in a
//! section of their own and do not count as RAM of the firmware.

use core::mem::{MaybeUninit, size_of};
use steadyfs::File;
use steadyfs::media::Geometry;
#[cfg(any(feature = "nand", feature = "nor"))]
use steadyfs::{Config, FileSystem};

/// 128 MiB of NAND.
pub const NAND_128_MIB: Geometry =
    Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 1024, programs_bytes: false };

/// Returns the bytes of tables and buffers with the default settings.
#[cfg(any(feature = "nand", feature = "nor"))]
const fn memory_bytes(geometry: &Geometry) -> usize {
    let config = Config::for_geometry(geometry);
    assert!(config.check(geometry).is_ok());
    config.memory_bytes(geometry)
}

/// Reserves bytes under a name.
macro_rules! sample {
    ($name:ident, $bytes:expr) => {
        #[used]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".samples")]
        static $name: MaybeUninit<[u8; $bytes]> = MaybeUninit::uninit();
    };
}

#[cfg(feature = "nand")]
mod nand {
    use super::*;
    use crate::driver::Nand;

    sample!(sample_tables_nand_128_mib, memory_bytes(&NAND_128_MIB));
    sample!(sample_state_nand, size_of::<FileSystem<'static, Nand>>());
}

#[cfg(feature = "nor")]
mod nor {
    use super::*;
    use crate::driver::{Nor, NorChip};
    use steadyfs::media::nor::{NorPages, page_bytes_for};

    /// 16 MiB of NOR in blocks of 64 KiB.
    const NOR_16_MIB: Geometry = nor_geometry(64 << 10, 256);
    /// 1 MiB of NOR in blocks of 4 KiB.
    const NOR_1_MIB: Geometry = nor_geometry(4 << 10, 256);

    const fn nor_geometry(block_bytes: u32, block_count: u32) -> Geometry {
        let page_bytes = page_bytes_for(block_bytes);
        let pages_per_block = NorPages::<Nor>::pages_per_block(block_bytes, page_bytes);
        Geometry { page_bytes, pages_per_block, block_count, programs_bytes: true }
    }

    sample!(sample_tables_nor_16_mib, memory_bytes(&NOR_16_MIB));
    sample!(sample_tables_nor_1_mib, memory_bytes(&NOR_1_MIB));
    sample!(sample_state_nor, size_of::<FileSystem<'static, NorChip>>());
}

sample!(sample_handle, size_of::<File>());
