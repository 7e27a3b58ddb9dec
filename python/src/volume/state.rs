//! Health, space, work and checks of a volume.

use super::cell::Open;
use crate::trouble::Trouble;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use steadyfs::media::Flash;
use steadyfs::{Error, Finding};
use steadyfs_host::damage;
use steadyfs_sim::Metered;

/// Numbers by name.
pub type Numbers = Vec<(&'static str, u64)>;

/// Returns a dictionary of numbers.
pub fn dict<'py>(py: Python<'py>, numbers: &Numbers) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, number) in numbers {
        dict.set_item(name, number)?;
    }
    Ok(dict)
}

/// Returns the room of the volume. If the list of removed files is damaged, writes do not find
/// their pages.
pub fn usage(open: &mut Open<'_, '_>) -> Numbers {
    let usage = open.fs.usage();
    let free_bytes = open.fs.free_bytes().unwrap_or(usage.usable_bytes - usage.used_bytes);
    let available_bytes = open.fs.available().unwrap_or(0);
    vec![
        ("usable_bytes", usage.usable_bytes),
        ("free_bytes", free_bytes),
        ("available_bytes", available_bytes),
        ("logical_bytes", usage.logical_bytes.into()),
        ("files_max", usage.files_max.into()),
        ("files", usage.files.into()),
    ]
}

/// Returns the counters of the medium since the image was opened.
pub fn counters(open: &mut Open<'_, '_>) -> Numbers {
    let counters = open.fs.flash().counters();
    vec![
        ("reads", counters.reads + counters.tag_reads),
        ("programs", counters.programs + counters.copies),
        ("erases", counters.erases),
        ("time_ns", counters.time_ns),
    ]
}

/// Returns the damage that the mount found: a word, and a sentence.
pub fn damage(open: &Open<'_, '_>) -> Option<(&'static str, String)> {
    let words = |lost| format!("{}; {}", damage::describe(lost), damage::REMEDY_IN_PYTHON);
    open.fs.damage().map(|lost| (damage::name(lost), words(lost)))
}

/// Returns the health of the chip, the damage, and the number of erases that a block endures.
pub fn health(open: &mut Open<'_, '_>) -> (Numbers, Option<&'static str>, Option<u32>) {
    let (health, geometry) = (open.fs.health(), open.fs.flash().geometry());
    let lost = open.fs.damage();
    let is_unsettled = !open.fs.is_settled() && lost.is_none() && !health.worn_out;
    let numbers = vec![
        ("blocks", geometry.block_count.into()),
        ("data_blocks", health.blocks.into()),
        ("bad_blocks", health.bad_blocks.into()),
        ("spare_blocks", health.spare_blocks.into()),
        ("weak_blocks", health.weak_blocks.into()),
        ("erases_min", health.erases_min.into()),
        ("erases_max", health.erases_max.into()),
        ("erases_total", health.erases_total),
        ("worn_out", health.worn_out.into()),
        ("unsettled", is_unsettled.into()),
    ];
    (numbers, lost.map(damage::name), open.fs.flash().endurance())
}

/// Verifies everything, and mends if `repair` is set. Returns numbers and findings.
pub fn check(open: &mut Open<'_, '_>, repair: bool) -> Result<(Numbers, Vec<String>), Trouble> {
    if !open.files.is_empty() {
        let words = format!("{} files are open; expected none during a check", open.files.len());
        return Err(Trouble::new("EBUSY", words, open.place("")));
    }
    let lost = open.fs.damage();
    let mut scratch = vec![0; open.fs.config().check_bytes(&open.fs.flash().geometry())];
    let mut findings: Vec<String> = Vec::new();
    let mut note = |finding: Finding| findings.push(finding.to_string());
    let repaired =
        if repair && lost.is_some() { Some(open.fs.repair(&mut scratch, &mut note)) } else { None };
    let checked = match repaired {
        // If a repair cannot accept the loss, the check finds it again.
        None | Some(Err(Error::Corrupt)) => {
            let mends = repair && open.fs.damage().is_none();
            open.call("", |fs| fs.check(&mut scratch, mends, &mut note))
        }
        Some(result) => open.call("", |_| result),
    }?;
    let rewritten = check_superblocks(open, repair, &mut findings);
    let leaving = open.fs.pending_free_bytes().unwrap_or(0);
    let numbers = vec![
        ("files", checked.files.into()),
        // The root is left out: it was not created by a user.
        ("directories", u64::from(checked.directories).saturating_sub(1)),
        ("pages", checked.pages.into()),
        ("mended", u64::from(checked.mended.total()) + u64::from(rewritten)),
        ("removed_bytes", leaving),
    ];
    Ok((numbers, findings))
}

/// Adds the damaged copy of the superblock to the findings, and rewrites it if `repair` is set.
/// Returns true if it was rewritten.
fn check_superblocks(open: &mut Open<'_, '_>, repair: bool, findings: &mut Vec<String>) -> bool {
    let Some(damaged) = open.fs.flash().damaged_superblock() else { return false };
    let mended = repair.then(|| open.fs.flash_mut().mend_superblock());
    findings.push(match &mended {
        None => damaged,
        Some(Ok(())) => format!("{damaged}; it was written anew"),
        Some(Err(error)) => format!("{damaged}; it cannot be written anew: {error}"),
    });
    matches!(mended, Some(Ok(())))
}
