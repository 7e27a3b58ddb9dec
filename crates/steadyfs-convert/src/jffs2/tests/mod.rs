mod harm;
mod maker;
mod mkfs;
mod versions;

/// Makes an image of two files in erase blocks of 4 KiB.
pub(crate) fn small(is_big_endian: bool) -> Vec<u8> {
    use super::node::Order;
    use maker::{Maker, Part};
    let mut maker = Maker::new(if is_big_endian { Order::Big } else { Order::Little });
    let content: Vec<u8> = (0..20_000u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
    for (version, part) in (1..).zip(content.chunks(1000)) {
        if version % 4 == 1 {
            maker.node(0x2003, &[]);
        }
        maker.write(Part::plain(version, content.len() as u32, (version - 1) * 1000, part));
        if version == 10 {
            maker.entry(1, 1, 2, b"kept");
        }
    }
    maker.image.resize(maker.image.len().next_multiple_of(4096) + 8192, 0xff);
    maker.image
}
