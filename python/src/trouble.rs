//! Errors as Python has them: `OSError` with a number, the library's words, and the name of what they are about.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::fmt::Display;
use steadyfs::{Error, MountError};
use steadyfs_host::block::BlockError;
use steadyfs_host::image::ImageError;
use steadyfs_host::plain;

/// Why a call failed, without the interpreter.
#[derive(Debug)]
pub struct Trouble {
    /// Name of the number in Python's `errno`; numbers differ between systems.
    errno: Number,
    words: String,
    name: String,
}

#[derive(Debug)]
enum Number {
    Named(&'static str),
    Host(i32),
}

impl Trouble {
    /// An error by the name of its number.
    pub fn new(errno: &'static str, words: impl Display, name: impl Into<String>) -> Self {
        Self { errno: Number::Named(errno), words: words.to_string(), name: name.into() }
    }

    /// What was asked for makes no sense here.
    pub fn invalid(words: impl Display, name: impl Into<String>) -> Self {
        Self::new("EINVAL", words, name)
    }

    /// A fork uses an image that `process` has opened.
    pub fn fork(process: u32, name: impl Into<String>) -> Self {
        let here = std::process::id();
        let words = format!(
            "was opened in process {process}, and this is process {here}, a fork of it; open the image again in this one"
        );
        Self::new("EBADF", words, name)
    }

    /// What the host says.
    pub fn host(error: &std::io::Error, name: impl Into<String>) -> Self {
        match error.raw_os_error() {
            Some(number) => {
                // The words of the host, without the number that Rust puts behind them.
                let text = error.to_string();
                let words = text.split(" (os error").next().unwrap_or_default().to_string();
                Self { errno: Number::Host(number), words, name: name.into() }
            }
            None => Self::new("EIO", error, name),
        }
    }

    /// What a volume says; `reason` is what its medium adds.
    pub fn volume(error: Error, reason: Option<String>, name: String) -> Self {
        let words = match (error, reason) {
            (Error::Device | Error::MediaFailing, Some(reason)) => format!("{error}: {reason}"),
            _ => error.to_string(),
        };
        Self::new(number(error), words, name)
    }

    /// What the content of a file says.
    pub fn content(error: plain::Error, reason: Option<String>, name: String) -> Self {
        match error {
            plain::Error::Volume(error) => Self::volume(error, reason, name),
            error => Self::new("EIO", error, name),
        }
    }

    /// Why there is no volume.
    pub fn mount(error: MountError, name: &str) -> Self {
        match error {
            MountError::Volume(error) => Self::volume(error, None, name.into()),
            MountError::IsDisk => {
                Self::invalid("is a disk, which holds sectors and no files; `steady mount` shows it as one file", name)
            }
            error => Self::invalid(error, name),
        }
    }

    /// Why a file is no image of a chip.
    pub fn image(error: &ImageError, name: &str) -> Self {
        match error {
            ImageError::Io(error) => Self::host(error, name),
            error => Self::invalid(error, name),
        }
    }

    /// Why a file is no image of a card.
    pub fn block(error: &BlockError, name: &str) -> Self {
        match error {
            BlockError::Open(error) => Self::host(error, name),
            error => Self::invalid(error, name),
        }
    }
}

/// As programs on a mounted directory get to see it.
fn number(error: Error) -> &'static str {
    match error {
        Error::ReadOnly => "EROFS",
        Error::NoSpace | Error::TooManyFiles | Error::AttributesTooLarge | Error::TransactionTooLarge => "ENOSPC",
        Error::NotFound => "ENOENT",
        Error::Exists => "EEXIST",
        Error::InvalidName | Error::IntoItself | Error::NotALink => "EINVAL",
        Error::NameTooLong => "ENAMETOOLONG",
        Error::FileTooLarge => "EFBIG",
        Error::Stale => "ESTALE",
        Error::IsADirectory => "EISDIR",
        Error::NotADirectory => "ENOTDIR",
        Error::NotEmpty => "ENOTEMPTY",
        Error::IsALink => "ELOOP",
        Error::Unsupported => "ENOTSUP",
        Error::NotReadable | Error::NotWritable | Error::WrongMount => "EBADF",
        Error::TooManyOpenFiles => "ENFILE",
        _ => "EIO",
    }
}

impl Trouble {
    /// That a file is there, and the attribute is not, is told apart.
    pub fn no_attribute(self, key: &str) -> Self {
        match self.errno {
            Number::Named("ENOENT") => Self::new("ENODATA", format!("has no attribute {key:?}"), self.name),
            _ => self,
        }
    }

    /// The exception: of the subclass of `OSError` that its number has.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let number = match self.errno {
            Number::Host(number) => Ok(number),
            Number::Named(name) => py.import("errno").and_then(|errno| errno.getattr(name)?.extract()),
        };
        match number {
            Ok(number) => PyOSError::new_err((number, self.words, self.name)),
            Err(error) => error,
        }
    }
}
