//! Steps of a workload, and random workloads from a seed.

use steadyfs::CommitOn;

use super::Rng;

/// A name in a directory. Both are numbers, so that a step means the same on every volume. For
/// names see [`name`], and for directories [`Session::path`](super::oracle::Session::path).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub directory: u8,
    pub name: u16,
}

/// One step of a workload.
#[derive(Clone, Debug)]
pub enum Op {
    /// Opens a file with a further handle, and creates it if needed.
    Open {
        at: At,
        durable: bool,
    },
    Write {
        at: At,
        offset: u64,
        bytes: usize,
        durable: bool,
    },
    Append {
        at: At,
        bytes: usize,
        durable: bool,
    },
    Truncate {
        at: At,
        size: u64,
        durable: bool,
    },
    Reserve {
        at: At,
        size: u64,
        durable: bool,
    },
    Read {
        at: At,
        offset: u64,
        bytes: usize,
    },
    /// Writes through the handle of a removed file.
    WriteRemoved {
        offset: u64,
        bytes: usize,
    },
    /// Cuts or extends a removed file.
    TruncateRemoved {
        size: u64,
    },
    Close {
        handle: u16,
    },
    CreateDir {
        at: At,
    },
    Symlink {
        at: At,
        bytes: u8,
    },
    Remove {
        at: At,
    },
    RemoveDir {
        at: At,
    },
    Rename {
        from: At,
        to: At,
    },
    SetAttribute {
        at: At,
        key: u8,
        bytes: Option<u8>,
    },
    SetPermissions {
        at: At,
        mode: u16,
    },
    Stat {
        at: At,
    },
    /// Continues the listing in progress, or starts one.
    List {
        directory: u8,
        count: u8,
    },
    Commit,
    Sync,
    Flush,
    Poll,
    /// Idle work of at most `operations` operations.
    Maintain {
        operations: u32,
        burst: u64,
    },
    Rollback,
    Events {
        events: CommitOn,
    },
    /// Lets time pass.
    Wait {
        ns: u32,
    },
    /// Unmount and mount.
    Remount,
    /// Mount without an unmount before.
    Crash,
}

/// Sizes from which steps are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of names in a directory.
    pub files: u16,
    /// Limit of the offsets of writes, and of the sizes after cuts.
    pub span: u64,
    pub logical_bytes: u64,
}

/// Random numbers of a step. Smaller numbers make simpler steps.
pub type Raw = (u8, u16, u32, u32);

/// Events from which a workload chooses.
pub const EVENTS: [CommitOn; 9] = [
    EXPLICIT,
    CommitOn::ON_SYNC,
    CommitOn::MANUAL,
    CommitOn::EVERY_WRITE,
    CommitOn::ON_CLOSE,
    CommitOn::TIMED_AND_ON_SYNC,
    CommitOn::FULL.with(CommitOn::RENAME).with(CommitOn::MKDIR),
    CommitOn::UNMOUNT.with(CommitOn::CREATE).with(CommitOn::REMOVE).with(CommitOn::TRUNCATE),
    CommitOn::IN_GROUPS,
];

/// Commits only on request. A transaction that grows too large is refused.
pub const EXPLICIT: CommitOn = CommitOn::ON_SYNC.without(CommitOn::FULL);

impl Op {
    /// Makes a step from random numbers.
    pub fn decode((kind, flags, a, b): Raw, limits: &Limits) -> Self {
        let at = At { directory: (flags >> 8) as u8 & 15, name: flags % 251 % limits.files };
        let durable = flags >> 14 == 3;
        let (place, size) = (u64::from(a) % limits.span, u64::from(b));
        let (offset, bytes) = match b % 4 {
            0 => (place / limits.logical_bytes * limits.logical_bytes, limits.logical_bytes),
            1 => (place, 1 + size / 4 % 60),
            _ => (place, 1 + size / 4 % (3 * limits.logical_bytes)),
        };
        let bytes = bytes as usize;
        let other = At { directory: a as u8 & 15, name: (a >> 8) as u16 % limits.files };
        match kind % 64 {
            0..=3 => Op::Commit,
            4..=5 => Op::Sync,
            6..=16 => Op::Write { at, offset, bytes, durable },
            17..=22 => Op::Append { at, bytes, durable },
            23..=24 => Op::Open { at, durable },
            25..=27 => Op::Truncate { at, size: place, durable },
            28..=31 => Op::Remove { at },
            32..=34 => Op::Read { at, offset, bytes },
            35 => Op::Stat { at },
            36..=37 => Op::List { directory: at.directory, count: b as u8 },
            38..=39 => Op::Rollback,
            40 => Op::Remount,
            41 => Op::Crash,
            42 => Op::CreateDir { at },
            43 if b % 2 == 0 => Op::CreateDir { at },
            43 => Op::Symlink { at, bytes: (b >> 8) as u8 },
            44 => Op::RemoveDir { at },
            45..=49 => Op::Rename { from: at, to: other },
            50 if b % 2 == 0 => Op::SetPermissions { at, mode: a as u16 & 0o7777 },
            50..=52 => Op::SetAttribute {
                at,
                key: a as u8 % 4,
                bytes: (b % 3 > 0).then_some((b >> 8) as u8 % 120),
            },
            53..=54 => Op::WriteRemoved { offset, bytes },
            55 => Op::TruncateRemoved { size: place },
            56..=58 => Op::Close { handle: flags },
            59 => Op::Reserve { at, size: place, durable },
            60 => Op::Flush,
            61 if b % 2 == 0 => Op::Poll,
            61 => Op::Maintain { operations: b % 300, burst: place },
            62 => Op::Wait { ns: a % 2_000_000_000 },
            _ => Op::Events { events: EVENTS[a as usize % EVENTS.len()] },
        }
    }

    /// Draws a step.
    pub fn random(rng: &mut Rng, limits: &Limits) -> Self {
        let (x, y) = (rng.next(), rng.next());
        Self::decode((x as u8, (x >> 8) as u16, (x >> 32) as u32, y as u32), limits)
    }
}

/// Returns a random workload from a seed.
pub fn random_steps(seed: u64, count: usize, limits: Limits) -> impl Iterator<Item = Op> {
    let mut rng = Rng(seed ^ 0x5EED);
    (0..count).map(move |_| Op::random(&mut rng, &limits))
}

/// Returns transactions that write one page first, and then others again and again. The block of
/// the first page is soon the emptiest, so pages that wait for a commit are moved.
pub fn long_transactions(seed: u64, count: usize, limits: Limits) -> impl Iterator<Item = Op> {
    let mut rng = Rng(seed ^ 0x10_4E);
    let bytes = limits.logical_bytes as usize;
    let at = At { directory: 0, name: 1 };
    (0..count).map(move |step| match step % 40 {
        0 => Op::Write { at, offset: 0, bytes: 4 * bytes, durable: true },
        39 if rng.one_in(2) => Op::Rollback,
        39 => Op::Commit,
        // Every frame but one of a block dies at once.
        n => Op::Write {
            at,
            offset: if n % 13 == 1 { n as u64 / 13 } else { 3 } * limits.logical_bytes,
            bytes,
            durable: false,
        },
    })
}

/// Returns durable writes of pages anywhere in the files at rest, with a small change now and then.
/// Each is a commit of its own. Blocks never become empty by themselves.
pub fn overwrites(seed: u64, count: usize, limits: Limits) -> impl Iterator<Item = Op> {
    let mut rng = Rng(seed ^ 0x0E_44);
    (0..count).map(move |_| {
        let (at, offset) = (
            At { directory: 0, name: AT_REST + rng.below(4) as u16 },
            rng.below(PAGES_AT_REST) * limits.logical_bytes,
        );
        let bytes = if rng.one_in(8) { 30 } else { limits.logical_bytes as usize };
        Op::Write { at, offset, bytes, durable: true }
    })
}

/// Returns changes of names all over a few directories, with little data. Names come, go and
/// change, so records move within and between directories.
pub fn name_changes(seed: u64, count: usize, limits: Limits) -> impl Iterator<Item = Op> {
    let mut rng = Rng(seed ^ 0x7A3E);
    (0..count).map(move |_| {
        let mut at = || At {
            directory: rng.below(6) as u8,
            name: rng.below(u64::from(limits.files)) as u16,
        };
        let (from, to) = (at(), at());
        match rng.below(16) {
            0..=3 => Op::Rename { from, to },
            4..=5 => Op::CreateDir { at: from },
            6 => Op::RemoveDir { at: from },
            7..=9 => Op::Append { at: from, bytes: 1 + rng.below(200) as usize, durable: false },
            10..=11 => Op::Remove { at: from },
            12 => Op::Close { handle: rng.next() as u16 },
            13 => Op::SetAttribute { at: from, key: 0, bytes: Some(rng.below(90) as u8) },
            14 => Op::List { directory: from.directory, count: 5 },
            _ => Op::Commit,
        }
    })
}

/// First number of the files that [`fill`](super::oracle::fill) makes.
pub const AT_REST: u16 = 60_000;
/// Logical pages of each of these files, except the last.
pub const PAGES_AT_REST: u64 = 50;

/// Returns a name of a workload. A name is short, as long as an inode holds (with room for
/// permissions or without), one byte longer, or as long as a name may be.
pub fn name(number: u16) -> String {
    match number % 8 {
        _ if number >= AT_REST => format!("rest{}", number - AT_REST),
        2 if number % 16 == 2 => format!("{number:052}"),
        2 => format!("{number:064}"),
        4 if number % 16 == 4 => format!("{number:053}"),
        4 => format!("{number:065}"),
        5 => format!("Größe {number}"),
        7 => format!("{number:0255}"),
        _ => format!("f{number}"),
    }
}
