//! Runs the examples, and checks that each program in the documents is part of a program that is
//! built and run.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

#[path = "../examples/configuration.rs"]
mod configuration;
#[path = "../examples/full.rs"]
mod full;
#[path = "../examples/getting_started.rs"]
mod getting_started;
#[path = "../examples/logger.rs"]
mod logger;
#[path = "../examples/readme.rs"]
mod readme;
#[path = "../examples/update.rs"]
mod update;
#[path = "../examples/web_server.rs"]
mod web_server;

#[test]
fn a_first_file_survives_a_cut() -> Result<(), Box<dyn Error>> {
    getting_started::main()
}

#[test]
fn a_logger_keeps_each_acknowledged_record() -> Result<(), Box<dyn Error>> {
    logger::main()
}

#[test]
fn a_configuration_changes_as_a_whole() -> Result<(), Box<dyn Error>> {
    configuration::main()
}

#[test]
fn a_logger_goes_on_when_the_volume_is_full() -> Result<(), Box<dyn Error>> {
    full::main()
}

#[test]
fn an_update_that_does_not_confirm_is_taken_back() -> Result<(), Box<dyn Error>> {
    update::main()
}

#[test]
fn a_web_server_sends_what_is_there() -> Result<(), Box<dyn Error>> {
    web_server::main()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the lines without leading and trailing spaces, and without empty lines.
fn trimmed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Returns the code blocks of a document in a language.
fn blocks<'d>(document: &'d str, language: &str) -> Vec<&'d str> {
    let fence = format!("```{language}\n");
    document
        .split(&fence)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default())
        .collect()
}

#[test]
fn the_program_of_the_readme_is_built_and_runs() -> Result<(), Box<dyn Error>> {
    let [page, program] = ["README.md", "crates/steadyfs-drivers/examples/readme.rs"]
        .map(|path| fs::read_to_string(root().join(path)).unwrap());
    let program = program.replace("pub fn main", "fn main");
    let lines: Vec<_> =
        trimmed(&program).into_iter().filter(|line| !line.starts_with("//")).collect();
    let shown: Vec<_> = blocks(&page, "rust").into_iter().map(trimmed).collect();
    assert_eq!(shown, [lines]);
    readme::main()
}

#[test]
fn what_documents_show_stands_in_programs_that_are_built() {
    let read = |path: &str| {
        fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let programs = [
        "crates/steadyfs-drivers/examples/getting_started.rs",
        "crates/steadyfs-drivers/examples/logger.rs",
        "crates/steadyfs-drivers/examples/configuration.rs",
        "crates/steadyfs-drivers/examples/full.rs",
        "crates/steadyfs-drivers/examples/update.rs",
        "crates/steadyfs-drivers/src/adapters/embedded_storage/mod.rs",
        "crates/steadyfs-drivers/src/adapters/embedded_storage/pages.rs",
        "crates/steadyfs-drivers/src/lib.rs",
        "crates/steadyfs-drivers/src/check/mod.rs",
        "crates/steadyfs-drivers/src/waiting/mod.rs",
        "examples/c/first.c",
    ]
    .map(|path| (path, read(path).replace("//! ", "").replace("/// ", "")));
    for (document, most) in [("docs/guide/getting-started.md", 20), ("docs/guide/drivers.md", 10)] {
        let text = read(document);
        let shown: Vec<_> =
            ["rust", "c"].iter().flat_map(|language| blocks(&text, language)).collect();
        assert!((1..most).contains(&shown.len()), "{document} shows {} programs", shown.len());
        for block in shown {
            let lines = trimmed(block);
            let is_there = programs.iter().any(|(_, program)| {
                trimmed(program).windows(lines.len()).any(|part| part == lines)
            });
            assert!(is_there, "{document}: no program has\n{block}");
        }
    }
}

#[test]
fn every_feature_of_spiffs_is_shown_by_a_test_that_there_is() {
    let text = fs::read_to_string(root().join("docs/guide/from-spiffs.md")).unwrap();
    let (mut count, rows) = (0, text.lines().filter(|line| line.starts_with("| ")).skip(1));
    for row in rows {
        let shown = row.split(" | ").nth(2).unwrap();
        assert!(shown.starts_with('[') || shown.starts_with("`tools/"), "nothing shows it: {row}");
        for link in shown.split('[').skip(1) {
            let (name, place) = link.split_once("](").unwrap();
            let place = root().join("docs/guide").join(place.split(')').next().unwrap());
            let source = fs::read_to_string(&place)
                .unwrap_or_else(|error| panic!("{}: {error}", place.display()));
            assert!(
                source.contains(&format!("fn {}()", name.trim_matches('`'))),
                "{} has no {name}",
                place.display()
            );
            count += 1;
        }
    }
    assert!(count > 15, "{count} tests");
}

#[test]
fn the_memory_that_the_document_tells_is_that_of_the_settings() {
    use steadyfs::Config;
    use steadyfs::media::Geometry;
    let text = fs::read_to_string(root().join("docs/guide/getting-started.md")).unwrap();
    let nand = Geometry {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 1024,
        programs_bytes: false,
    };
    for geometry in [Geometry::of_nor(4096, 256), nand] {
        let bytes = Config::for_geometry(&geometry).memory_bytes(&geometry);
        let told = format!("{},{:03} bytes", bytes / 1000, bytes % 1000);
        assert!(text.contains(&told), "docs/guide/getting-started.md does not say {told}");
    }
}
