//! The rules of sealed roots, each of which can be taken away.

/// A rule of the protocol, in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A root counts only if a readable page that was programmed after it names it: a seal, or a record of the log.
    Seal,
    /// A root that is named by its first seal alone counts only if all that it needs of the ring can be read.
    Firm,
    /// A root counts only if each of its pages can be read.
    Whole,
    /// A mount erases neither its base nor the newest root that is certain.
    Keep,
    /// A mount does not erase the newest root that two readable pages name.
    Two,
    /// A mount does not erase a closed root with a larger number than its base.
    KeepClosed,
    /// Where no root is certain, the oldest that counts is kept in its place.
    Fallback,
    /// A mount's number is larger than all that it can read, also of roots that do not count.
    Outrank,
    /// A mount's number exceeds all that it can read by more than what programs that failed may have used up.
    Jump,
    /// A root's number, modulo the length of the ring, is its block.
    Number,
    /// What older roots need is destroyed only after two records that name the newer one were completed in this power cycle.
    Twice,
    /// The next root is written only after two records that name this one.
    Spaced,
    /// A mount seals its own root twice before it programs anything outside the ring.
    First,
    /// A mount that found changes, and on NAND the first change after a clean mount, erases a ring block and writes a root there.
    Erase,
    /// The log goes on one place beyond the last record of each head that may have been in use.
    Skip,
    /// The first record after a mount is a journal record, so that the other heads were not in use where there is none.
    JournalFirst,
    /// A mount lets nobody see what it found before its own root is sealed twice.
    Settle,
    /// A root counts, whichever readable seal or record names it.
    AnyName,
    /// The seals of a mount's root, and of a closed one, are copies of it.
    Copy,
    /// If records or seals name a root that can be read nowhere, the mount does not go on as if nothing had been.
    Named,
    /// What the root before the newest certain one needs is kept as well, so that a mount can pass over one that is lost.
    History,
    /// A damaged record with a good one behind it, or with another damaged one, is a lost record: told.
    Gap,
    /// What the last record holds is copied into the ring by the mount that finds it.
    Rescue,
    /// What an earlier mount copied is copied along until it is rewritten.
    Carry,
    /// A root names copies in its own ring block only: the one that begins a block copies along what is not rewritten yet.
    OwnBlock,
    /// A ring block in which a program or its erase failed is not erased again in the same power cycle.
    FailedBlock,
    /// A page that reads as damaged is read three times.
    ThreeReads,
    /// On NOR, the mark is programmed before anything else of the first change.
    Mark,
    /// On NOR, a closed root is opened by the mark only if nothing in the ring has a larger number or is damaged.
    Largest,
    /// A closed root is not certain because of what lies behind its seal.
    MarkIsNoProof,
    /// A mount's sequence jumps, so that no number is used twice.
    Sequence,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 31] = [
        Rule::Seal,
        Rule::Firm,
        Rule::Whole,
        Rule::Keep,
        Rule::Two,
        Rule::KeepClosed,
        Rule::Fallback,
        Rule::Outrank,
        Rule::Jump,
        Rule::Number,
        Rule::Twice,
        Rule::Spaced,
        Rule::First,
        Rule::Erase,
        Rule::Skip,
        Rule::JournalFirst,
        Rule::Settle,
        Rule::AnyName,
        Rule::Copy,
        Rule::Named,
        Rule::History,
        Rule::Gap,
        Rule::Rescue,
        Rule::Carry,
        Rule::OwnBlock,
        Rule::FailedBlock,
        Rule::ThreeReads,
        Rule::Mark,
        Rule::Largest,
        Rule::MarkIsNoProof,
        Rule::Sequence,
    ];
}
