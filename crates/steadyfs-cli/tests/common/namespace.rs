//! Runs tests that mount in a mount namespace of their own. Otherwise a mistake would cost the
//! machine its mounts.

use super::text;
use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The variable that contains the name of the outer namespace, within the test's own.
const OUTSIDE: &str = "STEADYFS_TEST_OUTSIDE";
const UNSHARE: [&str; 3] = ["--mount", "--propagation", "private"];

fn namespace() -> String {
    fs::read_link("/proc/self/ns/mnt").unwrap().display().to_string()
}

/// Runs a test, named with its module, in a mount namespace of its own. For that, starts this
/// program again with this test alone. Without the right to make a namespace, or without
/// `/dev/fuse`, prints on standard error that the test was skipped.
pub fn run(name: &str, test: impl FnOnce()) {
    if let Ok(outside) = std::env::var(OUTSIDE) {
        assert_ne!(namespace(), outside, "this is no namespace of its own");
        let before = points();
        test();
        assert_eq!(points(), before, "the mounts of the machine are what they were");
        return;
    }
    let may_unshare =
        Command::new("unshare").args(UNSHARE).arg("true").stderr(Stdio::null()).status();
    let has_fuse = File::options().read(true).write(true).open("/dev/fuse").is_ok();
    if !may_unshare.is_ok_and(|status| status.success()) || !has_fuse {
        say(&format!("SKIPPED {name}: needs root for a mount namespace of its own, and /dev/fuse"));
        return;
    }
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("unshare");
    command
        .args(UNSHARE)
        .arg(program)
        .args([name, "--exact", "--nocapture"])
        .env(OUTSIDE, namespace());
    let output = command.output().unwrap();
    let told = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    told.lines().filter(|line| line.starts_with("SKIPPED")).for_each(say);
}

/// Prints a line on standard error, also in a test that passes. `eprintln` does not show it then.
pub fn say(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Returns the places of mounts, as the kernel writes them.
pub fn points() -> Vec<String> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.lines().map(|line| line.split(' ').nth(4).unwrap().to_owned()).collect()
}

/// Waits until a condition holds.
#[track_caller]
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "it does not happen");
        sleep(Duration::from_millis(10));
    }
}
