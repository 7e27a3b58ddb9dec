//! Builds the C programs of `examples/c` with the library that C programs link, and runs them.
//! Runs them again under valgrind if it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The directory of all built files.
fn output() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

/// Returns true if the tool runs.
fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the C compiler of the host, or `None` if there is none.
fn compiler() -> Option<String> {
    let named = std::env::var("CC").into_iter();
    let found = named.chain(["cc", "gcc", "clang"].map(String::from)).find(|tool| has(tool));
    if found.is_none() {
        println!("skipped: there is no C compiler");
    }
    found
}

/// Runs a command and returns its output.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (told, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{told}{errors}", output.status);
    told
}

/// Builds the static library with all features, once. The profile of a test build checks
/// arithmetic and assertions.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let target = output().join("cargo");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "rustc",
            "--quiet",
            "--lib",
            "--crate-type",
            "staticlib",
            "--features",
            "rom-verify",
            "--manifest-path",
        ]);
        cargo
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&target);
        run(&mut cargo);
        target.join("debug/libsteadyfs_c.a")
    })
}

/// Builds a program.
fn build(compiler: &str, program: &str) -> PathBuf {
    build_with(compiler, program, None, &[])
}

/// Builds a program with an additional header directory of the examples, and with definitions.
fn build_with(
    compiler: &str,
    program: &str,
    headers: Option<&str>,
    definitions: &[&str],
) -> PathBuf {
    let (examples, made) = (examples(), output().join(program));
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg("-o").arg(&made);
    command.args(definitions);
    if let Some(headers) = headers {
        command.arg("-I").arg(examples.join(headers));
    }
    command.arg(examples.join(program).with_extension("c")).arg(examples.join("chip.c"));
    command.arg(examples.join("host.c")).arg(library());
    command.args(["-lpthread", "-ldl", "-lm"]);
    run(&mut command);
    made
}

/// Runs a program under valgrind. Any complaint of valgrind is an error.
fn under_valgrind(program: &Path, arguments: &[&str]) {
    if has("valgrind") {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
        run(valgrind.arg(program).args(arguments));
    } else {
        println!("skipped: there is no valgrind");
    }
}

#[test]
fn the_logger_logs_to_nor_and_nand() {
    let Some(compiler) = compiler() else { return };
    let logger = build(&compiler, "logger");
    let told = run(&mut Command::new(&logger));
    assert!(told.ends_with("all records are there\n"), "{told}");
    under_valgrind(&logger, &[]);
}

#[test]
fn a_first_file_survives_a_cut() {
    let Some(compiler) = compiler() else { return };
    let first = build(&compiler, "first");
    let told = run(&mut Command::new(&first));
    assert!(told.ends_with("all that was acknowledged\n"), "{told}");
    under_valgrind(&first, &[]);
}

#[test]
fn a_boot_without_power_leaves_the_old_or_the_new_count() {
    let Some(compiler) = compiler() else { return };
    let boot_count = build(&compiler, "boot_count");
    let told = run(&mut Command::new(&boot_count));
    assert!(told.starts_with("boot_count: 1\nboot_count: 2\nboot_count: 3\n"), "{told}");
    under_valgrind(&boot_count, &[]);
}

/// The stub headers stand for the headers of ESP-IDF and Zephyr.
#[test]
fn a_volume_is_a_part_of_the_file_trees_of_others() {
    let Some(compiler) = compiler() else { return };
    let vfs = build_with(&compiler, "vfs", Some("esp-idf/stub"), &[]);
    assert_eq!(run(&mut Command::new(&vfs)), "the table of calls does what newlib asks\n");
    for version in [&[][..], &["-DSTUB_ZEPHYR_BEFORE_3_7"]] {
        let zephyr = build_with(&compiler, "zephyr", Some("zephyr/stub"), version);
        assert_eq!(run(&mut Command::new(&zephyr)), "the table of calls does what Zephyr asks\n");
    }
}

#[test]
fn every_call_does_what_it_says() {
    let Some(compiler) = compiler() else { return };
    let calls = build(&compiler, "calls");
    assert_eq!(run(&mut Command::new(&calls)), "every call does what it says\n");
    under_valgrind(&calls, &[]);
}

/// Most firmware builds warn if an `int` takes a length of 64 bits.
#[test]
fn the_least_program_of_the_documentation_compiles_without_a_warning() {
    let Some(compiler) = compiler() else { return };
    let document = std::fs::read_to_string(examples().join("../../docs/guide/c.md")).unwrap();
    let blocks = document.split("```c\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let least = blocks.filter(|block| block.contains("int log_line(")).collect::<String>();
    let callbacks = "#include <stdint.h>\nint my_read(void *, uint32_t, void *, uint32_t);\n\
        int my_program(void *, uint32_t, const void *, uint32_t);\n\
        int my_erase(void *, uint32_t);\n";
    let source = output().join("least.c");
    std::fs::write(&source, format!("{callbacks}{least}")).unwrap();
    let mut command = Command::new(compiler);
    command.args([
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Werror",
        "-pedantic",
        "-fsyntax-only",
        "-I",
    ]);
    run(command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg(source));
}

/// The site's image comes from `steady pack site site.squashfs --read-only --chunk 4KiB --sign
/// KEY --sign-block 1024 --mtime 1700000000`. The program contains the public key.
#[test]
fn an_image_is_mounted_from_memory_nor_and_nand() {
    let Some(compiler) = compiler() else { return };
    let rom = build(&compiler, "rom");
    let image = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/images/site.squashfs");
    let told = run(Command::new(&rom).arg(image));
    assert!(
        told.ends_with("\nwhat was not signed is told\nevery image is what was packed\n"),
        "{told}"
    );
    under_valgrind(&rom, &[image]);
}

/// Runs the README's command with the library that is already built.
#[test]
fn the_makefile_runs_the_logger() {
    let Some(compiler) = compiler().filter(|_| has("make")) else { return };
    let mut make = Command::new("make");
    make.arg("-C")
        .arg(examples())
        .arg("run")
        .arg(format!("CC={compiler}"))
        .arg(format!("STEADYFS_LIBRARY={}", library().display()));
    let told = run(make.arg(format!("BUILD={}", output().join("make").display())));
    assert!(told.contains("all records are there\n"), "{told}");
}

/// Returns true if CMake can build a program in C; else it prints what is missing.
fn has_cmake() -> bool {
    let found = has("cmake");
    if !found {
        println!("skipped: there is no cmake");
    }
    found && compiler().is_some()
}

#[test]
fn the_cmake_package_builds_the_logger() {
    if !has_cmake() {
        return;
    }
    let made = output().join("cmake");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(examples()).arg("-B").arg(&made).arg("-DSTEADYFS_PROFILE=dev");
    run(configure.arg(format!("-DSTEADYFS_CARGO={}", env!("CARGO"))));
    run(Command::new("cmake").arg("--build").arg(&made).args(["--target", "logger"]));
    let told = run(&mut Command::new(made.join("logger")));
    assert!(told.ends_with("all records are there\n"), "{told}");
}

/// Writes a project of one program that calls the library; `lines` make the target
/// `steadyfs::steadyfs`.
fn tiny_project(name: &str, lines: &str) -> PathBuf {
    let project = output().join(name);
    let _ = std::fs::remove_dir_all(&project);
    std::fs::create_dir_all(&project).expect("a directory");
    let program = "#include \"steadyfs.h\"\n\
        int main(void) { return steadyfs_commit(0) == STEADYFS_ERR_INVAL ? 0 : 1; }\n";
    std::fs::write(project.join("tiny.c"), program).expect("written");
    let cmake = format!(
        "cmake_minimum_required(VERSION 3.20)\nproject(tiny LANGUAGES C)\n{lines}\n\
         message(STATUS \"found SteadyFS ${{steadyfs_VERSION}};\")\n\
         add_executable(tiny tiny.c)\ntarget_link_libraries(tiny PRIVATE steadyfs::steadyfs)\n"
    );
    std::fs::write(project.join("CMakeLists.txt"), cmake).expect("written");
    project
}

/// The two ways into a project that has a clone.
fn ways() -> [(&'static str, String); 2] {
    let package = env!("CARGO_MANIFEST_DIR");
    [
        ("subdirectory", format!("add_subdirectory(\"{package}\" steadyfs)")),
        (
            "package",
            format!(
                "find_package(steadyfs 0.1 REQUIRED PATHS \"{package}/cmake\" NO_DEFAULT_PATH)"
            ),
        ),
    ]
}

/// Configures a project. Returns true if that succeeded, and the output of CMake in one line.
fn configure(project: &Path, arguments: &[&str]) -> (bool, String) {
    let made = project.join("build");
    let _ = std::fs::remove_dir_all(&made);
    let mut cmake = Command::new("cmake");
    cmake.env_remove("RUSTC").env_remove("RUSTC_BOOTSTRAP");
    let output =
        cmake.arg("-S").arg(project).arg("-B").arg(made).args(arguments).output().expect("cmake");
    let told = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    (output.status.success(), told.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A clone had no CMakeLists.txt to add, and the package had no version. A library that is built
/// already needs no cargo.
#[test]
fn cmake_takes_a_library_that_is_built_already() {
    if !has_cmake() {
        return;
    }
    for (name, lines) in ways() {
        let project = tiny_project(&format!("cmake-library-{name}"), &lines);
        let given = format!("-DSTEADYFS_LIBRARY={}", library().display());
        let (configured, told) = configure(&project, &[&given, "-DSTEADYFS_CARGO=/nowhere/cargo"]);
        assert!(configured, "{told}");
        let version = concat!("found SteadyFS ", env!("CARGO_PKG_VERSION"), ";");
        assert!(told.contains(version), "{told}");
        run(Command::new("cmake").arg("--build").arg(project.join("build")));
        run(&mut Command::new(project.join("build/tiny")));
    }
}

/// A missing cargo was "Error 127" of make. A missing target was an error in the middle of a build.
#[test]
fn cmake_names_what_is_missing_when_it_configures() {
    if !has_cmake() {
        return;
    }
    let cases: [(&str, &[&str]); 6] = [
        (
            "-DSTEADYFS_CARGO=/nowhere/cargo",
            &["`/nowhere/cargo --version` failed", "https://rustup.rs", "-DSTEADYFS_LIBRARY="],
        ),
        ("-DSTEADYFS_CARGO= ", &["STEADYFS_CARGO is empty; expected the command of cargo"]),
        (
            "-DSTEADYFS_TARGET=z80",
            &["STEADYFS_TARGET is z80; expected a target of `rustc --print target-list`"],
        ),
        (
            "-DSTEADYFS_TARGET=sparc64-unknown-netbsd",
            &["not installed", "`rustup target add sparc64-unknown-netbsd`"],
        ),
        ("-DSTEADYFS_BUILD_CORE=ON", &["STEADYFS_BUILD_CORE is ON and STEADYFS_TARGET is empty"]),
        (
            "-DSTEADYFS_LIBRARY=/nowhere.a",
            &["/nowhere.a, which is no file; expected the path of libsteadyfs_c.a"],
        ),
    ];
    for (name, lines) in ways() {
        let project = tiny_project(&format!("cmake-missing-{name}"), &lines);
        for (argument, expected) in cases {
            let (configured, told) = configure(&project, &[argument]);
            assert!(!configured, "{argument}: {told}");
            for words in expected {
                assert!(told.contains(words), "{argument}: expected {words:?} in {told}");
            }
        }
    }
}

#[test]
fn cmake_refuses_another_version() {
    if !has_cmake() {
        return;
    }
    let library = format!("-DSTEADYFS_LIBRARY={}", library().display());
    let [major, minor] = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")]
        .map(|part| part.parse::<u32>().unwrap());
    let versions = [
        (format!("{major}.{minor}"), true),
        (format!("{major}.{minor}...{major}.{}", minor + 2), true),
        (format!("{major}.{}", minor + 1), false),
        (format!("{}", major + 1), false),
    ];
    for (version, is_compatible) in versions {
        let lines = ways()[1].1.replace(" 0.1 ", &format!(" {version} "));
        let (configured, told) = configure(&tiny_project("cmake-version", &lines), &[&library]);
        assert_eq!(configured, is_compatible, "{version}: {told}");
    }
}

/// A program stands for cargo: it writes its arguments, and the library goes where CMake expects
/// it.
#[cfg(unix)]
#[test]
fn cmake_calls_cargo_with_the_options_of_the_project() {
    if !has_cmake() {
        return;
    }
    for (name, lines) in ways() {
        let given = arguments_of_cargo(
            &format!("cmake-options-{name}"),
            &lines,
            "release",
            &["-DSTEADYFS_FEATURES=nor,truncate"],
        );
        for pair in [
            ["--features", "nor,truncate"],
            ["--profile", "release"],
            ["--crate-type", "staticlib"],
        ] {
            assert!(given.windows(2).any(|found| found == pair), "no {pair:?} in {given:?}");
        }
        let build = output().join(format!("cmake-options-{name}/build"));
        run(Command::new("cmake").arg("--build").arg(&build));
        run(&mut Command::new(build.join("tiny")));
    }
}

/// The default profile gave a microcontroller twice the documented code.
#[cfg(unix)]
#[test]
fn cmake_builds_for_size_on_a_microcontroller() {
    if !has_cmake() {
        return;
    }
    let target = "thumbv7m-none-eabi";
    for (name, lines) in ways() {
        let made = format!("{target}/size");
        let given = arguments_of_cargo(
            &format!("cmake-size-{name}"),
            &lines,
            &made,
            &[&format!("-DSTEADYFS_TARGET={target}"), "-DSTEADYFS_BUILD_CORE=ON"],
        );
        let flags =
            format!("target.{target}.rustflags=['-Zunstable-options','-Cpanic=immediate-abort']");
        for pair in [["--profile", "size"], ["--target", target], ["--config", &flags]] {
            assert!(given.windows(2).any(|found| found == pair), "no {pair:?} in {given:?}");
        }
        assert!(given.iter().any(|argument| argument == "-Zbuild-std=core"), "{given:?}");
    }
}

/// Cargo refused to build the core library in the middle of a build.
#[cfg(unix)]
#[test]
fn cmake_requires_nightly_and_its_source_to_build_the_core_library() {
    if !has_cmake() {
        return;
    }
    let cases = [
        ("1.95.0", true, "the compiler is rustc 1.95.0; expected nightly"),
        ("1.97.0-nightly", false, "has no source of its core library"),
    ];
    for (way, lines) in ways() {
        for (version, has_source, expected) in cases {
            let project = tiny_project(&format!("cmake-core-{way}"), &lines);
            let cargo = project.join("cargo");
            executable(&cargo, "#!/bin/sh\n");
            stand_in_for_rustc(&project, version, has_source);
            let named = format!("-DSTEADYFS_CARGO={}", cargo.display());
            let options = ["-DSTEADYFS_BUILD_CORE=ON", "-DSTEADYFS_TARGET=thumbv7m-none-eabi"];
            let (configured, told) =
                configure(&project, &[&[named.as_str()], &options[..]].concat());
            assert!(!configured, "{told}");
            for words in [expected, "rustup toolchain install nightly --component rust-src"] {
                assert!(told.contains(words), "expected {words:?} in {told}");
            }
        }
    }
}

/// Writes a script in place of rustc, which CMake finds beside the project's cargo. It has a
/// version, and a core library with or without source.
#[cfg(unix)]
fn stand_in_for_rustc(project: &Path, version: &str, has_source: bool) {
    let root = project.join("sysroot");
    if has_source {
        std::fs::create_dir_all(root.join("lib/rustlib/src/rust/library/core")).expect("a folder");
    }
    let script = format!(
        "#!/bin/sh\ncase $* in *sysroot*) echo '{}' ;; *) echo 'rustc {version}' ;; esac\n",
        root.display()
    );
    executable(&project.join("rustc"), &script);
}

#[cfg(unix)]
fn executable(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, script).expect("written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

/// Builds a tiny project with a program in place of cargo. This program copies the library of the
/// host to the folder `made`. Returns its arguments.
#[cfg(unix)]
fn arguments_of_cargo(name: &str, lines: &str, made: &str, options: &[&str]) -> Vec<String> {
    let project = tiny_project(name, lines);
    let (cargo, arguments) = (project.join("cargo"), project.join("arguments"));
    stand_in_for_rustc(&project, "1.97.0-nightly", true);
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nprintf '%s\\n' \"$@\" > '{}'\n\
         while [ \"$1\" != --target-dir ]; do shift; done\nmkdir -p \"$2/{made}\"\n\
         cp '{}' \"$2/{made}\"\n",
        arguments.display(),
        library().display()
    );
    executable(&cargo, &script);
    let named = format!("-DSTEADYFS_CARGO={}", cargo.display());
    let (configured, told) = configure(&project, &[&[named.as_str()], options].concat());
    assert!(configured, "{told}");
    let build = project.join("build");
    run(Command::new("cmake").arg("--build").arg(&build).args(["--target", "steadyfs-cargo"]));
    let given = std::fs::read_to_string(&arguments).expect("cargo was called");
    given.lines().map(str::to_string).collect()
}

/// This test cuts the power at every fifth operation. `make test` cuts it at every operation.
#[test]
fn what_was_acknowledged_survives_power_cuts() {
    let Some(compiler) = compiler() else { return };
    let power_cut = build(&compiler, "power_cut");
    let told = run(Command::new(&power_cut).arg("5"));
    assert_eq!(
        told.lines().filter(|line| line.ends_with("every one survived")).count(),
        4,
        "{told}"
    );
    under_valgrind(&power_cut, &["97"]);
}

/// The two programs call each function that the header declares. Because they link, the library
/// contains each of these functions.
#[test]
fn the_programs_of_every_call_make_every_call() {
    let header =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/steadyfs.h"))
            .expect("the header");
    let calls = ["calls.c", "rom.c"]
        .map(|name| std::fs::read_to_string(examples().join(name)).expect("the program"));
    let functions: Vec<&str> = header
        .lines()
        .filter(|line| {
            !line.starts_with("//") && !line.starts_with(' ') && line.contains("steadyfs_")
        })
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("steadyfs_"))
        .collect();
    assert!(functions.len() > 100, "{functions:?}");
    for name in functions {
        let call = format!("{name}(");
        assert!(
            calls.iter().any(|program| program.contains(&call)),
            "neither calls.c nor rom.c calls {name}"
        );
    }
}

/// The functions that littlefs declares, up to its version 2.11.
const LITTLEFS: &str = "format mount unmount remove rename stat getattr setattr removeattr \
    file_open file_opencfg file_close file_sync file_read file_write file_seek file_truncate \
    file_tell file_rewind file_size mkdir dir_open dir_close dir_read dir_seek dir_tell dir_rewind \
    fs_stat fs_size fs_traverse fs_mkconsistent fs_gc fs_grow migrate";

fn guide() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/c.md"))
        .expect("docs/guide/c.md")
}

#[test]
fn the_guide_has_a_line_for_every_call_of_littlefs() {
    let guide = guide();
    for name in LITTLEFS.split_whitespace() {
        let call = format!("`lfs_{name}");
        assert!(
            guide.lines().any(|line| line.starts_with('|') && line.contains(&call)),
            "docs/guide/c.md says nothing of {call}`"
        );
    }
}

#[test]
fn the_guides_programs_compile() {
    let Some(compiler) = compiler() else { return };
    let guide = guide();
    let blocks = guide.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next());
    let programs: Vec<&str> =
        blocks.filter(|block| block.starts_with("#include \"steadyfs.h\"")).collect();
    assert_eq!(programs.len(), 2);
    let callbacks = "#include <stdint.h>\n\
        int my_read(void *context, uint32_t address, void *data, uint32_t bytes);\n\
        int my_program(void *context, uint32_t address, const void *data, uint32_t bytes);\n\
        int my_erase(void *context, uint32_t sector);\n";
    let source = output().join("guide.c");
    for program in programs {
        std::fs::write(&source, format!("{callbacks}{program}")).expect("written");
        let mut command = Command::new(&compiler);
        command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "-I"]);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg(&source);
        run(command.arg("-o").arg(output().join("guide.o")));
    }
}

#[test]
fn the_driver_of_a_card_in_the_guide_compiles() {
    let Some(compiler) = compiler() else { return };
    let page = std::fs::read_to_string(examples().join("../../docs/guide/cards.md")).unwrap();
    let block = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let callbacks = "#include \"steadyfs.h\"\n\
        int my_read(void *, uint32_t, const steadyfs_part *, uint32_t);\n\
        int my_write(void *, uint32_t, const steadyfs_part *, uint32_t);\n\
        int my_flush(void *);\nstatic uint8_t memory[1 << 20];\n";
    let source = output().join("card.c");
    std::fs::write(&source, format!("{callbacks}{block}")).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"]);
    run(command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg(source));
}

#[test]
fn header_is_one_of_cpp_too() {
    if !has("c++") {
        println!("skipped: there is no C++ compiler");
        return;
    }
    let source = output().join("header.cpp");
    std::fs::write(
        &source,
        "#include \"steadyfs.h\"\n\
         int main() { return steadyfs_commit(nullptr) == STEADYFS_ERR_INVAL ? 0 : 1; }\n",
    )
    .expect("written");
    let made = output().join("header");
    let mut command = Command::new("c++");
    command.args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]);
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg("-o")
        .arg(&made)
        .arg(&source)
        .arg(library());
    run(command.args(["-lpthread", "-ldl", "-lm"]));
    run(&mut Command::new(&made));
}
