//! Paths of the inodes in findings, as far as directories can be listed.

use crate::image::Volume;
use crate::image::names::{join, printable};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use steadyfs::{Cursor, Finding, InodeNumber, Kind, ROOT};

/// Paths of the inodes that directories name.
pub(super) struct Paths(HashMap<InodeNumber, String>);

impl Paths {
    pub(super) fn none() -> Self {
        Self(HashMap::new())
    }

    /// Adds the paths that a volume has now, and keeps the paths that it had before. The list of
    /// a directory ends at the first entry that cannot be read. The check reports the reason.
    pub(super) fn look(&mut self, volume: &mut Volume<'_>) {
        let (most, mut now) = (volume.fs.config().files_max as usize, Self::none());
        now.0.insert(ROOT, String::new());
        let mut left = vec![ROOT];
        while let Some(directory) = left.pop() {
            let above = now.0[&directory].clone();
            let mut cursor = Cursor::default();
            while let Ok(Some(entry)) = volume.fs.list(directory, &mut cursor) {
                // A damaged volume may name more inodes than it holds, or a directory within
                // itself.
                if now.0.len() > most {
                    break;
                }
                let inode = entry.stat.inode;
                if let Entry::Vacant(place) = now.0.entry(inode) {
                    place.insert(join(&above, entry.name()));
                    left.extend((entry.stat.kind == Kind::Directory).then_some(inode));
                }
            }
        }
        for (inode, path) in now.0 {
            self.0.entry(inode).or_insert(path);
        }
    }

    /// Returns a finding as text, with the paths of the inodes that it names.
    pub(super) fn tell(&self, finding: &Finding) -> String {
        let text = finding.to_string();
        match *finding {
            Finding::UnreadablePage { inode, .. }
            | Finding::BadInode { inode }
            | Finding::LostExtension { inode }
            | Finding::Lost { inode }
            | Finding::UnmarkedInode { inode }
            | Finding::LeakedInode { inode }
            | Finding::SharedPage { inode, .. }
            | Finding::DirtyEnd { inode }
            | Finding::InDoubt { inode } => self.place(text, "inode", inode),
            Finding::BadEntry { directory, inode } => {
                self.place(self.place(text, "directory", directory), "inode", inode)
            }
            Finding::WrongCount { directory } => self.place(text, "directory", directory),
            _ => text,
        }
    }

    /// Returns the number of an inode, with its path.
    pub(super) fn named(&self, what: &str, inode: InodeNumber) -> String {
        self.place(format!("{what} {inode}"), what, inode)
    }

    /// Returns a text with the path behind the number of an inode.
    fn place(&self, text: String, what: &str, inode: InodeNumber) -> String {
        let Some(path) = self.0.get(&inode) else { return text };
        let named = format!("{what} {inode}");
        text.replacen(&named, &format!("{named} (/{})", printable(path)), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_the_files_that_have_a_path() {
        let paths = Paths(HashMap::from([
            (0, String::new()),
            (1, "big".to_string()),
            (12, "logs/a".to_string()),
        ]));
        let told = [
            (
                Finding::UnreadablePage { inode: 1, logical: 12 },
                "inode 1 (/big): logical page 12 cannot be read",
            ),
            (
                Finding::SharedPage { inode: 12, logical: 1 },
                "logical page 1 of inode 12 (/logs/a) belongs to another file as well",
            ),
            (
                Finding::UnreadablePage { inode: 3, logical: 1 },
                "inode 3: logical page 1 cannot be read",
            ),
            (
                Finding::WrongCount { directory: 0 },
                "directory 0 (/) has a wrong count of its entries",
            ),
        ];
        for (finding, text) in told {
            assert_eq!(paths.tell(&finding), text);
        }
        let entry = paths.tell(&Finding::BadEntry { directory: 0, inode: 12 });
        assert!(entry.starts_with("directory 0 (/) names inode 12 (/logs/a), which"), "{entry}");
    }
}
