//! `IMG:PATH`: an image and a path in it, in one argument.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// An image, and a path in it, if one was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The image.
    pub image: PathBuf,
    /// The path behind the colon, or an empty text.
    pub path: String,
}

impl FromStr for Place {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::split(text, Path::exists))
    }
}

impl Place {
    /// Splits at the first colon behind the name of an existing file. Finds a file whose name has
    /// a colon as a whole.
    fn split(text: &str, exists: impl Fn(&Path) -> bool) -> Self {
        let whole = Self { image: text.into(), path: String::new() };
        if exists(&whole.image) {
            return whole;
        }
        let mut colons = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
        match colons.find(|(image, _)| !image.is_empty() && exists(Path::new(image))) {
            Some((image, path)) => Self { image: image.into(), path: path.into() },
            None => whole,
        }
    }

    /// Returns the path behind the colon, or a further path below it.
    pub fn below(&self, path: Option<&str>) -> String {
        match path {
            Some(path) => super::names::join(&self.path, path.trim_start_matches('/')),
            None => self.path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_ends_at_the_colon_behind_a_file() {
        let exists = |path: &Path| {
            ["a.img", "b:c.img", r"C:\d.img"].iter().any(|name| path == Path::new(name))
        };
        for (text, image, path) in [
            ("a.img", "a.img", ""),
            ("a.img:", "a.img", ""),
            ("a.img:/logs", "a.img", "/logs"),
            ("a.img:x:y", "a.img", "x:y"),
            ("b:c.img", "b:c.img", ""),
            ("b:c.img:x", "b:c.img", "x"),
            (r"C:\d.img:x", r"C:\d.img", "x"),
            ("none.img:x", "none.img:x", ""),
            (":x", ":x", ""),
        ] {
            assert_eq!(
                Place::split(text, exists),
                Place { image: image.into(), path: path.into() },
                "{text}"
            );
        }
    }

    #[test]
    fn a_second_path_goes_on_from_the_first() {
        let place = Place { image: "a".into(), path: "/x".into() };
        assert_eq!((place.below(None), place.below(Some("/y"))), ("/x".into(), "x/y".into()));
    }
}
