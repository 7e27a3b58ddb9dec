//! Digests of blocks.

use sha2::{Digest, Sha256};
use steadyfs_rom::verity::format::{DIGEST_BYTES, Salt};

/// SHA-256 that has already hashed the salt.
pub(super) struct Salted(Sha256);

impl Salted {
    pub fn new(salt: &Salt) -> Self {
        Self(Sha256::new().chain_update(salt.as_bytes()))
    }

    /// Returns the digest of the salt and a block.
    pub fn digest(&self, block: &[u8]) -> [u8; DIGEST_BYTES] {
        self.0.clone().chain_update(block).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::hex;
    use super::*;

    #[test]
    fn the_salt_precedes_the_block() {
        // SHA-256 of "abc": FIPS 180-4, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for (salt, block) in [("", "abc"), ("a", "bc"), ("abc", "")] {
            let salted = Salted::new(&Salt::new(salt.as_bytes()).expect("a salt"));
            assert_eq!(hex(&salted.digest(block.as_bytes())), abc);
            assert_eq!(hex(&salted.digest(block.as_bytes())), abc);
        }
    }
}
