//! Findings as lines. Many findings of one kind in a row become one line.

use super::paths::Paths;
use std::fmt::Write;
use steadyfs::Finding;
use steadyfs_lab::units::format_count;

/// Maximum number of findings of one kind in a row that get a line each.
const LINES_MAX: usize = 8;
/// Maximum number of ranges of numbers in a line.
const RANGES_MAX: usize = 8;

/// Returns the text behind the count of many findings of one kind, and the number in this
/// finding.
fn kind(finding: &Finding, paths: &Paths) -> Option<(String, u32)> {
    let (what, number) = match *finding {
        Finding::UnreadableTable { logical } => {
            ("logical pages, tables of the file system, cannot be read", logical)
        }
        Finding::LeakedPage { logical } => {
            ("logical pages are taken, or hold something, and belong to no file", logical)
        }
        Finding::UnmarkedPage { logical } => {
            ("logical pages belong to a file and are marked as free", logical)
        }
        Finding::UnmarkedInode { inode } => ("inodes are in use and are marked as free", inode),
        Finding::Lost { inode } => ("inodes are named by no directory", inode),
        Finding::LeakedInode { inode } => ("inodes are taken and hold nothing", inode),
        Finding::InDoubt { inode } => {
            ("inodes may be in an earlier state, because small changes are lost", inode)
        }
        Finding::UnreadablePage { inode, logical } => {
            return Some((
                format!("logical pages of {} cannot be read", paths.named("inode", inode)),
                logical,
            ));
        }
        Finding::BadEntry { directory, inode } => {
            let directory = paths.named("directory", directory);
            return Some((
                format!(
                    "inodes are named by {directory} that are not there, elsewhere, or named twice"
                ),
                inode,
            ));
        }
        _ => return None,
    };
    Some((what.to_string(), number))
}

/// Returns a line for each finding, or for many of one kind that follow each other.
pub(super) fn lines(findings: &[Finding], paths: &Paths) -> String {
    let kinds: Vec<_> = findings.iter().map(|finding| kind(finding, paths)).collect();
    let (mut text, mut first) = (String::new(), 0);
    while first < findings.len() {
        let what = kinds[first].as_ref().map(|(what, _)| what);
        let row = kinds[first..]
            .iter()
            .take_while(|kind| what.is_some() && kind.as_ref().map(|(what, _)| what) == what);
        let numbers: Vec<u32> = row.flatten().map(|(_, number)| *number).collect();
        let count = numbers.len().max(1);
        if let Some(what) = what.filter(|_| count > LINES_MAX) {
            let _ = writeln!(text, "{} {what}: {}", format_count(count as u64), ranges(numbers));
        } else {
            for finding in &findings[first..first + count] {
                let _ = writeln!(text, "{}", paths.tell(finding));
            }
        }
        first += count;
    }
    text
}

/// Formats numbers as ranges. Shows only the first few ranges.
fn ranges(mut numbers: Vec<u32>) -> String {
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let one = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    let named: Vec<String> = ranges.iter().take(RANGES_MAX).map(one).collect();
    let more = if ranges.len() > RANGES_MAX { ", and others" } else { "" };
    named.join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lost table gave 213 lines of pages. The important finding stood above them.
    #[test]
    fn many_of_one_kind_are_one_line_and_few_have_one_each() {
        let leaked = |logical| Finding::LeakedPage { logical };
        let table = Finding::UnreadableTable { logical: 3 };
        let many: Vec<Finding> =
            [table].into_iter().chain((10..20).map(leaked)).chain([leaked(31), table]).collect();
        assert_eq!(
            lines(&many, &Paths::none()),
            "logical page 3, a table of the file system, cannot be read\n\
             11 logical pages are taken, or hold something, and belong to no file: 10 to 19, 31\n\
             logical page 3, a table of the file system, cannot be read\n"
        );
        let few: Vec<Finding> = (0..8).map(leaked).collect();
        assert_eq!(lines(&few, &Paths::none()).lines().count(), 8);
        let apart = ranges((0..40).step_by(2).collect());
        assert_eq!(apart, "0, 2, 4, 6, 8, 10, 12, 14, and others");
    }

    #[test]
    fn pages_of_two_files_are_two_lines() {
        let pages =
            |inode| (100..120).map(move |logical| Finding::UnreadablePage { inode, logical });
        let told = lines(&pages(1).chain(pages(2)).collect::<Vec<_>>(), &Paths::none());
        assert_eq!(
            told,
            "20 logical pages of inode 1 cannot be read: 100 to 119\n\
             20 logical pages of inode 2 cannot be read: 100 to 119\n"
        );
    }
}
