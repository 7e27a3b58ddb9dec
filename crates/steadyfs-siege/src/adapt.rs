//! The few functions that depend on details of the public API.

use steadyfs::media::Flash;
use steadyfs::{Error, FileSystem};

/// Returns true if an error means that the call may or may not have taken effect.
pub fn is_unknown(error: Error) -> bool {
    error == Error::Unknown
}

/// Returns the reason why a mounted volume is read-only, or `None` if it can be written.
pub fn why_read_only<F: Flash>(fs: &FileSystem<'_, F>) -> Option<String> {
    let health = fs.health();
    if let Some(damage) = fs.damage() {
        return Some(format!("{damage:?}"));
    }
    health
        .read_only
        .then(|| if health.worn_out { "worn out".to_string() } else { "read-only".to_string() })
}

/// Returns true if every later mount must show the same state as this mount.
pub fn is_settled<F: Flash>(fs: &FileSystem<'_, F>) -> bool {
    fs.is_settled()
}

/// Returns true if the mount reports damage or is read-only.
pub fn tells_damage<F: Flash>(fs: &FileSystem<'_, F>) -> bool {
    fs.damage().is_some() || why_read_only(fs).is_some()
}
