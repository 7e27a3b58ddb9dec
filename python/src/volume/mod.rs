//! A mounted volume, as an object for Python.
//!
//! | file | idea |
//! |---|---|
//! | `cell` | the volume, the memory that it borrows, and its open files, behind a mutex |
//! | `files` | content: opening, reading, writing |
//! | `names` | directories, links, attributes, permissions |
//! | `state` | health, space and checks, as dictionaries |

mod cell;
mod files;
mod names;
mod state;

pub use names::Stat;

use crate::medium::Medium;
use crate::trouble::Trouble;
use cell::Cell;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use steadyfs::Access;

/// A mounted volume. `steadyfs.Image` documents its methods and their units.
#[pyclass(frozen, module = "steadyfs._native")]
pub struct Volume {
    cell: Cell,
}

impl Volume {
    /// Calls `act` with the volume, without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut cell::Open<'_, '_>) -> Result<T, Trouble> + Send,
    ) -> PyResult<T> {
        py.detach(|| self.cell.with(act)).map_err(|trouble| trouble.raise(py))
    }

    /// Calls `act` for a change. Sets the time of the volume first.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut cell::Open<'_, '_>) -> Result<T, Trouble> + Send,
    ) -> PyResult<T> {
        self.with(py, |open| {
            open.tell_time();
            act(open)
        })
    }
}

/// Formats a medium if there is a configuration, and mounts it.
fn mount(
    medium: Medium,
    config: Option<steadyfs::Config>,
    access: Access,
    name: String,
    time: Option<u64>,
) -> Result<Volume, Trouble> {
    Ok(Volume { cell: Cell::mount(medium, config, access, name, time)? })
}

#[pymethods]
impl Volume {
    #[staticmethod]
    fn open_image(
        py: Python<'_>,
        path: PathBuf,
        device: Option<String>,
        writable: bool,
        time_ns: Option<u64>,
    ) -> PyResult<Self> {
        let name = path.display().to_string();
        let access = if writable { Access::ReadWrite } else { Access::ReadOnly };
        let opened = py.detach(|| {
            let medium = Medium::open(&path, device.as_deref(), access, &name)?;
            let damaged = medium
                .damaged_superblock()
                .map(|damaged| format!("{name}: {damaged}; `check(repair=True)` writes it anew"));
            let unusual = medium.unusual_division().map(|words| format!("{name}: {words}"));
            mount(medium, None, access, name, time_ns).map(|volume| (volume, [damaged, unusual]))
        });
        let (volume, warnings) = opened.map_err(|trouble: Trouble| trouble.raise(py))?;
        for words in warnings.into_iter().flatten() {
            let text = std::ffi::CString::new(words).unwrap_or_default();
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
        }
        Ok(volume)
    }

    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "the settings of a volume, called from one place")]
    fn create_image(
        py: Python<'_>,
        path: PathBuf,
        name: String,
        device: Option<String>,
        size_bytes: Option<u64>,
        files_max: Option<u32>,
        name_bytes_max: Option<u8>,
        time_ns: Option<u64>,
    ) -> PyResult<Self> {
        py.detach(|| {
            let (medium, usual) = Medium::create(&path, device.as_deref(), size_bytes, &name)?;
            let config = cell::settings(usual, files_max, name_bytes_max);
            mount(medium, Some(config), Access::ReadWrite, name, time_ns)
        })
        .map_err(|trouble: Trouble| trouble.raise(py))
    }

    #[staticmethod]
    fn blank(
        py: Python<'_>,
        device: String,
        size_bytes: Option<u64>,
        files_max: Option<u32>,
        name_bytes_max: Option<u8>,
        time_ns: Option<u64>,
    ) -> PyResult<Self> {
        py.detach(|| {
            let (medium, usual) = Medium::blank(&device, size_bytes, 1)?;
            let config = cell::settings(usual, files_max, name_bytes_max);
            mount(medium, Some(config), Access::ReadWrite, format!("<{device}>"), time_ns)
        })
        .map_err(|trouble: Trouble| trouble.raise(py))
    }

    #[getter]
    fn name(&self) -> String {
        self.cell.name().to_string()
    }

    #[getter]
    fn writable(&self) -> bool {
        self.cell.is_writable()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.cell.is_closed()
    }

    #[getter]
    fn forked(&self) -> bool {
        self.cell.is_fork()
    }

    /// Commits, unmounts, and waits until an image is on the host's disk.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.cell.close()).map_err(|trouble| trouble.raise(py))
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |open| open.call("", |fs| fs.commit()))
    }

    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |open| open.call("", |fs| fs.rollback()))
    }

    fn set_automatic(&self, py: Python<'_>, automatic: bool) -> PyResult<()> {
        self.with(py, |open| {
            open.fs.set_commit_on(if automatic {
                cell::AUTOMATIC
            } else {
                steadyfs::CommitOn::UNMOUNT
            });
            Ok(())
        })
    }

    fn has_changes(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |open| Ok(open.fs.has_changes()))
    }

    fn stat(&self, py: Python<'_>, path: &str) -> PyResult<Stat> {
        self.with(py, |open| names::stat(open, path))
    }

    fn entries(&self, py: Python<'_>, path: &str) -> PyResult<Vec<Stat>> {
        self.with(py, |open| names::entries(open, path))
    }

    fn mkdir(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        self.change(py, |open| {
            open.call(path, |fs| steadyfs_host::plain::create_dir(fs, path)).map(drop)
        })
    }

    fn remove(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        self.change(py, |open| open.call(path, |fs| fs.remove(path)))
    }

    fn rmdir(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        self.change(py, |open| open.call(path, |fs| fs.remove_dir(path)))
    }

    fn rename(&self, py: Python<'_>, from: &str, to: &str) -> PyResult<()> {
        self.change(py, |open| names::with_two(open, from, to, |fs| fs.rename(from, to)))
    }

    fn exchange(&self, py: Python<'_>, one: &str, other: &str) -> PyResult<()> {
        self.change(py, |open| names::with_two(open, one, other, |fs| fs.exchange(one, other)))
    }

    fn symlink(&self, py: Python<'_>, target: &str, path: &str) -> PyResult<()> {
        self.change(py, |open| open.call(path, |fs| fs.create_symlink(path, target)).map(drop))
    }

    fn readlink(&self, py: Python<'_>, path: &str) -> PyResult<String> {
        self.with(py, |open| names::read_link(open, path))
    }

    fn getattr(&self, py: Python<'_>, path: &str, key: &str) -> PyResult<Py<PyBytes>> {
        let value = self.with(py, |open| names::attribute(open, path, key))?;
        Ok(PyBytes::new(py, &value).unbind())
    }

    fn setattr(&self, py: Python<'_>, path: &str, key: &str, value: Option<&[u8]>) -> PyResult<()> {
        self.change(py, |open| names::set_attribute(open, path, key, value))
    }

    fn attributes(&self, py: Python<'_>, path: &str) -> PyResult<Vec<String>> {
        self.with(py, |open| names::attributes(open, path))
    }

    fn set_modified(&self, py: Python<'_>, path: &str, modified_ns: u64) -> PyResult<()> {
        self.with(py, |open| names::set_modified(open, path, modified_ns))
    }

    fn permissions(&self, py: Python<'_>, path: &str) -> PyResult<Option<(u16, u32, u32)>> {
        self.with(py, |open| names::permissions(open, path))
    }

    fn set_permissions(
        &self,
        py: Python<'_>,
        path: &str,
        mode: u16,
        uid: u32,
        gid: u32,
    ) -> PyResult<()> {
        self.change(py, |open| names::set_permissions(open, path, mode, uid, gid))
    }

    /// Opens a file. The returned number identifies it until it is closed.
    fn open(&self, py: Python<'_>, path: &str, how: &str, durable: bool) -> PyResult<u64> {
        let how = files::How::of(how, durable);
        self.change(py, |open| files::open(open, path, how))
    }

    fn file_close(&self, py: Python<'_>, file: u64) -> PyResult<()> {
        // A closed volume has closed its files.
        if self.cell.is_closed() {
            Ok(())
        } else {
            self.change(py, |open| files::close(open, file))
        }
    }

    fn file_size(&self, py: Python<'_>, file: u64) -> PyResult<u64> {
        self.with(py, |open| files::size(open, file))
    }

    fn file_truncate(&self, py: Python<'_>, file: u64, size: u64) -> PyResult<()> {
        self.change(py, |open| files::truncate(open, file, size))
    }

    fn file_flush(&self, py: Python<'_>, file: u64) -> PyResult<()> {
        self.change(py, |open| files::flush(open, file))
    }

    /// Reads up to `count` bytes, or up to the end of the file. Ctrl-C ends the call.
    fn file_read(
        &self,
        py: Python<'_>,
        file: u64,
        offset: u64,
        count: usize,
    ) -> PyResult<Py<PyBytes>> {
        // The buffer is not larger than the rest of the file.
        let left = self.file_size(py, file)?.saturating_sub(offset);
        let count = count.min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut done = 0;
        let bytes = PyBytes::new_with(py, count, |buffer| {
            while done < buffer.len() {
                py.check_signals()?;
                let piece =
                    buffer[done..].chunks_mut(files::PIECE_BYTES).next().unwrap_or_default();
                let at = offset + done as u64;
                match self.with(py, |open| files::read(open, file, at, piece))? {
                    0 => break,
                    read => done += read,
                }
            }
            Ok(())
        })?;
        // Another handle may have truncated the file meanwhile.
        let bytes = if done < count { PyBytes::new(py, &bytes.as_bytes()[..done]) } else { bytes };
        Ok(bytes.unbind())
    }

    /// Writes the bytes. If there is no room, writes the first part of them. Returns the number
    /// of written bytes, or an error if there are none.
    fn file_write(&self, py: Python<'_>, file: u64, offset: u64, data: &[u8]) -> PyResult<usize> {
        self.change(py, |open| files::write(open, file, offset, data))
    }

    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        state::dict(py, &self.with(py, |open| Ok(state::usage(open)))?)
    }

    /// Returns the damage that the mount found: a word, and a sentence.
    fn damage(&self, py: Python<'_>) -> PyResult<Option<(&'static str, String)>> {
        self.with(py, |open| Ok(state::damage(open)))
    }

    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (numbers, damage, endurance) = self.with(py, |open| Ok(state::health(open)))?;
        let health = state::dict(py, &numbers)?;
        health.set_item("damage", damage)?;
        health.set_item("endurance", endurance)?;
        Ok(health)
    }

    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        state::dict(py, &self.with(py, |open| Ok(state::counters(open)))?)
    }

    fn check<'py>(&self, py: Python<'py>, repair: bool) -> PyResult<Bound<'py, PyDict>> {
        let (numbers, findings) = self.change(py, |open| state::check(open, repair))?;
        let checked = state::dict(py, &numbers)?;
        checked.set_item("findings", findings)?;
        Ok(checked)
    }
}
