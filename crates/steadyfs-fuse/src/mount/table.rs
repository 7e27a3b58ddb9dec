//! The table of mounts that this process sees, `/proc/self/mountinfo` (see proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

const TABLE: &str = "/proc/self/mountinfo";

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Number of the mount. Another mount may get it once this mount is gone.
    pub id: u64,
    /// Number of the mount on which this mount lies.
    pub parent: u64,
    /// Device number of its file system, as `major:minor`. The number belongs to the file system as
    /// long as any mount uses the file system.
    pub device: String,
    /// Path of the mount, with links resolved.
    pub point: PathBuf,
    /// The kind of its file system.
    pub kind: String,
}

/// Reads the table.
///
/// # Errors
/// Returns an error if the table cannot be read, or if a line of it cannot be parsed. The caller is
/// about to mount or unmount, and must not guess.
pub(super) fn read() -> io::Result<Vec<Entry>> {
    let text = fs::read(TABLE)
        .map_err(|error| io::Error::new(error.kind(), format!("{TABLE}: {error}")))?;
    parse(&text)
}

/// Parses all lines of a table.
pub(super) fn parse(text: &[u8]) -> io::Result<Vec<Entry>> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| parse_line(line).ok_or_else(|| unexpected(line))).collect()
}

fn unexpected(line: &[u8]) -> io::Error {
    let line = String::from_utf8_lossy(line);
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{TABLE}: expected a line of proc_pid_mountinfo(5), found {line:?}"),
    )
}

/// Parses `id parent major:minor root point options [optional...] - kind source options`.
fn parse_line(line: &[u8]) -> Option<Entry> {
    let mut fields = line.split(|&byte| byte == b' ');
    let mut text = || fields.next().and_then(|field| std::str::from_utf8(field).ok());
    let id = text()?.parse().ok()?;
    let parent = text()?.parse().ok()?;
    let device = text()?.to_owned();
    let point = PathBuf::from(OsString::from_vec(unescape(fields.nth(1)?)));
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    Some(Entry { id, parent, device, point, kind: String::from_utf8_lossy(kind).into_owned() })
}

/// Restores a field. The kernel writes space, tab, line feed and backslash as `\` and three octal
/// digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        if let [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] = rest {
            bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
            rest = tail;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn lines_with_and_without_optional_fields_are_understood() {
        let text = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root \
                     rw,errors=continue\n\
                     43 42 0:25 / / rw,relatime - fuse.steadyfs card.img rw\n";
        let table = parse(text).unwrap();
        assert_eq!(table.len(), 2);
        assert_eq!((table[0].id, table[0].parent, table[0].device.as_str()), (36, 35, "98:0"));
        assert_eq!((table[0].point.to_str(), table[0].kind.as_str()), (Some("/mnt2"), "ext3"));
        assert_eq!((table[1].point.to_str(), table[1].kind.as_str()), (Some("/"), "fuse.steadyfs"));
    }

    #[test]
    fn octal_escapes_become_the_bytes_that_they_stand_for() {
        assert_eq!(unescape(br"/a\040b\011c\012d\134e"), b"/a b\tc\nd\\e");
        assert_eq!(
            unescape(br"/\303\251\377"),
            b"/\xc3\xa9\xff",
            "bytes above ASCII, UTF-8 or not"
        );
        assert_eq!(unescape(br"/\134040"), br"/\040", "an escape is not read twice");
        assert_eq!(unescape(br"\04 \8 \400 \"), br"\04 \8 \400 \", "what is no escape stays");
        let table = parse(b"1 2 0:3 / /with\\040space/\\303 rw - tmpfs - rw\n").unwrap();
        assert_eq!(table[0].point.as_os_str().as_bytes(), b"/with space/\xc3");
    }

    #[test]
    fn a_line_that_cannot_be_understood_is_an_error_that_shows_it() {
        for line in [
            "",
            "x 1 0:1 / /a rw - tmpfs t rw",
            "1 2 0:3 / /a rw shared:1",
            "1 2 0:3 /",
            "1 2 0:3 / /a rw -",
        ] {
            let result = parse(format!("1 2 0:3 / /a rw - tmpfs t rw\n{line}\n").as_bytes());
            match line {
                "" => assert_eq!(result.unwrap().len(), 1),
                _ => assert!(result.unwrap_err().to_string().contains(&format!("{line:?}"))),
            }
        }
    }

    #[test]
    fn the_table_of_this_machine_is_understood() {
        assert!(read().unwrap().iter().any(|entry| entry.point.as_os_str() == "/"));
    }
}
