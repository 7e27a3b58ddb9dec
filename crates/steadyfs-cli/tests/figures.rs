//! Other pages give the same footprint as `docs/results/footprint.md`, which
//! `tools/footprint.sh --check` verifies.

use std::fs;
use std::path::Path;
use steadyfs::Config;
use steadyfs::media::Geometry;

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// Returns a row of the table, in bytes.
fn bytes(label: &str) -> u64 {
    let footprint = page("docs/results/footprint.md");
    let row = footprint.lines().find_map(|line| line.strip_prefix(&format!("| {label} | ")));
    row.and_then(|row| row.split(' ').next())
        .unwrap_or_else(|| panic!("no row {label}"))
        .replace(',', "")
        .parse()
        .unwrap()
}

fn stack(call: &str) -> u64 {
    bytes(&format!("Stack, `{call}`"))
}

/// Formats a number with separators, as the pages do.
fn exact(bytes: u64) -> String {
    steadyfs_lab::units::format_count(bytes)
}

fn whole_kib(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1024.0)
}

fn kib(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0)
}

/// Returns a text in one line: pages break their lines anywhere.
fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn tells(name: &str, text: &str) {
    assert!(
        unbroken(&page(name)).contains(&unbroken(text)),
        "{name} does not tell what docs/results/footprint.md says: {text}"
    );
}

/// Returns a row of the builds in KB: Rust, C, and C with the features `nor,truncate`.
fn build(label: &str) -> [String; 3] {
    let footprint = page("docs/results/footprint.md");
    let row = footprint.lines().find_map(|line| line.strip_prefix(&format!("| {label} | ")));
    let row = row.unwrap_or_else(|| panic!("no build {label}"));
    let mut cells = row.split(" | ").map(|cell| cell.trim_end_matches(" |").replace(',', ""));
    [(); 3].map(|()| {
        let code: u64 = cells.next().unwrap().parse().unwrap();
        format!("{:.0}", code as f64 / 1000.0)
    })
}

/// A command gave twice the code that its page stated.
#[test]
fn pages_that_tell_of_a_build_agree_with_the_footprint() {
    let rows = ["release | stable", "size | stable", "size, core | nightly"];
    let [release, size, core] = rows.map(build);
    let [rust, all, small] = &size;
    tells(
        "README.md",
        &format!(
            "A logger on NOR takes {rust} KB of code on a Cortex-M3. In C it takes {all} KB, or \
             {small} KB with few [features]"
        ),
    );
    tells(
        "docs/guide/getting-started.md",
        &format!(
            "a logger on NOR then takes {} KB of code on stable, and {} KB on nightly",
            size[0], core[0]
        ),
    );
    for (label, [_, all, small]) in [
        ("`release`, stable", release),
        ("`size`, stable", size),
        ("`size`, nightly, with the core library", core),
    ] {
        tells("docs/guide/c.md", &format!("| {label} | {all} | {small} |"));
    }
}

/// The pages disagreed, because each had been measured at another time.
#[test]
fn pages_that_tell_of_the_footprint_agree_with_it() {
    let [all, logger, lean] =
        ["Code, NAND", "Code, NAND, a logger", "Code, NAND, a logger without features"].map(bytes);
    let [reader, clean] =
        ["Code, NAND, reading only", "Code, NAND, reading only, a volume that was ended cleanly"]
            .map(|label| whole_kib(bytes(label)));
    tells(
        "docs/results/README.md",
        &format!(
            "{} KiB of code for a logger on NAND, {} without features, {} with every call, \
             {reader} for reading alone, {clean} for what was unmounted",
            whole_kib(logger),
            whole_kib(lean),
            whole_kib(all)
        ),
    );
    let ram = bytes("RAM, 128 MiB NAND");
    tells("docs/results/README.md", &format!("{} KiB of RAM for 128 MiB of NAND", whole_kib(ram)));
    tells(
        "docs/results/README.md",
        &format!("with the struct {} bytes for 128 MiB of NAND", exact(ram)),
    );
    let (small, large) = (bytes("RAM, 1 MiB NOR"), bytes("RAM, 16 MiB NOR"));
    tells(
        "docs/results/README.md",
        &format!(
            "{} for 1 MiB of NOR in sectors of 4 KiB, {} for 16 MiB in blocks of 64 KiB",
            kib(small),
            kib(large)
        ),
    );

    let footprint = page("docs/results/footprint.md");
    let calls =
        footprint.lines().filter_map(|line| line.strip_prefix("| Stack, `")?.split('`').next());
    let other =
        calls.filter(|call| !["mount", "repair", "check"].contains(call)).map(stack).max().unwrap();
    tells(
        "docs/results/README.md",
        &format!(
            "{} KiB of stack in a mount, {} in a repair, {} in a check, \
             {} at most in any other call",
            kib(stack("mount")),
            kib(stack("repair")),
            kib(stack("check")),
            kib(other)
        ),
    );

    tells(
        "docs/guide/getting-started.md",
        &format!(
            "Without a driver, the core takes {} KiB of stack in a mount",
            kib(stack("mount"))
        ),
    );

    let [reads, clean_reads] =
        ["Code, NAND, reading only", "Code, NAND, reading only, a volume that was ended cleanly"]
            .map(bytes);
    let everything = bytes("Code, NOR");
    let calls = ["mount", "read", "write"].map(|call| exact(stack(call)));
    let kb = |bytes: u64| format!("{:.1}", bytes as f64 / 1000.0);
    tells("docs/guide/from-spiffs.md", &calls.join(" · "));
    tells(
        "docs/guide/from-spiffs.md",
        &format!(
            "{} KB to read, {} to read an unmounted volume, \
             {} for a logger without features, {} for everything on NOR",
            kb(reads),
            kb(clean_reads),
            kb(lean),
            kb(everything)
        ),
    );
    tells("docs/guide/from-spiffs.md", &format!("{} bytes of code", exact(reads)));
    tells("docs/results/documents.md", &format!("| {} B |", calls.join(", ")));
    tells("docs/results/documents.md", &format!("| {}; {} B |", exact(reads), exact(everything)));
    let [packed, packed_all] = ["reading", "reading and writing"]
        .map(|calls| bytes(&format!("Code, compressed files: {calls}")));
    tells("docs/results/compression.md", &format!("| to read, LZ4 included | {} |", exact(packed)));
    tells(
        "docs/results/compression.md",
        &format!("| to read, append, overwrite and cut | {} |", exact(packed_all)),
    );
    let signed = bytes("Code, NAND, a read-only image that is signed");
    let image = bytes("Code, NAND, a read-only image");
    let with_both = format!(
        "{} KB to read LZ4 from NAND, {} KB with hash tree and signature",
        kb(image),
        kb(signed)
    );
    tells("docs/results/compression.md", &with_both);

    let [all_in_c, lean_in_c] =
        ["Code, NAND, in C", "Code, NAND, in C, a logger without features"].map(bytes);
    tells(
        "docs/results/footprint.md",
        &format!("| every call, all features | {} | {} |", exact(all_in_c), exact(all)),
    );
    tells(
        "docs/results/footprint.md",
        &format!("`dir_open`, `_read`, `_close` | {} | {} |", exact(lean_in_c), exact(lean)),
    );
    tells(
        "docs/results/footprint.md",
        &format!("A logger takes {:.1} KB more in C", (lean_in_c - lean) as f64 / 1000.0),
    );
}

/// The times on a usual processor follow from the counted instructions.
#[test]
fn processor_times_follow_from_the_instructions() {
    let footprint = page("docs/results/footprint.md");
    // A Cortex-M3 at 72 MHz takes 1.3 cycles for an instruction.
    let ms = |cell: &str| {
        let instructions: f64 = cell.trim().replace(',', "").parse().unwrap();
        format!("{:.1}", instructions * 1.3 / 72e3)
    };
    let time = |medium: &str, call: &str| {
        let (_, part) = footprint.split_once(&format!("### {medium}\n")).unwrap();
        let row = part.lines().find_map(|line| line.strip_prefix(&format!("| {call} | ")));
        let cells: Vec<&str> = row.expect(call).split('|').collect();
        format!("{} ({})", ms(cells[0]), ms(cells[1]))
    };
    for call in [
        "overwrite, 4 KiB, durable",
        "append, 64 B, durable",
        "create, 100 B, durable",
        "replace by rename, 200 B",
        "remove",
        "open",
        "read, 4 KiB",
        "in order, 4 KiB",
        "mount, clean",
        "mount, after a power cut",
    ] {
        let media = ["128 MiB NAND", "1 MiB NOR", "16 MiB NOR"];
        let times = media.map(|medium| time(medium, call)).join(" | ");
        tells("docs/results/README.md", &format!("| {call} | {times} |"));
    }
}

/// Lent memory has the same size on every processor.
#[test]
fn pages_that_tell_of_lent_memory_agree_with_the_core() {
    let nor = Geometry::of_nor(4096, 256);
    let nand = Geometry {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 1024,
        programs_bytes: false,
    };
    let [nor, nand] =
        [nor, nand].map(|geometry| Config::for_geometry(&geometry).memory_bytes(&geometry) as u64);
    let (of_nor, of_nand) = (exact(nor), exact(nand));
    let both = format!(
        "{of_nor} bytes for 1 MiB of NOR in sectors of 4 KiB, {of_nand} bytes for 128 MiB of NAND"
    );
    tells("docs/guide/getting-started.md", &both);
    tells("docs/guide/c.md", &format!("static uint8_t memory[{nor}];"));

    let (mut groups, mut memory) = (String::new(), String::new());
    for mib in [1, 2, 4, 8, 16, 32, 64] {
        let sectors = Config::group_sectors(4096, mib * 256).expect("a group that fits");
        let geometry = Geometry::of_nor(4096 * sectors, mib * 256 / sectors);
        let bytes = Config::for_geometry(&geometry).must_fit(&geometry).memory_bytes(&geometry);
        groups += &format!(" {sectors} |");
        memory += &format!(" {} |", exact(bytes as u64));
    }
    tells("docs/guide/getting-started.md", &format!("| sectors in a block |{groups}"));
    tells("docs/guide/getting-started.md", &format!("| memory, bytes |{memory}"));
    tells("docs/design/nor.md", &format!("| sectors of 4 KiB in a block |{groups}"));
}

#[test]
fn the_page_of_settings_has_the_defaults() {
    let nand = Geometry {
        page_bytes: 2048,
        pages_per_block: 64,
        block_count: 1024,
        programs_bytes: false,
    };
    let all = [Geometry::of_nor(4096, 256), Geometry::of_nor(65_536, 256), nand]
        .map(|geometry| Config::for_geometry(&geometry));
    type Read = fn(&Config) -> u64;
    let settings: [(&str, Read); 13] = [
        ("pages_per_logical_page", |config| config.pages_per_logical_page.into()),
        ("overlay_entries", |config| config.overlay_entries.into()),
        ("transaction_pages", |config| config.transaction_pages.into()),
        ("checkpoint_programs", |config| config.checkpoint_programs.into()),
        ("wear_spread", |config| config.wear_spread.into()),
        ("bad_blocks_max", |config| config.bad_blocks_max.into()),
        ("files_max", |config| config.files_max.into()),
        ("failures", |config| config.failures.into()),
        ("name_bytes_max", |config| config.name_bytes_max.into()),
        ("streams", |config| config.streams.into()),
        ("move_group", |config| config.move_group.into()),
        ("leaf_log_bytes", |config| config.leaf_log_bytes.into()),
        ("journal_pages", |config| config.journal_pages.into()),
    ];
    for (name, value) in settings {
        let values = all.map(|config| exact(value(&config)));
        let is_same = values.iter().all(|value| *value == values[0]);
        let shown = if is_same { values[0].clone() } else { values.join(" / ") };
        tells("docs/guide/settings.md", &format!("| `{name}` | {shown} |"));
    }
    let is_off =
        |config: &Config| !config.permissions && !config.moved_apart && !config.auto_streams;
    assert!(all.iter().all(is_off), "docs/guide/settings.md tells false");
}

/// A format refused a medium, and no page gave the least size.
#[test]
fn the_page_of_settings_has_the_smallest_media() {
    let nand =
        Geometry { page_bytes: 2048, pages_per_block: 64, block_count: 0, programs_bytes: false };
    let media = [
        ("NOR, 4 KiB", 4, Geometry::of_nor(4096, 0)),
        ("NOR, 64 KiB", 64, Geometry::of_nor(65_536, 0)),
        ("NAND, 64 pages of 2 KiB", 128, nand),
    ];
    for (name, block_kib, medium) in media {
        let of_blocks = |blocks| Geometry { block_count: blocks, ..medium };
        let is_possible = |blocks: &u32| {
            Config::for_geometry(&of_blocks(*blocks)).check(&of_blocks(*blocks)).is_ok()
        };
        let blocks = (16..1024).find(is_possible).unwrap();
        assert!((blocks..4 * blocks).all(|blocks| is_possible(&blocks)), "{name}");
        let geometry = of_blocks(blocks);
        let kib = exact(u64::from(blocks) * block_kib);
        let usable = exact(Config::for_geometry(&geometry).usable_bytes(&geometry));
        tells(
            "docs/guide/settings.md",
            &format!("| {name} | {blocks} ({kib} KiB) | {usable} bytes |"),
        );
    }
}

/// Returns the cells of each line of a table.
fn cells(text: &str) -> Vec<Vec<String>> {
    let of_line = |line: &str| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace("**", "")).collect()
    };
    text.lines().take_while(|line| line.starts_with('|')).map(of_line).collect()
}

/// Returns the text behind the first `start`, up to the next `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start}"));
    rest.split(end).next().unwrap()
}

/// The tables of wins and losses in the README have the figures of the comparison.
#[test]
fn tables_of_the_readme_are_those_of_the_results() {
    let (readme, results) = (page("README.md"), page("docs/results/side-by-side.md"));
    for board in ["NAND, 128 MiB", "NOR, 1 MiB"] {
        let section = between(&results, &format!("\n## {board}"), "\n## ");
        let kept = |title: &str, row: &str, column: &str| {
            let part = between(section, &format!("\n### {title}"), "\n### ");
            let table = cells(&part[part.find('|').unwrap()..]);
            let at = table[0].iter().position(|name| name == column).unwrap();
            table.iter().find(|line| line[0] == row).unwrap()[at].clone()
        };
        let first =
            |text: String, separator: &str| text.split(separator).next().unwrap().to_string();
        let table = cells(&readme[readme.find(&format!("| {board} |")).unwrap()..]);
        assert!(table.len() > 7, "{board}");
        for line in &table[2..] {
            for (name, figure) in table[0].iter().zip(line).skip(1) {
                let expected = match line[0].as_str() {
                    "overwrites, longest" => kept("How long may my data wait", name, "longest"),
                    "overwrites, rate" => kept("How long may my data wait", name, "rate"),
                    "unusable after 1,000 power cuts" => {
                        assert_eq!(kept("What survives", name, "cuts"), "1,000");
                        kept("What survives", name, "unusable")
                    }
                    "overwrites until worn out" => {
                        kept("How long will the chip live", name, "4 KiB at random, 80 % full")
                    }
                    "usable" => kept("How much of the chip", name, "share"),
                    "RAM" => kept("How much of the chip", name, "RAM of its own"),
                    "writes of 512 B in order" => {
                        let case = kept("Every case", "seq-512", name);
                        case.split(" · ").nth(1).unwrap().to_string()
                    }
                    "mount after a power cut, mean" => {
                        first(kept("Every case", "mount-cut", name), " / ")
                    }
                    row => panic!("no source for {row}"),
                };
                assert_eq!(figure, &expected, "{board}, {}, {name}", line[0]);
            }
        }
    }
}
