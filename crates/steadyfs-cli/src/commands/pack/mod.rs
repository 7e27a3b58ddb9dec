//! `steady pack`: makes an image with the content of a directory or of another image. The image
//! is the same at any time and on any host.

mod arguments;
mod method;
mod read_only;
mod volume;

use crate::Failure;
pub use arguments::Arguments;
pub use method::read_only_chunk;
use std::path::Path;

/// Runs `steady pack`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    refuse_image_inside(arguments)?;
    if arguments.read_only.read_only { read_only::run(arguments) } else { volume::run(arguments) }
}

/// Refuses to pack an image into itself: the next run would pack another directory.
fn refuse_image_inside(arguments: &Arguments) -> Result<(), Failure> {
    let from = arguments
        .from
        .canonicalize()
        .map_err(|error| Failure::at(arguments.from.display(), error))?;
    let parent = arguments
        .image
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let is_inside = match from.is_dir() {
        true => parent.canonicalize().is_ok_and(|parent| parent.starts_with(&from)),
        false => arguments.image.canonicalize().is_ok_and(|image| image == from),
    };
    match is_inside {
        true => {
            let what = format!("lies in {}; expected a place outside", arguments.from.display());
            Err(Failure::at(arguments.image.display(), what))
        }
        false => Ok(()),
    }
}
