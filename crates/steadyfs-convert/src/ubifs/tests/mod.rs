mod harm;
mod journal;
mod maker;
mod mkfs;

pub(crate) use mkfs::image as mkfs_image;
