//! The kept counts of instructions, the page that shows them, and processor time in a comparison.

use std::path::{Path, PathBuf};
use steadyfs_compare::{
    Board, CompareReport, Comparison, Counts, CountsOf, Cpu, Options, kept, run,
};
use steadyfs_lab::bench::Case;
use steadyfs_lab::report::Page;
use steadyfs_lab::units::format_count;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn page(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

/// Headings of the boards on the pages.
const HEADINGS: [(&str, &str); 3] =
    [("nand", "128 MiB NAND"), ("nor", "1 MiB NOR"), ("nor-16", "16 MiB NOR")];

/// Returns the first table below a heading, as rows of cells.
fn rows_below(page: &str, heading: &str) -> Vec<Vec<String>> {
    let begin = page.find(heading).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let lines = page[begin..].lines().skip_while(|line| !line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
    };
    lines.take_while(|line| line.starts_with('|')).map(cells).collect()
}

/// Returns the comparison of the kept results.
fn kept_comparison() -> Comparison {
    let mut found = run(&[], &Options::default(), &|_, _| {}).unwrap();
    let kept = kept::read(&path("bench/results")).unwrap();
    found.add_kept(kept.into_iter().map(|(_, kept)| kept).collect());
    found
}

#[test]
fn counts_have_every_contender_and_every_kind_of_call_on_its_boards() {
    let counts = Counts::kept();
    let boards = |id: &str| counts.contenders[id].counts.keys().cloned().collect::<Vec<_>>();
    assert_eq!(boards("steadyfs"), ["nand", "nor", "nor-16"]);
    assert_eq!(boards("littlefs"), ["nand", "nor", "nor-16"]);
    assert_eq!(boards("spiffs"), ["nor", "nor-16"]);
    assert_eq!(boards("fatfs-on-dhara"), ["nand"]);
    let kinds: Vec<_> = counts.contenders["steadyfs"].counts["nand"].keys().collect();
    assert_eq!(kinds.len(), 21);
    for (name, CountsOf { compiler, counts }) in &counts.contenders {
        assert!(compiler.contains("opt-level") || compiler.contains("-Os"), "{name}: {compiler}");
        for (board, rows) in counts {
            assert!(Board::names().contains(board), "{board}");
            assert_eq!(rows.keys().collect::<Vec<_>>(), kinds, "{name}, {board}");
            for (kind, count) in rows {
                assert!(count.mean <= count.longest, "{name}, {board}, {kind}");
                assert!(count.calls + count.refused > 0, "{name}, {board}, {kind}");
            }
        }
    }
    for (case, kind) in &counts.cases {
        assert!(Case::named(case).is_some() && kinds.contains(&kind), "{case}: {kind}");
    }
}

#[test]
fn the_page_has_a_row_for_each_kind_of_call_and_its_counts() {
    let (counts, page) = (Counts::kept(), page("docs/results/processor.md"));
    for (board, title) in HEADINGS {
        let rows = rows_below(&page, &format!("\n## {title}"));
        let there: Vec<_> = ["steadyfs", "littlefs", "spiffs", "fatfs-on-dhara"]
            .iter()
            .filter_map(|id| counts.contenders[*id].counts.get(board))
            .collect();
        assert_eq!(rows.len(), there[0].len() + 2, "{title}");
        for row in &rows[2..] {
            for (cell, counts) in row[1..].iter().zip(&there) {
                let count = counts[&row[0]];
                let text =
                    format!("{} ({})", format_count(count.mean), format_count(count.longest));
                let is_its =
                    cell.starts_with(&text) || (count.calls == 0 && cell.starts_with("refused"));
                assert!(is_its, "{title}, {}: {cell} on the page, {text} kept", row[0]);
            }
            assert_eq!(row.len(), there.len() + 1);
        }
    }
}

/// Both pages are of the same rounds. The counts differ by the firmware around them.
#[test]
fn counts_of_steadyfs_are_those_of_the_footprint() {
    let (counts, page) = (Counts::kept(), page("docs/results/footprint.md"));
    let number = |cell: &str| cell.replace(',', "").parse::<f64>().unwrap();
    for (board, title) in HEADINGS {
        let ours = &counts.contenders["steadyfs"].counts[board];
        let rows = rows_below(&page, &format!("\n### {title}"));
        assert_eq!(rows.len(), 19 + 2, "{title}");
        for row in &rows[2..] {
            let count = ours[&row[0]];
            for (kept, cell) in [(count.mean, &row[1]), (count.longest, &row[2])] {
                let share = kept as f64 / number(cell);
                assert!(
                    (0.96..=1.04).contains(&share),
                    "{title}, {}: {kept} kept, {cell} in footprint.md; \
                     tools/peers/processor.sh steadyfs",
                    row[0]
                );
            }
        }
    }
}

#[test]
fn total_time_is_flash_and_processor_and_ranks_are_those_of_the_page() {
    let mut found = kept_comparison();
    let without = (found.to_string(), found.markdown(), CompareReport::of(&found).html());
    assert!(!without.0.contains("no count") && !without.1.contains("first by total"));

    let cpu: Cpu = "cortex-m3@72MHz".parse().unwrap();
    found.add_processor(cpu.clone());
    let counts = Counts::kept();
    let entry = found.entries.iter().find(|entry| entry.facts.id == "littlefs").unwrap();
    let outcome = entry.on("nor").unwrap().outcome("create").unwrap();
    let (processor, count) =
        (outcome.processor.unwrap(), counts.of("littlefs", "nor", "create").unwrap());
    let flash_us = outcome.row.figures.unwrap().mean_us;
    assert_eq!(processor.instructions, count.mean);
    assert!((processor.total_us - flash_us - count.mean as f64 * 1.3 / 72.0).abs() < 1e-6);
    let outcome = entry.on("nor").unwrap().outcome("append-16").unwrap();
    assert_eq!(outcome.processor, None, "no such call is counted");

    let summary = rows_below(&page("docs/results/processor.md"), "\n## Who is first");
    for (board, row) in HEADINGS.iter().zip(&summary[2..]) {
        let board = found.boards.iter().find(|known| known.id == board.0).unwrap();
        let places = found.places(board);
        let numbers = [places.cases, places.first_by_flash, places.first_by_total];
        assert_eq!(row[2..], numbers.map(|number| number.to_string()), "{}", board.id);
    }
    let html = CompareReport::of(&found).html();
    for text in [found.to_string(), found.markdown(), html.clone()] {
        assert!(text.contains("mean flash and processor time of a call, cortex-m3@72MHz"));
        assert!(text.contains("no count") && text.contains("first by total"));
    }
    assert!(html.contains("except in the tables with a processor"));
    let text = serde_json::to_string(&found).unwrap();
    let read: Comparison = serde_json::from_str(&text).unwrap();
    assert_eq!((read.cpu.as_ref(), &read), (Some(&cpu), &found));
}
