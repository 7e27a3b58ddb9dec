//! Runs `steady` as users do: all tests of commands, in one program.

mod common;

mod adversary;
mod bench;
mod card;
mod command_lines;
mod compare;
mod compress;
mod costs;
mod damage;
mod disk_mount;
mod evaluate;
mod figures;
mod health;
mod images;
mod interrupt;
mod leftovers;
mod life;
mod mount;
mod mount_places;
mod pack;
#[cfg(unix)]
mod read_only;
mod replay;
mod superblocks;
mod sweep;
mod torture;
mod wrong_arguments;
