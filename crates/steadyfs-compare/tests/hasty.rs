//! A contender that reports data as durable too early. The driver of power cuts must detect it.

use steadyfs_compare::contenders::SteadyFs;
use steadyfs_compare::{Board, Chip, Entrant, Facts, Options, run};
use steadyfs_lab::bench::{Contender, Fault, Mode, Room, Steady, Volume};
use steadyfs_sim::Counters;

/// One of this number of calls is really durable.
const HONEST: u32 = 3;

/// SteadyFS behind a layer that skips most flushes.
struct Hasty;

impl Entrant for Hasty {
    type On = OnChip;

    fn facts(&self) -> Facts {
        Facts { id: "hasty".into(), name: "Hasty".into(), ..Entrant::facts(&SteadyFs) }
    }

    fn on(&self, chip: Chip) -> Result<OnChip, String> {
        Ok(OnChip { honest: Steady::new(chip), syncs: 0 })
    }
}

struct OnChip {
    honest: Steady<Chip>,
    syncs: u32,
}

struct Mounted<'a> {
    honest: <Steady<Chip> as Contender>::Volume<'a>,
    syncs: &'a mut u32,
}

type File = <Steady<Chip> as Contender>::File;

impl Contender for OnChip {
    type File = File;
    type Volume<'a> = Mounted<'a>;

    fn system(&self) -> String {
        "Hasty".to_string()
    }

    fn format(&mut self) -> Result<(), Fault> {
        self.honest.format()
    }

    fn mount(&mut self) -> Result<Mounted<'_>, Fault> {
        Ok(Mounted { honest: self.honest.mount()?, syncs: &mut self.syncs })
    }

    fn ram_bytes(&self) -> u64 {
        self.honest.ram_bytes()
    }

    fn counters(&self) -> Counters {
        self.honest.counters()
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.honest.erase_counts()
    }
}

impl Volume for Mounted<'_> {
    type File = File;

    fn open(&mut self, path: &str, mode: Mode) -> Result<File, Fault> {
        self.honest.open(path, mode)
    }

    fn close(&mut self, file: File) -> Result<(), Fault> {
        self.honest.close(file)
    }

    fn read(&mut self, file: &mut File, offset: u64, data: &mut [u8]) -> Result<usize, Fault> {
        self.honest.read(file, offset, data)
    }

    fn write(&mut self, file: &mut File, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.honest.write(file, offset, data)
    }

    fn sync(&mut self, file: &mut File) -> Result<(), Fault> {
        *self.syncs += 1;
        if self.syncs.is_multiple_of(HONEST) { self.honest.sync(file) } else { Ok(()) }
    }

    fn remove(&mut self, path: &str) -> Result<(), Fault> {
        self.honest.remove(path)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Fault> {
        self.honest.rename(from, to)
    }

    fn stat(&mut self, path: &str) -> Result<u64, Fault> {
        self.honest.stat(path)
    }

    fn unmount(self) -> Result<(), Fault> {
        self.honest.unmount()
    }

    fn room(&mut self) -> Result<Room, Fault> {
        self.honest.room()
    }

    fn counters(&self) -> Counters {
        self.honest.counters()
    }
}

#[test]
fn a_contender_that_forgets_flushes_is_found_out() {
    let boards = Board::all().into_iter().filter(|board| board.id == "nor").collect();
    let options = Options { boards, cases: vec![], cuts: 200, ..Options::default() };
    let found = run(&[Box::new(Hasty)], &options, &|_, _| {}).unwrap();
    let cuts = found.entries[0].on("nor").unwrap().cuts.clone().unwrap();
    assert!(cuts.lost > 10, "{cuts:?}");
    assert_eq!((cuts.unusable, cuts.illegal), (0, 0), "{cuts:?}");
    assert!(
        cuts.first.is_some_and(|first| first.contains("is gone") || first.contains("other bytes"))
    );
}
