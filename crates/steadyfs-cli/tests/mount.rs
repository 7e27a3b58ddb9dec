//! `steady mount`. It needs `/dev/fuse` and the right to mount. Without them the tests print that
//! and pass.
#![cfg(target_os = "linux")]

use crate::common::{Bench, content, noise, text};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A volume that is mounted on `mnt`. A signal unmounts it when this is dropped.
struct Mounted(Option<Child>);

impl Mounted {
    /// Mounts. Returns `None` if this machine does not permit it.
    fn new(bench: &Bench, line: &str) -> Option<Self> {
        let mut mounted = Self(Some(bench.command(line).stderr(Stdio::piped()).spawn().unwrap()));
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            let child = mounted.0.as_mut().unwrap();
            if let Some(status) = child.try_wait().unwrap() {
                let error = text(&mounted.0.take().unwrap().wait_with_output().unwrap().stderr);
                assert!(
                    status.code() == Some(1)
                        && error.contains("cannot be mounted on: the kernel: "),
                    "{error}"
                );
                eprintln!("skipped: {error}");
                return None;
            }
            let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
            if mounts.lines().any(|line| line.split(' ').nth(1) == bench.path("mnt").to_str()) {
                return Some(mounted);
            }
            sleep(Duration::from_millis(20));
        }
        panic!("neither mounted nor refused");
    }

    /// Ends the mount by a signal, and returns the output.
    fn end(mut self, signal: &str) -> String {
        let child = self.0.take().unwrap();
        assert!(
            Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
        }
    }
}

#[test]
fn what_is_done_on_the_directory_is_in_the_image() {
    for device in ["nand.toml", "nor.toml"] {
        let bench = Bench::new(&format!("mount-{device}"));
        bench.write("from/seed", b"seed");
        fs::create_dir(bench.path("mnt")).unwrap();
        bench.ok(&format!("pack from i.img --device {device}"));
        let Some(mounted) = Mounted::new(&bench, &format!("mount i.img mnt --device {device}"))
        else {
            return;
        };
        assert_eq!(bench.read("mnt/seed"), b"seed");
        bench.write("mnt/d/new", &content(3, 60_000));
        fs::rename(bench.path("mnt/seed"), bench.path("mnt/d/moved")).unwrap();
        // Two writers would destroy the volume.
        assert!(bench.fails("mkdir i.img x").contains("another process uses the image"));
        let told = mounted.end("-INT");
        assert!(told.contains(" programs, ") && told.trim_end().contains(" on small-n"), "{told}");
        assert_eq!(bench.ok("ls i.img d"), "moved\nnew\n");
        bench.ok("get i.img d/new back");
        assert_eq!(bench.read("back"), content(3, 60_000));
        bench.ok("check i.img");
    }
}

#[test]
fn what_was_opened_orders_the_next_image() {
    let bench = Bench::new("mount-opened");
    for name in ["a/first", "a/second", "b/third", "never"] {
        bench.write(&format!("from/{name}"), &content(1, 3000));
    }
    fs::create_dir(bench.path("mnt")).unwrap();
    bench.ok("pack from volume --device nand.toml");
    bench.ok("pack from squashfs --read-only");
    for image in ["volume", "squashfs"] {
        let Some(mounted) = Mounted::new(&bench, &format!("mount {image} mnt --opened order"))
        else {
            return;
        };
        fs::read_dir(bench.path("mnt/b")).unwrap().for_each(drop);
        for name in ["b/third", "a/second", "a/first", "b/third"] {
            bench.read(&format!("mnt/{name}"));
        }
        mounted.end("-INT");
        assert_eq!(text(&bench.read("order")), "b/third\na/second\na/first\n", "{image}");
        bench.ok("pack from ordered --read-only --order order --force");
    }
    assert!(bench.fails("mount volume mnt --opened nowhere/order").contains("nowhere/order"));
}

#[test]
fn what_grows_on_a_directory_that_compresses_is_compressed() {
    let bench = Bench::new("mount-compress");
    fs::create_dir(bench.path("mnt")).unwrap();
    bench.ok("format i.img --device nand.toml");
    let Some(mounted) = Mounted::new(&bench, "mount i.img mnt --compress lz4") else { return };
    let (text, noise) = (b"21.5 degrees\n".repeat(8000), noise(100_000));
    bench.write("mnt/text", &text);
    bench.write("mnt/small", &text[..1000]);
    // A logger opens its file for each line.
    for line in text[..13 * 600].chunks(13) {
        let mut log =
            fs::OpenOptions::new().append(true).create(true).open(bench.path("mnt/d-log")).unwrap();
        std::io::Write::write_all(&mut log, line).unwrap();
    }
    fs::write(bench.path("mnt/noise"), &noise).unwrap();
    for (name, all) in [
        ("text", &text[..]),
        ("small", &text[..1000]),
        ("d-log", &text[..13 * 600]),
        ("noise", &noise),
    ] {
        assert!(bench.read(&format!("mnt/{name}")) == all, "{name}");
    }
    mounted.end("-INT");
    bench.ok("check i.img");
    for (name, all, is_packed) in [
        ("text", &text[..], true),
        ("small", &text[..1000], false),
        ("d-log", &text[..13 * 600], true),
        ("noise", &noise, false),
    ] {
        bench.ok(&format!("get i.img {name} back --force"));
        assert!(bench.read("back") == all, "{name}");
        let stat = bench.json(&format!("stat i.img {name} --json"));
        assert_eq!(stat["compressed"].is_object(), is_packed, "{stat}");
    }
}

#[test]
fn a_volume_mounted_for_reading_stays_as_it_is() {
    let bench = Bench::new("mount-read-only");
    bench.write("from/seed", b"seed");
    fs::create_dir(bench.path("mnt")).unwrap();
    bench.ok("pack from i.img --device nand.toml");
    let before = bench.read("i.img");
    let Some(mounted) = Mounted::new(&bench, "mount i.img mnt --read-only") else { return };
    assert_eq!(bench.read("mnt/seed"), b"seed");
    assert!(fs::write(bench.path("mnt/new"), b"").is_err());
    // Others may read at the same time.
    assert_eq!(bench.ok("cat i.img seed"), "seed");
    mounted.end("-TERM");
    assert!(bench.read("i.img") == before);
}

#[test]
fn places_that_cannot_be_mounted_on_are_named() {
    let bench = Bench::new("mount-nowhere");
    bench.ok("format i.img --device nand.toml");
    let missing = bench.fails("mount i.img mnt");
    assert!(missing.starts_with("mnt: cannot be examined: No such file or directory"), "{missing}");
    assert_eq!(
        bench.fails("mount i.img nor.toml"),
        "nor.toml: is no directory; expected one to mount on"
    );
    fs::create_dir(bench.path("mnt")).unwrap();
    assert!(bench.fails("mount nand.toml mnt").starts_with("nand.toml: no SteadyFS superblock"));
    assert_eq!(bench.run("mount i.img mnt --commit-on never").status.code(), Some(2));
}

#[test]
fn mount_knows_it_by_the_name_of_its_helper() {
    let bench = Bench::new("mount-helper");
    bench.write("from/seed", b"seed");
    fs::create_dir(bench.path("mnt")).unwrap();
    bench.ok("pack from i.img --device nand.toml");
    // Checks first if this machine permits mounts.
    let Some(mounted) = Mounted::new(&bench, "mount i.img mnt") else { return };
    assert_eq!(bench.read("mnt/seed"), b"seed");
    mounted.end("-INT");
    let helper = bench.path("mount.fuse.steadyfs");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_steady"), &helper).unwrap();
    let mount = |options: &str| {
        let mut command = Command::new(&helper);
        command
            .args(["i.img", "mnt", "-o", options, "-t", "fuse.steadyfs"])
            .current_dir(bench.path("."))
            .output()
            .unwrap()
    };
    let refused = mount("ro,fast");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("option `fast`: expected one of ro, rw"),
        "{}",
        text(&refused.stderr)
    );
    let output = mount("ro,nofail");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    assert_eq!(bench.read("mnt/seed"), b"seed", "it is there when the command returns");
    assert!(fs::write(bench.path("mnt/new"), b"").is_err());
    assert!(Command::new("umount").arg(bench.path("mnt")).status().unwrap().success());
    // The process that served it ends.
    let deadline = Instant::now() + Duration::from_secs(10);
    while bench.run("mkdir i.img after").status.code() != Some(0) {
        assert!(Instant::now() < deadline);
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_busy_mount_says_so_and_keeps_what_was_written() {
    let bench = Bench::new("mount-busy");
    fs::create_dir(bench.path("mnt")).unwrap();
    bench.ok("format i.img --device nand.toml");
    let Some(mut mounted) = Mounted::new(&bench, "mount i.img mnt --commit-interval 3600000")
    else {
        return;
    };
    bench.write("mnt/file", b"written before");
    let open = fs::File::open(bench.path("mnt/file")).unwrap();
    let child = mounted.0.as_ref().unwrap().id().to_string();
    let send = |signal: &str| {
        assert!(Command::new("kill").args([signal, &child]).status().unwrap().success())
    };
    send("-INT");
    let deadline = Instant::now() + Duration::from_secs(10);
    while bench.path("mnt/file").exists() {
        assert!(Instant::now() < deadline);
        sleep(Duration::from_millis(20));
    }
    assert_eq!(
        std::io::read_to_string(&open).unwrap(),
        "written before",
        "who has it open is served"
    );
    drop(open);
    let output = mounted.0.take().unwrap().wait_with_output().unwrap();
    assert!(
        text(&output.stderr)
            .contains("unmounted; the service goes on for files that are still open (EBUSY)"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(bench.ok("cat i.img file"), "written before");
}

#[test]
fn an_image_that_is_only_read_is_mounted_and_stays_as_it_is() {
    let bench = Bench::new("mount-archive");
    bench.write("from/d/seed", b"seed");
    bench.write("from/large", &content(5, 70_000));
    std::os::unix::fs::symlink("d/seed", bench.path("from/link")).unwrap();
    fs::create_dir(bench.path("mnt")).unwrap();
    bench.ok("keygen key");
    bench.ok("pack from i.sqfs --read-only --sign key");
    assert!(bench.fails("mount i.sqfs mnt --disk").contains("holds files, not a disk"));
    let Some(mounted) = Mounted::new(&bench, "mount i.sqfs mnt --verify-key key.pub") else {
        return;
    };
    assert_eq!(
        (bench.read("mnt/link"), bench.read("mnt/large")),
        (b"seed".to_vec(), content(5, 70_000))
    );
    let names: Vec<_> =
        fs::read_dir(bench.path("mnt")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["d", "large", "link"]);
    let refused = fs::write(bench.path("mnt/new"), b"x").unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(30), "EROFS");
    mounted.end("-TERM");
}
