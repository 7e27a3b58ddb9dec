//! Tests programs and erases that fail, one or several at a time, and factory-bad blocks. Nothing
//! is lost, and the volume continues without the bad blocks.

use crate::common::oracle::{Model, Session, contents, fill, work};
use crate::common::steps::{EXPLICIT, Limits, Op, random_steps};
use crate::common::{Device, Rng, SHAPES, Shape, for_seeds};
use steadyfs::{Access, Config, Error, MountError, OpenOptions};

const STEPS: usize = 60;
/// Chips on which blocks go bad, including a NOR.
const CHIPS: [usize; 3] = [0, 1, 4];

/// Returns a volume on which reclamation is active, and the numbers of programs and erases of a
/// workload on it.
fn stage(shape: &Shape) -> (Device, Model, Limits, u64, u64) {
    stage_on(shape.device(1), shape.limits(6))
}

fn stage_on(mut device: Device, limits: Limits) -> (Device, Model, Limits, u64, u64) {
    let mut model = Model::new(EXPLICIT);
    fill(&mut device, &mut model, 60);
    work(&mut device, &mut model, random_steps(u64::MAX, 800, limits)).expect("churn");
    let (mut copy, mut copy_model) = (device.clone(), model.clone());
    let before = (copy.fail().programs(), copy.fail().erases());
    work(&mut copy, &mut copy_model, random_steps(0, STEPS, limits))
        .expect("workload without a failure");
    let (programs, erases) = (copy.fail().programs() - before.0, copy.fail().erases() - before.1);
    (device, model, limits, programs, erases)
}

/// Runs the whole workload on a chip with planned failures, and checks all contents after a power
/// cut.
fn survives(mut device: Device, mut model: Model, limits: Limits, seed: u64) {
    work(&mut device, &mut model, random_steps(0, STEPS, limits)).expect("workload with failures");
    device.power_cycle();
    work(&mut device, &mut model, random_steps(seed, STEPS / 3, limits))
        .expect("work after the failures");
    let bad: Vec<u32> = device.fail().grown_bad().collect();
    let erases = device.medium().erase_counts();
    work(&mut device, &mut model, random_steps(seed + 1, STEPS / 3, limits)).expect("more work");
    for block in bad {
        assert_eq!(
            device.medium().erase_counts()[block as usize],
            erases[block as usize],
            "block {block} went bad and is in use"
        );
    }
}

/// Makes each program and each erase of the workload fail, one at a time.
fn survives_any_one_failure(
    test_name: &str,
    (device, model, limits, programs, erases): (Device, Model, Limits, u64, u64),
) {
    for_seeds("failures", test_name, programs + erases, |seed| {
        if seed >= programs + erases {
            return;
        }
        let mut device = device.clone();
        if seed < programs {
            device.fail().fail_program(seed + 1);
        } else {
            device.fail().fail_erase(seed - programs + 1);
        }
        survives(device, model.clone(), limits, seed);
    });
}

#[test]
fn any_one_failure_loses_nothing() {
    for index in CHIPS {
        survives_any_one_failure("any_one_failure_loses_nothing", stage(&SHAPES[index]));
    }
}

/// With a larger overlay, leaves stay longer in their place. This includes leaves that a mount
/// has copied into the ring.
#[test]
fn any_one_failure_with_a_large_overlay_loses_nothing() {
    for shape in &SHAPES[..2] {
        let config = Config { overlay_entries: 80, transaction_pages: 32, ..shape.config() };
        let staged = stage_on(shape.device_with_config(config, 1), shape.limits(6));
        survives_any_one_failure("any_one_failure_with_a_large_overlay_loses_nothing", staged);
    }
}

#[test]
fn as_many_failures_as_bad_blocks_are_allowed_lose_nothing() {
    for index in CHIPS {
        let (device, model, limits, programs, erases) = stage(&SHAPES[index]);
        for_seeds(
            "failures",
            "as_many_failures_as_bad_blocks_are_allowed_lose_nothing",
            60,
            |seed| {
                let (mut device, mut rng) = (device.clone(), Rng(seed));
                for _ in 0..device.config.bad_blocks_max {
                    if rng.one_in(3) {
                        device.fail().fail_erase(1 + rng.below(erases));
                    } else {
                        device.fail().fail_program(1 + rng.below(programs));
                    }
                }
                survives(device, model.clone(), limits, seed);
            },
        );
    }
}

#[test]
fn power_cuts_among_failures_lose_nothing() {
    for index in CHIPS {
        let (device, model, limits, programs, _) = stage(&SHAPES[index]);
        for_seeds("failures", "power_cuts_among_failures_lose_nothing", 40, |seed| {
            let (mut device, mut model, mut rng) = (device.clone(), model.clone(), Rng(seed));
            device.fail().fail_program(1 + rng.below(programs));
            for _ in 0..3 {
                device.cut().cut_at(1 + rng.below(programs));
                match work(&mut device, &mut model, random_steps(rng.next(), STEPS, limits)) {
                    Ok(())
                    | Err(MountError::Volume(Error::Device | Error::Unknown | Error::ReadOnly)) => {
                    }
                    Err(error) => panic!("{error}"),
                }
                device.power_cycle();
            }
            survives(device, model, limits, seed);
        });
    }
}

#[test]
fn factory_bad_blocks_are_never_used() {
    for_seeds("failures", "factory_bad_blocks_are_never_used", 20, |seed| {
        let shape = &SHAPES[seed as usize % 4];
        let count = u32::from(shape.config().bad_blocks_max);
        let mut device = shape.device_with_bad_blocks(count, seed);
        work(&mut device, &mut Model::new(EXPLICIT), random_steps(seed, 400, shape.limits(24)))
            .expect("work");
    });
}

#[test]
fn one_failure_too_many_in_a_call_is_an_error_and_keeps_what_was_committed() {
    for_seeds(
        "failures",
        "one_failure_too_many_in_a_call_is_an_error_and_keeps_what_was_committed",
        60,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let (mut device, mut model) = (shape.device(seed), Model::new(EXPLICIT));
            fill(&mut device, &mut model, 30);
            let failures = u64::from(device.config.failures);
            let mut session = Session::mount(&mut device, &mut model).expect("mount");
            session.write("before", 0, 3000, true).expect("write");
            let programs = session.fs.flash_mut().inner_mut().inner_mut();
            let first = seed / SHAPES.len() as u64 % 4 + 1;
            (first..=first + failures).for_each(|n| programs.fail_program(n));
            let page = vec![7; shape.logical_bytes() as usize];
            let created = session.fs.open("victim", OpenOptions::CREATE);
            let written = created.and_then(|mut file| session.fs.write(&mut file, 0, &page));
            let result = written.and_then(|()| session.fs.sync(steadyfs::CommitOn::SYNC));
            let refused = result == Err(Error::MediaFailing);
            assert!(refused || result.is_ok(), "{result:?}");
            // Mostly all failures happen in one call. In any case, nothing else is lost.
            let planned = device.fail().grown_bad().count() as u64;
            assert!(refused || planned <= failures + 1);
            device.power_cycle();
            let mut fs = device.mount(Access::ReadWrite).expect("mount after the failures");
            let mut found = contents(&mut fs).expect("contents");
            found.nodes.remove("victim");
            assert!(model.current.agrees(&found), "{}", model.current.difference(&found));
        },
    );
}

#[test]
fn steps_are_the_same_for_the_same_seed() {
    let draw = || {
        random_steps(7, 50, SHAPES[0].limits(6)).map(|op: Op| format!("{op:?}")).collect::<Vec<_>>()
    };
    assert_eq!(draw(), draw());
}

/// A chip reported that the program of a journal page failed, although the page reads as
/// complete. The same page was programmed elsewhere, and power failed. Roll-forward found two
/// commits of one transaction and reported damage.
#[test]
fn a_commit_that_was_programmed_twice_counts_once_after_a_power_cut() {
    for_seeds(
        "failures",
        "a_commit_that_was_programmed_twice_counts_once_after_a_power_cut",
        120,
        |seed| {
            let shape = &SHAPES[seed as usize % SHAPES.len()];
            let mut device = shape.device(seed);
            let page = vec![seed as u8; shape.logical_bytes() as usize];
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            let mut file = fs.open("a", OpenOptions::CREATE).expect("create");
            for index in 0..3 {
                fs.write(&mut file, index * page.len() as u64, &page).expect("write");
            }
            fs.flash_mut().inner_mut().inner_mut().fail_program(1);
            fs.commit().expect("commit");
            fs.close(file).expect("close");
            device.power_cycle();
            let mut fs = device.mount(Access::ReadWrite).expect("mount after the failure");
            let mut file = fs.open("a", OpenOptions::READ).expect("open");
            let mut found = vec![0; 3 * page.len()];
            assert_eq!(fs.read(&mut file, 0, &mut found), Ok(found.len()));
            assert!(found.chunks(page.len()).all(|chunk| chunk == page));
            fs.close(file).expect("close");
        },
    );
}

/// If only a few programs failed behind a record, the mount recognises that the record itself
/// failed. After more failures, it cannot, and the record reads like any commit. The same record
/// elsewhere must not count again.
#[test]
fn a_commit_that_failed_many_times_counts_once_after_a_power_cut() {
    for_seeds(
        "failures",
        "a_commit_that_failed_many_times_counts_once_after_a_power_cut",
        800,
        |seed| {
            let shape = &SHAPES[seed as usize % 4];
            let config = Config { failures: 8, bad_blocks_max: 12, ..shape.config() };
            let mut device = shape.device_with_config(config, seed);
            let page = vec![seed as u8; shape.logical_bytes() as usize];
            let mut fs = device.mount(Access::ReadWrite).expect("mount");
            let mut file = fs.open("a", OpenOptions::CREATE).expect("create");
            for index in 0..3 {
                fs.write(&mut file, index * page.len() as u64, &page).expect("write");
            }
            (1..=9).for_each(|n| fs.flash_mut().inner_mut().inner_mut().fail_program(n));
            fs.commit().expect("commit");
            fs.close(file).expect("close");
            device.power_cycle();
            let fs = device.mount(Access::ReadWrite).expect("mount after the failures");
            assert_eq!(fs.damage(), None);
        },
    );
}
