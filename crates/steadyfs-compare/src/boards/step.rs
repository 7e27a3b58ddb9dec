//! The work of a run: steps, and the times that they took.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steadyfs_lab::bench::{Contender, Fault, Mode, Volume};
use steadyfs_sim::Counters;

/// Number of files whose times are kept.
const FILES_KEPT: usize = 16;

/// A step.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Step {
    /// Makes an empty volume this number of times.
    Format {
        /// The label of the time.
        label: Option<String>,
        /// Number of formats.
        #[serde(default = "one")]
        times: u32,
    },
    /// Mounts the volume.
    Mount {
        /// The label of the time.
        label: Option<String>,
    },
    /// Unmounts the volume.
    Unmount,
    /// Writes files.
    Write(Write),
    /// Reads files by pieces, and compares the bytes.
    Read {
        /// The label of the times.
        label: Option<String>,
        /// The files.
        #[serde(flatten)]
        files: Files,
        /// Bytes of a call.
        chunk: usize,
    },
    /// Removes files.
    Remove {
        /// The label of the times.
        label: Option<String>,
        /// The files.
        #[serde(flatten)]
        files: Files,
    },
    /// Returns the sizes of files, by their names.
    Stat {
        /// The label of the times.
        label: Option<String>,
        /// The files.
        #[serde(flatten)]
        files: Files,
    },
    /// Serves pages of a web server in random order, each with a style sheet. The style sheet is
    /// `page-0`, and the pages follow.
    Serve {
        /// The label of the times.
        label: Option<String>,
        /// Number of visits.
        visits: usize,
        /// Bytes of each page, and its visits of 100.
        pages: Vec<(u32, usize)>,
        /// Bytes of the style sheet.
        style: u32,
        /// Bytes of a call.
        chunk: usize,
    },
    /// Accesses the sectors of a card, without a file system.
    Sectors {
        /// The label of the times.
        label: Option<String>,
        /// True if sectors are written.
        writes: bool,
        /// True if the places are random over the whole card.
        random: bool,
        /// Bytes of an access, whole sectors.
        bytes: u64,
        /// Number of accesses.
        count: u64,
    },
}

/// Numbered files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Files {
    /// The name before the number.
    #[serde(default = "usual_name")]
    pub name: String,
    /// Number of the first file.
    #[serde(default)]
    pub first: u32,
    /// Number of files.
    pub files: u32,
    /// Distance between the numbers. 0 takes the same file again.
    #[serde(default = "one")]
    pub every: u32,
}

/// A step that writes files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Write {
    /// The label of the times.
    pub label: Option<String>,
    /// The files.
    #[serde(flatten)]
    pub files: Files,
    /// Bytes of a file, or bytes that are added.
    pub bytes: u64,
    /// Bytes of a call.
    pub chunk: usize,
    /// True if bytes are added to the ends of existing files.
    #[serde(default)]
    pub append: bool,
    /// True if each call is followed by one that makes it durable.
    #[serde(default)]
    pub sync: bool,
    /// True if the volume is mounted before each file, and unmounted behind it.
    #[serde(default)]
    pub remount: bool,
    /// True if a full volume ends the step.
    #[serde(default)]
    pub until_full: bool,
    /// True if the close of a file takes no part in its time.
    #[serde(default)]
    pub without_close: bool,
    /// The label of the times of closes, which then take no part in the times of files.
    pub end_label: Option<String>,
}

fn one() -> u32 {
    1
}

fn usual_name() -> String {
    "file-".to_string()
}

/// The times of a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Time in milliseconds.
    pub total_ms: f64,
    /// Bytes of payload.
    pub payload_bytes: u64,
    /// Times of the first files, in milliseconds.
    pub files_ms: Vec<f64>,
    /// Mean of all files, in milliseconds.
    pub mean_file_ms: f64,
    /// Median of all files, in milliseconds.
    pub median_file_ms: f64,
    /// Longest of all files, in milliseconds.
    pub longest_file_ms: f64,
    /// Number of timed calls.
    pub calls: u64,
    /// Median of the calls, in milliseconds.
    pub median_call_ms: f64,
    /// Longest call, in milliseconds.
    pub longest_call_ms: f64,
    /// Read commands.
    pub reads: u64,
    /// Program commands.
    pub programs: u64,
    /// Erases.
    pub erases: u64,
    /// Bytes that the chip sent.
    pub bytes_read: u64,
    /// Bytes that the chip programmed.
    pub bytes_programmed: u64,
    /// Calls that were refused for lack of room.
    pub refused: u64,
    /// Times of the calls, in nanoseconds, until the end of the run.
    #[serde(skip)]
    calls_ns: Vec<u64>,
}

/// The times of a run, by label.
pub type Spans = BTreeMap<String, Span>;

impl Step {
    /// Returns the label.
    pub fn label(&self) -> Option<&str> {
        match self {
            Step::Unmount => None,
            Step::Format { label, .. }
            | Step::Mount { label }
            | Step::Read { label, .. }
            | Step::Remove { label, .. }
            | Step::Stat { label, .. }
            | Step::Serve { label, .. }
            | Step::Sectors { label, .. } => label.as_deref(),
            Step::Write(write) => write.label.as_deref(),
        }
    }

    /// Returns the labels of all times.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let end = match self {
            Step::Write(write) => write.end_label.as_deref(),
            _ => None,
        };
        self.label().into_iter().chain(end)
    }

    /// Returns the same work without mounts inside a step.
    fn parts(&self) -> Vec<Step> {
        match self {
            Step::Write(write) if write.remount => (0..write.files.files)
                .flat_map(|index| {
                    let first = write.files.first + index * write.files.every;
                    let files = Files { first, files: 1, ..write.files.clone() };
                    let part = Write { files, remount: false, ..write.clone() };
                    [Step::Mount { label: None }, Step::Write(part), Step::Unmount]
                })
                .collect(),
            other => vec![other.clone()],
        }
    }
}

impl Files {
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.files).map(|index| format!("{}{}", self.name, self.first + index * self.every))
    }
}

impl Span {
    /// Returns a span with nothing but its time.
    pub(super) fn of_total(total_ms: f64) -> Span {
        Span { total_ms, ..Span::default() }
    }

    /// Adds the operations and the payload of some calls.
    pub(super) fn add(&mut self, before: &Counters, after: &Counters, payload_bytes: u64) {
        let used = after.since(before);
        self.total_ms += used.time_ns as f64 / 1e6;
        self.payload_bytes += payload_bytes;
        self.reads += used.reads + used.tag_reads;
        self.programs += used.programs + used.copies;
        self.erases += used.erases;
        self.bytes_read += used.bytes_read;
        self.bytes_programmed += used.bytes_programmed;
    }

    fn add_file(&mut self, before: &Counters, after: &Counters, payload_bytes: u64) {
        self.add(before, after, payload_bytes);
        self.files_ms.push(after.since(before).time_ns as f64 / 1e6);
    }

    pub(super) fn add_call(&mut self, before: &Counters, after: &Counters) {
        self.calls_ns.push(after.since(before).time_ns);
    }

    /// Sums up the files and the calls.
    pub(super) fn close(&mut self) {
        let mut files_ms = self.files_ms.clone();
        files_ms.sort_by(f64::total_cmp);
        self.mean_file_ms = files_ms.iter().sum::<f64>() / files_ms.len().max(1) as f64;
        self.median_file_ms = files_ms.get(files_ms.len() / 2).copied().unwrap_or(0.0);
        self.longest_file_ms = files_ms.last().copied().unwrap_or(0.0);
        self.files_ms.truncate(FILES_KEPT);
        self.calls_ns.sort_unstable();
        let ms = |ns: Option<&u64>| ns.map_or(0.0, |&ns| ns as f64 / 1e6);
        self.calls = self.calls_ns.len() as u64;
        self.median_call_ms = ms(self.calls_ns.get(self.calls_ns.len() / 2));
        self.longest_call_ms = ms(self.calls_ns.last());
    }
}

/// Returns the bytes of a file from an offset on.
fn fill(data: &mut [u8], offset: u64) {
    for (index, byte) in data.iter_mut().enumerate() {
        let at = offset + index as u64;
        *byte = (at ^ (at >> 8) ^ (at >> 16)) as u8;
    }
}

/// Runs steps on a contender. Returns their times.
///
/// # Errors
/// [`Fault`] of a call, or wrong bytes.
pub fn follow(contender: &mut impl Contender, steps: &[Step]) -> Result<Spans, Fault> {
    let parts: Vec<Step> = steps.iter().flat_map(Step::parts).collect();
    let (mut rest, mut spans) = (parts.as_slice(), Spans::new());
    while let Some((step, behind)) = rest.split_first() {
        rest = behind;
        let before = contender.counters();
        match step {
            Step::Format { times, .. } => {
                (0..*times).try_for_each(|_| contender.format())?;
                span(&mut spans, step).add(&before, &contender.counters(), 0);
            }
            Step::Mount { .. } => rest = mounted(contender, step, rest, &mut spans)?,
            other => return Err(Fault::Failed(format!("{other:?} without a mount"))),
        }
    }
    spans.values_mut().for_each(Span::close);
    spans.remove("");
    Ok(spans)
}

/// Returns the span of a step. Steps without label share one.
fn span<'s>(spans: &'s mut Spans, step: &Step) -> &'s mut Span {
    spans.entry(step.label().unwrap_or_default().to_string()).or_default()
}

/// Mounts the volume and runs the steps until it is unmounted. Returns the steps behind these.
fn mounted<'s>(
    contender: &mut impl Contender,
    mount: &Step,
    mut rest: &'s [Step],
    spans: &mut Spans,
) -> Result<&'s [Step], Fault> {
    let before = contender.counters();
    let mut volume = contender.mount()?;
    span(spans, mount).add(&before, &volume.counters(), 0);
    while let Some((step, behind)) = rest.split_first() {
        rest = behind;
        let to = span(spans, step);
        match step {
            Step::Unmount => return volume.unmount().map(|()| rest),
            Step::Write(write) => {
                let mut ends = Span::default();
                let written = write_files(&mut volume, write, to, &mut ends);
                if let Some(label) = &write.end_label {
                    spans.insert(label.clone(), ends);
                }
                written?;
            }
            Step::Read { files, chunk, .. } => {
                files
                    .names()
                    .try_for_each(|name| read_file(&mut volume, &name, *chunk, u64::MAX, to))?;
            }
            Step::Remove { files, .. } => {
                for name in files.names() {
                    let before = volume.counters();
                    volume.remove(&name)?;
                    to.add_file(&before, &volume.counters(), 0);
                }
            }
            Step::Stat { files, .. } => {
                for name in files.names() {
                    let before = volume.counters();
                    volume.stat(&name)?;
                    to.add_file(&before, &volume.counters(), 0);
                }
            }
            Step::Serve { visits, pages, style, chunk, .. } => {
                serve(&mut volume, *visits, pages, *style, *chunk, to)?;
            }
            other => return Err(Fault::Failed(format!("{other:?} on a mounted volume"))),
        }
    }
    Ok(rest)
}

fn write_files<V: Volume>(
    volume: &mut V,
    write: &Write,
    to: &mut Span,
    ends: &mut Span,
) -> Result<(), Fault> {
    for name in write.files.names() {
        match write_file(volume, write, &name, to, ends) {
            Err(Fault::NoRoom(_)) if write.until_full => {
                to.refused += 1;
                return Ok(());
            }
            other => other?,
        }
    }
    Ok(())
}

fn write_file<V: Volume>(
    volume: &mut V,
    write: &Write,
    name: &str,
    to: &mut Span,
    ends: &mut Span,
) -> Result<(), Fault> {
    let before = volume.counters();
    let start = if write.append { volume.stat(name)? } else { 0 };
    let mode = if write.append { Mode::Write } else { Mode::Create };
    let mut file = volume.open(name, mode)?;
    let (mut data, mut done) = (vec![0; write.chunk], 0);
    let mut result = Ok(());
    while done < write.bytes && result.is_ok() {
        let length = (write.bytes - done).min(write.chunk as u64) as usize;
        fill(&mut data[..length], start + done);
        let call = volume.counters();
        result = volume.write(&mut file, start + done, &data[..length]);
        if write.sync && result.is_ok() {
            result = volume.sync(&mut file);
        }
        to.add_call(&call, &volume.counters());
        done += length as u64;
    }
    let written = volume.counters();
    let closed = volume.close(file);
    ends.add_file(&written, &volume.counters(), 0);
    ends.add_call(&written, &volume.counters());
    let is_short = write.without_close || write.end_label.is_some();
    let after = if is_short { written } else { volume.counters() };
    to.add_file(&before, &after, done);
    result.and(closed)
}

/// Reads a file until its end, at most `bytes`.
fn read_file<V: Volume>(
    volume: &mut V,
    name: &str,
    chunk: usize,
    bytes: u64,
    to: &mut Span,
) -> Result<(), Fault> {
    let before = volume.counters();
    let mut file = volume.open(name, Mode::Read)?;
    let (mut data, mut expected, mut at) = (vec![0; chunk], vec![0; chunk], 0);
    loop {
        let wanted = (bytes - at).min(chunk as u64) as usize;
        let call = volume.counters();
        let length = volume.read(&mut file, at, &mut data[..wanted])?;
        to.add_call(&call, &volume.counters());
        fill(&mut expected[..length], at);
        if data[..length] != expected[..length] {
            return Err(Fault::Failed(format!("{name} holds other bytes from {at} on")));
        }
        at += length as u64;
        if length < chunk || at == bytes {
            break;
        }
    }
    volume.close(file)?;
    to.add_file(&before, &volume.counters(), at);
    Ok(())
}

fn serve<V: Volume>(
    volume: &mut V,
    visits: usize,
    pages: &[(u32, usize)],
    style: u32,
    chunk: usize,
    to: &mut Span,
) -> Result<(), Fault> {
    let share = |(page, &(_, percent)): (usize, &(u32, usize))| {
        std::iter::repeat_n(page, visits * percent / 100)
    };
    let mut order: Vec<usize> = pages.iter().enumerate().flat_map(share).collect();
    fastrand::Rng::with_seed(1).shuffle(&mut order);
    for page in order {
        read_file(volume, &format!("page-{}", page + 1), chunk, pages[page].0.into(), to)?;
        read_file(volume, "page-0", chunk, style.into(), to)?;
    }
    Ok(())
}
