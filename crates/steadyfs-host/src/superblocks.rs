//! The two copies of the superblock: a text that describes a damaged copy, and its repair.

use steadyfs::media::Flash;
use steadyfs::{Error, MountError, Superblocks};

/// Text that describes the remedy for a damaged copy.
pub const REMEDY: &str = "`steady check --repair` writes it anew";

/// Reads both copies.
///
/// # Errors
/// As [`Superblocks::look`].
pub fn look(flash: &mut impl Flash) -> Result<Superblocks, MountError> {
    let mut page = page_of(flash);
    Superblocks::look(flash, &mut page)
}

/// Writes the damaged copy anew.
///
/// # Errors
/// As [`Superblocks::mend`].
pub fn mend(flash: &mut impl Flash, copies: Superblocks) -> Result<(), Error> {
    let mut page = page_of(flash);
    copies.mend(flash, &mut page)
}

fn page_of(flash: &impl Flash) -> Vec<u8> {
    vec![0; flash.geometry().page_bytes as usize]
}

/// Describes the damage in half a sentence. Returns `None` if there is no damage.
pub fn describe(copies: &Superblocks) -> Option<String> {
    let whole = copies.whole();
    copies.damaged.map(|damaged| {
        format!(
            "the superblock in block {damaged} is damaged; its copy in block {whole} is whole, and \
             no file is lost"
        )
    })
}
