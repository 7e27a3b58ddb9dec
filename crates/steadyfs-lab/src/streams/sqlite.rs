//! Recorded writes of SQLite, from `tools/sqlite-trace.py`, repeated without end. Its files lie one
//! after another.

/// The recorded trace. See the tool for the format.
const TRACE: &str = include_str!("../../assets/sqlite.trace");

/// A change that SQLite makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// SQLite writes a page.
    Write(u32),
    /// SQLite cuts a file off, or removes it.
    Cut { page: u32, count: u32 },
}

/// A file of the trace.
struct File {
    name: &'static str,
    begin: u32,
    pages: u32,
}

/// The trace, and a position in it.
pub struct Replay {
    files: Vec<File>,
    touches: Vec<Touch>,
    at: usize,
}

impl Replay {
    /// Returns the trace at its start.
    pub fn new() -> Replay {
        let (head, calls) = TRACE.split_once("\n\n").expect("the trace names its files first");
        let mut begin = 0;
        let files: Vec<File> = head
            .lines()
            .map(|line| {
                let (name, pages) = line.split_once(' ').expect("a file has a name and a size");
                let pages = pages.parse().expect("a size is a number");
                begin += pages;
                File { name, begin: begin - pages, pages }
            })
            .collect();
        let touches = calls.lines().flat_map(|line| touches(&files, line)).collect();
        Replay { files, touches, at: 0 }
    }

    /// Returns the pages of all files.
    pub fn pages() -> u32 {
        let files = Replay::new().files;
        files.last().map_or(0, |file| file.begin + file.pages)
    }

    /// Returns the name of the file that contains a page.
    pub fn file_of(&self, page: u32) -> Option<&'static str> {
        self.files
            .iter()
            .find(|file| (file.begin..file.begin + file.pages).contains(&page))
            .map(|file| file.name)
    }

    /// Returns the next change.
    pub fn next(&mut self) -> Touch {
        let touch = self.touches[self.at];
        self.at = (self.at + 1) % self.touches.len();
        touch
    }
}

/// Returns the changes in a line of the trace.
fn touches(files: &[File], line: &str) -> Vec<Touch> {
    let (is_cut, line) = line.strip_prefix('-').map_or((false, line), |line| (true, line));
    let (place, more) = line.split_once('+').unwrap_or((line, "0"));
    let number = |digits| u32::from_str_radix(digits, 16).expect("a place is hexadecimal");
    let file = &files[number(&place[..1]) as usize];
    let (page, more): (u32, u32) =
        (number(&place[1..]), more.parse().expect("a count is a number"));
    match is_cut {
        true if page < file.pages => {
            vec![Touch::Cut { page: file.begin + page, count: file.pages - page }]
        }
        true => Vec::new(),
        false => (page..=page + more).map(|page| Touch::Write(file.begin + page)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_of_two_databases_and_what_they_log() {
        let replay = Replay::new();
        let names: Vec<_> = replay.files.iter().map(|file| file.name).collect();
        assert_eq!(names, ["orders.db", "orders.db-journal", "events.db", "events.db-wal"]);
        assert!(replay.touches.len() > 10_000 && Replay::pages() < 4_000);
        assert_eq!(replay.file_of(0), Some("orders.db"));
        assert_eq!(replay.file_of(Replay::pages()), None);
    }

    #[test]
    fn lines_are_writes_of_runs_and_cuts() {
        let files =
            [File { name: "a", begin: 0, pages: 7 }, File { name: "b", begin: 7, pages: 32 }];
        assert_eq!(touches(&files, "11f"), [Touch::Write(7 + 31)]);
        assert_eq!(touches(&files, "02+2"), [2, 3, 4].map(Touch::Write));
        assert_eq!(touches(&files, "-12"), [Touch::Cut { page: 9, count: 30 }]);
        assert_eq!(touches(&files, "-07"), []);
    }
}
