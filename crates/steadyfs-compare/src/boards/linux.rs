//! Mounts of Linux's own file systems, from `bench/linux.json`: `docs/results/linux-peers.md`.

use super::step::{Span, Spans};
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../../bench/linux.json");

/// Returns the time of the mount of a root file system, by the name of the file system.
///
/// # Errors
/// The place in the document that is wrong.
pub fn mounts() -> Result<Spans, String> {
    let all: serde_json::Map<String, Value> =
        serde_json::from_str(DOCUMENT).map_err(|error| format!("bench/linux.json: {error}"))?;
    let mount = |(name, cases): (&String, &Value)| {
        let seconds = cases.get("root")?.get("mount")?.as_f64()?;
        Some((name.clone(), Span::of_total(seconds * 1e3)))
    };
    Ok(all.iter().filter_map(mount).collect())
}
