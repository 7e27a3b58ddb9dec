//! Keys of Ed25519 that sign images, in files. A file has a word that names the part of the key,
//! and 32 bytes as 64 digits.
//!
//! The secret key is the seed of the key pair. The public key verifies; its file lies beside the
//! secret one, with `.pub` behind the name.

use crate::Failure;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use steadyfs_convert::verity::public_key;

/// Bytes of a key.
pub type Key = [u8; 32];

/// Maximum bytes that are read of a file: a longer file is no key.
const FILE_BYTES_MAX: u64 = 256;

/// The first words of the files. They prevent signing with the public key, which would publish
/// the signing key.
const SECRET: &str = "ed25519-secret ";
const PUBLIC: &str = "ed25519-public ";

/// Reads a secret key.
pub fn secret(path: &Path) -> Result<Key, Failure> {
    read(path, SECRET, "expected a secret key of 64 digits, as `steady keygen` writes one")
}

/// Reads a public key.
pub fn public(path: &Path) -> Result<Key, Failure> {
    read(path, PUBLIC, "expected a public key of 64 digits, as `steady keygen` writes one")
}

fn read(path: &Path, kind: &str, expected: &str) -> Result<Key, Failure> {
    let fail = |what: &dyn std::fmt::Display| Failure::at(path.display(), what);
    let mut text = String::new();
    let file = File::open(path).map_err(|error| fail(&error))?;
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|_| fail(&format!("is no text; {expected}")))?;
    if let Some((other, what)) = [(SECRET, "the secret key"), (PUBLIC, "a public key")]
        .into_iter()
        .find(|(other, _)| text.starts_with(other))
        && other != kind
    {
        return Err(fail(&format!("is {what}; {expected}")));
    }
    text.trim()
        .strip_prefix(kind)
        .and_then(parse)
        .ok_or_else(|| fail(&format!("is no key; {expected}")))
}

fn parse(text: &str) -> Option<Key> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
    if text.len() == 64 { bytes.try_into().ok() } else { None }
}

/// Returns bytes as digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a key from the random source of the system, and writes both parts. Returns the path of
/// the public part, and the public key.
pub fn generate(path: &Path) -> Result<(PathBuf, Key), Failure> {
    let mut name = OsString::from(path);
    name.push(".pub");
    let public_path = PathBuf::from(name);
    for path in [path, &public_path] {
        if fs::symlink_metadata(path).is_ok() {
            return Err(Failure::at(
                path.display(),
                "exists already; a key that is lost cannot be made again, so it is not replaced",
            ));
        }
    }
    let seed = random()?;
    let public = public_key(&seed).map_err(Failure::new)?;
    write(path, &seed, true)?;
    // A key without its other half is useless, and would block the next attempt.
    write(&public_path, &public, false).inspect_err(|_| drop(fs::remove_file(path)))?;
    Ok((public_path, public))
}

fn random() -> Result<Key, Failure> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| Failure::new(format!("the system gives no random bytes: {error}")))?;
    Ok(seed)
}

fn write(path: &Path, key: &Key, is_secret: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(if is_secret { 0o600 } else { 0o644 });
    }
    let fail = |error| Failure::writing(path.display(), &error);
    let mut file = options.open(path).map_err(fail)?;
    let text = format!("{}{}\n", if is_secret { SECRET } else { PUBLIC }, hex(key));
    // An incomplete file is no key, and would block the next attempt.
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(fail).inspect_err(|_| drop(fs::remove_file(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_64_digits_and_nothing_else() {
        let key: Key = std::array::from_fn(|at| at as u8 * 7);
        assert_eq!(parse(&hex(&key)), Some(key));
        for text in [
            "",
            "00",
            &"0".repeat(63),
            &"0".repeat(65),
            &"g".repeat(64),
            &"é".repeat(32),
            &"+1".repeat(32),
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
