//! Conversion of errors of the volume into error numbers.

use fuser::Errno;
use steadyfs::Error;

/// Returns the error number that a program receives.
pub(crate) fn errno(error: Error) -> Errno {
    match error {
        Error::Device | Error::MediaFailing | Error::Corrupt | Error::Unknown => Errno::EIO,
        Error::ReadOnly => Errno::EROFS,
        // The remedies for these errors are the same: the program can remove something, or choose
        // another name.
        Error::NoSpace | Error::TooManyFiles | Error::AttributesTooLarge => Errno::ENOSPC,
        // This error occurs only without `CommitOn::FULL`.
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
