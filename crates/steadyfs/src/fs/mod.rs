//! Files and directories on the store.
//!
//! [`FileSystem`] executes calls. What it knows lies in rooms, which own their state and see no neighbour but the volume that a call hands them:
//!
//! | room | owns |
//! |---|---|
//! | [`volume`] | the store, and what is taken of its pages and inodes |
//! | [`directories`] | the directory that was used last |
//! | [`open_table`] | which files are open |
//! | [`lists`] | removed files: those that are being freed, and those that are open |
//! | [`commits`] | when changes are committed though nobody asks for it |
//!
//! | file | idea |
//! |---|---|
//! | [`inode`] | the inode's bytes |
//! | [`path`] | names joined by `/` |
//! | [`handle`], [`stat`] | an open file; what is told of a file |
//! | [`call`] | the calls that have a worst case, and what each changes |
//! | [`filesystem`] | the executor: it begins, is asked, and ends |
//! | [`transaction`] | what a call that changes something begins with, commits and undoes |
//! | [`names`] | create, remove, rename, list |
//! | [`open`] | open and close |
//! | [`file`] | reading and writing at an offset |
//! | [`extents`] | which parts of a file take room |
//! | [`attributes`] | key–value pairs of a file |
//! | [`permissions`] | mode, owner and group |
//! | [`symlink`] | symbolic links |
//! | [`check`] | verifying and mending a whole volume |
//! | [`reader`] | reading only |
//! | [`maintain`] | what later calls would have to do, in idle time |
//! | [`bounds`], [`rows`] | the worst case of each call; of calls in a row |
//! | [`room`] | the room of the open transaction |
//! | [`needs`] | what a volume with some settings needs |

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
mod rows;
mod stat;
mod symlink;
mod transaction;
mod volume;

pub use call::Call;
pub use check::{Checked, Finding, Mended};
pub use clean_reader::CleanReader;
pub use commits::{CommitLimits, CommitOn};
pub use extents::Part;
pub use filesystem::{Change, FileSystem, Usage};
pub use handle::{File, OpenOptions};
pub use inode::{InodeNumber, NAME_BYTES_MAX, ROOT};
pub use open_table::OPEN_FILE_BYTES;
pub use path::Place;
pub use permissions::Permissions;
pub use reader::Reader;
pub use room::TransactionRoom;
pub use rows::Row;
pub use stat::{Entry, Kind, Stat};
pub use volume::Cursor;
