//! `steady sweep` becomes the program that makes sweeps. Without this program, it names the
//! package to install.

#![cfg(unix)]

use crate::common::{Bench, text};
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

/// A directory of programs, with a `steady-sweep` of this text.
fn programs(bench: &Bench, script: &str) {
    bench.write("bin/steady-sweep", script.as_bytes());
    set_permissions(bench.path("bin/steady-sweep"), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_sweep_gets_the_arguments_as_they_are_and_its_exit_code_counts() {
    let bench = Bench::new("sweep");
    programs(&bench, "#!/bin/sh\nprintf '<%s>' \"$@\"\necho told >&2\nexit 3\n");
    let mut command = bench.command("sweep");
    let output = command
        .args(["--quiet", "a grid.toml", "--into", "--help", ""])
        .env("PATH", bench.path("bin"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "<--quiet><a grid.toml><--into><--help><>");
    assert_eq!(text(&output.stderr), "told\n");
}

#[test]
fn without_the_program_a_sweep_says_what_to_install() {
    let bench = Bench::new("sweep-none");
    let said = |bench: &Bench| {
        let output =
            bench.command("sweep grid.toml").env("PATH", bench.path("bin")).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""));
        text(&output.stderr)
    };
    let expected = "error: steady-sweep: not found on PATH, or the Python that it names is \
                    gone; expected the Python package of SteadyFS: \
                    pip install './python[sweep]' in a clone\n";
    assert_eq!(said(&bench), expected);
    // An environment of Python whose interpreter was removed.
    programs(&bench, "#!/nowhere/bin/python\n");
    assert_eq!(said(&bench), expected);
    set_permissions(bench.path("bin/steady-sweep"), Permissions::from_mode(0o644)).unwrap();
    assert!(
        said(&bench).starts_with("error: steady-sweep: cannot be run: Permission denied"),
        "{}",
        said(&bench)
    );
}
