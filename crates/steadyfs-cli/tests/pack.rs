//! `steady pack` and `steady unpack`: reproducible images, and malicious images.

use crate::common::{Bench, content, noise, text, tree};
use std::fs;

const DEVICES: [&str; 2] = ["nand.toml", "nor.toml"];

/// Makes the same files, in an order that a number chooses.
fn fill(bench: &Bench, name: &str, order: usize) {
    let mut files: Vec<_> = (0..30)
        .map(|index| (format!("{name}/d{}/f{index}", index % 4), content(index, index * 431)))
        .collect();
    files.push((format!("{name}/Ärger/ß.txt"), b"utf-8".to_vec()));
    let shift = order * 7 % files.len();
    files.rotate_left(shift);
    if order % 2 == 1 {
        files.reverse();
    }
    for (path, bytes) in files {
        bench.write(&path, &bytes);
    }
    fs::create_dir_all(bench.path(&format!("{name}/empty"))).unwrap();
}

#[test]
fn unpacking_gives_what_was_packed() {
    for device in DEVICES {
        let bench = Bench::new(&format!("pack-{device}"));
        fill(&bench, "from", 0);
        let packed = bench.json(&format!("pack from i.img --json --device {device}"));
        assert_eq!((&packed["files"], &packed["directories"]), (&31.into(), &6.into()));
        let unpacked = bench.json("unpack i.img to --json");
        assert_eq!((&unpacked["files"], &unpacked["bytes"]), (&packed["files"], &packed["bytes"]));
        assert_eq!(tree(&bench.path("from")), tree(&bench.path("to")));
        bench.ok("check i.img");
        // The image works on like any other.
        bench.ok("rm -r i.img d0");
        bench.ok("put i.img nand.toml /");
        bench.ok("check i.img");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes_in_whatever_order_it_was_made() {
    for device in DEVICES {
        let bench = Bench::new(&format!("again-{device}"));
        for order in 0..3 {
            fill(&bench, &format!("from{order}"), order);
            bench.ok(&format!("pack from{order} i{order}.img --device {device}"));
        }
        assert!(
            bench.read("i0.img") == bench.read("i1.img")
                && bench.read("i0.img") == bench.read("i2.img")
        );
        bench.ok(&format!("pack from1 i0.img --force --device {device}"));
        assert!(bench.read("i0.img") == bench.read("i1.img"));
    }
}

#[test]
fn times_are_fixed_from_the_environment_or_those_of_the_files() {
    let bench = Bench::new("mtime");
    fill(&bench, "from", 0);
    bench.ok("pack from none.img --device nand.toml");
    bench.ok("pack from fixed.img --device nand.toml --mtime 1700000000");
    let mut command = bench.command("pack from epoch.img --device nand.toml");
    assert!(command.env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap().status.success());
    bench.ok("pack from files.img --device nand.toml --mtime files");
    assert!(
        bench.read("fixed.img") == bench.read("epoch.img")
            && bench.read("fixed.img") != bench.read("none.img")
    );
    let modified = |image: &str, path: &str| {
        bench.json(&format!("stat {image} {path} --json"))["modified_ns"].as_u64()
    };
    assert_eq!(modified("none.img", "d1/f1"), None);
    assert_eq!(
        (modified("fixed.img", "d1/f1"), modified("fixed.img", "d1")),
        (Some(1_700_000_000_000_000_000), Some(1_700_000_000_000_000_000))
    );
    for path in ["d1/f1", "d1"] {
        let host = fs::metadata(bench.path("from").join(path)).unwrap().modified().unwrap();
        let host_ns =
            host.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        assert_eq!(modified("files.img", path), Some(host_ns), "{path}");
    }
    let output = bench
        .command("pack from x.img --device nand.toml")
        .env("SOURCE_DATE_EPOCH", "today")
        .output()
        .unwrap();
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("SOURCE_DATE_EPOCH is `today`: ")
            && !bench.path("x.img").exists()
    );
}

#[test]
fn names_made_to_leave_the_directory_are_refused_before_anything_is_written() {
    for (index, (name, fault)) in [
        ("../../../escaped1", "holds '/' or NUL"),
        ("/tmp/escaped-from", "holds '/' or NUL"),
        ("escaped\0nul-hello", "holds '/' or NUL"),
        ("escaped\u{1b}[2J-hello", "holds control characters"),
    ]
    .into_iter()
    .enumerate()
    {
        let bench = Bench::new(&format!("hostile-{index}"));
        let harmless = "x".repeat(name.len());
        bench.write(&format!("from/{harmless}"), b"harm");
        bench.write("from/good", b"good");
        bench.ok("pack from i.img --device nand.toml");
        bench.forge("i.img", harmless.as_bytes(), name.as_bytes());
        let error = bench.fails("unpack i.img sub/out");
        assert!(
            error.contains(&format!("has a name that {fault}, so it is not made on the host")),
            "{error}"
        );
        assert!(!error.contains(['\u{1b}', '\0']), "{error:?}");
        assert!(!bench.path("sub").exists());
        bench.ok("unpack i.img out --sanitise");
        let found = tree(&bench.path("out"));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found.iter().all(|(path, _)| !path.to_string_lossy().contains(['\0', '\u{1b}'])),
            "{found:?}"
        );
        assert!(
            bench.ok("ls i.img").lines().count() == 2 && !bench.ok("ls i.img").contains('\u{1b}')
        );
        // Other commands do not use such a name as a path either.
        bench.fails("get -r i.img / elsewhere");
        assert!(!bench.path("elsewhere").exists());
    }
}

#[test]
fn a_directory_named_dot_dot_is_not_entered_on_the_host() {
    let bench = Bench::new("dot-dot");
    bench.write("from/QZ/escaped", b"harm");
    bench.ok("pack from i.img --device nand.toml");
    bench.forge("i.img", b"QZ", b"..");
    assert!(bench.fails("unpack i.img deep/out").contains("stands for the directory itself"));
    fs::create_dir(bench.path("deep")).unwrap();
    bench.ok("unpack i.img deep/out --sanitise");
    assert_eq!(bench.read("deep/out/__/escaped"), b"harm");
    assert!(!bench.path("deep/escaped").exists());
}

#[test]
fn two_names_that_become_one_are_refused() {
    let bench = Bench::new("collision");
    bench.write("from/WW1", b"1");
    bench.write("from/WW2", b"2");
    bench.ok("pack from i.img --device nand.toml");
    bench.forge("i.img", b"WW1", b"W\n1");
    bench.forge("i.img", b"WW2", b"W\r1");
    assert!(bench.fails("unpack i.img out --sanitise").starts_with("out/W_1: cannot be written: "));
    assert!(!bench.path("out").exists(), "nothing is left of what could not be unpacked");
}

#[test]
#[cfg(unix)]
fn links_are_kept_or_followed_and_never_written_through() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let bench = Bench::new("links");
    bench.write("from/f", b"f");
    bench.write("victim", b"untouched");
    symlink("f", bench.path("from/link")).unwrap();
    fs::set_permissions(bench.path("from/f"), fs::Permissions::from_mode(0o6751)).unwrap();
    bench.ok("pack from kept.img --device nand.toml");
    assert_eq!(bench.ok("ls kept.img"), "f\nlink@\n");
    assert!(bench.ok("stat kept.img link").contains("Names           f\n"));
    assert!(bench.ok("stat kept.img f").contains("6751, owner 0, group 0"));
    assert!(
        bench.fails("cat kept.img link").ends_with("is a symbolic link to `f`; expected a file")
    );
    bench.ok_with_losses(
        "unpack kept.img out",
        "left out, because they are not made on the host: 1 set-user or set-group right",
    );
    assert_eq!(fs::read_link(bench.path("out/link")).unwrap(), std::path::Path::new("f"));
    let mode = fs::metadata(bench.path("out/f")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751, "without the right to become another user");
    bench.ok("get kept.img link got");
    assert_eq!(fs::read_link(bench.path("got")).unwrap(), std::path::Path::new("f"));
    bench.ok("put kept.img -r from /again");
    assert_eq!(bench.ok("ls kept.img:again"), "f\nlink@\n");
    bench.ok("pack from i.img --device nand.toml --follow --no-permissions");
    assert!(!bench.ok("stat i.img f").contains("owner"));
    assert_eq!(bench.ok("cat i.img link"), "f");
    // A link at the place of a file blocks it, or is replaced itself.
    symlink("victim", bench.path("in-the-way")).unwrap();
    assert!(bench.fails("get i.img f in-the-way").contains("exists already"));
    bench.ok("get i.img f in-the-way --force");
    assert_eq!(
        (bench.read("victim"), bench.read("in-the-way")),
        (b"untouched".to_vec(), b"f".to_vec())
    );
    symlink("nowhere", bench.path("dangling")).unwrap();
    assert!(bench.fails("unpack i.img dangling").contains("dangling"));
    assert!(!bench.path("nowhere").exists());
    symlink(".", bench.path("from/circle")).unwrap();
    assert!(bench.fails("pack from j.img --device nand.toml --follow").contains("circle"));
}

#[test]
#[cfg(unix)]
fn what_a_volume_cannot_hold_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new("unfit");
    bench.write("from/f", b"f");
    fs::write(bench.path("from").join(std::ffi::OsStr::from_bytes(b"\xFF\xFE")), b"").unwrap();
    assert!(
        bench
            .fails("pack from i.img --device nand.toml")
            .ends_with("has a name that is not UTF-8; expected UTF-8, as in a volume")
    );
    let bench = Bench::new("unfit-socket");
    fs::create_dir(bench.path("from")).unwrap();
    // The name is relative, because names of sockets are short.
    let socket = std::os::unix::net::UnixListener::bind(bench.path("from/s"));
    if socket.is_ok() {
        assert!(
            bench
                .fails("pack from i.img --device nand.toml")
                .contains("expected a file, a directory or a symbolic link")
        );
    }
}

#[test]
fn a_file_that_says_it_is_larger_than_any_is_refused_at_once() {
    let bench = Bench::new("endless");
    bench.write("from/endless", &content(1, 77_777));
    bench.write("from/good", b"good");
    bench.ok("pack from i.img --device nand.toml --mtime 1700000000");
    let modified = 1_700_000_000_000_000_000_u64.to_le_bytes();
    let fields = |size: u64| [size.to_le_bytes(), modified].concat();
    bench.forge("i.img", &fields(77_777), &fields(u64::MAX));
    let says = "endless: the data read is not the written data; `steady check` gives details";
    for line in
        ["cat i.img endless", "get i.img endless out", "get -r i.img / out", "unpack i.img out2"]
    {
        let error = bench.fails(line);
        assert!(error.contains(says), "{line}: {error}");
    }
    assert!(!bench.path("out").join("endless").exists() && !bench.path("out2/endless").exists());
    assert_eq!(bench.ok("cat i.img good"), "good");
    assert_eq!(bench.run("check i.img").status.code(), Some(1));
    assert!(
        bench.ok("tree i.img").contains("2 files") && bench.ok("ls -l i.img").contains("endless")
    );
}

#[test]
fn no_output_has_what_a_terminal_acts_on() {
    let names = [
        "escape\u{1b}[2J-in-image",
        "command\u{9b}2J-in-image",
        "line\r\n-is-in-this-image",
        "turn\u{202e}gpj-in-image",
    ];
    for (index, name) in names.into_iter().enumerate() {
        let bench = Bench::new(&format!("terminal-{index}"));
        let harmless = "x".repeat(name.len());
        bench.write(&format!("from/{harmless}/file"), b"f");
        bench.ok("pack from i.img --device nand.toml");
        bench.forge("i.img", harmless.as_bytes(), name.as_bytes());
        let inode = bench.json("ls i.img --json")[0]["inode"].clone();
        for line in [
            "ls i.img",
            "ls -l i.img",
            "ls --json i.img",
            "tree i.img",
            "tree --json i.img",
            "check i.img",
            "check --json i.img",
            "dump i.img",
            "dump --json i.img",
            "df i.img",
            "unpack i.img out",
            "rm i.img nothing",
            "rm -r i.img /",
            "mv i.img x y",
        ] {
            let output = bench.run(line);
            let said = [text(&output.stdout), text(&output.stderr)].concat();
            let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!said.contains(acts), "{line}: {said:?}");
        }
        assert_eq!(bench.json("ls i.img --json")[0]["name"], name, "inode {inode}");
    }
}

#[test]
#[cfg(unix)]
fn names_of_the_host_are_told_without_what_a_terminal_acts_on() {
    let bench = Bench::new("terminal-host");
    bench.write("from/f", b"f");
    let target: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"\xFF");
    std::os::unix::fs::symlink(target, bench.path("from/a\u{1b}[2Jb")).unwrap();
    let error = bench.fails("pack from i.img --device nand.toml");
    assert!(error.starts_with(r"from/a\u{1b}[2Jb: has a target that is not UTF-8"), "{error:?}");
    let title = String::from_utf8(bench.read("nand.toml")).unwrap().replacen(
        "title = \"",
        "title = \"\\u001b[2J",
        1,
    );
    bench.write("title.toml", title.as_bytes());
    assert!(!bench.ok("format t.img --device title.toml").contains('\u{1b}'));
    bench.write("trace.csv", b"\x1b[2Jduration\n1\n");
    assert!(!bench.fails("replay trace.csv --write 1 --rate 1kB/s").contains('\u{1b}'));
}

#[test]
fn names_that_no_file_can_have_are_refused_where_files_are_made() {
    let bench = Bench::new("made");
    bench.write("f", b"f");
    bench.ok("format i.img --device nand.toml");
    bench.ok("put i.img f /");
    for line in [
        "mkdir i.img ..",
        "mkdir i.img .",
        "put i.img f missing/../g",
        "mv i.img / f",
        "mv i.img .. f",
        "rm i.img ..",
    ] {
        let output = bench.run(line);
        assert_eq!(
            (output.status.code(), bench.ok("ls i.img").as_str()),
            (Some(1), "f\n"),
            "{line}: {}",
            text(&output.stderr)
        );
    }
    let long = "n".repeat(256);
    assert!(bench.fails(&format!("mkdir i.img {long}")).contains("255 bytes"));
    // A terminal's control character is allowed in a name, and is printed escaped.
    let output = bench.command("mkdir i.img").arg("a\u{1b}[2J").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(bench.ok("ls i.img"), "a\\u{1b}[2J/\nf\n");
}

/// Returns the hash of a name in a directory with this seed, as in `docs/format.md`.
fn hash(seed: u32, name: &[u8]) -> u32 {
    let basis = 0x811C_9DC5 ^ seed;
    let mut h = name
        .iter()
        .fold(basis, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
    h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
    h ^ h >> 16
}

/// Returns the record of a name with this inode, in a directory of the image that has one bucket.
fn record_of(image: &[u8], name: &[u8], inode: u32) -> [u8; 8] {
    // Buckets, stream and seed lie side by side in the inode of the directory.
    let seeds = image.windows(8).filter(|bytes| bytes.starts_with(&[1, 0, 0, 0, 0])).map(|bytes| {
        let [.., low, middle, high] = *bytes else { unreachable!("eight bytes") };
        u32::from_le_bytes([low, middle, high, 0])
    });
    let record = |seed| (u64::from(inode + 1) << 32 | u64::from(hash(seed, name))).to_le_bytes();
    let seeds: std::collections::BTreeSet<u32> = seeds.collect();
    seeds
        .into_iter()
        .map(record)
        .find(|record| image.windows(8).any(|bytes| bytes == record))
        .expect("a record")
}

#[test]
fn a_directory_in_itself_ends_every_walk() {
    let bench = Bench::new("circle");
    bench.write("from/outer/inner/file", b"x");
    bench.ok("pack from i.img --device nand.toml");
    let inode = |path: &str| {
        bench.json(&format!("stat i.img {path} --json"))["inode"].as_u64().unwrap() as u32
    };
    let record = record_of(&bench.read("i.img"), b"file", inode("outer/inner/file"));
    let forged = [&record[..4], &(inode("outer") + 1).to_le_bytes()].concat();
    bench.forge("i.img", &record, &forged);
    for line in ["tree i.img", "unpack i.img out", "get -r i.img outer out", "rm -r i.img outer"] {
        let error = bench.fails(line);
        assert!(
            error.contains("outer/inner") && error.contains("`steady check` gives details"),
            "{error}"
        );
    }
    assert!(!bench.path("out").exists());
    assert_eq!(bench.run("check i.img").status.code(), Some(1));
    assert_eq!(bench.run("check i.img --repair").status.code(), Some(1));
    assert!(bench.ok("check i.img").contains("sound"));
    // The file with the lost entry has its name again.
    let tree = bench.ok("tree i.img");
    assert!(tree.contains("── file") && !tree.contains("lost-"), "{tree}");
}

/// Makes text, noise, and files that are too small for compression.
fn fill_mixed(bench: &Bench) {
    let text = |index: usize, bytes: usize| {
        format!("{index}: the valve of sensor {index} is open\n").repeat(bytes / 30).into_bytes()
    };
    for index in 0..8 {
        bench.write(&format!("mixed/text/t{index}"), &text(index, 300 << index));
    }
    for index in 0..4 {
        bench.write(&format!("mixed/noise/n{index}"), &noise(9000 * index));
    }
    bench.write("mixed/small", b"21.5 degrees");
    bench.write("mixed/empty", b"");
    bench.write("mixed/zeros", &vec![0; 100_000]);
}

#[test]
fn compressed_images_take_less_room_and_every_command_shows_plain_bytes() {
    let bench = Bench::new("compressed");
    fill_mixed(&bench);
    let used = |image: &str| {
        bench.json(&format!("df {image} --json"))["used_bytes"].as_u64().expect("bytes")
    };
    bench.ok("pack mixed plain.img --device nand.toml");
    let listed = bench.ok("ls -l plain.img text");
    let tree_of = bench.ok("tree plain.img");
    for (method, chunk) in
        [("lz4", "4KiB"), ("lz4", "64KiB"), ("deflate", "16KiB"), ("zstd:19", "32KiB")]
    {
        bench.ok(&format!(
            "pack mixed packed.img --force --device nand.toml --compress {method} --chunk {chunk}"
        ));
        assert!(
            used("packed.img") * 2 < used("plain.img"),
            "{method}: {} bytes",
            used("packed.img")
        );
        bench.ok("check packed.img");
        assert_eq!(bench.ok("ls -l packed.img text"), listed, "{method}");
        assert_eq!(bench.ok("tree packed.img"), tree_of, "{method}");
        let to = format!("out-{}-{chunk}", method.replace(':', "-"));
        bench.ok(&format!("unpack packed.img {to}"));
        assert_eq!(tree(&bench.path("mixed")), tree(&bench.path(&to)), "{method}");
        bench.ok("get packed.img text/t7 got --force");
        assert!(bench.read("got") == bench.read("mixed/text/t7"), "{method}");
        let stat = bench.json("stat packed.img text/t7 --json");
        assert_eq!(stat["compressed"]["method"].as_str(), method.split(':').next());
        assert_eq!(stat["size"], bench.read("mixed/text/t7").len());
        assert!(
            stat["attributes"].as_object().is_some_and(|all| all.is_empty()),
            "{method}: {stat}"
        );
        let noise = bench.json("stat packed.img noise/n3 --json");
        assert!(noise["compressed"].is_null(), "{method}: noise stays as it is");
    }
}

#[test]
fn compressed_images_are_the_same_bytes_each_time() {
    let bench = Bench::new("compressed-again");
    fill_mixed(&bench);
    for image in ["a.img", "b.img"] {
        bench.ok(&format!("pack mixed {image} --device nand.toml --compress lz4 --chunk 8KiB"));
    }
    assert!(bench.read("a.img") == bench.read("b.img"));
}

#[test]
fn methods_and_chunks_that_are_none_are_named() {
    let bench = Bench::new("compressed-wrong");
    bench.write("d/f", b"x");
    for (arguments, told) in [
        ("--compress lzma", "expected lz4, deflate, zstd"),
        ("--compress zstd:99", "expected a level of zstd from 1 to 22"),
        ("--compress lz4 --chunk 5000", "expected a power of two from 4KiB to 64KiB"),
        ("--chunk 4KiB", "--compress"),
    ] {
        let output = bench.run(&format!("pack d i.img --device nand.toml {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(text(&output.stderr).contains(told), "{arguments}: {}", text(&output.stderr));
        assert!(!bench.path("i.img").exists());
    }
}

/// Attributes were lost without a message, and an attribute of a squashfs was called impossible.
#[test]
#[cfg(target_os = "linux")]
fn attributes_of_users_are_kept_and_every_loss_is_counted() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new("attributes");
    bench.write("from/d/f", b"content");
    let set = |place: &str, name: &str, value: &[u8]| {
        setxattr(bench.path(place), name, value, XattrFlags::empty())
    };
    if set("from/d/f", "user.mark", b"1").is_err() {
        eprintln!("SKIPPED: this file system has no attributes");
        return;
    }
    set("from/d", "user.kind", b"data").unwrap();
    set("from", "user.top", b"x").unwrap();
    let get = |place: &str, name: &str| {
        let mut value = [0; 16];
        let count = getxattr(bench.path(place), name, &mut value[..]).unwrap_or(0);
        value[..count].to_vec()
    };
    let is_kept = |top: &str| {
        assert_eq!(get(&format!("{top}/d/f"), "user.mark"), b"1", "{top}");
        assert_eq!(get(&format!("{top}/d"), "user.kind"), b"data", "{top}");
    };
    for line in [
        "pack from i.img --device nand.toml",
        "pack from x.sqfs --read-only",
        "pack x.sqfs j.img --device nand.toml",
        "unpack i.img to",
        "unpack x.sqfs from-sqfs",
        "unpack j.img from-j",
        "format k.img --device nor.toml",
        "put -r k.img from/d /",
        "get -r k.img /d got",
        "get i.img /d/f file",
    ] {
        bench.ok(line);
    }
    ["to", "from-sqfs", "from-j"].into_iter().for_each(is_kept);
    assert_eq!((get("got/f", "user.mark"), get("file", "user.mark")), (b"1".into(), b"1".into()));
    assert!(bench.ok("stat i.img /").contains("Attribute top = x"));

    // A value that is too long, a second name, a pipe, and a right of the owner.
    set("from/d/f", "user.long", &[b'x'; 300]).unwrap();
    fs::hard_link(bench.path("from/d/f"), bench.path("from/d/g")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(bench.path("from/p")).status().unwrap();
    assert!(made.success());
    fs::set_permissions(bench.path("from/d/f"), fs::Permissions::from_mode(0o4755)).unwrap();
    let refused = bench.fails("pack from l.img --device nand.toml");
    assert!(refused.ends_with("--skip-special leaves it out"), "{refused}");
    let left = "left out, because a volume cannot hold them: 1 pipe, 2 attributes; \
                1 hard link became separate files";
    for line in [
        "pack from l.img --device nand.toml --skip-special",
        "put -r --skip-special k.img from /more",
    ] {
        bench.ok_with_losses(line, left);
    }
    let rights = "left out, because they are not made on the host: 2 set-user or set-group rights";
    bench.ok_with_losses("unpack l.img losses", rights);
}

/// An image became its own output: attributes and times were lost.
#[test]
fn an_image_is_not_converted_into_itself() {
    let bench = Bench::new("into-itself");
    bench.write("from/f", b"content");
    bench.ok("pack from x.sqfs --read-only");
    let before = bench.read("x.sqfs");
    for line in ["convert x.sqfs x.sqfs --force", "convert x.sqfs from/../x.sqfs --force"] {
        assert!(bench.fails(line).contains("is the image to read; expected the name of another"));
    }
    assert!(bench.read("x.sqfs") == before);
}
