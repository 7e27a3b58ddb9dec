//! Measures file systems of Linux, and SteadyFS through FUSE, on one NAND chip:
//! `linux_peers SYSTEM…`. `tools/linux-peers.sh` runs it in a kernel with a simulated chip and a
//! clock of flash time alone. **Everything on `/dev/mtd1` is lost.**
//!
//! Prints a line of JSON for each system and case: seconds of each step, and the chip's operations.
//! Images of read-only file systems lie in `/images`. They are made from the files that
//! `linux_peers tree DIRECTORY` writes.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const CHIP: &str = "/dev/mtd1";
const DIRECTORY: &str = "/mnt";

/// Commands that make and mount a file system. Spaces separate the words of a command.
struct System {
    name: &'static str,
    /// Commands that make it on an erased chip.
    make: &'static [&'static str],
    /// Commands before each mount, which count as mount time. `detach` has the commands after each.
    attach: &'static [&'static str],
    mount: Mount,
    detach: &'static [&'static str],
}

enum Mount {
    /// A command that returns once the file system is mounted.
    Command(&'static str),
    /// A command that serves the directory until it is unmounted.
    Served(&'static str),
    /// No mount: pages of the chip are programmed in order.
    Raw,
}

const UBI: &[&str] = &[
    "ubiformat -q -y /dev/mtd1",
    "ubiattach -p /dev/mtd1",
    "ubimkvol /dev/ubi0 -N data -m",
    "ubidetach -p /dev/mtd1",
];
const ATTACH: &[&str] = &["ubiattach -p /dev/mtd1"];
const DETACH: &[&str] = &["ubidetach -p /dev/mtd1"];
const NOTHING: &[&str] = &[];

const SYSTEMS: [System; 15] = [
    System { name: "raw", make: NOTHING, attach: NOTHING, mount: Mount::Raw, detach: NOTHING },
    steady("steadyfs", "steady mount /dev/mtd1 /mnt"),
    steady("steadyfs-sync", "steady mount /dev/mtd1 /mnt -o sync"),
    steady("steadyfs-lz4", "steady mount /dev/mtd1 /mnt -o compress=lz4"),
    steady("steadyfs-zstd", "steady mount /dev/mtd1 /mnt -o compress=zstd"),
    System {
        name: "jffs2",
        make: &["flash_erase -q -j /dev/mtd1 0 0"],
        attach: NOTHING,
        mount: Mount::Command("busybox mount -t jffs2 mtd1 /mnt"),
        detach: NOTHING,
    },
    System {
        name: "jffs2-on-ubi",
        make: UBI,
        attach: ATTACH,
        mount: Mount::Command("busybox mount -t jffs2 mtd2 /mnt"),
        detach: DETACH,
    },
    System {
        name: "ubifs",
        make: UBI,
        attach: ATTACH,
        mount: Mount::Command("busybox mount -t ubifs ubi0:data /mnt"),
        detach: DETACH,
    },
    System {
        name: "ubifs-sync",
        make: UBI,
        attach: ATTACH,
        mount: Mount::Command("busybox mount -t ubifs -o sync ubi0:data /mnt"),
        detach: DETACH,
    },
    System {
        name: "squashfs-lzo",
        make: &["nandwrite -q -p /dev/mtd1 /images/squashfs-lzo"],
        attach: NOTHING,
        mount: Mount::Command("busybox mount -t squashfs -o ro /dev/mtdblock1 /mnt"),
        detach: NOTHING,
    },
    System {
        name: "squashfs-xz",
        make: &["nandwrite -q -p /dev/mtd1 /images/squashfs-xz"],
        attach: NOTHING,
        mount: Mount::Command("busybox mount -t squashfs -o ro /dev/mtdblock1 /mnt"),
        detach: NOTHING,
    },
    System {
        name: "cramfs",
        make: &["nandwrite -q -p /dev/mtd1 /images/cramfs"],
        attach: NOTHING,
        mount: Mount::Command("busybox mount -t cramfs -o ro /dev/mtdblock1 /mnt"),
        detach: NOTHING,
    },
    block(
        "ext4-on-mtdblock",
        &["mke2fs -q -F -t ext4 /dev/mtdblock1"],
        "busybox mount -t ext4 /dev/mtdblock1 /mnt",
    ),
    block(
        "f2fs-on-mtdblock",
        &["mkfs.f2fs -q -f /dev/mtdblock1"],
        "busybox mount -t f2fs /dev/mtdblock1 /mnt",
    ),
    block(
        "vfat-on-mtdblock",
        &["mkfs.fat /dev/mtdblock1"],
        "busybox mount -t vfat /dev/mtdblock1 /mnt",
    ),
];

const fn steady(name: &'static str, mount: &'static str) -> System {
    System {
        name,
        make: &["steady format /dev/mtd1 --force"],
        attach: NOTHING,
        mount: Mount::Served(mount),
        detach: NOTHING,
    }
}

const fn block(name: &'static str, make: &'static [&'static str], mount: &'static str) -> System {
    System { name, make, attach: NOTHING, mount: Mount::Command(mount), detach: NOTHING }
}

impl System {
    /// Returns true if its content was made elsewhere.
    fn is_image(&self) -> bool {
        self.make.iter().any(|command| command.contains("/images/"))
    }

    fn is_raw(&self) -> bool {
        matches!(self.mount, Mount::Raw)
    }

    fn make(&self) -> Outcome {
        run("flash_erase -q /dev/mtd1 0 0")?;
        self.make.iter().try_for_each(|command| run(command))?;
        forget()
    }

    fn mount(&self) -> Outcome<Mounted> {
        self.attach.iter().try_for_each(|command| run(command))?;
        let server = match self.mount {
            Mount::Command(command) => {
                run(command)?;
                None
            }
            Mount::Served(command) => Some(serve(command)?),
            Mount::Raw => None,
        };
        Ok(Mounted { server })
    }

    /// Undoes `mount`, and returns when everything is on the chip.
    fn unmount(&self, mounted: Mounted) -> Outcome {
        if !self.is_raw() {
            run("busybox umount /mnt")?;
        }
        if let Some(mut server) = mounted.server {
            let status = server.wait()?;
            if !status.success() {
                return Err(format!("the service ended with {status}").into());
            }
        }
        Ok(())
    }

    fn detach(&self) -> Outcome {
        self.detach.iter().try_for_each(|command| run(command))?;
        forget()
    }
}

struct Mounted {
    server: Option<Child>,
}

fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("true"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn run(line: &str) -> Outcome {
    let output = command(line)
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{line}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())
        .into())
}

/// Starts a command that serves the directory, and waits until it does.
fn serve(line: &str) -> Outcome<Child> {
    let mut server = command(line).spawn().map_err(|error| format!("{line}: {error}"))?;
    while !fs::read_to_string("/proc/mounts")?.contains(DIRECTORY) {
        if let Some(status) = server.try_wait()? {
            return Err(format!("{line}: {status}").into());
        }
        std::thread::sleep(Duration::from_micros(20));
    }
    Ok(server)
}

/// Drops the caches of the kernel, also of the block device on the chip.
fn forget() -> Outcome {
    run("busybox sync")?;
    fs::write("/proc/sys/vm/drop_caches", "3")?;
    Ok(())
}

/// Operations of the chip so far.
#[derive(Clone, Copy)]
struct Counters {
    reads: u64,
    programs: u64,
    erases: u64,
}

impl Counters {
    fn now() -> Outcome<Self> {
        let read = |name: &str| -> Outcome<u64> {
            Ok(fs::read_to_string(format!("/sys/module/nandsim/parameters/{name}"))?
                .trim()
                .parse()?)
        };
        Ok(Self { reads: read("reads")?, programs: read("programs")?, erases: read("erases")? })
    }
}

/// A line of the result: steps in seconds, and the chip's operations in all of them.
struct Row {
    text: String,
    begin: Instant,
    before: Counters,
}

impl Row {
    fn new(system: &System, case: &str) -> Outcome<Self> {
        let text = format!(r#"{{"system":"{}","case":"{case}""#, system.name);
        Ok(Self { text, begin: Instant::now(), before: Counters::now()? })
    }

    /// Adds a number.
    fn put(&mut self, name: &str, value: f64) {
        self.text += &format!(r#","{name}":{value}"#);
    }

    /// Ends a step, and begins the next one.
    fn step(&mut self, name: &str) {
        self.put(name, self.begin.elapsed().as_secs_f64());
        self.begin = Instant::now();
    }

    fn end(mut self) -> Outcome {
        let now = Counters::now()?;
        self.put("reads", (now.reads - self.before.reads) as f64);
        self.put("programs", (now.programs - self.before.programs) as f64);
        self.put("erases", (now.erases - self.before.erases) as f64);
        println!("{}}}", self.text);
        Ok(())
    }
}

/// Pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    /// Returns incompressible bytes.
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            (0..count.div_ceil(4)).flat_map(|_| (self.next() as u32).to_le_bytes()).collect();
        bytes.truncate(count);
        bytes
    }

    /// Returns bytes as of programs and text: some 400 of each 1,024 are new.
    fn text(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 1024);
        while bytes.len() < count {
            let new = self.bytes(400);
            bytes.extend_from_slice(&new);
            bytes.extend_from_slice(&new[..312]);
            bytes.extend_from_slice(&new[88..]);
        }
        bytes.truncate(count);
        bytes
    }
}

/// Returns the sizes of the 35 files of the document, 5.4 MB in all: few large, many small.
fn sizes_of_35() -> Vec<usize> {
    let mut sizes: Vec<usize> = (1..=35).map(|number| 5_400_000 * number / (35 * 36 / 2)).collect();
    sizes[34] += 5_400_000 - sizes.iter().sum::<usize>();
    sizes
}

/// Writes a small root file system: 20 MB in 300 files in 20 directories. They compress to about
/// half.
fn tree(directory: &Path) -> Outcome {
    let mut random = Random(7);
    for number in 0..300_usize {
        let directory = directory.join(format!("directory-{}", number % 20));
        fs::create_dir_all(&directory)?;
        let count = 2_000 + number * number * 2_150 / 1_000;
        fs::write(directory.join(format!("file-{number}")), random.text(count))?;
    }
    Ok(())
}

/// Returns all files below a directory, in order of their names.
fn files(directory: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = vec![];
    let mut entries = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        match entry.file_type()?.is_dir() {
            true => found.extend(files(&entry.path())?),
            false => found.push(entry.path()),
        }
    }
    Ok(found)
}

/// Mounts a volume with a small root file system, and reads all of it.
fn root(system: &System) -> Outcome {
    system.make()?;
    if !system.is_image() {
        let mounted = system.mount()?;
        tree(Path::new(DIRECTORY))?;
        system.unmount(mounted)?;
        system.detach()?;
    }
    let mut row = Row::new(system, "root")?;
    let mounted = system.mount()?;
    row.step("mount");
    let mut bytes = 0;
    for path in files(Path::new(DIRECTORY))? {
        let mut content = vec![];
        bytes += File::open(&path)?.read_to_end(&mut content)?;
    }
    row.step("load");
    row.put("bytes", bytes as f64);
    row.end()?;
    system.unmount(mounted)?;
    system.detach()
}

/// Mounts, writes files, unmounts.
fn copy(system: &System, case: &str, contents: &[Vec<u8>]) -> Outcome {
    system.make()?;
    let mut row = Row::new(system, case)?;
    let mounted = system.mount()?;
    row.step("mount");
    let mut at = 0;
    for (number, content) in contents.iter().enumerate() {
        if system.is_raw() {
            let mut pages = content.clone();
            pages.resize(content.len().next_multiple_of(2048), 0xFF);
            OpenOptions::new().write(true).open(CHIP)?.write_all_at(&pages, at)?;
            at += pages.len() as u64;
            continue;
        }
        let mut file = File::create(Path::new(DIRECTORY).join(format!("file-{number}")))?;
        content.chunks(65_536).try_for_each(|chunk| file.write_all(chunk))?;
    }
    row.step("copy");
    system.unmount(mounted)?;
    row.step("unmount");
    row.end()?;
    system.detach()
}

/// Returns the bytes of the mounted volume, and its free bytes, from `df`.
fn room() -> Outcome<(u64, u64)> {
    let output = command("busybox df -P -k /mnt").stdout(Stdio::piped()).output()?;
    let text = String::from_utf8(output.stdout)?;
    let words: Vec<&str> = text.lines().last().unwrap_or_default().split_whitespace().collect();
    match words[..] {
        [_, total, _, free, ..] => Ok((total.parse::<u64>()? * 1024, free.parse::<u64>()? * 1024)),
        _ => Err(format!("df says {text:?}").into()),
    }
}

const RANDOM_FILE: u64 = 8 << 20;
const RANDOM_CALLS: usize = 4_000;

/// Writes 4 KiB at random places of a file of 8 MiB, each with fsync, on a volume that is `percent`
/// full. As many writes are unmeasured as measured.
fn random(system: &System, percent: u64) -> Outcome {
    system.make()?;
    let mounted = system.mount()?;
    let mut random = Random(11);
    let mut write = |name: &str, bytes: u64| -> Outcome {
        let mut file = File::create(Path::new(DIRECTORY).join(name))?;
        for at in (0..bytes).step_by(65_536) {
            file.write_all(&random.bytes((bytes - at).min(65_536) as usize))?;
        }
        Ok(file.sync_all()?)
    };
    let (total, _) = room()?;
    write("file", RANDOM_FILE)?;
    let (_, free) = room()?;
    let kept = total * (100 - percent) / 100;
    write("rest", free.saturating_sub(kept))?;
    let file = OpenOptions::new().write(true).open(Path::new(DIRECTORY).join("file"))?;
    let mut call = || -> Outcome<f64> {
        let bytes = random.bytes(4096);
        let at = random.next() % (RANDOM_FILE / 4096) * 4096;
        let begin = Instant::now();
        file.write_all_at(&bytes, at)?;
        file.sync_all()?;
        Ok(begin.elapsed().as_secs_f64())
    };
    for _ in 0..RANDOM_CALLS {
        call()?;
    }
    let mut row = Row::new(system, &format!("random-{percent}"))?;
    let mut times = (0..RANDOM_CALLS).map(|_| call()).collect::<Outcome<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    row.put("calls", RANDOM_CALLS as f64);
    row.put("mean", times.iter().sum::<f64>() / times.len() as f64);
    for (name, share) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)] {
        row.put(name, times[((times.len() as f64 * share).ceil() as usize).max(1) - 1]);
    }
    row.end()?;
    drop(file);
    system.unmount(mounted)?;
    system.detach()
}

/// Runs all cases of a system. Prints the error of a failed case, and begins the next case on a
/// free chip.
fn measure(system: &System) {
    let mut content = Random(3);
    let one = [content.bytes(10_000_000)];
    let one_text = [content.text(10_000_000)];
    let many: Vec<Vec<u8>> = sizes_of_35().into_iter().map(|count| content.bytes(count)).collect();
    let many_text: Vec<Vec<u8>> =
        sizes_of_35().into_iter().map(|count| content.text(count)).collect();
    let cases: [(&str, &dyn Fn() -> Outcome); 7] = [
        ("root", &|| root(system)),
        ("copy-10mb", &|| copy(system, "copy-10mb", &one)),
        ("copy-10mb-text", &|| copy(system, "copy-10mb-text", &one_text)),
        ("copy-35", &|| copy(system, "copy-35", &many)),
        ("copy-35-text", &|| copy(system, "copy-35-text", &many_text)),
        ("random-50", &|| random(system, 50)),
        ("random-80", &|| random(system, 80)),
    ];
    for (name, case) in cases {
        let is_apt = match name {
            "root" => !system.is_raw(),
            "random-50" | "random-80" => !system.is_raw() && !system.is_image(),
            _ => !system.is_image(),
        };
        if !is_apt {
            continue;
        }
        if let Err(error) = case() {
            let error = error.to_string().replace(['"', '\\', '\n'], " ");
            println!(r#"{{"system":"{}","case":"{name}","failed":"{error}"}}"#, system.name);
            // Removes any mount and attachment that is left. These commands may fail.
            let _ = run("busybox umount /mnt");
            let _ = run("ubidetach -p /dev/mtd1");
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, directory] = &arguments[..]
        && word == "tree"
    {
        return match tree(Path::new(directory)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {directory}: {error}");
                ExitCode::FAILURE
            }
        };
    }
    for name in &arguments {
        let Some(system) = SYSTEMS.iter().find(|system| system.name == name) else {
            let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
            eprintln!(
                "error: no system {name:?}; expected tree DIRECTORY, or of {}",
                names.join(", ")
            );
            return ExitCode::from(2);
        };
        measure(system);
    }
    ExitCode::SUCCESS
}
