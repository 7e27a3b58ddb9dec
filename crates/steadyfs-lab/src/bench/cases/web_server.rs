//! A web server: each visit reads one of eight pages, some more often than others, and a style
//! sheet.

use super::{Bench, Measured};
use crate::bench::contender::{Contender, Fault, Mode, Volume};
use crate::bench::content::Document;
use crate::bench::gauge::{Gauge, Step};
use crate::bench::limit::Limit;
use crate::bench::stage::make;

/// Bytes of each page, and number of its visits out of 100.
const PAGES: [(u64, usize); 8] =
    [(4000, 25), (3000, 20), (2000, 16), (1000, 12), (1500, 10), (3000, 8), (2000, 5), (3500, 4)];
/// Bytes of the style sheet.
const STYLE_BYTES: u64 = 2000;
/// Number of visits. Each visit opens two files.
const VISITS: usize = 10_000;
/// Bytes of a read.
const PIECE: usize = 256;

/// Serves all visits. Each served file is a step.
pub fn run<K: Contender>(bench: &mut Bench<'_, K>) -> Result<Measured, Fault> {
    let mut volume = bench.contender.mount()?;
    let style = make(&mut volume, "style.css", STYLE_BYTES, PIECE)?;
    let mut pages = Vec::new();
    for (number, &(bytes, _)) in PAGES.iter().enumerate() {
        pages.push(make(&mut volume, format!("page-{number}.html"), bytes, PIECE)?);
    }
    volume.unmount()?;
    let mut visits: Vec<usize> = Vec::new();
    for (page, &(_, percent)) in PAGES.iter().enumerate() {
        visits.resize(visits.len() + VISITS * percent / 100, page);
    }
    bench.rng.shuffle(&mut visits);

    let mut volume = bench.contender.mount()?;
    let (mut gauge, mut served, mut limit_ns) = (Gauge::default(), 0, 0.0);
    for &page in &visits {
        for document in [&pages[page], &style] {
            gauge.step(&mut volume, |step| serve(step, document))?;
            served += document.size;
            let (whole, rest) = (document.size / PIECE as u64, document.size % PIECE as u64);
            limit_ns +=
                whole as f64 * bench.medium.read_ns(PIECE as u64) + bench.medium.read_ns(rest);
        }
    }
    Ok(Measured::throughput(gauge, served, Limit::reads(limit_ns)))
}

/// Opens a file, reads it to its end and closes it. The comparison takes no time of the chip.
fn serve<V: Volume>(step: &mut Step<'_, V>, document: &Document) -> Result<(), Fault> {
    let mut file = step.open(&document.path, Mode::Read)?;
    let (mut data, mut at) = ([0; PIECE], 0);
    while at < document.size {
        let length = (document.size - at).min(PIECE as u64) as usize;
        let read = step.read(&mut file, at, &mut data[..length])?;
        if read != length || data[..length] != document.bytes(at, length) {
            return Err(Fault::wrong(&document.path, at));
        }
        at += length as u64;
    }
    step.close(file)
}
