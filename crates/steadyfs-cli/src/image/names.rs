//! Printable names, and names that a host takes.
//!
//! A volume allows every name without `/` and NUL. An image may be damaged or malicious, so its
//! names go unchanged neither to a terminal nor to a host.

use std::borrow::Cow;

/// Escapes the characters of a name or path that a terminal would act on, or show as something
/// else: each as `\u{…}`.
pub fn printable(name: &str) -> Cow<'_, str> {
    if !name.contains(is_unprintable) {
        return Cow::Borrowed(name);
    }
    let escape =
        |c: char| if is_unprintable(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(name.chars().map(escape).collect())
}

/// Escapes the characters of a text that a terminal would act on, except line ends. Names in
/// images, profiles and traces come from anywhere.
pub fn for_terminal(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Returns true for control characters, and for characters that change the direction of text.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

const PART_PREFIX: &str = ".steady-";
const PART_SUFFIX: &str = ".part";

/// Returns the name of an incomplete file or directory that a process makes on the host.
pub fn part_name(process: u32) -> String {
    format!("{PART_PREFIX}{process}{PART_SUFFIX}")
}

/// Returns the process in such a name; `None` for other names.
pub fn part_process(name: &str) -> Option<u32> {
    name.strip_prefix(PART_PREFIX)?.strip_suffix(PART_SUFFIX)?.parse().ok()
}

/// Returns the fault of a name for a file of the host, if there is one.
pub fn host_fault(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("is empty"),
        "." | ".." => Some("stands for the directory itself or its parent"),
        _ if name.contains(['/', '\0']) => Some("holds '/' or NUL"),
        _ if name.contains(is_unprintable) => Some("holds control characters"),
        _ if part_process(name).is_some() => Some("is reserved for incomplete files"),
        _ if cfg!(windows) && name.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) => {
            Some("holds characters that Windows refuses")
        }
        _ => None,
    }
}

/// Returns a name that a host takes, with `_` in place of each other character.
pub fn sanitised(name: &str) -> Cow<'_, str> {
    match (host_fault(name), name) {
        (None, _) => Cow::Borrowed(name),
        (Some(_), "" | ".") => Cow::Borrowed("_"),
        (Some(_), "..") => Cow::Borrowed("__"),
        (Some(_), _) if part_process(name).is_some() => Cow::Owned(name.replacen('.', "_", 1)),
        (Some(_), _) => Cow::Owned(
            name.chars()
                .map(|c| if host_fault(&format!("x{c}")).is_some() { '_' } else { c })
                .collect(),
        ),
    }
}

/// Returns the path of a name below a directory of a volume.
pub fn join(directory: &str, name: &str) -> String {
    match directory.trim_matches('/') {
        "" => name.to_string(),
        directory => format!("{directory}/{name}"),
    }
}

/// Returns the last name of a path, if there is one and it is not `.` or `..`.
pub fn last_name(path: &str) -> Option<&str> {
    path.split('/').rfind(|name| !name.is_empty()).filter(|name| !matches!(*name, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_no_control_characters() {
        assert_eq!(printable("ordinary ä"), "ordinary ä");
        assert_eq!(printable("a\u{1b}[2Jb\n"), r"a\u{1b}[2Jb\u{a}");
        assert_eq!(printable("x\u{202e}txt"), r"x\u{202e}txt");
    }

    #[test]
    fn names_that_would_leave_a_directory_are_faults() {
        for name in ["", ".", "..", "a/b", "/", "a\0b", "a\nb", "\u{7f}", ".steady-7.part"] {
            assert!(host_fault(name).is_some(), "{name:?}");
            assert_eq!(host_fault(&sanitised(name)), None, "{name:?}");
        }
        for name in ["a", "...", "a b", "..a", "日本", "-rf"] {
            assert_eq!((host_fault(name), sanitised(name)), (None, name.into()));
        }
        assert_eq!(sanitised("../../etc/x\n"), ".._.._etc_x_");
    }

    #[test]
    fn only_names_of_parts_are_taken_for_parts() {
        assert_eq!(part_process(&part_name(12)), Some(12));
        for name in [
            ".steady-.part",
            ".steady-x.part",
            "steady-12.part",
            ".steady-12.part.txt",
            "a.part",
            ".steady-12",
        ] {
            assert_eq!(part_process(name), None, "{name}");
        }
    }

    #[test]
    fn paths_are_joined_and_taken_apart() {
        assert_eq!(
            (join("", "a"), join("/", "a"), join("/a/b/", "c")),
            ("a".into(), "a".into(), "a/b/c".into())
        );
        assert_eq!(
            (last_name("/a/b/"), last_name("a"), last_name("/"), last_name("a/..")),
            (Some("b"), Some("a"), None, None)
        );
    }
}
