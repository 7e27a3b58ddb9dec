//! `steady pack`: makes an image with the content of a directory or of another image. The image
//! is the same at any time and on any host.

mod arguments;
mod method;
mod read_only;
mod volume;

use crate::Failure;
use crate::host::{directory_of, is_same};
pub use arguments::Arguments;
pub use method::read_only_chunk;

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
    let is_inside = match from.is_dir() {
        true => directory_of(&arguments.image)
            .canonicalize()
            .is_ok_and(|directory| directory.starts_with(&from)),
        false => is_same(&arguments.image, &from),
    };
    match is_inside {
        true => {
            let what = format!("lies in {}; expected a place outside", arguments.from.display());
            Err(Failure::at(arguments.image.display(), what))
        }
        false => Ok(()),
    }
}
