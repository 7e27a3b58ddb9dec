//! The answers to the kernel from a tree.

use super::{View, device};
use fuser::{Errno, FileType, INodeNo};
use std::collections::BTreeMap;
use steadyfs_convert::{Inode, Kind, Limit, Tree};

fn view() -> View {
    let mut tree = Tree::new(Limit::default());
    let etc = tree.insert(0, b"etc", Inode::new(Kind::Directory(BTreeMap::new()), 0o750)).unwrap();
    let mut motd = Inode::new(Kind::File(b"steady".to_vec()), 0o644);
    motd.attributes.insert(b"user.note".to_vec(), b"yes".to_vec());
    let motd = tree.insert(etc, b"motd", motd).unwrap();
    tree.link(0, b"again", motd).unwrap();
    tree.insert(0, b"link", Inode::new(Kind::Symlink(b"etc/motd".to_vec()), 0o777)).unwrap();
    View::new(tree)
}

fn code<T>(result: Result<T, Errno>) -> i32 {
    result.map(drop).unwrap_err().code()
}

#[test]
fn names_lead_to_what_they_name() {
    let view = view();
    let root = view.stat(INodeNo::ROOT).unwrap().attr;
    assert_eq!((root.kind, root.nlink, root.perm), (FileType::Directory, 3, 0o755));
    let etc = view.lookup(INodeNo::ROOT, b"etc").unwrap().attr;
    let motd = view.lookup(etc.ino, b"motd").unwrap().attr;
    assert_eq!((etc.nlink, motd.nlink, motd.size, motd.blocks), (2, 2, 6, 1));
    assert_eq!(view.lookup(INodeNo::ROOT, b"again").unwrap().attr.ino, motd.ino);
    assert_eq!(view.read(motd.ino, 2, 100), Ok(&b"eady"[..]));
    assert_eq!(view.read(motd.ino, 9, 100), Ok(&b""[..]));
    let link = view.lookup(INodeNo::ROOT, b"link").unwrap().attr;
    assert_eq!(view.target(link.ino), Ok(&b"etc/motd"[..]));
    let names: Vec<_> =
        view.entries(INodeNo::ROOT, 1).unwrap().map(|(name, ..)| name.to_vec()).collect();
    assert_eq!(names, [b"etc".to_vec(), b"link".to_vec()]);
    assert_eq!(view.attribute(motd.ino, b"user.note"), Ok(&b"yes"[..]));
    assert_eq!(view.attributes(motd.ino), Ok(b"user.note\0".to_vec()));
    assert_eq!(view.totals(), (1, 4));
}

#[test]
fn what_is_not_there_or_of_another_kind_is_said() {
    let view = view();
    let motd = view.lookup(INodeNo::ROOT, b"again").unwrap().attr.ino;
    assert_eq!(code(view.lookup(INodeNo::ROOT, b"none")), Errno::ENOENT.code());
    assert_eq!(code(view.lookup(motd, b"none")), Errno::ENOTDIR.code());
    assert_eq!(code(view.stat(INodeNo(99))), Errno::ENOENT.code());
    assert_eq!(code(view.stat(INodeNo(0))), Errno::ENOENT.code());
    assert_eq!(code(view.target(motd)), Errno::EINVAL.code());
    assert_eq!(code(view.attribute(motd, b"user.none")), Errno::ENODATA.code());
}

#[test]
fn devices_have_the_numbers_of_linux() {
    assert_eq!(device(&Kind::Device { is_block: false, major: 5, minor: 1 }), 0x501);
    assert_eq!(
        device(&Kind::Device { is_block: true, major: 0x103, minor: 0x1_2345 }),
        0x1231_0345
    );
    assert_eq!(device(&Kind::Fifo), 0);
}
