//! Makes a squashfs image of a directory:
//! `cargo run -p steadyfs-convert --example make_squashfs DIR OUT COMPRESSOR BLOCK_BYTES`.
//!
//! Owners, attributes and devices are left out: the image belongs to root.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;
use steadyfs_convert::squashfs::{Settings, write};
use steadyfs_convert::{Inode, InodeIndex, Kind, Limit, Tree};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, out, compressor, block_bytes] = &arguments[..] else {
        return Err(
            "expected DIR OUT COMPRESSOR BLOCK_BYTES, as `root root.img zstd:19 131072`".into()
        );
    };
    let mut tree = Tree::new(Limit::default());
    add(&mut tree, 0, Path::new(directory))?;
    let settings = Settings {
        compressor: compressor.parse()?,
        block_bytes: block_bytes.parse()?,
        ..Settings::default()
    };
    let image = write(&tree, &settings)?;
    fs::write(out, &image)?;
    println!("{} inodes, {} bytes", tree.inodes().len(), image.len());
    Ok(())
}

/// Adds the content of a directory of the host.
fn add(tree: &mut Tree, directory: InodeIndex, place: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(place)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let metadata = fs::symlink_metadata(&path)?;
        let kind = if metadata.is_symlink() {
            Kind::Symlink(fs::read_link(&path)?.into_os_string().into_encoded_bytes())
        } else if metadata.is_dir() {
            Kind::Directory(BTreeMap::new())
        } else if metadata.is_file() {
            Kind::File(fs::read(&path)?)
        } else {
            continue;
        };
        let mut inode = Inode::new(kind, mode(&metadata));
        inode.modified = metadata.modified()?.duration_since(UNIX_EPOCH)?.as_secs() as i64;
        let index = tree.insert(directory, name.as_encoded_bytes(), inode)?;
        if metadata.is_dir() {
            add(tree, index, &path)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u16 {
    use std::os::unix::fs::PermissionsExt;
    (metadata.permissions().mode() & 0o7777) as u16
}

#[cfg(not(unix))]
fn mode(metadata: &fs::Metadata) -> u16 {
    if metadata.is_dir() { 0o755 } else { 0o644 }
}
