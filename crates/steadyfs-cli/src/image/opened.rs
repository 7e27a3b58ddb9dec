//! The input of commands that read: a volume or an archive.

use super::archive::{Archive, Raw};
use super::chip::ChipOptions;
use super::key;
use super::recognise::{Found, kind_of};
use super::tree::Files;
use super::volume::{Memory, Volume};
use crate::Failure;
use clap::Args;
use std::path::{Path, PathBuf};
use steadyfs::{Access, Damage};
use steadyfs_lab::evaluate::Found as Device;
use steadyfs_sim::Profile;

/// Options for reading an image.
#[derive(Args, Debug, Clone, Default)]
pub struct ReadOptions {
    #[command(flatten)]
    pub chip: ChipOptions,
    /// Read only a signed read-only image; all of it is first verified with this public part of
    /// the key
    #[arg(long, value_name = "KEY.pub")]
    pub verify_key: Option<PathBuf>,
}

/// A volume or an archive.
#[allow(clippy::large_enum_variant, reason = "a command has one of them")]
pub enum Opened<'m> {
    /// A volume of files, mounted.
    Volume(Volume<'m>),
    /// An image of another kind, decoded.
    Archive(Archive),
}

impl ReadOptions {
    /// Finds an archive in a file; `None` if the file is something else.
    pub fn find(&self, path: &Path) -> Result<Option<Raw>, Failure> {
        let device = self.chip.found()?;
        let profile = raw(device.as_ref());
        let found = kind_of(path, profile)?;
        found
            .map(|found| {
                Raw::read(path, found, profile.filter(|_| matches!(found, Found::OnNand(_))))
            })
            .transpose()
    }

    /// Returns the key that verifies.
    pub fn key(&self) -> Result<Option<key::Key>, Failure> {
        self.verify_key.as_deref().map(key::public).transpose()
    }

    /// Refuses a volume if a signature is required.
    pub fn refuse_volume(&self, path: &Path) -> Result<(), Failure> {
        match self.verify_key {
            Some(_) => Err(Failure::at(
                path.display(),
                "is no read-only image, and nothing else is signed; expected a read-only image \
                 with --verify-key",
            )),
            None => Ok(()),
        }
    }
}

fn raw(device: Option<&Device>) -> Option<&Profile> {
    match device {
        Some(Device::Raw(profile)) => Some(profile),
        _ => None,
    }
}

impl<'m> Opened<'m> {
    /// Opens an image of any kind, for reading.
    pub fn open(
        path: &Path,
        options: &ReadOptions,
        memory: &'m mut Memory,
    ) -> Result<Self, Failure> {
        let key = options.key()?;
        let Some(found) = options.find(path)? else {
            options.refuse_volume(path)?;
            return Volume::open(path, &options.chip, Access::ReadOnly, memory).map(Self::Volume);
        };
        if key.is_some() {
            found.verify(key)?;
        }
        found.decode_and_warn().map(Self::Archive)
    }

    /// Returns the files.
    pub fn files(&mut self) -> &mut dyn Files {
        match self {
            Self::Volume(volume) => volume,
            Self::Archive(archive) => archive,
        }
    }

    /// Returns the damage that the mount found.
    pub fn lost(&self) -> Option<Damage> {
        match self {
            Self::Volume(volume) => volume.fs.damage(),
            Self::Archive(_) => None,
        }
    }

    /// Ends, and reports the work of the chip, if `--stats` is set.
    pub fn close(self, options: &ReadOptions) -> Result<(), Failure> {
        match self {
            Self::Volume(volume) => volume.close(&options.chip).map(drop),
            Self::Archive(archive) => {
                if let Some(work) = archive.work().filter(|_| options.chip.stats) {
                    eprintln!("{work}");
                }
                Ok(())
            }
        }
    }
}
