//! Calls in words, for errors.

use crate::units::{format_count, format_size};
use steadyfs::Call;

/// Returns a call of the volume in words.
pub(crate) fn called(call: Call) -> String {
    let bytes = |what: &str, bytes: u32| format!("{what} {}", format_size(bytes.into()));
    let names = |what: &str, depth: u32| match depth {
        0 | 1 => what.to_string(),
        depth => format!("{what}, {} names in the path", format_count(depth.into())),
    };
    match call {
        Call::Overwrite => "overwrite of a logical page".to_string(),
        Call::Write(count) => bytes("write of", count),
        Call::WriteLarge(count) => bytes("long write of", count),
        Call::WriteInline(count) => bytes("write into the inode of", count),
        Call::Truncate => "truncate".to_string(),
        Call::Read(count) => bytes("read of", count),
        Call::Open { depth } => names("open", depth),
        Call::Create { depth } => names("create", depth),
        Call::Symlink { depth, .. } => names("symbolic link", depth),
        Call::Remove { depth } => names("remove", depth),
        Call::Rename { depth } => names("rename", depth),
        Call::Exchange { depth } => names("exchange", depth),
        Call::SetAttribute => "set attribute".to_string(),
        Call::List => "list an entry".to_string(),
        Call::Sync => "sync".to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_in_words() {
        assert_eq!(called(Call::Remove { depth: 1 }), "remove");
        assert_eq!(called(Call::Write(65_536)), "write of 64 KiB");
        assert_eq!(called(Call::Create { depth: 4 }), "create, 4 names in the path");
    }
}
