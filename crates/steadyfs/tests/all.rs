//! The integration tests, in one program. Common code is compiled once, and no test waits for the
//! last thread of another program.

mod common;
#[path = "common/fail_once.rs"]
mod fail_once;
mod image;
#[path = "common/once.rs"]
mod once;

mod bounds;
mod cache_failures;
mod chain;
mod chosen_names;
mod clean_reader;
mod cut_mounts;
mod directories;
mod disk;
mod disk_fat;
mod exchange;
mod failures;
mod format;
mod format_again;
mod full;
mod golden;
mod handles;
mod health;
mod idle;
mod journal;
mod leaf_log;
mod lost_and_cut;
mod lost_flush;
mod lost_pages;
mod model;
mod newest;
mod nor_groups;
mod one_failure;
mod open_files;
mod power_cut;
mod reads;
mod refused_sectors;
mod repair;
mod room;
mod sectors;
mod space;
mod streams;
mod transactions;
mod verify;
mod wear;
