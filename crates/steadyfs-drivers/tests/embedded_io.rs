//! Open files through the traits of `embedded_io` and `embedded_io_async`.
#![cfg(feature = "embedded-io")]

use embedded_io::{Error as _, ErrorKind, Read, Seek, SeekFrom, Write};
use steadyfs::media::Geometry;
use steadyfs::{Access, CommitOn, Config, Error, FileSystem, OpenOptions};
use steadyfs_drivers::adapters::embedded_io::{FileStream, StreamError};
use steadyfs_sim::{Nand, NandTiming};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 512, pages_per_block: 16, block_count: 48, programs_bytes: false };
const CONFIG: Config = Config::for_geometry(&GEOMETRY);

type Fs<'m> = FileSystem<'m, Nand>;

fn memory() -> Vec<u8> {
    vec![0; CONFIG.memory_bytes(&GEOMETRY)]
}

fn fresh(memory: &mut [u8]) -> Fs<'_> {
    let chip = Nand::with_geometry(GEOMETRY, NandTiming::ROUND, 1);
    let chip = FileSystem::format(chip, &CONFIG, memory).expect("format");
    FileSystem::mount(chip, Access::ReadWrite, memory).expect("mount")
}

/// Bytes of which each depends on its offset.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 256) as u8).collect()
}

/// Copies between any reader and writer, as a program that does not depend on SteadyFS.
fn copy(from: &mut impl Read, to: &mut impl Write, piece: usize) -> usize {
    let (mut buffer, mut copied) = (vec![0; piece], 0);
    loop {
        let count = from.read(&mut buffer).expect("read");
        if count == 0 {
            return copied;
        }
        to.write_all(&buffer[..count]).expect("write");
        copied += count;
    }
}

#[test]
fn bytes_go_through_generic_code_and_come_back() {
    let mut memory = memory();
    let mut fs = fresh(&mut memory);
    let data = content(5000);
    for piece in [1, 13, 512, 4096] {
        let mut file = fs.open("data", OpenOptions::CREATE).expect("open");
        let mut stream = FileStream::new(&mut fs, &mut file);
        assert_eq!(copy(&mut &data[..], &mut stream, piece), data.len());
        assert_eq!(stream.position(), data.len() as u64);
        stream.flush().expect("flush");

        stream.rewind().expect("rewind");
        let mut found = vec![0; data.len()];
        stream.read_exact(&mut found).expect("read");
        assert_eq!(found, data, "in pieces of {piece}");
        assert_eq!(stream.read(&mut found), Ok(0), "at the end");
        assert_eq!(stream.write(&[]), Ok(0));
        fs.close(file).expect("close");
    }
}

#[test]
fn seeks_go_anywhere_but_before_the_beginning() {
    let mut memory = memory();
    let mut fs = fresh(&mut memory);
    let mut file = fs.open("data", OpenOptions::CREATE).expect("open");
    let mut stream = FileStream::new(&mut fs, &mut file);
    stream.write_all(b"0123456789").expect("write");
    assert_eq!(stream.seek(SeekFrom::End(-4)), Ok(6));
    assert_eq!(stream.seek(SeekFrom::Current(-2)), Ok(4));
    let mut byte = [0];
    stream.read_exact(&mut byte).expect("read");
    assert_eq!((byte, stream.stream_position()), (*b"4", Ok(5)));

    for outside in [
        SeekFrom::Current(-6),
        SeekFrom::End(-11),
        SeekFrom::Current(i64::MIN),
        SeekFrom::End(i64::MIN),
    ] {
        let error = stream.seek(outside).expect_err("before the beginning");
        assert_eq!((error, error.kind()), (StreamError::Position, ErrorKind::InvalidInput));
        assert_eq!(stream.position(), 5, "unchanged");
    }
    assert_eq!(stream.seek(SeekFrom::Start(u64::MAX)), Ok(u64::MAX));
    assert_eq!(stream.seek(SeekFrom::Current(1)), Err(StreamError::Position));
    assert_eq!(stream.read(&mut byte), Ok(0), "far behind the end");
    let error = stream.write(b"x").expect_err("behind the largest file");
    assert_eq!(error, StreamError::FileSystem(Error::FileTooLarge));
    assert_eq!(error.kind(), ErrorKind::InvalidInput);

    // A write behind the end leaves a gap of zeros.
    assert_eq!(stream.seek(SeekFrom::End(5)), Ok(15));
    stream.write_all(b"x").expect("write");
    stream.rewind().expect("rewind");
    let mut found = [1; 16];
    stream.read_exact(&mut found).expect("read");
    assert_eq!(&found, b"0123456789\0\0\0\0\0x");
    let past_end = stream.read_exact(&mut found);
    assert_eq!(past_end, Err(embedded_io::ReadExactError::UnexpectedEof));
    fs.close(file).expect("close");
}

#[test]
fn files_for_appending_are_written_at_their_end() {
    let mut memory = memory();
    let mut fs = fresh(&mut memory);
    let options = OpenOptions { append: true, create: true, ..OpenOptions::READ };
    for round in 1..=3 {
        let mut file = fs.open("log", options).expect("open");
        let mut stream = FileStream::new(&mut fs, &mut file);
        writeln!(stream, "round {round}").expect("write");
        assert_eq!(stream.position(), 8 * round);
        assert_eq!(stream.read(&mut [0; 4]), Ok(0), "the position is behind the new bytes");
        fs.close(file).expect("close");
    }
    let mut file = fs.open("log", OpenOptions::READ).expect("open");
    let mut stream = FileStream::new(&mut fs, &mut file);
    let mut text = [0; 24];
    stream.read_exact(&mut text).expect("read");
    assert_eq!(&text, b"round 1\nround 2\nround 3\n");
    fs.close(file).expect("close");
}

/// The power fails after each write. A flush keeps it, and nothing else does.
#[test]
fn flush_makes_writes_durable() {
    let mut memory = memory();
    let mut chip = fresh(&mut memory).unmount().expect("unmount");
    for flushes in [false, true] {
        let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
        let mut file = fs.open("data", OpenOptions::CREATE).expect("open");
        let mut stream = FileStream::new(&mut fs, &mut file);
        stream.write_all(b"kept").expect("write");
        if flushes {
            stream.flush().expect("flush");
        }
        // Without an unmount, as after a power cut.
        let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
        assert_eq!(fs.stat("data").map(|found| found.size).ok(), flushes.then_some(4));
    }
    // The caller commits.
    let mut fs = FileSystem::mount(&mut chip, Access::ReadWrite, &mut memory).expect("mount");
    fs.set_commit_on(CommitOn::MANUAL);
    let mut file = fs.open("data", OpenOptions::WRITE).expect("open");
    let mut stream = FileStream::new(&mut fs, &mut file);
    stream.write_all(b"lost").expect("write");
    stream.flush().expect("flush");
    let mut fs = FileSystem::mount(&mut chip, Access::ReadOnly, &mut memory).expect("mount");
    let mut file = fs.open("data", OpenOptions::READ).expect("open");
    let mut found = [0; 4];
    FileStream::new(&mut fs, &mut file).read_exact(&mut found).expect("read");
    assert_eq!(&found, b"kept");
}

#[test]
fn errors_have_the_kinds_of_embedded_io() {
    let mut memory = memory();
    let mut fs = fresh(&mut memory);
    let mut file = fs.open("data", OpenOptions::CREATE).expect("open");
    let mut stream = FileStream::new(&mut fs, &mut file);
    let full = loop {
        if let Err(error) = stream.write(&[7; 512]) {
            break error;
        }
    };
    assert_eq!((full, full.kind()), (Error::NoSpace.into(), ErrorKind::OutOfMemory));
    assert_eq!(full.to_string(), Error::NoSpace.to_string());
    let written = stream.position();
    assert_eq!(stream.seek(SeekFrom::End(0)), Ok(written), "the failed write is not counted");
    fs.close(file).expect("close");

    let mut file = fs.open("data", OpenOptions::READ).expect("open");
    let error = FileStream::new(&mut fs, &mut file).write(b"x").expect_err("not writable");
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    fs.close(file).expect("close");

    let options = OpenOptions { append: true, ..OpenOptions::default() };
    let mut file = fs.open("data", options).expect("open");
    let error = FileStream::new(&mut fs, &mut file).read(&mut [0]).expect_err("not readable");
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    fs.close(file).expect("close");
}

/// The futures are ready at once, also for code that is generic over the asynchronous traits.
#[test]
fn asynchronous_traits_do_the_same() {
    use embedded_io_async::{Read as ReadAsync, Seek as SeekAsync, Write as WriteAsync};

    async fn exchange<S: ReadAsync + WriteAsync + SeekAsync>(stream: &mut S) -> Vec<u8> {
        WriteAsync::write_all(stream, b"21.5 degrees").await.expect("write");
        WriteAsync::flush(stream).await.expect("flush");
        assert_eq!(SeekAsync::seek(stream, SeekFrom::Start(5)).await.expect("seek"), 5);
        let mut found = vec![0; 7];
        assert!(ReadAsync::read_exact(stream, &mut found).await.is_ok());
        found
    }

    let mut memory = memory();
    let mut fs = fresh(&mut memory);
    let mut file = fs.open("data", OpenOptions::CREATE).expect("open");
    let found = embassy_futures::poll_once(exchange(&mut FileStream::new(&mut fs, &mut file)));
    assert_eq!(found, core::task::Poll::Ready(b"degrees".to_vec()));
    fs.close(file).expect("close");
}
