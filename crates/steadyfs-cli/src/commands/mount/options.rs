//! `-o` of mount(8) and `fstab`: the settings of the arguments, under the names that other file
//! systems use.

use super::{Arguments, Events, commit_bytes};
use crate::commands::compress::rule;
use steadyfs_lab::units::parse_size;

/// Words that hold anyway, or that mount(8) itself acts on.
const ACCEPTED: [&str; 25] = [
    "defaults",
    "rw",
    "auto",
    "noauto",
    "user",
    "nouser",
    "users",
    "owner",
    "group",
    "nofail",
    "_netdev",
    "nosuid",
    "nodev",
    "exec",
    "noatime",
    "nodiratime",
    "relatime",
    "strictatime",
    "lazytime",
    "nolazytime",
    "async",
    "default_permissions",
    "silent",
    "loud",
    "iversion",
];
const EXPECTED: &str = "ro, rw, noexec, sync, allow_other, nonempty, quiet_permissions, \
                        commit_on=EVENTS, commit_interval=MS, commit_every=COUNT, \
                        commit_bytes=SIZE, compress=METHOD, opened=FILE, read_cache=SIZE, \
                        device=NAME, real_time, disk";

/// Applies an option to the arguments.
///
/// # Errors
/// The fault of the option, and the expected form.
pub fn apply(arguments: &mut Arguments, option: &str) -> Result<(), String> {
    let (name, value) =
        option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let needed = || {
        value.ok_or_else(|| format!("option `{option}`: a value is missing; expected `{name}=…`"))
    };
    match name {
        // For mount(8) and systemd themselves.
        _ if name.starts_with("x-")
            || name.starts_with("X-")
            || name == "comment"
            || name.is_empty() => {}
        "commit_on" => arguments.commit_on = Events::named(needed()?)?,
        "commit_interval" => {
            let ms = needed()?.parse().ok().filter(|&ms: &u64| ms > 0);
            arguments.commit_interval = ms.ok_or_else(|| {
                format!("option `{option}`: expected a whole number of milliseconds")
            })?;
        }
        "commit_every" => {
            let count = needed()?.parse().ok().filter(|&count: &u32| count > 0);
            arguments.commit_every =
                Some(count.ok_or_else(|| {
                    format!("option `{option}`: expected a whole number of changes")
                })?);
        }
        "commit_bytes" => {
            let bytes =
                commit_bytes(needed()?).map_err(|error| format!("option `{option}`: {error}"))?;
            arguments.commit_bytes = Some(bytes);
        }
        "compress" => {
            arguments.compress =
                Some(rule(needed()?).map_err(|error| format!("option `{option}`: {error}"))?);
        }
        "opened" => arguments.opened = Some(needed()?.into()),
        "read_cache" => {
            arguments.read_cache =
                parse_size(needed()?).map_err(|error| format!("option `{option}`: {error}"))?;
        }
        "device" => {
            let device = crate::device::any(needed()?)
                .map_err(|error| format!("option `{option}`: {error}"))?;
            arguments.device = Some(device);
        }
        _ if value.is_some() => {
            return Err(format!("option `{option}`: expected one of {EXPECTED}"));
        }
        "ro" => arguments.read_only = true,
        "disk" => arguments.disk = true,
        "noexec" => arguments.no_exec = true,
        "sync" => arguments.commit_on = Events::named("write")?,
        "allow_other" => arguments.allow_other = true,
        "nonempty" => arguments.nonempty = true,
        "quiet_permissions" | "quiet" => arguments.quiet_permissions = true,
        "real_time" => arguments.real_time = true,
        _ if ACCEPTED.contains(&name) => {}
        _ => return Err(format!("option `{option}`: expected one of {EXPECTED}")),
    }
    Ok(())
}

/// Returns the arguments of `steady` for a call by mount(8):
/// `mount.fuse.steadyfs SPEC DIR [-sfnv] [-o OPTIONS] [-t TYPE]`.
pub fn of_helper(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut ours = vec!["steady".to_string(), "mount".to_string(), "--background".to_string()];
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-o" => ours.extend(arguments.next().map(|options| format!("-o{options}"))),
            "-t" | "-N" => drop(arguments.next()),
            flags
                if flags.len() > 1
                    && flags.starts_with('-')
                    && flags[1..].chars().all(|flag| "sfnv".contains(flag)) => {}
            _ => ours.push(argument),
        }
    }
    ours
}

/// Returns true if the command was called by a name under which mount(8) looks for it.
pub fn is_helper(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    matches!(name, "mount.steadyfs" | "mount.fuse.steadyfs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use steadyfs::{CommitLimits, CommitOn};

    type Line = crate::line::Line<Arguments>;

    fn applied(options: &str) -> Result<Arguments, String> {
        let mut arguments = Line::parse_from(["mount", "card.img", "dir"]).arguments;
        options.split(',').try_for_each(|option| apply(&mut arguments, option)).map(|()| arguments)
    }

    #[test]
    fn options_are_those_of_the_arguments() {
        let found = applied(
            "ro,allow_other,nofail,x-systemd.automount,sync,device=w25q128jv,\
             commit_interval=50,noexec,read_cache=64KiB,compress=zstd:9",
        )
        .unwrap();
        assert!(found.read_only && found.allow_other && found.no_exec && !found.nonempty);
        assert_eq!((found.device.as_deref(), found.commit_interval), (Some("w25q128jv"), 50));
        assert_eq!(Ok(found.commit_on), Events::named("write"));
        assert_eq!(found.read_cache, 65_536);
        assert_eq!(found.compress.map(|packing| packing.to_string()).as_deref(), Some("zstd:9"));
    }

    #[test]
    fn a_limit_commits_beside_the_events() {
        let (events, limits) = applied("commit_every=16,commit_bytes=64KiB").unwrap().commit_on();
        assert_eq!(
            (events, limits),
            (CommitOn::IN_GROUPS, CommitLimits { changes: 16, bytes: 65_536 })
        );
        let (events, limits) = applied("commit_bytes=100,commit_on=flush").unwrap().commit_on();
        assert!(
            events.contains(CommitOn::MANY)
                && !events.contains(CommitOn::TIMED)
                && limits.changes == 0
        );
        assert_eq!(
            applied("nofail").unwrap().commit_on(),
            (CommitOn::TIMED_AND_ON_SYNC, CommitLimits::default())
        );
    }

    #[test]
    fn what_is_no_option_is_told_with_those_that_are() {
        for option in [
            "uid=0",
            "ro=1",
            "fast",
            "commit_interval=0",
            "commit_interval",
            "commit_every=0",
            "commit_bytes=0",
            "commit_bytes=9GiB",
            "read_cache=much",
            "compress",
            "compress=rar",
            "commit_on=never",
        ] {
            let error = applied(option).unwrap_err();
            assert!(error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn calls_by_mount_become_arguments() {
        let of = |line: &str| of_helper(line.split(' ').map(String::from)).join(" ");
        assert_eq!(
            of("card.img /mnt -sn -o ro,nofail -t fuse.steadyfs"),
            "steady mount --background card.img /mnt -oro,nofail"
        );
        assert!(is_helper("/sbin/mount.fuse.steadyfs") && !is_helper("/usr/bin/steady"));
    }
}
