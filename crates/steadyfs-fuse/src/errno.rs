//! Errors of the volume as error numbers.

use fuser::Errno;
use steadyfs::Error;

/// Returns the error number for a program.
pub(crate) fn errno(error: Error) -> Errno {
    match error {
        Error::Device | Error::MediaFailing | Error::Corrupt | Error::Unknown => Errno::EIO,
        Error::ReadOnly => Errno::EROFS,
        // A program can do the same against each of these errors: remove something, or choose
        // another name.
        Error::NoSpace | Error::TooManyFiles | Error::AttributesTooLarge => Errno::ENOSPC,
        // Only without `CommitOn::FULL`.
        Error::TransactionTooLarge => Errno::ENOSPC,
        Error::NotFound => Errno::ENOENT,
        Error::Exists => Errno::EEXIST,
        Error::InvalidName | Error::IntoItself => Errno::EINVAL,
        Error::NameTooLong => Errno::ENAMETOOLONG,
        Error::FileTooLarge => Errno::EFBIG,
        Error::Stale => Errno::ESTALE,
        Error::IsADirectory => Errno::EISDIR,
        Error::NotADirectory => Errno::ENOTDIR,
        Error::NotEmpty => Errno::ENOTEMPTY,
        Error::IsALink => Errno::ELOOP,
        Error::NotALink => Errno::EINVAL,
        Error::Unsupported => Errno::EOPNOTSUPP,
        Error::NotReadable | Error::NotWritable | Error::WrongMount => Errno::EBADF,
        Error::TooManyOpenFiles => Errno::ENFILE,
        _ => Errno::EIO,
    }
}
