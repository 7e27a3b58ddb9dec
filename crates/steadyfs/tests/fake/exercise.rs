// A workload on a volume, for the examples of drivers.

use std::error::Error;
use steadyfs::media::Flash;
use steadyfs::{Access, FileSystem, OpenOptions};

/// Writes `count` records of `bytes` bytes over the first 250 places of a file, again and again,
/// in three rounds. Mounts after each round and checks the newest record of each place. Only one
/// of these mounts follows an unmount. Calls `trouble` with the round and the record before each
/// write.
pub fn records(
    mut flash: impl Flash,
    memory: &mut [u8],
    bytes: usize,
    count: u32,
    mut trouble: impl FnMut(u8, u32),
) -> Result<(), Box<dyn Error>> {
    const PLACES: u32 = 250;
    for round in 0..3u8 {
        let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, memory)?;
        let mut file =
            fs.open("exercise", OpenOptions { truncate: true, ..OpenOptions::CREATE })?;
        let record = |number: u32| vec![number as u8 ^ round; bytes];
        for number in 0..count {
            trouble(round, number);
            fs.write(&mut file, u64::from(number % PLACES) * bytes as u64, &record(number))?;
        }
        fs.commit()?;
        if round == 1 {
            fs.unmount()?;
        }
        let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, memory)?;
        let mut file = fs.open("exercise", OpenOptions::READ)?;
        for place in 0..PLACES {
            let mut found = record(0);
            fs.read(&mut file, u64::from(place) * bytes as u64, &mut found)?;
            let newest = (0..count)
                .rev()
                .find(|number| number % PLACES == place)
                .expect("each place was written");
            assert_eq!(found, record(newest));
        }
        fs.close(file)?;
        let mut scratch = vec![0; fs.config().check_bytes(&fs.flash().geometry())];
        fs.check(&mut scratch, false, &mut |finding| panic!("{finding:?}"))?;
    }
    Ok(())
}
