//! Builds the contenders whose sources lie in the directory that `STEADY_PEERS` names:
//! `littlefs`, `spiffs`, `dhara`, `fatfs`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed=STEADY_PEERS");
    println!("cargo::rerun-if-changed=shims");
    for name in ["littlefs", "spiffs", "fatfs_dhara"] {
        println!("cargo::rustc-check-cfg=cfg({name})");
    }
    let Some(peers) = env::var_os("STEADY_PEERS").map(PathBuf::from) else { return };
    let at = |name: &str| Some(peers.join(name)).filter(|path| path.is_dir());
    if let Some(littlefs) = at("littlefs") {
        commit("LITTLEFS", &littlefs);
        let mut build = shim("littlefs");
        build.include(&littlefs).files(["lfs.c", "lfs_util.c"].map(|file| littlefs.join(file)));
        // An assertion would end the whole comparison; an error ends a call.
        for flag in ["LFS_NO_ASSERT", "LFS_NO_DEBUG", "LFS_NO_WARN", "LFS_NO_ERROR"] {
            build.define(flag, None);
        }
        build.compile("peer_littlefs");
    }
    if let Some(spiffs) = at("spiffs") {
        commit("SPIFFS", &spiffs);
        let source = spiffs.join("src");
        let files = ["cache", "check", "gc", "hydrogen", "nucleus"]
            .map(|part| source.join(format!("spiffs_{part}.c")));
        // The settings are a header of the user. It must be found before the header beside the
        // sources.
        shim("spiffs").include("shims/spiffs").include(&source).files(files).compile("peer_spiffs");
    }
    if let (Some(dhara), Some(fatfs)) = (at("dhara"), at("fatfs")) {
        commit("DHARA", &dhara);
        commit("FATFS", &fatfs);
        let copies = configured(&fatfs.join("source"));
        let files =
            ["map", "journal", "error"].map(|part| dhara.join("dhara").join(format!("{part}.c")));
        shim("fatfs_dhara")
            .include(&copies)
            .include(&dhara)
            .files(["ff.c", "ffunicode.c"].map(|file| copies.join(file)))
            .files(files)
            .compile("peer_fatfs_dhara");
    }
}

/// Returns a build that begins with our own file, and reports the contender to the crate.
fn shim(name: &str) -> cc::Build {
    println!("cargo::rustc-cfg={name}");
    let mut build = cc::Build::new();
    build.warnings(false).include("shims").file(format!("shims/{name}.c"));
    build
}

/// Passes the commit that is built to the crate.
fn commit(name: &str, directory: &Path) {
    let git = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["log", "-1", "--format=%h, %cs"])
        .output();
    let text = git
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    println!("cargo::rustc-env=PEER_{name}={}", text.as_deref().unwrap_or("unknown commit").trim());
}

/// Copies FatFs with its own settings, except those that every user has to choose: see
/// docs/results/contenders.md.
fn configured(source: &Path) -> PathBuf {
    let copies = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("fatfs");
    fs::create_dir_all(&copies).expect("the directory of the build can be written");
    for file in ["ff.c", "ff.h", "diskio.h", "ffunicode.c"] {
        fs::copy(source.join(file), copies.join(file))
            .unwrap_or_else(|error| panic!("{file} of FatFs: {error}"));
    }
    // FatFs has one table of volumes for the whole program. Here each thread has its own table.
    let code = fs::read_to_string(copies.join("ff.c")).expect("just copied");
    let code =
        ["static FATFS *FatFs[", "static WORD Fsid"].into_iter().fold(code, |code, table| {
            assert!(
                code.contains(table),
                "ff.c of FatFs has no {table}: another release than the one of \
                 docs/results/contenders.md"
            );
            code.replace(table, &table.replace("static", "static _Thread_local"))
        });
    fs::write(copies.join("ff.c"), code).expect("the directory of the build can be written");
    let mut settings =
        fs::read_to_string(source.join("ffconf.h")).expect("FatFs has its settings in ffconf.h");
    settings += "\n";
    settings += include_str!("shims/fatfs_settings.h");
    fs::write(copies.join("ffconf.h"), settings)
        .expect("the directory of the build can be written");
    copies
}
