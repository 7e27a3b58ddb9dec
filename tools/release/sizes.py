#!/usr/bin/env python3
"""Links each library of an archive for C with GCC, as a firmware does, and measures its code.

    tools/release/sizes.py ARCHIVE           writes docs/results/release.md
    tools/release/sizes.py --check ARCHIVE   fails if a number of the page is off by more than 2 %

The archive is steadyfs-c-VERSION.tar.gz of tools/release.sh. --check measures the libraries that
the archive contains. Targets without their compiler (Debian: gcc-arm-none-eabi,
gcc-riscv64-unknown-elf) are skipped with a message.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/results/release.md"
FOOTPRINT = ROOT / "docs/results/footprint.md"
TOLERANCE = 0.02
ARM, RISCV = "arm-none-eabi-", "riscv64-unknown-elf-"
# The tools and the flags of each target. tools/release/c/README.md lists the same flags.
TARGETS = {
    "thumbv6m-none-eabi": (ARM, "-mthumb -mcpu=cortex-m0"),
    "thumbv7m-none-eabi": (ARM, "-mthumb -mcpu=cortex-m3"),
    "thumbv7em-none-eabi": (ARM, "-mthumb -mcpu=cortex-m4"),
    "thumbv7em-none-eabihf": (ARM, "-mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"),
    "thumbv8m.main-none-eabi": (ARM, "-mthumb -mcpu=cortex-m33 -mfloat-abi=soft"),
    "thumbv8m.main-none-eabihf": (
        ARM,
        "-mthumb -mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16",
    ),
    "riscv32imc-unknown-none-elf": (RISCV, "-march=rv32imc -mabi=ilp32"),
    "riscv32imac-unknown-none-elf": (RISCV, "-march=rv32imac -mabi=ilp32"),
}
# The order of the columns.
PRESETS = ["everything", "logger", "lean", "reader"]
READER = [
    "rom_memory_bytes",
    "rom_mount",
    "rom_file_open",
    "rom_file_read",
    "rom_file_close",
    "rom_dir_open",
    "rom_dir_read",
    "rom_dir_close",
    "rom_stat",
]
HEAD = """# The built libraries of a release

`tools/release.sh` builds static libraries for C, and packs them with header, CMake package and
examples into `steadyfs-c-VERSION.tar.gz`. Its [README](../../tools/release/c/README.md) describes
the presets and their features. `tools/release/sizes.py ARCHIVE` measures this table, and `--check`
fails if a number is off by more than 2 %.

Each library is linked by GCC with `--gc-sections`, without start code and driver. The table has
the bytes of `.text` and `.rodata`.

"""


def logger_calls():
    """Returns the calls of the logger of docs/results/footprint.md."""
    text = (ROOT / "tools/footprint/builds.sh").read_text()
    words = re.search(r"^c_logger=\((.*)\)$", text, re.MULTILINE)[1]
    done = subprocess.run(
        ["bash", "-c", f"echo {words}"], stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.split()


def code_bytes(target, preset, library, folder):
    """Links a library for the calls of its preset, and returns the bytes of code."""
    tools, flags = TARGETS[target]
    calls = READER if preset == "reader" else logger_calls()
    entry = f"steadyfs_{calls[1]}"
    image = folder / "image"
    options = [
        "-nostdlib",
        "-T",
        ROOT / "tools/footprint/link.x",
        "-Wl,--gc-sections",
        f"-Wl,--defsym=reset={entry}",
        "-Wl,--no-warn-rwx-segments",
    ]
    wanted = [f"-Wl,-u,steadyfs_{call}" for call in calls]
    command = [f"{tools}gcc", *flags.split(), *options, *wanted, library, "-lgcc", "-o", image]
    subprocess.run(command, check=True)
    done = subprocess.run(
        [f"{tools}size", "-A", image], stdout=subprocess.PIPE, text=True, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    return sum(int(row[1]) for row in rows if row and row[0] in (".text", ".rodata"))


def measure(archive):
    """Returns the bytes of code by target and preset, and the version of Rust of the archive."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["tar", "xzf", archive, "-C", folder], check=True)
        (root,) = folder.iterdir()
        for target, (tools, _) in TARGETS.items():
            libraries = {each.parent.name: each for each in (root / "lib" / target).glob("*/*.a")}
            if libraries and not shutil.which(f"{tools}gcc"):
                print(f"skipped: {target}, because there is no {tools}gcc", file=sys.stderr)
                continue
            for preset, library in libraries.items():
                found[target, preset] = code_bytes(target, preset, library, folder)
        rust = re.search(
            r"^Compiler: (.*?)\. Commit", (root / "README.md").read_text(), re.MULTILINE
        )[1]
    return found, rust


def of_footprint():
    """Returns the bytes of the row of footprint.md with the features of the logger, for NOR."""
    row = re.search(r"^\| size, core \| nightly \|.*$", FOOTPRINT.read_text(), re.MULTILINE)[0]
    return int(row.split("|")[5].strip().replace(",", ""))


def page(found, rust):
    lines = ["| target | " + " | ".join(PRESETS) + " |", "|---|" + "---:|" * len(PRESETS)]
    for target in TARGETS:
        numbers = [
            f"{found[target, preset]:,}" if (target, preset) in found else "" for preset in PRESETS
        ]
        lines.append(f"| `{target}` | " + " | ".join(numbers) + " |")
    return f"""{HEAD}{chr(10).join(lines)}

- `everything`, `logger` and `lean` are linked for the [calls of a
  logger](footprint.md#c-beside-rust).
- `reader` is linked for mount, files, directories and `stat` of a read-only image.
- On a Cortex-M3, `logger` is within 2 % of the [library with `nor` and
  `truncate`](footprint.md#builds). It has the feature `nand` in addition.

Compiler: {rust}.
"""


def stated(text):
    """Returns the numbers of the page's table, by target and preset."""
    rows = re.findall(r"^\| `(\S+)` \| (.*) \|$", text, re.MULTILINE)
    return {
        (target, preset): int(number.replace(",", ""))
        for target, numbers in rows
        for preset, number in zip(PRESETS, numbers.split(" | "))
        if number.strip()
    }


def check(found, rust):
    """Prints each number that is off, and returns their count."""
    text = PAGE.read_text()
    if f"Compiler: {rust}." not in text:
        print(f"the sizes are not compared: the compiler is {rust}")
        return 0
    numbers, wrong = stated(text), 0
    numbers["footprint.md", "logger"] = of_footprint()
    if ("thumbv7m-none-eabi", "logger") in found:
        found["footprint.md", "logger"] = found["thumbv7m-none-eabi", "logger"]
    for key, measured in found.items():
        told = numbers.get(key)
        if told is None or abs(measured - told) > TOLERANCE * told:
            print(f"{key[0]}, {key[1]}: {measured:,} bytes, the page has {told}")
            wrong += 1
    print(f"{len(found)} sizes, {wrong} off by more than 2 %")
    return wrong


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    found, rust = measure(arguments[0])
    if "--check" in sys.argv:
        return 1 if check(found, rust) else 0
    PAGE.write_text(page(found, rust))
    return 0


if __name__ == "__main__":
    sys.exit(main())
