//! Sources of the bytes of an image: one type for all media, and for the layers over them.

use steadyfs_rom::{Bound, Cached, Error, InRam, Source};

/// An image on its medium.
pub(crate) enum Image {
    Ram(InRam<'static>),
    #[cfg(feature = "nor")]
    Nor(steadyfs_rom::OnNor<crate::driver::NorChip>),
    #[cfg(feature = "nand")]
    Nand(steadyfs_rom::OnNand<'static, crate::driver::NandChip>),
}

/// Forwards a call to the source of the variant.
macro_rules! delegate {
    ($image:expr, $it:ident => $call:expr) => {
        match $image {
            Image::Ram($it) => $call,
            #[cfg(feature = "nor")]
            Image::Nor($it) => $call,
            #[cfg(feature = "nand")]
            Image::Nand($it) => $call,
        }
    };
}

impl Source for Image {
    fn bytes(&self) -> u64 {
        delegate!(self, it => it.bytes())
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        delegate!(self, it => it.read(offset, data))
    }

    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        delegate!(self, it => it.bound(bytes, pieces))
    }
}

/// A source, or a layer over a source. The layer lies at the start of lent memory, because it is
/// larger than the source.
pub(crate) enum Layer<S, O: 'static> {
    Without(S),
    With(&'static mut O),
}

impl<S: Source, O: Source> Source for Layer<S, O> {
    fn bytes(&self) -> u64 {
        match self {
            Self::Without(source) => source.bytes(),
            Self::With(over) => over.bytes(),
        }
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Without(source) => source.read(offset, data),
            Self::With(over) => over.read(offset, data),
        }
    }

    fn bound(&self, bytes: u64, pieces: u64) -> Bound {
        match self {
            Self::Without(source) => source.bound(bytes, pieces),
            Self::With(over) => over.bound(bytes, pieces),
        }
    }
}

/// An image that may be verified.
#[cfg(feature = "rom-verify")]
pub(crate) type Trusted = Layer<Image, steadyfs_rom::Verified<'static, Image>>;
/// An image that is not verified.
#[cfg(not(feature = "rom-verify"))]
pub(crate) type Trusted = Image;

/// An image that may be verified, or a cache over it.
pub(crate) type Kept = Layer<Trusted, Cached<'static, Trusted>>;
