//! Makes a tree of files like a small root file system, to compare images with:
//! `cargo run -p steadyfs-lab --features boot --example made_tree DIR [SEED]`.
//!
//! It is the tree of [`steadyfs_lab::made_tree`]: the same seed makes the same tree, byte for
//! byte.

use std::error::Error;
use std::fs;
use std::path::Path;
use steadyfs_convert::Kind;
use steadyfs_lab::made_tree;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("expected a directory to make, and perhaps a seed")?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let root = Path::new(&directory);
    fs::create_dir_all(root)?;
    let tree = made_tree::tree(seed);
    let (mut files, mut bytes) = (0, 0);
    for (path, inode) in made_tree::load_order(&tree) {
        let place = root.join(path);
        match &tree.inode(inode).kind {
            Kind::Directory(_) => fs::create_dir_all(place)?,
            Kind::File(content) => {
                fs::write(place, content)?;
                bytes += content.len();
                files += 1;
            }
            Kind::Symlink(target) => {
                link(std::str::from_utf8(target)?, &place)?;
                files += 1;
            }
            other => {
                return Err(
                    format!("expected files, directories and links; found {other:?}").into()
                );
            }
        }
    }
    println!("{files} files and links, {bytes} bytes");
    Ok(())
}

#[cfg(unix)]
fn link(target: &str, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn link(target: &str, place: &Path) -> std::io::Result<()> {
    fs::write(place, target)
}
