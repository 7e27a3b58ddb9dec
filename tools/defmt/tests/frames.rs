//! Logs errors and plain types into RAM, and decodes the frames with the strings in this program,
//! as `probe-rs` does with the strings of a firmware.
//!
//! A frame starts with the index of its format string, then the arguments follow. An argument of a
//! type with `Format` starts with the index of its own string. The strings are names of symbols.

use std::sync::Mutex;
use steadyfs::media::{Failure, Geometry};
use steadyfs::{Access, Config, ConfigError, Cursor, Error, FileSystem, MountError, ROOT};
use steadyfs_drivers::adapters::embedded_io::StreamError;
use steadyfs_sim::{Nand, NandTiming};

/// The bytes of the frame in progress.
static FRAME: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Only one test may log at a time.
static TURN: Mutex<()> = Mutex::new(());

#[defmt::global_logger]
struct Ram;

// SAFETY: `logged` holds `TURN`, so only one thread logs.
unsafe impl defmt::Logger for Ram {
    fn acquire() {}

    unsafe fn flush() {}

    unsafe fn release() {}

    unsafe fn write(bytes: &[u8]) {
        FRAME.lock().expect("no other thread logs").extend(bytes);
    }
}

defmt::timestamp!("");

#[defmt::panic_handler]
fn panic() -> ! {
    panic!("defmt panicked")
}

/// Logs a value. Returns the bytes behind the indices of the frame's and of the value's string.
fn logged(value: impl defmt::Format) -> Vec<u8> {
    let _turn = TURN.lock().unwrap_or_else(|held| held.into_inner());
    FRAME.lock().expect("lock").clear();
    defmt::println!("{}", value);
    FRAME.lock().expect("lock").split_off(4)
}

/// Returns true if a symbol of this program is this format string.
fn has_string(text: &str) -> bool {
    let program = std::fs::read(std::env::current_exe().expect("this program")).expect("its bytes");
    let symbol = format!("\"data\":{text:?}");
    program.windows(symbol.len()).any(|bytes| bytes == symbol.as_bytes())
}

/// Returns the variants of an enum in the order of their numbers in a frame. `first` are the first
/// names.
fn variants(first: &str) -> Vec<String> {
    let program = std::fs::read(std::env::current_exe().expect("this program")).expect("its bytes");
    let start = format!("\"data\":\"{first}");
    let at = program
        .windows(start.len())
        .position(|bytes| bytes == start.as_bytes())
        .unwrap_or_else(|| panic!("no format string begins with {first}"));
    let text = &program[at + "\"data\":\"".len()..];
    let end = text.iter().position(|&byte| byte == b'"').expect("the end of the string");
    let text = std::str::from_utf8(&text[..end]).expect("UTF-8");
    text.split('|').map(str::to_owned).collect()
}

#[test]
fn errors_are_one_byte_that_names_the_variant() {
    let names = variants("Device|MediaFailing|Corrupt");
    for error in [Error::Device, Error::Corrupt, Error::NoSpace, Error::Unsupported] {
        let bytes = logged(error);
        assert_eq!(bytes.len(), 1, "{error:?}");
        assert_eq!(names[usize::from(bytes[0])], format!("{error:?}"));
    }
    let names = variants("PageBytes|Blocks|UnitPages");
    let bytes = logged(ConfigError::NoGain);
    assert_eq!((bytes.len(), &*names[usize::from(bytes[0])]), (1, "NoGain"));
    let names = variants("Uncorrectable|BadBlock");
    assert_eq!(names[usize::from(logged(Failure::Device)[0])], "Device");
}

#[test]
fn errors_of_mounts_have_their_numbers() {
    let names = variants("NotFormatted|Version {{ on_flash: {=u16:?} }}");
    let bytes = logged(MountError::Version { on_flash: 0x1234 });
    assert_eq!(names[usize::from(bytes[0])], "Version {{ on_flash: {=u16:?} }}");
    assert_eq!(bytes[1..], [0x34, 0x12]);
    // The inner error has a string of its own.
    let bytes = logged(MountError::Volume(Error::Corrupt));
    assert_eq!(names[usize::from(bytes[0])], "Volume({=?})");
    assert_eq!((bytes.len(), bytes[3]), (4, logged(Error::Corrupt)[0]));
    let inner = logged(StreamError::FileSystem(Error::NoSpace));
    assert_eq!(inner[3], logged(Error::NoSpace)[0]);
}

/// Types of each module can be logged: this compiles.
#[test]
fn plain_types_of_a_volume_can_be_logged() {
    const GEOMETRY: Geometry =
        Geometry { page_bytes: 512, pages_per_block: 16, block_count: 48, programs_bytes: false };
    let config = Config::for_geometry(&GEOMETRY);
    let mut memory = vec![0; config.memory_bytes(&GEOMETRY)];
    let chip = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    let chip = FileSystem::format(chip, &config, &mut memory).expect("format");
    let mut fs = FileSystem::mount(chip, Access::ReadWrite, &mut memory).expect("mount");
    fs.create_dir("logs").expect("a directory");

    let mut expected = Vec::new();
    expected.extend(512u32.to_le_bytes());
    expected.extend(16u32.to_le_bytes());
    expected.extend(48u32.to_le_bytes());
    expected.push(0);
    assert_eq!(logged(GEOMETRY), expected, "geometry");
    assert!(has_string(
        "Geometry {{ page_bytes: {=u32:?}, pages_per_block: {=u32:?}, block_count: {=u32:?}, \
         programs_bytes: {=bool:?} }}"
    ));

    // An entry has another index, then its name as text: 4 bytes of length, then the bytes.
    let entry = fs.list(ROOT, &mut Cursor::default()).expect("list").expect("an entry");
    let bytes = logged(entry);
    assert_eq!(bytes[2..10], *b"\x04\0\0\0logs");
    assert!(has_string("{=str}: {}"));

    assert!(!logged(fs.usage()).is_empty());
    assert!(!logged(fs.health()).is_empty());
    assert!(!logged(fs.describe()).is_empty());
    assert!(!logged(fs.bounds().mount()).is_empty());
    assert!(!logged(config).is_empty());
}
