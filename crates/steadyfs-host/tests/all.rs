//! Images and devices of hosts, in one program.

mod common;

mod hostile_images;
mod images;
mod reformat;
mod superblocks;
