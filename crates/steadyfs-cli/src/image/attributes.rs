//! Extended attributes of files. A volume keeps the attributes that Linux calls `user.KEY`, under
//! their keys.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use steadyfs_host::plain::{RULE, Rule, is_own};

/// Prefix of the attributes that a volume keeps.
const NAMESPACE: &str = "user.";

/// The attributes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The attributes that a volume keeps, by their keys.
    pub kept: BTreeMap<String, Vec<u8>>,
    /// Number of the other attributes.
    pub others: u64,
}

impl Attributes {
    /// Sorts attributes with the names of the host.
    pub fn of_names<'a>(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut attributes = Self::default();
        for (name, value) in pairs {
            let key = std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix(NAMESPACE));
            match key {
                // These belong to the tools, which make them again.
                Some(key) if is_own(key) => {}
                Some(key) if is_possible(key, value) => {
                    attributes.kept.insert(key.to_string(), value.to_vec());
                }
                _ => attributes.others += 1,
            }
        }
        attributes
    }

    /// Returns the kept attributes with the names of the host.
    pub fn named(&self) -> impl Iterator<Item = (String, &[u8])> {
        self.kept.iter().map(|(key, value)| (format!("{NAMESPACE}{key}"), &value[..]))
    }

    /// Reads the attributes of a file of the host. `follow` reads those of the target of a link.
    #[cfg(target_os = "linux")]
    pub fn of_host(path: &Path, follow: bool) -> io::Result<Self> {
        use rustix::fs::{getxattr, lgetxattr, listxattr, llistxattr};
        use rustix::io::Errno;
        let list = |to: &mut [u8]| {
            if follow { listxattr(path, to) } else { llistxattr(path, to) }
        };
        let names = match whole(list) {
            Err(Errno::NOTSUP) => return Ok(Self::default()),
            names => names?,
        };
        let mut pairs = Vec::new();
        for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            let get = |to: &mut [u8]| {
                if follow { getxattr(path, name, to) } else { lgetxattr(path, name, to) }
            };
            pairs.push((name, whole(get)?));
        }
        Ok(Self::of_names(pairs.iter().map(|(name, value)| (*name, &value[..]))))
    }

    /// Reads the attributes of a file of the host: systems without them have none.
    #[cfg(not(target_os = "linux"))]
    pub fn of_host(_: &Path, _: bool) -> io::Result<Self> {
        Ok(Self::default())
    }

    /// Gives an open file or directory of the host its attributes. Returns the number of
    /// attributes that the host does not take.
    #[cfg(target_os = "linux")]
    pub fn set_on_host(&self, file: &File) -> u64 {
        let set = |(name, value): (String, &[u8])| {
            rustix::fs::fsetxattr(file, name, value, rustix::fs::XattrFlags::empty())
        };
        self.others + self.named().map(set).filter(Result::is_err).count() as u64
    }

    /// Returns the number of attributes: systems without them take none.
    #[cfg(not(target_os = "linux"))]
    pub fn set_on_host(&self, _: &File) -> u64 {
        self.count()
    }

    /// Returns the number of all attributes.
    pub fn count(&self) -> u64 {
        self.others + self.kept.len() as u64
    }
}

/// Returns true if a volume takes the value. The rule of a directory has a form.
fn is_possible(key: &str, value: &[u8]) -> bool {
    key != RULE || std::str::from_utf8(value).is_ok_and(|text| text.parse::<Rule>().is_ok())
}

/// Maximum bytes of a list of names, and of a value, on Linux.
#[cfg(target_os = "linux")]
const BYTES_MAX: usize = 1 << 16;

/// Returns all bytes of a list or value.
#[cfg(target_os = "linux")]
fn whole(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
    let mut bytes = vec![0; BYTES_MAX];
    let count = read(&mut bytes)?;
    bytes.truncate(count);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_keeps_what_programs_of_users_set() {
        let pairs: [(&[u8], &[u8]); 6] = [
            (b"user.mark", b"1"),
            (b"user.steadyfs.draft", b"ours"),
            (b"user.steadyfs.compress", b"no rule"),
            (b"security.capability", b"2"),
            (b"user.\xff", b"3"),
            (b"system.posix_acl_access", b"4"),
        ];
        let attributes = Attributes::of_names(pairs);
        assert_eq!(attributes.kept, BTreeMap::from([("mark".to_string(), b"1".to_vec())]));
        assert_eq!((attributes.others, attributes.count()), (4, 5));
        assert_eq!(attributes.named().collect::<Vec<_>>(), [("user.mark".into(), &b"1"[..])]);
    }
}
