"""The section of docs/results/footprint.md that has the code of a logger by toolchain and settings."""

import re

SECTION = """\
## Builds

The table has the bytes of code of a logger on NOR. The Rust column has the calls of the first
table, the C columns have the [functions in C](#c-beside-rust).

| settings | toolchain | Rust | C, all features | C, `nor,truncate` |
|---|---|---:|---:|---:|
{rows}

- "Release" is cargo's own profile `release`.
- "Size" is `opt-level = "{level}"`, `lto = "fat"` and `codegen-units = 1`. In Rust, these lines
  are in the `Cargo.toml` of the firmware
  ([guide](../guide/getting-started.md#11-the-size-of-the-code)). For the library in C, they are the
  profile `size` ([guide](../guide/c.md#for-a-microcontroller)).
- "Size, core" is "size" with `-Zbuild-std=core` and `-Cpanic=immediate-abort`. On stable, the core
  library is compiled for speed, and contains panic messages.

`--check` measures again: "Rust" of the last two rows, and "C, `nor,truncate`" of the second row.
`tools/firmware.sh c` measures "C, all features" of the last row.
"""
ROWS = {"release": ("release", "stable"), "size": ("size", "stable"), "core": ("size, core", "nightly")}
COLUMNS = ("rust", "c", "small")
TOLERANCE = 0.02


def measure(path):
    """Returns bytes by row and column, from the lines of builds.sh."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {tuple(name.split("-")): int(code) for name, code in lines}


def section(measured, level):
    rows = "\n".join(
        f"| {' | '.join(labels)} | {' | '.join(f'{measured[row, column]:,}' for column in COLUMNS)} |" for row, labels in ROWS.items()
    )
    return SECTION.format(rows=rows, level=level)


def read(text):
    """Returns bytes by row and column, from the document."""
    found = {}
    for row, labels in ROWS.items():
        match = re.search(r"^\| {} \| {} \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$".format(*labels), text, re.M)
        for column, code in zip(COLUMNS, match.groups() if match else ()):
            found[row, column] = int(code.replace(",", ""))
    return found


def differences(text, measured):
    written = read(text)
    return [
        f"build {' '.join(build)}: {code:,} bytes, docs/results/footprint.md says {written.get(build, 'nothing')}"
        for build, code in measured.items()
        if build not in written or abs(code - written[build]) > TOLERANCE * written[build]
    ]
