//! `steady pack --read-only` and the readers of its images; `steady convert`, and images of other
//! file systems.

use crate::common::{Bench, content, text, tree};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;
use steadyfs_convert::squashfs::{self, Settings};
use steadyfs_convert::{Inode, Kind, Limit, Tree};

/// The loss of a volume with the files of [`fill`].
const ONE_LINK: &str = "1 hard link became separate files";

/// Makes a directory with files of several sizes, a hard link, a link, modes and times.
fn fill(bench: &Bench, name: &str) {
    for index in 0..12 {
        bench.write(
            &format!("{name}/d{}/f{index}", index % 3),
            &content(index, index * index * 531),
        );
    }
    bench.write(&format!("{name}/zeros"), &vec![0; 100_000]);
    bench.write(&format!("{name}/Ärger/ß.txt"), b"utf-8");
    let path = |below: &str| bench.path(name).join(below);
    fs::create_dir(path("empty")).unwrap();
    fs::hard_link(path("d1/f7"), path("again")).unwrap();
    symlink("d1/f7", path("link")).unwrap();
    fs::set_permissions(path("d1/f7"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::set_permissions(path("empty"), fs::Permissions::from_mode(0o700)).unwrap();
}

fn has(tool: &str) -> bool {
    let is_there = Command::new(tool).arg("-version").output().is_ok();
    if !is_there {
        println!("{tool} is missing: nothing is compared with it");
    }
    is_there
}

/// Returns modes and times of everything below a directory.
fn marks(bench: &Bench, name: &str) -> Vec<(std::path::PathBuf, u32, i64)> {
    let mark = |path: std::path::PathBuf| {
        let metadata = fs::symlink_metadata(bench.path(name).join(&path)).unwrap();
        (path, metadata.mode(), if metadata.is_symlink() { 0 } else { metadata.mtime() })
    };
    tree(&bench.path(name)).into_iter().map(|(path, _)| mark(path)).collect()
}

#[test]
fn unpacking_gives_what_was_packed_read_only() {
    let bench = Bench::new("read-only");
    fill(&bench, "from");
    for (index, options) in [
        "",
        "--compress xz --chunk 1MiB",
        "--compress gzip:6 --plain-metadata",
        "--compress zstd:3 --hash-tree",
    ]
    .into_iter()
    .enumerate()
    {
        let (image, out) = (format!("i{index}.sqfs"), format!("out{index}"));
        let packed = bench.json(&format!(
            "pack from {image} --read-only --mtime files --owner files --json {options}"
        ));
        assert_eq!((&packed["files"], &packed["directories"]), (&16.into(), &5.into()));
        let unpacked = bench.json(&format!("unpack {image} {out} --json"));
        assert_eq!((&unpacked["files"], &unpacked["bytes"]), (&packed["files"], &packed["bytes"]));
        assert_eq!(tree(&bench.path("from")), tree(&bench.path(&out)));
        assert_eq!(marks(&bench, "from"), marks(&bench, &out));
        let inode = |name: &str| fs::metadata(bench.path(&out).join(name)).unwrap().ino();
        assert_eq!(inode("again"), inode("d1/f7"));
        assert!(bench.ok(&format!("check {image}")).contains("16 files, 5 directories: sound"));
        if has("unsquashfs") {
            let theirs = bench.path(&format!("theirs{index}"));
            let output = Command::new("unsquashfs")
                .arg("-d")
                .arg(&theirs)
                .arg(bench.path(&image))
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            assert_eq!(tree(&bench.path("from")), tree(&theirs));
        }
    }
}

#[test]
fn the_same_directory_gives_the_same_read_only_image() {
    let bench = Bench::new("read-only-again");
    fill(&bench, "from");
    bench.ok("keygen k");
    for options in ["", "--sign k", "--sign k --device nand.toml"] {
        bench.ok(&format!("pack from a.img --read-only --force {options}"));
        bench.ok(&format!("pack from b.img --read-only --force {options}"));
        assert!(bench.read("a.img") == bench.read("b.img"), "{options}");
    }
    assert!(
        bench.fails("pack from a.img --read-only").contains("exists already; --force replaces it")
    );
    bench.write("order", b"zeros\n\nd2\n");
    bench.ok("pack from ordered.sqfs --read-only --order order");
    bench.ok("pack from plain.sqfs --read-only");
    assert!(bench.read("ordered.sqfs") != bench.read("plain.sqfs"));
    bench.ok("unpack ordered.sqfs out");
    assert_eq!(tree(&bench.path("from")), tree(&bench.path("out")));
}

#[test]
fn commands_that_read_read_archives_and_others_refuse_them() {
    let bench = Bench::new("read-only-commands");
    fill(&bench, "from");
    bench.ok("pack from i.sqfs --read-only --mtime 1700000000");
    assert_eq!(bench.ok("ls i.sqfs:d1").lines().count(), 4);
    assert!(bench.ok("ls -l i.sqfs").contains("100,000  2023-11-14 22:13:20  zeros"));
    assert!(bench.ok("tree i.sqfs").contains("16 files, 5 directories"));
    assert_eq!(bench.run("cat i.sqfs d1/f7").stdout, content(7, 7 * 7 * 531));
    assert!(bench.fails("cat i.sqfs link").contains("is a symbolic link to `d1/f7`"));
    bench.ok("get i.sqfs d1/f7 got");
    bench.ok("get -r i.sqfs d1 directory");
    assert_eq!(bench.read("got"), content(7, 7 * 7 * 531));
    assert_eq!(tree(&bench.path("from/d1")), tree(&bench.path("directory")));
    let stat = bench.json("stat i.sqfs d1/f7 --json");
    assert_eq!(
        (&stat["permissions"]["mode"], &stat["modified_ns"]),
        (&"0751".into(), &1_700_000_000_000_000_000_u64.into())
    );
    assert!(
        bench.fails("stat i.sqfs d1/none").contains("i.sqfs:/d1/none: no such file or directory")
    );
    let before = bench.read("i.sqfs");
    for line in [
        "rm i.sqfs zeros",
        "put i.sqfs nand.toml /",
        "mkdir i.sqfs x",
        "mv i.sqfs zeros x",
        "df i.sqfs",
        "scrub i.sqfs",
    ] {
        assert!(
            bench.fails(line).contains("i.sqfs: is an image of squashfs, which is only read"),
            "{line}"
        );
    }
    assert!(bench.fails("check i.sqfs --repair").contains("is only read; expected no --repair"));
    assert!(bench.read("i.sqfs") == before);
}

#[test]
fn a_signed_image_is_refused_where_a_bit_is_another_one() {
    let bench = Bench::new("read-only-signed");
    fill(&bench, "from");
    bench.ok("keygen k");
    bench.ok("keygen other");
    for block in ["512", "1KiB", "4KiB"] {
        bench.ok(&format!("pack from i.sqfs --read-only --force --sign k --sign-block {block}"));
        let key = bench.read("k.pub");
        let checked = bench.json("check i.sqfs --json --verify-key k.pub");
        let signed_by = checked["seal"]["signed_by"].as_str().unwrap();
        assert_eq!(text(&key), format!("ed25519-public {signed_by}\n"));
        assert!(
            bench.ok("check i.sqfs").contains("hash tree: verified, signed; --verify-key verifies")
        );
        assert!(!bench.ok("ls i.sqfs --verify-key k.pub").is_empty());
        let sound = bench.read("i.sqfs");
        for at in [100, sound.len() / 3, sound.len() / 2, sound.len() - 4096] {
            let mut flipped = sound.clone();
            flipped[at] ^= 0x10;
            bench.write("f.sqfs", &flipped);
            for line in [
                "ls f.sqfs",
                "unpack f.sqfs none",
                "cat f.sqfs d1/f7",
                "get f.sqfs d1/f7 none",
                "tree f.sqfs",
                "stat f.sqfs",
            ] {
                bench.fails(&format!("{line} --verify-key k.pub"));
            }
            let output = bench.run("check f.sqfs --verify-key k.pub");
            assert_eq!(output.status.code(), Some(1), "byte {at}");
            let said = text(&output.stdout) + &text(&output.stderr);
            assert!(!said.contains("--verify-key"), "it was given: {said}");
        }
        assert!(!bench.path("none").exists());
        assert!(bench.fails("ls i.sqfs --verify-key other.pub").contains("signature"));
    }
    bench.ok("pack from unsigned.sqfs --read-only --hash-tree");
    bench.ok("pack from plain.sqfs --read-only");
    bench.ok_with_losses("pack from volume.img --device nand.toml", ONE_LINK);
    assert!(bench.ok("check unsigned.sqfs").contains("hash tree: verified, not signed"));
    assert!(
        bench
            .fails("ls unsigned.sqfs --verify-key k.pub")
            .contains("is not signed; expected a signature")
    );
    assert!(bench.fails("ls plain.sqfs --verify-key k.pub").contains("has no hash tree"));
    assert!(
        bench
            .fails("ls volume.img --verify-key k.pub")
            .contains("is no read-only image, and nothing else is signed")
    );
    assert!(bench.fails("check volume.img --verify-key k.pub").contains("is no read-only image"));
}

#[test]
fn a_nand_chip_has_the_image_around_its_bad_blocks() {
    let bench = Bench::new("read-only-nand");
    fill(&bench, "from");
    bench.ok("keygen k");
    for bad in ["", "--bad-block 0", "--bad-block 1 --bad-block 3 --bad-block 4 --bad-block 9"] {
        bench.ok(&format!("pack from i.img --read-only --sign k --force --device nand.toml {bad}"));
        bench.ok("check i.img --verify-key k.pub --device nand.toml");
        let _ = fs::remove_dir_all(bench.path("out"));
        bench.ok("unpack i.img out --verify-key k.pub --device nand.toml");
        assert_eq!(tree(&bench.path("from")), tree(&bench.path("out")));
        assert!(
            bench
                .fails("rm i.img zeros --device nand.toml")
                .contains("is a chip with a read-only image")
        );
        let output = bench.run("ls i.img --stats --device nand.toml");
        assert!(output.status.success() && text(&output.stderr).contains(" on small-nand"));
    }
    // A chip with a built-in profile is recognised by its size.
    bench.ok("pack from i.img --read-only --force --device w25n01gv --bad-block 2");
    assert!(bench.ok("check i.img").contains("16 files, 5 directories: sound"));
    bench.ok("pack from nor.img --read-only --device nor.toml");
    assert_eq!(&bench.read("nor.img")[..4], b"hsqs");
    let mut rng = fastrand::Rng::with_seed(1);
    bench.write("from/noise", &(0..2_000_000).map(|_| rng.u8(..)).collect::<Vec<_>>());
    assert!(
        bench
            .fails("pack from large.img --read-only --device nor.toml")
            .contains("and small-nor has 1 MiB")
    );
    bench.fails("pack from large.img --read-only --device nand.toml");
    assert!(!bench.path("large.img").exists());
}

/// Reads a file as a device does, with only the memory that `pack` reported.
#[test]
fn a_device_reads_a_signed_image_in_the_memory_that_pack_tells() {
    use steadyfs::Access;
    use steadyfs_host::image::{Image, Shape};
    use steadyfs_rom::{OnNand, Squash, Trusted, Verified};
    use steadyfs_sim::Profile;

    let bench = Bench::new("read-only-device");
    fill(&bench, "from");
    bench.ok("keygen k");
    let told = bench.json(
        "pack from i.img --json --read-only --sign k --sign-block 1KiB --device w25n01gv \
             --bad-block 1 --bad-block 4",
    );
    let bytes = |name: &str| vec![0; told["memory"][name].as_u64().unwrap() as usize];
    let (mut nand, mut verify, mut least) = (bytes("nand"), bytes("verify"), bytes("least"));
    let key = told["seal"]["public_key"].as_str().unwrap();
    let key = std::array::from_fn(|at| u8::from_str_radix(&key[2 * at..2 * at + 2], 16).unwrap());
    let shape = Shape::of(&Profile::named("w25n01gv").unwrap());
    let image = Image::open_as(bench.path("i.img"), Access::ReadOnly, &shape).unwrap();
    let source =
        Verified::open(OnNand::open(image, &mut nand).unwrap(), Trusted::Key(key), &mut verify)
            .unwrap();
    let mut rom = Squash::mount(source, &mut least).unwrap();
    let mut file = rom.open("d1/f7").unwrap();
    let mut found = vec![0; 40_000];
    let count = rom.read(&mut file, 0, &mut found).unwrap();
    assert!(found[..count] == content(7, 7 * 7 * 531));
}

#[test]
fn veritysetup_verifies_the_hash_tree() {
    if Command::new("veritysetup").arg("--version").output().is_err() {
        println!("veritysetup is missing: the tree is not compared");
        return;
    }
    let bench = Bench::new("read-only-verity");
    fill(&bench, "from");
    for block in [512, 1024, 4096] {
        let told = bench.json(&format!(
            "pack from i.sqfs --json --read-only --force --hash-tree --sign-block {block}"
        ));
        let (root, offset) =
            (told["seal"]["root_hash"].as_str().unwrap(), &told["seal"]["data_bytes"]);
        let image = bench.path("i.sqfs");
        let offset = format!("--hash-offset={offset}");
        let output = Command::new("veritysetup")
            .arg("verify")
            .args([&image, &image])
            .args([root, &offset])
            .output()
            .unwrap();
        assert!(output.status.success(), "{block}: {}", text(&output.stderr));
    }
}

#[test]
fn a_volume_becomes_squashfs_and_squashfs_a_volume() {
    let bench = Bench::new("convert");
    fill(&bench, "from");
    bench.ok_with_losses(
        "pack from v.img --device nand.toml --mtime files --owner files --compress lz4",
        ONE_LINK,
    );
    bench.ok("convert v.img v.squashfs --compress zstd:3");
    let output = bench.run("convert v.squashfs v.cramfs --force");
    assert_eq!(text(&output.stderr), "left out, because the format cannot hold them: 21 times\n");
    bench.ok("unpack v.squashfs out");
    assert_eq!(tree(&bench.path("from")), tree(&bench.path("out")));
    assert_eq!(marks(&bench, "from"), marks(&bench, "out"));
    assert!(bench.ok("check v.cramfs").starts_with("cramfs, 16 files, 5 directories: sound"));
    if has("unsquashfs") {
        let theirs = bench.path("theirs");
        let output = Command::new("unsquashfs")
            .arg("-d")
            .arg(&theirs)
            .arg(bench.path("v.squashfs"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(tree(&bench.path("from")), tree(&theirs));
    }
    bench.ok("pack v.squashfs back.img --device nand.toml --compress deflate");
    bench.ok("check back.img");
    bench.ok("unpack back.img again");
    assert_eq!(tree(&bench.path("from")), tree(&bench.path("again")));
    assert_eq!(marks(&bench, "from"), marks(&bench, "again"));
    assert!(bench.contradicts("convert v.img v.tar").contains("has no known format in its name"));
    assert!(bench.fails("convert v.img v.squashfs").contains("exists already"));
    assert!(
        bench
            .fails("pack v.img w.img --device nand.toml")
            .contains("is neither a directory nor an image of squashfs")
    );
}

/// Makes an image with entries that neither hosts nor volumes hold unchanged.
fn special(bench: &Bench, name: &str) {
    let mut tree = Tree::new(Limit::default());
    let device = Inode::new(Kind::Device { is_block: false, major: 1, minor: 3 }, 0o666);
    tree.insert(0, b"null", device).unwrap();
    tree.insert(0, b"pipe", Inode::new(Kind::Fifo, 0o600)).unwrap();
    let mut file = Inode::new(Kind::File(b"text".to_vec()), 0o644);
    file.attributes.insert(b"user.note".to_vec(), b"x".to_vec());
    let file = tree.insert(0, b"file", file).unwrap();
    tree.link(0, b"second", file).unwrap();
    bench.write(name, &squashfs::write(&tree, &Settings::default()).unwrap());
}

#[test]
fn what_is_left_out_is_told() {
    let bench = Bench::new("left-out");
    special(&bench, "i.sqfs");
    let said = |line: &str| {
        let output = bench.run(line);
        assert!(output.status.success(), "{line}");
        text(&output.stderr)
    };
    assert_eq!(
        said("pack i.sqfs v.img --device nand.toml"),
        "left out, because a volume cannot hold them: 1 device, 1 pipe; \
         1 hard link became separate files\n"
    );
    assert_eq!(
        said("unpack i.sqfs out"),
        "left out, because they are not made on the host: 1 device, 1 pipe\n"
    );
    assert_eq!(tree(&bench.path("out")).len(), 2);
    assert_eq!(bench.ok("ls v.img"), "file\nsecond\n");
    assert_eq!(bench.json("stat i.sqfs null --json")["device"], serde_json::json!([1, 3]));
    assert!(bench.fails("get i.sqfs null x").contains("is a character device; expected a file"));
    bench.ok("convert i.sqfs j.sqfs");
    assert_eq!(bench.json("stat j.sqfs null --json")["device"], serde_json::json!([1, 3]));
}

#[test]
fn names_in_an_archive_do_not_leave_the_directory() {
    let bench = Bench::new("archive-hostile");
    let mut tree = Tree::new(Limit::default());
    let inside =
        tree.insert(0, b"QZ", Inode::new(Kind::Directory(Default::default()), 0o755)).unwrap();
    tree.insert(inside, b"escaped", Inode::new(Kind::File(b"harm".to_vec()), 0o644)).unwrap();
    let image =
        squashfs::write(&tree, &Settings { plain_metadata: true, ..Settings::default() }).unwrap();
    let at = image.windows(2).position(|window| window == b"QZ").unwrap();
    for (name, is_read) in
        [(b"..", false), (b"a/", false), (b"/a", false), (b"\x1b[", true), (b"\xFF\xFE", true)]
    {
        let mut image = image.clone();
        image[at..at + 2].copy_from_slice(name);
        bench.write("i.sqfs", &image);
        let error = bench.fails("unpack i.sqfs sub/out");
        assert!(!error.contains('\u{1b}') && !bench.path("sub").exists(), "{error}");
        assert_eq!(bench.run("ls i.sqfs").status.success(), is_read);
        if is_read {
            let _ = fs::remove_dir_all(bench.path("out"));
            bench.ok("unpack i.sqfs out --sanitise");
            assert_eq!(fs::read_dir(bench.path("out")).unwrap().count(), 1);
        }
    }
    // A file would be written through a link of the same name. Names are unique, so the link
    // cannot come first.
    let mut tree = Tree::new(Limit::default());
    tree.insert(0, b"l1", Inode::new(Kind::Symlink(b"/tmp".to_vec()), 0o777)).unwrap();
    let inside =
        tree.insert(0, b"l2", Inode::new(Kind::Directory(Default::default()), 0o755)).unwrap();
    tree.insert(inside, b"escaped", Inode::new(Kind::File(b"harm".to_vec()), 0o644)).unwrap();
    let mut image =
        squashfs::write(&tree, &Settings { plain_metadata: true, ..Settings::default() }).unwrap();
    let at = image.windows(2).position(|window| window == b"l2").unwrap();
    image[at..at + 2].copy_from_slice(b"l1");
    bench.write("twice.sqfs", &image);
    assert!(bench.fails("unpack twice.sqfs elsewhere").contains("two entries"));
    assert!(!bench.path("elsewhere").exists());
}

#[test]
fn keys_are_not_replaced_and_are_for_their_owner_alone() {
    let bench = Bench::new("keygen");
    bench.ok("keygen k");
    assert_eq!(fs::metadata(bench.path("k")).unwrap().mode() & 0o777, 0o600);
    let key = bench.read("k");
    assert!(bench.fails("keygen k").contains("exists already"));
    assert!(bench.read("k") == key && text(&key).starts_with("ed25519-secret ") && key.len() == 80);
    bench.write("from/a", b"x");
    // A signature with the public key would be worthless.
    assert!(
        bench
            .fails("pack from i.sqfs --read-only --sign k.pub")
            .contains("k.pub: is a public key; expected a secret key")
    );
    fs::remove_file(bench.path("k")).unwrap();
    assert!(bench.fails("keygen k").contains("k.pub: exists already"));
    assert!(!bench.path("k").exists());
    // A full disk left an empty file, which the next run refused.
    let line =
        format!("trap '' XFSZ; ulimit -f 0; exec {} keygen full", env!("CARGO_BIN_EXE_steady"));
    let output = std::process::Command::new("bash")
        .args(["-c", &line])
        .current_dir(bench.path("."))
        .output()
        .unwrap();
    assert!(text(&output.stderr).contains("full: cannot be written"), "{}", text(&output.stderr));
    bench.ok("keygen full");
    bench.write("from/a", b"x");
    bench.write("bad", b"no key");
    assert!(
        bench
            .fails("pack from i.sqfs --read-only --sign bad")
            .contains("bad: is no key; expected a secret key of 64 digits")
    );
    assert!(!bench.path("i.sqfs").exists());
}

/// Linux skips nodes with wrong checksums, and so does `steady`, but it warns.
#[test]
fn what_a_damaged_image_of_jffs2_lacks_is_said() {
    let bench = Bench::new("jffs2-damaged");
    bench.write("from/a", &crate::common::content(1, 9000));
    bench.write("from/b", b"sound");
    let Ok(made) = std::process::Command::new("mkfs.jffs2")
        .current_dir(bench.path(""))
        .args(["-r", "from", "-o", "j", "-e", "64KiB"])
        .status()
    else {
        eprintln!("mkfs.jffs2 is not there");
        return;
    };
    assert!(made.success());
    assert!(bench.ok("check j").ends_with(": sound\n"));
    let mut image = bench.read("j");
    let middle = image.len() / 2;
    image[middle] ^= 1;
    bench.write("j", &image);
    let output = bench.run("check j");
    assert!(
        output.status.code() == Some(1)
            && text(&output.stdout).contains("1 node of it has a wrong checksum"),
        "{}",
        text(&output.stdout)
    );
    let output = bench.run("unpack j out");
    assert!(
        output.status.success()
            && text(&output.stderr).contains("warning: j: 1 node of it has a wrong checksum")
    );
    image.truncate(200);
    bench.write("j", &image);
    assert_eq!(bench.run("check j").status.code(), Some(1));
}

#[test]
fn an_order_that_names_nothing_is_said() {
    let bench = Bench::new("read-only-order");
    bench.write("from/a", b"x");
    bench.write("order", b"a\nb\nc\n");
    let output = bench.run("pack from i.sqfs --read-only --order order");
    assert!(
        output.status.success()
            && text(&output.stderr).contains("--order names b and 1 more, which are not there")
    );
}

#[test]
fn options_of_one_kind_of_image_are_refused_for_the_other() {
    let bench = Bench::new("read-only-options");
    bench.write("from/a", b"x");
    for line in [
        "--read-only --files-max 10",
        "--read-only --size 1MiB",
        "--read-only --streams 2",
        "--read-only --bad-block 3",
    ] {
        bench.contradicts(&format!("pack from i.img {line}"));
    }
    for line in
        ["--device nand.toml --compress xz", "--device nand.toml --compress lz4 --chunk 128KiB"]
    {
        assert!(bench.contradicts(&format!("pack from i.img {line}")).contains("--read-only"));
    }
    for line in [
        "--sign k --device nand.toml",
        "--read-only --sign-block 1KiB",
        "--device nand.toml --chunk 8KiB",
        "--read-only --compress none",
    ] {
        assert_eq!(bench.run(&format!("pack from i.img {line}")).status.code(), Some(2), "{line}");
    }
    assert!(!bench.path("i.img").exists());
}
