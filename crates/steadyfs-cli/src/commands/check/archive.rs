//! Checks a read-only image: against its own hash tree, if it has one, and against a key, if one
//! is given.

use super::findings::lines;
use crate::Failure;
use crate::commands::tree::counted;
use crate::image::archive::{Archive, Raw, Seal, lost};
use crate::image::key::{Key, hex};
use crate::image::tree::{totals, walk};
use crate::output::{print, print_json};
use serde::Serialize;
use steadyfs::ROOT;

#[derive(Serialize)]
struct Summary {
    /// `None` if the image cannot be decoded.
    format: Option<String>,
    files: u64,
    directories: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<Sealed>,
    findings: Vec<String>,
}

/// The state of the hash tree.
#[derive(Serialize)]
struct Sealed {
    root_hash: String,
    data_bytes: u64,
    is_signed: bool,
    /// The key that made the signature, if a key was given and verified.
    signed_by: Option<String>,
    #[serde(skip)]
    is_right: bool,
    /// True if a key was given.
    #[serde(skip)]
    has_key: bool,
}

/// Checks all bytes and decodes all files. Returns the number of findings.
pub fn run(raw: Raw, key: Option<Key>, json: bool) -> Result<u64, Failure> {
    let seal = raw.seal;
    let mut findings = Vec::new();
    if (seal.is_some() || key.is_some())
        && let Err(Failure { sentence: text, .. }) = raw.verify(key)
    {
        findings.push(text);
    }
    let seal = seal.map(|seal| Sealed::of(&seal, key, findings.is_empty()));
    // An image that does not verify is not decoded.
    let archive = if findings.is_empty() {
        raw.decode().map_err(|Failure { sentence: text, .. }| findings.push(text)).ok()
    } else {
        None
    };
    findings.extend(archive.as_ref().and_then(|archive| lost(&archive.tree)));
    let summary = Summary::of(archive, seal, findings)?;
    if json {
        print_json(&summary)?
    } else {
        print(&summary.text())?
    }
    Ok(summary.findings.len() as u64)
}

impl Sealed {
    fn of(seal: &Seal, key: Option<Key>, is_right: bool) -> Self {
        Self {
            root_hash: seal.root_hash_text(),
            data_bytes: seal.data_bytes,
            is_signed: seal.is_signed,
            signed_by: key.filter(|_| is_right).map(|key| hex(&key)),
            is_right,
            has_key: key.is_some(),
        }
    }

    fn line(&self) -> String {
        let verified = if self.is_right { "verified" } else { "not verified" };
        let signed = match (&self.signed_by, self.is_signed) {
            (Some(key), _) => format!("signed by {key}"),
            (None, true) if self.has_key => "signed, signer unknown".to_string(),
            (None, true) => "signed; --verify-key verifies the signature".to_string(),
            (None, false) => "not signed".to_string(),
        };
        format!(
            "hash tree: {verified}, {signed}\nroot hash: {} of {} B\n",
            self.root_hash, self.data_bytes
        )
    }
}

impl Summary {
    fn of(
        archive: Option<Archive>,
        seal: Option<Sealed>,
        findings: Vec<String>,
    ) -> Result<Self, Failure> {
        let format = archive.as_ref().map(|archive| archive.format.to_string());
        let items = archive.map_or(Ok(Vec::new()), |mut archive| walk(&mut archive, ROOT, ""))?;
        let (files, directories, bytes) = totals(&items);
        Ok(Self { format, files, directories, bytes, seal, findings })
    }

    fn text(&self) -> String {
        let seal = self.seal.as_ref().map_or_else(String::new, Sealed::line);
        let findings = lines(&self.findings);
        match &self.format {
            Some(format) => {
                let (files, directories) = (
                    counted(self.files, "file", "files"),
                    counted(self.directories, "directory", "directories"),
                );
                format!("{findings}{format}, {files}, {directories}: sound\n{seal}")
            }
            None => format!("{findings}{seal}"),
        }
    }
}
