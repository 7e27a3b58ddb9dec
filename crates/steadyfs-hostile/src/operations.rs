//! Calls on a new volume. The content, and the cost of each call, are compared with the oracle of
//! the core's own tests.

use crate::choices::Choices;
use crate::common::oracle::{Model, Session, work};
use crate::common::steps::{EVENTS, Limits, Op};
use crate::common::{Device, Shape};
use steadyfs::Config;

/// Most steps of a workload.
const STEPS_MAX: usize = 200;

/// The smallest volumes with the settings that the core recommends: single pages, pages of two,
/// and NOR.
const SHAPES: [Shape; 3] = [
    Shape {
        name: "nand-16x256",
        nor: false,
        copy: false,
        pages_per_logical_page: 1,
        page_bytes: 256,
        pages_per_block: 16,
        block_count: 40,
    },
    Shape {
        name: "nand-32x256-copy",
        nor: false,
        copy: true,
        pages_per_logical_page: 2,
        page_bytes: 256,
        pages_per_block: 32,
        block_count: 40,
    },
    Shape {
        name: "nor-256",
        nor: true,
        copy: false,
        pages_per_logical_page: 1,
        page_bytes: 256,
        pages_per_block: 16,
        block_count: 48,
    },
];

/// Returns a volume, and the sizes of its steps.
fn stage(choices: &mut Choices<'_>) -> (Device, Limits) {
    let (shape, kind) = (choices.of(&SHAPES), choices.below(8));
    let config =
        if kind == 5 { Config { files_max: 16, ..shape.config() } } else { shape.config() };
    let files = if kind % 4 == 3 { 40 } else { 6 };
    let cache_pages = *choices.of(&[0, 2, 4]);
    (
        shape.device_with_config(config, 1).with_cache(cache_pages),
        Limits { files, ..shape.limits(12) },
    )
}

/// Makes the calls of an input.
///
/// # Panics
/// If the volume does not agree with the oracle, or a call costs more than its bound.
pub fn operations(input: &[u8]) {
    let mut choices = Choices::new(input);
    let (mut device, limits) = stage(&mut choices);
    let mut model = Model::new(*choices.of(&EVENTS));
    let mut ops = Vec::new();
    while !choices.is_empty() && ops.len() < STEPS_MAX {
        let number =
            |choices: &mut Choices<'_>| u32::from(choices.word()) << 16 | u32::from(choices.word());
        ops.push(Op::decode(
            (choices.byte(), choices.word(), number(&mut choices), number(&mut choices)),
            &limits,
        ));
    }
    let end = work(&mut device, &mut model, ops.into_iter()).and_then(|()| {
        let mut session = Session::mount(&mut device, &mut model)?;
        Ok(session.remove_all()?)
    });
    end.unwrap_or_else(|error| panic!("{error}"));
}
