//! Images of cramfs: what is written is read, by this and by the tools of Linux where they are installed; hostile ones are refused.

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use steadyfs_host::cramfs::{Cramfs, CramfsError, Node, NodeKind, write};

fn content(path: &str) -> Vec<u8> {
    let seed = path.bytes().fold(7, |sum: usize, byte| (sum * 31 + usize::from(byte)) % 100_003);
    let mut bytes = format!("{path}: {seed}\n").repeat(seed % 900).into_bytes();
    // A hole, and bytes that do not shrink.
    bytes.extend(vec![0; seed % 3 * 5000]);
    bytes.extend((0..seed % 6000).map(|n| ((n * n * seed) >> 7) as u8));
    bytes
}

fn nodes() -> Vec<Node> {
    let directory = |path: &str| Node::new(path.into(), NodeKind::Directory, 0o755, 0, 0);
    let file = |path: &str| Node::new(path.into(), NodeKind::File, 0o640, 7, 9);
    let link = Node::new("bin/sh".into(), NodeKind::Link("busybox".into()), 0o777, 0, 0);
    vec![
        directory("bin"),
        file("bin/busybox"),
        link,
        directory("empty"),
        directory("etc"),
        directory("etc/init.d"),
        file("etc/init.d/rcS"),
        file("etc/passwd"),
        file("a name of a file that is long enough to need several words"),
    ]
    .into_iter()
    .collect()
}

fn image() -> Vec<u8> {
    let mut nodes = nodes();
    nodes.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
    let root = Node::new(String::new(), NodeKind::Directory, 0o755, 0, 0);
    write(&root, &nodes, |node| Ok::<_, CramfsError>(content(&node.path))).expect("an image")
}

/// A directory of a test, empty.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

fn check_nodes(image: &Cramfs) {
    let mut found: Vec<_> = image.nodes.iter().map(|node| (node.path.clone(), node.kind.clone())).collect();
    let mut expected: Vec<_> = nodes().into_iter().map(|node| (node.path, node.kind)).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found, expected);
    for node in image.nodes.iter().filter(|node| node.kind == NodeKind::File) {
        assert!(image.content(node).expect("content") == content(&node.path), "{}", node.path);
    }
}

#[test]
fn what_is_written_is_read_and_is_the_same_each_time() {
    check_nodes(&Cramfs::parse(image()).expect("an image"));
    assert!(image() == image());
    let passwd =
        Cramfs::parse(image()).expect("an image").nodes.into_iter().find(|node| node.name() == "passwd").expect("a file");
    assert_eq!((passwd.mode, passwd.uid, passwd.gid), (0o640, 7, 9));
}

#[test]
fn the_tools_of_linux_take_what_is_written_and_make_what_is_read() {
    if !has("fsck.cramfs") || !has("mkfs.cramfs") {
        eprintln!("mkfs.cramfs and fsck.cramfs are not installed; nothing to compare with");
        return;
    }
    let place = directory("cramfs");
    let (ours, out) = (place.join("ours.cramfs"), place.join("out"));
    fs::write(&ours, image()).expect("a file");
    let checked = Command::new("fsck.cramfs").arg(format!("--extract={}", out.display())).arg(&ours).output().expect("a tool");
    // Owners are for root alone to give.
    let text = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success() || text.contains("chown"), "{text}");
    for node in nodes() {
        match &node.kind {
            NodeKind::File if checked.status.success() => {
                assert!(fs::read(out.join(&node.path)).expect("a file") == content(&node.path), "{}", node.path)
            }
            NodeKind::Link(target) if checked.status.success() => {
                assert_eq!(fs::read_link(out.join(&node.path)).expect("a link"), Path::new(target))
            }
            _ => {}
        }
    }
    let from = place.join("from");
    fs::create_dir_all(&from).expect("a directory");
    for node in nodes() {
        let path = from.join(&node.path);
        match node.kind {
            NodeKind::Directory => fs::create_dir_all(path).expect("a directory"),
            NodeKind::File => fs::write(path, content(&node.path)).expect("a file"),
            #[cfg(unix)]
            NodeKind::Link(target) => std::os::unix::fs::symlink(target, path).expect("a link"),
            #[cfg(not(unix))]
            NodeKind::Link(_) => {}
        }
    }
    let theirs = place.join("theirs.cramfs");
    assert!(Command::new("mkfs.cramfs").arg(&from).arg(&theirs).output().expect("a tool").status.success());
    check_nodes(&Cramfs::parse(fs::read(&theirs).expect("an image")).expect("an image"));
}

#[test]
fn what_is_no_image_or_of_another_kind_is_named() {
    let mut swapped = image();
    swapped[..4].reverse();
    assert_eq!(Cramfs::parse(vec![0; 600]).err(), Some(CramfsError::NoImage));
    assert!(matches!(Cramfs::parse(swapped), Err(CramfsError::Kind(_))));
    let mut newer = image();
    newer[9] |= 8;
    assert!(matches!(Cramfs::parse(newer), Err(CramfsError::Kind(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn damaged_images_give_errors_and_no_more_than_the_format_holds(damage in proptest::collection::vec((0usize..900, any::<u8>()), 1..12)) {
        let mut bytes = image();
        for (at, byte) in damage {
            bytes[at] = byte;
        }
        if let Ok(image) = Cramfs::parse(bytes) {
            for node in image.nodes.iter().take(20) {
                if let Ok(content) = image.content(node) {
                    prop_assert!(content.len() < 1 << 24);
                }
            }
        }
    }
}
