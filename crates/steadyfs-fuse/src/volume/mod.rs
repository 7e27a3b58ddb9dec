//! What each request of the kernel does to the volume.
//!
//! | file | idea |
//! |---|---|
//! | [`changes`] | calls that change the volume, and what their failure undoes |
//! | [`nodes`] | numbers, generations and links, as the kernel knows them |
//! | [`handles`] | open files |
//! | [`names`] | look-up, creation, removal, renaming |
//! | [`files`] | reading, writing, cutting, keeping room |
//! | [`listing`] | directories, read from any offset |
//! | [`attributes`] | `stat`, `setattr`, `statfs`, extended attributes |
//!
//! Nothing here knows of replies: each function returns what the kernel is to be told.

mod attributes;
mod changes;
mod files;
mod handles;
mod listing;
mod names;
mod nodes;

pub(crate) use attributes::Set;
pub(crate) use listing::Listed;
pub(crate) use nodes::Node;

use changes::Changes;
use handles::Handles;
use nodes::Nodes;
use std::time::{Duration, Instant};
use steadyfs::media::Flash;
use steadyfs::{CommitOn, FileSystem};

/// A volume that serves the kernel.
pub(crate) struct Volume<'v, 'm, F> {
    changes: Changes<'v, 'm, F>,
    handles: Handles,
    nodes: Nodes,
    /// When the oldest change was made that waits for a timed commit. The time of the system's clock is no measure: someone may set it
    /// back.
    waits_since: Option<Instant>,
    commit_interval: Duration,
}

impl<'v, 'm, F: Flash> Volume<'v, 'm, F> {
    pub fn new(fs: &'v mut FileSystem<'m, F>, commit_interval: Duration) -> Self {
        Self { changes: Changes::new(fs), handles: Handles::default(), nodes: Nodes::new(), waits_since: None, commit_interval }
    }

    /// Makes the timed commit if it is due; returns how long it may wait, if anything does.
    pub fn tick(&mut self) -> Option<Duration> {
        let fs = self.changes.fs();
        if !fs.commit_on().contains(CommitOn::TIMED) || !fs.has_changes() {
            self.waits_since = None;
            return None;
        }
        let left = self.commit_interval.saturating_sub(self.waits_since.get_or_insert_with(Instant::now).elapsed());
        if !left.is_zero() {
            return Some(left);
        }
        // What cannot be committed now is tried again; the next fsync tells of it.
        let _ = self.changes.commit();
        self.waits_since = None;
        self.changes.fs().has_changes().then_some(self.commit_interval)
    }

    /// Closes what the kernel did not: it gives up open files when it is told to unmount at once.
    pub fn close_all(&mut self) {
        for handle in self.handles.take_all() {
            let _ = self.changes.make(|fs| fs.close(handle.file));
        }
    }
}
