//! Files and directories of the host, in an order that does not depend on the host, for `put` and
//! `pack`.

use super::attributes::Attributes;
use super::kind::{identity, kind_of};
use super::left_out::LeftOut;
use super::time;
use super::tree::Kind;
use crate::Failure;
use clap::Args;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use steadyfs::Permissions;

/// Maximum depth of directories: followed links may form a circle.
const DEPTH_MAX: usize = 256;

/// A file, directory or symbolic link of the host, or of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source<'t> {
    /// The path.
    pub path: PathBuf,
    /// The name.
    pub name: String,
    /// Directories between it and the start of the scan: 0 for an entry of the start directory.
    pub depth: usize,
    /// True for a directory.
    pub is_directory: bool,
    /// The target of a symbolic link.
    pub link: Option<String>,
    /// Mode, owner and group, if the host has them.
    pub permissions: Option<Permissions>,
    /// Bytes of a file.
    pub size: u64,
    /// The time of the last change.
    pub modified_ns: u64,
    /// The extended attributes that a volume keeps.
    pub attributes: BTreeMap<String, Vec<u8>>,
    /// The bytes of a file of an archive.
    pub bytes: Option<&'t [u8]>,
}

/// The bytes of a file, from any source.
pub trait Bytes: Read + Seek {}

impl<B: Read + Seek> Bytes for B {}

impl<'t> Source<'t> {
    /// Opens a file.
    pub fn open(&self) -> io::Result<Box<dyn Bytes + 't>> {
        Ok(match self.bytes {
            Some(bytes) => Box::new(Cursor::new(bytes)),
            None => Box::new(fs::File::open(&self.path)?),
        })
    }
}

/// Choices of a scan, as arguments.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct ScanOptions {
    /// Take the targets of symbolic links, not the links; links that are given as FROM are always
    /// followed
    #[arg(long)]
    pub follow: bool,
    /// Leave out devices, pipes and sockets of a directory, which a volume cannot hold; standard
    /// error counts them
    #[arg(long)]
    pub skip_special: bool,
}

/// A scan of files and directories, and the count of everything that a volume cannot hold.
#[derive(Debug, Default)]
pub struct Scanner {
    options: ScanOptions,
    /// Things that were left out so far.
    pub left: LeftOut,
    /// Files with several names, by device and number.
    linked: HashSet<(u64, u64)>,
}

impl Scanner {
    /// Returns a scanner that has seen nothing.
    pub fn new(options: ScanOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Returns everything below a directory. A directory comes before its entries; entries are
    /// sorted by the bytes of their names. Links are followed, or taken as they are.
    ///
    /// # Errors
    /// Devices and the like are refused, unless they are to be left out. A name that is not UTF-8
    /// is refused, too.
    pub fn below(&mut self, directory: &Path) -> Result<Vec<Source<'static>>, Failure> {
        let mut found = Vec::new();
        self.descend(directory, 0, &mut found)?;
        Ok(found)
    }

    /// Returns the file or directory at a path, with links followed.
    pub fn named(&mut self, path: &Path, name: String) -> Result<Source<'static>, Failure> {
        let metadata = fs::metadata(path).map_err(|error| Failure::at(path.display(), error))?;
        match kind_of(&metadata) {
            Kind::Directory | Kind::File => self.source(path, name, true, 0, &metadata),
            kind => Err(unfit(path, kind, "")),
        }
    }

    /// Returns an entry of a directory; `None` if it is left out.
    fn entry(
        &mut self,
        path: &Path,
        name: String,
        depth: usize,
    ) -> Result<Option<Source<'static>>, Failure> {
        let follow = self.options.follow;
        let look = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
        let metadata = look.map_err(|error| Failure::at(path.display(), error))?;
        match kind_of(&metadata) {
            Kind::Directory | Kind::File | Kind::Symlink => {
                self.source(path, name, follow, depth, &metadata).map(Some)
            }
            kind if self.options.skip_special => {
                self.left.count(kind);
                Ok(None)
            }
            kind => Err(unfit(path, kind, "; --skip-special leaves it out")),
        }
    }

    fn source(
        &mut self,
        path: &Path,
        name: String,
        follow: bool,
        depth: usize,
        metadata: &fs::Metadata,
    ) -> Result<Source<'static>, Failure> {
        let fail = |what: &dyn std::fmt::Display| Failure::at(path.display(), what);
        let kind = metadata.file_type();
        if identity(metadata).is_some_and(|identity| !self.linked.insert(identity)) {
            self.left.hard_links += 1;
        }
        let attributes = Attributes::of_host(path, follow).map_err(|error| fail(&error))?;
        self.left.attributes += attributes.others;
        let link = match kind.is_symlink() {
            true => {
                let target = fs::read_link(path).map_err(|error| fail(&error))?.into_os_string();
                Some(target.into_string().map_err(|_| {
                    fail(&"has a target that is not UTF-8; expected UTF-8, as in a volume")
                })?)
            }
            false => None,
        };
        let size = if kind.is_file() { metadata.len() } else { 0 };
        let (permissions, modified_ns) = (permissions_of(metadata), time::of_file(metadata));
        Ok(Source {
            path: path.into(),
            name,
            depth,
            is_directory: kind.is_dir(),
            link,
            permissions,
            size,
            modified_ns,
            attributes: attributes.kept,
            bytes: None,
        })
    }

    fn descend(
        &mut self,
        directory: &Path,
        depth: usize,
        found: &mut Vec<Source<'static>>,
    ) -> Result<(), Failure> {
        let fail = |error: std::io::Error| Failure::at(directory.display(), error);
        if depth == DEPTH_MAX {
            return Err(Failure::at(
                directory.display(),
                format!("lies below {DEPTH_MAX} directories; expected fewer, and no loop of links"),
            ));
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(directory).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            names.push(utf8(&entry.path(), entry.file_name())?);
        }
        names.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        for name in names {
            let Some(source) = self.entry(&directory.join(&name), name, depth)? else { continue };
            let (path, enters) = (source.path.clone(), source.is_directory);
            found.push(source);
            if enters {
                self.descend(&path, depth + 1, found)?;
            }
        }
        Ok(())
    }
}

/// Returns the refusal of a file that a volume cannot hold.
fn unfit(path: &Path, kind: Kind, remedy: &str) -> Failure {
    let what = format!(
        "is a {}; expected a file, a directory or a symbolic link, as in a volume{remedy}",
        kind.name()
    );
    Failure::at(path.display(), what)
}

#[cfg(unix)]
fn permissions_of(metadata: &fs::Metadata) -> Option<Permissions> {
    use std::os::unix::fs::MetadataExt;
    Some(Permissions {
        mode: (metadata.mode() & 0o7777) as u16,
        uid: metadata.uid(),
        gid: metadata.gid(),
    })
}

#[cfg(not(unix))]
fn permissions_of(_: &fs::Metadata) -> Option<Permissions> {
    None
}

fn utf8(path: &Path, name: std::ffi::OsString) -> Result<String, Failure> {
    name.into_string().map_err(|_| {
        Failure::at(path.display(), "has a name that is not UTF-8; expected UTF-8, as in a volume")
    })
}

/// Returns the last name of a path of the host.
pub fn name_of(path: &Path) -> Result<String, Failure> {
    let absolute = if path.file_name().is_some() {
        path.to_path_buf()
    } else {
        path.canonicalize().unwrap_or_default()
    };
    match absolute.file_name() {
        Some(name) => utf8(path, name.to_os_string()),
        None => Err(Failure::at(
            path.display(),
            "has no name; expected a file or directory with a name",
        )),
    }
}
