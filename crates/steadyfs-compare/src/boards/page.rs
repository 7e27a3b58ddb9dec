//! The page of the measurements: `docs/results/boards.md`.

use super::kept::KeptRuns;
use super::plan::{Basis, Figure, Measure, Plan, Run};
use std::fmt::Write;
use steadyfs_lab::units::format_count;

/// A published figure beside the simulated one.
pub struct Standing<'p> {
    /// The run.
    pub run: &'p Run,
    /// The figure.
    pub figure: &'p Figure,
    /// The basis of the simulated value.
    pub basis: Basis,
    /// The simulated value, if the run is kept.
    pub simulated: Option<f64>,
}

impl Standing<'_> {
    /// Largest ratio of two equal values. A smaller ratio than its inverse is off, too.
    pub const NEAR: f64 = 1.2;

    /// Returns the simulated value by the published one.
    pub fn ratio(&self) -> Option<f64> {
        self.simulated.map(|simulated| simulated / self.figure.published)
    }

    /// Returns true if both values are within 20 %.
    pub fn is_near(&self) -> bool {
        self.ratio().is_some_and(|ratio| (ratio - 1.0).abs() <= Self::NEAR - 1.0)
    }
}

/// Returns every published figure, in the order of the plan.
pub fn standings<'p>(plan: &'p Plan, kept: &KeptRuns) -> Vec<Standing<'p>> {
    let of_run = |run: &'p Run| {
        let result = kept.runs.get(&run.id);
        run.figure.iter().map(move |figure| Standing {
            run,
            figure,
            basis: run.basis(figure),
            simulated: result.and_then(|result| figure.value(&result.spans)),
        })
    };
    plan.run.iter().flat_map(|run| of_run(run).collect::<Vec<_>>()).collect()
}

/// Returns the page.
pub fn markdown(plan: &Plan, kept: &KeptRuns) -> String {
    let all = standings(plan, kept);
    let mut page = head(plan, &all, kept);
    page += &sources(plan);
    for (id, source) in &plan.source {
        let of: Vec<_> = all.iter().filter(|standing| standing.run.source == *id).collect();
        let _ = write!(page, "\n## {}\n\n", source.title);
        page += &figures(&of);
        page += &runs(plan, id, kept);
    }
    page
}

fn count(all: &[Standing<'_>], basis: Basis) -> (usize, usize) {
    let of = all.iter().filter(|standing| standing.basis == basis);
    let near = of.clone().filter(|standing| standing.is_near()).count();
    (of.count(), near)
}

fn head(plan: &Plan, all: &[Standing<'_>], kept: &KeptRuns) -> String {
    let (predictions, near) = count(all, Basis::Prediction);
    let (calibrated, calibrated_near) = count(all, Basis::Calibration);
    let published = all.iter().filter(|standing| standing.basis != Basis::Experiment).count();
    let versions: Vec<_> =
        kept.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let parts = [
        format!(
            "The times of these pages are times of simulated chips. This page has {published} \
             published measurements of real boards, from {} sources. The same file systems do the \
             same work here as real code on a simulated chip ({}). No board has run SteadyFS yet, so \
             it has no row. TSFS has none either, because its code is not public: \
             [documents](documents.md#buffers-under-a-fixed-rate).",
            plan.source.len(),
            versions.join("; "),
        ),
        format!(
            "- **Prediction**: the datasheet's typical times alone, and no figure of the board. \
             {near} of {predictions} are within 20 %."
        ),
        format!(
            "- **Calibration**: one figure of the same board, marked \"itself\", sets the time of \
             its driver. The other figures follow. {calibrated_near} of {calibrated} are within \
             20 %."
        ),
        "- **Experiment**: a change of the conditions, which explains the figure of another run."
            .to_string(),
        "The ratio is the simulated value by the published one. A figure that is off by more than \
         20 % is explained below its table, or stated as unexplained."
            .to_string(),
    ];
    let [first, lists @ .., last] = parts.map(|part| wrapped(&part));
    format!(
        "# Real boards beside the simulated chips

<!-- Made by: steady boards --markdown docs/results/boards.md -->

{first}
{}
{last}
```
cargo run --release -- boards              # every figure, from the kept results
cargo run --release -- boards --run NAME   # the figures of one run
```

This command measures a run again. It [needs the peers' sources](contenders.md#contenders-in-c).

```sh
STEADY_PEERS=$PWD/peers cargo run --release --features peers -- boards --measure --run NAME
```

`crates/steadyfs-compare/assets/boards.toml` has the settings and the steps of each run.

",
        lists.concat(),
    )
}

fn sources(plan: &Plan) -> String {
    let mut text = "## Sources\n\n| source | board |\n|---|---|\n".to_string();
    for source in plan.source.values() {
        let hand = if source.second_hand { "; quoted at second hand" } else { "" };
        let _ = writeln!(text, "| [{}]({}){hand} | {} |", source.title, source.link, source.board);
    }
    text
}

fn figures(of: &[&Standing<'_>]) -> String {
    let mut text = "| run | figure | published | simulated | ratio | basis |\n\
                    |---|---|---:|---:|---:|---|\n"
        .to_string();
    for standing in of {
        let Standing { run, figure, .. } = standing;
        let unit = |value| figure.measure.text(value);
        let published = figure.shown.clone().unwrap_or_else(|| unit(figure.published));
        let simulated = standing.simulated.map_or("not measured".to_string(), unit);
        let ratio = standing.ratio().map_or("–".to_string(), |ratio| format!("{ratio:.2}"));
        let basis = standing.basis;
        let _ = writeln!(
            text,
            "| `{}` | {} | {published} | {simulated} | {ratio} | {basis} |",
            run.id, figure.what
        );
    }
    text
}

fn runs(plan: &Plan, source: &str, kept: &KeptRuns) -> String {
    let mut text = "\n".to_string();
    for run in plan.run.iter().filter(|run| run.source == source) {
        let driver = kept.runs.get(&run.id).and_then(|result| result.driver.as_ref());
        let driver =
            driver.map_or(String::new(), |driver| format!(" Calibrated driver: {driver}."));
        let off = run.off.as_ref().map_or(String::new(), |off| format!(" **Off:** {off}"));
        let line = format!("- `{}`: {}{driver}{off}", run.id, run.because);
        text += &wrapped(&line);
    }
    text
}

/// Breaks a line at 100 columns. The lines of a list are indented.
fn wrapped(line: &str) -> String {
    let indent = if line.starts_with("- ") { "  " } else { "" };
    let (mut text, mut column) = (String::new(), 0);
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > 100 {
            text += &format!("\n{indent}");
            column = indent.len();
        } else if column > 0 {
            text += " ";
            column += 1;
        }
        text += word;
        column += length;
    }
    text + "\n"
}

impl Measure {
    /// Returns a value with its unit.
    pub fn text(self, value: f64) -> String {
        match self {
            Measure::Rate if value < 10.0 => format!("{} B/s", three(value * 1e3)),
            Measure::Rate => format!("{} kB/s", three(value)),
            Measure::Reads | Measure::BytesRead => format_count(value.round() as u64),
            _ if value >= 1e3 => format!("{} s", three(value / 1e3)),
            _ => format!("{} ms", three(value)),
        }
    }
}

/// Formats a number with three significant digits.
fn three(number: f64) -> String {
    let digits = (number.abs().max(1e-9).log10().floor() as i32).max(-3);
    match 2 - digits {
        decimals @ 1.. => format!("{number:.*}", decimals as usize),
        _ => format_count(number.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits_and_a_unit() {
        assert_eq!(Measure::Total.text(6_356.247), "6.36 s");
        assert_eq!(Measure::Total.text(45.8), "45.8 ms");
        assert_eq!(Measure::Rate.text(1_750.5), "1,751 kB/s");
        assert_eq!(Measure::Rate.text(1.384), "1,384 B/s");
        assert_eq!(Measure::Reads.text(276_361.0), "276,361");
    }

    #[test]
    fn lines_of_lists_are_broken_at_100_columns() {
        let text = wrapped(&format!("- {}", "word ".repeat(60)));
        assert!(text.lines().count() == 4 && text.lines().all(|line| line.len() <= 100), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
    }
}
