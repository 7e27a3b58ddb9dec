//! The levels of the figure of accesses. Accesses with the same work on the chip take the same
//! time, and their level gets a name.

use super::view::View;
use crate::evaluate::Work;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of named levels.
const LEVELS: usize = 8;
/// A level is visible as a stripe if it has at least one in this many accesses.
const VISIBLE: usize = 200;
/// Share of the longest access within which the middle half of a level must lie. Otherwise the
/// level is a cloud and gets no name.
const NARROW: f64 = 0.1;
/// Maximum distance of a name from its level, as a multiple of the room for a name.
const MOVED: f64 = 1.5;
/// Room for a name, as a share of the axis: 16 of 300 pixels.
const ROOM: f64 = 16.0 / 300.0;

/// A level and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Access time of the level, in nanoseconds.
    pub ns: u64,
    /// Work of its accesses.
    pub name: String,
}

/// A level with the place of its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label<'l> {
    /// Time of the level, in milliseconds.
    pub(super) ms: f64,
    /// Place of the name, in milliseconds.
    pub(super) at_ms: f64,
    pub(super) name: &'l str,
}

/// Finds the levels worth a name. The level of the longest access is first. The levels with a
/// visible share follow, the largest first. `work` contains the work of each access.
pub(super) fn levels(access_ns: &[u64], work: &[Work]) -> Vec<Level> {
    let Some((&longest_ns, &longest)) = access_ns.iter().zip(work).max_by_key(|(ns, _)| **ns)
    else {
        return Vec::new();
    };
    let near_ns = (NARROW * longest_ns as f64) as u64;
    let mut first = Level { ns: longest_ns, name: format!("longest: {}", longest.without_reads()) };
    let mut stripes = Vec::new();
    for (work, mut times) in by_work(access_ns, work) {
        times.sort_unstable();
        let [low, middle, high] = [1, 2, 3].map(|quarter| times[(times.len() - 1) * quarter / 4]);
        let of_longest = work == longest.without_reads();
        if of_longest && longest_ns - middle > near_ns {
            // Other accesses did the same and took less: the reads make the difference.
            first.name = format!("longest: {longest}");
        } else if of_longest {
            continue;
        }
        if times.len() * VISIBLE >= access_ns.len() && high - low <= near_ns {
            stripes.push((times.len(), Level { ns: middle, name: work.to_string() }));
        }
    }
    stripes.sort_by_key(|(count, _)| Reverse(*count));
    std::iter::once(first).chain(stripes.into_iter().map(|(_, level)| level)).take(LEVELS).collect()
}

/// Returns the times of the accesses by their work, without reads.
fn by_work(access_ns: &[u64], work: &[Work]) -> BTreeMap<Work, Vec<u64>> {
    let mut times: BTreeMap<Work, Vec<u64>> = BTreeMap::new();
    for (&ns, work) in access_ns.iter().zip(work) {
        times.entry(work.without_reads()).or_default().push(ns);
    }
    times
}

/// Gives names places of their own, near their levels and in their order. A name is left out if
/// others would have to move too far. Earlier levels are placed first, and the result keeps their
/// order.
pub(super) fn place<'l>(levels: &'l [Level], view: &View) -> Vec<Label<'l>> {
    let room = ROOM * view.end_ms;
    let mut placed: Vec<Label<'l>> = Vec::new();
    for level in levels {
        let ms = level.ns as f64 / 1e6;
        let mut more = placed.clone();
        more.push(Label { ms, at_ms: ms, name: &level.name });
        spread(&mut more, room);
        if more.iter().all(|label| (label.at_ms - label.ms).abs() <= MOVED * room) {
            placed = more;
        }
    }
    placed
}

/// Moves names apart as little as possible. Names that are too close form a group around the mean
/// of their levels.
fn spread(labels: &mut [Label<'_>], room: f64) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[a].ms.total_cmp(&labels[b].ms));
    // Without the room for the names below, names of a group are at the same height, and groups
    // ascend.
    let mut groups: Vec<(f64, f64)> = Vec::new();
    let height = |group: &(f64, f64)| group.0 / group.1;
    for (below, &index) in order.iter().enumerate() {
        let mut group = (labels[index].ms - below as f64 * room, 1.0);
        while let Some(last) = groups.pop_if(|last| height(last) > height(&group)) {
            group = (group.0 + last.0, group.1 + last.1);
        }
        groups.push(group);
    }
    let heights =
        groups.iter().flat_map(|group| std::iter::repeat_n(height(group), group.1 as usize));
    for ((below, &index), height) in order.iter().enumerate().zip(heights) {
        // The lowest name must not cross the axis.
        labels[index].at_ms = height.max(room / 2.0) + below as f64 * room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn work(programs: u64, erases: u64) -> Work {
        Work { programs, erases, ..Work::default() }
    }

    #[test]
    fn levels_are_named_by_what_their_accesses_did() {
        let mut accesses = vec![(1_000, work(1, 0)); 900];
        accesses.extend(vec![(2_000, work(2, 0)); 90]);
        accesses.extend([(2_500, work(2, 0)), (1_700, work(3, 0)), (9_000, work(1, 1))]);
        let (access_ns, work): (Vec<_>, Vec<_>) = accesses.into_iter().unzip();
        let named: Vec<_> =
            levels(&access_ns, &work).into_iter().map(|level| (level.ns, level.name)).collect();
        let expected =
            [(9_000, "longest: 1 program + erase"), (1_000, "1 program"), (2_000, "2 programs")];
        assert_eq!(
            named,
            expected.map(|(ns, name)| (ns, name.to_string())),
            "one access of three programs is no stripe"
        );
        assert_eq!(levels(&access_ns, &[]), [], "a trace tells nothing but times");
    }

    #[test]
    fn cloud_gets_no_name() {
        let (access_ns, mut work): (Vec<u64>, Vec<_>) =
            ((1..=1_000).collect(), vec![work(2, 0); 999]);
        work.push(Work { erases: 1, ..work[0] });
        assert_eq!(levels(&access_ns, &work).len(), 1);
    }

    #[test]
    fn longest_that_did_no_more_than_others_tells_its_reads() {
        let mut accesses = vec![(2_000, work(1, 1)); 99];
        accesses.push((3_000, Work { reads: 26, ..work(1, 1) }));
        let (access_ns, work): (Vec<_>, Vec<_>) = accesses.into_iter().unzip();
        let named: Vec<_> =
            levels(&access_ns, &work).into_iter().map(|level| (level.ns, level.name)).collect();
        let expected =
            [(3_000, "longest: 1 program + erase + 26 reads"), (2_000, "1 program + erase")];
        assert_eq!(named, expected.map(|(ns, name)| (ns, name.to_string())));
    }

    #[test]
    fn close_names_move_apart_and_those_without_a_place_are_left_out() {
        let level = |ns| Level { ns, name: ns.to_string() };
        let levels: Vec<_> =
            [10_000_000, 9_990_000, 9_980_000, 9_970_000, 9_960_000, 1_000].map(level).into();
        let view = View::of(10_000_000, None);
        let placed = place(&levels, &view);
        let names: Vec<_> = placed.iter().map(|label| label.name).collect();
        assert_eq!(names, ["10000000", "9990000", "9980000", "9970000", "1000"]);
        assert!(placed[0].at_ms > 10.0 && placed[3].at_ms < 9.5, "they stand around their levels");
        assert!(placed[4].at_ms > 0.2, "the name does not lie across the axis");
    }

    proptest! {
        #[test]
        fn names_never_overlap_and_keep_the_order_of_their_levels(ns in prop::collection::vec(0_u64..10_000_000, 1..20)) {
            let levels: Vec<_> = ns.iter().map(|&ns| Level { ns, name: String::new() }).collect();
            let view = View::of(10_000_000, Some(30_000_000));
            let mut placed = place(&levels, &view);
            placed.sort_by(|a, b| a.ms.total_cmp(&b.ms));
            for pair in placed.windows(2) {
                prop_assert!(pair[1].at_ms - pair[0].at_ms > 0.99 * ROOM * view.end_ms, "{placed:?}");
            }
            prop_assert!(placed.iter().all(|label| (label.at_ms - label.ms).abs() <= MOVED * ROOM * view.end_ms));
        }
    }
}
