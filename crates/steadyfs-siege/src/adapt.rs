//! The few places that know how this edition of the public API says things.

use steadyfs::media::Flash;
use steadyfs::{Error, FileSystem};

/// Whether an error says that it is unknown if the call took effect.
pub fn is_unknown(error: Error) -> bool {
    error == Error::Unknown
}

/// Why a mounted volume can only be read, if it can only be read.
pub fn why_read_only<F: Flash>(fs: &FileSystem<'_, F>) -> Option<String> {
    let health = fs.health();
    if let Some(damage) = fs.damage() {
        return Some(format!("{damage:?}"));
    }
    health.read_only.then(|| if health.worn_out { "worn out".to_string() } else { "read-only".to_string() })
}

/// Whether every later mount must show what this one does.
pub fn is_settled<F: Flash>(fs: &FileSystem<'_, F>) -> bool {
    fs.is_settled()
}

/// Whether the mount says that something is missing.
pub fn tells_damage<F: Flash>(fs: &FileSystem<'_, F>) -> bool {
    fs.damage().is_some() || why_read_only(fs).is_some()
}
