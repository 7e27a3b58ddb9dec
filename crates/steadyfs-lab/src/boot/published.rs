//! Published results of others, for comparison.

/// A root file system that was mounted and loaded, or only mounted: name, mount and load in
/// seconds.
pub type Loaded = (&'static str, f64, Option<f64>);

/// A. L. Sharif, *A Comparative Analysis Between Embedded Linux Flash File Systems*: S3C2440 at
/// 400 MHz, 64 MB of NAND, its own root file system. The times include processor, kernel and
/// decompression.
pub const DOCUMENT: [Loaded; 6] = [
    ("JFFS2", 5.962, Some(8.541)),
    ("JFFS2 over UBI", 4.736, Some(8.756)),
    ("UBIFS", 0.0983, Some(7.228)),
    ("cramfs", 0.0197, Some(8.354)),
    ("squashfs, lzo", 0.0200, Some(8.089)),
    ("squashfs, xz", 0.0224, Some(9.751)),
];

/// Linux 6.1 in a guest on a simulated K9F1208 of 64 MiB: flash time alone. Only mounts were
/// measured there.
pub const GUEST: [Loaded; 6] = [
    ("JFFS2", 1.521, None),
    ("JFFS2 over UBI", 0.906, None),
    ("UBI and UBIFS", 0.1935, None),
    ("cramfs", 0.0028, None),
    ("squashfs, lzo", 0.0010, None),
    ("squashfs, xz", 0.0009, None),
];

/// A copied file of 10 MB in that guest: name; mount, copy and unmount in seconds of flash time;
/// programs and erases. Its text differs from ours.
pub const COPIED: [(&str, [f64; 3], u64, u64); 3] = [
    ("JFFS2", [1.51, 3.87, 0.0], 11_210, 0),
    ("UBIFS", [0.011, 0.001, 3.06], 12_977, 29),
    ("UBIFS, sync", [0.011, 3.09, 0.019], 13_211, 29),
];

/// The chip of the document and of the guest.
pub const CHIP: &str = "k9f1208u0";
