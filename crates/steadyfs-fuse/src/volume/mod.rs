//! What each request of the kernel does to the volume.
//!
//! | file | idea |
//! |---|---|
//! | [`changes`] | calls that change the volume, and how they fail |
//! | [`nodes`] | numbers, generations and links, as the kernel knows them |
//! | [`handles`] | open files |
//! | [`names`] | look-up, creation, removal, renaming |
//! | [`files`] | reading, writing, cutting, keeping room |
//! | [`listing`] | directories, read from any offset |
//! | [`attributes`] | `stat`, `setattr`, `statfs`, extended attributes |
//! | [`timer`] | what happens without a request |
//! | [`scrub`] | data at rest is looked at |
//!
//! Nothing here knows of replies: each function returns what the kernel is to be told.

mod attributes;
mod changes;
mod files;
mod handles;
mod listing;
mod names;
mod nodes;
mod scrub;
#[cfg(test)]
mod tests;
mod timer;

pub(crate) use attributes::Set;
pub(crate) use listing::Listed;
pub(crate) use nodes::Node;

use changes::Changes;
use handles::Handles;
use nodes::Nodes;
use scrub::Scrub;
use std::time::{Duration, Instant};
use steadyfs::FileSystem;
use steadyfs::media::Flash;
use timer::Timer;

/// A volume that serves the kernel.
pub(crate) struct Volume<'v, 'm, F> {
    changes: Changes<'v, 'm, F>,
    handles: Handles,
    nodes: Nodes,
    timer: Timer,
    scrub: Scrub,
}

impl<'v, 'm, F: Flash> Volume<'v, 'm, F> {
    pub fn new(fs: &'v mut FileSystem<'m, F>, commit_interval: Duration) -> Self {
        Self {
            changes: Changes::new(fs),
            handles: Handles::default(),
            nodes: Nodes::new(),
            timer: Timer::new(commit_interval),
            scrub: Scrub::new(Instant::now()),
        }
    }

    /// Closes what the kernel did not: it gives up open files when it is told to unmount at once.
    pub fn close_all(&mut self) {
        for handle in self.handles.take_all() {
            let _ = self.changes.make(|fs| fs.close(handle.file));
        }
    }
}
