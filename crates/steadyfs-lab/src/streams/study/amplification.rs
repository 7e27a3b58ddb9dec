//! Rows of the write amplification: the wear, by fill, by the number of streams, and above the fill
//! at which the paper turns streams off.

use super::case::{AS_SPARE, COUNTS, FILLS, JOBS, PLAIN, STEADYFS, STREAMS_MAX};
use super::figures::{LESS_PERCENT, OFF_ABOVE_PERCENT, STREAMS};
use super::result::{Finding, Run};
use super::rows::{FIGURE, NOTHING, Runs, change, finding, less, percents, range, times, words};
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
            "The text gives neither the erases nor the fill of the paper's run. Erases fall as the amplification does; \
             SteadyFS's disk has more spare pages, and is therefore written less often for each block.",
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
        let gains = [PLAIN, STEADYFS]
            .map(|system| percents(&FILLS.map(|fill| less(runs.pair_apart(system, writes, fill)))));
        for fill in FILLS {
            let cell = |system| change(runs.pair_apart(system, writes, fill), waf);
            let why = format!(
                "Moved pages keep to their streams (`Config::moved_apart`), which the paper's layer lacks and names as a weakness: {} less on the plain layer, {} on SteadyFS.",
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
    let gains = percents(&gains);
    let verdict = match () {
        () if least > LESS_PERCENT + 5.0 => "more than the paper has",
        () if most < LESS_PERCENT - 5.0 => "less than the paper has",
        () => "the paper's half lies among these",
    };
    let how = match writes {
        Writes::Sequential => {
            "a region that is written in order empties its blocks one after the other, so that three streams leave hardly anything to be moved, and what is won is what one stream costs"
        }
        _ => {
            "writes at random leave some of each block in use even where it is of one job, and moves put the streams' pages into one block again"
        }
    };
    format!(
        "{gains} less on the plain layer, {verdict}: {how}. The paper says neither its fill nor where its jobs wrote."
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
                "The plain layer keeps no map, no journal and no roots on its flash and may take as long for a write as it likes; what SteadyFS has beyond it is the price of both.",
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
                "Eight jobs at random, each in a region twice as large as the one before; the paper names neither its jobs nor an amount."
            }
            _ => {
                "Past four the paper's transfer buffers do not suffice; the plain layer has none, and shows what the streams alone would give. SteadyFS has 4 at most: greater numbers are its last stream, so a host that has more lives than streams does better to fold its numbers evenly."
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
        let why = "Where moves keep streams apart, what each stream adds is seen better, and how little is left beyond four.";
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
            "At {full}: the worst case is what the paper turns streams off for. The plain layer moves whole superblocks within one \
             write, and real ones take longer by the scale; SteadyFS moves a share in each write."
        );
        let what = format!("Longest, {}, 1 → 3", words(writes));
        finding(PART, (what, SOURCE), ["as without".into(), cell(PLAIN), cell(STEADYFS)], why)
    };
    let mut rows = vec![
        finding(
            PART,
            ("Streams are turned off", SOURCE),
            [format!("above {OFF_ABOVE_PERCENT:.0} %"), "never".into(), "never by fill".into()],
            "SteadyFS joins its streams where fewer than three blocks for each head hold no data, which a large device meets \
             later than a small one.",
        ),
        finding(
            PART,
            (format!("Jobs with 2 % less or more at {full}"), SOURCE),
            [NOTHING.into(), serves(PLAIN), serves(STEADYFS)],
            "What a fixed fill gives away: off is the number for 1 stream above, on that for 3.",
        ),
    ];
    rows.extend(JOBS.map(longest));
    rows.push(finding(
        PART,
        (format!("Promised at {full}, 1 → 3"), SOURCE),
        [NOTHING.into(), NOTHING.into(), times(runs.pair(STEADYFS, Writes::Random, fill), promise)],
        "Every write was held to it. Each stream's reserve makes the rest fuller, and so the promise longer where the disk is \
         nearly full.",
    ));
    rows
}
