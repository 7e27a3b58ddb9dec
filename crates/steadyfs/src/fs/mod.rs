//! Files and directories on the store.
//!
//! [`FileSystem`] executes calls. Its state is divided into rooms. Each room owns its state. A call
//! of a room gets the volume as an argument, but no other room:
//! | room | owns |
//! |---|---|
//! | [`volume`] | the store, and the record of pages and inodes in use |
//! | [`directories`] | the directory that was used last |
//! | [`open_table`] | the open files |
//! | [`lists`] | removed files that are being freed, and removed files that are open |
//! | [`commits`] | the rules for commits that the caller does not request |
//!
//! | file | idea |
//! |---|---|
//! | [`inode`] | the inode's bytes |
//! | [`path`] | names joined by `/` |
//! | [`handle`], [`stat`] | an open file; the metadata of a file |
//! | [`call`] | the calls that have a worst case, and the changes of each |
//! | [`filesystem`] | the executor: mount, queries, unmount |
//! | [`transaction`] | calls that change something: first steps, commit, undo |
//! | [`names`] | create, remove, rename, list |
//! | [`open`] | open and close |
//! | [`file`] | reading and writing at an offset |
//! | [`extents`] | the parts of a file that take room |
//! | [`attributes`] | key–value pairs of a file |
//! | [`permissions`] | mode, owner and group |
//! | [`symlink`] | symbolic links |
//! | [`check`] | verifying and mending a whole volume |
//! | [`reader`] | reading only |
//! | [`maintain`] | the work of later calls, in idle time |
//! | [`bounds`], [`sequences`] | the worst case of each call; the worst case of calls in a row |
//! | [`room`] | the room that is left in the open transaction |
//! | [`needs`] | the RAM and the capacity of a volume with given settings |

mod attributes;
mod bounds;
mod call;
mod check;
mod clean_reader;
mod commits;
mod directories;
mod extents;
mod file;
mod filesystem;
mod handle;
mod inode;
mod lists;
mod maintain;
mod names;
mod needs;
mod open;
mod open_table;
mod path;
mod permissions;
mod reader;
mod room;
mod sequences;
mod stat;
mod symlink;
mod transaction;
mod volume;

pub use bounds::CallBounds;
pub use call::Call;
pub use check::{CheckReport, Finding, Repairs};
pub use clean_reader::CleanReader;
pub use commits::{CommitLimits, CommitOn};
pub use extents::SeekTo;
pub use filesystem::{Change, FileSystem, Usage};
pub use handle::{File, OpenOptions};
pub use inode::{InodeNumber, NAME_BYTES_MAX, ROOT};
pub use open_table::OPEN_FILE_BYTES;
pub use path::Location;
pub use permissions::Permissions;
pub use reader::Reader;
pub use room::TransactionRoom;
pub use sequences::CallSequence;
pub use stat::{Entry, Kind, Stat};
pub use volume::Cursor;
