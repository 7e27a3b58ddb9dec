//! The outputs of results: a table or JSON on standard output, JSON, HTML and SVG in files.

use crate::Failure;
use crate::host::{directory_of, refuse_missing_device, remove};
use crate::image::names::{for_terminal, is_unprintable, part_name};
use crate::interrupt;
use clap::Args;
use serde::Serialize;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use steadyfs_lab::report::{Page, write_svg};
use steadyfs_lab::table::paragraph;

/// The outputs that commands have in common.
#[derive(Args, Debug)]
pub struct Outputs {
    /// Write the numbers as JSON; `-`, or no file, writes them to standard output in place of the
    /// table
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Write a report as one HTML file that opens offline
    #[arg(long, value_name = "FILE.html", value_parser = file)]
    report: Option<PathBuf>,
    /// Write the figures of the report as SVG files into a directory
    #[arg(long, value_name = "DIR", value_parser = directory)]
    svg: Option<PathBuf>,
}

/// The outputs of a command without a report.
#[derive(Args, Debug)]
pub struct Numbers {
    /// Write the numbers as JSON; `-`, or no file, writes them to standard output in place of the
    /// table
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

impl Numbers {
    /// Refuses paths that cannot be written, before anything is measured.
    pub fn check(&self) -> Result<(), Failure> {
        self.json.iter().try_for_each(|path| check_file(path))
    }

    /// Writes the table, the JSON or both.
    pub fn write<R: Serialize + Display>(&self, result: &R) -> Result<(), Failure> {
        write_numbers(self.json.as_deref(), result)
    }
}

/// Refuses the path of a file that cannot be written. Leaves nothing behind.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    let wrong = |what: &str| Failure::at(path.display(), format!("cannot be written: {what}"));
    match path.metadata() {
        _ if path.as_os_str() == "-" => Ok(()),
        Ok(metadata) if metadata.is_dir() => {
            Err(wrong("is a directory; expected the name of a file"))
        }
        Ok(_) => demand_writable(path).map_err(|error| wrong(&error.to_string())),
        Err(_) => {
            refuse_missing_device(path)?;
            let directory = directory_of(path);
            match directory.metadata() {
                Ok(metadata) if metadata.is_dir() => demand_files_in(directory),
                Ok(_) => {
                    return Err(wrong(&format!(
                        "{} is no directory; expected one",
                        directory.display()
                    )));
                }
                Err(error) => Err(error),
            }
            .map_err(|error| {
                wrong(&format!(
                    "{}: {error}; expected a directory in which files can be made",
                    directory.display()
                ))
            })
        }
    }
}

/// Reads the path of a file that is not written to standard output.
pub fn file(text: &str) -> Result<PathBuf, &'static str> {
    if text == "-" {
        Err("expected the name of a file; `./-` is a file called `-`")
    } else {
        Ok(text.into())
    }
}

/// Reads the path of a directory.
fn directory(text: &str) -> Result<PathBuf, &'static str> {
    if text == "-" {
        Err("expected a directory: there are several figures")
    } else {
        Ok(text.into())
    }
}

/// Refuses the path of a directory that can be neither created nor written to.
pub fn check_directory(path: &Path) -> Result<(), Failure> {
    match path.ancestors().find(|above| above.as_os_str().is_empty() || above.exists()) {
        Some(above) if !above.as_os_str().is_empty() && !above.is_dir() => Err(Failure::at(
            path.display(),
            format!("{} is a file; expected a directory", above.display()),
        )),
        Some(above) => {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            demand_files_in(above).map_err(|error| Failure::writing(path.display(), &error))
        }
        None => Ok(()),
    }
}

/// Makes a file in a directory, and removes it.
fn demand_files_in(directory: &Path) -> io::Result<()> {
    let probe = directory.join(part_name(std::process::id()));
    fs::File::create(&probe)?;
    fs::remove_file(&probe)
}

#[cfg(unix)]
fn demand_writable(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?)
}

#[cfg(not(unix))]
fn demand_writable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes the table to standard output and the JSON to a file, or the JSON to standard output.
fn write_numbers<R: Serialize + Display>(
    json_path: Option<&Path>,
    result: &R,
) -> Result<(), Failure> {
    match json_path {
        Some(path) if path.as_os_str() == "-" => print_json(result),
        Some(path) => {
            let written = json(result).and_then(|text| write_file(path, &text));
            print(&within_columns(result)).and(written)
        }
        None => print(&within_columns(result)),
    }
}

/// Returns the text of a result, without a line that is too long for a terminal. Tables keep the
/// width by themselves. An indented line stays whole, because it may be a command to copy.
fn within_columns<R: Display>(result: &R) -> String {
    let text = result.to_string();
    let line = |line: &str| {
        if line.starts_with(' ') { line.to_string() } else { paragraph(line, 2) }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

impl Outputs {
    /// Refuses paths that cannot be written, before anything is measured.
    pub fn check(&self) -> Result<(), Failure> {
        self.json.iter().chain(&self.report).try_for_each(|path| check_file(path))?;
        self.svg.iter().try_for_each(|path| check_directory(path))
    }

    /// Writes all requested outputs. `result` is the table and the JSON; `report` is made only if
    /// it is needed. An output that cannot be written prevents no other output.
    pub fn write<R: Serialize + Display, P: Page>(
        &self,
        result: &R,
        report: impl FnOnce() -> P,
    ) -> Result<(), Failure> {
        let report = (self.report.is_some() || self.svg.is_some()).then(report);
        let html = match (&self.report, &report) {
            (Some(path), Some(report)) => write_file(path, &report.html()),
            _ => Ok(()),
        };
        let svg = match (&self.svg, &report) {
            (Some(directory), Some(report)) => write_svg(report, directory)
                .map(drop)
                .map_err(|error| Failure::writing(directory.display(), &error)),
            _ => Ok(()),
        };
        write_numbers(self.json.as_deref(), result).and(html).and(svg)
    }
}

/// Writes a value as JSON to standard output.
pub fn print_json<R: Serialize>(value: &R) -> Result<(), Failure> {
    print(&json(value)?)
}

fn json<R: Serialize>(value: &R) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(format!("JSON: {error}")))?;
    Ok(escaped_json(&text) + "\n")
}

/// Escapes each character that a terminal acts on. The serialiser escapes only the control
/// characters below space.
fn escaped_json(text: &str) -> String {
    let escape = |c: char| {
        if c != '\n' && is_unprintable(c) {
            format!("\\u{:04x}", u32::from(c))
        } else {
            c.to_string()
        }
    };
    text.chars().map(escape).collect()
}

/// Writes text to standard output. A pipe whose reader has ended is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(for_terminal(text).as_bytes())
}

/// Writes bytes to standard output, as [`print()`] does.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match interrupt::write(|| output.write_all(bytes).and_then(|()| output.flush())) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::writing("standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Writes a file. Leaves no part of a new file after a failure.
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let is_new = !path.exists();
    interrupt::write(|| fs::write(path, text)).map_err(|error| {
        if is_new {
            remove(path);
        }
        Failure::writing(path.display(), &error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_the_same_without_what_terminals_act_on() {
        let names = ["a\u{1b}[2J", "b\u{9b}2J", "c\u{7f}", "d\u{202e}", "e\n", "ordinary ä"];
        let text = json(&names).unwrap();
        assert!(!text.contains(|c: char| c != '\n' && is_unprintable(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
        assert!(text.contains("ä"));
    }
}
