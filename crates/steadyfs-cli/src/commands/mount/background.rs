//! A mount that a process of its own serves. The command returns when the volume is mounted, as
//! mount(8) expects.

use super::Arguments;
use crate::Failure;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Time between two checks for the mount.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Starts the process. Waits until the volume is mounted, or the process has ended with an error
/// that it reports itself.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let directory = &arguments.directory;
    let before = device_of(directory);
    let program = std::env::current_exe().map_err(|error| Failure::at("steady", error))?;
    let mut child = Command::new(program)
        .args(foreground(std::env::args().collect()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // A caller that waits for the end of this command's output must not wait for the end of
        // the mount.
        .stderr(Stdio::piped())
        // Ctrl-C is only for the command that was called.
        .process_group(0)
        .spawn()
        .map_err(|error| Failure::at("steady", error))?;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| Failure::at("steady", error))? {
            if let Some(said) = child.stderr.take() {
                eprint!("{}", std::io::read_to_string(said).unwrap_or_default());
            }
            std::process::exit(status.code().unwrap_or(1));
        }
        if device_of(directory) != before {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Returns the device number of the file system at a directory.
fn device_of(directory: &Path) -> Option<u64> {
    std::fs::metadata(directory).ok().map(|metadata| metadata.dev())
}

/// Returns the same command line, for a process that stays and prints nothing at its end.
fn foreground(line: Vec<String>) -> Vec<String> {
    let line = match line.first() {
        Some(program) if super::is_helper(program) => super::of_helper(line.into_iter().skip(1)),
        _ => line,
    };
    let mut ours: Vec<String> =
        line.into_iter().skip(1).filter(|argument| argument != "--background").collect();
    ours.push("--quiet".to_string());
    ours
}
