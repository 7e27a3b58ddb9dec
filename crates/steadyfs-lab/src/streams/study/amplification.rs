//! Rows of the write amplification: the wear, by fill, by the number of streams, and above the fill
//! at which the paper turns streams off.

use super::case::{AS_SPARE, COUNTS, FILLS, JOBS, PLAIN, STEADYFS, STREAMS_MAX};
use super::figures::{LESS_PERCENT, OFF_ABOVE_PERCENT, STREAMS};
use super::result::{Finding, Run};
use super::rows::{
    FIGURE, NOTHING, Runs, change, finding, less, less_or_more, range, times, words,
};
use crate::streams::Writes;
use crate::units::format_percent;

/// Limit below which a gain of amplification counts as no difference, as a share of the
/// amplification.
const ALIKE: f64 = 0.02;

/// Returns all rows.
pub(super) fn all(runs: &Runs) -> Vec<Finding> {
    [endurance(runs), by_fill(runs), at_equal_spare(runs), by_count(runs), above_the_switch(runs)]
        .concat()
}

fn waf(run: &Run) -> f64 {
    run.amplification
}

/// Returns the jobs at a fill, in words.
fn at(writes: Writes, fill: f64) -> String {
    format!("{}, {} full", words(writes), format_percent(fill))
}

fn endurance(runs: &Runs) -> Vec<Finding> {
    let row = |writes| {
        let erases =
            |system| change(runs.pair(system, writes, FILLS[1]), |run| run.erases_per_block);
        finding(
            "Erases of a block, 1 stream → 3",
            (at(writes, FILLS[1]), "section 6.2"),
            [FIGURE.into(), erases(PLAIN), erases(STEADYFS)],
            "The text gives neither the erases nor the fill of the paper's run. Erases fall as the \
             amplification falls. SteadyFS's disk has more spare pages, so each of its blocks is \
             written less often.",
        )
    };
    JOBS.map(row).to_vec()
}

fn by_fill(runs: &Runs) -> Vec<Finding> {
    const PART: &str = "Write amplification, 1 stream → 3";
    let mut rows = Vec::new();
    for writes in JOBS {
        for fill in FILLS {
            let cell = |system| change(runs.pair(system, writes, fill), waf);
            let paper = format!("−{LESS_PERCENT:.0} %");
            let source = "abstract, figure 5.2, section 9";
            rows.push(finding(
                PART,
                (at(writes, fill), source),
                [paper, cell(PLAIN), cell(STEADYFS)],
                why_less(runs, writes),
            ));
        }
        let gains = [PLAIN, STEADYFS].map(|system| {
            less_or_more(&FILLS.map(|fill| less(runs.pair_apart(system, writes, fill))))
        });
        for fill in FILLS {
            let cell = |system| change(runs.pair_apart(system, writes, fill), waf);
            let why = format!(
                "Moved pages stay in their streams (Config::moved_apart). The paper's layer lacks \
                 this, and the paper names it as a weakness: {} on the plain layer, {} on SteadyFS.",
                gains[0], gains[1]
            );
            let what = format!("… {}, moves apart", format_percent(fill));
            rows.push(finding(
                PART,
                (what, "section 4"),
                [NOTHING.into(), cell(PLAIN), cell(STEADYFS)],
                why,
            ));
        }
    }
    rows
}

/// Returns the reason why a reading of the three jobs gains more or less than in the paper.
fn why_less(runs: &Runs, writes: Writes) -> String {
    let gains = FILLS.map(|fill| less(runs.pair(PLAIN, writes, fill)));
    let (least, most) = range(&gains.map(|gain| 100.0 * gain));
    let gains = less_or_more(&gains);
    let verdict = match () {
        () if least > LESS_PERCENT + 5.0 => "more than in the paper",
        () if most < LESS_PERCENT - 5.0 => "less than in the paper",
        () => "the paper's half lies in this range",
    };
    let how = match writes {
        Writes::Sequential => {
            "a region that is written in order empties its blocks one after the other. So three \
             streams leave hardly any pages to move, and the gain is the cost of one stream"
        }
        _ => {
            "random writes leave a part of each block in use, even if the block belongs to one \
             job. Moves put pages of several streams into one block again"
        }
    };
    format!(
        "{gains} on the plain layer, {verdict}: {how}. The paper gives neither its fill nor \
         the places of its writes."
    )
}

fn at_equal_spare(runs: &Runs) -> Vec<Finding> {
    let mut rows = Vec::new();
    for writes in JOBS {
        for fill in FILLS {
            let cell = |system| change(runs.pair(system, writes, fill), waf);
            rows.push(finding(
                "The same at SteadyFS's share of spare pages",
                (at(writes, fill), NOTHING),
                [NOTHING.into(), cell(AS_SPARE), cell(STEADYFS)],
                "The plain layer has no map, no journal and no roots on its flash, and no limit \
                 for the time of a write. SteadyFS has these, and the difference is their price.",
            ));
        }
    }
    rows
}

fn by_count(runs: &Runs) -> Vec<Finding> {
    const PART: &str = "Write amplification, 1 stream → several";
    const SOURCE: &str = "section 5";
    let run = |system, ids, apart| runs.find(system, Writes::Lives, FILLS[0], ids, apart);
    let cell = |system, ids, apart| change([run(system, 1, false), run(system, ids, apart)], waf);
    let row = |ids: u8| {
        let paper = if ids <= STREAMS { "a gain" } else { "no more" };
        let why = match ids {
            0..=STREAMS_MAX => {
                "Eight random jobs, each in a region twice as large as the region before. The \
                 paper names neither its jobs nor an amount."
            }
            _ => {
                "The paper's transfer buffers suffice for four streams. The plain layer has no \
                 such buffers, and shows the gain of the streams alone. SteadyFS has at most 4 \
                 streams, and greater numbers mean its last stream. So a host with more lifetimes \
                 than streams should distribute its numbers evenly."
            }
        };
        finding(
            PART,
            (format!("{ids} streams"), SOURCE),
            [paper.into(), cell(PLAIN, ids, false), cell(STEADYFS, ids, false)],
            why,
        )
    };
    let row_apart = |ids: u8| {
        let steadyfs = if ids <= STREAMS_MAX { cell(STEADYFS, ids, true) } else { NOTHING.into() };
        let why = "If moves keep streams apart, the gain of each stream is clearer. Little is left \
            to gain beyond four.";
        finding(
            PART,
            (format!("{ids} streams, moves apart"), SOURCE),
            [NOTHING.into(), cell(PLAIN, ids, true), steadyfs],
            why,
        )
    };
    COUNTS.skip(1).map(row).chain(COUNTS.skip(1).map(row_apart)).collect()
}

fn above_the_switch(runs: &Runs) -> Vec<Finding> {
    const PART: &str = "Off or on above 90 %";
    const SOURCE: &str = "section 5";
    let [_, _, fill] = FILLS;
    let full = format_percent(fill);
    let serves = |system| {
        let gains = JOBS.map(|writes| less(runs.pair(system, writes, fill)));
        format!("{} of {}", gains.iter().filter(|&&gain| gain >= ALIKE).count(), JOBS.len())
    };
    let promise = |run: &Run| run.bound_us.unwrap_or(0.0);
    let longest = |writes| {
        let cell = |system| times(runs.pair(system, writes, fill), |run| run.max_us);
        let why = format!(
            "At {full}. The paper turns streams off because of this worst case. The plain layer \
             moves whole superblocks within one write; real superblocks take longer by the scale. \
             SteadyFS moves a share in each write."
        );
        let what = format!("Longest, {}, 1 → 3", words(writes));
        finding(PART, (what, SOURCE), ["as without".into(), cell(PLAIN), cell(STEADYFS)], why)
    };
    let mut rows = vec![
        finding(
            PART,
            ("Streams are turned off", SOURCE),
            [format!("above {OFF_ABOVE_PERCENT:.0} %"), "never".into(), "never by fill".into()],
            "SteadyFS joins its streams if fewer than three blocks for each head are free. A large \
             device reaches this state later than a small device.",
        ),
        finding(
            PART,
            (format!("Jobs with 2 % less or more at {full}"), SOURCE),
            [NOTHING.into(), serves(PLAIN), serves(STEADYFS)],
            "The loss by a fixed fill. Off is the number for 1 stream above, on is the number for \
             3 streams.",
        ),
    ];
    rows.extend(JOBS.map(longest));
    rows.push(finding(
        PART,
        (format!("Promised at {full}, 1 → 3"), SOURCE),
        [NOTHING.into(), NOTHING.into(), times(runs.pair(STEADYFS, Writes::Random, fill), promise)],
        "Every write kept this promise. Each stream's reserve makes the rest fuller. So the \
         promise is longer if the disk is nearly full.",
    ));
    rows
}
