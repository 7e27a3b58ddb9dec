//! Reports for people: one HTML file that opens offline, and the same figures as SVG files.
//!
//! The page contains the whole trace, so that its slider computes the backlog of any input rate
//! exactly. Only the drawing is thinned, and it keeps every minimum and maximum. The file has about
//! eight bytes per access.
//!
//! [`Report::of_evaluation`] and [`Report::of_trace`] make reports of access times,
//! [`StreamsReport::of`] makes a report of streams, and [`LifeReport::of`] of a chip's life.
//! [`Page`] returns the files.
//!
//! ```text
//!   times      what a report of access times says
//!   opening    the sentence that comes first, and the rate at which the slider stands
//!   levels     names of what the accesses did      view    the axis of access times, broken below a far promise
//!   html       the page                            figures, on a canvas with axes    the SVG files
//!                                                  beside     one more, of the run and of another file system
//!   streams    what streams save: page and figures of its own
//!   life       how a chip wore out, likewise
//!   paper      a page of what somebody has published beside what was measured: study (streams), realtime (buffers), transactions (who pays for a commit)
//!   lines      figures of lines with names, for these
//! ```

mod axis;
mod beside;
mod canvas;
mod downsample;
mod escape;
mod figures;
mod html;
mod levels;
mod life;
mod lines;
mod opening;
mod paper;
mod realtime;
mod streams;
mod study;
mod times;
mod transactions;
mod view;

use std::io;
use std::path::{Path, PathBuf};

pub use axis::{Axis, Spread};
pub use canvas::{BOTTOM, Canvas, LEFT, TEXT_LINE, TOP, Width};
pub use downsample::downsample;
pub use escape::escape;
pub use figures::{label, plain, tick_time};
pub use html::TEXT_SCRIPT;
pub use levels::Level;
pub use life::LifeReport;
pub use lines::spread;
pub use paper::{Paper, Table, figure};
pub use realtime::RealtimeReport;
pub use streams::StreamsReport;
pub use study::StudyReport;
pub use times::{Fact, Report};
pub use transactions::TransactionsReport;

/// A report for people.
pub trait Page {
    /// Returns one HTML file that needs nothing else.
    fn html(&self) -> String;

    /// Returns the figures as SVG: file name and text of each.
    fn svg(&self) -> Vec<(&'static str, String)>;
}

impl Page for Report {
    fn html(&self) -> String {
        html::page(self)
    }

    fn svg(&self) -> Vec<(&'static str, String)> {
        let mut figures = vec![
            ("access-times.svg", figures::access_times(self)),
            ("distribution.svg", figures::distribution(self)),
            ("backlog.svg", figures::backlog(self)),
        ];
        if !self.peers.is_empty() {
            figures.push(("beside.svg", beside::beside(self)));
        }
        figures
    }
}

/// Writes the figures of a report into a directory, which is created if it is missing. Returns
/// their paths.
///
/// # Errors
/// The errors of the file system.
pub fn write_svg(report: &impl Page, directory: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(directory)?;
    report
        .svg()
        .into_iter()
        .map(|(name, text)| {
            let path = directory.join(name);
            std::fs::write(&path, text).map(|()| path)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::times::tests::{outcome, report};
    use super::*;
    use crate::evaluation::{Evaluation, Peer, tests::measured};

    #[test]
    fn peer_gets_a_figure_of_its_own_and_a_fact() {
        let run = measured();
        let mut outcome = outcome(Evaluation::of(&run, &[]).unwrap(), run, vec![]);
        assert_eq!(Report::of_evaluation(&outcome).svg().len(), 3);
        outcome.put_beside(Peer {
            label: "another".into(),
            access_ns: vec![12_000_000],
            refused: 0,
        });
        let report = Report::of_evaluation(&outcome);
        let (name, svg) = report.svg().pop().unwrap();
        assert_eq!((name, svg.contains(">another</text>")), ("beside.svg", true));
        let fact = Fact::new("another", "12.000 ms".to_string(), "longest access, mean 12.000 ms");
        assert_eq!(report.facts.last(), Some(&fact));
    }

    #[test]
    fn figures_are_written_into_a_new_directory() {
        let directory = std::env::temp_dir()
            .join(format!("steadyfs-lab-{}", std::process::id()))
            .join("figures");
        let paths = write_svg(&report(), &directory).unwrap();
        assert_eq!(paths.len(), 3);
        assert!(
            paths.iter().all(|path| std::fs::read_to_string(path).unwrap().starts_with("<svg"))
        );
        std::fs::remove_dir_all(directory.parent().unwrap()).unwrap();
    }
}
