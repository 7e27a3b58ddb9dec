//! Ed25519 signatures. They are deterministic: the same key and message always produce the same
//! bytes.

use super::Error;
use ed25519_compact::{KeyPair, PublicKey, Seed, Signature};
use steadyfs_rom::verity::format::SIGNATURE_BYTES;

/// Computes the public key of a seed.
///
/// # Errors
/// [`Error::Key`] for a seed of zeros.
pub fn public_key(seed: &[u8; 32]) -> Result<[u8; 32], Error> {
    Ok(*pair(seed)?.pk)
}

pub(super) fn sign(seed: &[u8; 32], message: &[u8]) -> Result<[u8; SIGNATURE_BYTES], Error> {
    Ok(*pair(seed)?.sk.sign(message, None))
}

/// # Errors
/// [`Error::Key`] for an invalid public key, [`Error::Signature`].
pub(super) fn check(
    key: &[u8; 32],
    message: &[u8],
    signature: &[u8; SIGNATURE_BYTES],
) -> Result<(), Error> {
    let key = PublicKey::new(*key);
    key.validate().map_err(|_| Error::Key)?;
    key.verify(message, &Signature::new(*signature)).map_err(|_| Error::Signature)
}

fn pair(seed: &[u8; 32]) -> Result<KeyPair, Error> {
    KeyPair::try_from_seed(Seed::new(*seed)).map_err(|_| Error::Key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex");
        std::array::from_fn(byte)
    }

    /// Seed, public key, message and signature of tests 1 to 3 in section 7.1 of RFC 8032.
    const VECTORS: [(&str, &str, &[u8], &str); 3] = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            &[],
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155\
             5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            &[0x72],
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            &[0xAF, 0x82],
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ];

    #[test]
    fn signatures_are_those_of_rfc_8032() {
        for (seed, key, message, signature) in VECTORS {
            assert_eq!(public_key(&bytes(seed)), Ok(bytes(key)));
            assert_eq!(sign(&bytes(seed), message), Ok(bytes(signature)));
            assert_eq!(check(&bytes(key), message, &bytes(signature)), Ok(()));
            assert_eq!(
                check(&bytes(key), &[message, &[0]].concat(), &bytes(signature)),
                Err(Error::Signature)
            );
        }
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        assert_eq!(public_key(&[0; 32]), Err(Error::Key));
        // The identity: anyone can make a signature of every message with this key.
        let mut identity = [0; 32];
        identity[0] = 1;
        for key in [[0; 32], [0xFF; 32], identity] {
            assert_eq!(check(&key, b"message", &[1; 64]), Err(Error::Key));
        }
    }
}
