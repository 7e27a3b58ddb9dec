//! Checks that the checked-in header equals the header that the code generates.

use std::path::Path;

const SOURCES: [&str; 18] = [
    "error",
    "driver",
    "config",
    "volume",
    "names",
    "files",
    "directories",
    "transactions",
    "maintenance",
    "bounds",
    "packed",
    "rom/config",
    "rom/image",
    "rom/names",
    "rom/files",
    "rom/directories",
    "rom/bounds",
    "rom/install",
];

/// Generates the header from the sources.
fn made() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let builder =
        SOURCES.iter().fold(cbindgen::Builder::new().with_config(config), |builder, name| {
            builder.with_src(root.join("src").join(name).with_extension("rs"))
        });
    let mut text = Vec::new();
    builder.generate().expect("a header").write(&mut text);
    finished(&String::from_utf8(text).expect("UTF-8"))
}

/// Drops the `# Safety` sections, which only Rust's documentation needs, and gives each variant
/// of an enum the prefix `STEADYFS_`.
fn finished(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let (mut kept, mut at, mut in_enum) = (String::new(), 0, false);
    while at < lines.len() {
        if lines[at] == "//" && lines.get(at + 1) == Some(&"// # Safety") {
            at += 3;
            continue;
        }
        in_enum = lines[at].starts_with("typedef enum") || (in_enum && !lines[at].starts_with('}'));
        match lines[at].strip_prefix("  ") {
            Some(variant) if in_enum && !variant.starts_with("//") => {
                kept += &format!("  STEADYFS_{variant}\n")
            }
            _ => kept += &format!("{}\n", lines[at]),
        }
        at += 1;
    }
    kept
}

#[test]
fn the_header_is_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/steadyfs.h");
    let made = made();
    if std::env::var_os("STEADYFS_WRITE_HEADER").is_some() {
        std::fs::write(&path, made).expect("written");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let same = found.lines().zip(made.lines()).take_while(|(found, made)| found == made).count();
    assert!(
        found == made,
        "include/steadyfs.h differs in line {}: STEADYFS_WRITE_HEADER=1 cargo test -p steadyfs-c \
         --test header writes it",
        same + 1
    );
}
