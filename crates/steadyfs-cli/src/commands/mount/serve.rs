//! A mount from its beginning to its end, and the report at the end.

use super::order::Order;
use super::{Arguments, background, options};
use crate::Failure;
use crate::commands::tree::counted;
use crate::image::archive::Raw;
use crate::image::chip::{ChipOptions, describe_work};
use crate::image::key::Key;
use crate::image::opened::ReadOptions;
use crate::image::{Memory, Mounted};
use std::time::Duration;
use steadyfs::media::{Corrected, Flash};
use steadyfs::{Access, Health};
use steadyfs_fuse::{Options, Refusal};
use steadyfs_host::plain::Rule;
use steadyfs_sim::Metered;

/// Logical pages that are written in part and wait for the rest, or for the commit.
const WRITE_CACHE_PAGES: usize = 16;

/// Runs `steady mount`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut all = arguments.clone();
    for option in &arguments.option {
        options::apply(&mut all, option).map_err(Failure::usage)?;
    }
    if all.real_time && all.device.is_none() {
        return Err(Failure::usage("real_time: no chip is named; expected --device as well"));
    }
    if all.background { background::run(&all) } else { serve(&all) }
}

/// Mounts, and serves until the end.
fn serve(arguments: &Arguments) -> Result<(), Failure> {
    // Check before the image is opened, because a mount of the volume may already change it.
    steadyfs_fuse::check_mountpoint(&arguments.directory, arguments.nonempty)
        .map_err(|refusal| refuse(arguments, &refusal))?;
    let order = arguments.opened.as_deref().map(Order::create).transpose()?;
    let chip = ChipOptions { device: arguments.device.clone(), stats: false };
    let reading = ReadOptions { chip: chip.clone(), verify_key: arguments.verify_key.clone() };
    if let Some(found) = reading.find(&arguments.image)? {
        return serve_archive(arguments, found, reading.key()?, order);
    }
    reading.refuse_volume(&arguments.image)?;
    let access = if arguments.read_only { Access::ReadOnly } else { Access::ReadWrite };
    let mut memory = Memory::default();
    let mut read_cache = vec![0; usize::try_from(arguments.read_cache).unwrap_or(usize::MAX)];
    let mut write_cache;
    let mut volume = Mounted::open(&arguments.image, &chip, access, &mut memory)?;
    if order.is_some() && matches!(volume, Mounted::Disk(_)) {
        return Err(Failure::at(
            arguments.image.display(),
            "holds a disk, whose files are unknown; expected no --opened",
        ));
    }
    if arguments.disk && matches!(volume, Mounted::Files(_)) {
        return Err(Failure::at(
            arguments.image.display(),
            "holds a file system, not a disk; expected no --disk",
        ));
    }
    volume.lend_read_cache(&mut read_cache);
    if let (Mounted::Files(volume), Access::ReadWrite) = (&mut volume, access) {
        let geometry = volume.fs.flash().geometry();
        write_cache = vec![0; volume.fs.config().cache_bytes(&geometry, WRITE_CACHE_PAGES)];
        volume.fs.lend_cache(&mut write_cache).map_err(|error| volume.fail("", error))?;
    }
    if arguments.real_time {
        volume.chip_mut().take_real_time();
    }
    let options = Options {
        opened: order.as_ref().map(|order| order.opened.clone()),
        ..options_of(arguments)
    };
    let served = match &mut volume {
        Mounted::Files(volume) => {
            steadyfs_fuse::mount(&mut volume.fs, &arguments.directory, &options)
        }
        Mounted::Disk(volume) => {
            steadyfs_fuse::mount_disk(&mut volume.disk, &arguments.directory, &options)
        }
    };
    let Health { corrected_reads, lost_reads, worst, .. } = volume.health();
    let closed = volume.close(&chip)?;
    order.map_or(Ok(()), Order::finish)?;
    served.map_err(|failure| explain(arguments, &failure))?;
    if arguments.quiet {
        return Ok(());
    }
    eprintln!("{}", describe_work(&closed.counters(), closed.clock()));
    if let Some(line) = describe_corrections(corrected_reads, lost_reads, worst) {
        eprintln!("{line}");
    }
    Ok(())
}

/// Returns the mount options that the arguments set.
fn options_of(arguments: &Arguments) -> Options {
    let (commit_on, commit_limits) = arguments.commit_on();
    Options {
        commit_on,
        commit_limits,
        commit_interval: Duration::from_millis(arguments.commit_interval),
        compress: arguments.compress.and_then(Rule::packing),
        opened: None,
        allow_other: arguments.allow_other,
        read_only: arguments.read_only,
        nonempty: arguments.nonempty,
        quiet_permissions: arguments.quiet_permissions,
        no_exec: arguments.no_exec,
        source: arguments.image.display().to_string(),
    }
}

/// Mounts a read-only image, and serves it from memory until the end.
fn serve_archive(
    arguments: &Arguments,
    found: Raw,
    key: Option<Key>,
    order: Option<Order>,
) -> Result<(), Failure> {
    if arguments.disk {
        return Err(Failure::at(
            arguments.image.display(),
            "holds files, not a disk; expected no --disk",
        ));
    }
    if arguments.real_time {
        return Err(Failure::at(
            arguments.image.display(),
            "is read as a whole at once; expected no --real-time",
        ));
    }
    if key.is_some() {
        found.verify(key)?;
    }
    let tree = found.decode_and_warn()?.tree;
    let options = Options {
        opened: order.as_ref().map(|order| order.opened.clone()),
        ..options_of(arguments)
    };
    let served = steadyfs_fuse::mount_tree(tree, &arguments.directory, &options);
    order.map_or(Ok(()), Order::finish)?;
    served.map_err(|failure| explain(arguments, &failure))
}

/// Returns the reason why the volume is not mounted on the directory.
fn refuse(arguments: &Arguments, refusal: &Refusal) -> Failure {
    let directory = arguments.directory.display();
    match refusal {
        Refusal::NotEmpty => Failure::at(directory, format!("{refusal}, or --nonempty")),
        _ => Failure::at(directory, refusal),
    }
}

/// Returns the failure of a mount, of its service or of its end.
fn explain(arguments: &Arguments, failure: &steadyfs_fuse::Failure) -> Failure {
    let directory = arguments.directory.display();
    match failure {
        steadyfs_fuse::Failure::Mountpoint(refusal) => refuse(arguments, refusal),
        steadyfs_fuse::Failure::Kept(_) => Failure::at(directory, failure),
        _ => Failure::at(directory, format!("cannot be mounted on: {failure}")),
    }
}

/// Describes the corrections of the ECC, in one line; `None` if there were none.
fn describe_corrections(corrected: u32, lost: u32, worst: Corrected) -> Option<String> {
    let reads =
        counted(corrected.into(), "page read needed a correction", "page reads needed corrections");
    let Corrected { bits, strength } = worst;
    match (corrected, lost) {
        (0, 0) => None,
        (_, 0) => Some(format!("{reads}, at worst {bits} of {strength} bits")),
        _ => Some(format!(
            "{reads}, at worst {bits} of {strength} bits; {lost} could not be corrected: \
             `steady check` gives details"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_are_told_where_there_were_any() {
        let worst = Corrected { bits: 5, strength: 8 };
        assert_eq!(describe_corrections(0, 0, Corrected { bits: 0, strength: 8 }), None);
        assert_eq!(
            describe_corrections(1, 0, worst).unwrap(),
            "1 page read needed a correction, at worst 5 of 8 bits"
        );
        let lost = describe_corrections(1200, 2, worst).unwrap();
        assert_eq!(
            lost,
            "1,200 page reads needed corrections, at worst 5 of 8 bits; 2 could not be corrected: \
             `steady check` gives details"
        );
    }
}
