//! Errors as Python exceptions: `OSError` with a number, the library's words, and the name of the
//! object that failed.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::fmt::Display;
use steadyfs::{Error, MountError};
use steadyfs_host::block::BlockError;
use steadyfs_host::image::ImageError;
use steadyfs_host::plain;

/// The reason of a failed call, without the interpreter.
#[derive(Debug)]
pub struct Trouble {
    /// Name of the number in Python's `errno`; numbers differ between systems.
    errno: Number,
    words: String,
    name: String,
    /// The second path of a call that has two.
    other: Option<String>,
}

#[derive(Debug)]
enum Number {
    Named(&'static str),
    Host(i32),
}

impl Trouble {
    /// Creates an error by the name of its number.
    pub fn new(errno: &'static str, words: impl Display, name: impl Into<String>) -> Self {
        Self {
            errno: Number::Named(errno),
            words: words.to_string(),
            name: name.into(),
            other: None,
        }
    }

    /// Creates an error for an invalid request.
    pub fn invalid(words: impl Display, name: impl Into<String>) -> Self {
        Self::new("EINVAL", words, name)
    }

    /// Creates an error for a fork that uses an image which `process` has opened.
    pub fn fork(process: u32, name: impl Into<String>) -> Self {
        let here = std::process::id();
        let words = format!(
            "was opened in process {process}, and process {here} is a fork of it; open the image \
             again in this process"
        );
        Self::new("EBADF", words, name)
    }

    /// Creates an error from an error of the host.
    pub fn host(error: &std::io::Error, name: impl Into<String>) -> Self {
        match error.raw_os_error() {
            Some(number) => {
                // The words of the host, without the number that Rust appends.
                let text = error.to_string();
                let words = text.split(" (os error").next().unwrap_or_default().to_string();
                Self { errno: Number::Host(number), words, name: name.into(), other: None }
            }
            None => Self::new("EIO", error, name),
        }
    }

    /// Creates an error from an error of a volume. `reason` is the addition of its medium.
    pub fn volume(error: Error, reason: Option<String>, name: String) -> Self {
        let words = match (error, reason) {
            (Error::Device | Error::MediaFailing, Some(reason)) => format!("{error}: {reason}"),
            _ => error.to_string(),
        };
        Self::new(number(error), words, name)
    }

    /// Creates an error from an error of a file's content.
    pub fn content(error: plain::Error, reason: Option<String>, name: String) -> Self {
        match error {
            plain::Error::Volume(error) => Self::volume(error, reason, name),
            error => Self::new("EIO", error, name),
        }
    }

    /// Creates an error from a failed mount.
    pub fn mount(error: MountError, name: &str) -> Self {
        match error {
            MountError::Volume(error) => Self::volume(error, None, name.into()),
            MountError::IsDisk => Self::invalid(
                "is a disk, which holds sectors and no files; `steady mount` shows it as one file",
                name,
            ),
            error => Self::invalid(error, name),
        }
    }

    /// Creates an error for a file that is not an image of a chip.
    pub fn image(error: &ImageError, name: &str) -> Self {
        match error {
            ImageError::Io(error) => Self::host(error, name),
            error => Self::invalid(error, name),
        }
    }

    /// Creates an error for a file that is not an image of a card.
    pub fn block(error: &BlockError, name: &str) -> Self {
        match error {
            BlockError::Open(error) => Self::host(error, name),
            error => Self::invalid(error, name),
        }
    }
}

/// Returns the number that programs on a mounted directory get for this error.
fn number(error: Error) -> &'static str {
    match error {
        Error::ReadOnly => "EROFS",
        Error::NoSpace
        | Error::TooManyFiles
        | Error::AttributesTooLarge
        | Error::TransactionTooLarge => "ENOSPC",
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
    /// Distinguishes a missing attribute from a missing file: ENOENT becomes ENODATA.
    pub fn no_attribute(self, key: &str) -> Self {
        match self.errno {
            Number::Named("ENOENT") => {
                Self::new("ENODATA", format!("has no attribute {key:?}"), self.name)
            }
            _ => self,
        }
    }

    /// Names both paths of a call, as `os.rename` does, and the path at fault in the words.
    pub fn of_two(self, one: String, other: String, at_fault: Option<&str>) -> Self {
        let words = match at_fault {
            Some(place) => format!("{}: {place}", self.words),
            None => self.words,
        };
        Self { words, name: one, other: Some(other), ..self }
    }

    /// Names the mode of an image as the reason for which a change was refused.
    pub fn opened_for_reading(self) -> Self {
        match self.errno {
            Number::Named("EROFS") => {
                let words = "the volume is read-only: opened with mode='r'; expected mode='r+'";
                Self { words: words.into(), ..self }
            }
            _ => self,
        }
    }

    /// Creates the exception. Python picks the subclass of `OSError` for its number.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let number = match self.errno {
            Number::Host(number) => Ok(number),
            Number::Named(name) => {
                py.import("errno").and_then(|errno| errno.getattr(name)?.extract())
            }
        };
        match number {
            Ok(number) => match self.other {
                None => PyOSError::new_err((number, self.words, self.name)),
                // The fourth argument is an error number of Windows.
                Some(other) => {
                    PyOSError::new_err((number, self.words, self.name, None::<i32>, other))
                }
            },
            Err(error) => error,
        }
    }
}
