//! Inputs that people and programs hand to the tools: quantities, traces, profiles, images,
//! names.
//!
//! Each input is parsed. If the parser accepts it, its documented promises must hold.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use steadyfs::Access;
use steadyfs::media::Geometry;
use steadyfs_host::image::{Image, Shape};
use steadyfs_lab::evaluate::{Timing, Workload};
use steadyfs_lab::replay::{TimeUnit, read_trace, write_trace};
use steadyfs_lab::units::{
    parse_duration, parse_percent, parse_rate, parse_size, parse_write_size,
};
use steadyfs_sim::{NandTiming, Profile, TimingChoice};

use crate::checksum::crc;
use crate::choices::Choices;
use crate::cli::names::{host_fault, join, last_name, printable, sanitised};
use crate::cli::place::Place;
use crate::cli::time::{Stamp, format};
use crate::exercise::read_only;
use crate::volumes::SHAPES;

/// Parses quantities of the command line.
pub fn units(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = parse_rate(&text).map(|rate| assert!((1..=1_000_000_000_000).contains(&rate)));
    let _ = parse_size(&text).map(|bytes| assert!(bytes <= 1 << 48));
    let _ = parse_write_size(&text).map(|bytes| assert!(bytes > 0));
    let _ = parse_percent(&text).map(|share| assert!((0.0..=1.0).contains(&share)));
    let _ = parse_duration(&text).map(|ns| assert!(ns <= 86_400_000_000_000));
    let _ = text.parse::<Timing>().map(|timing| assert_eq!(timing.to_string(), text));
    let _ = text.parse::<Workload>().map(|workload| assert_eq!(workload.to_string(), text));
    let _ = text.parse::<TimeUnit>();
    if let Ok(Stamp::Fixed(ns)) = text.parse() {
        assert_eq!(format(ns) == "-", ns == 0);
    }
}

/// Parses traces of access times. An accepted trace is written and read back. Times of more than
/// 15 digits are not exact.
pub fn trace(input: &[u8]) {
    let unit = [None, Some(TimeUnit::Nanoseconds), Some(TimeUnit::Seconds)][input.len() % 3];
    match read_trace("trace", input, unit) {
        Ok(trace) if trace.access_ns.iter().all(|&ns| ns < 1_000_000_000_000_000) => {
            let mut again = Vec::new();
            write_trace(&mut again, &trace.access_ns, 4096).expect("memory");
            let read = read_trace("again", &again[..], None).map(|trace| trace.access_ns);
            assert_eq!(read.map_err(|error| error.to_string()), Ok(trace.access_ns));
        }
        Ok(_) => {}
        Err(error) => assert!(error.to_string().starts_with("trace")),
    }
}

/// Parses device profiles, and computes the times of accepted profiles.
pub fn profile(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match Profile::from_toml(&text) {
        Ok(profile) => {
            if let Some(nand) = profile.nand() {
                NandTiming::of(nand, TimingChoice::Maximum);
            }
            let _ = Shape::of(&profile).file_bytes();
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Checks names of a volume and paths of the command line: no name leaves a directory, and no
/// control character reaches a terminal.
pub fn names(input: &[u8]) {
    let name = String::from_utf8_lossy(input);
    let safe = sanitised(&name);
    assert_eq!(host_fault(&safe), None, "{name:?} became {safe:?}");
    assert_eq!(
        PathBuf::from("dir").join(&*safe).components().count(),
        2,
        "{safe:?} leaves its directory"
    );
    assert!(host_fault(&name).is_some() || *safe == *name);
    assert!(!printable(&name).contains(char::is_control));
    let joined = join("dir", &name);
    assert!(joined.starts_with("dir/"));
    let _ = last_name(&name).map(|last| {
        assert!(!last.is_empty() && !last.contains('/') && last != ".." && last != ".")
    });
    let Ok(place) = name.parse::<Place>();
    assert!(!place.below(Some(&name)).starts_with('/') || place.path.is_empty());
}

/// Opens raw chip images: the file of a volume with damage to its superblock and length.
///
/// ```text
/// input:  shape (1)   length (4, XOR)   then patches: offset from the superblock (2)   byte (1)
/// ```
pub fn image(input: &[u8]) {
    let mut choices = Choices::new(input);
    let (shape, whole) = choices.of(&*IMAGES);
    let length = u32::from(choices.word()) | u32::from(choices.word()) << 16;
    let mut bytes = whole.clone();
    let start = bytes.windows(8).position(|window| window == b"SteadyFS").expect("a superblock");
    patch(&mut bytes[start..], shape, &mut choices);
    bytes.resize((bytes.len() ^ length as usize) % (2 * whole.len()), 0xFF);
    thread_local!(static FILE: RefCell<Scratch> = RefCell::new(Scratch::new()));
    FILE.with_borrow_mut(|scratch| {
        scratch.write(&bytes);
        if let Ok(mut image) = Image::open(&scratch.0, Access::ReadOnly) {
            assert!(
                image.shape().file_bytes() <= bytes.len() as u64,
                "{:?} in {} bytes",
                image.shape(),
                bytes.len()
            );
            read_only(&mut image, &mut choices);
        }
    });
}

/// Damages the superblock at the beginning of `bytes`. Makes the checksum right again if the tag
/// lies behind the page.
fn patch(bytes: &mut [u8], shape: &Shape, choices: &mut Choices<'_>) {
    let page_bytes = SHAPES[0].geometry.page_bytes as usize;
    let before = crc(&bytes[..page_bytes]);
    for _ in 0..choices.below(8) {
        let at = usize::from(choices.word()) % 128;
        bytes[at] = choices.byte();
    }
    if let Shape::Nand { .. } = shape {
        let change = (before ^ crc(&bytes[..page_bytes])).to_le_bytes();
        let check = &mut bytes[page_bytes + 14..page_bytes + 18];
        check.iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
    }
}

/// Files with sound volumes.
static IMAGES: LazyLock<[(Shape, Vec<u8>); 2]> = LazyLock::new(|| {
    let nand = Shape::nand(SHAPES[0].geometry);
    let nor = Shape::Nor { page_bytes: 256, block_bytes: 4096, block_count: 32 };
    [nand, nor].map(|shape| {
        let scratch = Scratch::new();
        fs::remove_file(&scratch.0).expect("a file of its own");
        let image = Image::create(&scratch.0, &shape).expect("an image");
        let geometry: Geometry = steadyfs::media::Flash::geometry(&image);
        let config = SHAPES[0].config;
        let mut memory = vec![0; config.memory_bytes(&geometry)];
        let mut fs = steadyfs::FileSystem::format(image, &config, &mut memory)
            .and_then(|image| steadyfs::FileSystem::mount(image, Access::ReadWrite, &mut memory))
            .expect("a volume");
        fs.create_dir("d").expect("a directory");
        fs.unmount().expect("unmount");
        (shape, fs::read(&scratch.0).expect("its bytes"))
    })
});

/// A file that is removed when it is dropped, in memory if the host has `/dev/shm`.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let shared = PathBuf::from("/dev/shm");
        let directory = if shared.is_dir() { shared } else { std::env::temp_dir() };
        let path = directory.join(format!(
            "steadyfs-hostile-{}-{:?}.img",
            std::process::id(),
            std::thread::current().id()
        ));
        File::create(&path).expect("a file for an image");
        Self(path)
    }

    fn write(&mut self, bytes: &[u8]) {
        File::create(&self.0)
            .and_then(|mut file| file.write_all(bytes))
            .expect("a file for an image");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
