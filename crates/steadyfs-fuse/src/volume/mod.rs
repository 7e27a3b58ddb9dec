//! The effect of each request of the kernel on the volume.
//!
//! | file | idea |
//! |---|---|
//! | [`changes`] | calls that change the volume, and their failures |
//! | [`nodes`] | the kernel's numbers, generations and links |
//! | [`handles`] | open files |
//! | [`names`] | look-up, creation, removal, renaming |
//! | [`files`] | reading, writing, truncating, reserving room |
//! | [`listing`] | directories, read from any offset |
//! | [`attributes`] | `stat`, `setattr`, `statfs`, extended attributes |
//! | [`permissions`] | mode, owner and group |
//! | [`links`] | symbolic links |
//!
//! No function here handles replies: each one returns the content of the reply.

mod attributes;
mod changes;
mod files;
mod handles;
mod links;
mod listing;
mod names;
mod nodes;
mod permissions;
#[cfg(test)]
mod tests;

pub(crate) use attributes::Set;
pub(crate) use changes::Changes;
pub(crate) use listing::Listed;
pub(crate) use nodes::Node;
pub(crate) use permissions::{Change, Creator};

use crate::mount::Kept;
use crate::opened::Recorder;
use crate::options::Options;
use crate::upkeep::Timer;
use handles::Handles;
use nodes::Nodes;
use steadyfs::FileSystem;
use steadyfs::media::Flash;
use steadyfs_host::plain::Packing;

/// A volume that serves the kernel.
pub(crate) struct Volume<'v, 'm, F> {
    changes: Changes<'v, 'm, F>,
    handles: Handles,
    nodes: Nodes,
    timer: Timer,
    recorder: Option<Recorder>,
    /// Compression of files whose directory has no rule.
    usual_packing: Option<Packing>,
    /// True if setting permissions that the volume does not store returns no error.
    quiet_permissions: bool,
}

impl<'v, 'm, F: Flash> Volume<'v, 'm, F> {
    pub fn new(fs: &'v mut FileSystem<'m, F>, options: &Options) -> Self {
        Self {
            changes: Changes::new(fs),
            handles: Handles::default(),
            nodes: Nodes::new(),
            timer: Timer::new(options.commit_interval),
            recorder: options.opened.clone().map(Recorder::new),
            usual_packing: options.compress,
            quiet_permissions: options.quiet_permissions,
        }
    }
}

impl<'v, 'm, F: Flash> Kept for Volume<'v, 'm, F> {
    type Store = Changes<'v, 'm, F>;

    fn upkeep(&mut self) -> (&mut Timer, &mut Self::Store) {
        (&mut self.timer, &mut self.changes)
    }

    fn close_all(&mut self) {
        for handle in self.handles.take_all() {
            let _ = self.changes.make(|fs| Ok(handle.file.close(fs)?));
        }
    }
}
