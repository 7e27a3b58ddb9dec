//! The report of a repair: the inodes that its findings name.

use std::collections::BTreeSet;

use steadyfs::{Finding, InodeNumber};

/// The findings of a repair.
#[derive(Default)]
pub struct Report {
    /// Inodes that findings name.
    pub named: BTreeSet<InodeNumber>,
    /// Inodes that may be in an earlier state.
    pub doubted: BTreeSet<InodeNumber>,
    /// True if the report warns that files without a name may be missing.
    pub names_may_miss: bool,
    /// All findings, in words.
    pub findings: Vec<String>,
}

impl Report {
    /// Adds a finding.
    pub fn note(&mut self, finding: Finding) {
        self.findings.push(finding.to_string());
        match finding {
            Finding::UnreadablePage { inode, .. }
            | Finding::BadInode { inode }
            | Finding::LostExtension { inode }
            | Finding::Lost { inode }
            | Finding::LeakedInode { inode }
            | Finding::SharedPage { inode, .. }
            | Finding::DirtyEnd { inode } => drop(self.named.insert(inode)),
            Finding::LostChanges { .. } => self.names_may_miss = true,
            Finding::InDoubt { inode } => drop(self.doubted.insert(inode)),
            Finding::BadEntry { directory, inode } => self.named.extend([directory, inode]),
            _ => {}
        }
    }
}
